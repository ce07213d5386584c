import re
import sys
from collections.abc import Collection

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.reporting.renderers import RENDERERS, bare, kinds, seen
from vpp.show import markup
from vpp.show.markup import _REPLACED, JOINER, markdown_code, markdown_quote, markdown_table, markdown_text, plain

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
TABLE = kinds(markdown_table(("head", "x"), [("cell", "y")]), RENDERERS["gfm with linkify"])


def words_of(text: str) -> str:
    return bare(REPLACED.sub("\ufffd", text))


def assert_text_in(markdown: str, allowed: Collection[str], words: str, renderer: MarkdownIt) -> None:
    assert kinds(markdown, renderer) <= set(allowed)
    assert seen(markdown, renderer) == words


def assert_text(text: str) -> None:
    """In a line, a quote, a table's cell and a fence, for every renderer."""
    words = words_of(text)
    for renderer in RENDERERS.values():
        assert_text_in(markdown_text(text), PARAGRAPH, words, renderer)
        quote = f"before\n\n{markdown_quote(text)}\n\nafter"
        if words:
            assert_text_in(quote, QUOTE, f"before{words}after", renderer)
        else:
            assert "*(no text)*" in quote
        parsed = renderer.parse(f"{markdown_code(text)}\n\nafter")
        assert [token.type for token in parsed] == ["fence", "paragraph_open", "inline", "paragraph_close"]
        assert bare(parsed[0].content) == words
    cell = markdown_table(("head", "x"), [(markdown_text(text), "y")])
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


def test_addresses_and_names_get_a_joiner() -> None:
    """GitHub and Streamlit look for these after parsing, where a backslash no longer helps."""
    for address in ("https://evil.com", "www.evil.com", "a@b.co", ":smile:", ":red[x]", "@user", "#123"):
        parsed = RENDERERS["commonmark"].parseInline(markdown_text(address))[0].children or []
        text = "".join(token.content for token in parsed)
        assert re.search(f"[:@#]{JOINER}|www{JOINER}", text), address


def test_ordinary_sentences_read_well_in_the_raw_file() -> None:
    for text in (
        "The class label is 1 if the sum of a, b, c and d is even, and 0 otherwise.",
        "If bill_length_mm is at most 37.9, output Adelie; otherwise (say, 40), output Gentoo.",
        "y = 2.8 * x + 4.2, x > 3 and x <= 5",
    ):
        assert markdown_text(text) == text


def test_lines_of_a_quote_stay_lines() -> None:
    assert markdown_quote("If a:\n\n- yes\r\n- no") == "> If a:\\\n> \\- yes\\\n> \\- no"


def test_what_acts_on_the_text_around_it_is_replaced_and_nothing_that_is_printed() -> None:
    printable = "\n".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert plain(printable) == printable
    assert _REPLACED.search(printable) is None
    assert plain("a\u202eb\x00\n\ud800\x85\tc") == "a\ufffdb\ufffd\n\ufffd\x85\tc"
