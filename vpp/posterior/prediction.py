"""Predicting with all particles (Eq. 7 and 8)."""

import math
from collections.abc import Mapping, Sequence

Value = str | float
"""A label, or a number."""

TIE = 1e-9
"""Vote shares closer than this are tied."""
EXACT = 12
"""Significant digits of a number that rounding errors of a weighted mean leave alone."""


def vote_shares(votes: Sequence[Value | None], weights: Sequence[float]) -> dict[Value, float]:
    """Weight behind each label, heaviest first, equal ones in sort order; abstentions carry none (Eq. 8).

    votes, weights: (K,). The shares sum to the weight of those that answered.
    """
    shares: dict[Value, float] = {}
    for vote, weight in zip(votes, weights, strict=True):
        if vote is not None:
            shares[vote] = shares.get(vote, 0.0) + float(weight)
    return dict(sorted(shares.items(), key=lambda item: (-item[1], str(item[0]))))


def winner(shares: Mapping[Value, float], *, draw: float = 0.0) -> Value | None:
    """The label with the most weight (Eq. 8); None when all abstain.

    Within 1e-9, labels are tied: `draw` in [0, 1) picks one of them in sort order, 0 the lowest.
    """
    if not shares:
        return None
    # y(x*) = argmax_c sum_k w_k 1[f(x*; theta_k) = c]                               (Eq. 8)
    most = max(shares.values())
    tied = sorted((label for label, share in shares.items() if share >= most - TIE), key=str)
    return tied[int(draw * len(tied))]


def average(
    votes: Sequence[Value | None], weights: Sequence[float], *, is_label: bool, draw: float = 0.0
) -> Value | None:
    """The averaged prediction of one row (Eq. 7 or 8). votes, weights: (K,); `draw` in [0, 1) decides a tied vote."""
    return winner(vote_shares(votes, weights), draw=draw) if is_label else weighted_mean(votes, weights)


def weighted_mean(predictions: Sequence[Value | None], weights: Sequence[float]) -> float | None:
    """sum_k w_k f(x*; theta_k) over those that answered, their weights rescaled to 1 (Eq. 7); None when all abstain.

    Where those that answered hold no weight at all, they count equally. Never outside the answers by a rounding error:
    the mean of equal numbers is that number.
    """
    answered = [(float(p), float(w)) for p, w in zip(predictions, weights, strict=True) if p is not None]
    if not answered:
        return None
    total = sum(w for _, w in answered)
    # y(x*) = sum_k w_k f(x*; theta_k)                                               (Eq. 7)
    mean = sum(p * (w / total if total else 1 / len(answered)) for p, w in answered)
    numbers = [p for p, _ in answered]
    return min(max(mean, min(numbers)), max(numbers))


def settled(value: float, *, of: float) -> float:
    """Return a difference of numbers as large as `of` without the digits that are rounding errors of theirs."""
    if of == 0 or not math.isfinite(of) or not math.isfinite(value):
        return value
    return round(value, EXACT - 1 - math.floor(math.log10(abs(of))))
