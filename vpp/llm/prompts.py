"""Every first question to a model: the learner's about rows, the optimizer's about a batch or about the columns.

Also whether a question fits a model's context. The tokens of a text are an upper bound, since each model has its own
tokenizer: one for three letters or blanks (real tokenizers take four and more), one for each digit and sign, and one
for two bytes of other scripts. If a context length is unknown (0), every prompt fits, and the server decides.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.llm import rendering
from vpp.llm.protocol import Message, Messages, Structure, structure_of
from vpp.llm.templates import Template, packaged
from vpp.problem import Prediction
from vpp.programs.columns import Columns

NO_RULE = "none yet"
EXPLANATION_LIMIT = 400
"""Maximum characters of a structured answer's explanation."""


def question(text: str) -> Message:
    return {"role": "user", "content": text}


def seed_sentence(dataset: Dataset, prior: str = "") -> str:
    """Return the text that begins every hypothesis: the task, the target and the user's prior belief."""
    belief = " ".join(prior.split())
    stop = "" if not belief or belief.endswith((".", "!", "?")) else "."
    classes = "binary" if len(dataset.classes) <= 2 else "multi-class"
    task = "regression" if dataset.task == "regression" else f"{classes} classification"
    return f"You are designed to do {task}: predict {one_line(dataset.target)}. {belief}{stop}".rstrip()


def rule_of(dataset: Dataset, hypothesis: str) -> str:
    """Return the hypothesis without the seed sentence, or `NO_RULE` if nothing is left."""
    return hypothesis.removeprefix(seed_sentence(dataset)).strip() or NO_RULE


def optimizer_task(dataset: Dataset) -> str:
    """Return the optimizer's instruction for a batch."""
    unit = rendering.units(dataset).get(dataset.target)
    task = (
        f"The output is {one_line(dataset.target)}{f', in {unit}' if unit else ''}. "
        "If the current rule already answers this batch "
        "well, keep it. Otherwise change it so that it gives the correct outputs here and also holds for batches not "
        "yet seen: look for what the rows have in common, and do not list these rows. Be explicit: give exact values "
        "(numbers, thresholds, names), so that whoever follows the rule can work out the output from an input alone."
    )
    return f"{task}\n\n{rendering.render_labels(dataset)}" if dataset.task == "classification" else task


def described(dataset: Dataset, prompt: str) -> Message:
    """Return the question, what the columns mean before it: a beginning that all questions share."""
    meanings = rendering.render_descriptions(dataset)
    return question(f"{meanings}\n\n{prompt}" if meanings else prompt)


def structure(dataset: Dataset) -> Structure:
    """Return the model of a learner's answer: an explanation, then a label as prompts show it, or a finite number."""
    labels = [one_line(label) for label in dataset.classes]
    return structure_of(
        explanation=Annotated[str, Field(min_length=1, max_length=EXPLANATION_LIMIT)],
        output=Literal[*labels] if labels else Annotated[float, Field(allow_inf_nan=False)],
    )


@dataclass(frozen=True, kw_only=True)
class LearnerPrompts:
    """Questions to the learner about a row, which follow from these fields alone."""

    dataset: Dataset
    template: Template
    is_structured: bool = False
    """Whether answers are JSON that the server holds to a schema."""
    cell_limit: int = 0
    """Characters shown of a cell, as `render_input` takes it."""

    def messages(self, hypothesis: str, row: Row) -> list[Message]:
        prompt = self.template.fill(
            hypothesis=hypothesis,
            rule=rule_of(self.dataset, hypothesis),
            input=rendering.render_input(row, self.units, self.cell_limit),
            outputs=rendering.outputs_of(self.dataset),
            answer_form=rendering.answer_form(self.template.style, self.dataset, is_structured=self.is_structured),
        )
        return [*self.template.opening, described(self.dataset, prompt)]

    @cached_property
    def structure(self) -> Structure | None:
        """The structure of an answer; None for free text."""
        return structure(self.dataset) if self.is_structured else None

    @property
    def is_lettered(self) -> bool:
        """True if the answer is the letter of a label."""
        return self.template.style == "letter"

    @cached_property
    def units(self) -> dict[str, str]:
        return rendering.units(self.dataset)


