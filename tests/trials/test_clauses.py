"""Clauses of a sentence, by hand, and what holds for any sentence."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.programs.source import read_program
from vpp.trials.trial import MOST, branch_clauses, clauses

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


PROGRAM = """
def predict(a, b):
    if a > 1:
        if b > 2:
            return "p"
        return "q"
    elif b > 3:
        return "r"
    else:
        for x in (a, b):
            if x == 0:
                return "s"
    return "t"
"""


def test_a_program_without_a_branch_gives_its_rows_to_the_branches_after_it() -> None:
    program = read_program(PROGRAM, ("a", "b"))
    without = {each.text: each.code for each in branch_clauses(program, "A rule.")}
    assert list(without) == ["a > 1 and b > 2: 'p'", "a > 1: 'q'", "b > 3: 'r'", "x == 0: 's'"]
    for code, gone in zip(without.values(), "pqrs", strict=True):
        left = [branch.output.strip("'") for branch in read_program(code, ("a", "b")).branches]
        assert left == [each for each in "pqrst" if each != gone]
    assert "        return 'q'\n    elif" in without["a > 1 and b > 2: 'p'"]
    assert "\n    if b > 3:" not in without["b > 3: 'r'"]
    one = read_program("def predict(a):\n    return 'p'", ("a",))
    assert branch_clauses(one, "A rule.") == ()
