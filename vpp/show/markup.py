"""Blocks and texts as HTML, Markdown and lines of a terminal, in which no text of a model or a file acts; the glossary.

Every string from outside is escaped here, once: in HTML by `text`. Pieces have the classes of assets/vpp.css. Markdown
is escaped in two layers. Punctuation that a parser would read as markup gets a backslash. Some renderers (GitHub,
Streamlit) search the finished text and make links of addresses, mails and mentions, or pictures of `:names:`; an
invisible WORD JOINER (U+2060) after the sign prevents that. Control characters, lone surrogates and marks that change
the direction of writing are shown as U+FFFD.

A spreadsheet reads a cell as a formula if it begins with `=`, `+`, `-` or `@` (plain or full-width), a tab or a line
end. Such a text gets an apostrophe before it; blanks and apostrophes in front make no difference. A finite decimal
number, -3.5 or +2, stays as it is. `original` undoes it.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, singledispatch
from html import escape
from io import StringIO
from itertools import accumulate
from keyword import iskeyword
from pathlib import Path
from tokenize import TokenError, generate_tokens, tok_name

from vpp.data.numbers import is_number
from vpp.show.blocks import Alert, Code, Fold, Heading, Mark, Metric, Metrics, Note, Quote, Say, Table
from vpp.show.words import capitalised

JOINER = "\N{WORD JOINER}"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ACTIVE = re.compile(
    r"[\\`{}\[\]#|~$@^]"  # markup anywhere
    r"|(?<=\S)\*|\*(?=\S)|^\*"  # between spaces it is a times sign
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # inside a word it is a letter
    r"|<(?![\s=\d])|&(?!\s)|:(?=\S)|\.(?=[^\s\d])"  # tags, entities, names and addresses need something behind
    r"|[-+=]{2,}"  # rules, and the marks of some dialects
    r"|^[-+=:>]|^\d+[.)](?!\S)"  # what begins a block
)
_RECOGNISED_LATER = re.compile(r"[:@#](?=\S)|www(?=\.)", re.IGNORECASE)
_REPLACED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SPACE = re.compile("[\\s\ufeff]+")
FORMULA = re.compile("[' \xa0\u3000]*[=+\\-@＝＋－＠\t\r\n]")
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str) -> str:
    """Replace characters that act on the text around them, such as control characters, by U+FFFD."""
    # None of them is printable, and most texts are: a cheap test first.
    return text if text.replace("\n", "").isprintable() else _REPLACED.sub(REPLACEMENT, text)


def one_line(text: str) -> str:
    """Return plain text for a terminal: runs of white space as one space, control characters as U+FFFD."""
    return plain(_SPACE.sub(" ", text).strip())


def markdown_text(text: str) -> str:
    """Return one line of Markdown that renders as `text`; runs of white space become one space. Fits a table cell."""
    line = _SPACE.sub(" ", plain(text)).strip()
    parted = _RECOGNISED_LATER.sub(lambda found: found[0] + JOINER, line)
    return _ACTIVE.sub(lambda found: _PUNCTUATION.sub(r"\\\1", found[0]), parted)


def markdown_quote(text: str) -> str:
    """Return a block quote that renders as `text`, line by line, without blank lines."""
    lines = [markdown_text(line) for line in _LINE_END.split(text)]
    shown = [line for line in lines if line] or ["*(no text)*"]
    return "\\\n".join(f"> {line}" for line in shown)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """Return a table of cells that are Markdown already: pass outside text through `markdown_text` first.

    right: indices of the right-aligned columns.
    """
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def markdown_code(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{plain(text)}\n{fence}"


def safe_cell(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) and not is_number(text) else text


def original(cell: str) -> str:
    """Return the text that `safe_cell` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell, 1) else cell


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    meaning: str
    paper: str = ""
    """Section and equation of the paper; empty if the paper does not use the term."""
    also: Sequence[str] = ()
    """Labels and headings with the same meaning, beside the name itself."""

    @property
    def id(self) -> str:
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")

    @property
    def labels(self) -> set[str]:
        return {self.name, capitalised(self.name), *self.also}


