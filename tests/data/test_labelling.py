"""Rows to label next, labelled rows that become training rows, and rows typed into a form."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import MOST_UNLABELLED, build_dataset
from vpp.data.dataset import Dataset, Row, SplitRule, dataset_from_csv, rows_csv, spec
from vpp.data.labelling import candidate_rows, input_fields, input_key, typed_row, with_rows
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.errors import DataError


def table_of(lines: list[str], header: str = "x,z,y") -> Table:
    return Table.read("\n".join([header, *lines]).encode(), name="t.csv")


def made(lines: list[str], header: str = "x,z,y") -> Dataset:
    return build_dataset(table_of(lines, header), target="y", split=SplitPlan(test_size=5))


def line(i: int, y: str) -> str:
    colour = ("red", "green", "blue")[i % 3]
    return f"{i / 4 - 2:.2f},{i % 7},{colour},{i} {i + 3} {i % 5},2024-01-{i % 28 + 1:02d},{y}"


MIXED = made(
    [line(i, "ab"[i % 2]) for i in range(40)] + [line(i, "") for i in range(40, 52)], "size,count,colour,items,when,y"
)
PAIRS = made([f"{i / 2},{'pq'[i % 2]},{'ab'[i % 2]}" for i in range(20)] + ["20,p,", "21,q,"])
NUMBERS = made([f"{i},{i}.5" for i in range(20)], "x,y")


def test_rows_without_a_target_are_in_no_part_of_the_split_and_are_recorded():
    assert [row.id for row in MIXED.unlabelled] == list(range(40, 52))
    assert not set(MIXED.unlabelled) & set(MIXED.labelled)
    assert MIXED.provenance.n_unlabelled == 12
    assert dataset_from_csv(rows_csv(MIXED), header=spec(MIXED)) == MIXED


def test_many_rows_without_a_target_are_sampled_by_seed():
    lines = [f"{i},{'ab'[i % 2]}" for i in range(40)] + [f"{i}," for i in range(40, 1300)]
    dataset = made(lines, "x,y")
    assert len(dataset.unlabelled) == MOST_UNLABELLED == 1000
    assert [row.id for row in dataset.unlabelled] == sorted(row.id for row in dataset.unlabelled)
    assert made(lines, "x,y").unlabelled == dataset.unlabelled


def test_candidates_from_the_file_have_an_input_and_their_ids_and_are_not_labelled():
    lines = [f"{i},,{'ab'[i % 2]}" for i in range(20)] + ["3.0,,", "50,,", "50.0,,", "51,,", "NA,,"]
    assert [row.id for row in candidate_rows(made(lines), source="file", n=9, seed=0)] in ([21, 23], [22, 23])


def test_labelled_rows_in_no_part_are_kept_and_those_of_a_test_group_are_not():
    table = table_of([f"{i},g{i % 10},{'ab'[i % 2]}" for i in range(60)], "x,g,y")
    by_chance, by_group = (
        build_dataset(table, target="y", split=SplitPlan(train_size=20, test_size=10, rule=SplitRule.read(rule)))
        for rule in ("random", "group:g")
    )
    assert {row.id for row in by_chance.unused} == set(range(60)) - {row.id for row in by_chance.labelled}
    assert dataset_from_csv(rows_csv(by_chance), header=spec(by_chance)) == by_chance
    trained = {row.id % 10 for row in by_group.train}
    assert by_group.unused
    assert {row.id % 10 for row in by_group.unused} <= trained


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 30))
def test_made_up_rows_lie_within_the_training_range(seed, n):
    rows = candidate_rows(MIXED, source="made up", n=n, seed=seed)
    assert [row.id for row in rows] == list(range(52, 52 + n))  # the file has 52 rows, 0 to 51
    columns = {name: [dict(row.inputs)[name] for row in MIXED.train] for name in MIXED.inputs}
    keys = {input_key(row) for row in rows}
    assert len(keys) == n
    assert not keys & {input_key(row) for row in (*MIXED.train, *MIXED.test)}
    for row in rows:
        cells = dict(row.inputs)
        assert re.fullmatch(r"-?\d+\.\d\d", cells["size"])
        assert min(map(float, columns["size"])) <= float(cells["size"]) <= max(map(float, columns["size"]))
        assert cells["count"] in {"0", "1", "2", "3", "4", "5", "6"}
        assert all(cells[name] in columns[name] for name in ("colour", "items", "when"))
        assert row.target is None


def answered(x: str = "30", z: str | None = "p", target: str = "a") -> Row:
    return Row(id=0, inputs=(("x", x), ("z", z)), target=target)


def test_added_rows_follow_the_training_rows_under_new_ids():
    grown = with_rows(PAIRS, [answered(), answered("31", None, "b")], note="of mine")
    assert grown.train[:-2] == PAIRS.train
    assert [(row.id, row.inputs, row.target) for row in grown.train[-2:]] == [
        (22, (("x", "30"), ("z", "p")), "a"),  # the file has rows 0 to 21
        (23, (("x", "31"), ("z", None)), "b"),
    ]
    assert grown.test == PAIRS.test
    assert grown.provenance.notes[-1] == "of mine: rows 22 to 23"
    again = with_rows(grown, [answered("32")], note="of mine again")
    assert again.train[-1].id == 24
    assert again.provenance.notes[-1] == "of mine again: row 24"


@pytest.mark.parametrize(
    ("dataset", "rows", "complaint"),
    [
        (PAIRS, [], "no row has been answered"),
        (PAIRS, [answered(target="c")], "'c' is not a label: give one of a, b"),
        (PAIRS, [answered(x="many")], "'many' is not a number: give 'x' as a decimal number"),
        (PAIRS, [answered("30"), answered("30.0")], "answered row 2 repeats answered row 1"),
        (PAIRS, [answered("2", "p", "a")], "answered row 1 repeats row 4 of the run"),
        *(
            (
                NUMBERS,
                [Row(id=0, inputs=(("x", "30"),), target=target)],
                "is not a number: give 'y' as a decimal number",
            )
            for target in ("nan", "inf", "1,5", "", "abc")
        ),
    ],
)
def test_a_row_that_cannot_be_added_is_refused(dataset, rows, complaint):
    with pytest.raises(DataError, match=complaint):
        with_rows(dataset, rows, note="")


SIZES = made(["99,green,a", "-2.5,,a", ",blue,b", "9,red,b", "10,red,b", "9,blue,a"])
SIZE, COLOUR = input_fields(SIZES)


def test_typed_cells_become_a_row_and_an_empty_field_is_missing():
    assert typed_row([SIZE, COLOUR], [" 7 ", ""]).inputs == (("x", "7"), ("z", None))
    assert typed_row([SIZE, COLOUR], ["NA", "green"]).inputs == (("x", None), ("z", "green"))
    with pytest.raises(DataError, match="such as 9, not '7,5'"):
        typed_row([SIZE, COLOUR], ["7,5", "red"])
    with pytest.raises(DataError, match="every field is empty"):
        typed_row([SIZE, COLOUR], [" ", None])
