"""Graded answers: the probability of each label, from the log-probabilities of its letter or from several answers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vpp.posterior.prediction import winner
from vpp.problem import Prediction

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
FIELDS = ("logprobs", "top_logprobs")
"""Request fields that ask for log-probabilities."""
MOST_TOKENS = 100
"""Most alternatives of a token that are read."""
ROUNDED_UP = 1e-3
"""Largest value accepted as a log-probability: servers round to just above 0."""
SOUND = 0.5
"""Least probability on the letters; below it `check-endpoint` says that the model does not keep to them."""
STABLE = 0.01
"""Largest difference of a letter's probability between equal questions."""
Tokens = Sequence[tuple[str, float]]
"""Tokens with their natural log-probabilities."""
NO_LOGPROBS = "the learner's server sends no log-probabilities: use --learner-samples 5, or --likelihood labels"
NO_LETTER = "no letter of a label is among the likeliest first tokens"


def read_first_tokens(choice: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of an answer's first token with their natural log-probabilities.

    choice: one choice of a chat completion. Invalid entries are skipped; empty if there are no log-probabilities.
    """
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    tokens = [each for each in listed[:MOST_TOKENS] if isinstance(each, dict)] if isinstance(listed, list) else []
    return tuple(
        (each["token"], float(each["logprob"]))
        for each in tokens
        if isinstance(each.get("token"), str) and _is_log_probability(each.get("logprob"))
    )


def _is_log_probability(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value <= ROUNDED_UP


def letter_shares(first_tokens: Tokens, n: int) -> tuple[float, ...]:
    """(n,) probability of each of the first n letters; blanks around a token do not count.

    The rest is on other tokens. However large, it is no abstention: the likelihood then has no jump.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip()) in shares:
            shares[letter] += math.exp(log_probability)
    return tuple(shares.values())


def graded(row: int, shares: Mapping[str, float]) -> Prediction:
    """Return the prediction whose value is the likeliest label, an abstention if no label has any probability.

    shares: probability of each label; a server's rounding may bring it just above 1. Ties go to the first label in
    sort order.
    """
    total = max(1.0, math.fsum(shares.values()))
    likely = {label: share / total for label, share in shares.items() if share > 0}
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
