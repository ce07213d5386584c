"""Agreement between ideas: pairwise similarity of their answers, and groups of ideas that nearly agree."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Idea, Ideas
from vpp.posterior.similarity import closeness, groups_at, root_mean_squared_differences, share_alike
from vpp.posterior.weights import Floats

MOST = 50
"""Most ideas compared; the heaviest are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ideas that agree pairwise at least as much as the threshold."""

    numbers: tuple[int, ...]
    """Numbers of the ideas, from 0, ascending."""
    weight: float
    """Total weight of the ideas."""
    n_particles: int
    least: float
    """Smallest pairwise similarity; 1 for a single idea."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """Pairwise agreement of ideas."""

    ideas: Ideas
    n: int
    """Ideas compared: the heaviest, at most `MOST`."""
    similarity: Floats
    """(n, n) between 0 and 1, by number of the idea; defined in vpp.posterior.similarity."""
    differences: Floats | None
    """(n, n) root mean squared difference in the target's unit; None for labels."""
    span: float | None
    """Range of the training targets, at which the similarity is 0; None for labels."""

    @property
    def order(self) -> tuple[int, ...]:
        """Numbers of the ideas, with similar ideas next to each other."""
        return tuple(chain.from_iterable(groups_at(self.similarity, threshold=1.0)))

    @property
    def compared(self) -> tuple[Idea, ...]:
        """The n heaviest ideas."""
        return self.ideas.all[: self.n]

    def pair(self, *, nearest: bool) -> tuple[int, int]:
        """Return the two ideas that agree most (nearest), or least; the heaviest of equal pairs. Requires n >= 2."""
        above = np.triu_indices(self.n, k=1)
        values = self.similarity[above]
        at = int(values.argmax() if nearest else values.argmin())
        return int(above[0][at]), int(above[1][at])

    def groups(self, threshold: float) -> tuple[Group, ...]:
        """Groups of ideas that agree pairwise at least `threshold` (0 to 1), heaviest first."""
        unsorted = [self._group(sorted(members)) for members in groups_at(self.similarity, threshold=threshold)]
        return tuple(sorted(unsorted, key=lambda group: (-group.weight, group.numbers)))

    def _group(self, numbers: list[int]) -> Group:
        members = [self.ideas.all[number] for number in numbers]
        return Group(
            numbers=tuple(numbers),
            weight=sum(idea.weight for idea in members),
            n_particles=sum(len(idea.slots) for idea in members),
            least=float(self.similarity[np.ix_(numbers, numbers)].min()),
        )


def nearness(ideas: Ideas, dataset: Dataset) -> Nearness | None:
    """Measure the pairwise agreement of ideas; None if only their texts were compared."""
    if not ideas.rows:
        return None
    answers = [idea.answers for idea in ideas.all[:MOST]]
    if dataset.task == "classification":
        similarity, differences, span = share_alike(answers), None, None
    else:
        span = dataset.target_range
        differences = root_mean_squared_differences(answers, span=span)
        similarity = closeness(differences, span=span)
    return Nearness(ideas=ideas, n=len(answers), similarity=similarity, differences=differences, span=span)
