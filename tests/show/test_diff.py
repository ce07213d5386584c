"""The diff of two hypotheses: what counts as a change, and what is shown."""

import pytest

from vpp.show.markup import diff_html, kept_share

QUOTED = 'if x is above 6, answer gentoo. Otherwise answer "Adelie"'
RULE = "If x is above 6, answer Gentoo; otherwise, answer Adelie."


@pytest.mark.parametrize("other", [QUOTED, RULE.upper(), f"  {RULE}!"])
def test_case_and_punctuation_are_no_change_and_the_new_text_is_shown(other: str) -> None:
    assert kept_share(RULE, other) == 1
    assert diff_html(RULE, other).replace("&quot;", '"').split() == other.split()


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("x is greater than 6", "x is at least 6", "x is <del>greater than</del> <ins>at least</ins> 6"),
        ("x is over 5", "x is over .5", "x is over <del>5</del> <ins>.5</ins>"),
        ("x is above -6", "x is above 6", "x is above <del>-6</del> <ins>6</ins>"),
        ("a * (b + 1)", "a * b + 1", "a * <del>(b</del> <ins>b</ins> + <del>1)</del> <ins>1</ins>"),
        ("x is even", "x is not even", "x is <ins>not</ins> even"),
    ],
)
def test_another_meaning_is_a_change(before: str, after: str, shown: str) -> None:
    assert diff_html(before, after) == shown
