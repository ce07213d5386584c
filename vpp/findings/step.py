"""What a step of a run shows: the cards of its hypotheses in each phase, what happened, and the curves by step.

A step weighs the particles on the last rows, may copy the heavy ones in place of the light ones, and rewrites each.
Particles with the same answers are one hypothesis. It gets its number when it first appears. The shortest of its texts
stands for it, and stays while a particle holds it. The card of a step shows the text after the step's rewriting, with
the changes marked.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, ParticleDrawn, Proposed, Scored, hypothesis_id
from vpp.findings.hypotheses import AFRESH, Hypothesis, hypotheses_of
from vpp.findings.points import rows_by_id, score
from vpp.findings.status import finish_words, steps_text
from vpp.posterior.metric import mean_squared_error
from vpp.problem import is_final_on_train
from vpp.runs.view import RunView, StepView, constant_weight, ess_of_sentences
from vpp.settings import CHAINS_OF_VML, ESS_SHARE, Config, ScoredRows
from vpp.show.blocks import Card, Code, Fold, Mark, Note, Quote
from vpp.show.figures import HUES, Curve
from vpp.show.words import EQUAL, NOTICEABLE, capitalised, counted, fixed, in_words, integer, number, percent, shortest

Marks = tuple[tuple[Mark, str], ...]
ROWS: Mapping[ScoredRows, str] = {"train": "training row", "buffer": "last row", "batch": "new row"}
GIVEN = {"continued": "from the earlier run", "yours": "yours"}
"""Badge of a first hypothesis that nobody drew, by its origin."""


# The particles in each phase of a step, and the number that every hypothesis keeps for the whole run

Phase = Literal["weigh", "copy", "rewrite"]
Moment = tuple[int, Phase] | Literal["first"]
Groups = Sequence[Sequence[str]]
"""Hypothesis ids with the same answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Particle:
    slot: int
    hypothesis: str
    parent: str
    """The hypothesis that it was when the step weighed it."""
    scored: Scored | None
    """None if it is not scored yet, as a text that a method without an accept step has just taken."""
    weight: float | None
    """None before the first weights, and of a chain."""
    proposed: Proposed | None = None


def phases(at: StepView) -> tuple[Phase, ...]:
    """Return the phases that a step has begun, in order; a chain has the last alone."""
    if not at.scores:
        return ()
    if at.reweighting is None:
        return ("rewrite",)
    copied: tuple[Phase, ...] = ("copy",) if at.resampling else ()
    return ("weigh", *copied, *(("rewrite",) if at.proposals else ()))


def particles_of(at: StepView, phase: Phase) -> list[Particle]:
    weights = at.reweighting.weights if at.reweighting else None
    if phase == "weigh" or at.resampling is None:
        ancestors: Sequence[int] = sorted(at.scores)
    else:
        ancestors, weights = at.resampling.ancestors, (1 / len(at.resampling.ancestors),) * len(at.resampling.ancestors)
    found = []
    for place, ancestor in enumerate(ancestors):
        scored = at.scores[ancestor]
        slot = ancestor if at.resampling is None or phase == "weigh" else place
        proposed = at.proposals.get(slot) if phase == "rewrite" else None
        weight = weights[slot] if weights else None
        now: Scored | None = scored
        hypothesis = parent = scored.hypothesis
        if proposed and proposed.accepted and proposed.proposal:
            hypothesis, now = proposed.proposal, at.proposal_scores.get(slot)
        found.append(
            Particle(slot=slot, hypothesis=hypothesis, parent=parent, scored=now, weight=weight, proposed=proposed)
        )
    return found


@dataclass(frozen=True, slots=True)
class Named:
    numbers: Mapping[str, int]
    """By hypothesis id: that of the hypothesis with its answers."""
    faces: Mapping[int, str]
    """Id of the text that stands for each."""

    def grouped(self, particles: Iterable[Particle]) -> Mapping[int, Sequence[Particle]]:
        """Particles by the number of their hypothesis, in order of appearance."""
        groups: dict[int, list[Particle]] = {}
        for each in particles:
            groups.setdefault(self.numbers[each.hypothesis], []).append(each)
        return groups


