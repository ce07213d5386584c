"""The text baseline: TF-IDF terms of every text column in one space, with a linear model.

A term is a word or a pair of neighbouring words after the name of its column, so that columns do not share terms.
"""

import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.posterior.weights import Floats

PENALTY = 1.0
"""Weight of the squared coefficients of the ridge regression."""
MAX_ITERATIONS = 5000
_WORD = re.compile(r"\w\w+")


def text_columns(dataset: Dataset) -> tuple[str, ...]:
    kinds = {column.name: column.kind for column in dataset.columns}
    return tuple(name for name in dataset.inputs if kinds[name] == "text")


def predicted_from_text(dataset: Dataset, targets: Sequence[Any], others: Floats | None) -> list[Any] | None:
    """Fit on the training rows; return one label or number a test row, or None if no training row has a word.

    targets: (n_train,). others: (rows, columns) other inputs, standardised, training rows first.
    """
    names, n = text_columns(dataset), len(dataset.train)
    documents = [_terms(row, names) for row in (*dataset.train, *dataset.test)]
    if not any(documents[:n]):
        return None
    table = _table(documents, others, n_train=n)
    model = _model(is_label=dataset.task == "classification")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unconverged fit is still a baseline
        predicted: list[Any] = model.fit(table[:n], targets).predict(table[n:]).tolist()
    return predicted


def _terms(row: Row, names: Sequence[str]) -> list[str]:
    cells = dict(row.inputs)
    terms = []
    for name in names:
        words = _WORD.findall((cells[name] or "").lower())
        pairs = [f"{first} {second}" for first, second in pairwise(words)]
        terms += [f"{name}={term}" for term in (*words, *pairs)]
    return terms


def _table(documents: Sequence[list[str]], others: Floats | None, *, n_train: int) -> Any:
    # Imported late: the import takes a second.
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=list).fit(documents[:n_train])
    weights = vectorizer.transform(documents)
    return csr_matrix(weights) if others is None else csr_matrix(hstack([weights, csr_matrix(others)]))


def _model(*, is_label: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return LogisticRegression(max_iter=MAX_ITERATIONS) if is_label else Ridge(alpha=PENALTY)
