"""Tables as data and markdown; values, spreads and differences as text; the paper's own values from paper.json.

Accuracies are shown in percent.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any, Literal

from vpp.bench.outcome import Outcome
from vpp.bench.sweep import SweepSpec
from vpp.data.tasks import TASKS
from vpp.posterior.metric import deviation
from vpp.wording.escaping import markdown_table, markdown_text
from vpp.wording.words import NBSP, fixed, number

HERE, PAPER = "yours", "paper"
NONE = "–"
"""Shown where the paper has no value, and for cells that have not been run."""
ONE_SEED = "1 seed"
SMALL = 0.005
"""Mean squared errors below this would be shown as 0.00."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of plain text; escaped when it is drawn."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    explains: tuple[tuple[str, str], ...] = ()
    """Sentences on a column, by its head, or on rows of yours."""
    quiet: Literal["rows", "columns", ""] = ""
    """Quieter type: the paper's numbers in every second row or column."""
    labels: int = 2
    """Number of text columns at the left."""
    by_metric: bool = False
    """True if the numbers are the metric of a row's task."""

    @property
    def about(self) -> str:
        """The note, then the sentences on what the table shows."""
        shown = {*self.head, *(row[1].partition(",")[0] for row in self.rows)}
        return " ".join((self.note, *(words for name, words in self.explains if name in shown)))

    @property
    def metrics(self) -> dict[int, str]:
        """The metric of each block of rows, by its first row."""
        firsts: dict[str, int] = {}
        for i, row in enumerate(self.rows if self.by_metric else ()):
            if row[0] in TASKS:
                firsts.setdefault(metric_words(row[0]), i)
        return {i: words for words, i in firsts.items()}


def markdown(table: Table) -> str:
    """Return the table as a section of tables.md."""
    rows = [(task_label(row[0]) if table.by_metric and row[0] in TASKS else row[0], *row[1:]) for row in table.rows]
    cells = [tuple(map(markdown_text, row)) for row in (table.head, *rows)]
    right = range(table.labels, len(table.head))
    return "\n\n".join(
        (
            f"## {markdown_text(table.title)}",
            markdown_text(table.about),
            markdown_table(cells[0], cells[1:], right=right),
        )
    )


def shown_alone(table: Table) -> Table:
    """Return the paper's part of a table that has no value of yours yet; else the table.

    Columns without any value are left out.
    """
    by_column = table.quiet == "columns"
    yours = [row[1::2] if by_column else row[2:] for row in table.rows if by_column or row[1].startswith(HERE)]
    if any(cell != NONE for row in yours for cell in row):
        return table if by_column else _used(table)
    rows = [(row[0], *row[2::2]) for row in table.rows] if by_column else list(_papers_rows(table.rows))
    head = (table.head[0], *table.head[1::2]) if by_column else table.head
    return _used(replace(table, head=head, rows=tuple(rows), quiet=""))


def _used(table: Table) -> Table:
    used = [i for i in range(len(table.head)) if i == 0 or any(row[i] not in ("", NONE) for row in table.rows)]
    return replace(
        table,
        head=tuple(table.head[i] for i in used),
        rows=tuple(tuple(row[i] for i in used) for row in table.rows),
        labels=sum(i < table.labels for i in used),
    )


