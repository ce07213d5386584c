"""Baselines: simple models fitted on a run's training rows and scored on its test rows.

Numbers are used as they are, with the training median and an indicator column for missing cells; categories are one-hot
encoded; a sequence gives one column an item. All these columns are standardised on the training rows. Texts are read by
a model of their own: TF-IDF terms of every text column in one space. A term is a word or a pair of neighbouring words
after the name of its column, so that columns do not share terms.
"""

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from vpp.data.columns import is_number, sequence_items
from vpp.data.dataset import Dataset, Kind, Row
from vpp.events import Votes
from vpp.findings.scores import Score, score
from vpp.runs.asking import PromptedBaselines, read_prompted
from vpp.runs.directory import RunDirectory

MOST_VALUES = 30
MAX_ITERATIONS = 5000
DEPTH = 2
_WORD = re.compile(r"\w\w+")
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
    about: str
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


_ABOUT: dict[str, dict[Name, str]] = {
    "classification": {
        "constant": "Always the most frequent training label: what a model that sees no input would say.",
        "linear": "Logistic regression on all usable inputs (L2 penalty, C = 1).",
        "tree": "A decision tree that asks at most two questions of a row.",
        "text": "Logistic regression (L2 penalty, C = 1) on TF-IDF weights of words and word pairs",
    },
    "regression": {
        "constant": "Always the mean of the training targets: what a model that sees no input would say.",
        "linear": "Least squares on all usable inputs.",
        "tree": "A regression tree that asks at most two questions of a row.",
        "text": "Ridge regression on TF-IDF weights of words and word pairs",
    },
}


def baselines(dataset: Dataset) -> Baselines:
    about, inputs = _ABOUT[dataset.task], _inputs(dataset)
    answers = (dataset.constant,) * len(dataset.test)
    own = score(answers, dataset.test, dataset)
    models = [SimpleModel(name="constant", about=about["constant"], answers=answers, score=own)]
    if len({row.target for row in dataset.train}) > 1:
        has_table = bool(inputs.columns)
        if has_table:
            models += [_fitted(name, about[name], inputs, dataset) for name in ("linear", "tree")]
        if any(inputs.terms[: len(dataset.train)]):
            beside = ", with the other usable inputs." if has_table else "."
            models.append(_fitted("text", about["text"] + beside, inputs, dataset))
    return Baselines(models=tuple(models), left_out=inputs.left_out)


def _fitted(name: Name, about: str, inputs: "_Inputs", dataset: Dataset) -> SimpleModel:
    # Imported late: the import takes a second.
    from pandas import DataFrame
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    frame, n = DataFrame({**inputs.columns, "terms": inputs.terms}), len(dataset.train)
    filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler())
    columns = make_column_transformer(
        *((one_hot if each in inputs.categories else filled, [each]) for each in inputs.columns),
        *([(TfidfVectorizer(analyzer=list), "terms")] if name == "text" else []),
    )
    targets, unit = _targets(dataset)
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
        model = make_pipeline(columns, estimator).fit(frame[:n], targets)
        predicted = model.predict(frame[n:])
    answers: Votes = tuple(str(each) if is_label else float(each) * unit for each in predicted)
    return SimpleModel(name=name, about=about, answers=answers, score=score(answers, dataset.test, dataset))


def _targets(dataset: Dataset) -> tuple[list[Any], float]:
    """Return the training labels; or numbers divided by the largest, so that no square overflows, and that number."""
    targets = [row.target for row in dataset.train if row.target is not None]
    if dataset.task == "classification":
        return list(targets), 1.0
    unit = max(abs(float(y)) for y in targets) or 1.0
    return [float(y) / unit for y in targets], unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    columns: dict[str, list[Any]]
    """Numbers, NaN if missing, or cells of a category."""
    categories: frozenset[str]
    terms: list[list[str]]
    left_out: tuple[tuple[str, str], ...]


def _inputs(dataset: Dataset) -> _Inputs:
    kinds = {column.name: column.kind for column in dataset.columns}
    rows, n = (*dataset.train, *dataset.test), len(dataset.train)
    terms = [_terms(row, [name for name in dataset.inputs if kinds[name] == "text"]) for row in rows]
    columns: dict[str, list[Any]] = {}
    categories, left_out = set(), {}
    for place, name in enumerate(dataset.inputs):
        cells = [row.inputs[place][1] for row in rows]
        if kinds[name] in ("number", "sequence"):
            items = [_items(cell, kinds[name]) for cell in cells]
            lengths = {len(each) for each in items[:n] if each}
            if len(lengths) == 1:
                columns |= {f"{name}, {i}": _column(items, i, length) for length in lengths for i in range(length)}
            else:
                left_out[name] = "sequences of different lengths" if lengths else "no training row has a value"
        elif kinds[name] == "category" and len(set(cells[:n])) <= MOST_VALUES:
            columns[name] = cells
            categories.add(name)
        elif kinds[name] == "category":
            left_out[name] = f"more than {MOST_VALUES} values"
        elif kinds[name] == "date" or not any(terms[:n]):
            left_out[name] = "dates" if kinds[name] == "date" else "text"
    return _Inputs(columns=columns, categories=frozenset(categories), terms=terms, left_out=tuple(left_out.items()))


def _items(cell: str | None, kind: Kind) -> tuple[float, ...]:
    """Numbers of a cell: one, or those of a sequence; none if it is missing."""
    if kind == "sequence":
        return sequence_items(cell or "") or ()
    return (float(cell),) if cell is not None and is_number(cell) else ()


def _column(items: Sequence[tuple[float, ...]], place: int, length: int) -> list[float]:
    """One number a row, NaN if it has another length; divided by the largest, so that no square overflows."""
    values = [each[place] if len(each) == length else math.nan for each in items]
    largest = max(abs(value) for value in values if not math.isnan(value)) or 1.0
    return [value / largest for value in values]


def _terms(row: Row, names: Sequence[str]) -> list[str]:
    cells = dict(row.inputs)
    terms = []
    for name in names:
        words = _WORD.findall((cells[name] or "").lower())
        pairs = [f"{first} {second}" for first, second in pairwise(words)]
        terms += [f"{name}={term}" for term in (*words, *pairs)]
    return terms


# Prompted baselines: the learner without a rule, and with examples instead


def with_prompted(simple: Baselines, directory: RunDirectory, dataset: Dataset) -> Baselines:
    """Add the answers that `vpp baseline` kept for these test rows, if any."""
    found = prompted(directory, dataset)
    if found is None:
        return simple
    typographic = "\N{RIGHT SINGLE QUOTATION MARK}"
    how = "the majority" if dataset.task == "classification" else "the mean"
    added = []
    for each in found.models:
        examples = f"The learner with {each.examples} training rows as examples instead of a rule"
        about = {
            "zero-shot": f"The run{typographic}s learner asked without any rule.",
            "few-shot": f"{examples}.",
            "few-shot vote": f"{examples}, drawn anew in each of {each.questions} questions a row: {how} counts.",
        }[each.name]
        about += f" {each.calls:,} learner calls; the run needed {found.run_calls:,}."
        own_score = score(each.answers, dataset.test, dataset)
        added.append(SimpleModel(name=each.name, about=about, answers=each.answers, score=own_score))
    return replace(simple, models=(*simple.models, *added))


def prompted(directory: RunDirectory, dataset: Dataset) -> PromptedBaselines | None:
    found = read_prompted(directory)
    return found if found and found.rows == tuple(row.id for row in dataset.test) else None
