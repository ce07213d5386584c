"""Disagreement of particles on one point (Section 5.3), and the expected information of its label, in bits.

Each hypothesis predicts as the run's likelihood says (Eq. 5 or 6). The mutual information of answer and hypothesis is
I = H[sum_k w_k p_k] - sum_k w_k H[p_k]. Source: Lindley, On a measure of the information provided by an experiment
(1956); Houlsby et al., Bayesian active learning for classification and preference learning (2011), Eq. 2.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from vpp.posterior.likelihood import RowLikelihood
from vpp.posterior.prediction import Answer, Value, vote_shares, weighted_mean
from vpp.posterior.weights import Floats

NEAR = 0.95
"""Similarity from which hypotheses count as one."""


def share_alike(answers: Sequence[Sequence[Value | None]]) -> Floats:
    """(n, n) fraction of rows on which two hypotheses answer alike. answers: n of N labels each, N at least 1."""
    places = dict[Value | None, int]()
    codes = np.array([[places.setdefault(answer, len(places)) for answer in votes] for votes in answers])
    alike = np.zeros((len(codes), len(codes)), dtype=np.float32)
    for place in range(len(places)):  # a product of matrices a label: of thousands of hypotheses, pairs take minutes
        own = (codes == place).astype(np.float32)
        alike += own @ own.T
    return np.asarray(alike, dtype=np.float64) / len(answers[0])


def closeness(answers: Sequence[Sequence[Value | None]], *, span: float) -> Floats:
    """(n, n) 1 minus the root mean squared difference in units of `span`, at least 0. answers: n of N numbers each.

    An abstention is a span off any answer. With a span of 0 it is 1 for no difference and else 0.
    """
    f = np.array([[np.nan if a is None else float(a) for a in votes] for votes in answers], dtype=np.float64)
    silent = np.isnan(f)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = (np.where(silent | own, span * (silent != own), f - f[i]) for i, own in enumerate(silent))
        # d = sqrt(1/N sum_i (f(x_i; theta_a) - f(x_i; theta_b))^2)
        d = np.array([np.sqrt(np.mean(np.square(each), axis=1)) for each in apart])
        return np.asarray(1 - np.minimum(1.0, d / span) if span > 0 else d == 0, dtype=np.float64)


def rough_closeness(answers: Sequence[Sequence[Value | None]], *, span: float) -> Floats:
    """(n, n) `closeness` by one product of matrices, for thousands of hypotheses.

    Its error is below 0.0001. Answers more than 1,000 spans off the median are cut. Without a span only equal ones are
    close.
    """
    if span == 0:
        return np.eye(len(answers))
    f = np.array([[np.nan if a is None else float(a) for a in votes] for votes in answers], dtype=np.float64)
    said = ~np.isnan(f)
    with np.errstate(over="ignore"):
        f = np.where(said, np.clip((f - np.median(f[said] if said.any() else 0)) / span, -1e3, 1e3), 0)
    said = said.astype(np.float64)
    # d^2 is f_a^2 - 2 f_a f_b + f_b^2 where both answer, 0 where both are silent, else 1
    half = np.hstack([np.square(f) - said / 2, -f, (said - 1) / 2]) @ np.hstack([said, f, 1 - said]).T
    return np.asarray(1 - np.sqrt(np.clip((half + half.T) / f.shape[1] + 1, 0, 1)), dtype=np.float64)


def missing_mass(counts: npt.ArrayLike, similarity: npt.ArrayLike) -> float:
    """Share of draws that are near no other: Good and Turing's estimate of how probably the next one will be so too.

    Source: Good, The population frequencies of species and the estimation of population parameters (1953). counts: (n,)
    draws of each kind. similarity: (n, n) of the kinds.
    """
    counts, others = np.asarray(counts), np.array(similarity)
    np.fill_diagonal(others, 0)
    is_alone = (counts == 1) & (others.max(axis=1) < NEAR)
    return float(is_alone.sum() / counts.sum())


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
    shares = np.array([s for s in vote_shares(votes, weights).values() if s > 0])
    return abs(float(entropy(shares / shares.sum()))) if shares.size else math.inf


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


def predictive_interval(
    predictions: Sequence[Value | None], weights: Sequence[float], noise: Sequence[float], *, mass: float = 0.9
) -> tuple[float, float] | None:
    """Central interval of sum_k w_k N(y; f_k, sigma_k^2) over those that answered; None when all abstain.

    noise: (K,) standard deviations sigma_k, positive; if empty, the interval is that of the weights alone.
    """
    if not noise:
        return weighted_interval(predictions, weights, mass=mass)
    laws = [(float(f), w, sigma) for f, w, sigma in zip(predictions, weights, noise, strict=True)
            if f is not None and w > 0]  # fmt: skip
    if not laws:
        return None
    total = math.fsum(w for _, w, _ in laws)

    def below(y: float) -> float:
        return math.fsum(w * math.erfc((f - y) / (sigma * math.sqrt(2))) for f, w, sigma in laws) / (2 * total)

    ends = min(f - FAR * sigma for f, _, sigma in laws), max(f + FAR * sigma for f, _, sigma in laws)
    tail = (1 - mass) / 2
    return _root(below, tail, *ends), _root(below, 1 - tail, *ends)


FAR = 9.0
"""Standard deviations within which a Gaussian has all its mass, in double precision."""


def _root(law: Callable[[float], float], at: float, low: float, high: float) -> float:
    """Where a distribution function between `low` and `high` reaches `at`, by bisection."""
    for _ in range(40):
        middle = low + (high - low) / 2
        low, high = (middle, high) if law(middle) < at else (low, middle)
    return high


def _quantile(pairs: Sequence[tuple[float, float]], at: float) -> float:
    running = 0.0
    for value, weight in pairs:
        running += weight
        if running >= at * (1 - 1e-12):
            return value
    return pairs[-1][0]


NODES = 48
"""Points of the quadrature over the noise of a number."""


def entropy(shares: npt.ArrayLike) -> Floats:
    """H in bits of each distribution along the last axis; 0 log 0 is 0. shares: (..., C), each summing to 1."""
    p = np.asarray(shares, dtype=np.float64)
    return np.asarray(-np.sum(p * np.log2(np.where(p > 0, p, 1.0)), axis=-1), dtype=np.float64)


def label_laws(votes: Sequence[Answer], labels: Sequence[str], laws: Sequence[RowLikelihood]) -> Floats:
    """(K, C) p(y = c | x, theta_k): the likelihood of each label, rescaled to sum to 1.

    votes: (K,). laws: (K,) each hypothesis' likelihood of one more row. An abstention makes every label equally likely.
    """
    p = np.exp([[float(law.terms([vote], [label])[0]) for label in labels]
                for vote, law in zip(votes, laws, strict=True)])  # fmt: skip
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float64)


def label_information(
    votes: Sequence[Answer], weights: Sequence[float], labels: Sequence[str], laws: Sequence[RowLikelihood]
) -> float:
    """Expected information of the true label, in bits: 0 if unanimous, at most log2 C and at most H(weights).

    votes, weights, laws: (K,), the weights summing to 1.
    """
    p, w = label_laws(votes, labels, laws), np.asarray(weights, dtype=np.float64)
    heavy = p[w > 0]
    if (heavy == heavy[:1]).all():
        return 0.0
    return max(0.0, float(entropy(w @ p) - w @ entropy(p)))


def number_information(predictions: Sequence[Value | None], weights: Sequence[float], *, tau: float) -> float:
    """Expected information of the true number, in bits, under Gaussian noise of variance `tau` about each prediction.

    At most 1/2 log2(1 + Var_w / tau), since no law of that variance has more entropy than a Gaussian, and at most
    H(weights). The weight of an abstention carries no information. predictions, weights: (K,).
    """
    answered = [(float(f), float(w)) for f, w in zip(predictions, weights, strict=True) if f is not None and w > 0]
    total = sum(w for _, w in answered)
    if len({f for f, _ in answered}) < 2:
        return 0.0
    f, w = np.array([f for f, _ in answered]), np.array([w for _, w in answered]) / total
    return total * max(0.0, _mixture_information(f, w, tau=tau))


def _mixture_information(means: Floats, weights: Floats, *, tau: float) -> float:
    """sum_k w_k E_{y ~ N(f_k, tau)} log2 N(y; f_k, tau) / sum_j w_j N(y; f_j, tau), by Gauss-Hermite quadrature."""
    nodes, masses = _quadrature()
    information = 0.0
    for k, weight in enumerate(weights):
        with np.errstate(over="ignore"):
            apart = (means[k] - means) / math.sqrt(tau)
            # N(y; f_j) / N(y; f_k) at y = f_k + sqrt(tau) z
            ratios = np.exp((np.square(nodes) - np.square(apart[:, None] + nodes)) / 2)
        information -= float(weight) * float(masses @ np.log2(weights @ ratios))
    return information


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes z and weights of Gauss-Hermite quadrature under the standard normal law."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, masses / math.sqrt(2 * math.pi)
