"""Ideas: particles that answer alike are one idea, so that weight is not split over wordings."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Votes
from vpp.inspection.scores import Score, rows_of, score
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView

DIGITS = 9
"""Numbers equal to so many significant digits are the same answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Particles with the same answers on all rows compared."""

    weight: float
    """Summed over the particles; all ideas' weights sum to 1."""
    texts: tuple[str, ...]
    """Distinct wordings, heaviest first; the first stands for the idea."""
    text_weights: tuple[float, ...]
    """Weight of each wording."""
    slots: tuple[int, ...]
    """The particles, ascending."""
    n_correct_test: int | None = None
    """Test rows it gets right; None for regression, and before they are evaluated."""
    n_test: int | None = None
    mse_test: float | None = None
    """Its mean squared error on the test rows; None for classification."""
    n_abstained_test: int = 0

    @property
    def text(self) -> str:
        """The heaviest wording."""
        return self.texts[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    """A population, merged."""

    step: int
    """The whole step after which the population stood; -1 is the initial one."""
    all: tuple[Idea, ...]
    """Heaviest first."""
    n_rows: int
    """Rows on which answers were compared; 0 where only equal texts could be merged."""

    def __iter__(self) -> Iterator[Idea]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def weights(self) -> tuple[float, ...]:
        """Heaviest first."""
        return tuple(idea.weight for idea in self.all)

    @property
    def n_texts(self) -> int:
        """Distinct texts in the population."""
        return sum(len(idea.texts) for idea in self.all)

    def of_slot(self, slot: int) -> int:
        """The number, from 0, of the idea that a particle holds."""
        return next(number for number, idea in enumerate(self.all) if slot in idea.slots)


def merge_ideas(view: RunView, dataset: Dataset, *, step: int | None = None) -> Ideas | None:
    """The population after a whole step merged by answers: the last one with the final weights, or `step`'s own.

    Compared on every evaluation that covers all its texts; where there is none, only equal texts are merged.
    None before the first population is whole, or where `step` is not.
    """
    whole = {finished.step: finished for finished in view.finished_steps}
    at = view.last_step if step is None else step
    if at is None or at not in whole:
        return None
    population = tuple(state.hypothesis for state in whole[at].population)
    weights = view.weights if step is None else whole[at].weights
    evaluations = [each for each in view.evaluated.values() if set(population) <= set(each.hypotheses)]
    groups = _grouped(population, weights, [_answers(each) for each in evaluations])
    test = next((each for each in evaluations if each.split == "test"), None)
    ideas = [_idea(group, view, _score(test, group, dataset)) for group in groups]
    ideas.sort(key=lambda idea: (-idea.weight, idea.slots))
    return Ideas(step=at, all=tuple(ideas), n_rows=sum(len(each.rows) for each in evaluations))


@dataclass(slots=True)
class _Group:
    slots: list[int] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    """By hypothesis id."""


def _answers(evaluated: Evaluated) -> dict[str, Votes]:
    """By hypothesis id."""
    return dict(zip(evaluated.hypotheses, evaluated.predictions, strict=True))


def _grouped(population: tuple[str, ...], weights: tuple[float, ...], answers: list[dict[str, Votes]]) -> list[_Group]:
    groups: dict[Hashable, _Group] = {}
    for slot, (hypothesis, weight) in enumerate(zip(population, weights, strict=True)):
        behaviour = tuple(tuple(map(_same, by_text[hypothesis])) for by_text in answers) or hypothesis
        group = groups.setdefault(behaviour, _Group())
        group.slots.append(slot)
        group.weights[hypothesis] = group.weights.get(hypothesis, 0.0) + weight
    return list(groups.values())


def _same(answer: Value | None) -> Hashable:
    """Equal for answers that count as the same: 0.1 + 0.2 is 0.3, and a label is no number."""
    return (answer,) if answer is None or isinstance(answer, str) else f"{answer:.{DIGITS}g}"


def _idea(group: _Group, view: RunView, on_test: Score | None) -> Idea:
    heaviest = sorted(group.weights.items(), key=lambda item: -item[1])
    return Idea(
        weight=sum(group.weights.values()),
        texts=tuple(view.texts[hypothesis] for hypothesis, _ in heaviest),
        text_weights=tuple(weight for _, weight in heaviest),
        slots=tuple(group.slots),
        n_correct_test=on_test.n_correct if on_test else None,
        n_test=on_test.n if on_test else None,
        mse_test=on_test.mse if on_test else None,
        n_abstained_test=on_test.n_abstained if on_test else 0,
    )


def _score(test: Evaluated | None, group: _Group, dataset: Dataset) -> Score | None:
    if test is None:
        return None
    return score(_answers(test)[next(iter(group.weights))], rows_of(test, dataset), dataset)
