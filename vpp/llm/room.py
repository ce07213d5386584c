"""What a run asks at the least, against its models' contexts: refused before it starts where that cannot fit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.llm.context import prompt_tokens
from vpp.llm.learner import learner_messages
from vpp.llm.optimizer import OptimizerPrompts
from vpp.llm.prompts import render_input
from vpp.llm.protocol import Messages
from vpp.llm.structure import FREE_TEXT, StructuredAnswers
from vpp.llm.templates import Template
from vpp.problem import Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a model has room for."""

    context_length: int
    """Tokens, prompt and answer together; 0 where nobody knows."""
    max_tokens: int
    """Of one answer."""

    def bounded(self) -> "Room":
        """An answer takes half the context at most."""
        if not self.context_length:
            return self
        return replace(self, max_tokens=max(1, min(self.max_tokens, self.context_length // 2)))

    def lacks(self, messages: Messages, *, answers: int = 1) -> str | None:
        """What is needed and what there is, where a conversation and its answers may not fit."""
        asked, answered = prompt_tokens(messages), self.max_tokens * answers
        if not self.context_length or asked + answered <= self.context_length:
            return None
        return (
            f"takes up to {asked:,} tokens and its answer up to {answered:,}, and the model's context is "
            f"{self.context_length:,}"
        )


MEND = (
    "leave out long columns, cut long texts, or serve the model with a longer context (--context-length says it "
    "where the server does not)"
)


def check_room(
    dataset: Dataset,
    template: Template,
    prompts: OptimizerPrompts,
    *,
    learner: Room,
    optimizer: Room,
    points_per_call: int = 1,
    structured: StructuredAnswers = FREE_TEXT,
) -> None:
    """Raises InputError where the longest row leaves no room for an answer, with the shortest hypothesis there is."""
    longest = _longest((*dataset.train, *dataset.test), points_per_call)
    if not longest:
        return
    asked = learner_messages(template, dataset, prompts.seed_text, longest, structured)
    if lack := learner.lacks(asked, answers=len(longest)):
        what = f"about row {longest[0].id + 1}" if len(longest) == 1 else f"about the {len(longest)} longest rows"
        mend = MEND if len(longest) == 1 else f"ask about fewer points a call (--points-per-call), {MEND}"
        raise InputError(f"the learner's prompt {what} {lack}: {mend}")
    row = _longest(dataset.train, 1)
    asked = prompts.about_batch(prompts.seed_text, row, [Prediction(row=one.id, value=None) for one in row])
    if lack := optimizer.lacks(asked):
        raise InputError(f"the optimizer's prompt about row {row[0].id + 1} alone {lack}: {MEND}")


def _longest(rows: Iterable[Row], count: int) -> Sequence[Row]:
    return sorted(rows, key=lambda row: len(render_input(row).encode("utf-8", "replace")), reverse=True)[:count]
