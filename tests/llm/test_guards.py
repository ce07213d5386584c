"""Texts that are no rule for a table are refused with a reason; rules that people and the demo model write are not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.demo.test_reading import CIRCLES, CONDITIONS, EVEN_SUM, FORMULAS, HAS_ZERO
from tests.demo.test_round_trip import NAMES, SEEDS, TEXTS, written
from tests.demo.test_round_trip import table as demo_table
from vpp.data.dataset import Task, Value
from vpp.data.descriptions import Descriptions
from vpp.demo.optimizer import Batch
from vpp.llm.optimizer import fault_of
from vpp.llm.prompts import rule_form
from vpp.llm.templates import shipped

from .tables import LINE, TABLES, row, table

ADMISSION = TABLES["admission"]
JUDGED: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("rules.jsonl").read_text("utf-8").splitlines()
]
"""Rules with their table; `refused` is part of the reason why one is no rule.

`passes` marks those that the guard does not notice.
"""


def test_texts_that_are_no_rule_are_refused_with_their_reason_and_rules_are_not() -> None:
    wrong = []
    for case in JUDGED:
        reason = fault_of(case["rule"], TABLES[case["table"]])
        is_passed = case.get("passes", "refused" not in case)
        is_as_judged = reason is None if is_passed else case["refused"] in (reason or "")
        if not is_as_judged or "\n" in (reason or ""):
            wrong.append((case, reason))
    assert wrong == []
    refused = ["passes" not in case for case in JUDGED if "refused" in case]
    assert (len(refused), sum(refused) >= 90) == (107, True)


def test_the_placeholder_of_the_answer_form_is_refused() -> None:
    for form in (rule_form(shipped(role)) for role in ("optimizer", "prior")):
        assert "it names no label" in (fault_of(form.partition("New rule: ")[2], ADMISSION) or "")


def test_a_rule_may_name_a_column_by_a_word_of_its_description() -> None:
    rule, reason = "The output grows with the cholesterol of the blood.", "it names no column and no output: say which"
    described = replace(LINE, descriptions=Descriptions(columns={"x": "blood cholesterol", "y": "grows"}))
    assert (fault_of(rule, LINE) or "").startswith(reason)
    assert fault_of(rule, described) is None
    assert (fault_of("Say what it grows with.", described) or "").startswith(reason)


PAPERS_ZERO = (
    "The model takes a sequence of $4$ integers as input and outputs a class label: $1$ if the sequence contains at "
    "least one $0$; $0$ if the sequence does not contain any $0$s."
)
PAPERS_CIRCLE = (
    "The decision boundary is a circle centered at the origin $(0,0)$ with a radius of approximately $0.615$. If the "
    "distance from the origin to the input point, calculated as $\\sqrt{x_1^2 + x_2^2}$, is less than or equal to the "
    "radius, output $1$; otherwise, output $0$."
)


def test_the_papers_particles_and_their_rewordings_pass() -> None:
    of_digits = [f"The class label is 1 if {condition}, and 0 otherwise." for condition, _ in CONDITIONS]
    rules = (
        (TABLES["digits"], (*EVEN_SUM, *HAS_ZERO, *of_digits, PAPERS_ZERO)),
        (TABLES["points"], (*CIRCLES, PAPERS_CIRCLE)),
        (LINE, FORMULAS),
    )
    assert [rule for dataset, own in rules for rule in own if fault_of(rule, dataset)] == []


def shown(value: object) -> str | None:
    return None if value is None else str(value)


ROW_PARAMETERS = ("number", "target")
"""Names that no column can have here: `row` takes columns as keywords."""


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        NAMES.filter(lambda name: name not in ROW_PARAMETERS), min_size=1, max_size=5, unique_by=str.casefold
    ),
    texts=st.lists(TEXTS, min_size=2, max_size=3, unique_by=str.casefold),
    labels=st.one_of(st.just([]), st.lists(TEXTS, min_size=2, max_size=4, unique_by=str.casefold)),
    digits=st.booleans(),
    seed=SEEDS,
)
def test_no_rule_of_the_demo_model_is_refused(
    names: list[str], texts: list[str], labels: list[str], digits: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = demo_table(names, texts, digits=digits, rng=rng)
    drawn = rng.integers(max(2, len(labels)), size=len(rows))
    targets: list[Value] = [labels[int(at)] if labels else float(at) for at in drawn]
    cells = [row(n, targets[n], **{k: shown(v) for k, v in r.items()}) for n, r in enumerate(rows)]
    task: Task = "classification" if labels else "regression"
    checked = table(task, tuple(cells), target="y", classes=tuple(sorted(labels)))
    batch = Batch(rows[:10], tuple(map(str, targets[:10])) if labels else tuple(map(float, targets[:10])))
    for rule in written(batch, rng):
        said = rule.say()
        assert fault_of(said, checked) is None, said