GLOSSARY = tuple(
    Entry(name, **fields)
    for name, fields in tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8")).items()
)
BY_LABEL = {label: entry for entry in GLOSSARY for label in entry.labels}


def text(value: object) -> str:
    return escape(plain(str(value)), quote=True)


def block(*parts: str, label: str = "") -> str:
    named = f' role="group" aria-label="{text(label)}"' if label else ""
    return f'<div class="vpp"{named}>{"".join(parts)}</div>'


def badge(mark: Mark, words: str) -> str:
    """Return a status: a shape and a word."""
    shape = f'<i class="m {mark}" aria-hidden="true"></i>' if mark else ""
    return f'<span class="badge">{shape}{text(words)}</span>'


def term(label: str) -> str:
    entry = BY_LABEL.get(label)
    if entry is None:
        return text(label)
    return f'<button type="button" class="term" popovertarget="{entry.id}">{text(label)}</button>'


def glossary() -> str:
    """Return all glossary entries as popovers. A page holds them once, outside the parts that refresh."""
    return block(*map(_meaning, GLOSSARY))


def _meaning(entry: Entry) -> str:
    source = caption(f"Paper: {entry.paper}.") if entry.paper else ""
    close = f'<button type="button" class="close" popovertarget="{entry.id}" popovertargetaction="hide">Close</button>'
    name = text(capitalised(entry.name))
    return (
        f'<div popover id="{entry.id}" class="meaning" role="note"><dfn class="name">{name}</dfn>'
        f"<p>{text(entry.meaning)}</p>{source}{close}</div>"
    )


def heading(title: str, caption: str = "") -> str:
    return f'<div class="sec"><h2>{term(title)}</h2><span class="cap">{text(caption)}</span></div>'


def group(title: str) -> str:
    return f"<h3>{text(title)}</h3>"


