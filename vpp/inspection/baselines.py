"""Baselines: simple models fitted on a run's training rows and scored on its test rows.

Numbers are used as they are, with the training median and an indicator column for missing cells; categories are one-hot
encoded; a sequence gives one column an item. All columns are standardised on the training rows. Texts are read by a
model of their own (`text_baseline`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from vpp.data.columns import is_number, sequence_items
from vpp.data.dataset import Dataset, Kind, Row
from vpp.events import Votes
from vpp.inspection.scores import Score, baseline, score
from vpp.inspection.text_baseline import predicted_from_text, text_columns
from vpp.posterior.weights import Floats
from vpp.runs.asking import Prompted, PromptedBaselines, read_prompted
from vpp.runs.directory import RunDirectory

MOST_VALUES = 30
"""Most values of a category that is used."""
MAX_ITERATIONS = 5000
DEPTH = 2
CONSTANT = 1e-12
"""Largest standard deviation of values up to 1 that is a rounding error."""
Name = Literal["constant", "linear", "tree", "text", "zero-shot", "few-shot", "few-shot vote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleModel:
    """A fitted model and its answers to the test rows."""

    name: Name
    about: str
    """One-sentence description."""
    answers: Votes
    """(N,) in the order of the test rows."""
    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The simple models of one split, simplest first."""

    models: tuple[SimpleModel, ...]
    """Always the constant; the others if any input is usable and the training targets differ."""
    left_out: tuple[tuple[str, str], ...]
    """Unused inputs: (column, reason)."""

    @property
    def best(self) -> SimpleModel:
        """Model with the smallest error on the test rows; the simplest of equal ones."""
        return min(self.models, key=lambda model: model.score.error)


def baselines(dataset: Dataset) -> Baselines:
    features, left_out = _features(dataset)
    models = [_constant(dataset)]
    if len({row.target for row in dataset.train}) > 1:
        table = None
        if features:
            table = _standardised(np.array(features, dtype=np.float64).T, n_train=len(dataset.train))
            models += [_fitted(name, table, dataset) for name in _ABOUT[dataset.task]]
        if text := _of_texts(dataset, table):
            models.append(text)
            left_out = tuple(each for each in left_out if each[0] not in text_columns(dataset))
    return Baselines(models=tuple(models), left_out=left_out)