class Names:
    def __init__(self, view: RunView) -> None:
        self.view = view
        self._own: dict[str, int] = {}
        self._faces: dict[int, str] = {}
        first = dict.fromkeys(each.hypothesis for each in view.draws.values())
        self._moments: dict[Moment, Named] = {"first": self._take([[text] for text in first])}
        for step, at in sorted(view.steps.items()):
            for phase in phases(at):
                if phase != "copy":
                    self._moments[step, phase] = self._take(at.once(f"groups {phase}", partial(groups_of, at, phase)))

    def at(self, moment: Moment) -> Named:
        return self._moments[(moment[0], "weigh") if not isinstance(moment, str) and moment[1] == "copy" else moment]

    def end(self, every: Sequence[Hypothesis]) -> Mapping[str, int]:
        """Return the numbers at the end by text: each hypothesis has that of its heaviest member."""
        ideas = [idea for each in every for idea in each.members]
        own = self._take([[hypothesis_id(each.text) for each in idea.wordings] for idea in ideas]).numbers
        return {hypothesis_id(text.text): own[each.id] for each in every for text in each.wordings}

    def before(self, step: int) -> Named:
        """Return the names at the end of the step before, or of the first hypotheses."""
        return self._moments.get((step - 1, "rewrite")) or self._moments["first"]

    def shares(self, step: int) -> Mapping[int, float]:
        """Return the weights of a step by number, the heaviest first; empty without weights."""
        at = self.view.steps[step]
        if at.reweighting is None:
            return {}
        groups = self.at((step, "weigh")).grouped(particles_of(at, "weigh"))
        shares = {number: sum(each.weight or 0.0 for each in own) for number, own in groups.items()}
        return dict(sorted(shares.items(), key=lambda each: (-each[1], each[0])))

    def text(self, hypothesis: str) -> str:
        text = self.view.texts[hypothesis]
        return text.removeprefix(self.view.seed_text).strip() or text

    def _take(self, groups: Groups) -> Named:
        numbers: dict[str, int] = {}
        faces: dict[int, str] = {}
        group_of = {text: place for place, group in enumerate(groups) for text in group}
        for place, group in enumerate(groups):
            number = self._number(place, group, group_of, faces)
            if self._faces.get(number) not in group:
                self._faces[number] = min(group, key=lambda each: (len(self.view.texts[each]), each))
            faces[number] = self._faces[number]
            numbers |= dict.fromkeys(group, number)
        return Named(numbers, faces)

    def _number(self, place: int, group: Sequence[str], group_of: Mapping[str, int], taken: Iterable[int]) -> int:
        """Return the number of a group: the first of its texts' own, unless another group holds what stands for it."""
        own = sorted({self._own[text] for text in group if text in self._own})
        free = [n for n in own if n not in taken and group_of.get(self._faces[n], place) == place]
        number = free[0] if free else len(self._faces) + 1
        for text in group:
            if not free or text not in self._own:
                self._own[text] = number
        return number


def groups_of(at: StepView, phase: Phase) -> Groups:
    """Group the hypotheses of a phase by their answers, to the rows of the first score; unscored ones are alone."""
    keys: dict[str, Hashable] = {}
    for each in particles_of(at, phase):
        keys.setdefault(each.hypothesis, each.scored.behaviour if each.scored else each.slot)
    groups: dict[Hashable, list[str]] = {}
    for hypothesis, key in keys.items():
        groups.setdefault(key, []).append(hypothesis)
    return list(groups.values())


# What there is to see


def shown_step(view: RunView) -> int | None:
    """Return the newest step with something to show: weights for smc, all decisions for other methods."""
    steps = view.steps.items()
    return max((step for step, at in steps if at.reweighting or (at.end and at.scores)), default=None)


def step_title(view: RunView, step: int | None) -> str:
    """`Step 4 of 10`, counted from 1; without a step the first hypotheses, or those at the end."""
    if step is not None:
        return f"Step {step + 1} of {view.total_steps}"
    return "First hypotheses" if shown_step(view) is None else "Hypotheses at the end"


