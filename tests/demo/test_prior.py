"""Draws from the prior: read back whatever the columns are called, true to the columns' kinds, and steered by hints."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.demo.asking import BINARY, REGRESSION, prior_prompt
from tests.demo.test_round_trip import NAMES, SEEDS, TEXTS
from vpp.demo.optimizer import propose
from vpp.demo.prompt import PriorQuestion, read_prompt
from vpp.demo.reading import read_rule

DIGITS = tuple((name, "number") for name in "abcd")
POINT = (("x", "number"), ("y", "number"))


def write(columns: tuple[tuple[str, str], ...], labels: tuple[str, ...], seed: int, sentence: str = BINARY) -> str:
    question = read_prompt(prior_prompt(sentence, columns, labels))
    assert question == PriorQuestion(sentence, columns, labels)
    said = propose(question, temperature=1.0, seed=seed)
    match = re.fullmatch(r"Reasoning: [^\n]+\n\nNew rule:\n(.+)", said)
    assert match, said
    return match[1]


def share(word: str, columns: tuple[tuple[str, str], ...], sentence: str = BINARY) -> float:
    labels = () if sentence.startswith(REGRESSION) else ("0", "1")
    return sum(word in write(columns, labels, seed, sentence) for seed in range(100)) / 100


@settings(max_examples=50, deadline=None)
@given(
    names=st.lists(NAMES, min_size=1, max_size=5, unique_by=str.casefold),
    kinds=st.lists(st.sampled_from(["number", "category", "text", "date", "sequence"]), min_size=5, max_size=5),
    labels=st.one_of(st.just([]), st.lists(TEXTS, min_size=2, max_size=4, unique_by=str.casefold)),
    temperature=st.floats(0, 2),
    seed=SEEDS,
)
def test_what_is_drawn_is_read_back(
    names: list[str], kinds: list[str], labels: list[str], temperature: float, seed: int
) -> None:
    sentence = "You are designed to do multi-class classification: predict label." if labels else REGRESSION
    question = PriorQuestion(sentence, tuple(zip(names, kinds, strict=False)), tuple(labels))
    text = propose(question, temperature=temperature, seed=seed).partition("\n\nNew rule:\n")[2]
    reading = read_rule(f"{sentence} {text}", tuple(names), tuple(labels))
    assert reading.rule is not None, text
    assert reading.unread == (), text
    assert f"{sentence} {text}"[reading.start :] == text


def test_the_forms_follow_the_kinds_of_the_columns() -> None:
    assert share("even", DIGITS) > 0.05
    assert share("even", POINT) == 0
    assert share("distance", POINT) > 0.1
    assert share("sin(", POINT[:1], REGRESSION) > 0.05
    assert share("sin(", (("colour", "category"),), REGRESSION) == 0
    assert share("contains the text", (("colour", "category"),)) > 0.5


def test_a_prior_in_plain_words_steers_the_form() -> None:
    assert share("distance", POINT) < 0.5 < share("distance", POINT, f"{BINARY} The decision boundary is a circle.")
