"""Disagreement of particles on one point (Section 5.3): unanimity, vote entropy in bits, spread, intervals."""

import math
from collections.abc import Sequence

from vpp.posterior.prediction import Answer, Value, vote_shares, weighted_mean


def is_uncertain(votes: Sequence[Value | None], weights: Sequence[float]) -> bool:
    """True if the particles that answered are not unanimous, whatever their weights (Section 5.3).

    Particles of weight 0 and abstentions are ignored; a point on which all abstain is uncertain. votes, weights: (K,).
    """
    voices = {v for v, w in zip(votes, weights, strict=True) if w > 0 and v is not None}
    return len(voices) != 1


def vote_entropy(votes: Sequence[Answer], weights: Sequence[float]) -> float:
    """Entropy of the weighted vote in bits: 0 exactly when unanimous, log2 C when split evenly.

    Abstentions are ignored; if all abstain it is infinite, so that the point sorts as the most uncertain.
    """
    shares = [s for s in vote_shares(votes, weights).values() if s > 0]
    total = sum(shares)
    if total == 0:
        return math.inf
    if len(shares) == 1:
        return 0.0
    return -sum(s / total * math.log2(s / total) for s in shares)


FAINTEST = 1e-9
"""A spread below this fraction of the distance between two answers counts as 0."""


def weighted_spread(predictions: Sequence[Value | None], weights: Sequence[float]) -> float:
    """Weighted standard deviation of numeric predictions, in the target's unit: 0 exactly when unanimous.

    Particles of weight 0 are ignored. A spread below FAINTEST times the range of the answers counts as 0: practically
    all of the weight is on one answer. Infinity when all abstain. predictions, weights: (K,).
    """
    voices = [(float(p), float(w)) for p, w in zip(predictions, weights, strict=True) if p is not None and w > 0]
    mean = weighted_mean(predictions, weights)
    if not voices or mean is None:
        return math.inf
    if len({p for p, _ in voices}) == 1:
        return 0.0
    total = sum(w for _, w in voices)
    spread = math.hypot(*(math.sqrt(w / total) * (p - mean) for p, w in voices))
    furthest, nearest = max(p for p, _ in voices), min(p for p, _ in voices)
    return 0.0 if spread < FAINTEST * furthest - FAINTEST * nearest else spread


def weighted_interval(
    predictions: Sequence[Value | None], weights: Sequence[float], *, mass: float = 0.9
) -> tuple[float, float] | None:
    """Central interval with `mass` of the weight of the particles that answered; None when all abstain."""
    pairs = sorted((float(p), float(w)) for p, w in zip(predictions, weights, strict=True) if p is not None and w > 0)
    total = sum(w for _, w in pairs)
    if not pairs:
        return None
    tail = (1 - mass) / 2 * total
    return _quantile(pairs, tail), _quantile(pairs, total - tail)


def _quantile(pairs: Sequence[tuple[float, float]], at: float) -> float:
    running = 0.0
    for value, weight in pairs:
        running += weight
        if running >= at * (1 - 1e-12):
            return value
    return pairs[-1][0]
