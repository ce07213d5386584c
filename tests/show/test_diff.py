"""The diff of two hypotheses: what counts as a change, and what is shown."""

import pytest

from vpp.show.markup import changes, diff_html, is_reworded, kept_share

RULE = "If x is greater than 6, answer Gentoo; otherwise, answer Adelie."


@pytest.mark.parametrize(
    "other",
    [
        'if x is above 6, answer gentoo. Otherwise answer "Adelie"',
        "If x > 6 answer Gentoo; otherwise, answer Adelie.",
        "If x exceeds 6, answer Gentoo; otherwise, answer Adelie.",
        "If x is MORE  than 6, answer Gentoo: otherwise, answer Adelie!",
    ],
)
def test_case_punctuation_and_synonyms_are_no_change_and_the_new_text_is_shown(other: str) -> None:
    assert is_reworded(RULE, other)
    assert kept_share(RULE, other) == 1
    assert " ".join(words for _, words in changes(RULE, other)).split() == other.split()
    assert "<" not in diff_html(RULE, other)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("x is greater than 6", "x is at least 6", "x is <del>greater than</del> <ins>at least</ins> 6"),
        ("x is over 5", "x is over .5", "x is over <del>5</del> <ins>.5</ins>"),
        ("x is above -6", "x is above 6", "x is above <del>-6</del> <ins>6</ins>"),
        ("a * (b + 1)", "a * b + 1", "a * <del>(b</del> <ins>b</ins> + <del>1)</del> <ins>1</ins>"),
        ("x is even", "x is not even", "x is <ins>not</ins> even"),
        ("x is no more than 6", "x is at most 7", "x is at most <del>6</del> <ins>7</ins>"),
    ],
)
def test_another_meaning_is_a_change(before: str, after: str, shown: str) -> None:
    assert diff_html(before, after).replace("&gt;", ">") == shown
    assert not is_reworded(before, after)


def test_a_text_is_no_rewording_of_itself() -> None:
    assert not is_reworded(RULE, RULE)
