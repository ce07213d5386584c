"""Ideas: hypotheses grouped by identical predictions, so that weight is not split over wordings; and their nearness.

Similarities of answers lie between 0 and 1. For labels it is the fraction of rows with equal answers; for numbers, 1
minus the root mean squared difference of the answers in units of the target's range. Two abstentions are equal; an
abstention and an answer differ by the most that is possible, for numbers the full range, as when it is scored.

Groups are made by complete linkage (Defays 1977): the similarity of two groups is that of their least similar pair.
So within a group any two members are at least as similar as the threshold, which is what the count of groups says.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import INITIAL_STEP, Evaluated, Scored, Votes
from vpp.findings.scores import (
    RecordedAnswers,
    Score,
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
from vpp.runs.view import RunView, priors

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
    """Ascending."""
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
    step: int
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

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(idea.weight for idea in self.all)

    @property
    def n_texts(self) -> int:
        return sum(len(idea.wordings) for idea in self.all)

    def of_slot(self, slot: int) -> int:
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A population, and what tells its particles apart: the one rule for the last population on every page."""

    step: int
    population: tuple[str, ...]
    """Hypothesis id by slot."""
    keys: tuple[Hashable, ...]
    """By slot: equal for the same answers to all rows compared; without such rows, for the same text."""
    by: Basis
    rows: tuple[int, ...]
    """Ids of the rows compared, each once."""
    evaluations: tuple[Evaluated, ...]
    """Evaluations that cover every text."""
    known: RecordedAnswers


def compare(view: RunView, *, step: int | None = None) -> Compared | None:
    """Tell the last population's particles apart, or those of `step`; None if that step is not finished.

    Compare the answers of all evaluations that cover every text; else those to the rows that the step, or the one after
    it, asked every text about; else the texts.
    """
    at = view.last_step if step is None else step
    if at is None or at not in view.steps or not view.steps[at].finished:
        return None
    population = tuple(state.hypothesis for state in view.steps[at].population)
    judged = (each for each in view.evaluated.values() if each.split != "calibration")
    evaluations = tuple(each for each in judged if set(population) <= set(each.hypotheses))
    known = recorded_answers(evaluations or _scores_of(view, at))
    answered = [known.get(hypothesis, {}) for hypothesis in population]
    rows = tuple(row for row in answered[0] if all(row in answers for answers in answered))
    return Compared(
        step=at,
        population=population,
        keys=tuple(behaviour(answers[row] for row in rows) for answers in answered) if rows else population,
        by="evaluations" if evaluations else "step" if rows else "text",
        rows=rows,
        evaluations=evaluations,
        known=known,
    )


def merge_ideas(view: RunView, dataset: Dataset, *, step: int | None = None) -> Ideas | None:
    """Group a population by `compare`: the last one with the final weights, or that of `step`.

    Return None if the step is not finished.
    """
    found = compare(view, step=step)
    if found is None:
        return None
    population, weights = found.population, view.weights if step is None else view.steps[step].weights
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
        step=found.step,
        all=tuple(sorted(ideas, key=lambda idea: (-idea.weight, idea.slots))),
        by=found.by,
        rows=found.rows,
        n_test_rows=sum(row in test_rows for row in found.rows),
    )


def survivors(view: RunView, ideas: Ideas) -> dict[str, int]:
    """Map the id of every text, past or present, to the number of the current idea with the same answers.

    Omit texts without answers to all rows compared; empty if only texts were compared.
    """
    if not ideas.rows:
        return {}
    numbers = {behaviour(idea.answers): number for number, idea in enumerate(ideas)}
    known = recorded_answers(evaluated for _, evaluated in view.evaluations)
    keys = {h: behaviour(map(votes.get, ideas.rows)) for h, votes in known.items() if votes.keys() >= set(ideas.rows)}
    return {hypothesis: numbers[key] for hypothesis, key in keys.items() if key in numbers}


def _scores_of(view: RunView, at: int) -> Iterator[Scored]:
    """Yield the scores of a step's texts, and those of its population in the next step or for the final weights."""
    step = view.steps[at]
    yield from (*step.scored.values(), *step.proposals_scored.values())
    later = view.steps.get(at + 1)
    yield from later.scored.values() if later else ()
    yield from view.final_scored.values() if at == view.last_step else ()


# Agreement between ideas


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    n: int
    """Ideas compared: the heaviest, at most `MOST`."""
    similarity: Floats
    """(n, n) between 0 and 1, by number of the idea."""

    def groups(self, threshold: float = NEAR) -> tuple[tuple[int, ...], ...]:
        """Numbers of the ideas by group; those of a group agree pairwise at least `threshold` (0 to 1)."""
        return groups_at(self.similarity, threshold=threshold)


def nearness(ideas: Ideas, dataset: Dataset) -> Nearness | None:
    if not ideas.rows:
        return None
    answers, is_label = [idea.answers for idea in ideas.all[:MOST]], dataset.task == "classification"
    similarity = share_alike(answers) if is_label else closeness(answers, span=dataset.target_range)
    return Nearness(n=len(answers), similarity=similarity)


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


def groups_at(similarity: Floats, *, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Members by group; any two members of a group are at least `threshold` similar. similarity: (n, n) symmetric."""
    groups, alike = [[place] for place in range(len(similarity))], np.array(similarity)
    np.fill_diagonal(alike, -1.0)
    while len(groups) > 1 and alike.max() >= threshold:
        one, other = sorted(divmod(int(alike.argmax()), len(groups)))
        groups[one] += groups.pop(other)
        alike[one] = alike[:, one] = np.minimum(alike[one], alike[other])
        alike = np.delete(np.delete(alike, other, axis=0), other, axis=1)
    return tuple(tuple(sorted(members)) for members in groups)