# A card for each hypothesis


class Cards:
    def __init__(self, dataset: Dataset, config: Config) -> None:
        self._dataset, self._row = dataset, ROWS[config.scored_on]
        self._measure: Literal["weight", "log-likelihood"] = "weight" if config.is_weighted else "log-likelihood"
        self._targets = {row.id: row.target for row in dataset.train}

    def first(self, names: Names) -> list[Card]:
        """Cards of the first hypotheses so far, in order of appearance."""
        named, drawn = names.at("first"), names.view.draws
        particles = [
            Particle(slot=slot, hypothesis=each.hypothesis, parent=each.hypothesis, scored=None, weight=None)
            for slot, each in drawn.items()
        ]
        return [_drawn(card, drawn[own[0].slot]) for card, own in self._pairs(names, particles, named, named)]

    def at(self, names: Names, step: int, phase: Phase | None = None) -> list[Card]:
        """Cards of a step in a phase; without one, in the last that it has begun."""
        at = names.view.steps.get(step, StepView(step=step))
        phase = phase or (phases(at) or ("weigh",))[-1]
        if not at.scores:
            return []
        named = names.at((step, phase))
        before = names.at((step, "weigh")) if phase != "weigh" and at.reweighting else names.before(step)
        pairs = self._pairs(names, particles_of(at, phase), named, before)
        if phase == "copy":
            copies = before.grouped(particles_of(at, "weigh"))
            cards = [_with_copies(card, len(copies[card.key])) for card, _ in pairs]
        elif phase == "rewrite":
            cards = [_rewritten(card, own, at, names) for card, own in pairs]
        else:
            cards = [card for card, _ in pairs]
        return sorted(cards, key=lambda card: (-card.bar, card.key))

    def _pairs(
        self, names: Names, particles: Sequence[Particle], named: Named, before: Named
    ) -> Iterator[tuple[Card, Sequence[Particle]]]:
        for hypothesis, own in named.grouped(particles).items():
            face = named.faces[hypothesis]
            front = next((each for each in own if each.hypothesis == face), own[0])  # if dropped, a like text
            origins = dict.fromkeys(before.numbers[each.parent] for each in own if each.parent in before.numbers)
            card = Card(
                key=hypothesis,
                name=f"hypothesis {hypothesis}",
                id=face,
                words=names.text(face),
                copies=len(own),
                measure=self._measure,
                origins=tuple(origins),
            )
            if front.scored:
                card = self._with_score(card, front.scored)
            yield _valued(card, own, front), own

    def _with_score(self, card: Card, scored: Scored) -> Card:
        """Add how many rows it has right, or how far off it is: root mean squared error."""
        truth, answers = [self._targets[row] for row in scored.rows], scored.predictions
        rows = counted(len(truth), self._row)
        if self._dataset.task == "regression":
            error = mean_squared_error(answers, truth, abstention_error=self._dataset.target_range)
            words = f"off by {number(math.sqrt(error), 3)}"
            return replace(card, facts=(words,), title=f"{words} on {rows}")
        right = integer(sum(p is not None and p == y for p, y in zip(answers, truth, strict=True)))
        return replace(card, facts=(f"{right}/{integer(len(truth))}",), title=f"right on {right} of {rows}")


def _valued(card: Card, own: Sequence[Particle], front: Particle) -> Card:
    """Add the number and the bar of a card: its weight, or a chain's likelihood."""
    if card.measure == "weight":
        known = [each.weight for each in own if each.weight is not None]
        if len(known) < len(own):
            return card
        share = min(sum(known), 1.0)
        return replace(card, value=percent(share), bar=share)
    scored = front.scored
    if scored is None:
        return card
    mean = min(1.0, math.exp(scored.log_likelihood / max(1, len(scored.rows))))
    return replace(card, value=fixed(scored.log_likelihood, 1), bar=mean)


def _drawn(card: Card, first: ParticleDrawn) -> Card:
    marks: Marks = (("", GIVEN[first.origin]),) if first.origin in GIVEN else ()
    marks += (("abs", "no readable answer: the seed sentence stands"),) if first.reason else ()
    answer = Fold(name="raw", title="the optimizer’s answer", blocks=tuple(_answered(first, "raw")))
    return replace(card, marks=marks, folds=(answer,) if first.raw else ())


