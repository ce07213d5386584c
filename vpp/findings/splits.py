"""The rows of a run in words: how many train and test, how they were split, and cells that are shown in part."""

from vpp.data.dataset import Dataset
from vpp.llm.rendering import cut_cells
from vpp.show.words import counted, integer


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
