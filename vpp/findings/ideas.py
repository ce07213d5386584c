"""Hypotheses grouped by identical predictions, so that weight is not split over wordings; their similarity and number.

Similarities of answers lie between 0 and 1. For labels it is the fraction of rows with equal answers; for numbers, 1
minus the root mean squared difference of the answers in units of the target's range. Two abstentions are equal; an
abstention and an answer differ by the most that is possible, for numbers the full range, as when it is scored.

Groups are made by complete linkage (Defays 1977): the similarity of two groups is that of their least similar pair.
So within a group any two members are at least as similar as the threshold, which is what the count of groups says.

A step weighs the particles on the last rows, may copy the heavy ones in place of the light ones, and rewrites each.
Particles with the same answers are one hypothesis. It gets its number when it first appears. The shortest of its texts
stands for it, and stays while a particle holds it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import INITIAL_STEP, Evaluated, Proposed, Scored, Votes
from vpp.findings.scores import (
    RecordedAnswers,
    Score,
    answers_of,
    behaviour,
    grouped,
    noise,
    recorded_answers,
    rows_by_id,
    score,
    totals,
)
from vpp.posterior.likelihood import Noise
from vpp.posterior.weights import Floats
from vpp.runs.view import RunView, StepView, priors

Origin = Literal["drawn", "continued", "yours"]
Basis = Literal["evaluations", "step", "text"]
"""Basis of the grouping: answers to evaluated rows, else to rows that a step asked all hypotheses about, else texts."""
MOST = 50
"""Most ideas whose similarity is compared; the heaviest are."""
NEAR = 0.95
"""Agreement from which ideas count as one explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    text: str
    weight: float
    first_step: int
    """First step that ended with it; -1 is the initial population."""
    first_slots: tuple[int, ...]
    """Slots with the text at the end of that step."""
    origin: Origin = "drawn"
    """Origin of a first hypothesis; `drawn` for a later text too."""
    prior: float | None = None
    """Prior probability of a sentence that is only weighed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Particles with the same answers to all rows compared."""

    weight: float
    """All weights and the constant answer's sum to 1."""
    wordings: tuple[Wording, ...]
    """Distinct texts, heaviest first."""
    slots: tuple[int, ...]
    answers: Votes = field(default=(), repr=False)
    """Answers to the rows compared, in their order."""
    test: Score | None = None
    """None before the test rows are evaluated."""
    train: Score | None = None
    """None before all training rows are evaluated."""
    noise: Noise | None = None
    """Estimated from the training rows; None before these are evaluated."""
    compared: Score | None = None
    """On the rows compared; None if there are none."""

    @property
    def text(self) -> str:
        return self.wordings[0].text

    @property
    def prior(self) -> float | None:
        """Of its wordings together."""
        priors = [wording.prior for wording in self.wordings if wording.prior is not None]
        return sum(priors) if priors else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    all: tuple[Idea, ...]
    """Heaviest first."""
    by: Basis = "text"
    rows: tuple[int, ...] = ()
    """Ids of the rows compared, each once; empty if only equal texts were merged."""
    n_test_rows: int = 0
    """Test rows among them; the others are training rows."""

    def __iter__(self) -> Iterator[Idea]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def of_slot(self, slot: int) -> int:
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The last population, and what tells its particles apart: the one rule on every page."""

    population: tuple[str, ...]
    """Hypothesis id by slot."""
    keys: tuple[Hashable, ...]
    """By slot: equal for the same answers to all rows compared; without such rows, for the same text."""
    by: Basis
    rows: tuple[int, ...]
    evaluations: tuple[Evaluated, ...]
    known: RecordedAnswers


def compare(view: RunView) -> Compared | None:
    """Tell the last population's particles apart; None before the first step is finished.

    Compare the answers of all evaluations that cover every text; else those to the rows that the last step, the one
    begun since, or the final weights asked every text about; else the texts.
    """
    if view.last_step is None or not view.population:
        return None
    population = tuple(state.hypothesis for state in view.population)
    judged = (each for each in view.evaluated.values() if each.split != "calibration")
    evaluations = tuple(each for each in judged if set(population) <= set(each.hypotheses))
    known = recorded_answers(evaluations or _last_scores(view, view.last_step))
    answered = [known.get(hypothesis, {}) for hypothesis in population]
    rows = tuple(row for row in answered[0] if all(row in answers for answers in answered))
    return Compared(
        population=population,
        keys=tuple(behaviour(answers[row] for row in rows) for answers in answered) if rows else population,
        by="evaluations" if evaluations else "step" if rows else "text",
        rows=rows,
        evaluations=evaluations,
        known=known,
    )


def merge_ideas(view: RunView, dataset: Dataset) -> Ideas | None:
    """Group the last population by `compare`; None before there is one."""
    found = compare(view)
    if found is None:
        return None
    population, weights = found.population, view.weights
    rows = {each.split: each.rows for each in found.evaluations} | {"compared": found.rows}
    by_id, before, first = rows_by_id(dataset), priors(view), dict[str, tuple[int, list[int]]]()
    for held in view.finished_steps:
        for text, slots in grouped((state.hypothesis, slot) for slot, state in enumerate(held.population)).items():
            first.setdefault(text, (held.step, slots))

    def wording(hypothesis: str, weight: float) -> Wording:
        step, slots = first[hypothesis]
        drawn = view.drawn.get(slots[0]) if step == INITIAL_STEP else None
        return Wording(
            text=view.texts[hypothesis],
            weight=weight,
            first_step=step,
            first_slots=tuple(slots),
            origin=drawn.origin if drawn else "drawn",
            prior=sum(before[slot] for slot in slots) if before else None,
        )

    def answers_on(name: Literal["test", "train", "compared"], hypothesis: str) -> tuple[Votes, list[Row]]:
        ids = rows.get(name, ())
        return tuple(found.known[hypothesis][row] for row in ids), [by_id[row] for row in ids]

    def score_on(name: Literal["test", "train", "compared"], hypothesis: str) -> Score | None:
        answers, scored = answers_on(name, hypothesis)
        return score(answers, scored, dataset) if answers else None

    ideas = []
    for slots in grouped(zip(found.keys, range(len(population)), strict=True)).values():
        shares, some = totals((population[slot], weights[slot]) for slot in slots), population[slots[0]]
        heaviest_first = sorted(shares.items(), key=lambda each: -each[1])
        idea = Idea(
            weight=sum(shares.values()),
            wordings=tuple(wording(each, share) for each, share in heaviest_first),
            slots=tuple(slots),
            answers=tuple(found.known[some][row] for row in found.rows),
            test=score_on("test", some),
            train=score_on("train", some),
            noise=noise(*answers_on("train", some), dataset) if "train" in rows else None,
            compared=score_on("compared", some),
        )
        ideas.append(idea)
    test_rows = {row.id for row in dataset.test}
    return Ideas(
        all=tuple(sorted(ideas, key=lambda idea: (-idea.weight, idea.slots))),
        by=found.by,
        rows=found.rows,
        n_test_rows=sum(row in test_rows for row in found.rows),
    )


def _last_scores(view: RunView, at: int) -> Iterator[Scored]:
    """Yield the scores of the last step's texts, and those for the step begun since and for the final weights."""
    for step in (view.steps[at], view.steps.get(at + 1, StepView(step=at + 1))):
        yield from (*step.scored.values(), *(step.proposals_scored.values() if step.step == at else ()))
    yield from view.final_scored.values()