def _with_copies(card: Card, before: int) -> Card:
    """before: its copies when the step weighed it."""
    more = card.copies - before
    marks: Marks = (("copy", "copied"),) if more > 0 else (("same", "fewer copies"),) if more < 0 else ()
    return replace(card, marks=marks)


def _rewritten(card: Card, own: Sequence[Particle], at: StepView, names: Names) -> Card:
    front = next((each for each in own if each.proposed and each.hypothesis == card.id), own[0])
    proposed = front.proposed
    is_new = proposed is not None and proposed.accepted and proposed.origin != "prior"
    folds = tuple(_fold(each.proposed, names) for each in own if each.proposed)
    alone = [replace(each, mark="", title="answer") for each in folds]
    return replace(
        card,
        before=names.text(proposed.parent) if is_new and proposed else "",
        marks=_marks(own, proposed, at),
        folds=(Fold(name="rewrites", title="rewrites", blocks=folds),) if len(folds) > 1 else tuple(alone),
    )


def _fold(proposed: Proposed, names: Names) -> Fold:
    name, (mark, words) = f"rewrite-{proposed.particle}", outcome(proposed)
    lost = proposed.proposal if proposed.why == "likelihood" and not proposed.accepted else None
    blocks = (
        *([Quote(names.text(lost))] if lost else []),
        *map(Note, filter(None, (decision_words(proposed), proposed.reason))),
        *_answered(proposed, name),
    )
    return Fold(name=name, mark=mark, title=f"{words}: answer", blocks=blocks)


def _marks(own: Sequence[Particle], front: Proposed | None, at: StepView) -> Marks:
    if (front is None or not front.accepted) and not at.end and any(each.proposed is None for each in own):
        return (("live", "being rewritten"),)
    return (outcome(front),) if front and (front.accepted or front.why != "unchanged") else ()


def _answered(event: Proposed | ParticleDrawn, name: str) -> Iterator[Fold]:
    """Yield the answer verbatim, each part in a fold. name: of the fold around them."""
    thoughts = [("what it thought first", event.thoughts)] if event.thoughts else []
    for title, words in (*thoughts, ("the whole answer", event.raw)):
        yield Fold(name=f"{name}-{title}", title=title, blocks=(Code(words),))


def outcome(proposed: Proposed) -> tuple[Mark, str]:
    is_fresh = proposed.origin == "prior"
    if proposed.why == "unparsable":
        return "abs", "rewrite refused" if proposed.refused else "rewrite unreadable"
    if proposed.why == "unchanged":
        return "same", "left as it is"
    if proposed.why == "taken":
        return "new", AFRESH if is_fresh else "rewritten"
    if proposed.accepted:
        return "acc", f"{AFRESH if is_fresh else 'rewritten'}, accepted"
    return "rej", "new draw rejected" if is_fresh else "rewrite rejected"


def decision_words(proposed: Proposed) -> str:
    """Eq. 9 in numbers; empty where nothing was compared."""
    own, new, log_alpha = proposed.log_likelihood, proposed.log_likelihood_proposal, proposed.log_alpha
    if own is None or new is None or log_alpha is None or proposed.u is None:
        return ""
    chance = percent(math.exp(min(0.0, log_alpha)), decimals=1)
    outcome_word = "accepted" if proposed.accepted else "rejected"
    return (
        f"Log-likelihood {fixed(new)}, before {fixed(own)}. Acceptance probability {chance}, drew "
        f"{percent(proposed.u, decimals=1)}: {outcome_word}."
    )


# What happened, in a sentence or two


def happened(view: RunView, step: int | None, config: Config, names: Names) -> str:
    """Describe a step, the first hypotheses (-1), or the end of the run (None); empty before there is something."""
    if step is None:
        return " ".join(_end(view, config))
    if step == INITIAL_STEP or step not in view.steps:
        return _beginning(view, config)
    at = view.steps[step]
    return " ".join((*_weighing(at, names), *_rewriting(at, config))) or "The hypotheses are being scored."


