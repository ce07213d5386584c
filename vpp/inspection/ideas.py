"""Ideas: particles that answer alike are one idea, so that weight is not split over wordings."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Scored, Votes
from vpp.inspection.behaviour import behaviour
from vpp.inspection.scores import Score, rows_by_id, score
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView, StepView

Basis = Literal["evaluations", "step", "text"]
"""What ideas are told apart by: the evaluated rows; else the rows that a step asked all of them about; else words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One text of an idea."""

    text: str
    weight: float
    """Summed over the particles that hold it."""
    first_step: int
    """The first step at whose end a particle held it; -1 for the first draw."""
    first_slots: tuple[int, ...]
    """The particles that held it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Particles with the same answers on all rows compared."""

    weight: float
    """Summed over the particles; all ideas' weights sum to 1."""
    wordings: tuple[Wording, ...]
    """Each text once, heaviest first; the first stands for the idea."""
    slots: tuple[int, ...]
    """The particles, ascending."""
    answers: Votes = field(default=(), repr=False)
    """To the rows compared, in their order."""
    test: Score | None = None
    """On the test rows; None before they are evaluated."""
    train: Score | None = None
    """On the training rows; None before all of them are evaluated."""
    compared: Score | None = None
    """On the rows compared; None where there are none."""

    @property
    def text(self) -> str:
        """The heaviest wording."""
        return self.wordings[0].text

    @property
    def shortest(self) -> Wording:
        """The shortest wording, the heaviest of equal ones."""
        return min(self.wordings, key=lambda wording: len(wording.text))

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct wordings, heaviest first."""
        return tuple(wording.text for wording in self.wordings)

    @property
    def text_weights(self) -> tuple[float, ...]:
        """Weight of each wording."""
        return tuple(wording.weight for wording in self.wordings)

    @property
    def n_correct_test(self) -> int | None:
        """Test rows it gets right; None for regression, and before they are evaluated."""
        return self.test.n_correct if self.test else None

    @property
    def n_test(self) -> int | None:
        """Test rows evaluated."""
        return self.test.n if self.test else None

    @property
    def mse_test(self) -> float | None:
        """Its mean squared error on the test rows; None for classification."""
        return self.test.mse if self.test else None

    @property
    def n_abstained_test(self) -> int:
        """Test rows without a readable answer."""
        return self.test.n_abstained if self.test else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    """A population, merged."""

    step: int
    """The whole step after which the population stood; -1 is the initial one."""
    all: tuple[Idea, ...]
    """Heaviest first."""
    by: Basis = "text"
    rows: tuple[int, ...] = ()
    """Ids of the rows on which answers were compared, each once; none where only equal texts could be merged."""
    n_test_rows: int = 0
    """How many of them are test rows; the others are training rows."""

    def __iter__(self) -> Iterator[Idea]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def n_rows(self) -> int:
        """Rows on which answers were compared; 0 where only equal texts could be merged."""
        return len(self.rows)

    @property
    def weights(self) -> tuple[float, ...]:
        """Heaviest first."""
        return tuple(idea.weight for idea in self.all)

    @property
    def n_texts(self) -> int:
        """Distinct texts in the population."""
        return sum(len(idea.wordings) for idea in self.all)

    @property
    def n_particles(self) -> int:
        """K."""
        return sum(len(idea.slots) for idea in self.all)

    def of_slot(self, slot: int) -> int:
        """The number, from 0, of the idea that a particle holds."""
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


def merge_ideas(view: RunView, dataset: Dataset, *, step: int | None = None) -> Ideas | None:
    """The population after a whole step merged by answers: the last one with the final weights, or `step`'s own.

    Compared on every evaluation that covers all its texts; where there is none, on the rows that this step, or what
    came after it so far, asked every text about; where there are none, only equal texts are merged.
    None before the first population is whole, or where `step` is not.
    """
    whole = {finished.step: finished for finished in view.finished_steps}
    at = view.last_step if step is None else step
    if at is None or at not in whole:
        return None
    population = tuple(state.hypothesis for state in whole[at].population)
    weights = view.weights if step is None else whole[at].weights
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
    """By hypothesis id, the number from 0 of the idea that a text answers as, on all the rows compared.

    Texts whose answers to some of them were never asked for are left out; so are all, where texts alone were compared.
    """
    numbers = {behaviour(idea.answers): number for number, idea in enumerate(ideas)}
    known: dict[str, dict[int, Value | None]] = {}
    for _, evaluated in view.evaluations:
        for hypothesis, votes in _answers(evaluated).items():
            known.setdefault(hypothesis, {}).update(zip(evaluated.rows, votes, strict=True))
    rows = set(ideas.rows)
    told = {h: behaviour(said[row] for row in ideas.rows) for h, said in known.items() if rows and said.keys() >= rows}
    return {hypothesis: numbers[said] for hypothesis, said in told.items() if said in numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """What the texts of a population said of the same rows."""

    by: Basis
    rows: tuple[int, ...] = ()
    answers: Mapping[str, Votes] = field(default_factory=dict)
    """By hypothesis id, in the order of `rows`."""


def _by_evaluations(evaluations: Sequence[Evaluated]) -> _Comparison:
    answers: dict[str, Votes] = {}
    for each in evaluations:
        for hypothesis, votes in _answers(each).items():
            answers[hypothesis] = (*answers.get(hypothesis, ()), *votes)
    rows = tuple(row for each in evaluations for row in each.rows)
    whole = {hypothesis: votes for hypothesis, votes in answers.items() if len(votes) == len(rows)}
    return _Comparison(by="evaluations", rows=rows, answers=whole)


def _scores_of(view: RunView, at: int) -> Iterator[Scored]:
    """What was asked in a step, and of the population it left in the next one or for the final weights."""
    step = view.steps[at]
    yield from (*step.scored.values(), *step.proposals_scored.values())
    later = view.steps.get(at + 1)
    yield from later.scored.values() if later else ()
    yield from view.final_scored.values() if at == view.last_step else ()


def _by_scores(population: set[str], scores: Iterator[Scored]) -> _Comparison:
    said: dict[str, dict[int, Value | None]] = {hypothesis: {} for hypothesis in population}
    for scored in scores:
        if scored.hypothesis in said:
            said[scored.hypothesis].update(zip(scored.rows, scored.predictions, strict=True))
    rows = tuple(sorted(set.intersection(*(set(answers) for answers in said.values()))))
    if not rows:
        return _Comparison(by="text")
    answers = {hypothesis: tuple(answers[row] for row in rows) for hypothesis, answers in said.items()}
    return _Comparison(by="step", rows=rows, answers=answers)


@dataclass(slots=True)
class _Group:
    slots: list[int] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    """By hypothesis id."""


def _answers(evaluated: Evaluated) -> dict[str, Votes]:
    """By hypothesis id."""
    return dict(zip(evaluated.hypotheses, evaluated.predictions, strict=True))


def _grouped(population: tuple[str, ...], weights: tuple[float, ...], answers: Mapping[str, Votes]) -> Iterator[_Group]:
    groups: dict[Hashable, _Group] = {}
    for slot, (hypothesis, weight) in enumerate(zip(population, weights, strict=True)):
        group = groups.setdefault(behaviour(answers[hypothesis]) if answers else hypothesis, _Group())
        group.slots.append(slot)
        group.weights[hypothesis] = group.weights.get(hypothesis, 0.0) + weight
    yield from groups.values()


class _IdeaMaker:
    """Tells what is known of a group of particles."""

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
    """By hypothesis id, the first step at whose end a slot held it, and the slots that then did."""
    first: dict[str, tuple[int, tuple[int, ...]]] = {}
    for step in steps:
        held: dict[str, tuple[int, ...]] = {}
        for slot, state in enumerate(step.population):
            held[state.hypothesis] = (*held.get(state.hypothesis, ()), slot)
        first |= {hypothesis: (step.step, slots) for hypothesis, slots in held.items() if hypothesis not in first}
    return first
