"""The deck: a card per particle, and its HTML. Sorted by weight, it is the posterior's bar chart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vpp.settings import Config
from vpp.wording.markup import Mark, badge, caption, diff_html, fold, hypothesis, is_rewritten, kept_share, text
from vpp.wording.words import percent, short_weight

Marks = tuple[tuple[Mark, str], ...]
Hits = tuple[bool | None, ...]
"""Per row: True right, False wrong, None abstained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A folded part of a card."""

    name: str
    """Unique on a card."""
    mark: Mark
    title: str
    sentence: str = ""
    """A hypothesis."""
    notes: tuple[str, ...] = ()
    raw: tuple[tuple[str, str | None], ...] = ()
    """(Title, text) of prompt and answer, verbatim; None for a prompt that is sent once its fold is opened."""
    slot: int | None = None
    """Slot whose prompt it shows, if prompts are sent once their fold is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One particle at one step."""

    slot: int
    sentence: str
    """Hypothesis without the seed sentence, which all share."""
    weight: float | None = None
    """None before the first weights; 1/K if all count alike."""
    parent: str | None = None
    """Sentence it was rewritten from, if any."""
    marks: Marks = ()
    """Badges on its origin and its fate."""
    hits: Hits = ()
    """Batch rows; empty for regression."""
    rail: tuple[str, ...] = ()
    """Short facts at the right."""
    folds: tuple[Fold, ...] = ()
    alike: int = 0
    """Number of particles, K, if all count alike; 0 if they have weights."""
    moved: Marks = ()
    """Changes of its weight and its place since the step before."""


PROMPT = "the prompt"


def without_seed(sentence: str, seed_text: str) -> str:
    """The optimizer's part of a hypothesis; the seed sentence alone if it wrote nothing."""
    return sentence.removeprefix(seed_text).strip() or sentence


FAINT_BELOW = 0.02
SYMBOL: dict[bool | None, str] = {True: "ok", False: "no", None: "ab"}


def deck_html(cards: Sequence[Card], *, seed_text: str) -> str:
    """All cards in the order given, under the sentence that all share."""
    seed = f'<p class="seed">All begin: “{text(seed_text)}”</p>' if seed_text else ""
    return f'{seed}<div class="deck">{"".join(map(card_html, cards))}</div>'


def skeletons_html(slots: Iterable[int]) -> str:
    """Grey cards of hypotheses that are still being written."""
    lines = "".join(f'<i style="width:{width}%"></i>' for width in (96, 71))
    return "".join(
        f'<article class="card bare" data-key="{slot}" data-slots="{slot}" aria-label="Particle {slot}: being written">'
        f'<div class="slot"><span class="wt num">…</span><span class="k">particle {slot}</span></div>'
        f'<div class="wait">{lines}</div></article>'
        for slot in slots
    )


@lru_cache(maxsize=1024)
def card_html(card: Card) -> str:
    """One card, cached by its content; `data-key` identifies it in its deck."""
    weight = card.weight or 0.0
    faint = " faint" if card.weight is not None and card.weight < FAINT_BELOW else ""
    shown = f"1/{card.alike}" if card.alike else "…" if card.weight is None else short_weight(card.weight)
    marks, folds = "".join(badge(*mark) for mark in card.marks), "".join(map(_fold, card.folds))
    sentence, before = reworded(card.parent, card.sentence)
    # The words up and down are for screen readers alone.
    changes = "".join(f'<span class="sr">{mark} </span>{badge(mark, words)}' for mark, words in card.moved)
    moved = f'<span class="moved">{changes}</span>' if changes else ""
    label = f"Particle {card.slot}, {'counts' if card.alike else 'weight'} {shown}"
    return (
        f'<article class="card{faint}" data-key="{card.slot}" style="--w:{weight:.4f}" aria-label="{text(label)}">'
        f'<div class="slot"><span class="wt num">{text(shown)}</span><span class="k">particle {card.slot}</span>'
        f"{moved}</div>"
        f'<div>{sentence}<div class="foot">{marks}{before}{folds}</div></div>'
        f'<div class="rail">{_rail(card)}</div></article>'
    )


def reworded(before: str | None, sentence: str) -> tuple[str, str]:
    """Return a hypothesis with its changes marked; and a fold with the one before, if little of it is left."""
    if not before:
        return hypothesis(sentence), ""
    if not is_rewritten(before, sentence):
        return f'<p class="hyp">{diff_html(before, sentence)}</p>', ""
    kept = badge("", f"{percent(kept_share(before, sentence))} of the words kept")
    return hypothesis(sentence), kept + fold("parent", "what it said before", hypothesis(before))


def _fold(part: Fold) -> str:
    sentence = hypothesis(part.sentence) if part.sentence else ""
    notes = "".join(map(caption, part.notes))
    raw = "".join(_raw(part, title, words) for title, words in part.raw)
    kind = "" if part.mark == "rej" else "par"
    return (
        f'<details class="{kind}" data-fold="{text(part.name)}"><summary>{badge(part.mark, part.title)}</summary>'
        f"{sentence}{notes}{raw}</details>"
    )


def _raw(part: Fold, title: str, words: str | None) -> str:
    """A verbatim text. A prompt that is not sent yet is requested by `data-wanted` (assets/deck.js)."""
    wanted = f' data-wanted="{part.slot}"' if part.slot is not None and title == PROMPT else ""
    shown = caption("One moment.") if words is None else f'<pre class="raw">{text(words)}</pre>'
    return fold(f"{part.name}-{title}", title, shown, attributes=wanted)


def _rail(card: Card) -> str:
    """Facts at the right; batch rows are filled if right, crossed if wrong, hatched if abstained."""
    first, *others = card.rail or ("",)
    facts = "".join(f"<span>{text(fact)}</span>" for fact in others)
    cells = "".join(f'<i class="{SYMBOL[hit]}"></i>' for hit in card.hits)
    batch = f'<span class="sq" role="img" aria-label="Batch: {text(first)}">{cells}</span>' if cells else ""
    return f"<span>{text(first)}</span>{batch}{facts}"


def mark_legend(config: Config) -> str:
    """The marks that a run of these options can show and their words, once a page."""
    is_dropping = config.is_weighted or config.particles_max
    kinds: tuple[tuple[Mark, str], ...] = (
        ("new", "new text"),
        ("acc", "accepted" if config.is_filtered else "taken"),
        *((("rej", "rejected"),) if config.is_filtered else ()),
        *((("copy", "copied by resampling"),) if config.is_weighted and config.size > 1 else ()),
        *((("gone", "resampled away" if config.is_weighted else "dropped"),) if is_dropping else ()),
        ("abs", "unreadable"),
        ("same", "unchanged"),
        *((("up", "weight or place up"), ("down", "down")) if config.is_weighted else ()),
    )
    return f'<p class="legend">{"".join(badge(mark, words) for mark, words in kinds)}</p>'
