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
from functools import lru_cache
from html import escape
from keyword import kwlist
from pathlib import Path

from vpp.data.numbers import is_number
from vpp.show import blocks
from vpp.show.words import capitalised, counted, cut, percent

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
CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
"""User name and password of an address."""
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


def badge(mark: blocks.Mark, words: str) -> str:
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


KEYWORDS = "|".join(kwlist)
PYTHON = re.compile(  # comments; strings with three quotes and one, and numbers; keywords
    r"#.*|(?P<lit>(?:\b[rbfu]{1,2})?"
    r"(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|\b\d[\w.]*(?:(?<=e)[-+]\d+)?)"
    rf"|\b(?P<kw>{KEYWORDS})\b"
)


def program_html(source: str) -> str:
    """Return a program with its keywords and literals marked."""

    def marked(found: re.Match[str]) -> str:
        return f'<span class="{found.lastgroup}">{text(found[0])}</span>' if found.lastgroup else text(found[0])

    parts, end = [], 0
    for found in PYTHON.finditer(source):
        parts += [text(source[end : found.start()]), marked(found)]
        end = found.end()
    return "".join((*parts, text(source[end:])))


# Blocks: in HTML, in Markdown, and on a terminal


def html(parts: Iterable[object]) -> str:
    return "".join(map(block_html, parts))


def markdown(parts: Iterable[object], *, level: int = 2) -> str:
    """Return the blocks with blank lines between them. level: of their headings."""
    return "\n\n".join(filter(None, (block_markdown(block, level) for block in parts)))


def lines(parts: Iterable[object]) -> Iterator[str]:
    for block in parts:
        if isinstance(block, blocks.Table):
            yield from _table_lines(block)
        else:
            yield from filter(None, map(one_line, _words(block)))


def block_html(block: object) -> str:
    match block:
        case blocks.Card():
            return _card_html(block)
        case blocks.Deck():
            return f'<div class="deck">{html(block.cards)}</div>'
        case blocks.Say():
            return f'<p class="say">{text(block.words)}</p>'
        case blocks.Note():
            return caption(block.words)
        case blocks.Heading():
            place = f' id="{text(block.place)}" tabindex="-1"' if block.place else ""
            return f'<div{place} class="sec"><h2>{term(block.title)}</h2>{_span("cap", block.caption)}</div>'
        case blocks.Alert():
            return state(block.head, *block.words, failed=True)
        case blocks.Metrics():
            return f'<dl class="strip">{"".join(map(_metric_html, block.items))}</dl>' if block.items else ""
        case blocks.Table():
            table, fold = _table_html(block), f"<summary>{text(block.fold)}</summary>"
            return f'<details class="astable">{fold}{table}</details>' if block.fold else table
        case blocks.Quote():
            return hypothesis(block.words) + (caption(" · ".join(block.facts)) if block.facts else "")
        case blocks.Code():
            return f'<pre class="raw">{program_html(block.words) if block.is_program else text(block.words)}</pre>'
        case blocks.Fold():
            title = badge(block.mark, block.title) if block.mark else text(block.title)
            name = text(block.name or block.title)
            return f'<details data-fold="{name}"><summary>{title}</summary>{html(block.blocks)}</details>'
        case blocks.Versions():
            return f'<ol class="way">{"".join(map(_version_html, block.items))}</ol>'
        case blocks.Lines():
            return f'<ul class="ledger">{"".join(map(_line_html, block.items))}</ul>'
        case blocks.Drawing():
            return block.html()
    raise TypeError(f"no HTML for {type(block).__name__}")


def block_markdown(block: object, level: int) -> str:
    match block:
        case blocks.Say():
            return f"**{markdown_text(block.words)}**" if block.words else ""
        case blocks.Heading():
            title = f"{'#' * level} {markdown_text(block.title)}"
            return f"{title}\n\n{markdown_text(block.caption)}" if block.caption else title
        case blocks.Note():
            return markdown_text(block.words)
        case blocks.Metrics():
            rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in block.items]
            table = blocks.Table(head=("measure", "value", "in words"), rows=rows, right=(1,))
            return block_markdown(table, level) if rows else ""
        case blocks.Table():
            cells = [[markdown_text(cell) for cell in row] for row in (block.head, *block.rows)]
            return markdown_table(cells[0], cells[1:], right=block.right)
        case blocks.Quote():
            facts = f"\n\n{markdown_text(' · '.join(block.facts))}" if block.facts else ""
            return f"{markdown_quote(block.words)}{facts}"
        case blocks.Code():
            return markdown_code(block.words)
        case blocks.Deck():
            cards = ((markdown_text(" · ".join(_head(card))), markdown_quote(card.words)) for card in block.cards)
            return "\n\n".join(f"{place}. {head}\n\n{words}" for place, (head, words) in enumerate(cards, 1))
        case blocks.Drawing():
            return block_markdown(block.table(), level)
    raise TypeError(f"no Markdown for {type(block).__name__}")


