"""Clauses of a sentence, by hand, and what holds for any sentence."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.trials.trial import MOST, clauses

RULE = "If math is A and publications is 1 or more, answer admitted; otherwise answer rejected."
BETWEEN = "Say yes if a is between 2 and 8 and b is above 3, else no."
CHAIN = "If x is at most 4, output p; otherwise, if y is above 2, output q; otherwise, output r."


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        (
            RULE,
            {
                "math is A": "If publications is 1 or more, answer admitted; otherwise answer rejected.",
                "publications is 1 or more": "If math is A, answer admitted; otherwise answer rejected.",
                "otherwise answer rejected.": "If math is A and publications is 1 or more, answer admitted.",
            },
        ),
        (
            BETWEEN,
            {
                "a is between 2 and 8": "Say yes if b is above 3, else no.",
                "b is above 3": "Say yes if a is between 2 and 8, else no.",
                "else no.": "Say yes if a is between 2 and 8 and b is above 3.",
            },
        ),
        (
            CHAIN,
            {
                "If x is at most 4, output p;": "otherwise, if y is above 2, output q; otherwise, output r.",
                "otherwise, if y is above 2, output q;": "If x is at most 4, output p; otherwise, output r.",
                "otherwise, output r.": "If x is at most 4, output p; otherwise, if y is above 2, output q.",
            },
        ),
        (
            "Houses with four cats are loud. All others are quiet.",
            {
                "Houses with four cats are loud.": "All others are quiet.",
                "All others are quiet.": "Houses with four cats are loud.",
            },
        ),
        (
            "If species is Adelie or Gentoo, answer light; otherwise answer heavy.",
            {
                "If species is Adelie or Gentoo, answer light;": "otherwise answer heavy.",
                "otherwise answer heavy.": "If species is Adelie or Gentoo, answer light.",
            },
        ),
        ("Answer light if mass is between 2 kg and 8 kg.", {}),
        ("Answer small birds, e.g. wrens, as light.", {}),
        ("Output 51.8 * length - 6200.", {}),
        ("The label is 1 if the sum is even.", {}),
    ],
)
def test_clauses_are_parts_and_joined_conditions(sentence: str, found: dict[str, str]) -> None:
    assert {each.text: each.without for each in clauses(sentence)} == found


@settings(deadline=None, max_examples=50)
@given(st.text(alphabet="ab ,;.\nIfoandr", max_size=80) | st.sampled_from((RULE, BETWEEN, CHAIN)))
def test_each_clause_is_at_its_place_and_something_is_left_without_it(sentence: str) -> None:
    found = clauses(sentence)
    assert len(found) in range(2, MOST + 1) or not found
    for each in found:
        assert sentence[each.start : each.end] == each.text
        assert each.without.strip(" .;,")
    assert all(each.end <= after.start for each, after in pairwise(found))
