"""Letters that stand for labels, and what the log-probabilities of an answer's first token say of them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
FIELDS = ("logprobs", "top_logprobs")
"""Request fields that ask for log-probabilities."""
MOST_TOKENS = 100
"""Alternatives of a token that are read."""
ROUNDED_UP = 1e-3
"""A log-probability up to this counts as one: servers round."""
SOUND = 0.5
"""Least probability on the letters asked for; below it the model does not keep to them."""
STABLE = 0.01
"""Largest difference of a letter's probability between equal questions."""
Tokens = Sequence[tuple[str, float]]
"""Tokens with their natural log-probabilities."""


def read_first_tokens(choice: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the alternatives of an answer's first token with their natural log-probabilities.

    choice: an answer of a chat completion. Empty if it has none, and without what are no log-probabilities.
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

    The rest of the probability is on other tokens.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip()) in shares:
            shares[letter] += math.exp(log_probability)
    return tuple(shares.values())


def mass_and_difference(one: Tokens, other: Tokens, n: int) -> tuple[float, float]:
    """Return the first answer's probability on the letters, and the largest difference of a letter between both.

    one, other: answers to equal questions. n: how many letters were asked for.
    """
    first, second = letter_shares(one, n), letter_shares(other, n)
    return math.fsum(first), max(abs(a - b) for a, b in zip(first, second, strict=True))
