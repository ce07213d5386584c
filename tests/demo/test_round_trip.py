"""The reader reads everything the writer writes, whatever the columns, categories and labels are called."""

import math
from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from tests.demo.asking import BINARY, REGRESSION
from vpp.demo import optimizer
from vpp.demo.optimizer import Batch, PriorQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import WORDS_OF_RULES, Column, Row, Rule, Value

ODD_NAMES = [
    "a", "b", "c", "d", "x", "y", "x1", "x_2", "e5", "s", "I", "1", "0", "2019", "-", "(a)", "a+b", "if", "is",
    "the", "sum", "and", "or", "not", "of", "distance", "origin", "radius", "circle", "sin", "log", "max", "even",
    "odd", "first", "half", "zero", "one", "pi", "Class", "label", "Otherwise", "it", "length", "count", "value",
    "total", "point", "größe", "x²", "ratio:z", "when", "then", "say", "else", "answer",
]  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES),
    st.sampled_from(sorted(WORDS_OF_RULES)),
    st.sampled_from(
        ["petal length (cm)", "price ($)", "sum of a", "number of even integers", 'say "hi"', "a, b", "B\\C"]
    ),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12),
)
TEXTS = st.one_of(
    st.sampled_from(["Biscoe", "New York", "not here", "A or B", "<=50K", "St. Louis", "10 to 20", "output 1", "is"]),
    st.sampled_from(ODD_NAMES),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
)
SEEDS = st.integers(0, 2**32 - 1)


def cells(kind: int, texts: list[str], rng: Generator) -> Value:
    if rng.random() < 0.05:
        return None
    if kind == 1:
        return float(f"{rng.normal() * 10.0 ** rng.integers(-2, 4):.4g}")
    return float(rng.integers(10)) if kind == 0 else texts[int(rng.integers(len(texts)))]


def table(names: list[str], texts: list[str], *, digits: bool, rng: Generator) -> tuple[Row, ...]:
    """Rows of digits, those of one column as a sequence in its cell; or columns of any kind."""
    if digits and len(names) == 1:
        return tuple({names[0]: list(map(float, rng.integers(10, size=5)))} for _ in range(20))
    kinds = [0 if digits else int(rng.integers(3)) for _ in names]
    return tuple({name: cells(kind, texts, rng) for name, kind in zip(names, kinds, strict=True)} for _ in range(20))


def written(batch: Batch, rng: Generator) -> Iterator[Rule]:
    """Yield a rule of every form, and its revisions."""
    for form in optimizer.forms(batch):
        rule = optimizer.fit(form, batch, rng)
        if rule is not None:
            yield rule
            yield from (one for _, one in optimizer.revisions(rule, batch, rng))


def agree(left: Value, right: Value) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


def assert_read_back(rule: Rule, rows: tuple[Row, ...], seed: str, labels: tuple[str, ...]) -> None:
    words = rule.say()
    reading = read_rule(f"{seed} {words}", rule.columns, labels)
    assert reading.rule is not None, words
    assert reading.unread == (), words
    assert f"{seed} {words}"[reading.start :] == words
    for row in rows:
        assert agree(reading.rule.answer(row), rule.answer(row)), (words, reading.rule, rule)


RANDOM = {
    "names": st.lists(NAMES, min_size=1, max_size=5, unique_by=str.casefold),
    "texts": st.lists(TEXTS, min_size=2, max_size=3, unique_by=str.casefold),
    "labels": st.one_of(st.just([]), st.lists(TEXTS, min_size=2, max_size=4, unique_by=str.casefold)),
    "digits": st.booleans(),
    "seed": SEEDS,
}


@settings(max_examples=100, deadline=None)
@given(**RANDOM)
def test_rules_are_read_back(names: list[str], texts: list[str], labels: list[str], digits: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = table(names, texts, digits=digits and bool(labels), rng=rng)
    numbers = (rng.normal(size=20).round(2) * 10).tolist()
    batch = Batch(rows, [labels[int(at)] for at in rng.integers(len(labels), size=20)] if labels else numbers)
    for rule in written(batch, rng):
        assert_read_back(rule, rows, BINARY if labels else REGRESSION, tuple(sorted(labels)))


KINDS = st.lists(st.sampled_from(["number", "category", "text", "date"]), min_size=5, max_size=5)


@settings(max_examples=50, deadline=None)
@given(names=RANDOM["names"], kinds=KINDS, labels=RANDOM["labels"], temperature=st.floats(0, 2), seed=SEEDS)
def test_rules_without_rows_are_read_back(
    names: list[str], kinds: list[str], labels: list[str], temperature: float, seed: int
) -> None:
    sentence = BINARY if labels else REGRESSION
    question = PriorQuestion(sentence, tuple(zip(names, kinds, strict=False)), tuple(labels))
    text = optimizer.propose(question, temperature=temperature, seed=seed).partition("\n\nNew rule:\n")[2]
    table = [
        Column(f"c{at}", name, kind if kind == "number" else "text", (), False)
        for at, (name, kind) in enumerate(question.columns)
    ]
    reading = read_rule(f"{sentence} {text}", tuple(table), tuple(labels))
    assert reading.rule is not None, text
    assert reading.unread == (), text
    assert f"{sentence} {text}"[reading.start :] == text
