import html
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.show import markup, words
from vpp.show.blocks import Code
from vpp.show.figures import VoteBar
from vpp.show.markup import BY_LABEL, GLOSSARY, diff_html, kept_share

NBSP = "\N{NO-BREAK SPACE}"


def test_a_percentage_never_claims_all_or_nothing_falsely() -> None:
    cases = {0: "0 %", 1: "100 %", 0.22: "22 %", 0.997: "99.7 %", 0.004: "0.4 %", 0.99999: "> 99.9 %"}
    cases |= {1e-9: "< 0.1 %", 0.996: "99.6 %"}
    assert {fraction: words.percent(fraction).replace(NBSP, " ") for fraction in cases} == cases


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_share_between_0_and_1_never_reads_as_either(fraction: float) -> None:
    assert words.percent(fraction).split(NBSP)[0] not in ("0", "100", "0.0", "100.0")


def test_a_vote_that_is_not_unanimous_never_reads_so() -> None:
    shares = (("a", 0.9996), ("b", 0.0004))
    assert VoteBar(shares=shares, labels=("a", "b")).words == f"a > 99.9{NBSP}%, b < 0.1{NBSP}%"
    assert VoteBar(shares=(("a", sum([0.1] * 10)),), labels=("a", "b")).words == f"a 100{NBSP}%"


def test_a_number_reads_well_at_any_scale() -> None:
    cases = {
        0.0: "0",
        3.14159: "3.142",
        2007.25: "2007.2",
        2007.0: "2007",
        123456.7: "123,456.7",
        12_345_678.9: "12,345,679",
        1.2345e12: "1.234e12",
        -1.5e-9: "−1.5e−9",
        0.00012345: "0.0001234",
    }
    assert {value: words.number(value) for value in cases} == cases


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (65 / 3, 0, "21.7"),
        (-12345.678, 1, "−12,345.68"),
        (6.5e12 / 3, 0, "2,166,666,666,666.7"),
        (1.23456e-9, 9, "1.2e−9"),
        (-math.inf, 2, "−∞"),
        (4 / 3, None, "1.333"),
    ],
)
def test_a_value_of_the_target_has_one_decimal_more_than_its_data(
    value: float, decimals: int | None, shown: str
) -> None:
    assert words.target_text(value, decimals) == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_text_reads_back_as_the_same_number(value: float) -> None:
    assert float(words.shortest(value)) == value


def test_a_label_that_the_glossary_lacks_is_text_alone() -> None:
    assert markup.term("<b>") == "&lt;b&gt;"
    assert 'popovertarget="term-ess"' in markup.term("Effective sample size")


def test_every_term_has_a_place_of_its_own_on_the_page() -> None:
    ids = re.findall(r'<div popover id="([^"]+)"', markup.glossary())
    assert len(ids) == len(set(ids)) == len(GLOSSARY)
    assert len(BY_LABEL) == sum(len(entry.labels) for entry in GLOSSARY), "no two terms share a label"


PROGRAM = """def predict(row):
    # "<b>", if any
    return "a<b" if row['x'] > 6.5 else None
"""


def test_a_program_is_marked_on_the_page_and_stays_the_same_text() -> None:
    marked = markup.html([Code(PROGRAM, is_program=True)])
    for kind, token in (("kw", "def"), ("com", '# "<b>", if any'), ("lit", '"a<b"'), ("lit", "6.5"), ("kw", "None")):
        assert f'<span class="{kind}">{html.escape(token)}</span>' in marked
    assert unmarked(marked) == PROGRAM
    assert "span" not in markup.html([Code(PROGRAM)])


@given(st.text(alphabet="\n\r\f\t \\'\"#(){}<>&:=fr0.e٣é\x00", max_size=40) | st.text(max_size=40))
def test_any_text_that_is_called_a_program_is_shown_whole_and_escaped(source: str) -> None:
    assert unmarked(markup.html([Code(source, is_program=True)])) == markup.plain(source)


def unmarked(page: str) -> str:
    inside = page.removeprefix('<pre class="raw">').removesuffix("</pre>")
    words = re.sub(r'<span class="(kw|lit|com)">|</span>', "", inside)
    assert "<" not in words
    return html.unescape(words)


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
