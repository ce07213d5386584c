"""Counts of a run in words: its steps, its rows, cells and prompts that were cut."""

from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.findings.scores import Score
from vpp.llm.rendering import cut_cells
from vpp.runs.reader import Summary
from vpp.runs.view import RunView
from vpp.show.words import counted, fixed, integer, number, percent

# Steps. A step is named by its number, from 0 as in the journal; counts are of complete steps. One phrase never holds
# both: step 7 is the eighth, so "step 7 of 8" would read as if another step followed.


def steps_done(view: RunView | Summary) -> int:
    return 0 if view.last_step is None else view.last_step + 1


def steps_text(view: RunView | Summary) -> str:
    """`8 of 20 steps`."""
    return f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"


# Cells and prompts cut to the model's context


def cut_sentences(view: RunView) -> Iterator[str]:
    proposed = [each for step in view.steps.values() for each in step.proposed.values()]
    short = [each.shown for each in proposed if each.shown is not None]
    if short:
        low, high = min(short), max(short)
        span = counted(low, "row") if low == high else f"{integer(low)} to {counted(high, 'row')}"
        few = f"{integer(len(short))} of {counted(len(proposed), 'proposal')} were made from a shortened prompt"
        yield f"{few}, with {span} of the batch: the model's context had no room for more."


def other_scores_text(score: Score) -> str:
    """Figures shown next to the metric: `balanced 95.1 %`, or `MAE 0.81, R² 0.92` for numbers."""
    if score.labels:
        return f"balanced {percent(score.labels.balanced.value, decimals=1)}"
    if score.numbers is None:
        return ""
    r2 = score.numbers.r2
    return f"MAE {number(score.numbers.mae.value)}" + (f", R² {r2_text(r2.value)}" if r2 else "")


def r2_text(value: float) -> str:
    """R² to three digits: decimals within -1 and 1, significant digits beyond."""
    return number(value, 3) if abs(value) >= 1 else fixed(value, 3)


def task_sentence(dataset: Dataset) -> str:
    if dataset.classes:
        return f"{dataset.target} has {len(dataset.classes)} labels, so this is classification."
    return f"{dataset.target} is a number, so this is regression."


def rows_sentence(dataset: Dataset) -> str:
    """`100 of 99,940 rows train, 60 test, 40 calibrate; 99,740 are not used.`"""
    n_train, n_test, left = len(dataset.train), len(dataset.test), dataset.provenance.n_left_out
    train, test = "train" if n_train > 1 else "trains", "test" if n_test > 1 else "tests"
    used = f"{integer(n_train)} of {integer(len(dataset.labelled) + left)} rows {train}, {integer(n_test)} {test}"
    if n := len(dataset.calibration):
        used += f", {integer(n)} {'calibrate' if n > 1 else 'calibrates'}"
    return f"{used}; {integer(left)} {'is' if left == 1 else 'are'} not used." if left else f"{used}."


def unlabelled_sentence(dataset: Dataset) -> str:
    n = dataset.provenance.n_unlabelled
    if not n:
        return ""
    rows = "1 row has" if n == 1 else f"{integer(n)} rows have"
    return f"{rows} no target: {'it is' if n == 1 else 'they are'} not used, and you can ask about them later."


def cut_cells_text(dataset: Dataset, limit: int) -> str:
    """`21 of 160 cells are shown in part, their first 2,000 characters`; empty if all are whole.

    limit: characters shown of a cell, as in the run's spec.
    """
    cut = cut_cells(dataset, limit)
    if not cut:
        return ""
    n, cells = sum(cut.values()), counted(len(cut) * len(dataset.labelled), "cell")
    are, their = ("is", "its") if n == 1 else ("are", "their")
    return f"{integer(n)} of {cells} {are} shown in part, {their} first {counted(limit, 'character')}"


def cut_columns_sentence(dataset: Dataset, limit: int) -> str:
    """Return the same with the number in each column, whose name is to be escaped; empty if all are whole."""
    text = cut_cells_text(dataset, limit)
    by_column = ", ".join(f"{name} {integer(n)}" for name, n in cut_cells(dataset, limit).items())
    return f"{text}: {by_column}." if text else ""
