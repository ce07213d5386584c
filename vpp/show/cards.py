"""Hypotheses as cards, on Watch with what the step did to them; their history; and one-liners that open on demand.

Sorted by weight, a deck is the posterior's bar chart. Markdown has the cards without their folds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vpp.show import markup
from vpp.show.blocks import Fold, Mark
from vpp.show.markup import (
    badge,
    block_html,
    block_lines,
    block_markdown,
    html,
    hypothesis,
    is_rewritten,
    kept_share,
    markdown_quote,
    markdown_text,
    one_line,
    text,
)
from vpp.show.words import capitalised, counted, cut, percent

LONGEST_LINE = 200
"""Characters of a closed line; the page cuts it where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A hypothesis with three numbers at most: one card for all copies, and for other texts with the same answers."""

    key: int
    """Identifies it in its deck: the number that it has in the run, or its place in a report."""
    name: str = ""
    """`hypothesis 27`; empty in a report."""
    id: str = ""
    """Of its text."""
    words: str
    """Without the seed sentence, which all share."""
    whole: str = ""
    """For the clipboard, with the seed sentence; empty if there is nothing to copy."""
    measure: Literal["weight", "log-likelihood", ""] = "weight"
    """Name of the value; empty for a count of chains or copies."""
    value: str = ""
    """`62 %`; empty before there is one."""
    bar: float = 0.0
    """Length of its bar, from 0 to 1."""
    copies: int = 1
    facts: tuple[str, ...] = ()
    title: str = ""
    """The facts in full."""
    marks: tuple[tuple[Mark, str], ...] = ()
    folds: tuple[Fold, ...] = ()
    before: str = ""
    """The text that it was rewritten from in this step."""
    origins: tuple[int, ...] = ()
    """Keys of the cards from which it came in this phase."""

    @property
    def head(self) -> tuple[str, ...]:
        copies = counted(self.copies, "copy", "copies") if self.copies > 1 else ""
        return tuple(filter(None, (self.value, *self.facts, copies)))


@dataclass(frozen=True, slots=True)
class Deck:
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
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
class Line:
    """A text on one line, and why; it opens to the whole text and to blocks."""

    key: int
    mark: Mark
    status: str
    words: str
    reason: str
    details: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    items: tuple[Line, ...]


@block_html.register
def _(block: Deck) -> str:
    return f'<div class="deck">{html(block.cards)}</div>'


@block_markdown.register
def _(block: Deck, level: int) -> str:
    heads = (" · ".join(card.head) for card in block.cards)
    return "\n\n".join(
        f"{place}. {markdown_text(head)}\n\n{markdown_quote(card.words)}"
        for place, (head, card) in enumerate(zip(heads, block.cards, strict=True), 1)
    )


@block_lines.register
def _(block: Deck) -> Iterator[str]:
    for card in block.cards:
        yield one_line(" · ".join((*card.head, card.words)))


@block_html.register
def _(card: Card) -> str:
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
    return f'<p class="hyp">{markup.diff_html(before, after)}</p>'


def skeletons_html(n: int) -> str:
    """Return cards that wait for their hypothesis, as high as a card."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (96, 71))
    return "".join(
        f'<article class="card" data-key="w{place}" aria-label="Hypothesis being written">'
        f'<div class="slot"><span class="wt">…</span></div><div class="wait">{lines}</div></article>'
        for place in range(n)
    )


@block_html.register
def _(block: Versions) -> str:
    items = "".join(
        f'<li><div class="when"><b>{text(each.when)}</b>{text(each.note)}</div>'
        f"<div>{_revised(each.before, each.after)}</div></li>"
        for each in block.items
    )
    return f'<ol class="way">{items}</ol>'


@block_html.register
def _(block: Lines) -> str:
    return f'<ul class="ledger">{html(block.items)}</ul>'


@block_html.register
def _(line: Line) -> str:
    return (
        f'<li class="out" data-key="{line.key}"><details><summary>{badge(line.mark, line.status)}'
        f'<span class="hyp">{text(cut(one_line(line.words), LONGEST_LINE))}</span>'
        f'<span class="cap">{text(line.reason)}</span></summary>'
        f"<div>{hypothesis(line.words)}{html(line.details)}</div></details></li>"
    )
