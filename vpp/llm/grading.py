"""Graded answers: the probability of each label, from log-probabilities of letters or from several answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vpp.posterior.prediction import winner
from vpp.problem import Prediction

NO_LOGPROBS = (
    "the learner's server gives no log-probabilities: use --learner-samples with a learner temperature above 0, or "
    "--likelihood labels"
)
NO_LETTER = "no letter of a label is among the most probable first tokens"


def graded(row: int, shares: Mapping[str, float]) -> Prediction:
    """Return the prediction whose value is the likeliest label, an abstention if no label has any probability.

    shares: probability of each label; rounding of a server may bring it just above 1. Equally likely labels: the
    lowest in sort order.
    """
    likely = {label: min(1.0, share) for label, share in shares.items() if share > 0}
    value = winner(likely)
    return Prediction(row=row, value=value, shares=likely or None)


def pooled(drawn: Sequence[tuple[Prediction, int]]) -> tuple[Prediction, int]:
    """Return one prediction from several answers to a row, with the calls of all of them.

    Each label's share is its fraction of all answers, unreadable ones included. The explanation is that of the first
    answer that gave the most frequent label.
    """
    every = [prediction for prediction, _ in drawn]
    said = Counter(prediction.value for prediction in every if isinstance(prediction.value, str))
    pool = graded(every[0].row, {label: count / len(every) for label, count in said.items()})
    first = next(prediction for prediction in every if prediction.value == pool.value)
    return replace(first, shares=pool.shares), sum(calls for _, calls in drawn)
