"""Baselines: simple models fitted on a run's training rows and scored on its test rows.

Numbers are used as they are, with the training median and an indicator column for missing cells; categories are one-hot
encoded. All these columns are standardised on the training rows. Texts are read by a model of their own: TF-IDF weights
of the words and word pairs of each column.
"""

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from vpp.data.dataset import Dataset, Kind
from vpp.data.numbers import is_number
from vpp.events import Votes
from vpp.findings.points import Score, score
from vpp.runs.directory import RunDirectory, read_json

MOST_VALUES = 30
MAX_ITERATIONS = 5000
DEPTH = 2
_WORD = re.compile(r"\w\w")
Columns = dict[str, list[Any]]
"""Cells of the training and the test rows by column: numbers, NaN if missing, or texts."""
Name = Literal["constant", "linear", "tree", "text", "zero-shot", "few-shot", "few-shot vote"]
MODEL_NAMES: Mapping[Name, str] = {
    "constant": "one answer",
    "linear": "linear model",
    "tree": "tree of depth 2",
    "text": "TF-IDF model",
    "zero-shot": "the learner without a rule",
    "few-shot": "the learner with examples",
    "few-shot vote": "examples, voting at equal calls",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleModel:
    name: Name
    answers: Votes
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
    columns, kinds, left_out = _inputs(dataset)
    answers, names = (dataset.constant,) * len(dataset.test), list[Name]()
    if len({row.target for row in dataset.train}) > 1:
        names += ["linear", "tree"] if {*kinds.values()} - {"text"} else []
        names += ["text"] if "text" in kinds.values() else []
    constant = SimpleModel(name="constant", answers=answers, score=score(answers, dataset.test, dataset))
    models = (constant, *(_fitted(name, columns, kinds, dataset) for name in names))
    return Baselines(models=models, left_out=tuple(left_out.items()))


def _fitted(name: Name, columns: Columns, kinds: Mapping[str, Kind], dataset: Dataset) -> SimpleModel:
    """Fit a model: linear (logistic with an L2 penalty, C = 1, or least squares), a tree, or on texts (with ridge)."""
    # Imported late: the import takes a second.
    from pandas import DataFrame
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    frame, n = DataFrame(columns), len(dataset.train)
    encoders = {
        "number": make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()),
        "category": make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler()),
    }
    encoded = make_column_transformer(
        *((encoders[kind], [each]) for each, kind in kinds.items() if kind in encoders),
        *((TfidfVectorizer(ngram_range=(1, 2)), each) for each, kind in kinds.items() if kind == name == "text"),
    )
    is_label = dataset.task == "classification"
    if name == "tree":
        tree = DecisionTreeClassifier if is_label else DecisionTreeRegressor
        estimator: Any = tree(max_depth=DEPTH, random_state=0)
    elif is_label:
        estimator = LogisticRegression(max_iter=MAX_ITERATIONS)
    else:
        estimator = LinearRegression() if name == "linear" else Ridge()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unconverged fit is still a baseline
        model = make_pipeline(encoded, estimator).fit(frame[:n], [row.target for row in dataset.train])
        predicted = model.predict(frame[n:])
    answers: Votes = tuple(str(each) if is_label else float(each) for each in predicted)
    return SimpleModel(name=name, answers=answers, score=score(answers, dataset.test, dataset))


def _inputs(dataset: Dataset) -> tuple[Columns, Mapping[str, Kind], Mapping[str, str]]:
    """Return the columns to fit on, their kinds (number, category or text), and why inputs are left out."""
    own = {column.name: column.kind for column in dataset.columns}
    rows, n = (*dataset.train, *dataset.test), len(dataset.train)
    columns, kinds, left_out = Columns(), dict[str, Kind](), dict[str, str]()
    for place, name in enumerate(dataset.inputs):
        cells, kind = [row.inputs[place][1] for row in rows], own[name]
        if kind == "number":
            numbers = [float(cell) if cell is not None and is_number(cell) else math.nan for cell in cells]
            if all(map(math.isnan, numbers[:n])):
                left_out[name] = "no training row has a value"
            else:
                columns[name], kinds[name] = numbers, kind
        elif kind == "category" and len(set(cells[:n])) <= MOST_VALUES:
            columns[name], kinds[name] = cells, kind
        elif kind == "text" and any(_WORD.search(cell or "") for cell in cells[:n]):
            columns[name], kinds[name] = [cell or "" for cell in cells], kind
        else:
            why = {"category": f"more than {MOST_VALUES} values", "date": "dates"}
            left_out[name] = why.get(kind, "text without words")
    return columns, kinds, left_out


# Prompted baselines: the learner without a rule, and with examples instead

PROMPTED = "prompted.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    name: Literal["zero-shot", "few-shot", "few-shot vote"]
    calls: int
    """Learner calls needed, repetitions after unreadable answers included."""
    examples: int = 0
    """Training rows in a prompt, at least."""
    answers: Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedBaselines:
    rows: tuple[int, ...]
    run_calls: int
    models: tuple[Prompted, ...]


def with_prompted(simple: Baselines, directory: RunDirectory, dataset: Dataset) -> Baselines:
    """Add the answers that `vpp baseline` kept for these test rows, if any."""
    found = read_json(directory.path / PROMPTED, PromptedBaselines)
    if found is None or found.rows != tuple(row.id for row in dataset.test):
        return simple
    models = [
        SimpleModel(name=each.name, answers=each.answers, score=score(each.answers, dataset.test, dataset))
        for each in found.models
    ]
    return replace(simple, models=(*simple.models, *models))
