"""Conversations with a model: its question, its answer, and the words that ask again after an unreadable answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from vpp.errors import EndpointRefused, PromptRefused
from vpp.llm.answers import Parsed
from vpp.llm.protocol import Completion, Message, Messages, Structure

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


FIRST, MOST_FIRST = 5, 512
"""Refused questions, before any was answered, at which a role may end, and at which it does."""


class Refusals:
    """Questions of one role that its server refused: each costs its row alone, unless all of the first are refused."""

    def __init__(self) -> None:
        self.has_answered = False
        self._refused = self._open = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a question that is asked inside. Raises EndpointRefused for its PromptRefused if none was answered.

        Refusals come faster than answers, so they are weighed against the questions that are still open.
        """
        self._open += 1
        try:
            yield
            self.has_answered = True
        except PromptRefused as refusal:
            self._refused += 1
            if not self.has_answered and self._refused >= max(FIRST, min(self._open, MOST_FIRST)):
                raise EndpointRefused(f"{refusal} (no question was answered, and {self._refused} refused)") from None
            raise
        finally:
            self._open -= 1


def question(text: str) -> Message:
    return {"role": "user", "content": text}


def complaint(raw: str, fault: str | None) -> list[Message]:
    """Return the answer, shortened, and the request to answer again. fault: why it could not be read."""
    answer = {"role": "assistant", "content": raw.strip()[:REPEATED_LIMIT] or "(empty)"}
    return [answer, question(f"That answer could not be read: {fault}. Answer again, in exactly the asked form.")]


def asked_briefly(messages: Sequence[Message]) -> list[Message]:
    """Return the same question, below a line that asks for a short answer.

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
