"""Splits by chance, by group and by time, test files, and the notes on them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset, SplitRule
from vpp.data.record import dataset_from_csv, rows_csv, spec
from vpp.data.split import Split, SplitPlan, stratified_split
from vpp.data.table import ColumnChoice, Table
from vpp.errors import InputError


def drawn(strata: list[str], train: int, test: int, seed: int = 0) -> Split:
    return stratified_split(strata, train=train, test=test, rng=np.random.default_rng(seed))


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


def test_each_row_is_as_likely_to_test_as_any():
    """2,000 seeds: each of 20 counts within 5 standard deviations; false alarm below 2e-5."""
    counts = Counter(i for seed in range(2000) for i in drawn(["a"] * 12 + ["b"] * 8, 10, 5, seed).test)
    for i in range(20):
        expected = 3 / 12 if i < 12 else 2 / 8
        assert abs(counts[i] - 2000 * expected) < 5 * np.sqrt(2000 * expected * (1 - expected))


@pytest.mark.parametrize(
    ("n", "expected"), [(160, (100, 60)), (1000, (100, 60)), (159, (99, 60)), (150, (94, 56)), (2, (1, 1))]
)
def test_few_rows_are_shared_by_the_fraction(n, expected):
    assert SplitPlan().within(n) == expected


@settings(deadline=None)
@given(st.integers(2, 300), st.integers(1, 150), st.integers(1, 150), st.floats(0.01, 0.99))
def test_sizes_stay_within_the_limits_and_test_something(n, train, test, fraction):
    n_train, n_test = SplitPlan(train_size=train, test_size=test, test_fraction=fraction).within(n)
    assert 0 <= n_train <= train
    assert 1 <= n_test <= test
    assert n_train + n_test <= n


@pytest.mark.parametrize(
    ("train", "test", "fraction", "said"),
    [
        (0, 60, 0.3, "train size 0 is too small"),
        (100, 0, 0.3, "test size 0 is too small"),
        (1, 1, 0, "test fraction 0"),
        (1, 1, 1.0, "test fraction 1.0"),
    ],
)
def test_impossible_sizes_are_refused(train, test, fraction, said):
    with pytest.raises(InputError, match=said):
        SplitPlan(train_size=train, test_size=test, test_fraction=fraction)


def test_a_calibration_size_below_zero_is_refused():
    with pytest.raises(InputError, match="calibration size -1 is too small: give at least 0"):
        SplitPlan(calibration_size=-1)


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


@pytest.mark.parametrize("rule", ["random", "group:store"])
def test_calibration_rows_are_parted_from_the_test_rows_that_there_would_be(rule):
    table = stores(1000, 50)
    before, after = split_by(table, rule, test_size=100), split_by(table, rule, test_size=60, calibration_size=40)
    assert after.train == before.train
    assert (len(after.test), len(after.calibration)) == (60, 40)
    assert {*after.test, *after.calibration} == set(before.test)
    assert after.provenance.n_left_out == before.provenance.n_left_out == 800
    assert split_by(table, rule, test_size=100, calibration_size=0).provenance == before.provenance


def test_calibration_rows_are_as_recent_as_the_test_rows():
    dataset = split_by(days([str(i) for i in range(1000)], "t"), "time:t", test_size=60, calibration_size=40)
    held_out = [row.id for row in (*dataset.test, *dataset.calibration)]
    assert sorted(held_out) == list(range(900, 1000))
    assert sorted(row.id for row in dataset.calibration) != list(range(900, 940))
    assert any("test and calibration rows are the latest, 100 rows" in note for note in dataset.provenance.notes)


def test_each_held_out_row_is_as_likely_to_calibrate_as_any():
    """400 seeds: each of 30 counts within 5 standard deviations of 400 / 3."""
    table = stores(30, 1)
    plans = ({"seed": seed, "train_size": 1, "test_size": 16, "calibration_size": 8} for seed in range(400))
    counts = Counter(row.id for plan in plans for row in split_by(table, "random", **plan).calibration)
    assert sum(counts.values()) == 400 * 8
    expected = 8 / 30
    assert all(abs(counts[i] - 400 * expected) < 5 * np.sqrt(400 * expected * (1 - expected)) for i in range(30))


def test_few_rows_leave_a_test_row_and_say_that_none_calibrates():
    dataset = split_by(stores(3, 1), "random", train_size=2, test_size=1, calibration_size=1)
    assert (len(dataset.test), len(dataset.calibration)) == (1, 0)
    assert "too few rows for any calibration row" in dataset.provenance.notes


def test_calibration_rows_are_read_again_from_the_record():
    dataset = split_by(stores(200, 4), "random", test_size=30, calibration_size=20)
    again = dataset_from_csv(rows_csv(dataset), header=spec(dataset))
    assert again == dataset
    assert again.next_id == 200


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from("pqrstuvw"), min_size=6, max_size=120), st.integers(0, 9), st.integers(1, 60))
def test_no_group_is_in_both_parts(groups, seed, size):
    groups = ["p", "q", *groups]
    table = read("g,x,y\n" + "".join(f"{g},{i}.5,{i}.25\n" for i, g in enumerate(groups)))
    dataset = split_by(table, "group:g", seed=seed, train_size=size, test_size=size)
    train, test = ({groups[row.id] for row in rows} for rows in (dataset.train, dataset.test))
    assert train
    assert test
    assert not train & test
    assert max(len(dataset.train), len(dataset.test)) <= size


def test_groups_are_split_in_the_requested_sizes():
    dataset = split_by(stores(1000, 50), "group:store")
    assert (len(dataset.train), len(dataset.test), dataset.provenance.n_left_out) == (100, 60, 840)
    assert "split by 'store': 29 groups for training, 19 for testing, no overlap" in dataset.provenance.notes


def test_groups_of_most_rows_and_of_one_row_are_noted():
    table = read("g,x,y\n" + "".join(f"{'big' if i % 5 else 'small'},{i}.5,{i}.25\n" for i in range(50)))
    dataset = split_by(table, "group:g")
    assert (len(dataset.train), len(dataset.test)) == (40, 10)
    assert "the group 'big' has 40 of 50 rows, so the parts are uneven" in dataset.provenance.notes
    single = read("g,x,y\n" + "".join(f"k{i},{i}.5,{i}.25\n" for i in range(20)))
    notes = split_by(single, "group:g").provenance.notes
    assert "every row has a different 'g', so this split equals a random one" in notes


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


def test_training_rows_of_a_split_by_time_are_drawn_from_all_earlier_ones():
    dataset = split_by(days([str(i) for i in range(1000)], "t"), "time:t")
    assert {row.id for row in dataset.test} == set(range(940, 1000))
    assert min(row.id for row in dataset.train) < 100
    assert (len(dataset.train), dataset.provenance.n_left_out) == (100, 840)


def test_equal_times_are_split_by_the_order_in_the_file_and_noted():
    dataset = split_by(days(["2024-01-01"] * 10 + ["2024-01-02"] * 10), "time:day")
    assert [row.id for row in dataset.test] == list(range(12, 20))
    assert dataset.provenance.notes[-2:] == (
        "split by 'day': test rows are the latest, 8 rows from '2024-01-02' on",
        "2 more rows have the same 'day' as the first test row; ties were broken by the order in the file",
    )


@pytest.mark.parametrize("rule", ["group:g", "time:g"])
def test_rows_without_a_value_in_the_column_are_left_out(rule):
    table = read("g,x,y\n" + "".join(f"{'' if i < 3 else i % 6},{i}.5,{i}.25\n" for i in range(30)))
    dataset = split_by(table, rule)
    assert {row.id for row in (*dataset.train, *dataset.test)} <= set(range(3, 30))
    assert "3 rows have a target but no 'g': left out" in dataset.provenance.notes
    assert dataset.provenance.n_left_out == 30 - len(dataset.train) - len(dataset.test)


def test_the_column_of_the_split_is_an_input_only_if_named():
    table = stores(60, 6)
    dataset = split_by(table, "group:store")
    assert dataset.inputs == ("x",)
    why = "the split is by its groups, and new rows belong to new groups"
    assert f"column 'store' was left out: {why}" in dataset.provenance.notes
    assert split_by(table, "group:store", inputs=["store", "x"]).inputs == ("store", "x")
    assert split_by(days([str(i) for i in range(40)], "t"), "time:t").inputs == ("x",)


def test_a_run_that_records_no_split_was_split_by_chance():
    dataset = split_by(stores(60, 6), "group:store")
    old = spec(dataset)
    assert old["provenance"].pop("split") == "group:store"
    assert dataset_from_csv(rows_csv(dataset), header=old).provenance.split == "random"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("group", "split 'group' is unknown: give random, group:COLUMN or time:COLUMN"),
        ("random:x", "split 'random:x' is unknown"),
        ("group:stor", "some.csv has no column 'stor': did you mean 'store'?"),
        ("group:y", "column 'y' is the target and cannot split the rows"),
        ("group:one", "column 'one' of some.csv has a single group"),
        ("time:one", "column 'one' of some.csv has a single time"),
        ("time:store", "column 'store' of some.csv cannot order the rows in time: it holds categories"),
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


def test_repeated_rows_and_unknown_labels_of_a_test_file_are_noted():
    other = read("z,x,y\n0,0.5,a\n1,1.5,a\n2,2.5,a\n2,77.5,c\n0,78.5,c\n", "more.csv")
    notes = build_dataset(TRAINED, target="y", test_table=other).provenance.notes
    assert any(n.startswith("2 rows of the 5 of more.csv are identical to a row of some.csv") for n in notes)
    assert "no training row has the label 'c': 2 test rows with it can hardly be predicted" in notes
    assert "no test row has the label 'b', so the accuracy on such rows is unknown" in notes


def test_a_test_file_of_too_many_new_labels_or_next_to_a_rule_is_refused():
    other = read("x,z,y\n" + "".join(f"{i}.25,0,new {i}\n" for i in range(60)), "more.csv")
    with pytest.raises(
        InputError, match=r"more.csv has 60 labels in 'y' that some.csv lacks, which makes more than 50"
    ):
        build_dataset(TRAINED, target="y", test_table=other)
    with pytest.raises(InputError, match=r"the test rows come from more.csv: leave out the split by 'z'"):
        split_by(TRAINED, "group:z", test_table=other)


def test_a_label_of_one_row_is_used_for_training_and_noted():
    table = read("x,y\n" + "".join(f"{i}.5,{'rare' if i == 7 else 'ab'[i % 2]}\n" for i in range(2000)))
    dataset = build_dataset(table, target="y")
    assert [row.id for row in dataset.train if row.target == "rare"] == [7]
    assert "no test row has the label 'rare', so the accuracy on such rows is unknown" in dataset.provenance.notes


def test_equal_training_targets_are_noted():
    table = read("x,y\n" + "".join(f"{i}.5,{'9.5' if i == 3 else '0.5'}\n" for i in range(400)))
    notes = build_dataset(
        table, target="y", columns=ColumnChoice(task="regression"), split=SplitPlan(train_size=10, seed=1)
    ).provenance.notes
    assert "every training row has the target 0.5: there is nothing to learn from them" in notes


@pytest.mark.parametrize(
    ("n_rare", "train", "few", "ending"),
    [
        (3, 30, "1 of 30 training rows", "97\u00a0%; take more rows (Rows and split; --train-size)"),
        (3, 100, "2 of 62 training rows", "97\u00a0%"),
        (50, 100, "", ""),
    ],
)
def test_a_rare_label_is_named_with_what_the_commonest_alone_gets_right(n_rare, train, few, ending):
    table = read("x,y\n" + "".join(f"{i * 37 % 101},{'fraud' if i < n_rare else 'ok'}\n" for i in range(100)))
    notes = build_dataset(table, target="y", split=SplitPlan(train_size=train)).provenance.notes
    note = f"label 'fraud' has {few}: always predicting 'ok' would be right on {ending}"
    assert [each for each in notes if "always predicting" in each] == ([note] if few else [])