# Agreement between ideas


def similarity(ideas: Ideas, dataset: Dataset) -> Floats | None:
    """(n, n) between 0 and 1, of the heaviest ideas, at most `MOST`; None if only texts were compared."""
    if not ideas.rows:
        return None
    answers = [idea.answers for idea in ideas.all[:MOST]]
    return share_alike(answers) if dataset.classes else closeness(answers, span=dataset.target_range)


def share_alike(answers: Sequence[Votes]) -> Floats:
    """(n, n) fraction of rows on which two hypotheses answer alike. answers: n of N labels each, N at least 1."""
    _, flat = np.unique([repr(answer) for votes in answers for answer in votes], return_inverse=True)
    codes = flat.reshape(len(answers), -1)
    return np.array([(codes == own).mean(axis=1) for own in codes], dtype=np.float64)


def closeness(answers: Sequence[Votes], *, span: float) -> Floats:
    """(n, n) 1 minus the root mean squared difference in units of `span`, at least 0. answers: n of N numbers each.

    An abstention is a span off any answer. With a span of 0 it is 1 for no difference and else 0.
    """
    f = np.array([[np.nan if a is None else float(a) for a in votes] for votes in answers], dtype=np.float64)
    silent = np.isnan(f)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = (np.where(silent | own, span * (silent != own), f - f[i]) for i, own in enumerate(silent))
        # d = sqrt(1/N sum_i (f(x_i; theta_a) - f(x_i; theta_b))^2)
        d = np.array([np.sqrt(np.mean(np.square(each), axis=1)) for each in apart])
        return np.asarray(1 - np.minimum(1.0, d / span) if span > 0 else d == 0, dtype=np.float64)


def groups_at(similarity: Floats, *, threshold: float = NEAR) -> tuple[tuple[int, ...], ...]:
    """Members by group; any two members of a group are at least `threshold` similar. similarity: (n, n) symmetric."""
    groups, alike = [[place] for place in range(len(similarity))], np.array(similarity)
    np.fill_diagonal(alike, -1.0)
    while len(groups) > 1 and alike.max() >= threshold:
        one, other = sorted(divmod(int(alike.argmax()), len(groups)))
        groups[one] += groups.pop(other)
        alike[one] = alike[:, one] = np.minimum(alike[one], alike[other])
        alike = np.delete(np.delete(alike, other, axis=0), other, axis=1)
    return tuple(tuple(sorted(members)) for members in groups)


