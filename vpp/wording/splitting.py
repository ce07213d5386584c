"""How a run's rows were parted, in a sentence or a few words."""

from vpp.data.dataset import Dataset
from vpp.wording.words import integer


def rows_sentence(dataset: Dataset) -> str:
    """`100 of 99,940 rows train, 60 test; 99,780 are not used.`"""
    n_train, n_test, left = len(dataset.train), len(dataset.test), dataset.provenance.n_left_out
    train, test = "train" if n_train > 1 else "trains", "test" if n_test > 1 else "tests"
    used = f"{integer(n_train)} of {integer(n_train + n_test + left)} rows {train}, {integer(n_test)} {test}"
    return f"{used}; {integer(left)} {'is' if left == 1 else 'are'} not used." if left else f"{used}."


def unlabelled_sentence(dataset: Dataset) -> str:
    """What becomes of rows without a target; empty where there are none."""
    n = dataset.provenance.n_unlabelled
    if not n:
        return ""
    rows = "1 row has" if n == 1 else f"{integer(n)} rows have"
    return f"{rows} no target: {'it takes' if n == 1 else 'they take'} no part, and can be asked about later."


def parted_text(dataset: Dataset) -> str:
    """`by chance, labels in their proportions`. It may hold a column's name, to be escaped."""
    kind, _, column = dataset.provenance.split.partition(":")
    if kind == "file":
        return "the test rows are a file of their own"
    if kind == "group":
        return f"by the groups of {column}: none has rows in both parts"
    if kind == "time":
        return f"by {column}: the latest rows test"
    return "by chance" + (", labels in their proportions" if dataset.task == "classification" else "")
