"""Ideas: hypotheses grouped by identical predictions, so that weight is not split over wordings."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Scored, Votes
from vpp.inspection.scores import Score, behaviour, rows_by_id, score
from vpp.inspection.slots import slots_by_text
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView, StepView

Basis = Literal["evaluations", "step", "text"]
"""Basis of the grouping: answers to evaluated rows, else to rows that a step asked all hypotheses about, else texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One text of an idea."""

    text: str
    weight: float
    """Total weight of its particles."""
    first_step: int
    """First step that ended with it; -1 is the initial population."""
    first_slots: tuple[int, ...]
    """Slots with the text at the end of that step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Particles with the same answers to all rows compared."""

    weight: float
    """Total weight of its particles; all ideas' weights sum to 1."""
    wordings: tuple[Wording, ...]
    """Distinct texts, heaviest first."""
    slots: tuple[int, ...]
    """Slots of its particles, ascending."""
    answers: Votes = field(default=(), repr=False)
    """Answers to the rows compared, in their order."""
    test: Score | None = None
    """Score on the test rows; None before they are evaluated."""
    train: Score | None = None
    """Score on the training rows; None before all of them are evaluated."""
    compared: Score | None = None
    """Score on the rows compared; None if there are none."""

    @property
    def text(self) -> str:
        """Text of the heaviest wording."""
        return self.wordings[0].text

    @property
    def shortest(self) -> Wording:
        """Shortest wording; the heaviest of equal ones."""
        return min(self.wordings, key=lambda wording: len(wording.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    """The ideas of a population."""

    step: int
    """Step of the population; -1 is the initial one."""
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
        """Number of rows compared; 0 if only equal texts were merged."""
        return len(self.rows)

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the ideas, heaviest first."""
        return tuple(idea.weight for idea in self.all)

    @property
    def n_texts(self) -> int:
        """Number of distinct texts in the population."""
        return sum(len(idea.wordings) for idea in self.all)

    @property
    def n_particles(self) -> int:
        """K."""
        return sum(len(idea.slots) for idea in self.all)

    def of_slot(self, slot: int) -> int:
        """Number, from 0, of a particle's idea."""
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


def merge_ideas(view: RunView, dataset: Dataset, *, step: int | None = None) -> Ideas | None:
    """Group a population by answers: the last one with the final weights, or that of `step`.

    Compare the answers of all evaluations that cover every text; else those to the rows that the step, or the one after
    it, asked every text about; else merge equal texts only. Return None if the step is not finished.
    """
    finished = {each.step: each for each in view.finished_steps}
    at = view.last_step if step is None else step
    if at is None or at not in finished:
        return None
    population = tuple(state.hypothesis for state in finished[at].population)
    weights = view.weights if step is None else finished[at].weights
    evaluations = [each for each in view.evaluated.values() if set(population) <= set(each.hypotheses)]
    compared = _by_evaluations(evaluations) if evaluations else _by_scores(set(population), _scores_of(view, at))
    maker = _IdeaMaker(view, dataset, compared, {each.split: _answers(each) for each in evaluations})
    ideas = [maker.idea(group) for group in _grouped(population, weights, compared.answers)]
    ideas.sort(key=lambda idea: (-idea.weight, idea.slots))
    test_rows = {row.id for row in dataset.test}
    return Ideas(
        step=at,
        all=tuple(ideas),
        by=compared.by,
        rows=compared.rows,
        n_test_rows=sum(row in test_rows for row in compared.rows),
    )


def survivors(view: RunView, ideas: Ideas) -> dict[str, int]:
    """Map the id of every text, past or present, to the number of the current idea with the same answers.

    Omit texts without answers to all rows compared; empty if only texts were compared.
    """
    numbers = {behaviour(idea.answers): number for number, idea in enumerate(ideas)}
    known: dict[str, dict[int, Value | None]] = {}
    for _, evaluated in view.evaluations:
        for hypothesis, votes in _answers(evaluated).items():
            known.setdefault(hypothesis, {}).update(zip(evaluated.rows, votes, strict=True))
    rows = set(ideas.rows)
    complete = {h: votes for h, votes in known.items() if rows and votes.keys() >= rows}
    keys = {hypothesis: behaviour(votes[row] for row in ideas.rows) for hypothesis, votes in complete.items()}
    return {hypothesis: numbers[key] for hypothesis, key in keys.items() if key in numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """Answers of a population's texts to the same rows."""

    by: Basis
    rows: tuple[int, ...] = ()
    answers: Mapping[str, Votes] = field(default_factory=dict)
    """Answers by hypothesis id, in the order of `rows`."""


def _by_evaluations(evaluations: Sequence[Evaluated]) -> _Comparison:
    answers: dict[str, Votes] = {}
    for each in evaluations:
        for hypothesis, votes in _answers(each).items():
            answers[hypothesis] = (*answers.get(hypothesis, ()), *votes)
    rows = tuple(row for each in evaluations for row in each.rows)
    complete = {hypothesis: votes for hypothesis, votes in answers.items() if len(votes) == len(rows)}
    return _Comparison(by="evaluations", rows=rows, answers=complete)


def _scores_of(view: RunView, at: int) -> Iterator[Scored]:
    """Yield the scores of a step's texts, and those of its population in the next step or for the final weights."""
    step = view.steps[at]
    yield from (*step.scored.values(), *step.proposals_scored.values())
    later = view.steps.get(at + 1)
    yield from later.scored.values() if later else ()
    yield from view.final_scored.values() if at == view.last_step else ()


def _by_scores(population: set[str], scores: Iterator[Scored]) -> _Comparison:
    known: dict[str, dict[int, Value | None]] = {hypothesis: {} for hypothesis in population}
    for scored in scores:
        if scored.hypothesis in known:
            known[scored.hypothesis].update(zip(scored.rows, scored.predictions, strict=True))
    rows = tuple(sorted(set.intersection(*(set(answers) for answers in known.values()))))
    if not rows:
        return _Comparison(by="text")
    answers = {hypothesis: tuple(answers[row] for row in rows) for hypothesis, answers in known.items()}
    return _Comparison(by="step", rows=rows, answers=answers)


@dataclass(slots=True)
class _Group:
    slots: list[int] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    """Weight by hypothesis id."""


def _answers(evaluated: Evaluated) -> dict[str, Votes]:
    """Answers by hypothesis id."""
    return dict(zip(evaluated.hypotheses, evaluated.predictions, strict=True))


def _grouped(population: tuple[str, ...], weights: tuple[float, ...], answers: Mapping[str, Votes]) -> Iterator[_Group]:
    """Group particles that gave the same answers; without answers, those of the same text."""
    groups: dict[Hashable, _Group] = {}
    for slot, (hypothesis, weight) in enumerate(zip(population, weights, strict=True)):
        group = groups.setdefault(behaviour(answers[hypothesis]) if answers else hypothesis, _Group())
        group.slots.append(slot)
        group.weights[hypothesis] = group.weights.get(hypothesis, 0.0) + weight
    yield from groups.values()


class _IdeaMaker:
    """Builds an Idea, with its scores, from a group of particles."""

    def __init__(
        self, view: RunView, dataset: Dataset, compared: _Comparison, evaluated: Mapping[str, Mapping[str, Votes]]
    ) -> None:
        self._texts = view.texts
        self._dataset = dataset
        self._compared = compared
        self._evaluated = evaluated
        self._first = _first_held(view.finished_steps)
        by_id = rows_by_id(dataset)
        rows = {split: each.rows for split, each in view.evaluated.items()} | {"compared": compared.rows}
        self._rows = {name: tuple(by_id[row] for row in ids) for name, ids in rows.items()}

    def idea(self, group: _Group) -> Idea:
        some = next(iter(group.weights))
        answers = self._compared.answers.get(some, ())
        return Idea(
            weight=sum(group.weights.values()),
            wordings=tuple(self._wording(*item) for item in sorted(group.weights.items(), key=lambda item: -item[1])),
            slots=tuple(group.slots),
            answers=answers,
            test=self._score("test", some),
            train=self._score("train", some),
            compared=score(answers, self._rows["compared"], self._dataset) if answers else None,
        )

    def _wording(self, hypothesis: str, weight: float) -> Wording:
        step, slots = self._first[hypothesis]
        return Wording(text=self._texts[hypothesis], weight=weight, first_step=step, first_slots=slots)

    def _score(self, split: str, hypothesis: str) -> Score | None:
        if split not in self._evaluated:
            return None
        return score(self._evaluated[split][hypothesis], self._rows[split], self._dataset)


def _first_held(steps: Sequence[StepView]) -> dict[str, tuple[int, tuple[int, ...]]]:
    """First step that ended with each text, and its slots then, by hypothesis id."""
    first: dict[str, tuple[int, tuple[int, ...]]] = {}
    for step in steps:
        by_text = slots_by_text((slot, state.hypothesis) for slot, state in enumerate(step.population))
        first |= {hypothesis: (step.step, slots) for hypothesis, slots in by_text.items() if hypothesis not in first}
    return first
