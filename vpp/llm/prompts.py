"""Every first question to a model: the learner's about rows, the optimizer's about a batch or about the columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset, Row
from vpp.llm import rendering
from vpp.llm.conversation import question
from vpp.llm.forms import Structure, answer_form, optimizer_form, outputs_of, prior_form, structure
from vpp.llm.guards import Guard
from vpp.llm.protocol import Message
from vpp.llm.templates import Template, built_in
from vpp.problem import Prediction
from vpp.programs.columns import Columns

NO_RULE = "none yet"

# --- the task in words ----------------------------------------------------------------------------------------------


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


# --- the learner ----------------------------------------------------------------------------------------------------


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
            outputs=outputs_of(self.dataset),
            answer_form=answer_form(self.template.style, self.dataset, is_structured=self.is_structured),
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
    translating: Template = field(default_factory=lambda: built_in("program"))
    questioning: Template = field(default_factory=lambda: built_in("question"))
    cell_limit: int = 0
    """Characters shown of a text."""

    def translation(self, hypothesis: str) -> list[Message]:
        """Return the question for the hypothesis as a program. The part that all hypotheses share comes first."""
        prompt = self.translating.fill(
            columns=rendering.render_arguments(self.columns, rendering.units(self.dataset)),
            outputs=outputs_of(self.dataset).replace("one of:", "one of"),
            rule=rule_of(self.dataset, hypothesis),
        )
        return [*self.translating.opening, described(self.dataset, prompt)]

    def about_text(self, words: str, text: str) -> list[Message]:
        prompt = self.questioning.fill(question=one_line(words), text=rendering.cut(text, self.cell_limit))
        return [*self.questioning.opening, question(prompt)]


# --- the optimizer --------------------------------------------------------------------------------------------------


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
            predictions=rendering.render_predictions(predictions),
            mistakes=rendering.render_mistakes(turned, predictions, *shown) if is_listed else NO_RULE,
            targets=rendering.render_targets(rows) if "targets" in slots else "",
            task=optimizer_task(self.dataset),
            outputs=outputs_of(self.dataset),
            answer_form=optimizer_form(self.refining.style),
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
            outputs=outputs_of(self.dataset),
            answer_form=prior_form(self.drawing.style),
        )
        return [*self.drawing.opening, described(self.dataset, prompt)]

    @cached_property
    def guard(self) -> Guard:
        """The guard that refuses proposals which are no rule for this table."""
        examples = f"{self.refining.examples}\n\n{self.drawing.examples}".strip()
        return Guard(dataset=self.dataset, seed_text=self.seed_text, examples=examples)
