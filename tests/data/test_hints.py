"""Suggestions for the split of a table."""

import pytest

from vpp.data.build import build_dataset, split_hints
from vpp.data.dataset import SplitRule
from vpp.data.split import SplitPlan
from vpp.data.table import Table


def table(name: str, cells: list[str]) -> Table:
    rows = (f"{cell},{i * 37 % 101}.5,{'ab'[i % 2]}" for i, cell in enumerate(cells))
    return Table.read("\n".join([f"{name},x,y", *rows]).encode(), name="t.csv")


def test_a_column_named_after_a_group_whose_values_repeat_is_suggested():
    patients = table("patient", [str(i % 40 * 7) for i in range(200)])
    note = (
        "column 'patient' has 40 values for 200 rows: if its rows belong together, split by group "
        "(--split group:patient)"
    )
    assert split_hints(patients, "y") == (note,)
    assert note in build_dataset(patients, target="y").provenance.notes


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("patient", [str(i) for i in range(60)]),
        ("age", [str(i % 30) for i in range(60)]),
        ("grade", [f"{'ABC'[i % 3]}1" for i in range(60)]),
        ("lot", [f"L-{i % 40:02d}" for i in range(200)]),
        ("town", [("Bern", "Basel", "Chur", "Genf")[i % 4] for i in range(60)]),
    ],
)
def test_distinct_values_measurements_and_few_labels_are_no_groups(name, cells):
    assert split_hints(table(name, cells), "y") == ()


def test_dates_hint_at_time_until_a_split_is_chosen():
    dated = table("day", [f"2024-01-{i % 28 + 1:02d}" for i in range(28)])
    found = build_dataset(dated, target="y")
    assert found.inputs == ("x",)
    assert found.provenance.notes[:2] == (
        "column 'day' was left out: it is different on every row",
        "column 'day' holds dates: to predict later rows from earlier ones, split by time (--split time:day)",
    )
    chosen = build_dataset(dated, target="y", split=SplitPlan(rule=SplitRule(kind="time", column="day")))
    assert not any("holds dates" in note for note in chosen.provenance.notes)
