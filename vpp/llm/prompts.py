"""What goes into a template's slots: rows, answers and instructions as text, a line each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset, Row, Value
from vpp.data.kinds import is_number
from vpp.problem import Prediction

MISSING = "missing"
NO_ANSWER = "no answer"
NO_RULE = "none yet"
NO_UNITS: Mapping[str, str] = {}
LISTED = 40
"""Characters of a cell that is listed by column."""


@lru_cache(maxsize=1024)
def render_value(value: Value) -> str:
    """A label in one line, or a number in its shortest form: 3 for 3.0."""
    if isinstance(value, str):
        return one_line(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def units(dataset: Dataset) -> dict[str, str]:
    """The unit of each column whose numbers have one: a currency, %, cm."""
    return {c.name: one_line(c.notation.unit) for c in dataset.columns if c.notation is not None and c.notation.unit}


def render_input(row: Row, units: Mapping[str, str] = NO_UNITS) -> str:
    """`name: value`, a line a column; a number's unit after it."""
    return "\n".join(f"{one_line(name)}: {_cell(cell, units.get(name))}" for name, cell in row.inputs)


def _cell(cell: str | None, unit: str | None) -> str:
    if cell is None:
        return MISSING
    return f"{one_line(cell)} {unit}" if unit and is_number(cell) else one_line(cell)


def render_inputs(rows: Sequence[Row], units: Mapping[str, str] = NO_UNITS) -> str:
    """Each row's input under its number, from 1."""
    return "\n".join(f"[{number}]\n{render_input(row, units)}" for number, row in enumerate(rows, 1))


def render_predictions(predictions: Sequence[Prediction]) -> str:
    """What was answered for each row, by its number."""
    return _numbered((given.value for given in predictions), absent=NO_ANSWER)


def render_targets(rows: Sequence[Row]) -> str:
    """Each row's correct output, by its number."""
    return _numbered((row.target for row in rows), absent=MISSING)


def _numbered(values: Iterable[Value | None], *, absent: str) -> str:
    shown = [absent if value is None else render_value(value) for value in values]
    return "\n".join([f"[{number}] {line}" for number, line in enumerate(shown, 1)])


def render_rows(rows: Sequence[Row], units: Mapping[str, str] = NO_UNITS) -> str:
    """Each row's input and correct output in one line, equal outputs together, so that they can be compared."""
    return "\n".join(_labelled(row, units) for row in sorted(rows, key=_by_target))


def _by_target(row: Row) -> tuple[bool, Value]:
    return (False, 0.0) if row.target is None else (True, row.target)


def _labelled(row: Row, units: Mapping[str, str]) -> str:
    return f"{_in_one_line(row, units)} -> {MISSING if row.target is None else render_value(row.target)}"


def _in_one_line(row: Row, units: Mapping[str, str]) -> str:
    return render_input(row, units).replace("\n", ", ")


def render_mistakes(rows: Sequence[Row], predictions: Sequence[Prediction], units: Mapping[str, str] = NO_UNITS) -> str:
    """The rows whose answer differs from the correct output, with both; a number differs at any distance."""
    wrong = [
        f"{_labelled(row, units)} (the rule gave {NO_ANSWER if given.value is None else render_value(given.value)})"
        for row, given in zip(rows, predictions, strict=True)
        if given.value != row.target
    ]
    return "\n".join(wrong) or "none"


def turned_columns(row: Row, seed: int) -> Row:
    """The row with its first columns moved to its end, as many as `seed` says; 0 leaves it as it is.

    Small models make rules of what they read last: particles that see the columns in different orders try more of them.
    """
    at = seed % len(row.inputs)
    return replace(row, inputs=row.inputs[at:] + row.inputs[:at])


def render_values(rows: Sequence[Row], units: Mapping[str, str] = NO_UNITS) -> str:
    """The same rows column by column: what one output alone has, and what several share; nothing of long texts.

    `sky: only no: rain; shared: clear, haze`. A number is shared where the ranges of several outputs hold it:
    `size: only no: 2, 8 to 9; shared: 3 to 4`.
    """
    by_output: dict[Value | None, list[Row]] = {}
    for row in sorted(rows, key=_by_target):
        by_output.setdefault(row.target, []).append(row)
    lines = []
    for at, (name, _) in enumerate(rows[0].inputs):
        cells = {_output(output): [row.inputs[at][1] for row in group] for output, group in by_output.items()}
        if all(len(cell or "") <= LISTED for found in cells.values() for cell in found):
            lines.append(f"{one_line(name)}: {_told_apart(cells, units.get(name))}")
    return "\n".join(lines)