def _papers_rows(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the paper's rows that have a value; the first of a task's has its label, `paper, run 1` reads `run 1`."""
    label = ""
    for row in rows:
        label = row[0] or label
        if row[1].startswith(PAPER) and set(row[2:]) != {NONE}:
            yield label, row[1].removeprefix(PAPER).removeprefix(", "), *row[2:]
            label = ""


def value_text(value: float, *, is_error: bool) -> str:
    """Format a metric: `87.2` for an accuracy of 0.872, `2.43` for a mean squared error."""
    if not is_error:
        return fixed(100 * value, 1)
    return number(value, 2) if 0 < value < SMALL else fixed(value, 2)


def spread_text(values: Sequence[float], *, is_error: bool) -> str:
    """Format `87.2 ± 19.3 (3)`: mean, sample standard deviation (ddof = 1), number of seeds; or `87.2 (1 seed)`."""
    if not values:
        return NONE
    mean = value_text(fmean(values), is_error=is_error)
    if len(values) == 1:
        return f"{mean} ({ONE_SEED})"
    return f"{mean} ± {value_text(deviation(values), is_error=is_error)} ({len(values)})"


def paired(values: Mapping[int, float], base: Mapping[int, float]) -> list[float]:
    """Differences on the seeds that both have; equal seeds share their data."""
    return [values[seed] - base[seed] for seed in sorted(values) if seed in base]


def signed(value: float, *, is_error: bool) -> str:
    """Format a difference with its sign: `+1.7`, `−0.30`."""
    shown = value_text(value, is_error=is_error)
    return f"+{shown}" if value > 0 else shown


def listed(values: Iterable[str]) -> str:
    """Join values, as in `46.58, 38.16`; a dash without any."""
    return ", ".join(values) or NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A method and one metric of its outcomes."""

    key: str
    """Name in paper.json."""
    title: str
    method: str
    value: Callable[[Outcome], float | None] = lambda outcome: outcome.test


PAIR = (Column(key="mh", title="MH", method="mh"), Column(key="smc", title="SMC", method="smc"))
METHODS = (
    Column(key="vml", title="VML", method="vml"),
    Column(key="vml5", title="VML×5 ensemble", method="vml5"),
    Column(key="vml5-best", title="VML×5 oracle", method="vml5", value=lambda outcome: outcome.oracle_best_test),
    Column(key="vml5-train", title="VML×5 best on train", method="vml5", value=lambda outcome: outcome.best_on_train),
    *PAIR,
)


class Results:
    """Outcomes of the finished cells, by task, method and seed."""

    def __init__(self, spec: SweepSpec, outcomes: Iterable[Outcome]) -> None:
        self.spec = spec
        self._by_cell = {(o.task, o.method, o.seed): o for o in outcomes}

    @property
    def seeds(self) -> range:
        """Seeds of the sweep."""
        return range(self.spec.seeds)

    def tasks(self, among: Iterable[str] = TASKS) -> list[str]:
        """List the sweep's tasks in the paper's order."""
        return [task for task in among if task in self.spec.tasks]

    def at(self, task: str, method: str, seed: int) -> Outcome | None:
        """Return the outcome of a cell; None if it is not finished."""
        return self._by_cell.get((task, method, seed))

    def of(self, task: str, method: str) -> list[Outcome]:
        """List the outcomes of a method on a task, by seed."""
        return [o for seed in self.seeds if (o := self.at(task, method, seed)) is not None]

    def by_seed(self, task: str, column: Column) -> dict[int, float]:
        """Return the column's values on a task, by seed."""
        values = {o.seed: column.value(o) for o in self.of(task, column.method)}
        return {seed: value for seed, value in values.items() if value is not None}


def is_error(task: str) -> bool:
    """True if the task's metric is an error, so that lower is better."""
    return TASKS[task].task == "regression"


def metric_words(task: str) -> str:
    """Return the task's metric and which values are better."""
    return "MSE, lower is better" if is_error(task) else "Accuracy in %, higher is better"


def task_label(task: str) -> str:
    """Return the task with its metric and an arrow towards better values."""
    return f"{task} (MSE{NBSP}↓)" if is_error(task) else f"{task} (accuracy, %{NBSP}↑)"


def row_pairs(
    tasks: Iterable[str], columns: Sequence[Column], cell: Callable[[str, Column], str], label: str
) -> Iterator[tuple[str, ...]]:
    """Yield two rows per task: the sweep's values and the paper's from table `label`."""
    for task in tasks:
        yield (task, HERE, *(cell(task, column) for column in columns))
        yield ("", PAPER, *(printed(label, task, column.key) for column in columns))


@cache
def paper() -> dict[str, Any]:
    """Read paper.json."""
    return dict(json.loads(files("vpp.bench").joinpath("paper.json").read_text(encoding="utf-8")))


def papers_table(label: str) -> dict[str, Any]:
    """Return a table of the paper, by task."""
    return dict(paper()["tables"][label])


def printed(label: str, task: str, column: str) -> str:
    """Return a cell of a table; a dash if the paper has none."""
    return str(papers_table(label).get(task, {}).get(column, NONE))


def printed_run(label: str, task: str, run: int, column: str) -> str:
    """Return a cell of a table with one row per run; a dash if the paper has none."""
    runs = papers_table(label).get(task, ())
    return str(runs[run].get(column, NONE)) if run < len(runs) else NONE


def in_text(measure: str, task: str) -> Any:
    """Return a value from the paper's running text; None if it gives none."""
    return paper()["text"][measure].get(task)
