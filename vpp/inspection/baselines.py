"""What simple models reach on a run's own split: for scale, fitted on its training rows, asked on its test rows.

Numbers stand as they are, a missing one as the training median with a column of its own that says so; a category is a
column a value; a sequence is a column an item. All are set to mean 0 and standard deviation 1 of the training rows.
scikit-learn is imported when the first of them is fitted: it takes a second.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from vpp.data.dataset import Dataset, Kind, Row
from vpp.data.kinds import is_number, sequence_items
from vpp.events import Votes
from vpp.inspection.scores import Score, baseline, score
from vpp.posterior.weights import Floats

MOST_VALUES = 30
"""A category of more values than this takes no part."""
MAX_ITERATIONS = 5000
DEPTH = 2
STILL = 1e-12
"""A standard deviation of values up to 1 that is rounding alone."""
Name = Literal["constant", "linear", "tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleModel:
    """A fitted model and what it answers."""

    name: Name
    about: str
    """What it is, in a sentence of our own words."""
    answers: Votes
    """(N,) for the test rows, in their order."""
    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The simple models of one split, the plainest first."""

    models: tuple[SimpleModel, ...]
    """The constant always; the others where some input can be used and the training targets differ."""
    left_out: tuple[tuple[str, str], ...]
    """Inputs that took no part, and why: (column, reason)."""

    @property
    def best(self) -> SimpleModel:
        """The one with the smallest error on the test rows; the plainest where several are."""
        return min(self.models, key=lambda model: model.score.error)


def baselines(dataset: Dataset) -> Baselines:
    """Of a split with at least one test row; the same for equal rows, whatever the seed."""
    features, left_out = _features(dataset)
    models = [_constant(dataset)]
    if features and len({row.target for row in dataset.train}) > 1:
        table = _standardised(np.array(features, dtype=np.float64).T, n_train=len(dataset.train))
        models += [_fitted(name, table, dataset) for name in _ABOUT[dataset.task]]
    return Baselines(models=tuple(models), left_out=left_out)


def _constant(dataset: Dataset) -> SimpleModel:
    found = baseline(dataset.test, dataset)
    is_label = dataset.task == "classification"
    source = "the most frequent training label" if is_label else "the mean of the training targets"
    return SimpleModel(
        name="constant",
        about=f"Always {source}: what a model that sees no input would say.",
        answers=(found.answer,) * len(dataset.test),
        score=found.score,
    )


_ABOUT: dict[str, dict[Name, str]] = {
    "classification": {
        "linear": "Logistic regression on all usable inputs (L2 penalty, C = 1).",
        "tree": "A decision tree that asks at most two questions of a row.",
    },
    "regression": {
        "linear": "Least squares on all usable inputs.",
        "tree": "A regression tree that asks at most two questions of a row.",
    },
}


def _fitted(name: Name, table: Floats, dataset: Dataset) -> SimpleModel:
    n, targets = len(dataset.train), [row.target for row in dataset.train]
    model = _estimator(name, dataset)
    if dataset.task == "classification":
        labels = _fit(model, table[:n], targets).predict(table[n:])
        answers: Votes = tuple(str(label) for label in labels)
    else:
        # In units of the largest target, so that no sum of squares leaves a float's range.
        unit = max(abs(float(y)) for y in targets if y is not None) or 1.0
        numbers = _fit(model, table[:n], [float(y) / unit for y in targets if y is not None]).predict(table[n:])
        answers = tuple(float(number) * unit for number in numbers)
    about = _ABOUT[dataset.task][name]
    return SimpleModel(name=name, about=about, answers=answers, score=score(answers, dataset.test, dataset))


def _estimator(name: Name, dataset: Dataset) -> Any:
    # Late: the import takes a second.
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_label = dataset.task == "classification"
    if name == "linear":
        return LogisticRegression(max_iter=MAX_ITERATIONS) if is_label else LinearRegression()
    tree = DecisionTreeClassifier if is_label else DecisionTreeRegressor
    return tree(max_depth=DEPTH, random_state=0)


def _fit(model: Any, table: Floats, targets: Sequence[Any]) -> Any:
    """Where it warns, of iterations that do not settle or labels nearly as many as rows, what it came to stands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, targets)


def _standardised(table: Floats, *, n_train: int) -> Floats:
    """Columns of mean 0 and standard deviation 1 on the training rows; one that is constant there stays at 0.

    table: (rows, columns), training rows first. Each column is first divided by its largest magnitude, so that no
    square leaves a float's range.
    """
    table = table / np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    train = table[:n_train]
    spread = train.std(axis=0)
    return np.asarray((table - train.mean(axis=0)) / np.where(spread > STILL, spread, 1.0), dtype=np.float64)


_Columns = list[list[float]]


def _features(dataset: Dataset) -> tuple[_Columns, tuple[tuple[str, str], ...]]:
    """Columns of numbers over training and test rows, and the inputs that gave none, each with why."""
    kinds = {column.name: column.kind for column in dataset.columns}
    columns: _Columns = []
    left_out = []
    for place, name in enumerate(dataset.inputs):
        made = _encoded(kinds[name], _cells(dataset.train, place), _cells(dataset.test, place))
        if isinstance(made, str):
            left_out.append((name, made))
        else:
            columns += made
    return columns, tuple(left_out)


_Cells = list[str | None]


def _cells(rows: Sequence[Row], place: int) -> _Cells:
    return [row.inputs[place][1] for row in rows]


def _encoded(kind: Kind, train: _Cells, test: _Cells) -> _Columns | str:
    """Training rows first; why not, where the column cannot be used."""
    if kind == "number":
        numbers = [_number(cell) for cell in (*train, *test)]
        return _filled(numbers, n_train=len(train)) or "no training row has a value"
    if kind == "sequence":
        return _items(train, test)
    if kind == "category":
        return _one_hot(train, test)
    return "text" if kind == "text" else "dates"


def _number(cell: str | None) -> float | None:
    return float(cell) if cell is not None and is_number(cell) else None


def _filled(values: Sequence[float | None], *, n_train: int) -> _Columns:
    """The values, a missing one as the training rows' median; beside them, where training has some, which these are."""
    present = [value for value in values[:n_train] if value is not None]
    if not present:
        return []
    middle = float(np.median(np.array(present) / 2)) * 2
    column = [middle if value is None else value for value in values]
    return [column, [float(value is None) for value in values]] if len(present) < n_train else [column]


def _items(train: _Cells, test: _Cells) -> _Columns | str:
    """A column a place of the sequence; a test row of another length counts as missing."""
    found = [None if cell is None else sequence_items(cell) for cell in train]
    lengths = {len(items) for items in found if items is not None}
    if len(lengths) != 1:
        return "sequences of different lengths" if lengths else "no training row has a value"
    length = lengths.pop()
    every = [*found, *(None if cell is None else sequence_items(cell) for cell in test)]
    whole = [items if items is not None and len(items) == length else None for items in every]
    places = [[None if items is None else items[i] for items in whole] for i in range(length)]
    return [column for values in places for column in _filled(values, n_train=len(train))]


def _one_hot(train: _Cells, test: _Cells) -> _Columns | str:
    """A column a value of the training rows; a missing cell is a value too."""
    values = sorted(set(train), key=lambda value: (value is not None, value or ""))
    if len(values) > MOST_VALUES:
        return f"more than {MOST_VALUES} values"
    return [[float(cell == value) for cell in (*train, *test)] for value in values]
