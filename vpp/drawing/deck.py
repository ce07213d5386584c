"""The deck: cards as HTML. Sorted by weight, it is the posterior's bar chart."""

from collections.abc import Sequence
from functools import lru_cache

from vpp.drawing.cards import PROMPT, Card, Fold
from vpp.settings import Config
from vpp.wording.markup import Mark, badge, text
from vpp.wording.word_diff import diff_html, is_rewritten, kept_share
from vpp.wording.words import short_weight

FAINT_BELOW = 0.02
SYMBOL: dict[bool | None, str] = {True: "ok", False: "no", None: "ab"}


def deck_html(cards: Sequence[Card], *, seed_text: str) -> str:
    """All cards in the order given, under the sentence that all share."""
    seed = f'<p class="seed">All begin: “{text(seed_text)}”</p>' if seed_text else ""
    return f'{seed}<div class="deck">{"".join(map(card_html, cards))}</div>'


@lru_cache(maxsize=1024)
def card_html(card: Card) -> str:
    """One card, made once while it is the same; `data-key` tells it apart from the others of its deck."""
    weight = card.weight or 0.0
    faint = " faint" if card.weight is not None and card.weight < FAINT_BELOW else ""
    shown = f"1/{card.alike}" if card.alike else "…" if card.weight is None else short_weight(card.weight)
    label = f"Particle {card.slot}, {'counts' if card.alike else 'weight'} {shown}"
    return (
        f'<article class="card{faint}" data-key="{card.slot}" style="--w:{weight:.4f}" aria-label="{text(label)}">'
        f'<div class="slot"><span class="wt num">{text(shown)}</span><span class="k">particle {card.slot}</span>'
        f"{_moved(card)}</div>"
        f"<div>{_sentence(card)}{_foot(card)}</div>"
        f'<div class="rail">{_rail(card)}</div></article>'
    )


def _moved(card: Card) -> str:
    """What is another thing about its weight than a step before; the shape's word, up or down, is for the ear alone."""
    told = "".join(f'<span class="sr">{mark} </span>{badge(mark, words)}' for mark, words in card.moved)
    return f'<span class="moved">{told}</span>' if told else ""


def _sentence(card: Card) -> str:
    if card.parent is None or is_rewritten(card.parent, card.sentence):
        return f'<p class="hyp">{text(card.sentence)}</p>'
    return f'<p class="hyp">{diff_html(card.parent, card.sentence)}</p>'


def _foot(card: Card) -> str:
    marks = "".join(badge(mark, words) for mark, words in card.marks)
    return f'<div class="foot">{marks}{_parent(card)}{"".join(map(_fold, card.folds))}</div>'


def _parent(card: Card) -> str:
    """The text before, where so little was kept that it is not marked word by word."""
    if card.parent is None or not is_rewritten(card.parent, card.sentence):
        return ""
    kept = badge("", f"{100 * kept_share(card.parent, card.sentence):.0f} % of the words kept")
    return f'{kept}<details class="par" data-fold="parent"><summary>what it said before</summary>' + (
        f'<p class="hyp">{text(card.parent)}</p></details>'
    )


def _fold(fold: Fold) -> str:
    sentence = f'<p class="hyp">{text(fold.sentence)}</p>' if fold.sentence else ""
    notes = "".join(f'<p class="cap">{text(note)}</p>' for note in fold.notes)
    raw = "".join(_raw(fold, title, words) for title, words in fold.raw)
    kind = "" if fold.mark == "rej" else "par"
    return (
        f'<details class="{kind}" data-fold="{text(fold.name)}"><summary>{badge(fold.mark, fold.title)}</summary>'
        f"{sentence}{notes}{raw}</details>"
    )


def _raw(fold: Fold, title: str, words: str | None) -> str:
    """What comes when it is opened is asked for by its slot, in `data-wanted` (assets/deck.js)."""
    wanted = f' data-wanted="{fold.slot}"' if fold.slot is not None and title == PROMPT else ""
    shown = '<p class="cap">One moment.</p>' if words is None else f'<pre class="raw">{text(words)}</pre>'
    return (
        f'<details class="par" data-fold="{text(fold.name)}-{text(title)}"{wanted}><summary>{text(title)}</summary>'
        f"{shown}</details>"
    )


def _rail(card: Card) -> str:
    first, *others = card.rail or ("",)
    facts = "".join(f"<span>{text(fact)}</span>" for fact in others)
    return f"<span>{text(first)}</span>{squares(card.hits, first)}{facts}"


def squares(hits: Sequence[bool | None], label: str) -> str:
    """Batch rows: filled right, crossed wrong, hatched abstained."""
    if not hits:
        return ""
    cells = "".join(f'<i class="{SYMBOL[hit]}"></i>' for hit in hits)
    return f'<span class="sq" role="img" aria-label="Batch: {text(label)}">{cells}</span>'


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