# The particles in each phase of a step, and the number that every hypothesis keeps for the whole run

Phase = Literal["weigh", "copy", "rewrite"]
Moment = tuple[int, Phase] | Literal["first", "end"]
Groups = Sequence[Sequence[str]]
"""Hypothesis ids with the same answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    slot: int
    hypothesis: str
    parent: str
    """The hypothesis that it was when the step weighed it."""
    scored: Scored | None
    """None if it is not scored yet, as a text that a method without an accept step has just taken."""
    weight: float | None
    """None before the first weights, and of a chain."""
    proposed: Proposed | None = None
    """The rewriting of this slot, in the last phase."""


def phases(at: StepView) -> tuple[Phase, ...]:
    """Return the phases that a step has begun, in order; a chain has the last alone."""
    if not at.scored:
        return ()
    if at.reweighted is None:
        return ("rewrite",)
    copied: tuple[Phase, ...] = ("copy",) if at.resampled else ()
    return ("weigh", *copied, *(("rewrite",) if at.proposed else ()))


def held(at: StepView, phase: Phase) -> list[Held]:
    weights = at.reweighted.weights if at.reweighted else None
    if phase == "weigh" or at.resampled is None:
        ancestors: Sequence[int] = sorted(at.scored)
    else:
        ancestors, weights = at.resampled.ancestors, (1 / len(at.resampled.ancestors),) * len(at.resampled.ancestors)
    found = []
    for place, ancestor in enumerate(ancestors):
        scored = at.scored[ancestor]
        slot = ancestor if at.resampled is None or phase == "weigh" else place
        proposed = at.proposed.get(slot) if phase == "rewrite" else None
        weight = weights[slot] if weights else None
        now: Scored | None = scored
        hypothesis = parent = scored.hypothesis
        if proposed and proposed.accepted and proposed.proposal:
            hypothesis, now = proposed.proposal, at.proposals_scored.get(slot)
        found.append(
            Held(slot=slot, hypothesis=hypothesis, parent=parent, scored=now, weight=weight, proposed=proposed)
        )
    return found


@dataclass(frozen=True, slots=True)
class Named:
    numbers: Mapping[str, int]
    """By hypothesis id: that of the hypothesis with its answers."""
    faces: Mapping[int, str]
    """Id of the text that stands for each."""


class Names:
    def __init__(self, view: RunView) -> None:
        self._view = view
        self._own: dict[str, int] = {}
        self._faces: dict[int, str] = {}
        first = dict.fromkeys(each.hypothesis for each in view.drawn.values())
        self._moments: dict[Moment, Named] = {"first": self._take([[text] for text in first])}
        for step, at in sorted(view.steps.items()):
            for phase in phases(at):
                if phase != "copy":
                    self._moments[step, phase] = self._take(at.once(f"groups {phase}", partial(_groups, at, phase)))
        if found := compare(view):
            self._moments["end"] = self._take(_grouped(zip(found.population, found.keys, strict=True)))

    def at(self, moment: Moment) -> Named:
        return self._moments[(moment[0], "weigh") if not isinstance(moment, str) and moment[1] == "copy" else moment]

    def before(self, step: int) -> Named:
        """Return the names at the end of the step before, or of the first hypotheses."""
        return self._moments.get((step - 1, "rewrite")) or self._moments["first"]

    def numbers_at(self, step: int) -> set[int]:
        return set(self.at((step, phases(self._view.steps[step])[0])).numbers.values())

    def heaviest(self, step: int) -> tuple[int | None, float]:
        """Return the number of the heaviest hypothesis of a step, and its weight; (None, 0) without weights."""
        at = self._view.steps[step]
        if at.reweighted is None:
            return None, 0.0
        numbers = self.at((step, "weigh")).numbers
        shares = totals((numbers[each.hypothesis], each.weight or 0.0) for each in held(at, "weigh"))
        number = max(shares, key=lambda each: (shares[each], -each))
        return number, shares[number]

    def _take(self, groups: Groups) -> Named:
        numbers: dict[str, int] = {}
        faces: dict[int, str] = {}
        group_of = {text: place for place, group in enumerate(groups) for text in group}
        for place, group in enumerate(groups):
            number = self._number(place, group, group_of, faces)
            if self._faces.get(number) not in group:
                self._faces[number] = min(group, key=lambda each: (len(self._view.texts[each]), each))
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


def _groups(at: StepView, phase: Phase) -> Groups:
    """Return the hypotheses of a phase by their answers; one that is not scored yet is alone."""
    particles = held(at, phase)
    return _grouped((each.hypothesis, answers_of(each.scored) if each.scored else each.slot) for each in particles)


def _grouped(keyed: Iterable[tuple[str, Hashable]]) -> Groups:
    """Group hypotheses by their keys. One that was scored on several sets of rows counts with the first."""
    keys: dict[str, Hashable] = {}
    for hypothesis, key in keyed:
        keys.setdefault(hypothesis, key)
    return list(grouped((key, hypothesis) for hypothesis, key in keys.items()).values())
