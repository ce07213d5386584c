"""Conversations with a model: its question, its answer, and the words that ask again after an unreadable answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from vpp.llm.answers import Parsed
from vpp.llm.protocol import Completion, Message, Messages
from vpp.llm.structure import Structure

ASKS = 3
"""Attempts at a readable answer: the question, and two repetitions."""
REFUSED = "An earlier answer was refused:"
"""Begins the line that gives a fault of an earlier proposal."""
CUT_OFF = "An earlier answer was cut off at its limit of tokens: explain in one short sentence."
"""Begins a question whose answer was too long."""
REPEATED_LIMIT = 4_000
"""Characters of an answer that are shown to the model again."""

P = TypeVar("P", bound=Parsed[Any])


class Chat(Protocol):
    """The part of an endpoint that learner and optimizer use."""

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        structured: Structure | None = None,
        top_logprobs: int = 0,
    ) -> Completion:
        """Return one answer. Raises EndpointError."""
        ...


def question(text: str) -> Message:
    """Return a turn of the user."""
    return {"role": "user", "content": text}


def answer(raw: str) -> Message:
    """Return the model's own turn, shortened for showing it again."""
    return {"role": "assistant", "content": raw.strip()[:REPEATED_LIMIT] or "(empty)"}


def complaint(raw: str, faults: Mapping[int, str | None], *, of: int) -> list[Message]:
    """Return the answer about `of` inputs, and the request to answer some again. faults: reasons by their numbers."""
    if of == 1:
        asked = f"That answer could not be read: {faults[1]}. Answer again, in exactly the asked form."
    else:
        listed = "\n".join(f"[{number}]: {reason}" for number, reason in faults.items())
        asked = (
            f"Not every answer could be read:\n{listed}\n"
            "Answer these inputs again, and only these, each under its own number, in exactly the asked form."
        )
    return [answer(raw), question(asked)]


def asked_briefly(messages: Sequence[Message]) -> list[Message]:
    """Return the same question about one input, below a line that asks for a short answer.

    The answer that was cut off is left out: a small model that sees it gives no answer at all.
    """
    return [*messages[:-1], question(f"{CUT_OFF}\n{messages[-1]['content']}")]


def asked_anew(messages: Sequence[Message], faults: Sequence[str]) -> list[Message]:
    """Return the same question, below a line for each fault of the answers so far.

    These answers are left out: a small model that sees its own wrong answer stops answering in the asked form.
    """
    reasons = "".join(f"{REFUSED} {fault}.\n" for fault in faults)
    return [*messages[:-1], question(reasons + messages[-1]["content"])]


def whole_lines(completion: Completion) -> str:
    """Return the answer without a last line that was cut off: half a number is a wrong number."""
    return completion.text.rpartition("\n")[0] if completion.cut_off else completion.text


def noting_cut(parsed: P, completion: Completion) -> P:
    """Return `parsed`; if an answer was cut off and unreadable, its reason says so."""
    if parsed.value is not None or not completion.cut_off:
        return parsed
    cut = cut_off_words(completion)
    return replace(parsed, reason=f"{parsed.reason} ({cut})" if whole_lines(completion).strip() else cut)


def cut_off_words(completion: Completion) -> str:
    """Say that an answer stopped at its token limit, and how to give it room."""
    if completion.reasoning and not completion.text.strip():
        return "cut off at its limit of tokens while it thought; a higher limit, or less thinking, gives it room"
    return "the answer was cut off at its limit of tokens; a higher limit gives it room"
