"""Splits: sizes, proportions, chance."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.split import Split, SplitPlan, stratified_split
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
