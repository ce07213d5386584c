"""The optimizer: keeps what is right, improves what errs, works on any table, and depends on the request alone."""

import re

import numpy as np

from tests.demo.asking import BINARY, REGRESSION, columns, optimizer_prompt, prior_prompt
from vpp.demo.optimizer import Batch, OptimizerQuestion, PriorQuestion, propose, teller
from vpp.demo.reading import read_rule
from vpp.demo.rules import Rule, read_row
from vpp.demo.server import read_prompt

DIGITS = ("a", "b", "c", "d")
RIGHT = "Output 1 if the largest integer is above 6, and 0 otherwise."


def digit_rows(seed: int, count: int = 10) -> list[str]:
    numbers = np.random.default_rng(seed).integers(10, size=(count, 4))
    return ["\n".join(f"{name}: {one}" for name, one in zip(DIGITS, row, strict=True)) for row in numbers]


def large(row: str) -> str:
    return str(int(max(read_row(row).values()) > 6))


def write(prompt: str, *, temperature: float = 0.7, seed: int = 0) -> str:
    question = read_prompt(prompt)
    assert isinstance(question, OptimizerQuestion)
    said = propose(question, temperature=temperature, seed=seed)
    match = re.fullmatch(r"Reasoning: [^\n]+\n\nNew rule:\n(.+)", said, re.DOTALL)
    assert match, said
    return match[1]


def read(text: str) -> Rule:
    reading = read_rule(text, columns(*DIGITS), ("0", "1"))
    assert reading.rule is not None, text
    assert reading.unread == (), text
    return reading.rule


def test_a_rule_without_error_is_kept_word_for_word_or_changed_in_meaning() -> None:
    rows = digit_rows(1)
    targets = [large(row) for row in rows]
    differs = teller(Batch(tuple(map(read_row, rows)), tuple(targets)), read(RIGHT), np.random.default_rng(0))
    for prior in ("", " The decision boundary is a circle."):
        prompt = optimizer_prompt(f"{BINARY}{prior} {RIGHT}", rows, targets, targets, ["0", "1"])
        assert {write(prompt, temperature=0.0, seed=seed) for seed in range(20)} == {RIGHT}
        texts = [write(prompt, temperature=1.0, seed=seed) for seed in range(40)]
        assert 0 < texts.count(RIGHT) < 40
        assert all(differs(read(text)) for text in texts if text != RIGHT)


def test_proposals_vary_with_the_seed_and_are_neither_always_right_nor_always_wrong() -> None:
    rows = digit_rows(2, 300)
    fresh = [read_row(row) for row in rows]
    right, texts = 0, set[str]()
    for seed in range(300):
        batch = [rows[int(at)] for at in np.random.default_rng(seed).permutation(300)[:10]]
        targets = [large(row) for row in batch]
        text = write(optimizer_prompt(BINARY, batch, ["0"] * 10, targets, ["0", "1"]), seed=seed)
        texts.add(text)
        rule = read(text)
        right += all(rule.answer(row) == large(line) for row, line in zip(fresh, rows, strict=True))
    assert len(texts) > 60
    assert 0.01 < right / 300 < 0.3


POINT = (("x", "number"), ("y", "number"))
COLOUR = (("colour", "category"),)


def share(word: str, columns: tuple[tuple[str, str], ...], sentence: str = BINARY) -> float:
    """Share of the rules written without any row that hold a word."""
    question = read_prompt(prior_prompt(sentence, columns, () if sentence == REGRESSION else ("0", "1")))
    assert isinstance(question, PriorQuestion)
    return sum(word in propose(question, temperature=1.0, seed=seed) for seed in range(100)) / 100


def test_the_forms_of_rules_without_rows_follow_the_kinds_of_the_columns_and_the_belief() -> None:
    assert share("even", tuple((name, "number") for name in DIGITS)) > 0.05
    assert share("even", POINT) == 0
    assert (
        0.1 < share("distance", POINT) < 0.5 < share("distance", POINT, f"{BINARY} The decision boundary is a circle.")
    )
    assert share("sin(", POINT[:1], REGRESSION) > 0.05
    assert share("sin(", COLOUR, REGRESSION) == 0
    assert share("contains the text", COLOUR) > 0.5
