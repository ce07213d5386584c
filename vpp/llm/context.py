"""Estimates whether a prompt fits a model's context, and checks before a run starts that its prompts can.

The estimate is an upper bound, since each model has its own tokenizer. Plain text counts a token for three letters or
blanks (real tokenizers take four and more), one for each digit and sign, and one for two bytes of other scripts. If a
context length is unknown (0), every prompt fits, and the server decides.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vpp.data.dataset import Row
from vpp.errors import InputError
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.problem import Prediction

MESSAGE_TOKENS = 8
"""Tokens that a chat template adds to a message, at most."""
CHAT_TOKENS = 24
"""Tokens that it adds to the whole conversation, at most."""

_LETTERS = re.compile(r"[A-Za-z\s]")
_SIGNS = re.compile(r"[!-@\[-`{-~]")


def tokens_at_most(text: str) -> int:
    """Return an upper bound of the tokens of a text."""
    letters, signs = len(_LETTERS.findall(text)), len(_SIGNS.findall(text))
    other = len(text.encode("utf-8", "replace")) - letters - signs
    return -(-letters // 3) + signs + -(-other // 2)


def prompt_tokens(messages: Messages) -> int:
    """Return an upper bound of the tokens of a conversation, with those that a chat template adds."""
    return CHAT_TOKENS + sum(MESSAGE_TOKENS + tokens_at_most(message["content"]) for message in messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Tokens that a model can read and write."""

    max_tokens: int
    """Tokens of one answer."""
    context_length: int = 0
    """Tokens of a prompt and its answer together; 0 if unknown."""

    def bounded(self) -> "ModelLimits":
        """Return these limits with at most half the context for an answer."""
        if not self.context_length:
            return self
        return replace(self, max_tokens=max(1, min(self.max_tokens, self.context_length // 2)))

    def fit(self, messages: Messages, *, answers: int = 1) -> bool:
        """Return whether a conversation and its answers surely fit the context."""
        return not self.context_length or prompt_tokens(messages) + self.max_tokens * answers <= self.context_length

    def shortfall(self, messages: Messages, *, answers: int = 1) -> str | None:
        """Return the tokens needed and the tokens available as words, or None if the conversation fits."""
        if self.fit(messages, answers=answers):
            return None
        return (
            f"takes up to {prompt_tokens(messages):,} tokens and its answer up to {self.max_tokens * answers:,}, "
            f"and the model's context is {self.context_length:,}"
        )


REMEDY = (
    "leave out long columns, cut long texts, or serve the model with a longer context (--context-length says it "
    "where the server does not)"
)


def check_fit(
    learner: LearnerPrompts,
    optimizer: OptimizerPrompts,
    *,
    learner_limits: ModelLimits,
    optimizer_limits: ModelLimits,
    points_per_call: int = 1,
) -> None:
    """Raise InputError if the longest rows leave no room for an answer even with the shortest hypothesis."""
    dataset = learner.dataset
    longest = _longest((*dataset.train, *dataset.test), points_per_call)
    if not longest:
        return
    asked = learner.messages(optimizer.seed_text, longest)
    if shortfall := learner_limits.shortfall(asked, answers=len(longest)):
        what = f"about row {longest[0].id + 1}" if len(longest) == 1 else f"about the {len(longest)} longest rows"
        remedy = REMEDY if len(longest) == 1 else f"ask about fewer points a call (--points-per-call), {REMEDY}"
        raise InputError(f"the learner's prompt {what} {shortfall}: {remedy}")
    row = _longest(dataset.train, 1)
    asked = optimizer.about_batch(optimizer.seed_text, row, [Prediction(row=one.id, value=None) for one in row])
    if shortfall := optimizer_limits.shortfall(asked):
        raise InputError(f"the optimizer's prompt about row {row[0].id + 1} alone {shortfall}: {REMEDY}")


def _longest(rows: Iterable[Row], count: int) -> Sequence[Row]:
    return sorted(rows, key=lambda row: len(render_input(row).encode("utf-8", "replace")), reverse=True)[:count]
