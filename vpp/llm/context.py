"""Estimates whether a prompt fits a model's context, and checks before a run starts that its prompts can.

The estimate is an upper bound, since each model has its own tokenizer. Plain text counts a token for three letters or
blanks (real tokenizers take four and more), one for each digit and sign, and one for two bytes of other scripts. If a
context length is unknown (0), every prompt fits, and the server decides.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts
from vpp.llm.protocol import Messages
from vpp.llm.rendering import render_input
from vpp.problem import Prediction

MARGIN = 1.1
"""Allowance for other texts than those whose tokens a server has counted."""
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


def counted_factor(counts: Mapping[str, int]) -> float:
    """Return the factor of `ModelLimits` from the tokens that a server counts in each text; 1 without any."""
    return MARGIN * max((count / tokens_at_most(text) for text, count in counts.items()), default=1 / MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Tokens that a model can read and write."""

    max_tokens: int
    """Tokens of one answer."""
    context_length: int = 0
    """Tokens of a prompt and its answer together; 0 if unknown."""
    factor: float = 1.0
    """Tokens for each one of `prompt_tokens`, as the server's tokenizer counts this table's longest rows."""

    def bounded(self) -> "ModelLimits":
        """Return these limits with at most half the context for an answer."""
        if not self.context_length:
            return self
        return replace(self, max_tokens=max(1, min(self.max_tokens, self.context_length // 2)))

    def tokens(self, messages: Messages) -> int:
        """Return an upper estimate of the tokens of a conversation."""
        return ceil(self.factor * prompt_tokens(messages))

    def fit(self, messages: Messages) -> bool:
        """Return whether a conversation and its answer surely fit the context."""
        return not self.context_length or self.tokens(messages) + self.max_tokens <= self.context_length

    def shortfall(self, messages: Messages) -> str | None:
        """Return the tokens needed and the tokens available as words, or None if the conversation fits."""
        if self.fit(messages):
            return None
        return (
            f"takes up to {self.tokens(messages):,} tokens and its answer up to {self.max_tokens:,}, "
            f"and the model's context is {self.context_length:,}"
        )


REMEDY = (
    "leave out long columns, cut long texts, or serve the model with a longer context (--limit context=N says it "
    "where the server does not)"
)


def check_fit(
    learner: LearnerPrompts, optimizer: OptimizerPrompts, *, learner_limits: ModelLimits, optimizer_limits: ModelLimits
) -> None:
    """Raise InputError if the longest row leaves no room for an answer even with the shortest hypothesis."""
    dataset = learner.dataset
    for longest in longest_rows(dataset.labelled, 1, learner.cell_limit):
        if shortfall := learner_limits.shortfall(learner.messages(optimizer.seed_text, longest)):
            raise InputError(f"the learner's prompt about row {longest.id + 1} {shortfall}: {REMEDY}")
    row = longest_rows(dataset.train, 1, optimizer.cell_limit)
    asked = optimizer.about_batch(optimizer.seed_text, row, [Prediction(row=one.id, value=None) for one in row])
    if shortfall := optimizer_limits.shortfall(asked):
        raise InputError(f"the optimizer's prompt about row {row[0].id + 1} alone {shortfall}: {REMEDY}")


def longest_rows(rows: Iterable[Row], count: int, cell_limit: int) -> Sequence[Row]:
    """Return the rows with the longest prompts, the longest first. cell_limit: characters shown of a cell."""
    return sorted(rows, key=lambda row: prompt_bytes(row, cell_limit), reverse=True)[:count]


def prompt_bytes(row: Row, cell_limit: int) -> int:
    """Return the bytes of a row in a prompt. cell_limit: characters shown of a cell."""
    return len(render_input(row, limit=cell_limit).encode("utf-8", "replace"))


def longest_cell(dataset: Dataset) -> int:
    rows = (*dataset.labelled, *dataset.unlabelled)
    return max((len(cell or "") for row in rows for _, cell in row.inputs), default=0)


LEAST_SHOWN = 500
"""Characters of a cell that are always shown, unless the user asks for fewer."""
LEAST_IN_BATCH = 1_500
"""Characters below which cells are not cut for the optimizer's sake: it then leaves out rows of a batch."""
_STEP = 100
_HYPOTHESIS = " answer" * 170
"""Stands for a long hypothesis."""


def fitting_cell_limit(
    learner: LearnerPrompts,
    optimizer: OptimizerPrompts,
    batches: Sequence[Sequence[Row]],
    *,
    limits: tuple[ModelLimits, ModelLimits],
) -> int:
    """Return the characters of a cell with which the longest row and the longest batch fit; 0 if whole cells do.

    A batch alone cuts no cell below LEAST_IN_BATCH, as the learner has to answer from what is left.
    limits: of learner and optimizer.
    """
    dataset = learner.dataset
    asked = (*dataset.labelled, *dataset.unlabelled)
    text = f"{optimizer.seed_text}{_HYPOTHESIS}"

    def fits(limit: int) -> bool:
        size = {row.id: prompt_bytes(row, limit) for row in asked}
        longest = max(asked, key=lambda row: size[row.id])
        batch = tuple(max(batches, key=lambda rows: sum(size[row.id] for row in rows)))
        given = [Prediction(row=row.id, value=None) for row in batch]  # all wrong: templates may list mistakes again
        about_row = replace(learner, cell_limit=limit).messages(text, longest)
        about_batch = replace(optimizer, cell_limit=limit).about_batch(text, batch, given)
        is_short = (limit or longest_cell(dataset)) <= LEAST_IN_BATCH
        return limits[0].fit(about_row) and (is_short or limits[1].fit(about_batch))

    if not batches or not any(each.context_length for each in limits) or fits(0):
        return 0
    lengths = range(LEAST_SHOWN, longest_cell(dataset), _STEP)
    n_fitting = bisect_left(lengths, True, key=lambda limit: not fits(limit))
    return lengths[max(0, n_fitting - 1)] if lengths else 0
