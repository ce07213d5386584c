"""The optimizer: keeps what is right, improves what errs, works on any table, and depends on the request alone."""

import re

import numpy as np

from tests.demo.asking import BINARY, optimizer_prompt
from vpp.demo.fitting import Batch
from vpp.demo.optimizer import propose, teller
from vpp.demo.prompt import OptimizerQuestion, read_prompt
from vpp.demo.reading import read_rule
from vpp.demo.rules import Rule, read_row

DIGITS = ("a", "b", "c", "d")
RIGHT = "Output 1 if the largest integer is above 6, and 0 otherwise."


def digit_rows(seed: int, count: int = 10) -> list[str]:
    numbers = np.random.default_rng(seed).integers(10, size=(count, 4))
    return ["\n".join(f"{name}: {one}" for name, one in zip(DIGITS, row, strict=True)) for row in numbers]


def large(row: str) -> str:
    return str(int(max(read_row(row).numbers) > 6))


def write(prompt: str, *, temperature: float = 0.7, seed: int = 0) -> str:
    question = read_prompt(prompt)
    assert isinstance(question, OptimizerQuestion)
    said = propose(question, temperature=temperature, seed=seed)
    match = re.fullmatch(r"Reasoning: [^\n]+\n\nNew rule:\n(.+)", said, re.DOTALL)
    assert match, said
    return match[1]


def read(text: str, names: tuple[str, ...] = DIGITS, labels: tuple[str, ...] = ("0", "1")) -> Rule:
    reading = read_rule(text, names, labels)
    assert reading.rule is not None, text
    assert reading.unread == (), text
    return reading.rule


def test_the_batch_is_read_from_the_prompt() -> None:
    rows = digit_rows(0, 3)
    question = read_prompt(
        optimizer_prompt(f"{BINARY} {RIGHT}", rows, ["0", "no answer", "1"], ["1", "0", "1"], ["0", "1"])
    )
    assert question == OptimizerQuestion(
        rule=f"{BINARY} {RIGHT}",
        inputs=tuple(rows),
        predictions=("0", None, "1"),
        targets=("1", "0", "1"),
        labels=("0", "1"),
    )


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


def test_a_prior_in_plain_words_steers_the_form() -> None:
    points = np.random.default_rng(0).normal(size=(10, 2)).round(2)
    rows = [f"east: {x}\nnorth: {y}" for x, y in points]
    targets = [str(int(np.hypot(x, y) < 1)) for x, y in points]
    share = {}
    for prior in ("", " The decision boundary is a circle."):
        prompt = optimizer_prompt(BINARY + prior, rows, ["0"] * 10, targets, ["0", "1"])
        share[prior] = sum("distance" in write(prompt, seed=seed) for seed in range(60)) / 60
    assert share[""] < 0.5 < share[" The decision boundary is a circle."]


def test_proposals_vary_with_the_seed_and_are_neither_always_right_nor_always_wrong() -> None:
    rows = digit_rows(2, 300)
    fresh = [read_row(row) for row in rows]
    right, texts = 0, set()
    for seed in range(300):
        batch = [rows[int(at)] for at in np.random.default_rng(seed).permutation(300)[:10]]
        targets = [large(row) for row in batch]
        text = write(optimizer_prompt(BINARY, batch, ["0"] * 10, targets, ["0", "1"]), seed=seed)
        texts.add(text)
        rule = read(text)
        right += all(rule.answer(row) == large(line) for row, line in zip(fresh, rows, strict=True))
    assert len(texts) > 60
    assert 0.01 < right / 300 < 0.3


COLOURS = ("blue", "green", "red")
SHAPES = ("size", "weight", "colour")


def shapes(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        f"size: {rng.random():.2f}\nweight: {rng.uniform(0, 50):.1f}\ncolour: {COLOURS[int(rng.integers(3))]}"
        for _ in range(count)
    ]


def likes(rows: list[str]) -> list[str]:
    return ["yes" if float(read_row(row).numbers[0]) > 0.5 else "no" for row in rows]


def test_first_rules_are_diverse_and_often_wrong() -> None:
    fresh, rows = shapes(999, 200), shapes(1, 10)
    prompt = optimizer_prompt("Guess.", rows, ["no answer"] * 10, likes(rows), ["no", "yes"])
    read_rows = [read_row(row) for row in fresh]
    rules = [read(write(prompt, temperature=0.7, seed=seed), SHAPES, ("no", "yes")) for seed in range(16)]
    answers = [tuple(rule.answer(row) for row in read_rows) for rule in rules]
    shares = [np.mean([given == true for given, true in zip(each, likes(fresh), strict=True)]) for each in answers]
    assert len(set(answers)) > 8
    assert min(shares) < 0.6 < 0.9 < max(shares)
