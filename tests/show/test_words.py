"""Numbers, sentences and terms in words, and text of others that stays text."""

import html
import math
import re
import sys
from collections.abc import Collection

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.reporting.renderers import RENDERERS, bare, kinds, readable_words
from vpp.show import markup, words
from vpp.show.blocks import Code
from vpp.show.figures import VoteBar

NBSP = "\N{NO-BREAK SPACE}"


def test_a_percentage_never_claims_all_or_nothing_falsely_nor_a_vote_that_it_is_unanimous() -> None:
    cases = {0: "0 %", 1: "100 %", 0.22: "22 %", 0.997: "99.7 %", 0.004: "0.4 %", 0.99999: "> 99.9 %"}
    cases |= {1e-9: "< 0.1 %", 0.996: "99.6 %"}
    assert {fraction: words.percent(fraction).replace(NBSP, " ") for fraction in cases} == cases
    shares = (("a", 0.9996), ("b", 0.0004))
    assert VoteBar(shares=shares, labels=("a", "b")).words == f"a > 99.9{NBSP}%, b < 0.1{NBSP}%"
    assert VoteBar(shares=(("a", sum([0.1] * 10)),), labels=("a", "b")).words == f"a 100{NBSP}%"


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_share_between_0_and_1_never_reads_as_either(fraction: float) -> None:
    assert words.percent(fraction).split(NBSP)[0] not in ("0", "100", "0.0", "100.0")


def test_a_time_and_a_list_are_said_in_full_up_to_their_limits() -> None:
    cases = {59.4: "59 s", 59.6: "1 min 00 s", 190.0: "3 min 10 s", 3599.6: "1 h 00 min", 7500.0: "2 h 05 min"}
    assert {value: words.seconds(value).replace(NBSP, " ") for value in cases} == cases
    lists = {0: "", 1: "0", 2: "0 and 1", 3: "0, 1 and 1 more", 1002: "0, 1 and 1,000 more"}
    assert {n: words.listed(range(n), most=2) for n in lists} == lists


def test_a_number_reads_well_at_any_scale_and_beside_the_spread_of_its_kind() -> None:
    cases = {0.0: "0", 3.14159: "3.142", 2007.25: "2007.2", 2007.0: "2007", 123456.7: "123,456.7"}
    cases |= {12_345_678.9: "12,345,679", 1.2345e12: "1.234e12", -1.5e-9: "−1.5e−9", 0.00012345: "0.0001234"}
    cases |= {-math.inf: "−∞", 20_250.125: "20,250.1", 20_000.0: "20,000"}
    assert {value: words.number(value) for value in cases} == cases
    targets = {
        (8 / 3, 1.5): "2.67",
        (251_333.3, 60_000.0): "251,333",
        (0.996783, 0.003): "0.99678",
        (-0.0001, 2.0): "0",
    }
    targets |= {(2007.25, 10.0): "2007.2", (-12_345.0, 80.0): "−12,345", (8 / 3, 0.0): "2.667", (math.inf, 1.0): "∞"}
    assert {each: words.to_spread(*each) for each in targets} == targets


def test_a_target_keeps_its_digits_and_reads_as_the_answers_beside_it() -> None:
    cases = {20_269.87: "20,269.87", 2007.0: "2007", 3.5e13: "35,000,000,000,000", 3.93e-8: "3.93e−8", -4e16: "−4e16"}
    assert {value: words.value_text(value) for value in cases} == cases


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_text_reads_back_as_the_same_number(value: float) -> None:
    assert float(words.shortest(value)) == value


def test_every_term_has_a_place_of_its_own_on_the_page() -> None:
    ids = re.findall(r'<div popover id="([^"]+)"', markup.glossary())
    assert len(ids) == len(set(ids)) == len(markup.GLOSSARY)
    assert 'popovertarget="term-ess"' in markup.term("Effective sample size")
    assert len(markup.BY_LABEL) == sum(len(entry.labels) for entry in markup.GLOSSARY), "no two terms share a label"


PROGRAM = """def predict(row):
    '''Say "no"
    if not "yes".'''
    # "<b>", if any
    return "a<b" if row['x'] > 6.5 + 1e-5 else rb'None'
"""


def test_a_program_is_marked_on_the_page_and_stays_the_same_text() -> None:
    marked = markup.html([Code(PROGRAM, is_program=True)])
    for kind, token in (("kw", "def"), ("lit", '"a<b"'), ("lit", "6.5"), ("lit", "1e-5"), ("lit", "rb'None'")):
        assert f'<span class="{kind}">{html.escape(token)}</span>' in marked
    assert marked.count('"kw"') == 4, "words of the docstring and of the comment are no keywords"
    assert without_marks(marked) == PROGRAM
    assert "span" not in markup.html([Code(PROGRAM)])


@given(st.text(alphabet="\n\r\f\t \\'\"#(){}<>&:=fr0.e٣é\x00", max_size=40) | st.text(max_size=40))
def test_any_text_that_is_called_a_program_is_shown_whole_and_escaped(source: str) -> None:
    assert without_marks(markup.html([Code(source, is_program=True)])) == markup.plain(source)


def without_marks(page: str) -> str:
    inside = page.removeprefix('<pre class="raw">').removesuffix("</pre>")
    words = re.sub(r'<span class="(kw|lit)">|</span>', "", inside)
    assert "<" not in words
    return html.unescape(words)


QUOTED = 'if x is above 6, answer gentoo. Otherwise answer "Adelie"'
RULE = "If x is above 6, answer Gentoo; otherwise, answer Adelie."


