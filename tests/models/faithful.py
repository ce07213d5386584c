"""How faithfully a real model follows rules, by kind: `python -m tests.models.faithful --base-url URL --model NAME`.

Each rule of `rules` is weighed alone and put on trial: rows with one cell changed so that the answer must change, or so
that it must stay. Prints what each rule gave, and a line a kind with Wilson's 95 % interval over its rows.
"""

import argparse
import os
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from io import StringIO

import pandas as pd

import vpp
from tests.markdown import table
from tests.models.rules import TABLES, Rule
from vpp.findings.experiments import Obeyed
from vpp.posterior.metric import wilson
from vpp.runs.spec import EndpointSpec

CHANGES, SCORED = 10, 4


@dataclass(frozen=True, slots=True)
class Tried:
    """A rule and its changed rows."""

    rule: Rule
    must_change: Obeyed
    must_stay: Obeyed

    @property
    def kind(self) -> str:
        """Name the kind of rule by the program that it states."""
        program = self.rule.expression
        if not (self.must_change.n or self.must_stay.n):
            return "other wordings, which the rule parser does not read"
        if program.count(" else ") > 1:
            return "three ways"
        if program.count(" <= ") > 1:
            return "between"
        joints = {" and ": "and", " or ": "or", "!=": "not"}
        return next((kind for joint, kind in joints.items() if joint in program), "one condition")


def tried(rule: Rule, csv: str, endpoint: EndpointSpec) -> Tried:
    """Weigh a rule on a table of its own labels and put it on trial."""
    rows = pd.read_csv(StringIO(csv))
    posterior = vpp.weigh(rows, target=rows.columns[-1], start=[rule.text], endpoint=endpoint)
    idea = vpp.trial(posterior.directory.path, ideas=1, changes=CHANGES, rows=SCORED).ideas[0]
    return Tried(rule, idea.must_change, idea.must_stay)


def share(parts: list[Obeyed]) -> str:
    """`9 of 10 (60 to 98 %)`, or a dash where there is nothing."""
    n, obeyed = sum(part.n for part in parts), sum(part.obeyed for part in parts)
    if not n:
        return "–"
    low, high = wilson(obeyed, n)
    return f"{obeyed} of {n} ({100 * low:.0f} to {100 * high:.0f} %)"


def main() -> None:
    """Try every rule and print a line a kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    endpoint = EndpointSpec(base_url=options.base_url, model=options.model, structured="auto", timeout_s=900)
    kinds: dict[str, list[Tried]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VPP_RUNS_DIR"] = folder
        for each in TABLES:
            for rule in each.rules:
                found = tried(rule, each.csv(rule), endpoint)
                kinds[found.kind].append(found)
                print(each.name, found, flush=True)
    lines = [
        [kind, str(len(each)), share([one.must_change for one in each]), share([one.must_stay for one in each])]
        for kind, each in kinds.items()
    ]
    print("\n".join(table(("kind", "rules", "must change", "must stay"), lines)))


if __name__ == "__main__":
    main()