def _beginning(view: RunView, config: Config) -> str:
    drawn = list(view.draws.values())
    if not drawn:
        return ""
    if config.method in CHAINS_OF_VML:
        return "Every chain begins with the seed sentence."
    source = "the task alone" if config.starts_from_prior else "the first rows"
    origins = {"continued": "from the earlier run", "yours": "given by you", "drawn": f"written from {source}"}
    counts = Counter(each.origin for each in drawn)
    parts = [
        f"{in_words(n)} {'hypothesis' if n == 1 else 'hypotheses'} {origins[origin]}" for origin, n in counts.items()
    ]
    return capitalised(f"{', '.join(parts)}.")


def _weighing(at: StepView, names: Names) -> Iterator[str]:
    made = at.reweighting
    if made is None:
        return
    heaviest, share = next(iter(names.shares(at.step).items()))
    yield f"Hypothesis {heaviest} weighed most: {percent(share)}."
    if at.resampling is None:
        yield "Among the copies the weights are even enough: none is copied." if len(made.weights) > 1 else ""
        return
    copies = Counter(at.resampling.ancestors)
    dropped, several = len(made.weights) - len(copies), sum(n > 1 for n in copies.values())
    yield f"{capitalised(in_words(several))} copied, {in_words(dropped)} dropped." if dropped else "None was dropped."


def _rewriting(at: StepView, config: Config) -> Iterator[str]:
    made, so_far = list(at.proposals.values()), "" if at.end else " so far"
    if not made:
        return
    rewrites = f"{in_words(len(made))} {'rewrite' if len(made) == 1 else 'rewrites'}"
    n = sum(each.accepted for each in made)
    taken = f"{capitalised(in_words(n)) if n else 'None'} of {rewrites}"
    yield f"{taken} {'accepted' if config.is_filtered else 'taken'}{so_far}."


def _end(view: RunView, config: Config) -> Iterator[str]:
    last = view.last_step
    if last is None:
        return
    if last < view.total_steps - 1:
        yield f"The run ended after {steps_text(view)}{finish_words(view)}."
    if config.is_weighing:
        yield "Each hypothesis was weighed on all training rows."
    elif view.final is not None:
        where = "all training rows" if is_final_on_train(config) else "the last rows"
        yield f"The last hypotheses were weighed once more, each text once, on {where}."
    if (constant := constant_weight(view)) >= NOTICEABLE:
        yield f"A constant answer holds {percent(constant)} of the weight."


# Curves by step: how often the hypotheses are right, their effective sample size, and their weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Shares of the rows scored that the hypotheses of a step have right; for numbers their error, root mean square."""

    step: int
    best: float
    mean: float
    rows: frozenset[int]


def accuracies(view: RunView, dataset: Dataset) -> tuple[Accuracy, ...]:
    found = (at.once("accuracy", partial(_accuracy, at, dataset)) for _, at in sorted(view.steps.items()))
    return tuple(each for each in found if each is not None)


def _accuracy(at: StepView, dataset: Dataset) -> Accuracy | None:
    if not at.scores or not (at.reweighting or at.end):
        return None
    by_id, own = rows_by_id(dataset), dict[str, float]()

    def figure(scored: Scored) -> float:
        if scored.hypothesis not in own:
            found = score(scored.predictions, [by_id[row] for row in scored.rows], dataset)
            own[scored.hypothesis] = found.value if found.n_correct is not None else math.sqrt(found.value)
        return own[scored.hypothesis]

    values = [figure(scored) for scored in at.scores.values()]
    rows = frozenset(row for scored in at.scores.values() for row in scored.rows)
    best = max(values) if dataset.task == "classification" else min(values)
    return Accuracy(step=at.step, best=best, mean=sum(values) / len(values), rows=rows)


