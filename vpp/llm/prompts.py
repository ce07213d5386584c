"""Every first question to a model: the learner's about rows, the optimizer's about a batch or about the columns.

Rows, outputs and columns are rendered so that no text of the table begins a line of the prompt.
Also whether a question fits a model's context. The tokens of a text are an upper bound, since each model has its own
tokenizer: one for three letters or blanks (real tokenizers take four and more), one for each digit and sign, and one
for two bytes of other scripts. If a context length is unknown (0), every prompt fits, and the server decides.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from vpp.answers import escaped, one_line
from vpp.data.dataset import Dataset, Row, Value
from vpp.data.numbers import is_number
from vpp.errors import InputError, counted
from vpp.llm.protocol import Structure, structure_of
from vpp.llm.templates import Message, Messages, Template, shipped
from vpp.problem import Prediction
from vpp.programs.columns import Argument, Columns

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""One token each, in the order of the labels; servers list at most 20 alternatives."""
NO_RULE = "none yet"
MISSING = "missing"
NO_ANSWER = "no answer"
LISTED_VALUES, FEW_NUMBERS = 20, 3
"""Most values of a column that a program's writer is told, of words and of numbers."""
LISTED = 40
"""Maximum characters of a cell in the listing by column."""
COMMONEST, RANGES, CUTS = 8, 3, 100
"""Most categories of a column that are listed one by one, ranges of its numbers, and cuts tried for a range."""
ROUNDING = 1e-9
"""Share of a column's spread of outputs below which a cut gains nothing."""
QUOTED = "| "
"""Begins each line of a cell with several lines, so that none reads as a fence, a row's number or a heading."""


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


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Questions to a model about a table, which follow from these fields alone."""

    dataset: Dataset
    cell_limit: int = 0
    """Characters shown of a cell; 0 shows all."""

    def ask(self, template: Template, hypothesis: str, *, seed: int = 0, **slots: str) -> list[Message]:
        """Return a conversation about a hypothesis. `seed` chooses the order of its worked examples."""
        rule = rule_of(self.dataset, hypothesis)
        words = template.fill(**{"hypothesis": hypothesis, "rule": rule, "outputs": self.outputs, **slots})
        return [*template.opening_for(0 if rule == NO_RULE else seed), question(_paragraphs(self.meanings, words))]

    def display(self, row: Row) -> Row:
        """Return the row with its cells as prompts show them: cut at their limit, and numbers with their unit."""

        def text(name: str, cell: str | None) -> str | None:
            return cell and _with_unit(cut(cell, self.cell_limit), self.units.get(name))

        return replace(row, inputs=tuple((name, text(name, cell)) for name, cell in row.inputs))

    @cached_property
    def units(self) -> dict[str, str]:
        units = {column.name: column.notation.unit for column in self.dataset.columns if column.notation}
        return {name: one_line(unit) for name, unit in units.items() if unit}

    @cached_property
    def meanings(self) -> str:
        """What inputs, target and labels mean, a line each in a fence; empty if nothing is described."""
        target, texts = one_line(self.dataset.target), self.dataset.descriptions
        names = {name: one_line(name) for name in self.dataset.inputs} | {self.dataset.target: f"{target} (the output)"}
        lines = [f"{names[name]}: {one_line(text)}" for name, text in texts.columns.items() if name in names]
        lines += [f"{target} = {one_line(label)}: {one_line(text)}" for label, text in texts.labels.items()]
        return "\n".join(["What the columns mean:", "<<<", *lines, ">>>"]) if lines else ""

    @cached_property
    def labels(self) -> str:
        labels = [f"- {one_line(label)}" for label in self.dataset.classes]
        return "\n".join(["Labels:", *labels]) if labels else ""

    @cached_property
    def output(self) -> str:
        unit = self.units.get(self.dataset.target)
        number = f"a number (in {unit})" if unit else "a number"
        return "one of the labels" if self.dataset.classes else number

    @property
    def outputs(self) -> str:
        return f"one of: {', '.join(map(one_line, self.dataset.classes))}" if self.dataset.classes else self.output


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


@dataclass(frozen=True, kw_only=True)
class LearnerPrompts(Prompts):
    template: Template
    is_structured: bool = False
    """Whether answers are JSON that the server holds to a schema."""

    def messages(self, hypothesis: str, row: Row) -> list[Message]:
        cells = render_input(self.display(row))
        return self.ask(self.template, hypothesis, input=cells, answer_form=self.answer_form)

    @cached_property
    def answer_form(self) -> str:
        """The words that tell the model how to answer; empty if worked examples show it."""
        labels, is_shown = map(one_line, self.dataset.classes), self.template.style == "shown"
        if self.is_lettered:
            lines = [f"- {letter} = {label}" for letter, label in zip(LETTERS, labels, strict=False)]
            return shipped("letter").fill(labels="\n".join(lines))
        if is_shown and not self.is_structured:
            return ""
        # as JSON, since a unit may hold a quotation mark
        output = json.dumps(self.output) if self.is_structured else self.output
        form = shipped("json" if self.is_structured else "answer").fill(output=output)
        gap = "\n\n" if is_shown else ""  # its slot follows the input
        return f"{gap}{_paragraphs(self.labels, form)}"

    @cached_property
    def structure(self) -> Structure | None:
        """Model of an answer: an explanation, then a label as prompts show it or a number; None for free text."""
        if not self.is_structured:
            return None
        labels = [one_line(label) for label in self.dataset.classes]
        return structure_of(
            explanation=Annotated[str, Field(min_length=1, max_length=400)],
            output=Literal[*labels] if labels else Annotated[float, Field(allow_inf_nan=False)],
        )

    @property
    def is_lettered(self) -> bool:
        return self.template.style == "letter"


@dataclass(frozen=True, kw_only=True)
class ProgramPrompts(Prompts):
    """Questions to the learner about a hypothesis as a program, and about a text that a program asks about."""

    columns: Columns

    def translation(self, hypothesis: str) -> list[Message]:
        """Return the question for the hypothesis as a program. The part that all hypotheses share comes first."""
        arguments = "\n".join(_argument(each, self.units.get(each.name)) for each in self.columns.arguments.values())
        outputs = self.outputs.replace("one of:", "one of")
        return self.ask(shipped("program"), hypothesis, columns=arguments, outputs=outputs)

    def about_text(self, words: str, text: str) -> list[Message]:
        template = shipped("question")
        return [*template.opening, question(template.fill(question=one_line(words), text=cut(text, self.cell_limit)))]


@dataclass(frozen=True, kw_only=True)
class OptimizerPrompts(Prompts):
    refining: Template
    drawing: Template
    seed_text: str
    """Beginning of every hypothesis, so that rules of any origin state the same task."""

    def about_batch(
        self, hypothesis: str, rows: Sequence[Row], predictions: Sequence[Prediction], *, seed: int = 0
    ) -> list[Message]:
        """Return the question about a batch.

        `seed` chooses the order of the columns and, if there is a rule to improve, of the worked examples.
        """
        # Small models write rules about what they read last: particles that see other orders try more columns.
        first = seed % len(rows[0].inputs)
        turned = [replace(row, inputs=row.inputs[first:] + row.inputs[:first]) for row in rows]
        has_rule = rule_of(self.dataset, hypothesis) != NO_RULE
        slots: dict[str, Callable[[], str]] = {
            "inputs": lambda: "\n".join(f"[{at}]\n{render_input(self.display(row))}" for at, row in enumerate(rows, 1)),
            "rows": lambda: render_rows(map(self.display, turned)),
            "values": lambda: render_values(turned, self.units),
            "predictions": lambda: number_lines((each.value for each in predictions), NO_ANSWER),
            "mistakes": lambda: render_mistakes(map(self.display, turned), predictions) if has_rule else NO_RULE,
            "targets": lambda: number_lines((row.target for row in rows), MISSING),
            "task": lambda: self.task,
        }
        texts = {name: render() for name, render in slots.items() if name in self.refining.slots}
        return self.ask(self.refining, hypothesis, seed=seed, answer_form=rule_form(self.refining), **texts)

    @cached_property
    def task(self) -> str:
        unit = self.units.get(self.dataset.target)
        target = one_line(self.dataset.target) + (f", in {unit}" if unit else "")
        return _paragraphs(shipped("task").fill(target=target), self.labels)

    def shows_predictions(self, hypothesis: str) -> bool:
        """True if a question about a batch shows predictions: all, or the mistakes of a text that states a rule."""
        return "predictions" in self.refining.slots or rule_of(self.dataset, hypothesis) != NO_RULE

    def about_columns(self) -> list[Message]:
        """Return the question of a draw from the prior, which shows no row."""
        kinds = {column.name: column.kind for column in self.dataset.columns}
        names = "\n".join(f"{one_line(name)}: {kinds[name]}" for name in self.dataset.inputs)
        columns, form = _paragraphs(names, self.labels), rule_form(self.drawing)
        return self.ask(self.drawing, self.seed_text, columns=columns, answer_form=form)


def rule_form(template: Template) -> str:
    """Return the words that tell the optimizer how to answer; empty if worked examples show it."""
    form = shipped("guess" if template.role == "prior" else "improvement")
    return "" if template.style == "shown" else form.fill()


# --- rows and columns as text ---------------------------------------------------------------------------------------
# They take rows as `Prompts.display` returns them, or as they are, without units.


def render_value(value: Value | None, absent: str = MISSING) -> str:
    """Return a label in one line, or a number in its shortest form: 3 for 3.0; `absent` for None."""
    if value is None:
        return absent
    if isinstance(value, str):
        return one_line(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def render_input(row: Row) -> str:
    """Return a line `name: value` a column; the lines of a cell stand below its name, each behind a mark."""
    return "\n".join(f"{one_line(name)}:{_below(cell)}" for name, cell in row.inputs)


def _below(cell: str | None) -> str:
    lines = [] if cell is None else cell.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join(f"\n{QUOTED}{escaped(line)}" for line in lines) if len(lines) > 1 else f" {_cell(cell)}"


def _cell(cell: str | None) -> str:
    return MISSING if cell is None else escaped(cell)


def _with_unit(cell: str, unit: str | None) -> str:
    return f"{cell} {unit}" if unit and is_number(cell) else cell


def cut(cell: str, limit: int) -> str:
    """Return a cell, or its first `limit` characters and how many more it has; 0 cuts nothing."""
    if not limit or len(cell) <= limit:
        return cell
    return f"{cell[:limit]}… ({counted(len(cell) - limit, 'more character')})"


def cut_cells(dataset: Dataset, limit: int) -> dict[str, int]:
    """Return how many cells of training and test rows are shown in part, by column, if any are."""
    cells = (cell for row in dataset.labelled for cell in row.inputs) if limit else ()
    return dict(Counter(name for name, cell in cells if len(cell or "") > limit))


def number_lines(values: Iterable[Value | None], absent: str) -> str:
    """Return a line a value, each after its number from 1. absent: stands for None."""
    return "\n".join([f"[{number}] {render_value(value, absent)}" for number, value in enumerate(values, 1)])


def render_rows(rows: Iterable[Row]) -> str:
    """Return each row's input and correct output in one line, equal outputs together, for comparison."""
    ordered = sorted(rows, key=lambda row: (row.target is not None, row.target or 0.0))
    return "\n".join(map(_labelled, ordered))


