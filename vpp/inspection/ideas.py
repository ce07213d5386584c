"""Ideas: hypotheses grouped by identical predictions, so that weight is not split over wordings."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.events import INITIAL_STEP, Evaluated, Scored, Votes
from vpp.inspection.scores import Score, rows_by_id, score
from vpp.inspection.slots import RecordedAnswers, behaviour, grouped, recorded_answers, totals
from vpp.runs.view import RunView, StepView

Origin = Literal["drawn", "continued", "yours"]
"""Origin of a first hypothesis."""
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
    origin: Origin = "drawn"
    """Origin of a first hypothesis; `drawn` for a later text too."""


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
    quoted: tuple[tuple[str, int], ...] = ()
    """Words that its explanations quote most, each with its number of rows; empty until `with_quotes` fills it."""

    @property
    def text(self) -> str:
        return self.wordings[0].text

    @property
    def shortest(self) -> Wording:
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
        return len(self.rows)

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(idea.weight for idea in self.all)

    @property
    def n_texts(self) -> int:
        return sum(len(idea.wordings) for idea in self.all)

    @property
    def n_particles(self) -> int:
        return sum(len(idea.slots) for idea in self.all)

    def of_slot(self, slot: int) -> int:
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A population, and what tells its particles apart: the one rule for the last population on every page."""

    step: int
    """Step that ended with the population."""
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
    evaluated = {each.split: each.rows for each in found.evaluations}
    maker = _IdeaMaker(view, dataset, found.known, evaluated | {"compared": found.rows})
    ideas = [
        maker.idea(slots, totals((population[slot], weights[slot]) for slot in slots))
        for slots in grouped(zip(found.keys, range(len(population)), strict=True)).values()
    ]
    ideas.sort(key=lambda idea: (-idea.weight, idea.slots))
    test_rows = {row.id for row in dataset.test}
    return Ideas(
        step=found.step,
        all=tuple(ideas),
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


class _IdeaMaker:
    """Builds an Idea, with its scores, from a group of particles."""

    def __init__(self, view: RunView, dataset: Dataset, known: RecordedAnswers, rows: Mapping[str, Sequence[int]]):
        """rows: ids by split evaluated, and of the rows compared."""
        self._texts = view.texts
        self._dataset = dataset
        self._known = known
        self._rows = rows
        self._by_id = rows_by_id(dataset)
        self._first = _first_held(view.finished_steps)
        self._drawn = view.drawn

    def idea(self, slots: Sequence[int], weights: Mapping[str, float]) -> Idea:
        """weights: by hypothesis id."""
        some, heaviest_first = next(iter(weights)), sorted(weights, key=lambda hypothesis: -weights[hypothesis])
        return Idea(
            weight=sum(weights.values()),
            wordings=tuple(self._wording(hypothesis, weights[hypothesis]) for hypothesis in heaviest_first),
            slots=tuple(slots),
            answers=tuple(self._known[some][row] for row in self._rows["compared"]),
            test=self._score("test", some),
            train=self._score("train", some),
            compared=self._score("compared", some),
        )

    def _wording(self, hypothesis: str, weight: float) -> Wording:
        step, slots = self._first[hypothesis]
        drawn = self._drawn.get(slots[0]) if step == INITIAL_STEP else None
        return Wording(
            text=self._texts[hypothesis],
            weight=weight,
            first_step=step,
            first_slots=slots,
            origin=drawn.origin if drawn else "drawn",
        )

    def _score(self, name: str, hypothesis: str) -> Score | None:
        ids = self._rows.get(name)
        if not ids:
            return None
        return score([self._known[hypothesis][row] for row in ids], [self._by_id[row] for row in ids], self._dataset)


def _first_held(steps: Sequence[StepView]) -> dict[str, tuple[int, tuple[int, ...]]]:
    first: dict[str, tuple[int, tuple[int, ...]]] = {}
    for step in steps:
        by_text = grouped((state.hypothesis, slot) for slot, state in enumerate(step.population))
        first |= {h: (step.step, tuple(slots)) for h, slots in by_text.items() if h not in first}
    return first
