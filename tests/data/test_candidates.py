"""Rows to label next: from the file or made up, never one that is labelled already."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import MOST_UNLABELLED, build_dataset
from vpp.data.dataset import Dataset
from vpp.data.labelling import candidate_rows, input_key
from vpp.data.record import dataset_from_csv, rows_csv, spec
from vpp.data.split import SplitPlan
from vpp.data.table import Table


def made(lines: list[str], header: str = "size,count,colour,items,when,y", **options) -> Dataset:
    table = Table.read("\n".join([header, *lines]).encode(), name="t.csv")
    return build_dataset(table, target="y", split=SplitPlan(**{"test_size": 5, **options}))


def line(i: int, y: str) -> str:
    colour = ("red", "green", "blue")[i % 3]
    return f"{i / 4 - 2:.2f},{i % 7},{colour},{i} {i + 3} {i % 5},2024-01-{i % 28 + 1:02d},{y}"


MIXED = made([line(i, "ab"[i % 2]) for i in range(40)] + [line(i, "") for i in range(40, 52)])


def test_rows_without_a_target_are_in_no_part_of_the_split():
    assert [row.id for row in MIXED.unlabelled] == list(range(40, 52))
    assert all(row.target is None for row in MIXED.unlabelled)
    assert not {row.id for row in MIXED.unlabelled} & {row.id for row in (*MIXED.train, *MIXED.test)}
    assert MIXED.provenance.n_unlabelled == 12


def test_rows_without_a_target_come_back_from_the_run_directory():
    content = rows_csv(MIXED)
    assert sum(b",unlabelled," in row for row in content.splitlines()) == 12
    assert dataset_from_csv(content, header=spec(MIXED)) == MIXED


def test_many_rows_without_a_target_are_sampled_and_noted():
    dataset = made([f"{i},{'ab'[i % 2]}" for i in range(40)] + [f"{i}," for i in range(40, 1300)], "x,y")
    assert len(dataset.unlabelled) == MOST_UNLABELLED == 1000
    assert dataset.unlabelled != dataset.unlabelled[::-1]
    assert [row.id for row in dataset.unlabelled] == sorted(row.id for row in dataset.unlabelled)
    assert any(note.startswith("of 1,260 rows without a target, 1,000") for note in dataset.provenance.notes)
    again = made([f"{i},{'ab'[i % 2]}" for i in range(40)] + [f"{i}," for i in range(40, 1300)], "x,y")
    assert again.unlabelled == dataset.unlabelled


def test_an_empty_row_is_no_candidate():
    dataset = made([f"{i},{i},{'ab'[i % 2]}" for i in range(20)] + ["NA,,", "7,,"], "x,z,y")
    assert [row.id for row in dataset.unlabelled] == [21]


def test_candidates_from_the_file_have_their_ids_and_are_not_labelled():
    dataset = made([f"{i},{'ab'[i % 2]}" for i in range(20)] + ["3.0,", "50,", "50.0,", "51,"], "x,y")
    assert [row.id for row in candidate_rows(dataset, source="unlabelled", n=9, seed=0)] in ([21, 23], [22, 23])


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


def test_another_draw_gives_other_rows_and_the_same_draw_the_same():
    first, again, other = (candidate_rows(MIXED, source="made up", n=9, seed=1, draw=draw) for draw in (0, 0, 1))
    assert first == again
    assert first != other


def test_nothing_is_made_up_if_every_combination_is_labelled():
    dataset = made([f"{'pq'[i % 2]},{'ab'[i % 3 % 2]}" for i in range(20)], "x,y")
    assert candidate_rows(dataset, source="made up", n=24, seed=0) == ()


@pytest.mark.parametrize("odd", ["1e300", "0.000000001234", "-12345678901"])
def test_a_number_of_unusual_size_is_taken_over_as_it_was_seen(odd):
    dataset = made([f"{odd if i % 2 else i},{i % 7},{'ab'[i % 2]}" for i in range(20)], "x,z,y")
    seen = {dict(row.inputs)["x"] for row in dataset.train}
    rows = candidate_rows(dataset, source="made up", n=12, seed=0)
    assert rows
    assert {dict(row.inputs)["x"] for row in rows} <= seen
