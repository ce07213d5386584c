"""Test which request field a server honours for structured output: it must answer with a word that does not fit."""

from dataclasses import dataclass
from typing import Literal

from vpp.errors import EndpointRefused
from vpp.llm.conversation import question
from vpp.llm.endpoint import Endpoint
from vpp.llm.structure import CARRIERS, FIELDS, Carrier, is_kept, one_of_words

QUESTION = "Answer with the word hello."
WORDS = ("KALUMI", "TORVEN")
MAX_TOKENS = 32
"""Tokens of an answer, enough for a JSON object with one of the words, spaces and line breaks."""


@dataclass(frozen=True, slots=True)
class CarrierTest:
    """A server's reaction to one field."""

    carrier: Carrier
    outcome: Literal["honoured", "ignored", "refused"]
    answer: str
    """The model's answer, or the server's reason."""
    is_answered: bool
    """Return whether the server answered, with or without the field."""


async def try_carriers(endpoint: Endpoint) -> tuple[CarrierTest, ...]:
    """Test the fields in order, up to the first that the server honours. Raises EndpointUnreachable."""
    tested: list[CarrierTest] = []
    for carrier in CARRIERS:
        tested.append(await _try(endpoint, carrier))
        if tested[-1].outcome == "honoured":
            break
    return tuple(tested)


def honoured(tested: tuple[CarrierTest, ...]) -> Carrier | None:
    """Return the carrier that the server honours; None if it honours none."""
    return next((test.carrier for test in tested if test.outcome == "honoured"), None)


async def _try(endpoint: Endpoint, carrier: Carrier) -> CarrierTest:
    asked = one_of_words(WORDS, carrier)
    try:
        completion = await endpoint.complete(
            [question(QUESTION)], temperature=0.0, seed=0, max_tokens=MAX_TOKENS, structured=asked
        )
    except EndpointRefused as error:
        return CarrierTest(carrier, "refused", str(error), is_answered=False)
    if FIELDS[carrier] in endpoint.dropped_fields:
        return CarrierTest(carrier, "refused", f"{FIELDS[carrier]} is not accepted", is_answered=True)
    outcome: Literal["honoured", "ignored"] = "honoured" if is_kept(asked, completion.text) else "ignored"
    return CarrierTest(carrier, outcome, completion.text, is_answered=True)
