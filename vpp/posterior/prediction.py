"""Bayesian model averaging: predictions of all particles combined (Eq. 7 and 8)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Value = str | float
Grades = dict[str, float]
"""A graded answer: the probability of each label, 0 for labels left out. The rest up to 1 is on no label."""
Answer = Value | Grades | None
"""f(x; theta) for a row; None is an abstention."""
Label = TypeVar("Label", bound=Value)

TIE = 1e-9
"""Vote shares within this distance of the largest are tied."""
CLEAR = 2 / 3
"""Least share of the answering weight that decides, if “I don’t know” costs a third of an error."""
EXACT = 12
"""Significant digits that rounding errors of a weighted mean do not reach."""


def vote_shares(votes: Sequence[Answer], weights: Sequence[float]) -> dict[Value, float]:
    """Weight of each label, the heaviest first, equal ones in sort order; abstentions are ignored (Eq. 8).

    A graded answer votes for every label with its probability: then the shares are sum_k w_k p(c | x*, theta_k).
    votes, weights: (K,). The shares sum to the weight of the particles that answered.
    """
    shares: dict[Value, float] = {}
    for vote, weight in zip(votes, weights, strict=True):
        if isinstance(vote, dict):
            for label, probability in vote.items():
                shares[label] = shares.get(label, 0.0) + float(weight) * probability
        elif vote is not None:
            shares[vote] = shares.get(vote, 0.0) + float(weight)
    return dict(sorted(shares.items(), key=lambda item: (-item[1], str(item[0]))))


def silent_weight(votes: Sequence[Answer], weights: Sequence[float]) -> float:
    """Weight without an answer: of abstentions, and of the probability on no label. votes, weights: (K,)."""
    silent = (
        weight * (1 - math.fsum(vote.values())) if isinstance(vote, dict) else weight * (vote is None)
        for vote, weight in zip(votes, weights, strict=True)
    )
    return max(0.0, math.fsum(silent))


def winner(shares: Mapping[Label, float]) -> Label | None:
    """The label with the most weight (Eq. 8); None when all abstain. Of tied labels the lowest in sort order."""
    # y(x*) = argmax_c sum_k w_k 1[f(x*; theta_k) = c]                               (Eq. 8)
    tied = leaders(shares)
    return tied[0] if tied else None


def leaders(shares: Mapping[Label, float]) -> tuple[Label, ...]:
    """Labels with the most weight, those within 1e-9 of it included, in sort order; empty when all abstain."""
    most = max(shares.values(), default=0.0)
    return tuple(sorted((label for label, share in shares.items() if share >= most - TIE), key=str))


def leader(shares: Mapping[Value, float]) -> Value | None:
    """The label with more weight than every other; None at a tie and when all abstain."""
    tied = leaders(shares)
    return tied[0] if len(tied) == 1 else None


def decide(shares: Mapping[Value, float], *, clear: float = CLEAR) -> Value | None:
    """Return the label that holds at least `clear` of the answering weight; None means “I don’t know”.

    With c the cost of “I don’t know” in errors, answering pays from the probability 1 - c on (Chow 1970).
    A tie decides nothing, nor do particles without weight.
    """
    label, total = leader(shares), math.fsum(shares.values())
    return label if label is not None and total > 0 and shares[label] >= clear * total - TIE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Predictive law p(y | x) = sum_k w_k p(y | x, theta_k), the constant answer's part included.

    Without noise it is the paper's: the vote of Eq. 8, or the mean of Eq. 7.
    """

    weights: tuple[float, ...]
    """(K,) of the sentences, and one more of the constant answer, if it has a part."""
    classes: tuple[str, ...] = ()
    """Labels of the target, in order; empty for numbers."""
    noise: tuple[float, ...] = ()
    """(K,) mass of each sentence's wrong labels. Of numbers the standard deviation of each one's errors, the constant
    answer's last. Empty without noise."""
    constant: Answer = None
    """The constant answer, of labels their probabilities; None if it has no part."""

    def shares(self, answers: Sequence[Answer]) -> dict[Value, float]:
        """Probability of each label, the heaviest first; a vote leaves abstentions out. answers: (K,)."""
        return vote_shares(self._laws(answers), self.weights)

    def numbers(self, votes: Sequence[Value | None]) -> tuple[Sequence[Value | None], Sequence[float]]:
        """Numbers and their weights, the constant's included. votes: (K,)."""
        constant = [] if self.constant is None or isinstance(self.constant, dict) else [self.constant]
        return [*votes, *constant], self.weights

    def average(self, answers: Sequence[Answer]) -> Value | None:
        """The likeliest label, or the mean of the numbers (Eq. 7). answers: (K,)."""
        return average(self._laws(answers), self.weights, is_label=bool(self.classes))

    def _laws(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        laws = (
            [self._law(*each) for each in zip(answers, self.noise, strict=True)]
            if self.classes and self.noise
            else [*answers]
        )
        return [*laws, self.constant] if len(self.weights) > len(answers) else laws

    def _law(self, answer: Answer, epsilon: float) -> Answer:
        """Eq. 6 as a law of the label: 1 - epsilon on the answer, the rest shared by the C - 1 others.

        What is on no label is a blind guess, as in the likelihood.
        """
        n = len(self.classes)
        graded = answer if isinstance(answer, dict) else {answer: 1.0} if answer is not None else {}
        blind, others = (1 - math.fsum(graded.values())) / n, epsilon / max(1, n - 1)
        guess = {c: graded.get(c, 0.0) + blind for c in self.classes}
        return {c: q * (1 - epsilon) + (1 - q) * others for c, q in guess.items()}


def average(votes: Sequence[Answer], weights: Sequence[float], *, is_label: bool) -> Value | None:
    """Averaged prediction for one row (Eq. 7 or 8). votes, weights: (K,)."""
    return winner(vote_shares(votes, weights)) if is_label else weighted_mean(votes, weights)


def weighted_mean(predictions: Sequence[Answer], weights: Sequence[float]) -> float | None:
    """sum_k w_k f(x*; theta_k) over the particles that answered, weights rescaled to 1 (Eq. 7); None when all abstain.

    If the particles that answered have weight 0, they count equally. The result is clipped to the range of the answers,
    so that the mean of equal numbers is that number. predictions, weights: (K,).
    """
    pairs = zip(predictions, weights, strict=True)
    answered = [(float(p), float(w)) for p, w in pairs if p is not None and not isinstance(p, dict)]
    if not answered:
        return None
    total = sum(w for _, w in answered)
    # y(x*) = sum_k w_k f(x*; theta_k)                                               (Eq. 7)
    mean = sum(p * (w / total if total else 1 / len(answered)) for p, w in answered)
    numbers = [p for p, _ in answered]
    return min(max(mean, min(numbers)), max(numbers))


def settled(value: float, *, of: float) -> float:
    """Round a difference of numbers as large as `of` to the digits that are not rounding errors."""
    if of == 0 or not math.isfinite(of) or not math.isfinite(value):
        return value
    return round(value, EXACT - 1 - math.floor(math.log10(abs(of))))
