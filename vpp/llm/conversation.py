"""A conversation with a model: what is asked, what it answered, and asking again where that could not be read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from vpp.llm.answers import Parsed
from vpp.llm.protocol import Completion, Message, Messages
from vpp.llm.structure import Structure

ASKS = 3
"""An answer that cannot be read is asked for again twice."""
REFUSED = "An earlier answer was refused:"
"""Begins the line that says what was wrong with a proposal."""
REPEATED_LIMIT = 4_000
"""Characters of an answer that are shown to the model again."""

P = TypeVar("P", bound=Parsed[Any])


class Chat(Protocol):
    """What a role needs of an endpoint."""

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        structured: Structure | None = None,
    ) -> Completion:
        """One answer. Raises EndpointError."""
        ...


def question(text: str) -> Message:
    """What a model is asked."""
    return {"role": "user", "content": text}


def answer(raw: str) -> Message:
    """What it said, as it is shown to it again."""
    return {"role": "assistant", "content": raw.strip()[:REPEATED_LIMIT] or "(empty)"}


def complaint(raw: str, reason: str | None) -> list[Message]:
    """The answer and what is wrong with it, as the conversation goes on."""
    return [answer(raw), question(f"That answer could not be read: {reason}. Answer again, in exactly the asked form.")]


def asked_anew(messages: Sequence[Message], faults: Sequence[str]) -> list[Message]:
    """The same question. A line for each fault, above the last turn, says why an earlier answer was refused.

    The refused answers are left out. A small model that sees its own wrong answer stops answering in the asked form.
    """
    reasons = "".join(f"{REFUSED} {fault}.\n" for fault in faults)
    return [*messages[:-1], question(reasons + messages[-1]["content"])]


def whole_lines(completion: Completion) -> str:
    """The answer without a last line that was cut off: half a number is a wrong number."""
    return completion.text.rpartition("\n")[0] if completion.cut_off else completion.text


def told_of_cut(parsed: P, completion: Completion) -> P:
    """What was read, its reason naming the cut where nothing could be read of an answer that was cut off."""
    if parsed.value is not None or not completion.cut_off:
        return parsed
    return replace(parsed, reason=f"{parsed.reason} ({cut_off_words(completion)})")


def cut_off_words(completion: Completion) -> str:
    """What it means that an answer stopped at its limit, and the mend."""
    if completion.reasoning and not completion.text.strip():
        return "cut off at its limit of tokens while it thought; a higher limit, or less thinking, gives it room"
    return "the answer was cut off at its limit of tokens; a higher limit gives it room"