@pytest.mark.parametrize("other", [QUOTED, RULE.upper(), f"  {RULE}!"])
def test_case_and_punctuation_are_no_change_and_the_new_text_is_shown(other: str) -> None:
    assert markup.kept_share(RULE, other) == 1
    assert markup.diff_html(RULE, other).replace("&quot;", '"').split() == other.split()


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
    assert markup.diff_html(before, after) == shown


HOSTILE = [
    "<img src=x onerror=alert(1)> <script>alert(1)</script> <!-- hidden -->",
    "![a](http://b) [a](http://b 'title') [^1] and [^1]: note",
    "[x]: http://b",
    "<https://evil.com> https://evil.com/a?b=c#d WWW.EVIL.COM evil.com mailto:a@b.co xmpp:a@b.co @user #123",
    "$x$ and $$y$$ and \\(z\\) **b** __b__ *i* _i_ ~~s~~ `c` ``c`` ==m== ++i++ snake_case_name",
    ":red[x] :blue-background[x] :smile: :material/home: ::video[x]{src=y} {: .class} %%comment%%",
    "# heading",
    "title\n=====",
    "title\n---",
    "***",
    "- [ ] item\n+ item\n* item",
    "1. one\n2) two",
    "> quote",
    "    indented code",
    "```\nfence\n```",
    "~~~\nfence\n~~~",
    "| a | b \\| c \\ |\n|---|---|\n| 1 | 2 |",
    "&lt;b&gt; &#60; &copy; Q&A, 1 < 2 > 0, x <= 3, a <b",
    "zero\u200bwidth \u2060joiner \ufeff> mark",
    "line\r\nline\u2028line\x0bline  \nhard break",
    "tab\tand\x00control\x1b[31m \u202egnp.exe\u202c \ud800",
    "\\",
    "term\n: definition",
]
PIECES = st.sampled_from(
    [*"abw19 .:/@#$*_`~^|\\<>[](){}!&;=+-\"'?%,\n\t", *HOSTILE, "http://", "www.", "**", "://", "](", "  \n"]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))
REPLACED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PARAGRAPH = {"paragraph_open", "inline", "text", "paragraph_close"}
QUOTE = {*PARAGRAPH, "hardbreak", "blockquote_open", "blockquote_close"}
TABLE = kinds(markup.markdown_table(("head", "x"), [("cell", "y")]), RENDERERS["gfm with linkify"])


def words_of(text: str) -> str:
    return bare(REPLACED.sub("\ufffd", text))


def assert_text_in(markdown: str, allowed: Collection[str], words: str, renderer: MarkdownIt) -> None:
    assert kinds(markdown, renderer) <= set(allowed)
    assert readable_words(markdown, renderer) == words


def assert_text(text: str) -> None:
    """In a line, a quote, a table's cell and a fence, for every renderer."""
    words = words_of(text)
    for renderer in RENDERERS.values():
        assert_text_in(markup.markdown_text(text), PARAGRAPH, words, renderer)
        quote = f"before\n\n{markup.markdown_quote(text)}\n\nafter"
        if words:
            assert_text_in(quote, QUOTE, f"before{words}after", renderer)
        else:
            assert "*(no text)*" in quote
        parsed = renderer.parse(f"{markup.markdown_code(text)}\n\nafter")
        assert [token.type for token in parsed] == ["fence", "paragraph_open", "inline", "paragraph_close"]
        assert bare(parsed[0].content) == words
    cell = markup.markdown_table(("head", "x"), [(markup.markdown_text(text), "y")])
    assert_text_in(cell, TABLE, f"headx{words}y", RENDERERS["gfm with linkify"])


def test_hostile_text_stays_text() -> None:
    for text in HOSTILE:
        assert_text(text)


@given(text=TEXTS)
@example(text="a\\\n- b")
def test_any_text_stays_text(text: str) -> None:
    assert_text(text)


def test_no_text_leaves_its_element_or_attribute() -> None:
    assert markup.block("<b>", label="\"'><b>") == (
        '<div class="vpp" role="group" aria-label="&quot;&#x27;&gt;&lt;b&gt;"><b></div>'
    )
    assert markup.badge("", "<b>") == '<span class="badge">&lt;b&gt;</span>'
    assert markup.term("<b>") == "&lt;b&gt;", "a label that the glossary lacks is text alone"


def test_addresses_and_names_get_a_joiner() -> None:
    """GitHub and Streamlit look for these after parsing, where a backslash no longer helps."""
    for address in ("https://evil.com", "www.evil.com", "a@b.co", ":smile:", ":red[x]", "@user", "#123"):
        parsed = RENDERERS["commonmark"].parseInline(markup.markdown_text(address))[0].children or []
        text = "".join(token.content for token in parsed)
        assert re.search(f"[:@#]{markup.JOINER}|www{markup.JOINER}", text), address


def test_ordinary_sentences_read_well_in_the_raw_file_and_lines_of_a_quote_stay_lines() -> None:
    for text in (
        "The class label is 1 if the sum of a, b, c and d is even, and 0 otherwise.",
        "If bill_length_mm is at most 37.9, output Adelie; otherwise (say, 40), output Gentoo.",
        "y = 2.8 * x + 4.2, x > 3 and x <= 5",
    ):
        assert markup.markdown_text(text) == text
    assert markup.markdown_quote("If a:\n\n- yes\r\n- no") == "> If a:\\\n> \\- yes\\\n> \\- no"


def test_what_acts_on_the_text_around_it_is_replaced_and_nothing_that_is_printed() -> None:
    printable = "\n".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert markup.plain(printable) == printable
    assert markup._REPLACED.search(printable) is None
    assert markup.plain("a\u202eb\x00\n\ud800\x85\tc") == "a\ufffdb\ufffd\n\ufffd\x85\tc"
