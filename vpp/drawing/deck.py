"""The deck: a card per answer pattern, and its HTML. Sorted by weight, it is the posterior's bar chart."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vpp.findings.programs import ProgramReading, program_folds
from vpp.show.markup import (
    Mark,
    badge,
    caption,
    diff_html,
    fold,
    hypothesis,
    is_reworded,
    is_rewritten,
    kept_share,
    refused_html,
    text,
)
from vpp.show.page import html
from vpp.show.words import capitalised, counted, fixed, integer, percent, short_weight, weight_text

Marks = tuple[tuple[Mark, str], ...]
Hits = tuple[bool | None, ...]
MOST_SQUARES = 60
"""Rows that a card shows as a square each; of more it gives the count alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    name: str
    """Unique on a card."""
    mark: Mark
    title: str
    sentence: str = ""
    notes: tuple[str, ...] = ()
    raw: tuple[tuple[str, str | None], ...] = ()
    """(Title, text) of prompt and answer, verbatim; None for a prompt that is sent once its fold is opened."""
    slot: int | None = None
    """Slot whose prompt it shows, if prompts are sent once their fold is opened."""
    inner: tuple["Fold", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    mark: Mark
    words: str
    n_rows: int
    """Rows that both texts were scored on."""


SAME_ANSWERS = "same answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One particle at one step, and those with the same answers."""

    slot: int
    sentence: str
    """Hypothesis without the seed sentence, which all share."""
    reading: ProgramReading | None = None
    """How it is read, if it may be a program."""
    weight: float | None = None
    """Its own; None before the first weights, and of a chain."""
    is_chain: bool = False
    """True for methods without weights: the card draws the likelihood."""
    log_likelihood: float | None = None
    """Natural log on the rows scored; None before it is scored."""
    n_rows: int = 0
    compared: str = ""
    """Rows on which particles with the same answers were found, in words; empty if only words were compared."""
    parent: str | None = None
    marks: Marks = ()
    effect: Effect | None = None
    """None unless it was rewritten and both texts have answers to the same rows."""
    fate: Marks = ()
    """Badges on what the step did to it after weighing it."""
    refused: str = ""
    hits: Hits = ()
    """Batch rows; empty for regression."""
    rail: tuple[str, ...] = ()
    """Scores: the batch first, then all rows scored."""
    folds: tuple[Fold, ...] = ()
    origin: int | None = None
    """Slot that it descends from at the step before; None if it is new."""
    twins: tuple["Card", ...] = ()
    """Particles with the same answers, lighter than this one."""

    @property
    def stack(self) -> tuple["Card", ...]:
        return (self, *self.twins)

    @property
    def total(self) -> float | None:
        known = [each.weight for each in self.stack if each.weight is not None]
        return min(sum(known), 1.0) if len(known) == len(self.stack) else None


PROMPT = "the prompt"


def without_seed(sentence: str, seed_text: str) -> str:
    """The optimizer's part of a hypothesis; the seed sentence alone if it wrote nothing."""
    return sentence.removeprefix(seed_text).strip() or sentence


FAINT_BELOW = 0.02
SYMBOL: dict[bool | None, str] = {True: "ok", False: "no", None: "ab"}
SQUARES = "Squares: a row of the batch each. Filled: right; crossed: wrong; hatched: unreadable."


def deck_html(cards: Sequence[Card], *, seed_text: str) -> str:
    seed = f'<p class="seed">All begin: “{text(seed_text)}”</p>' if seed_text else ""
    return f'{seed}<div class="deck">{"".join(map(card_html, cards))}</div>'


def skeletons_html(slots: Iterable[int]) -> str:
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (96, 71))
    return "".join(
        f'<article class="card particle bare" data-key="{slot}" data-slots="{slot}" '
        f'aria-label="Particle {slot}: being written">'
        f'<div class="slot"><span class="wt num">…</span><span class="k">particle {slot}</span></div>'
        f'<div class="wait">{lines}</div></article>'
        for slot in slots
    )


@lru_cache(maxsize=1024)
def card_html(card: Card) -> str:
    """One card, cached by its content; `data-key` identifies it in its deck."""
    kind = " chain" if card.is_chain else " faint" if card.total is not None and card.total < FAINT_BELOW else ""
    slots = " ".join(str(each.slot) for each in card.stack)
    origins = " ".join(dict.fromkeys(str(each.origin) for each in card.stack if each.origin is not None))
    length, why = _bar(card)
    hits = card.hits if len(card.hits) <= MOST_SQUARES else ()
    squares = "".join(f'<i class="{SYMBOL[hit]}"></i>' for hit in hits)
    batch = f'<span class="sq" role="img" aria-label="Batch: {text(card.rail[0])}">{squares}</span>' if squares else ""
    rail = f'<div class="rail">{batch}{"".join(f"<span>{text(fact)}</span>" for fact in card.rail)}</div>'
    return (
        f'<article class="card particle{kind}" data-key="{card.slot}" data-slots="{slots}" data-from="{origins}" '
        f'style="--w:{length:.4f}" aria-label="{text(_label(card))}"><i class="bar" title="{text(why)}"></i>'
        f'<div class="slot">{_slot(card)}</div><div>{_said(card, "", rail, _twins(card))}</div></article>'
    )