@dataclass(frozen=True, kw_only=True)
class ProgramPrompts:
    """Questions to the learner about a hypothesis as a program, and about a text that a program asks about."""

    dataset: Dataset
    columns: Columns
    translating: Template = field(default_factory=lambda: packaged("program"))
    questioning: Template = field(default_factory=lambda: packaged("question"))
    cell_limit: int = 0
    """Characters shown of a text."""

    def translation(self, hypothesis: str) -> list[Message]:
        """Return the question for the hypothesis as a program. The part that all hypotheses share comes first."""
        prompt = self.translating.fill(
            columns=rendering.render_arguments(self.columns, rendering.units(self.dataset)),
            outputs=rendering.outputs_of(self.dataset).replace("one of:", "one of"),
            rule=rule_of(self.dataset, hypothesis),
        )
        return [*self.translating.opening, described(self.dataset, prompt)]

    def about_text(self, words: str, text: str) -> list[Message]:
        prompt = self.questioning.fill(question=one_line(words), text=rendering.cut(text, self.cell_limit))
        return [*self.questioning.opening, question(prompt)]


@dataclass(frozen=True, kw_only=True)
class OptimizerPrompts:
    """Questions to the optimizer, which follow from these fields alone."""

    dataset: Dataset
    refining: Template
    """Role `optimizer`."""
    drawing: Template
    """Role `prior`."""
    seed_text: str
    """Beginning of every hypothesis, so that rules of any origin state the same task."""
    cell_limit: int = 0
    """Characters shown of a cell, as `render_input` takes it."""

    def about_batch(
        self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], *, seed: int = 0
    ) -> list[Message]:
        """Return the question about a batch.

        `seed` chooses the order of the columns and, if there is a rule to improve, of the worked examples.
        """
        turned = tuple(rendering.turned_columns(row, seed) for row in rows)
        slots, shown = self.refining.slots, (rendering.units(self.dataset), self.cell_limit)
        rule = rule_of(self.dataset, hypothesis)
        is_listed = "mistakes" in slots and rule != NO_RULE
        prompt = self.refining.fill(
            hypothesis=hypothesis,
            rule=rule,
            inputs=rendering.render_inputs(rows, *shown) if "inputs" in slots else "",
            rows=rendering.render_rows(turned, *shown) if "rows" in slots else "",
            values=rendering.render_values(turned, shown[0]) if "values" in slots else "",
            predictions=rendering.number_lines((each.value for each in predictions), rendering.NO_ANSWER),
            mistakes=rendering.render_mistakes(turned, predictions, *shown) if is_listed else NO_RULE,
            targets=rendering.number_lines((row.target for row in rows), rendering.MISSING),
            task=optimizer_task(self.dataset),
            outputs=rendering.outputs_of(self.dataset),
            answer_form=rendering.rule_form(self.refining.style, is_draw=False),
        )
        opening = self.refining.opening_for(0 if rule == NO_RULE else seed)
        return [*opening, described(self.dataset, prompt)]

    def shows_predictions(self, hypothesis: str) -> bool:
        """True if a question about a batch shows predictions: all, or the mistakes of a text that states a rule."""
        return "predictions" in self.refining.slots or rule_of(self.dataset, hypothesis) != NO_RULE

    def about_columns(self) -> list[Message]:
        """Return the question of a draw from the prior, which shows no row."""
        prompt = self.drawing.fill(
            hypothesis=self.seed_text,
            rule=rule_of(self.dataset, self.seed_text),
            columns=rendering.render_columns(self.dataset),
            outputs=rendering.outputs_of(self.dataset),
            answer_form=rendering.rule_form(self.drawing.style, is_draw=True),
        )
        return [*self.drawing.opening, described(self.dataset, prompt)]


# --- the context ----------------------------------------------------------------------------------------------------