def title(
    words: str, meta: str = "", *, of: str = "", chip: str = "", folds: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return a page's title and the line under it. of: the run's name, if it is not the title.

    chip: HTML at the end of the line. folds: lines folded behind it, by name; one without lines is left out.
    """
    named = f"<b>{text(of)}</b> · " if of else ""
    folded = (
        f" <details><summary>{text(name)}</summary>{'<br>'.join(map(text, lines))}</details>"
        for name, lines in (folds or {}).items()
        if lines
    )
    under = f'<div class="meta">{named}{text(meta)}{chip}{"".join(folded)}</div>' if meta else ""
    return f'<div class="title"><h1>{text(words)}</h1>{under}</div>'


def caption(words: str) -> str:
    return f'<p class="cap">{text(words)}</p>'


def hypothesis(words: str) -> str:
    return f'<p class="hyp">{text(words)}</p>'


_DEMO = BY_LABEL["demo model"]
DEMO_CHIP = (
    f' <button type="button" class="term chip" title="{text(_DEMO.meaning)}" popovertarget="{_DEMO.id}">'
    f'<i class="m uns" aria-hidden="true"></i>{text(_DEMO.name)}</button>'
)
"""Note in a line of run identity; its meaning shows on hover, and opens on a press."""


def strip(metrics: Iterable[Metric]) -> str:
    cells = [
        f"<div><dt>{term(m.name)}</dt><dd>{text(m.value)}<small>{text(m.scale)}</small></dd>"
        f'<dd class="words">{text(m.words)}</dd></div>'
        for m in metrics
    ]
    return f'<dl class="strip">{"".join(cells)}</dl>'


def state(head: str, *paragraphs: str, failed: bool = False, alone: bool = False) -> str:
    """Return the content of an empty page, or an error and its fix. alone: whether the page has no other title."""
    tag = "h1" if alone else "h2"
    kind, role = ("state err", "alert") if failed else ("state", "status")
    body = "".join(f'<p class="quiet">{text(words)}</p>' for words in paragraphs)
    return f'<div class="{kind}" role="{role}"><{tag}>{text(head)}</{tag}>{body}</div>'


NAMED = 4
CUE = '<p class="cap cue" hidden></p>'
"""Put before a scrolling region: shows how much of a wide table is in view, on pages drawn by `frame.steady`."""


def scrolling(html: str, name: str, kind: str = "scroll") -> str:
    """Return a region that scrolls on its own, by keyboard too. name: unique on the page."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{text(name)}">{html}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), name: str = "") -> str:
    """Return a plain table. right: indices of the right-aligned columns.

    name: needed if another table of the page has the same heads.
    """

    def cell(tag: str, index: int, html: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        aligned = ' class="r"' if index in right else ""
        return f"<{tag}{scope}{aligned}>{html}</{tag}>"

    top = "".join(cell("th", i, text(words)) for i, words in enumerate(head))
    lines = ("".join(cell("td", i, text(words)) for i, words in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    drawn = f'<table class="t"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return scrolling(drawn, "Table: " + (name or ", ".join(head[:NAMED])))


REWRITTEN_BELOW = 0.5
OPENING, CLOSING = "\"'“‘„", ".,;:!?\"'”’…"
"""Punctuation around a word that makes no difference."""


@lru_cache(maxsize=256)
def aligned(before: str, after: str) -> tuple[tuple[bool, str, str], ...]:
    """Return the two texts side by side: whether some words are the same, those of `before`, and those of `after`.

    Case and punctuation around a word make no difference; each text keeps its own.
    Cached, since a card asks several times: whether to mark words, which, and how many were kept.
    """
    old, new = before.split(), after.split()
    was, now = ([word.casefold().lstrip(OPENING).rstrip(CLOSING) for word in words] for words in (old, new))
    found = SequenceMatcher(a=was, b=now).get_opcodes()
    return tuple((tag == "equal", " ".join(old[i:j]), " ".join(new[k:m])) for tag, i, j, k, m in found)


def kept_share(before: str, after: str) -> float:
    """Fraction of `before`'s words that `after` keeps in order; 1 where `before` has none."""
    n, kept = len(before.split()), sum(len(old.split()) for same, old, _ in aligned(before, after) if same)
    return kept / n if n else 1.0


def is_rewritten(before: str, after: str) -> bool:
    """True if so little is kept that a diff would only confuse."""
    return kept_share(before, after) < REWRITTEN_BELOW


def diff_html(before: str, after: str) -> str:
    """Return `after` with added words underlined, and removed ones struck before them."""
    parts = []
    for is_kept, old, new in aligned(before, after):
        parts += [f"<del>{text(old)}</del>"] if old and not is_kept else []
        parts += [text(new) if is_kept else f"<ins>{text(new)}</ins>"] if new else []
    return " ".join(parts)


MARKED = dict.fromkeys(("STRING", "NUMBER", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "lit") | {
    "COMMENT": "com"
}
"""Classes of a program's tokens, beside `kw` of a keyword."""


def program_html(source: str) -> str:
    """Return a program with its keywords, literals and comments marked; plain if it does not tokenize."""
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    parts, end = [], 0
    try:
        for token in generate_tokens(StringIO(source).readline):
            kind = "kw" if iskeyword(token.string) else MARKED.get(tok_name[token.type])
            if kind:
                first, last = (starts[row - 1] + column for row, column in (token.start, token.end))
                parts += [
                    text(source[end:first]),
                    f'<span class="{kind}">{text(source[max(first, end) : last])}</span>',
                ]
                end = max(last, end)
    except (TokenError, SyntaxError, IndexError):
        return text(source)
    return "".join((*parts, text(source[end:])))


# Blocks


def html(blocks: Iterable[object]) -> str:
    return "".join(map(block_html, blocks))


def markdown(blocks: Iterable[object], *, level: int = 2) -> str:
    """Return the blocks with blank lines between them. level: of their headings."""
    return "\n\n".join(filter(None, (block_markdown(block, level) for block in blocks)))


def lines(blocks: Iterable[object]) -> Iterator[str]:
    for block in blocks:
        yield from block_lines(block)


@singledispatch
def block_html(block: object) -> str:
    raise TypeError(f"no HTML for {type(block).__name__}")


@singledispatch
def block_markdown(block: object, level: int) -> str:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@singledispatch
def block_lines(block: object) -> Iterator[str]:
    raise TypeError(f"no lines for {type(block).__name__}")


# HTML


@block_html.register
def _(block: Say) -> str:
    return f'<p class="say">{text(block.words)}</p>'


@block_html.register
def _(block: Heading) -> str:
    drawn = heading(block.title, block.caption)
    return f'<div id="{text(block.place)}" tabindex="-1">{drawn}</div>' if block.place else drawn


@block_html.register
def _(block: Note) -> str:
    return caption(block.words)


@block_html.register
def _(block: Alert) -> str:
    return state(block.head, *block.words, failed=True)


@block_html.register
def _(block: Metrics) -> str:
    return strip(block.items) if block.items else ""


@block_html.register
def _(block: Table) -> str:
    cells = table(block.head, block.rows, right=block.right, name=block.name)
    return f'<details class="astable"><summary>{text(block.fold)}</summary>{cells}</details>' if block.fold else cells


@block_html.register
def _(block: Quote) -> str:
    return hypothesis(block.words) + (caption(" · ".join(block.facts)) if block.facts else "")


@block_html.register
def _(block: Code) -> str:
    return f'<pre class="raw">{program_html(block.words) if block.is_program else text(block.words)}</pre>'


@block_html.register
def _(block: Fold) -> str:
    title = badge(block.mark, block.title) if block.mark else text(block.title)
    name = text(block.name or block.title)
    return f'<details data-fold="{name}"><summary>{title}</summary>{html(block.blocks)}</details>'


# Markdown


@block_markdown.register
def _(block: Say, level: int) -> str:
    return f"**{markdown_text(block.words)}**" if block.words else ""


@block_markdown.register
def _(block: Heading, level: int) -> str:
    caption = f"\n\n{markdown_text(block.caption)}" if block.caption else ""
    return f"{'#' * level} {markdown_text(block.title)}{caption}"


@block_markdown.register
def _(block: Note, level: int) -> str:
    return markdown_text(block.words)


@block_markdown.register
def _(block: Metrics, level: int) -> str:
    rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in block.items]
    return block_markdown(Table(head=("measure", "value", "in words"), rows=rows, right=(1,)), level) if rows else ""


@block_markdown.register
def _(block: Table, level: int) -> str:
    cells = [[markdown_text(cell) for cell in row] for row in block.rows]
    return markdown_table([markdown_text(head) for head in block.head], cells, right=block.right)


@block_markdown.register
def _(block: Quote, level: int) -> str:
    facts = f"\n\n{markdown_text(' · '.join(block.facts))}" if block.facts else ""
    return f"{markdown_quote(block.words)}{facts}"


@block_markdown.register
def _(block: Code, level: int) -> str:
    return markdown_code(block.words)


# A terminal


@block_lines.register
def _(block: Say | Note) -> Iterator[str]:
    yield from filter(None, [one_line(block.words)])


@block_lines.register
def _(block: Heading) -> Iterator[str]:
    yield one_line(f"{block.title}:")


@block_lines.register
def _(block: Metrics) -> Iterator[str]:
    for each in block.items:
        yield one_line(f"{each.name}: {each.value} {each.scale} {each.words}")


@block_lines.register
def _(block: Quote) -> Iterator[str]:
    yield one_line(" · ".join((*block.facts, block.words)))


@block_lines.register
def _(block: Table) -> Iterator[str]:
    cells = [list(map(one_line, row)) for row in (block.head, *block.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        aligned = (
            cell.rjust(width) if place in block.right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()
