"""Letters that stand for labels: what an answer's first token says of them, and whether a server's word is sound."""

import math
from collections.abc import Sequence

from vpp.errors import EndpointError
from vpp.llm.conversation import question
from vpp.llm.endpoint import Endpoint
from vpp.llm.findings import Finding, note, works

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
FIELDS = ("logprobs", "top_logprobs")
"""Request fields that ask for log-probabilities."""
NAME = "log-probabilities"
QUESTION = "Which number is larger?\nA = 3\nB = 8\nAnswer with the letter A or B and nothing else."
ASKED = 2
SOUND = 0.5
"""Least probability on the letters asked for; below it the model does not keep to them."""
STABLE = 0.01
"""Largest difference of a letter's probability between equal questions."""


def letter_shares(first_tokens: Sequence[tuple[str, float]], n: int) -> tuple[float, ...]:
    """(n,) probability of each of the first n letters; blanks around a token do not count.

    first_tokens: tokens with their natural log-probabilities. The rest of the probability is on other tokens.
    """
    shares = dict.fromkeys(LETTERS[:n], 0.0)
    for token, log_probability in first_tokens:
        if (letter := token.strip()) in shares:
            shares[letter] += math.exp(log_probability)
    return tuple(shares.values())


async def letters_finding(endpoint: Endpoint) -> Finding:
    """Ask for a letter twice: are there log-probabilities, are they on the letters, and are they the same again."""
    try:
        asked = [await _first_tokens(endpoint) for _ in range(2)]
    except EndpointError as error:
        return note(NAME, f"not known: {error}", logprobs="unknown")
    if set(FIELDS) & set(endpoint.dropped_fields):
        return note(NAME, "refused: answers are labels alone", logprobs="refused")
    if not all(asked):
        return note(NAME, "none: the server does not send them", logprobs="none")
    one, other = (letter_shares(tokens, ASKED) for tokens in asked)
    mass, apart = math.fsum(one), max(abs(first - second) for first, second in zip(one, other, strict=True))
    if apart > STABLE:
        words = f"unstable: asked twice, a letter's probability differs by {apart:.3f}"
        return note(NAME, words, logprobs="unstable", apart=round(apart, 4))
    if mass < SOUND:
        words = f"unsound: asked for A or B, the model gives them only {100 * mass:.0f} % of the probability"
        return note(NAME, words, logprobs="unsound", mass=round(mass, 4))
    words = f"sound: the letters asked for have {100 * mass:.1f} % of the probability, and the same when asked again"
    return works(NAME, words, logprobs="sound", mass=round(mass, 4))


async def _first_tokens(endpoint: Endpoint) -> tuple[tuple[str, float], ...]:
    completion = await endpoint.complete(
        [question(QUESTION)], temperature=0.0, seed=0, max_tokens=1, top_logprobs=len(LETTERS)
    )
    return completion.first_tokens