MESSAGE_TOKENS = 8
"""Tokens that a chat template adds to a message, at most."""
CHAT_TOKENS = 24
"""Tokens that it adds to the whole conversation, at most."""
LEAST_SHOWN = 500
"""Characters of a cell that are always shown, unless the user asks for fewer."""
LEAST_IN_BATCH = 1_500
"""Characters below which cells are not cut for the optimizer's sake: it then leaves out rows of a batch."""
_STEP = 100
_HYPOTHESIS = " answer" * 170
"""Stands for a long hypothesis."""
_LETTERS = re.compile(r"[A-Za-z\s]")
_SIGNS = re.compile(r"[!-@\[-`{-~]")
REMEDY = (
    "leave out long columns, cut long texts, or serve the model with a longer context (--limit context=N says it "
    "where the server does not)"
)


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

    def fit(self, messages: Messages) -> bool:
        """Return whether a conversation and its answer surely fit the context."""
        return not self.context_length or prompt_tokens(messages) + self.max_tokens <= self.context_length

    def check(self, messages: Messages, what: str) -> None:
        """Raise InputError for a conversation that may not fit. what: names it."""
        if not self.fit(messages):
            raise InputError(
                f"{what} takes up to {prompt_tokens(messages):,} tokens and its answer up to {self.max_tokens:,}, "
                f"and the model's context is {self.context_length:,}: {REMEDY}"
            )


def longest_prompts(
    learner: LearnerPrompts, optimizer: OptimizerPrompts, hypothesis: str
) -> list[tuple[Messages, str]]:
    """Return the learner's and the optimizer's question about the longest row, each with its name."""
    rows = (*learner.dataset.labelled, *learner.dataset.unlabelled)
    row = max(rows, key=lambda row: prompt_bytes(row, learner.cell_limit))
    shown = max(learner.dataset.train, key=lambda row: prompt_bytes(row, optimizer.cell_limit))
    about_one = optimizer.about_batch(hypothesis, [shown], [Prediction(row=shown.id, value=None)])
    return [
        (learner.messages(hypothesis, row), f"the learner's prompt about row {row.id + 1}"),
        (about_one, f"the optimizer's prompt about row {shown.id + 1} alone"),
    ]


def check_fit(learner: LearnerPrompts, optimizer: OptimizerPrompts, limits: Sequence[ModelLimits]) -> None:
    """Raise InputError if the longest row leaves no room for an answer even with the shortest hypothesis."""
    for (messages, what), limit in zip(longest_prompts(learner, optimizer, optimizer.seed_text), limits, strict=True):
        limit.check(messages, what)


def prompt_bytes(row: Row, cell_limit: int) -> int:
    """Return the bytes of a row in a prompt. cell_limit: characters shown of a cell."""
    return len(rendering.render_input(row, limit=cell_limit).encode("utf-8", "replace"))


def longest_cell(dataset: Dataset) -> int:
    rows = (*dataset.labelled, *dataset.unlabelled)
    return max((len(cell or "") for row in rows for _, cell in row.inputs), default=0)


def fitting_cell_limit(
    learner: LearnerPrompts,
    optimizer: OptimizerPrompts,
    batches: Sequence[Sequence[Row]],
    limits: Sequence[ModelLimits],
) -> int:
    """Return the characters of a cell with which the longest row and the longest batch fit; 0 if whole cells do.

    A batch alone cuts no cell below LEAST_IN_BATCH, as the learner has to answer from what is left.
    """
    longest, text = longest_cell(learner.dataset), optimizer.seed_text + _HYPOTHESIS

    def fits(cell_limit: int) -> bool:
        of_optimizer = replace(optimizer, cell_limit=cell_limit)
        prompts = longest_prompts(replace(learner, cell_limit=cell_limit), of_optimizer, text)
        size = {row.id: prompt_bytes(row, cell_limit) for rows in batches for row in rows}
        batch = max(batches, key=lambda rows: sum(size[row.id] for row in rows))
        about_batch = of_optimizer.about_batch(text, batch, [Prediction(row=row.id, value=None) for row in batch])
        is_short = (cell_limit or longest) <= LEAST_IN_BATCH
        return all(limit.fit(messages) for limit, (messages, _) in zip(limits, prompts, strict=True)) and (
            is_short or limits[1].fit(about_batch)
        )

    if not batches or not any(each.context_length for each in limits) or fits(0):
        return 0
    lengths = range(LEAST_SHOWN, longest, _STEP)
    n_fitting = bisect_left(lengths, True, key=lambda limit: not fits(limit))
    return lengths[max(0, n_fitting - 1)] if lengths else 0
