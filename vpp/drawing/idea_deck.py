"""Ideas as cards: the hypotheses that survived the data, heaviest first, equally heavy ones by their training rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from vpp.drawing.deck import FAINT_BELOW, without_seed
from vpp.inspection.ideas import Idea, Ideas, Origin, Wording
from vpp.inspection.scores import Score
from vpp.wording.markup import caption, copy_button, fold, hypothesis, text
from vpp.wording.words import (
    capitalised,
    counted,
    in_words,
    integer,
    listed,
    number,
    particles,
    percent,
    short_weight,
    weight_text,
)

Shown = Literal["heaviest", "shortest"]
"""Wording that represents an idea."""
AT_FIRST: Mapping[Origin, str] = {
    "drawn": "first seen in the first draw",
    "continued": "taken over from the earlier run",
    "yours": "yours, given at the start",
}
"""Words on a first hypothesis."""
FOLDED = 3
"""Fewest ideas that are worth a button."""


def best_first(ideas: Ideas) -> Ideas:
    """Return the ideas heaviest first; of equally heavy ones, that with the lower training error first."""
    return replace(ideas, all=tuple(sorted(ideas.all, key=lambda idea: (-idea.weight, _training_error(idea)))))


def _training_error(idea: Idea) -> float:
    score = idea.train or idea.compared
    return score.error if score else 0.0


def order_words(ideas: Ideas, *, is_weighted: bool) -> str:
    if len(ideas) == 1:
        return ""
    if is_weighted:
        return "heaviest first"
    score = ideas.all[0].train or ideas.all[0].compared
    rows = "training rows" if ideas.all[0].train else "rows compared"
    best = (
        "" if score is None else f", then most {rows} right" if score.mse is None else f", then least error on {rows}"
    )
    return f"held by most particles first{best}"


def ideas_html(
    ideas: Ideas, *, seed_text: str, is_weighted: bool = True, shown: Shown = "heaviest", most: int | None = None
) -> str:
    """Ideas by summed weight, or by how many hold them, each with its other wordings folded away.

    most: how many are drawn, the heaviest; all if it is None.
    """
    cards = "".join(
        _idea(number, ideas, seed_text, shown, is_weighted=is_weighted)
        for number, _ in enumerate(ideas.all[:most], start=1)
    )
    return f'<p class="seed">All begin: “{text(seed_text)}”</p><div class="deck">{cards}</div>'


def _idea(number: int, ideas: Ideas, seed_text: str, shown: Shown, *, is_weighted: bool) -> str:
    idea = ideas.all[number - 1]
    weight = held_text(idea.weight, len(idea.slots), ideas, is_weighted=is_weighted)
    first = idea.shortest if shown == "shortest" else idea.wordings[0]
    others = [wording for wording in idea.wordings if wording is not first]
    faint = " faint" if idea.weight < FAINT_BELOW else ""
    held = counted(len(idea.slots), "particle")
    return (
        f'<article class="card{faint}" data-key="{idea.slots[0]}" style="--w:{idea.weight:.4f}" '
        f'aria-label="Idea {number}, {held}, {"weight" if is_weighted else "share"} {text(weight)}">'
        f'<div class="slot"><span class="wt num">{text(weight)}</span><span class="k">idea {number}</span>'
        f'<span class="k">{held}</span></div>'
        f'<div>{hypothesis(without_seed(first.text, seed_text))}{_quoted(idea)}<div class="foot">{_copy(first)}'
        f"{_wordings(others, seed_text, is_weighted=is_weighted)}</div></div>"
        f'<div class="rail">{"".join(f"<span>{text(fact)}</span>" for fact in facts(idea, first))}</div></article>'
    )


def held_text(weight: float, n: int, ideas: Ideas, *, is_weighted: bool) -> str:
    """`0.954`, or of particles without weights `6/10`; a weight close to 0 or 1 is `< 0.001` or `> 0.999`."""
    return short_weight(weight) if is_weighted else f"{n}/{ideas.n_particles}"


def _quoted(idea: Idea) -> str:
    return caption(f"{capitalised(quotes_words(idea))}.") if idea.quoted else ""


def quotes_words(idea: Idea) -> str:
    """`reasons quote most: “staff” in 12 rows, “dirty” in 9`; empty if no words are quoted in several rows."""
    (first, n), *others = idea.quoted or (("", 0),)
    more = (f", “{words}” in {integer(rows)}" for words, rows in others)
    return f"reasons quote most: “{first}” in {integer(n)} rows{''.join(more)}" if n else ""


def _copy(wording: Wording) -> str:
    return copy_button(wording.text, "Copy the whole hypothesis, the words that all begin with included")


def _wordings(others: Sequence[Wording], seed_text: str, *, is_weighted: bool) -> str:
    if not others:
        return ""
    parts = []
    for wording in others:
        weight = f"{'weight' if is_weighted else 'share'} {weight_text(wording.weight)} · "
        line = f'<p class="cap line">{text(weight + first_seen(wording))} {_copy(wording)}</p>'
        parts.append(hypothesis(without_seed(wording.text, seed_text)) + line)
    return fold("wordings", f"{counted(len(others), 'other wording')} with the same answers", "".join(parts))


def first_seen(wording: Wording) -> str:
    """`first seen at step 3, particle 1`; `yours, given at the start, particle 1`."""
    when = f"first seen at step {wording.first_step}" if wording.first_step >= 0 else AT_FIRST[wording.origin]
    return f"{when}, {particles(wording.first_slots)}"


def facts(idea: Idea, first: Wording) -> Iterator[str]:
    scores = (("test", idea.test), ("training", idea.train))
    if not any(score for _, score in scores) and idea.compared:
        yield _right(idea.compared, "row", "compared")
    for name, score in scores:
        if score:
            yield _right(score, f"{name} row", name)
            if score.n_abstained:
                yield (
                    f"{integer(score.n_abstained)} of them unreadable"
                    if score.n_correct is None
                    else (f"{counted(score.n_abstained, 'answer')} unreadable")
                )
    yield particles(idea.slots)
    yield first_seen(first)


def _right(score: Score, row: str, name: str) -> str:
    if score.n_correct is not None:
        return f"{integer(score.n_correct)} of {counted(score.n, row)} right"
    return f"{name} MSE {number(score.mse or 0.0)} on {counted(score.n, 'row')}"


def compared_words(ideas: Ideas) -> str:
    if ideas.by == "text":
        return "Compared by their words only: they have not all answered the same rows yet"
    if ideas.by == "step":
        rows = counted(ideas.n_rows, "training row")
        return f"Compared on the {rows} that all have answered since step {max(ideas.step, 0)}"
    n_test, n_train = ideas.n_test_rows, ideas.n_rows - ideas.n_test_rows
    parts = [f"{integer(n)} {name}" for n, name in ((n_test, "test"), (n_train, "training")) if n]
    return f"Compared on {counted(ideas.n_rows, 'row')}: {listed(parts)}"


def more_words(ideas: Ideas, most: int, *, is_weighted: bool) -> str:
    """`Show 4 more ideas, 2 % of the weight`: what a press adds to `most` ideas; empty for fewer than three."""
    left = ideas.all[most:]
    if len(left) < FOLDED:
        return ""
    weight = f", {percent(sum(idea.weight for idea in left))} of the weight" if is_weighted else ""
    return f"Show {counted(len(left), 'more idea')}{weight}"


def held_sentence(ideas: Ideas) -> str:
    """`Ten particles hold four ideas`, without an end."""
    k = ideas.n_particles
    held = f"{in_words(len(ideas))} idea{'' if len(ideas) == 1 else 's'}"
    return f"{capitalised(in_words(k))} particle{' holds' if k == 1 else 's hold'} {held}"