def accuracy_curve(view: RunView, dataset: Dataset, *, at: int | None) -> Curve:
    """Draw the best and the mean hypothesis of every step, and the prediction's test rows at the end."""
    scores, is_share = accuracies(view, dataset), dataset.task == "classification"
    evaluated = view.evaluations.get("test")
    test = None if evaluated is None else evaluated.value if is_share else math.sqrt(evaluated.value)
    looked_at = next((each for each in scores if each.step == at), scores[-1] if scores else None)

    def words(value: float) -> str:
        return percent(value) if is_share else number(value, 3)

    said = []
    if looked_at:
        said = [f"At step {looked_at.step + 1} the best is {words(looked_at.best)}, the mean {words(looked_at.mean)}"]
    said += [] if test is None else [f"test rows at the end: {words(test)}"]
    values = [*(value for each in scores for value in (each.best, each.mean)), *([] if test is None else [test])]
    low, high = 0.0, max(values, default=1.0) or 1.0
    if is_share:
        low, high = min(int(10 * min(values, default=0.0) + EQUAL) / 10, 0.9), 1.0
    axis = "Share of rows right" if is_share else "Off by"
    return Curve(
        title="How often they are right" if is_share else "How far they are off",
        words=axis,
        alt=f"{axis}, by step. {'; '.join(said) or 'No step yet'}.",
        lines={name: [(each.step + 1, getattr(each, name)) for each in scores] for name in ("mean", "best")},
        dots=[] if test is None else [(view.total_steps + 1, test, "test")],
        low=(low, words(low)),
        high=(high, words(high)),
        total=view.total_steps,
        at=None if at is None else at + 1,
    )


def ess_curve(view: RunView, *, at: int | None) -> Curve:
    """Draw the effective sample size by step, with dots where the particles were copied, and at the end."""
    past = {step: each.reweighting for step, each in sorted(view.steps.items()) if each.reweighting}
    limit = ESS_SHARE * (view.size or 1)
    dots = [(step + 1, made.ess, "copied") for step, made in past.items() if view.steps[step].resampling]
    final = ess_of_sentences(view) if view.has_ended else None
    words = f"Copies below {shortest(round(limit, 1))}"
    if at in past:
        words = f"{fixed(past[at].ess, 1)} of {len(past[at].weights)} · copies below {shortest(round(limit, 1))}"
    elif at is None and final is not None:
        words = f"Final weights: as even as {fixed(final, 1)} texts of equal weight"
    return Curve(
        title="Effective sample size",
        words=words,
        alt=f"Effective sample size by step: {counted(len(dots), 'step')} with copying. {words}.",
        lines={"best": [(step + 1, made.ess) for step, made in past.items()]},
        dots=[*dots, *([] if final is None else [(view.total_steps + 1, final, "end")])],
        low=(0.0, "0"),
        high=(float(view.size or 1), integer(view.size or 1)),
        limit=limit,
        total=view.total_steps,
        at=None if at is None else at + 1,
        height=96,
    )


def weights_curve(view: RunView, dataset: Dataset) -> Curve | None:
    """Draw the weights of the hypotheses that had most at some step, numbered as on Watch; None before two steps."""
    names = Names(view)
    moments = {step + 1: names.shares(step) for step, at in sorted(view.steps.items()) if at.reweighting}
    if len(moments) < 2:
        return None
    if view.has_ended and view.weights:
        every = hypotheses_of(view, dataset)
        numbers = names.end(every)
        moments[view.total_steps + 1] = {numbers[each.id]: each.weight for each in every}
    present = {number for shares in moments.values() for number in shares}
    peaks = sorted(present, key=lambda n: (-max(shares.get(n, 0.0) for shares in moments.values()), n))[:HUES]
    _, last = max(moments.items())
    heaviest = max(last, key=lambda number: last[number])
    lines = {n: [(step, shares.get(n, 0.0)) for step, shares in moments.items()] for n in peaks}
    return Curve(
        title="Weight by step",
        words="Numbered as on Watch",
        alt=f"Hypothesis {heaviest} ends heaviest, with {percent(last[heaviest])}.",
        lines={f"line l{place}": lines[n] for place, n in reversed([*enumerate(peaks)])},
        names=[str(n) for n in reversed(peaks)],
        low=(0.0, percent(0.0)),
        high=(1.0, percent(1.0)),
        total=view.total_steps,
        at=None,
    )
