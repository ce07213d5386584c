"""How faithfully a real model follows rules, by kind: `python -m tests.models.faithful --base-url URL --model NAME`.

Each rule of `rules` is weighed alone and put on trial: rows with one cell changed so that the answer must change, or so
that it must stay. Prints what each rule gave, and a line a kind with Wilson's 95 % interval over its rows.
"""

import argparse
import os
import tempfile
from collections import defaultdict
from io import StringIO

import pandas as pd

import vpp
from tests.models.rules import TABLES, Rule
from vpp.findings.experiments import Obeyed
from vpp.runs.spec import EndpointSpec

Figures = tuple[Obeyed, Obeyed]
"""Rows that must change, and rows that must stay."""


def kind(rule: Rule, figures: Figures) -> str:
    """Name the kind of rule by the program that it states."""
    program = rule.expression
    if not any(each.n for each in figures):
        return "other wordings, which the rule parser does not read"
    if program.count(" else ") > 1:
        return "three ways"
    if program.count(" <= ") > 1:
        return "between"
    joints = {" and ": "and", " or ": "or", "!=": "not"}
    return next((name for joint, name in joints.items() if joint in program), "one condition")


def share(parts: list[Obeyed]) -> str:
    """Return the rows of all parts as `9 of 10 [60, 98]`."""
    whole = Obeyed(n=sum(part.n for part in parts), obeyed=sum(part.obeyed for part in parts))
    low, high = whole.interval
    return f"{whole.obeyed} of {whole.n} [{100 * low:.0f}, {100 * high:.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    endpoint = EndpointSpec(structured="auto", timeout_s=900, **vars(parser.parse_args()))
    kinds: dict[str, list[Figures]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VPP_RUNS_DIR"] = folder
        for table in TABLES:
            for rule in table.rules:
                rows = pd.read_csv(StringIO(table.csv(rule)))
                posterior = vpp.weigh(rows, target=table.target, start=[rule.text], endpoint=endpoint)
                idea = vpp.trial(posterior.directory.path, ideas=1, changes=10, rows=4).ideas[0]
                figures = idea.must_change, idea.must_stay
                kinds[kind(rule, figures)].append(figures)
                print(table.name, rule.text, *figures, flush=True)
    print("| kind | rules | must change | must stay |\n|---|---|---|---|")
    for name, found in kinds.items():
        changed, stayed = zip(*found, strict=True)
        print(f"| {name} | {len(found)} | {share(list(changed))} | {share(list(stayed))} |")


if __name__ == "__main__":
    main()
