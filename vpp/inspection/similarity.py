"""Near-agreement: how alike the ideas of a population answer, and how few explanations that leaves."""

from dataclasses import dataclass

import numpy as np

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Idea, Ideas
from vpp.posterior.similarity import (
    Merger,
    closeness,
    groups_at,
    mergers,
    order,
    root_mean_squared_differences,
    share_alike,
)
from vpp.posterior.weights import Floats

MOST = 50
"""Ideas compared, the heaviest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ideas of which any two agree at least as much as was asked."""

    numbers: tuple[int, ...]
    """Of the ideas, from 0, the heaviest first."""
    weight: float
    """Summed over the ideas."""
    n_particles: int
    least: float
    """Similarity of the two that agree least; 1 for an idea alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """Ideas beside each other."""

    ideas: Ideas
    n: int
    """Ideas compared, the heaviest: all, or `MOST`."""
    similarity: Floats
    """(n, n) between 0 and 1, by number of the idea; as vpp.posterior.similarity says."""
    differences: Floats | None
    """(n, n) root mean squared difference in the target's unit; None for labels."""
    span: float | None
    """For numbers, the range of the training targets, which counts as no agreement at all."""
    mergers: tuple[Merger, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """Numbers of the ideas, like beside like."""
        return order(self.mergers)

    @property
    def compared(self) -> tuple[Idea, ...]:
        """The n heaviest."""
        return self.ideas.all[: self.n]

    def pair(self, *, nearest: bool) -> tuple[int, int]:
        """The two that agree most, or least; of equal pairs the heaviest. At least two ideas."""
        above = np.triu_indices(self.n, k=1)
        values = self.similarity[above]
        at = int(values.argmax() if nearest else values.argmin())
        return int(above[0][at]), int(above[1][at])

    def groups(self, threshold: float) -> tuple[Group, ...]:
        """Heaviest first; threshold: between 0 and 1."""
        found = [self._group(sorted(members)) for members in groups_at(self.mergers, threshold=threshold)]
        return tuple(sorted(found, key=lambda group: (-group.weight, group.numbers)))

    def _group(self, numbers: list[int]) -> Group:
        members = [self.ideas.all[number] for number in numbers]
        return Group(
            numbers=tuple(numbers),
            weight=sum(idea.weight for idea in members),
            n_particles=sum(len(idea.slots) for idea in members),
            least=float(self.similarity[np.ix_(numbers, numbers)].min()),
        )


def nearness(ideas: Ideas, dataset: Dataset) -> Nearness | None:
    """None where ideas are told apart by their words alone."""
    if not ideas.rows:
        return None
    answers = [idea.answers for idea in ideas.all[:MOST]]
    if dataset.task == "classification":
        similarity, differences, span = share_alike(answers), None, None
    else:
        span = dataset.target_range
        differences = root_mean_squared_differences(answers, span=span)
        similarity = closeness(differences, span=span)
    return Nearness(
        ideas=ideas,
        n=len(answers),
        similarity=similarity,
        differences=differences,
        span=span,
        mergers=mergers(similarity),
    )