def _output(value: Value | None) -> str:
    return MISSING if value is None else render_value(value)


def _told_apart(cells: Mapping[str, Sequence[str | None]], unit: str | None) -> str:
    """One column's cells, by the outputs that have them."""
    known = {output: [cell for cell in found if cell is not None] for output, found in cells.items()}
    is_numeric = all(is_number(cell) for found in known.values() for cell in found)
    missing = [output for output, found in cells.items() if None in found]
    told: dict[str, list[str]] = {f"only {output}": [] for output in cells}
    told["shared"] = []
    for span, holders in (*(_spans(known, unit) if is_numeric else _words(known)), (MISSING, missing)):
        if holders:
            told["shared" if len(holders) > 1 else f"only {holders[0]}"].append(span)
    return "; ".join(f"{who}: {', '.join(listed)}" for who, listed in told.items() if listed)


def _words(known: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Each cell, in order, and the outputs that have it."""
    for cell in sorted({cell for found in known.values() for cell in found}):
        yield one_line(cell), [output for output, found in known.items() if cell in found]


def _spans(known: Mapping[str, Sequence[str]], unit: str | None) -> Iterator[tuple[str, list[str]]]:
    """Neighbouring numbers that lie in the ranges of the same outputs, as one span, and these outputs."""
    ranges = {output: (min(map(float, found)), max(map(float, found))) for output, found in known.items() if found}

    def holders(cell: str) -> list[str]:
        return [output for output, (low, high) in ranges.items() if low <= float(cell) <= high]

    cells = sorted({cell for found in known.values() for cell in found}, key=float)
    for held, group in groupby(cells, key=holders):
        ends = list(group)
        yield " to ".join(_cell(end, unit) for end in dict.fromkeys((ends[0], ends[-1]))), held


def outputs_of(dataset: Dataset) -> str:
    """The values that an output can have."""
    if dataset.task == "classification":
        return "one of: " + ", ".join(map(one_line, dataset.classes))
    return answer_kind(dataset)


def rule_of(dataset: Dataset, hypothesis: str) -> str:
    """The hypothesis without the sentence that every hypothesis begins with; `NO_RULE` where nothing is left."""
    return hypothesis.removeprefix(seed_sentence(dataset)).strip() or NO_RULE


def learner_answer_form(dataset: Dataset) -> str:
    """How the learner is to answer."""
    form = (
        "Answer in exactly this form:\n"
        "Explanation: one or two short sentences\n"
        f"Output: {answer_kind(dataset)}, nothing else"
    )
    return after_labels(dataset, form)


def pack_answer_form(dataset: Dataset, count: int) -> str:
    """How the learner is to answer several inputs at once."""
    form = (
        f"There are {count} inputs, each under its number. Apply the rule to each of them by itself: what it gives for "
        "one says nothing of another. Answer all of them, in their order, each in exactly this form, with the input's "
        "own number in the brackets:\n"
        "Explanation [1]: one or two short sentences\n"
        f"Output [1]: {answer_kind(dataset)}, nothing else"
    )
    return after_labels(dataset, form)


def answer_kind(dataset: Dataset) -> str:
    """What stands for a value in a form that is to be filled in."""
    if dataset.task == "classification":
        return "one of the labels"
    unit = units(dataset).get(dataset.target)
    return f"a number (in {unit})" if unit else "a number"


def after_labels(dataset: Dataset, text: str) -> str:
    """`text` below the labels, where there are such."""
    return f"{_labels(dataset)}\n\n{text}" if dataset.task == "classification" else text


def optimizer_task(dataset: Dataset) -> str:
    """What the optimizer is to do."""
    task = (
        f"The output is {one_line(dataset.target)}{_in_unit(dataset)}. If the current rule already answers this batch "
        "well, keep it. Otherwise change it so that it gives the correct outputs here and also holds for batches not "
        "yet seen: look for what the rows have in common, and do not list these rows. Be explicit: give exact values "
        "(numbers, thresholds, names), so that whoever follows the rule can work out the output from an input alone."
    )
    return f"{task}\n\n{_labels(dataset)}" if dataset.task == "classification" else task


def _in_unit(dataset: Dataset) -> str:
    """The unit that its numbers are in, after a comma; empty where there is none."""
    unit = units(dataset).get(dataset.target)
    return f", in {unit}" if unit else ""


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