def _labelled(row: Row) -> str:
    inputs = ", ".join(f"{one_line(name)}: {_cell(cell)}" for name, cell in row.inputs)
    return f"{inputs} -> {render_value(row.target)}"


def render_mistakes(rows: Iterable[Row], predictions: Sequence[Prediction]) -> str:
    """Return the rows whose prediction is not exactly the correct output, with both values.

    If branches of a program gave them, each branch stands above its rows: `x >= 80: 'no' is wrong on 5 of 8 rows:`.
    """
    branches: defaultdict[int, list[tuple[Row, Prediction]]] = defaultdict(list)
    for row, given in zip(rows, predictions, strict=True):
        branches[-1 if given.branch is None else given.branch].append((row, given))
    lines = []
    for branch, answered in sorted(branches.items()):
        wrong = [
            f"{_labelled(row)} (the rule gave {render_value(given.value, NO_ANSWER)})"
            for row, given in answered
            if given.is_mistake(row)
        ]
        if wrong and branch >= 0 and len(branches) > 1:
            words = cut(one_line(answered[0][1].explanation), 200)
            lines.append(f"{words} is wrong on {len(wrong)} of {counted(len(answered), 'row')}:")
        lines += wrong
    return "\n".join(lines) or "none"


def render_values(rows: Sequence[Row], units: Mapping[str, str]) -> str:
    """Return the rows column by column: each cell, or range of numbers, with the outputs of its rows.

    `sky: clear: 4 yes; rain: 3 no, 1 yes`, `size: 2 to 5: 3 no; 8 to 9: 4 yes`. Of numbers to predict, their bounds:
    `sky: clear: 4; rain: 7 to 10`. Columns with long texts are left out.
    """
    lines = []
    for at, (name, _) in enumerate(rows[0].inputs):
        outputs: defaultdict[str | None, list[Value]] = defaultdict(list)
        for row in rows:
            outputs[row.inputs[at][1]] += [] if row.target is None else [row.target]
        if all(len(cell or "") <= LISTED for cell in outputs):
            parts = "; ".join(f"{text}: {_outputs(of)}" for text, of in _parts(outputs, units.get(name)))
            lines.append(f"{one_line(name)}: {parts}")
    return "\n".join(lines)


