"""Splits by chance, by group and by time, test files, and the notes on them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import PARTS, Dataset, SplitRule, dataset_from_csv, rows_csv, spec
from vpp.data.split import Split, SplitPlan, stratified_split
from vpp.data.table import Table
from vpp.errors import InputError


def drawn(strata: list[str], train: int, test: int, seed: int = 0) -> Split:
    return stratified_split(dict(enumerate(strata)), train=train, test=test, rng=np.random.default_rng(seed))


@st.composite
def splits(draw: st.DrawFn) -> tuple[list[str], int, int]:
    strata = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=80))
    train = draw(st.integers(0, len(strata)))
    return strata, train, draw(st.integers(0, len(strata) - train))


@settings(deadline=None)
@given(splits(), st.integers(0, 9))
def test_parts_have_their_sizes_share_no_row_train_every_class_and_depend_on_the_seed_alone(case, seed):
    strata, train, test = case
    split = drawn(strata, train, test, seed)
    assert (len(split.train), len(split.test)) == (train, test)
    assert len({*split.train, *split.test}) == train + test
    assert {*split.train, *split.test} <= set(range(len(strata)))
    assert {strata[i] for i in split.train} == set(strata) or train < len(set(strata))
    assert drawn(strata, train, test, seed) == split


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), st.integers(20, 60), min_size=2), st.data())
def test_each_part_keeps_the_proportions(counts, data):
    strata = [stratum for stratum, k in counts.items() for _ in range(k)]
    train = data.draw(st.integers(20, len(strata) - 1))
    test = data.draw(st.integers(1, len(strata) - train))
    split = drawn(strata, train, test)
    for part, slack in ((split.train, 1), (split.test, 2)):
        found = Counter(strata[i] for i in part)
        assert all(abs(found[c] - len(part) * k / len(strata)) <= slack for c, k in counts.items())


def test_a_seat_that_is_left_goes_to_the_largest_remainder():
    """11 of 40 rows: 7.7 and 3.3 of the strata."""
    strata = ["a"] * 28 + ["b"] * 12
    assert Counter(strata[i] for i in drawn(strata, 11, 0).train) == {"a": 8, "b": 3}


def test_each_row_is_as_likely_to_test_as_any():
    """2,000 seeds: each of 20 counts within 5 standard deviations; false alarm below 2e-5."""
    counts = Counter(i for seed in range(2000) for i in drawn(["a"] * 12 + ["b"] * 8, 10, 5, seed).test)
    for i in range(20):
        expected = 3 / 12 if i < 12 else 2 / 8
        assert abs(counts[i] - 2000 * expected) < 5 * np.sqrt(2000 * expected * (1 - expected))


def read(text: str, name: str = "some.csv") -> Table:
    return Table.read(text.encode(), name=name)


def stores(n: int, groups: int) -> Table:
    """Rows of `groups` stores in turn, labels a and b by half."""
    return read("store,x,y\n" + "".join(f"store {i % groups},{i}.5,{'ab'[i // groups % 2]}\n" for i in range(n)))


def days(moments: list[str], column: str = "day") -> Table:
    return read(f"{column},x,y\n" + "".join(f'"{day}",{i % 7}.5,{i}.25\n' for i, day in enumerate(moments)))


def split_by(table: Table, rule: str, *, inputs=None, test_table=None, **sizes) -> Dataset:
    plan = SplitPlan(rule=SplitRule.read(rule), **sizes)
    return build_dataset(table, target="y", columns=ColumnChoice(inputs=inputs), split=plan, test_table=test_table)


def test_calibration_rows_are_parted_from_the_test_rows_that_there_would_be():
    table = stores(1000, 50)
    before = split_by(table, "random", test_size=100)
    after = split_by(table, "random", test_size=60, calibration_size=40)
    assert after.train == before.train
    assert (len(after.test), len(after.calibration)) == (60, 40)
    assert {*after.test, *after.calibration} == set(before.test)
    assert after.provenance.n_left_out == before.provenance.n_left_out == 800
    assert dataset_from_csv(rows_csv(after), header=spec(after)) == after


@pytest.mark.parametrize(
    ("rule", "size", "coverage", "notes"),
    [
        ("group:store", 40, 0.9, ["1 calibration row: too few for 90 %, which takes 9"]),
        ("random", 8, 0.9, ["8 calibration rows: too few for 90 %, which takes 9"]),
        ("random", 8, 0.8, []),
        ("random", 18, 0.95, ["18 calibration rows: too few for 95 %, which takes 19"]),
        ("random", 19, 0.95, []),
        ("random", 0, 0.9, []),
    ],
)
def test_a_note_names_too_few_calibration_rows(rule, size, coverage, notes):
    dataset = split_by(stores(300, 4), rule, calibration_size=size, coverage=coverage)
    assert [note for note in dataset.provenance.notes if "too few" in note] == notes


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from("pqrstuvw"), min_size=6, max_size=120), st.integers(0, 9), st.integers(1, 60))
def test_no_group_is_in_two_parts_and_a_calibration_group_has_one_row(groups, seed, size):
    groups = ["p", "q", *groups]
    table = read("g,x,y\n" + "".join(f"{g},{i}.5,{i}.25\n" for i, g in enumerate(groups)))
    dataset = split_by(table, "group:g", seed=seed, train_size=size, test_size=size, calibration_size=size)
    named = [[groups[row.id] for row in dataset.part(part)] for part in PARTS]
    train, test, calibration = map(set, named)
    assert min(len(train), len(test)) > 0
    assert len(train | test | calibration) == len(train) + len(test) + len(named[2])
    assert max(map(len, named)) <= size


def test_where_each_group_is_larger_than_twice_the_test_rows_the_smallest_tests():
    table = read("g,x,y\n" + "".join(f"{'p' if i < 20 else 'q'},{i}.5,{i}.25\n" for i in range(30)))
    dataset = split_by(table, "group:g", train_size=28, test_size=1)
    assert (len(dataset.train), [row.id >= 20 for row in dataset.test]) == (20, [True])


@pytest.mark.parametrize(
    ("moments", "column"),
    [
        ([f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(84)], "day"),
        ([f"{i % 28 + 1:02}.{i % 12 + 1:02}.2023" for i in range(84)], "day"),
        ([f"{i * 37 % 84 - 40}" for i in range(84)], "hour"),
    ],
)
def test_the_latest_rows_are_the_test_rows(moments, column):
    """Dates in two notations and numbers, all distinct and in no order."""
    table = days(moments, column)
    dataset = split_by(table, f"time:{column}")
    key = {m: m.split(".")[::-1] if "." in m else float(m) if column == "hour" else m for m in moments}
    latest = sorted(range(84), key=lambda i: key[moments[i]])[-32:]
    assert [row.id for row in dataset.test] == latest
    assert len(dataset.train) == 52


def test_equal_times_are_split_by_the_order_in_the_file_and_noted():
    dataset = split_by(days(["2024-01-01"] * 10 + ["2024-01-02"] * 10), "time:day")
    assert [row.id for row in dataset.test] == list(range(12, 20))
    assert dataset.provenance.notes[-1] == "split by 'day': test rows are the latest, 8 rows from '2024-01-02' on"


def test_the_column_of_the_split_is_an_input_only_if_named():
    table = stores(60, 6)
    dataset = split_by(table, "group:store")
    assert dataset.inputs == ("x",)
    why = "the split is by its groups, and new rows belong to new groups"
    assert f"column 'store' was left out: {why}" in dataset.provenance.notes
    assert split_by(table, "group:store", inputs=["store", "x"]).inputs == ("store", "x")
    assert split_by(days([str(i) for i in range(40)], "t"), "time:t").inputs == ("x",)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("group", "split 'group' is unknown: give random, group:COLUMN or time:COLUMN"),
        ("random:x", "split 'random:x' is unknown"),
        ("group:stor", "some.csv has no column 'stor': did you mean 'store'?"),
        ("group:y", "column 'y' is the target and cannot split the rows"),
        ("group:one", "column 'one' of some.csv has a single group"),
        ("time:one", "column 'one' of some.csv has a single time"),
        ("time:store", "column 'store' of some.csv cannot order the rows in time (its kind is category)"),
        ("time:blank", "too few rows have a value in 'y' and 'blank': 0 in some.csv"),
    ],
)
def test_an_impossible_split_is_refused_in_one_line(rule, said):
    table = read("store,one,blank,x,y\n" + "".join(f"s{i % 4},1,,{i}.5,{i}.25\n" for i in range(20)))
    with pytest.raises(InputError) as caught:
        split_by(table, rule)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


TRAINED = read("x,z,y\n" + "".join(f"{i}.5,{i % 3},{'ab'[i % 2]}\n" for i in range(20)))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            ["a", *(f"new {i}" for i in range(60))],
            "more.csv has other labels than some.csv in 'y': one of the labels 'new 0', 'new 1'",
        ),
        (["a.", "b."], "more.csv has other labels than some.csv in 'y': one of the labels 'a.', 'b.', not one of"),
    ],
)
def test_a_test_file_of_other_labels_is_refused(labels, said):
    other = read("x,z,y\n" + "".join(f"{i}.25,0,{label}\n" for i, label in enumerate(labels)), "more.csv")
    with pytest.raises(InputError, match=said):
        build_dataset(TRAINED, target="y", test_table=other)
    with pytest.raises(InputError, match=r"the test rows come from more.csv: leave out the split by 'z'"):
        split_by(TRAINED, "group:z", test_table=other)
