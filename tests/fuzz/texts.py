"""Foreign text as HTML, Markdown, a line of a terminal, a spreadsheet's cell; and texts beside each other."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser

import numpy as np

from tests.fuzz import stretching
from tests.fuzz.choices import TEXTS, Choices
from tests.fuzz.promises import promise
from vpp.data.answers import cut_thinking, without_invisible
from vpp.data.answers import one_line as quoted_line
from vpp.data.columns import is_number
from vpp.inspection.similarity import closeness, groups_at, root_mean_squared_differences, share_alike
from vpp.reporting.document import report_body
from vpp.wording import markup
from vpp.wording.escaping import (
    markdown_code,
    markdown_quote,
    markdown_table,
    markdown_text,
    one_line,
    original,
    plain,
    safe_cell,
)
from vpp.wording.markup import changes, diff_html, is_rewritten, kept_share

LONGEST = 8_000
"""Characters of a hypothesis."""
PLAIN_TAGS = {"p", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "pre", "code", "br", "div", "em"}


def plain_seeds() -> Iterator[bytes]:
    for text in TEXTS:
        yield stretching.PLAIN + text.encode()[:200]
    yield stretching.PLAIN + b"You predict. Say yes if a is even, else no.\nName=value\nA, b: *c*"
    yield stretching.PLAIN + b"export A='b'\n# c\nGROUP=group:patient"
    yield stretching.STRETCHED + b"\x0d\x02ab\x0d\x02a "


class _Tags(HTMLParser):
    """The tags of an HTML text."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _tags(html: str) -> _Tags:
    found = _Tags()
    found.feed(html)
    found.close()
    return found


def escaping(data: bytes) -> None:
    """What goes out is the text, and no markup."""
    text = stretching.text(Choices(data), most=20_000)
    escaped = markup.text(text)
    promise(not re.search("[<>\"']", escaped) and unescape(escaped) == plain(text), "HTML that is not the text")
    line, quoted = one_line(text), quoted_line(text)
    promise("\n" not in line and one_line(line) == line, "a line that is none")
    promise(not re.search("[\x00-\x1f\x7f]", quoted) and len(quoted) < 20_000, "a line of a prompt that is none")
    promise(original(safe_cell(text)) == text, "a cell that does not come back")
    is_safe = not safe_cell(text).startswith(("=", "+", "-", "@", "\t")) or is_number(text)
    promise(is_safe, "a formula")
    without_invisible(text), cut_thinking(text)
    shown = text[:3_000]
    for made in (markdown_text(shown), markdown_quote(shown), markdown_code(shown)):
        _renders_plain(made)
    cell = markdown_text(shown)
    _renders_plain(markdown_table(("a", cell), [(cell, "b")]))
    promise("\n" not in cell, "a cell of several lines")


def _renders_plain(markdown: str) -> None:
    seen = _tags(report_body(markdown)).seen
    promise(seen <= PLAIN_TAGS, f"markup of the text's own: {sorted(seen - PLAIN_TAGS)}")


def word_diff(data: bytes) -> None:
    """Two texts as long as a hypothesis may be: what is kept and added is the second one."""
    choices = Choices(data)
    cut = choices.byte()
    whole = stretching.text(choices, most=2 * LONGEST)
    at = len(whole) * cut // 256
    before, after = whole[:at][:LONGEST], whole[at:][:LONGEST]
    found = changes(before, after)
    promise(" ".join(c[1] for c in found if c[0] != "removed").split() == after.split(), "words were lost")
    words = iter(before.split())
    removed = " ".join(c[1] for c in found if c[0] == "removed").split()
    promise(all(word in words for word in removed), "words were removed that were not there")
    promise(0 <= kept_share(before, after) <= 1, "a share of words below 0 or above 1")
    is_rewritten(before, after)
    promise(_tags(diff_html(before, after)).seen <= {"ins", "del"}, "markup of the text's own")


def similarity(data: bytes) -> None:
    """Answers of any kind: similarities lie between 0 and 1, and an idea is like itself."""
    choices = Choices(data)
    n, rows = 1 + choices.below(6), 1 + choices.below(5)
    numbers = [[choices.pick((None, 0.0, -1.5, 1e308, -1e308, 1e-320, 3.0)) for _ in range(rows)] for _ in range(n)]
    labels = [[choices.pick((None, "yes", "no", "", "1")) for _ in range(rows)] for _ in range(n)]
    span = choices.pick((1.0, 1e-320, 1e308, 3.0))
    for found in (share_alike(labels), closeness(root_mean_squared_differences(numbers, span=span), span=span)):
        promise(np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all(), "no similarity")
        promise((np.diag(found) == 1).all(), "an idea unlike itself")
        for threshold in (0.0, 0.5, 0.95, 1.0):
            members = sorted(i for group in groups_at(found, threshold=threshold) for i in group)
            promise(members == list(range(n)), "an idea was lost")