def _outputs(outputs: Sequence[Value]) -> str:
    """Return `3 no, 1 yes` for labels, `7 to 10` for numbers."""
    if isinstance(outputs[0], str):
        return ", ".join(f"{n} {one_line(str(label))}" for label, n in sorted(Counter(outputs).items()))
    return _span(render_value(min(outputs)), render_value(max(outputs)))


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _parts(outputs: Mapping[str | None, list[Value]], unit: str | None) -> Iterator[tuple[str, list[Value]]]:
    """Yield a column's ranges or commonest cells, each with its outputs. outputs: by cell."""
    present = {cell: of for cell, of in outputs.items() if cell is not None}

    def outputs_of(cells: Iterable[str]) -> list[Value]:
        return [output for cell in cells for output in present[cell]]

    if present and all(map(is_number, present)):
        for cells in _ranges(sorted(present, key=float), lambda cells: _spread(outputs_of(cells))):
            yield _span(_with_unit(cells[0], unit), _with_unit(cells[-1], unit)), outputs_of(cells)
    else:
        common = sorted(present, key=lambda cell: (-len(present[cell]), cell))
        for cell in sorted(common[:COMMONEST]):
            yield one_line(cell), present[cell]
        if rest := common[COMMONEST:]:
            yield f"{len(rest)} others", outputs_of(rest)
    if None in outputs:
        yield MISSING, outputs[None]


