"""Agreement between ideas: pairwise similarity of their answers, and groups of ideas that nearly agree.

Similarities lie between 0 and 1. For labels it is the fraction of rows with equal answers; for numbers, 1 minus the
root mean squared difference of the answers in units of the target's range. Two abstentions are equal; an abstention and
an answer differ by the most that is possible, for numbers the full range, as when an abstention is scored.

Groups are made by complete linkage (Defays 1977): the similarity of two groups is that of their least similar pair.
So within a group any two members are at least as similar as the threshold, which is what the count of groups says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import Votes
from vpp.inspection.ideas import Ideas
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
    """(n, n) between 0 and 1, by number of the idea."""
    differences: Floats | None
    """(n, n) root mean squared difference in the target's unit; None for labels."""
    span: float | None
    """Range of the training targets, at which the similarity is 0; None for labels."""

    @property
    def order(self) -> tuple[int, ...]:
        """Numbers of the ideas, with similar ideas next to each other."""
        return tuple(chain.from_iterable(groups_at(self.similarity, threshold=1.0)))

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


def share_alike(answers: Sequence[Votes]) -> Floats:
    """(n, n) fraction of rows on which two hypotheses answer alike. answers: n of N labels each, N at least 1."""
    known = {
        label: code for code, label in enumerate(sorted({str(a) for votes in answers for a in votes if a is not None}))
    }
    codes = np.array([[-1 if a is None else known[str(a)] for a in votes] for votes in answers], dtype=np.int64)
    return np.array([(codes == own).sum(axis=1) / codes.shape[1] for own in codes], dtype=np.float64)


def root_mean_squared_differences(answers: Sequence[Votes], *, span: float) -> Floats:
    """(n, n) differences in the target's unit. answers: n of N numbers each, N at least 1.

    span: the difference between an abstention and an answer.
    """
    with np.errstate(over="ignore"):
        # d = sqrt(1/N sum_i (f(x_i; theta_a) - f(x_i; theta_b))^2)
        return np.array([np.sqrt(np.mean(np.square(apart), axis=1)) for apart in _apart(answers, span)])


def mean_absolute_differences(answers: Sequence[Votes], *, span: float) -> Floats:
    """(n, n) mean absolute differences in the target's unit; parameters as for `root_mean_squared_differences`."""
    with np.errstate(over="ignore"):
        return np.array([np.abs(apart).mean(axis=1) for apart in _apart(answers, span)])


def _apart(answers: Sequence[Votes], span: float) -> Iterator[Floats]:
    """Yield, for each hypothesis, (n, N) the differences of all answers from its own."""
    f = np.array([[np.nan if a is None else float(a) for a in votes] for votes in answers], dtype=np.float64)
    silent = np.isnan(f)
    for i, own in enumerate(f):
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.where(silent | silent[i], span, f - own)
        apart[silent & silent[i]] = 0.0
        yield apart


def closeness(differences: Floats, *, span: float) -> Floats:
    """1 - difference / span, at least 0; with a span of 0, 1 for no difference and else 0."""
    if span <= 0:
        return np.asarray(differences == 0, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(1 - np.minimum(1.0, differences / span), dtype=np.float64)


def groups_at(similarity: Floats, *, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Members by group, similar ones side by side; any two members of a group are at least `threshold` similar.

    The order of all members is the same at every threshold. similarity: (n, n) symmetric.
    """
    if len(similarity) == 1:
        return ((0,),)
    # Imported late: the import takes a quarter of a second. scipy comes with scikit-learn.
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(1 - similarity, checks=False), method="complete", optimal_ordering=True)
    group = fcluster(tree, 1 - threshold, criterion="distance")
    ordered = leaves_list(tree).tolist()
    forwards = ordered if ordered[0] < ordered[-1] else ordered[::-1]
    return tuple(tuple(members) for _, members in groupby(forwards, group.__getitem__))
