"""The live deck: a card for each hypothesis, and its HTML. Sorted by weight, it is the posterior's bar chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vpp.show.markup import Mark, badge, caption, diff_html, fold, hypothesis, is_rewritten, kept_share, text
from vpp.show.words import counted, integer, percent

Marks = tuple[tuple[Mark, str], ...]
Hits = tuple[bool | None, ...]
MOST_SQUARES = 60
"""Rows that a card shows as a square each; of more it gives the count alone."""
SYMBOL: dict[bool | None, str] = {True: "ok", False: "no", None: "ab"}
SQUARES = "Squares: a row of this step's batch each. Filled: right; crossed: wrong; hatched: unreadable."
PROMPT = "the prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    name: str
    """Unique on a card."""
    title: str
    mark: Mark = ""
    sentence: str = ""
    notes: tuple[str, ...] = ()
    raw: tuple[tuple[str, str | None], ...] = ()
    """(Title, text) of prompt and answer, verbatim; None for a prompt that is sent once its fold is opened."""
    slot: int | None = None
    """Slot whose prompt it shows, if prompts are sent once their fold is opened."""
    inner: tuple["Fold", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A hypothesis in a phase of a step: one for all copies, and for other texts with the same answers."""

    number: int
    """Given once in a run."""
    id: str = ""
    """Id of its text."""
    sentence: str
    """Without the seed sentence, which all share."""
    copies: int = 1
    before: str = ""
    """The text that it was rewritten from in this step."""
    value: str = ""
    """Its weight in percent, or its log-likelihood; empty before there is one."""
    bar: float = 0.0
    """Length of the bar, from 0 to 1."""
    is_chain: bool = False
    """True for methods without weights."""
    score: str = ""
    """`29/30`, or how far off it is."""
    rows: str = ""
    """The rows of the score, in words."""
    hits: Hits = ()
    """A square each; empty for numbers."""
    marks: Marks = ()
    folds: tuple[Fold, ...] = ()
    origins: tuple[int, ...] = ()
    """Numbers of the cards from which it came in this phase."""


def without_seed(sentence: str, seed_text: str) -> str:
    """The optimizer's part of a hypothesis; the seed sentence alone if it wrote nothing."""
    return sentence.removeprefix(seed_text).strip() or sentence


def deck_html(cards: Sequence[Card], *, extra: Mapping[int, str] | None = None) -> str:
    """Return the cards. extra: HTML of one more fold of a card, by its number."""
    more = extra or {}
    return f'<div class="deck">{"".join(card_html(card, more.get(card.number, "")) for card in cards)}</div>'


def skeletons_html(n: int) -> str:
    """Return cards that wait for their hypothesis, as high as a card."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (96, 71))
    return "".join(
        f'<article class="card particle bare" data-key="w{place}" aria-label="Hypothesis being written">'
        f'<div class="slot"><span class="wt">…</span></div><div class="wait">{lines}</div></article>'
        for place in range(n)
    )


@lru_cache(maxsize=1024)
def card_html(card: Card, program: str = "") -> str:
    """One card, cached by its content; `data-key` identifies it in its deck."""
    sentence, before = reworded(card.before, card.sentence)
    folds = "".join(map(_fold, card.folds))
    origins = " ".join(map(str, card.origins))
    marks = "".join(badge(*mark) for mark in card.marks)
    more = f'<div class="folds">{folds}{program}{before}</div>'
    foot = f'<div class="foot">{marks}{more}{_score(card)}</div>'
    return (
        f'<article class="card particle{" chain" if card.is_chain else ""}" data-key="{card.number}" '
        f'data-from="{origins}" style="--w:{card.bar:.4f}" aria-label="{text(_label(card))}">'
        f'<div class="slot">{_slot(card)}</div>'
        f"<div>{sentence}{foot}</div></article>"
    )


def _label(card: Card) -> str:
    what = "log-likelihood" if card.is_chain else "weight"
    copies = f", {counted(card.copies, 'copy', 'copies')}" if card.copies > 1 else ""
    return f"Hypothesis {card.number}, {f'{what} {card.value}' if card.value else 'not weighed yet'}{copies}"


def _slot(card: Card) -> str:
    what = "chains" if card.is_chain else "copies (particles)"
    title = f"{card.copies} {what} with the same answers"
    times = f'<span class="times" title="{title}">×{card.copies}</span>' if card.copies > 1 else ""
    return f'<span class="wt">{text(card.value or "…")}</span>{times}<span class="k">hypothesis {card.number}</span>'


def _score(card: Card) -> str:
    hits = card.hits if len(card.hits) <= MOST_SQUARES else ()
    squares = "".join(f'<i class="{SYMBOL[hit]}"></i>' for hit in hits)
    right = f"{integer(hits.count(True))} of {counted(len(hits), 'row')} of this step right"
    batch = f'<span class="sq" role="img" aria-label="{right}">{squares}</span>' if squares else ""
    score = f'<span title="{text(card.rows)}">{text(card.score)}</span>' if card.score else ""
    return f'<div class="rail">{batch}{score}</div>' if batch or score else ""


def reworded(before: str | None, sentence: str) -> tuple[str, str]:
    """Return a hypothesis with its changes marked; and a fold with the one before, if little of it is left."""
    if not before:
        return hypothesis(sentence), ""
    if not is_rewritten(before, sentence):
        return f'<p class="hyp">{diff_html(before, sentence)}</p>', ""
    title = f"previous text: {percent(kept_share(before, sentence))} kept"
    return hypothesis(sentence), fold("before", title, hypothesis(before))


def _fold(part: Fold) -> str:
    sentence = hypothesis(part.sentence) if part.sentence else ""
    raw = ""
    for title, words in part.raw:
        # A prompt that is not sent yet is requested by `data-wanted` (assets/deck.js).
        wanted = f' data-wanted="{part.slot}"' if part.slot is not None and title == PROMPT else ""
        html = caption("One moment.") if words is None else f'<pre class="raw">{text(words)}</pre>'
        raw += fold(f"{part.name}-{title}", title, html, attributes=wanted)
    body = f"{sentence}{''.join(map(caption, part.notes))}{raw}{''.join(map(_fold, part.inner))}"
    head = badge(part.mark, part.title)
    return f'<details data-fold="{text(part.name)}"><summary>{head}</summary>{body}</details>'