def _bar(card: Card) -> tuple[float, str]:
    """Length of the bar, from 0 to 1, and what it means."""
    if not card.is_chain:
        return card.total or 0.0, "No bar yet" if card.total is None else f"Bar: weight {weight_text(card.total)} of 1"
    if card.log_likelihood is None or not card.n_rows:
        return 0.0, "No bar yet"
    mean = min(1.0, math.exp(card.log_likelihood / card.n_rows))
    rows = counted(card.n_rows, "row")
    return mean, f"Bar: {weight_text(mean, 2)} of 1, the geometric mean of the likelihood per row, over {rows}"


def _label(card: Card) -> str:
    others = f" and {counted(len(card.twins), 'other')} with the same answers" if card.twins else ""
    value = _value(card)
    shown = f"log-likelihood {value}" if card.is_chain else f"weight {value}"
    waiting = "not scored yet" if card.log_likelihood is None else "not weighed yet"
    return f"Particle {card.slot}{others}, {shown if value else waiting}"


def _value(card: Card) -> str:
    """The card's number: its log-likelihood if it is a chain, else its weight; empty before there is one."""
    if card.is_chain:
        return "" if card.log_likelihood is None else fixed(card.log_likelihood, 1)
    return "" if card.total is None else short_weight(card.total)


def _slot(card: Card) -> str:
    facts = [f"particle {card.slot}"]
    if card.is_chain and card.log_likelihood is not None:
        facts = ["log-likelihood", f"on {counted(card.n_rows, 'row')}", *facts]
    lines = "".join(f'<span class="k">{fact}</span>' for fact in facts)
    many, (kind, unit) = len(card.stack), ("chains", " chains") if card.is_chain else ("particles", "")
    alike = text(f"{many} {kind}: {_alike(card)}")
    times = f'<span class="times" title="{alike}">×{many}{unit}</span>' if card.twins else ""
    return f'<span class="wt num">{text(_value(card) or "…")}</span>{times}{lines}'


def _alike(card: Card) -> str:
    """`same answers on the 40 rows of the buffer; 1 in other words`: what the particles of a stack share."""
    others = sum(each.sentence != card.sentence for each in card.twins)
    return f"same answers on {card.compared}; {integer(others)} in other words" if others else "the same words"


def _said(card: Card, within: str, rail: str = "", twins: str = "") -> str:
    """A sentence, a line of badges and scores, and a line of folds. within: begins the names of the folds."""
    sentence, before = reworded(card.parent, card.sentence, fold_name=f"{within}parent")
    marks, fate = ("".join(badge(*mark) for mark in each) for each in (card.marks, card.fate))
    folds = "".join(_fold(part, within) for part in card.folds)
    foot = f'<div class="foot">{html(program_folds(card.reading, within))}{folds}{before}{twins}</div>'
    made = f"{marks}{_effect(card)}{fate}"
    return f'{sentence}{_refused(card)}<div class="marks">{made}{rail}</div>{foot}'


def _effect(card: Card) -> str:
    effect, is_alike = card.effect, bool(card.parent) and is_reworded(card.parent or "", card.sentence)
    if effect is None:
        return badge("same", "same words") if is_alike else ""
    words = f"reworded, {SAME_ANSWERS}" if is_alike and effect.words == SAME_ANSWERS else effect.words
    title = f"compared with the text before, on the {counted(effect.n_rows, 'row')} that both were scored on"
    return f'<span class="effect">{badge(effect.mark, words, title=title)}</span>'


def _refused(card: Card) -> str:
    if not card.refused:
        return ""
    is_other = is_rewritten(card.sentence, card.refused)
    struck = f"<del>{text(card.refused)}</del>" if is_other else refused_html(card.sentence, card.refused)
    return f'<p class="refused" title="{text(card.refused)}"><span class="sr">Rejected proposal: </span>{struck}</p>'


def _twins(card: Card) -> str:
    if not card.twins:
        return ""
    twins = "".join(
        f'<div class="twin" data-slot="{each.slot}"><p class="cap">particle {each.slot}'
        f"{'' if each.weight is None else f', weight {weight_text(each.weight)}'}</p>"
        f"{_said(each, f'{each.slot}-')}</div>"
        for each in card.twins
    )
    shared = caption(capitalised(f"{_alike(card)}."))
    return fold("alike", f"{integer(len(card.twins))} more, same answers", f"{shared}{twins}")


def reworded(before: str | None, sentence: str, *, fold_name: str = "parent") -> tuple[str, str]:
    """Return a hypothesis with its changes marked; and a fold with the one before, if little of it is left."""
    if not before:
        return hypothesis(sentence), ""
    if not is_rewritten(before, sentence):
        return f'<p class="hyp">{diff_html(before, sentence)}</p>', ""
    title = f"what it said before: {percent(kept_share(before, sentence))} kept"
    return hypothesis(sentence), fold(fold_name, title, hypothesis(before))


def _fold(part: Fold, within: str) -> str:
    sentence = hypothesis(part.sentence) if part.sentence else ""
    notes = "".join(map(caption, part.notes))
    raw = ""
    for title, words in part.raw:
        # A prompt that is not sent yet is requested by `data-wanted` (assets/deck.js).
        wanted = f' data-wanted="{part.slot}"' if part.slot is not None and title == PROMPT else ""
        html = caption("One moment.") if words is None else f'<pre class="raw">{text(words)}</pre>'
        raw += fold(f"{within}{part.name}-{title}", title, html, attributes=wanted)
    kind, name = "" if part.mark == "rej" else "par", text(within + part.name)
    return (
        f'<details class="{kind}" data-fold="{name}"><summary>{badge(part.mark, part.title)}</summary>'
        f"{sentence}{notes}{raw}{''.join(_fold(each, within) for each in part.inner)}</details>"
    )
