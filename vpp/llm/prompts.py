"""What goes into a template's slots: rows, answers and instructions as text, a line each."""

import re
from collections.abc import Iterable, Sequence

from vpp.data.dataset import Dataset, Row, Value
from vpp.problem import Prediction

TEXT_LIMIT = 2_000
"""Characters of a name or cell that a prompt shows."""
CUT = " […]"
MISSING = "missing"
NO_ANSWER = "no answer"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def one_line(text: str) -> str:
    """`text` with control characters written out and cut at 2,000 characters."""
    cut = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + CUT
    return _CONTROL.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), cut)


def render_value(value: Value) -> str:
    """A label in one line, or a number in its shortest form: 3 for 3.0."""
    if isinstance(value, str):
        return one_line(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def render_input(row: Row) -> str:
    """`name: value`, a line a column."""
    return "\n".join(f"{one_line(name)}: {MISSING if cell is None else one_line(cell)}" for name, cell in row.inputs)


def render_inputs(rows: Sequence[Row]) -> str:
    """Each row's input under its number, from 1."""
    return "\n".join(f"[{number}]\n{render_input(row)}" for number, row in enumerate(rows, 1))


def render_predictions(predictions: Sequence[Prediction]) -> str:
    """What was answered for each row, by its number."""
    return _numbered((given.value for given in predictions), absent=NO_ANSWER)


def render_targets(rows: Sequence[Row]) -> str:
    """Each row's correct output, by its number."""
    return _numbered((row.target for row in rows), absent=MISSING)


def _numbered(values: Iterable[Value | None], *, absent: str) -> str:
    shown = (absent if value is None else render_value(value) for value in values)
    return "\n".join(f"[{number}] {line}" for number, line in enumerate(shown, 1))


def learner_answer_form(dataset: Dataset) -> str:
    """How the learner is to answer."""
    form = (
        "Answer in exactly this form:\n"
        "Explanation: one or two short sentences\n"
        f"Output: {_answer_kind(dataset)}, nothing else"
    )
    return _after_labels(dataset, form)


def pack_answer_form(dataset: Dataset, count: int) -> str:
    """How the learner is to answer several inputs at once."""
    form = (
        f"There are {count} inputs, each under its number. Apply the rule to each of them by itself: what it gives for "
        "one says nothing of another. Answer all of them, in their order, each in exactly this form, with the input's "
        "own number in the brackets:\n"
        "Explanation [1]: one or two short sentences\n"
        f"Output [1]: {_answer_kind(dataset)}, nothing else"
    )
    return _after_labels(dataset, form)


def _answer_kind(dataset: Dataset) -> str:
    return "one of the labels" if dataset.task == "classification" else "a number"


def _after_labels(dataset: Dataset, text: str) -> str:
    return f"{_labels(dataset)}\n\n{text}" if dataset.task == "classification" else text


def optimizer_task(dataset: Dataset) -> str:
    """What the optimizer is to do."""
    task = (
        f"The output is {one_line(dataset.target)}. If the current rule already answers this batch well, keep it. "
        "Otherwise change it so that it gives the correct outputs here and also holds for batches not yet seen: look "
        "for what the rows have in common, and do not list these rows. Be explicit: give exact values (numbers, "
        "thresholds, names), so that whoever follows the rule can work out the output from an input alone."
    )
    return f"{task}\n\n{_labels(dataset)}" if dataset.task == "classification" else task


def optimizer_answer_form() -> str:
    """How the optimizer is to answer."""
    return (
        "Answer in exactly this form:\n"
        "Reasoning: a few sentences on what the current rule gets right and wrong\n"
        "New rule: the whole new rule, complete in itself, and nothing after it"
    )


def render_columns(dataset: Dataset) -> str:
    """`name: kind`, a line an input column; and the labels, where the output is one of them."""
    kinds = {column.name: column.kind for column in dataset.columns}
    columns = "\n".join(f"{one_line(name)}: {kinds[name]}" for name in dataset.inputs)
    return f"{columns}\n\n{_labels(dataset)}" if dataset.task == "classification" else columns


def prior_answer_form() -> str:
    """How the optimizer is to answer where no row is shown."""
    return (
        "Answer in exactly this form:\n"
        "Reasoning: a few sentences on why such a rule could hold\n"
        "New rule: the whole rule, complete in itself, and nothing after it"
    )


def seed_sentence(dataset: Dataset, prior: str = "") -> str:
    """What every hypothesis begins with: the task, the target, and what the user already believes."""
    belief = " ".join(prior.split())
    stop = "" if not belief or belief.endswith((".", "!", "?")) else "."
    return f"You are designed to do {_task_name(dataset)}: predict {one_line(dataset.target)}. {belief}{stop}".rstrip()


def _task_name(dataset: Dataset) -> str:
    if dataset.task == "regression":
        return "regression"
    return "binary classification" if len(dataset.classes) <= 2 else "multi-class classification"


def _labels(dataset: Dataset) -> str:
    return "\n".join(["Labels:", *(f"- {one_line(label)}" for label in dataset.classes)])
