import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.reporting.renderers import RENDERERS, bare, kinds, seen
from vpp.wording.escaping import (
    _REPLACED,
    JOINER,
    markdown_code,
    markdown_quote,
    markdown_table,
    markdown_text,
    plain,
)

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<!-- hidden -->",
    "![a](http://b)",
    "[a](http://b 'title')",
    "[x]: http://b",
    "[^1] and [^1]: note",
    "<https://evil.com>",
    "https://evil.com/a?b=c#d",
    "http://1.2.3.4/",
    "www.evil.com",
    "WWW.EVIL.COM",
    "evil.com",
    "ftp://evil.com",
    "a@b.co",
    "mailto:a@b.co",
    "xmpp:a@b.co",
    "@user #123",
    "$x$ and $$y$$ and \\(z\\)",
    "**b** __b__ *i* _i_ ~~s~~ `c` ``c`` ==m== ++i++",
    "snake_case_name and _private_",
    ":red[x] :blue-background[x] :smile: :material/home: :+1:",
    "::video[x]{src=y}",
    "# heading",
    "title\n=====",
    "title\n---",
    "---",
    "***",
    "- item\n+ item\n* item",
    "1. one\n2) two",
    "> quote",
    "    indented code",
    "```\nfence\n```",
    "~~~\nfence\n~~~",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "a \\| b \\",
    "&lt;b&gt; &#60; &copy;",
    "Q&A, 1 < 2 > 0, x <= 3, a <b",
    "zero\u200bwidth \u2060joiner \ufeffmark",
    "\ufeff> quote",
    "line\r\nline\u2028line\x0bline",
    "a  \nhard break",
    "tab\tand\x00control\x1b[31m",
    "\u202egnp.exe\u202c",
    "\ud800 lone surrogate",
    "\\",
    "- [ ] task",
    "term\n: definition",
    "{: .class}",
    "%%comment%%",
]
PIECES = st.sampled_from(
    [*"abw19 .:/@#$*_`~^|\\<>[](){}!&;=+-\"'?%,\n\t", *HOSTILE, "http://", "www.", "**", "://", "](", "  \n"]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))
ANY_RENDERER = pytest.mark.parametrize("renderer", RENDERERS.values(), ids=RENDERERS)
REPLACED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def words_of(text: str) -> str:
    return bare(REPLACED.sub("\ufffd", text))


@ANY_RENDERER
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str, renderer: MarkdownIt) -> None:
    markdown = markdown_text(text)
    assert kinds(markdown, renderer) <= {"paragraph_open", "inline", "text", "paragraph_close"}
    assert seen(markdown, renderer) == words_of(text)


@ANY_RENDERER
@given(text=TEXTS)
@example(text="a\\\n- b")
def test_any_text_stays_text(text: str, renderer: MarkdownIt) -> None:
    markdown = markdown_text(text)
    assert kinds(markdown, renderer) <= {"paragraph_open", "inline", "text", "paragraph_close"}
    assert seen(markdown, renderer) == words_of(text)


@ANY_RENDERER
@given(text=TEXTS)
def test_any_text_stays_text_in_a_quote(text: str, renderer: MarkdownIt) -> None:
    markdown = f"before\n\n{markdown_quote(text)}\n\nafter"
    allowed = {
        "paragraph_open",
        "inline",
        "text",
        "paragraph_close",
        "hardbreak",
        "blockquote_open",
        "blockquote_close",
    }
    if words_of(text):
        assert kinds(markdown, renderer) <= allowed
        assert seen(markdown, renderer) == f"before{words_of(text)}after"
    else:
        assert "*(no text)*" in markdown


@given(text=TEXTS)
def test_any_text_stays_in_its_cell(text: str) -> None:
    markdown = markdown_table(("head", "x"), [(markdown_text(text), "y")])
    table = kinds(markdown, RENDERERS["gfm with linkify"])
    plain = kinds(markdown_table(("head", "x"), [("cell", "y")]), RENDERERS["gfm with linkify"])
    assert table <= plain
    assert seen(markdown, RENDERERS["gfm with linkify"]) == f"headx{words_of(text)}y"


@ANY_RENDERER
@given(text=TEXTS)
def test_no_text_closes_its_fence(text: str, renderer: MarkdownIt) -> None:
    parsed = renderer.parse(f"{markdown_code(text)}\n\nafter")
    assert [token.type for token in parsed] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert bare(parsed[0].content) == words_of(text)


@pytest.mark.parametrize(
    "address", ["https://evil.com", "www.evil.com", "a@b.co", ":smile:", ":red[x]", "@user", "#123"]
)
def test_what_is_recognised_in_finished_text_is_parted_by_a_joiner(address: str) -> None:
    """GitHub and Streamlit look for these after parsing, where a backslash helps no more."""
    parsed = RENDERERS["commonmark"].parseInline(markdown_text(address))[0].children or []
    text = "".join(token.content for token in parsed)
    assert re.search(f"[:@#]{JOINER}|www{JOINER}", text)


@pytest.mark.parametrize(
    "text",
    [
        "The class label is 1 if the sum of a, b, c and d is even, and 0 otherwise.",
        "If bill_length_mm is at most 37.9, output Adelie; otherwise (say, 40), output Gentoo.",
        "y = 2.8 * x + 4.2, x > 3 and x <= 5",
    ],
)
def test_ordinary_sentences_read_well_in_the_raw_file(text: str) -> None:
    assert markdown_text(text) == text


def test_lines_of_a_quote_stay_lines() -> None:
    assert markdown_quote("If a:\n\n- yes\r\n- no") == "> If a:\\\n> \\- yes\\\n> \\- no"


def test_what_acts_on_the_text_around_it_is_replaced_and_nothing_that_is_printed() -> None:
    printable = "\n".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert plain(printable) == printable
    assert _REPLACED.search(printable) is None
    assert plain("a\u202eb\x00\n\ud800\x85\tc") == "a\ufffdb\ufffd\n\ufffd\x85\tc"
