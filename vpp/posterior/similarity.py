"""Similarity of hypotheses by their answers, and complete-linkage clustering.

Similarities lie between 0 and 1. For labels it is the fraction of rows with equal answers; for numbers, 1 minus the
root mean squared difference of the answers in units of the target's range. Two abstentions are equal; an abstention and
an answer differ by the most that is possible, for numbers the full range, as when an abstention is scored.

Groups are made by complete linkage (Defays 1977): the similarity of two groups is that of their least similar pair.
So within a group any two members are at least as similar as the threshold, which is what the count of groups says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from vpp.posterior.prediction import Value
from vpp.posterior.weights import Floats

Votes = Sequence[Value | None]


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
    f = np.array([[np.nan if a is None else float(a) for a in votes] for votes in answers], dtype=np.float64)
    silent = np.isnan(f)
    differences = np.empty((len(f), len(f)))
    for i, own in enumerate(f):
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.where(silent | silent[i], span, f - own)
            apart[silent & silent[i]] = 0.0
            # d = sqrt(1/N sum_i (f(x_i; theta_a) - f(x_i; theta_b))^2)
            differences[i] = np.sqrt(np.mean(np.square(apart), axis=1))
    return differences


def closeness(differences: Floats, *, span: float) -> Floats:
    """1 - difference / span, at least 0; with a span of 0, 1 for no difference and else 0."""
    if span <= 0:
        return np.asarray(differences == 0, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(1 - np.minimum(1.0, differences / span), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merger:
    """A merger of two groups."""

    members: tuple[int, ...]
    """Members of both groups, similar ones side by side."""
    similarity: float
    """Similarity of the least similar pair across the two groups."""


def mergers(similarity: Floats) -> tuple[Merger, ...]:
    """n - 1 mergers by complete linkage, the most similar groups first; among equals, the lowest indices first.

    similarity: (n, n) symmetric.
    """
    groups: list[tuple[int, ...]] = [(i,) for i in range(len(similarity))]
    linkage = np.array(similarity, dtype=np.float64)
    np.fill_diagonal(linkage, -np.inf)
    made = []
    while len(groups) > 1:
        a, b = sorted(map(int, np.unravel_index(int(np.argmax(linkage)), linkage.shape)))
        made.append(Merger(members=_side_by_side(groups[a], groups[b], similarity), similarity=float(linkage[a, b])))
        groups[a] = made[-1].members
        del groups[b]
        linkage[a] = linkage[:, a] = np.minimum(linkage[a], linkage[b])
        linkage[a, a] = -np.inf
        linkage = np.delete(np.delete(linkage, b, axis=0), b, axis=1)
    return tuple(made)


def _side_by_side(first: tuple[int, ...], second: tuple[int, ...], similarity: Floats) -> tuple[int, ...]:
    """The two groups, each reversed if need be so that the most similar ends meet; `first` is kept in a tie."""
    ways = [(x, y) for x in (first, first[::-1]) for y in (second, second[::-1])]
    left, right = max(ways, key=lambda way: similarity[way[0][-1], way[1][0]])
    return left + right


def order(made: Sequence[Merger]) -> tuple[int, ...]:
    """All members, similar ones side by side: at every threshold the members of a group are adjacent."""
    return made[-1].members if made else (0,)


def groups_at(made: Sequence[Merger], *, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Members by group, in `order`; any two members of a group are at least `threshold` similar."""
    ordered = order(made)
    group = {member: -1 - member for member in ordered}
    for number, merger in enumerate(made):
        if merger.similarity >= threshold:
            group |= dict.fromkeys(merger.members, number)
    return tuple(tuple(members) for _, members in groupby(ordered, group.__getitem__))
