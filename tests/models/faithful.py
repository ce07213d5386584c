"""How faithfully a real model follows rules, by kind: `python -m tests.models.faithful --base-url URL --model NAME`.

Each rule of `rules` is weighed alone on known rows. Read row by row it is put on trial as well: rows with one cell
changed so that the answer must change, or so that it must stay. Prints what each rule gave, and a line a kind with
Wilson's 95 % interval over its rows.
"""

import argparse
import os
import tempfile
from collections import defaultdict
from io import StringIO

import pandas as pd

import vpp
from tests.models.rules import ROWS, TABLES, Rule
from vpp.findings.asking import Obeyed
from vpp.runs.directory import RunReader
from vpp.runs.spec import EndpointSpec

Figures = tuple[Obeyed, Obeyed, Obeyed]
"""Rows answered as the rule does, rows that must change, and rows that must stay."""


def kind(rule: Rule) -> str:
    """Name the kind of rule by the program that it states."""
    program = rule.expression
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
    return f"{whole.obeyed} of {whole.n} [{100 * low:.0f}, {100 * high:.0f}]" if whole.n else "–"


def follow(rows: pd.DataFrame, target: str, rule: Rule, reading: str, endpoint: EndpointSpec) -> Figures:
    posterior = vpp.weigh(rows, target=target, start=[rule.text], endpoint=endpoint, reading=reading)
    known = RunReader(posterior.directory).dataset().train
    answers = posterior.view.evaluations["train"].predictions[0]
    right = sum(answer == row.target for answer, row in zip(answers, known, strict=True))
    followed, none = Obeyed(n=len(known), obeyed=right), Obeyed(n=0, obeyed=0)
    if reading != "rows":
        return followed, none, none
    idea = vpp.trial(posterior.directory.path, ideas=1, changes=10, rows=4).ideas[0]
    return followed, idea.must_change, idea.must_stay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--reading", choices=("rows", "program"), default="rows")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows a rule")
    options = parser.parse_args()
    endpoint = EndpointSpec(base_url=options.base_url, model=options.model, structured="auto", timeout_s=900)
    kinds: dict[str, list[Figures]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VPP_RUNS_DIR"] = folder
        for table in TABLES:
            for rule in table.rules:
                rows = pd.read_csv(StringIO(table.csv(rule, options.rows)))
                figures = follow(rows, table.target, rule, options.reading, endpoint)
                kinds[kind(rule)].append(figures)
                print(table.name, rule.text, *figures, flush=True)
    print("| kind | rules | rows right | must change | must stay |\n|---|---|---|---|---|")
    for name, found in kinds.items():
        print(f"| {name} | {len(found)} | {' | '.join(share(list(parts)) for parts in zip(*found, strict=True))} |")


if __name__ == "__main__":
    main()