def _words(block: object) -> Iterator[str]:
    match block:
        case blocks.Say() | blocks.Note():
            yield block.words
        case blocks.Heading():
            yield f"{block.title}:"
        case blocks.Metrics():
            yield from (f"{each.name}: {each.value} {each.scale} {each.words}" for each in block.items)
        case blocks.Quote():
            yield " · ".join((*block.facts, block.words))
        case blocks.Deck():
            yield from (" · ".join((*_head(card), card.words)) for card in block.cards)
        case _:
            raise TypeError(f"no lines for {type(block).__name__}")


def _span(kind: str, words: str) -> str:
    return f'<span class="{kind}">{text(words)}</span>'


def _metric_html(metric: blocks.Metric) -> str:
    value = f"<dd>{text(metric.value)}<small>{text(metric.scale)}</small></dd>"
    return f'<div><dt>{term(metric.name)}</dt>{value}<dd class="words">{text(metric.words)}</dd></div>'


def _table_html(table: blocks.Table) -> str:
    def line(tag: str, row: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        aligned = (' class="r"' if index in table.right else "" for index in range(len(row)))
        cells = (f"<{tag}{scope}{right}>{text(words)}</{tag}>" for right, words in zip(aligned, row, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in table.rows)
    html = f'<table class="t"><thead>{line("th", table.head)}</thead><tbody>{body}</tbody></table>'
    return scrolling(html, "Table: " + (table.name or ", ".join(table.head[:NAMED])))


def _table_lines(table: blocks.Table) -> Iterator[str]:
    cells = [list(map(one_line, row)) for row in (table.head, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        aligned = (
            cell.rjust(width) if place in table.right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()


# Hypotheses as cards, on Watch with what the step did to them; their history; and one-liners that open on demand.
# Sorted by weight, a deck is the posterior's bar chart. Markdown has the cards without their folds.

LONGEST_LINE = 200
"""Characters of a closed line; the page cuts it where it ends."""


def _head(card: blocks.Card) -> tuple[str, ...]:
    copies = counted(card.copies, "copy", "copies") if card.copies > 1 else ""
    return tuple(filter(None, (card.value, card.name, *card.facts, copies)))


def _card_html(card: blocks.Card) -> str:
    folds, marks = html(card.folds), "".join(badge(*mark) for mark in card.marks)
    if card.before and is_rewritten(card.before, card.words):
        title = f"previous text: {percent(kept_share(card.before, card.words))} kept"
        folds += f'<details data-fold="before"><summary>{title}</summary>{hypothesis(card.before)}</details>'
    is_weight, waits = card.measure == "weight", "…" if card.measure else ""
    value = f"{card.measure} {card.value}".strip() if card.value else waits and "not weighed yet"
    copies = counted(card.copies, "copy", "copies") if card.copies > 1 else ""
    label = text(", ".join(filter(None, (capitalised(card.name) or "Hypothesis", value, copies))))
    same = f"{card.copies} {'copies (particles)' if is_weight else 'chains'} with the same answers"
    times = f'<span class="times" title="{same}">×{card.copies}</span>' if copies else ""
    name = f'<span class="k">{text(card.name)}</span>' if card.name else ""
    named = f'data-part="copy" data-copy="{text(card.whole)}" aria-label="Copy the whole hypothesis"'
    copy = f'<button type="button" class="copy" {named}>Copy</button>' if card.whole else ""
    facts = "".join(f"<span>{text(fact)}</span>" for fact in card.facts)
    rail = f'<div class="rail" data-part="rail" title="{text(card.title)}">{facts}</div>' if facts else ""
    return (
        f'<article class="card{"" if is_weight else " chain"}" data-key="{card.key}" '
        f'data-from="{" ".join(map(str, card.origins))}" style="--w:{card.bar:.4f}" aria-label="{label}">'
        f'<div class="slot"><span class="wt">{text(card.value or waits)}</span>{times}{name}</div>'
        f'<div>{_revised(card.before, card.words)}<div class="foot">'
        f'<span class="marks" data-part="marks">{marks}</span>{copy}'
        f'<div class="folds" data-part="folds">{folds}</div>{rail}</div></div></article>'
    )


def _revised(before: str, after: str) -> str:
    if not before or is_rewritten(before, after):
        return hypothesis(after)
    return f'<p class="hyp">{diff_html(before, after)}</p>'


def skeletons_html(n: int) -> str:
    """Return cards that wait for their hypothesis, as high as a card."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (96, 71))
    return "".join(
        f'<article class="card" data-key="w{place}" aria-label="Hypothesis being written">'
        f'<div class="slot"><span class="wt">…</span></div><div class="wait">{lines}</div></article>'
        for place in range(n)
    )


def _version_html(version: blocks.Version) -> str:
    when = f'<div class="when"><b>{text(version.when)}</b>{text(version.note)}</div>'
    return f"<li>{when}<div>{_revised(version.before, version.after)}</div></li>"


def _line_html(line: blocks.Line) -> str:
    return (
        f'<li class="out" data-key="{line.key}"><details><summary>{badge(line.mark, line.status)}'
        f"{_span('hyp', cut(one_line(line.words), LONGEST_LINE))}{_span('cap', line.reason)}</summary>"
        f"<div>{hypothesis(line.words)}{html(line.details)}</div></details></li>"
    )