def _ranges(cells: list[str], spread: Callable[[list[str]], float]) -> list[list[str]]:
    """Return the cells, numbers in ascending order, cut where outputs differ most, as a regression tree cuts."""
    ranges, least = [cells], ROUNDING * spread(cells)

    def gain(cut: tuple[int, int]) -> float:
        whole = ranges[cut[0]]
        return spread(whole) - (spread(whole[: cut[1]]) + spread(whole[cut[1] :]))

    for _ in range(RANGES - 1):
        cuts = [(at, k) for at, whole in enumerate(ranges) for k in range(1, len(whole), 1 + len(whole) // CUTS)]
        at, k = max(cuts, key=gain, default=(0, 0))
        if gain((at, k)) <= least:
            break
        ranges[at : at + 1] = [ranges[at][:k], ranges[at][k:]]
    return ranges


def _spread(outputs: Sequence[Value]) -> float:
    """Return the sum of squared distances from the mean; of labels n times their Gini impurity."""
    if not outputs:
        return 0.0
    if isinstance(outputs[0], str):
        return len(outputs) - sum(n * n for n in Counter(outputs).values()) / len(outputs)
    mean = sum(map(float, outputs)) / len(outputs)
    return sum((float(output) - mean) * (float(output) - mean) for output in outputs)


def _argument(argument: Argument, unit: str | None) -> str:
    """Return a column as a program's writer reads of it: `shore (“the shore”): text or None, one of rock, sand`."""
    name = "" if argument.name == argument.alias else f" (“{one_line(argument.name)}”)"
    absent = " or None" if argument.has_missing else ""
    values, n = argument.values, len(argument.values)
    listed = ", ".join(one_line(cut(value, LISTED)) for value in values[:LISTED_VALUES])
    numbers = f", one of {', '.join(values)}" if n <= FEW_NUMBERS else ""
    kind, details = {
        "prose": ("a text", ""),
        "number": ("number", numbers + (f", in {unit}" if unit else "")),
        "text": ("text", f", {'one of' if n <= LISTED_VALUES else f'{n} values such as'} {listed}"),
    }[argument.type]
    return f"{argument.alias}{name}: {kind}{absent}{details}"


# --- the context ----------------------------------------------------------------------------------------------------

CELL_LIMITS = (10_000, 7_000, 5_000, 3_500, 2_500, 1_800, 1_300, 900, 700, 500)
"""Characters shown of a cell that are tried. The last ones are always shown, unless the user asks for fewer.
A batch that does not fit cuts no cell: the optimizer leaves out rows."""
_HYPOTHESIS = " answer" * 170
"""Stands for a long hypothesis."""
_LETTERS = re.compile(r"[A-Za-z\s]")
_SIGNS = re.compile(r"[!-@\[-`{-~]")


def tokens_at_most(text: str) -> int:
    """Return an upper bound of the tokens of a text."""
    letters, signs = len(_LETTERS.findall(text)), len(_SIGNS.findall(text))
    other = len(text.encode("utf-8", "replace")) - letters - signs
    return -(-letters // 3) + signs + -(-other // 2)


def prompt_tokens(messages: Messages) -> int:
    """Return an upper bound of the tokens of a conversation, with those that a chat template adds to each message."""
    return 24 + sum(8 + tokens_at_most(message["content"]) for message in messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    max_tokens: int
    context_length: int = 0
    """Tokens of a prompt and its answer together; 0 if unknown."""

    def bounded(self) -> "ModelLimits":
        """Return these limits with at most half the context for an answer."""
        if not self.context_length:
            return self
        return replace(self, max_tokens=max(1, min(self.max_tokens, self.context_length // 2)))

    def fit(self, messages: Messages) -> bool:
        return not self.context_length or prompt_tokens(messages) + self.max_tokens <= self.context_length


def check_fit(
    learner: LearnerPrompts, optimizer: OptimizerPrompts, limits: Sequence[ModelLimits], rule: str = ""
) -> None:
    """Raise InputError if the longest row leaves no room for an answer. rule: follows the seed text."""
    every, hypothesis = (*learner.dataset.labelled, *learner.dataset.unlabelled), optimizer.seed_text + rule
    row, alone = (
        max(rows, key=lambda row: len(render_input(learner.display(row)).encode("utf-8", "replace")))
        for rows in (every, learner.dataset.train)
    )
    about = optimizer.about_batch(hypothesis, [alone], [Prediction(row=alone.id, value=None)])
    for what, messages, limit in (
        (f"the learner's prompt about row {row.id + 1}", learner.messages(hypothesis, row), limits[0]),
        (f"the optimizer's prompt about row {alone.id + 1} alone", about, limits[1]),
    ):
        if not limit.fit(messages):
            raise InputError(
                f"{what} takes up to {prompt_tokens(messages):,} tokens and its answer up to {limit.max_tokens:,}, "
                f"and the model's context is {limit.context_length:,}: leave out long columns, cut long texts, or "
                "serve the model with a longer context (--limit context=N says it where the server does not)"
            )


def fitting_cell_limit(learner: LearnerPrompts, optimizer: OptimizerPrompts, limits: Sequence[ModelLimits]) -> int:
    """Return the characters of a cell with which the longest row fits; 0 if whole cells do."""
    rows, limit = (*learner.dataset.labelled, *learner.dataset.unlabelled), 0
    longest = max((len(cell or "") for row in rows for _, cell in row.inputs), default=0)
    for limit in (0, *(limit for limit in CELL_LIMITS if limit < longest)):
        with suppress(InputError):
            check_fit(replace(learner, cell_limit=limit), replace(optimizer, cell_limit=limit), limits, _HYPOTHESIS)
            break
    return limit