def _constant(dataset: Dataset) -> SimpleModel:
    constant = baseline(dataset.test, dataset)
    is_label = dataset.task == "classification"
    source = "the most frequent training label" if is_label else "the mean of the training targets"
    return SimpleModel(
        name="constant",
        about=f"Always {source}: what a model that sees no input would say.",
        answers=(constant.answer,) * len(dataset.test),
        score=constant.score,
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


_ABOUT_TEXT = {"classification": "Logistic regression (L2 penalty, C = 1)", "regression": "Ridge regression"}


def _of_texts(dataset: Dataset, others: Floats | None) -> SimpleModel | None:
    targets, unit = _scaled_targets(dataset)
    predicted = predicted_from_text(dataset, targets, others)
    if predicted is None:
        return None
    beside = "" if others is None else ", with the other usable inputs"
    about = f"{_ABOUT_TEXT[dataset.task]} on TF-IDF weights of words and word pairs{beside}."
    return _model("text", about, predicted, dataset, unit)


def _fitted(name: Name, table: Floats, dataset: Dataset) -> SimpleModel:
    n, (targets, unit) = len(dataset.train), _scaled_targets(dataset)
    predicted = _fit(_estimator(name, dataset), table[:n], targets).predict(table[n:])
    return _model(name, _ABOUT[dataset.task][name], predicted.tolist(), dataset, unit)


def _scaled_targets(dataset: Dataset) -> tuple[list[Any], float]:
    """Return the training labels; or numbers divided by the largest, so that no square overflows, and that number."""
    targets = [row.target for row in dataset.train if row.target is not None]
    if dataset.task == "classification":
        return list(targets), 1.0
    unit = max(abs(float(y)) for y in targets) or 1.0
    return [float(y) / unit for y in targets], unit


def _model(name: Name, about: str, predicted: Sequence[Any], dataset: Dataset, unit: float) -> SimpleModel:
    is_label = dataset.task == "classification"
    answers: Votes = tuple(str(each) if is_label else float(each) * unit for each in predicted)
    return SimpleModel(name=name, about=about, answers=answers, score=score(answers, dataset.test, dataset))


def _estimator(name: Name, dataset: Dataset) -> Any:
    # Imported late: the import takes a second.
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_label = dataset.task == "classification"
    if name == "linear":
        return LogisticRegression(max_iter=MAX_ITERATIONS) if is_label else LinearRegression()
    tree = DecisionTreeClassifier if is_label else DecisionTreeRegressor
    return tree(max_depth=DEPTH, random_state=0)


def _fit(model: Any, table: Floats, targets: Sequence[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, targets)


def _standardised(table: Floats, *, n_train: int) -> Floats:
    """Standardise columns to mean 0 and standard deviation 1 on the training rows; constant ones become 0.

    table: (rows, columns), training rows first. Each column is first divided by its largest magnitude, so that no
    square overflows.
    """
    table = table / np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    train = table[:n_train]
    spread = train.std(axis=0)
    return np.asarray((table - train.mean(axis=0)) / np.where(spread > CONSTANT, spread, 1.0), dtype=np.float64)


_Columns = list[list[float]]


def _features(dataset: Dataset) -> tuple[_Columns, tuple[tuple[str, str], ...]]:
    """Encode the inputs as columns over training and test rows; return also (unusable input, reason)."""
    kinds = {column.name: column.kind for column in dataset.columns}
    columns: _Columns = []
    left_out = []
    for place, name in enumerate(dataset.inputs):
        encoded = _encoded(kinds[name], _cells(dataset.train, place), _cells(dataset.test, place))
        if isinstance(encoded, str):
            left_out.append((name, encoded))
        else:
            columns += encoded
    return columns, tuple(left_out)


_Cells = list[str | None]


def _cells(rows: Sequence[Row], place: int) -> _Cells:
    return [row.inputs[place][1] for row in rows]


def _encoded(kind: Kind, train: _Cells, test: _Cells) -> _Columns | str:
    if kind == "number":
        cells = (*train, *test)
        numbers = [float(cell) if cell is not None and is_number(cell) else None for cell in cells]
        return _filled(numbers, n_train=len(train)) or "no training row has a value"
    if kind == "sequence":
        return _items(train, test)
    if kind == "category":
        return _one_hot(train, test)
    return "text" if kind == "text" else "dates"


def _filled(values: Sequence[float | None], *, n_train: int) -> _Columns:
    """Fill missing values with the training median; add an indicator column if training rows have missing values."""
    present = [value for value in values[:n_train] if value is not None]
    if not present:
        return []
    middle = float(np.median(np.array(present) / 2)) * 2
    column = [middle if value is None else value for value in values]
    return [column, [float(value is None) for value in values]] if len(present) < n_train else [column]


def _items(train: _Cells, test: _Cells) -> _Columns | str:
    """Encode a sequence as a column an item; a test row of another length counts as missing."""
    trained = [None if cell is None else sequence_items(cell) for cell in train]
    lengths = {len(items) for items in trained if items is not None}
    if len(lengths) != 1:
        return "sequences of different lengths" if lengths else "no training row has a value"
    length = lengths.pop()
    every = [*trained, *(None if cell is None else sequence_items(cell) for cell in test)]
    fitting = [items if items is not None and len(items) == length else None for items in every]
    places = [[None if items is None else items[i] for items in fitting] for i in range(length)]
    return [column for values in places for column in _filled(values, n_train=len(train))]


def _one_hot(train: _Cells, test: _Cells) -> _Columns | str:
    """Encode a category as a column a training value; a missing cell is a value too."""
    values = sorted(set(train), key=lambda value: (value is not None, value or ""))
    if len(values) > MOST_VALUES:
        return f"more than {MOST_VALUES} values"
    return [[float(cell == value) for cell in (*train, *test)] for value in values]


# Prompted baselines: the learner without a rule, and with examples instead


def with_prompted(simple: Baselines, directory: RunDirectory, dataset: Dataset) -> Baselines:
    """Add the answers that `vpp baseline` kept for these test rows, if any."""
    found = _prompted(directory, dataset)
    added = (_prompted_model(each, found, dataset) for each in found.models) if found else ()
    return replace(simple, models=(*simple.models, *added))


def has_prompted(directory: RunDirectory, dataset: Dataset) -> bool:
    return _prompted(directory, dataset) is not None


def _prompted(directory: RunDirectory, dataset: Dataset) -> PromptedBaselines | None:
    found = read_prompted(directory)
    return found if found and found.rows == tuple(row.id for row in dataset.test) else None


def _prompted_model(prompted: Prompted, found: PromptedBaselines, dataset: Dataset) -> SimpleModel:
    return SimpleModel(
        name=prompted.name,
        about=f"{_asked_how(prompted, dataset)} {prompted.calls:,} learner calls; the run needed {found.run_calls:,}.",
        answers=prompted.answers,
        score=score(prompted.answers, dataset.test, dataset),
    )


def _asked_how(prompted: Prompted, dataset: Dataset) -> str:
    if prompted.name == "zero-shot":
        return "The run\N{RIGHT SINGLE QUOTATION MARK}s learner asked without any rule."
    shown = f"{prompted.examples} training rows as examples instead of a rule"
    if prompted.name == "few-shot":
        return f"The learner with {shown}."
    how = "the majority" if dataset.task == "classification" else "the mean"
    return f"The learner with {shown}, drawn anew in each of {prompted.questions} questions a row: {how} counts."
