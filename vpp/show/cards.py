"""Hypotheses as cards that do not move, what their folds hold, and lists of one-liners that open on demand.

Markdown and a terminal have the cards without their folds: a report that wants those draws their blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from vpp.show import markup
from vpp.show.markdown import block_markdown
from vpp.show.markup import Mark, markdown_quote, markdown_text, one_line, text
from vpp.show.page import block_html, html
from vpp.show.terminal import block_lines
from vpp.show.words import cut

LONGEST_LINE = 200
"""Characters of a closed line; the page cuts it where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Blocks behind a title. On a card, an open fold stays open over a refresh by its name."""

    title: str
    blocks: tuple[object, ...]
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A text that replaced another."""

    when: str
    after: str
    before: str = ""
    """Empty for a text that was not rewritten from another."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a text, oldest first: removed words are struck, added ones underlined."""

    items: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A hypothesis with three numbers at most."""

    key: int
    """Identifies it in its deck."""
    words: str
    whole: str = ""
    """For the clipboard, with the words that all hypotheses begin with; empty in a report."""
    value: str
    """`62 %`; empty for a hypothesis alone."""
    bar: float
    """Length of its bar, from 0 to 1."""
    facts: tuple[str, ...] = ()
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True)
class Deck:
    """Cards, heaviest first."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A text on one line, and why; opened, it has blocks too."""

    key: int
    mark: Mark
    status: str
    words: str
    reason: str
    details: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    items: tuple[Line, ...]


# HTML of a page


@block_html.register
def _(block: Fold) -> str:
    return markup.fold(block.name or block.title, block.title, html(block.blocks))


@block_html.register
def _(block: Deck) -> str:
    return f'<div class="deck">{"".join(_card(place, card) for place, card in enumerate(block.cards, 1))}</div>'


def _card(place: int, card: Card) -> str:
    facts = "".join(f"<span>{text(fact)}</span>" for fact in card.facts)
    copy = markup.copy_button(card.whole, "Copy the whole hypothesis") if card.whole else ""
    return (
        f'<article class="card" data-key="{card.key}" style="--w:{card.bar:.4f}" '
        f'aria-label="{text(", ".join(filter(None, (f"Hypothesis {place}", card.value, *card.facts))))}">'
        f'<div class="slot"><span class="wt">{text(card.value)}</span></div>'
        f'{markup.hypothesis(card.words)}<div class="rail">{facts}</div>'
        f'<div class="foot">{copy}{html(card.folds)}</div></article>'
    )


@block_html.register
def _(block: Versions) -> str:
    items = "".join(
        f'<li><div class="when"><b>{text(each.when)}</b>{text(each.note)}</div>'
        f"<div>{_revised(each.before, each.after)}</div></li>"
        for each in block.items
    )
    return f'<ol class="way">{items}</ol>'


def _revised(before: str, after: str) -> str:
    if not before or markup.is_rewritten(before, after):
        return markup.hypothesis(after)
    return f'<p class="hyp">{markup.diff_html(before, after)}</p>'


@block_html.register
def _(block: Lines) -> str:
    return f'<ul class="ledger">{"".join(map(_line, block.items))}</ul>'


def _line(line: Line) -> str:
    details = f"<div>{html(line.details)}</div>" if line.details else ""
    words = line.words if details else cut(one_line(line.words), LONGEST_LINE)
    return (
        f'<li class="out" data-key="{line.key}">'
        f'<button type="button" data-pick="{line.key}" aria-expanded="{str(bool(details)).lower()}">'
        f"{markup.badge(line.mark, line.status)}"
        f'<span class="hyp">{text(words)}</span>'
        f'<span class="cap">{text(line.reason)}</span></button>{details}</li>'
    )


# Markdown and a terminal


@block_markdown.register
def _(block: Deck, level: int) -> str:
    heads = (" · ".join(filter(None, (card.value, *card.facts))) for card in block.cards)
    return "\n\n".join(
        f"{place}. {markdown_text(head)}\n\n{markdown_quote(card.words)}"
        for place, (head, card) in enumerate(zip(heads, block.cards, strict=True), 1)
    )


@block_markdown.register
def _(block: Lines, level: int) -> str:
    return "\n".join(f"- {markdown_text(f'{each.words} ({each.status}: {each.reason})')}" for each in block.items)


@block_lines.register
def _(block: Deck) -> Iterator[str]:
    for card in block.cards:
        yield one_line(f"{' · '.join(filter(None, (card.value, *card.facts)))}: {card.words}")
