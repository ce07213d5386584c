"""Ideas as cards, the agreement between them, and their trials."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vpp.data.dataset import Row
from vpp.drawing.matrix import inputs_line
from vpp.drawing.programs import exception_html, program_html
from vpp.events import hypothesis_id
from vpp.findings.ideas import Group, Idea, Ideas, Nearness, Origin, Wording
from vpp.findings.programs import ProgramReading
from vpp.findings.scores import Score
from vpp.findings.slots import grouped
from vpp.posterior.likelihood import Noise
from vpp.show.deck import without_seed
from vpp.show.markup import caption, copy_button, fold, group, hypothesis, table, text
from vpp.show.words import (
    capitalised,
    counted,
    in_words,
    integer,
    interval_text,
    listed,
    number,
    percent,
    prior_text,
    short_weight,
    value_text,
    weight_text,
)
from vpp.trials.trial import FINDINGS, MinimalPair, Obeyed, Trial, TriedIdea

AT_FIRST: Mapping[Origin, str] = {
    "drawn": "first seen in the first draw",
    "continued": "taken over from the earlier run",
    "yours": "yours, given at the start",
}
FAINT_BELOW = 0.02
FOLDED = 3
"""Fewest ideas that are worth a button."""


def best_first(ideas: Ideas) -> Ideas:
    """Return the ideas heaviest first; of equally heavy ones, that with the lower training error first."""

    def place(idea: Idea) -> tuple[float, float]:
        score = idea.train or idea.compared
        return -idea.weight, score.error if score else 0.0

    return replace(ideas, all=tuple(sorted(ideas.all, key=place)))


def order_words(ideas: Ideas, *, is_weighted: bool) -> str:
    if len(ideas) == 1:
        return ""
    if is_weighted:
        return "heaviest first"
    train = ideas.all[0].train
    score, rows = train or ideas.all[0].compared, "training rows" if train else "rows compared"
    best = f", then most {rows} right" if score and score.mse is None else f", then least error on {rows}"
    return f"held by most particles first{best if score else ''}"


Readings = Mapping[str, ProgramReading]
"""How hypotheses are read, by id."""


def ideas_html(
    ideas: Ideas,
    *,
    seed_text: str,
    is_weighted: bool = True,
    most: int | None = None,
    readings: Readings = MappingProxyType({}),
) -> str:
    """Ideas, heaviest first, each with its other wordings folded away. most: how many are drawn; all if it is None."""
    cards = (
        _idea(number, idea, ideas, seed_text, readings, is_weighted=is_weighted)
        for number, idea in enumerate(ideas.all[:most], start=1)
    )
    return f'<p class="seed">All begin: “{text(seed_text)}”</p><div class="deck">{"".join(cards)}</div>'


def _idea(number: int, idea: Idea, ideas: Ideas, seed_text: str, readings: Readings, *, is_weighted: bool) -> str:
    weight = text(held_text(idea.weight, len(idea.slots), ideas, is_weighted=is_weighted))
    first, *others = idea.wordings
    faint = " faint" if idea.weight < FAINT_BELOW else ""
    held = counted(len(idea.slots), "particle")
    reading = readings.get(hypothesis_id(first.text))
    return (
        f'<article class="card{faint}" data-key="{idea.slots[0]}" style="--w:{idea.weight:.4f}" '
        f'aria-label="Idea {number}, {held}, {"weight" if is_weighted else "share"} {weight}">'
        f'<div class="slot"><span class="wt num">{weight}</span><span class="k">idea {number}</span>'
        f'<span class="k">{held}</span></div>'
        f"<div>{hypothesis(without_seed(first.text, seed_text))}{exception_html(reading)}"
        f'<div class="foot">{_copy(first)}{program_html(reading)}'
        f"{_wordings(others, seed_text, readings, is_weighted=is_weighted)}</div></div>"
        f'<div class="rail">{"".join(f"<span>{text(fact)}</span>" for fact in facts(idea, first))}</div></article>'
    )


def held_text(weight: float, n: int, ideas: Ideas, *, is_weighted: bool) -> str:
    """`0.954`, or of particles without weights `6/10`; a weight close to 0 or 1 is `< 0.001` or `> 0.999`."""
    return short_weight(weight) if is_weighted else f"{n}/{ideas.n_particles}"


def _copy(wording: Wording) -> str:
    return copy_button(wording.text, "Copy the whole hypothesis, the words that all begin with included")


def _wordings(others: Sequence[Wording], seed_text: str, readings: Readings, *, is_weighted: bool) -> str:
    if not others:
        return ""
    parts = []
    for place, wording in enumerate(others):
        reading = readings.get(hypothesis_id(wording.text))
        read = exception_html(reading) + program_html(reading, f"wording-{place}-")
        weight = f"{'weight' if is_weighted else 'share'} {weight_text(wording.weight)}{prior_text(wording.prior)} · "
        line = f'<p class="cap line">{text(weight + first_seen(wording))} {_copy(wording)}</p>'
        parts.append(hypothesis(without_seed(wording.text, seed_text)) + line + read)
    return fold("wordings", f"{counted(len(others), 'other wording')} with the same answers", "".join(parts))


def first_seen(wording: Wording) -> str:
    return f"first seen at step {wording.first_step}" if wording.first_step >= 0 else AT_FIRST[wording.origin]


def facts(idea: Idea, first: Wording) -> Iterator[str]:
    if idea.prior is not None:
        yield prior_text(idea.prior).strip(", ")
    scores = (("test", idea.test), ("training", idea.train))
    if not any(score for _, score in scores) and idea.compared:
        yield _right(idea.compared, "row", "compared")
    for name, score in scores:
        if score:
            yield _right(score, f"{name} row", name)
        if name == "training" and idea.noise:
            yield noise_words(idea.noise, is_label=idea.train is not None and idea.train.n_correct is not None)
        if score and score.n_abstained:
            n = score.n_abstained
            yield (
                f"{integer(n)} of them unreadable" if score.n_correct is None else f"{counted(n, 'answer')} unreadable"
            )
    yield first_seen(first)


def noise_words(noise: Noise, *, is_label: bool) -> str:
    """`right on 88 to 97 % of such rows`, or `errors of 0.8 to 1.1 on such rows`, one standard deviation."""
    if is_label:
        return f"right on {integer(round(100 * (1 - noise.high)))} to {percent(1 - noise.low)} of such rows"
    return f"errors of {number(noise.low, 2)} to {number(noise.high, 2)} on such rows"


def _right(score: Score, row: str, name: str) -> str:
    if score.n_correct is not None:
        return f"{integer(score.n_correct)} of {counted(score.n, row)} right"
    return f"{name} MSE {number(score.mse or 0.0)} on {counted(score.n, 'row')}"


def more_words(ideas: Ideas, most: int, *, is_weighted: bool) -> str:
    """`Show 4 more ideas, 2 % of the weight`: what a press adds to `most` ideas; empty for fewer than three."""
    left = ideas.all[most:]
    if len(left) < FOLDED:
        return ""
    weight = f", {percent(sum(idea.weight for idea in left))} of the weight" if is_weighted else ""
    return f"Show {counted(len(left), 'more idea')}{weight}"


# Agreement: the groups, and a verdict


def verdict(near: Nearness, groups: Sequence[Group], threshold: float) -> str:
    """`Ten particles hold four ideas; at 95 % agreement two different explanations remain.`"""
    k, n_ideas, n = near.ideas.n_particles, len(near.ideas), len(groups)
    ideas = f"{in_words(n_ideas)} idea{'' if n_ideas == 1 else 's'}"
    held = f"{capitalised(in_words(k))} particle{' holds' if k == 1 else 's hold'} {ideas}"
    if n_ideas == 1:
        return f"{held}: there is nothing to compare."
    remain = "one explanation remains" if n == 1 else f"{in_words(n)} different explanations remain"
    only = f", of the {in_words(near.n)} heaviest" if near.n < n_ideas else ""
    return f"{held}; at {percent(threshold)} agreement {remain}{only}."


def meaning(near: Nearness, threshold: float) -> str:
    rows = counted(near.ideas.n_rows, "row")
    together = "An explanation is a group of ideas of which any two"
    silent = "two unreadable answers are alike, one is as far from any answer as can be"
    if near.span is None:
        return f"{together} give the same answer on at least {percent(threshold)} of {rows}; {silent}."
    off = number((1 - threshold) * near.span, 3)
    return (
        f"{together} differ by at most {off} on {rows} (root mean square, in the target’s unit). Agreement is "
        f"{percent(1.0)} less that difference as a share of the target’s range, {number(near.span)}; {silent}."
    )


def groups_html(near: Nearness, groups: Sequence[Group], *, seed_text: str, is_weighted: bool) -> str:
    """A row per group: its weight, ideas, particles and least agreement, and its heaviest sentence."""
    head = ("weight" if is_weighted else "share", "ideas", "particles", "agree at least", "the heaviest says")
    rows = (
        (
            held_text(group.weight, group.n_particles, near.ideas, is_weighted=is_weighted),
            listed([number + 1 for number in group.numbers]),
            integer(group.n_particles),
            percent(group.least, 1) if len(group.numbers) > 1 else "one idea",
            without_seed(near.ideas.all[group.numbers[0]].text, seed_text),
        )
        for group in groups
    )
    return table(head, rows, name="groups of ideas")


# A trial: faithfulness, the worth of each clause, and what no rule is worth


PAIRS_SHOWN = 8


def rate_words(found: Obeyed) -> str:
    """`38 of 40 (95 %; 83 % to 99 %)`, or that nothing could be changed."""
    if not found.n:
        return "none possible"
    rate = f"{percent(found.obeyed / found.n)}; {interval_text(found.obeyed, found.n)}"
    return f"{integer(found.obeyed)} of {integer(found.n)} ({rate})"


def better_words(found: Obeyed) -> str:
    """`better on 15 of 18 rows that differ (83 %; 61 % to 94 %)`."""
    if not found.n:
        return "no row is known to differ"
    return f"better on {rate_words(found).replace(' (', ' rows that differ (', 1)}"


def trial_verdict(trial: Trial) -> str:
    idea = trial.ideas[0]
    follows, gain, rows = idea.must_change, number(idea.gain_over_no_rule), idea.over_no_rule
    how = ("may or may not follow", "follows", "does not follow")[follows.follows]
    changed = f"{rate_words(follows)} answers changed as it demands" if follows.n else "no row can change its answer"
    worth = ("cannot be told from", "is better than", "is worse than")[rows.sign()]
    on = counted(len(trial.rows), "training row")
    worth = f"{worth} no rule at all: {gain} nats, {better_words(rows)}"
    return f"The learner {how} the heaviest idea: {changed}. On {on} it {worth}."


HEAD = ("idea", "weight", "answer must change", "answer must stay", "nats over no rule", "than no rule")
INTERVALS = (
    "In brackets: the share, and its 95 % interval (Wilson). A clause helps or hurts if the sign test on the rows that "
    "differ, corrected for the number of clauses, is below 0.05."
)


def table_rows(trial: Trial) -> list[tuple[str, ...]]:
    return [
        (
            str(place),
            weight_text(min(idea.weight, 1.0)),
            rate_words(idea.must_change),
            rate_words(idea.must_stay),
            number(idea.gain_over_no_rule),
            better_words(idea.over_no_rule),
        )
        for place, idea in enumerate(trial.ideas, 1)
    ]


CLAUSE_HEAD = ("clause", "nats lost without it", "than without it")


def clause_rows(idea: TriedIdea, trial: Trial) -> list[tuple[str, str, str]]:
    return [
        (c.text, number(c.log_likelihood_lost), f"{better_words(c.rows)}: {FINDINGS[trial.sign(c)]}")
        for c in idea.clauses
    ]


def sentence_of(idea: TriedIdea, seed_text: str) -> str:
    return idea.text.removeprefix(seed_text).strip()


def trial_html(trial: Trial, seed_text: str) -> str:
    parts = [table(HEAD, table_rows(trial), right=(1, 4)), caption(INTERVALS)]
    for place, idea in enumerate(trial.ideas, 1):
        sentence = sentence_of(idea, seed_text)
        parts += [group(f"Idea {place}"), f'<p class="hyp tried">{text(sentence)}</p>']
        if not idea.clauses:
            parts.append(caption("No clauses: it has no program of several branches."))
        parts += [table(CLAUSE_HEAD, clause_rows(idea, trial), right=(1,))] if idea.clauses else []
    if trial.pairs:
        parts += [group("Minimal pairs: one cell that parts two ideas"), pairs_html(trial.pairs)]
    return "".join(parts)


def pairs_html(pairs: Sequence[MinimalPair]) -> str:
    alike = grouped(((pair.column, pair.before, pair.after, pair.ideas, pair.answers), pair) for pair in pairs)
    lines = []
    for first, *others in list(alike.values())[:PAIRS_SHOWN]:
        (one, other), (said, differs) = first.ideas, map(value_text, first.answers)
        before, after = ("missing" if cell is None else cell for cell in (first.before, first.after))
        row = inputs_line(Row(id=0, inputs=first.inputs, target=None))
        more = f" (and {counted(len(others), 'row')} like it)" if others else ""
        change = f"{first.column}: {before} → {after}"
        lines.append((change, f"idea {one + 1}: {said}", f"idea {other + 1}: {differs}", f"{row}{more}"))
    return table(("change", "one idea", "another", "changed row"), lines)
