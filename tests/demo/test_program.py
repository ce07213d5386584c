"""Programs: a sandbox runs them, and they answer each row as the learner does."""

from collections.abc import Iterator, Sequence

import numpy as np
import pydantic_monty
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.demo.asking import BINARY, REGRESSION, reply
from tests.demo.test_reading import CATEGORIES, CIRCLES, CONDITIONS, EVEN_SUM, FLOWER, FORMULAS, HAS_ZERO
from tests.demo.test_round_trip import RANDOM, SEEDS, table, written
from vpp.demo.optimizer import Batch
from vpp.demo.rules import Row, Rule, Value, read_row
from vpp.demo.server import LearnerQuestion, ProgramQuestion, apply_rule, read_prompt, write_program

LABELS = ("0", "1")
GUESSING = """
def answer(row):
    try:
        return predict(*row)
    except IndexError:
        return GUESS
[answer(row) for row in ROWS]"""
WORDS = {float: "number", str: "text", list: "a list of whole numbers"}


@pytest.fixture(scope="module")
def pool() -> Iterator[pydantic_monty.Monty]:
    with pydantic_monty.Monty() as pool:
        yield pool


def prompt(rule: str, rows: Sequence[Row], labels: Sequence[str] = LABELS) -> str:
    lines = []
    for at, name in enumerate(rows[0]):
        cells = [row[name] for row in rows]
        kind = next((type(cell) for cell in cells if cell is not None), float)
        texts = ", ".join(sorted({cell for cell in cells if isinstance(cell, str)}))
        missing, listed = " or None" if None in cells else "", f", one of {texts}" if texts else ""
        lines.append(f"c{at} (“{name}”): {WORDS[kind]}{missing}{listed}")
    outputs = f"one of {', '.join(labels)}" if labels else "a number"
    return "\n".join(("Columns:", *lines, f"Output: {outputs}", f"Rule: {rule}"))


def answers(pool: pydantic_monty.Monty, code: str, rows: Sequence[Row], labels: Sequence[str]) -> list[Value]:
    """Run the program on the cells that it takes; on a row that has no fifth number, for example, it guesses."""
    names = code.partition("predict(")[2].partition(")")[0]
    at = [int(name[1:]) for name in names.split(", ") if name]
    cells = [[list(row.values())[one] for one in at] for row in rows]
    with pool.checkout() as session:
        inputs = {"ROWS": cells, "GUESS": labels[0] if labels else 0}
        return list(session.feed_run(code + GUESSING, inputs=inputs))


def assert_alike(pool: pydantic_monty.Monty, rule: Rule, rows: Sequence[Row], labels: Sequence[str]) -> None:
    """Compare a program with the rule, in the learner's ten digits; where the rule gives nothing, with the guess."""
    words = rule.say()
    question = read_prompt(prompt(words, rows, labels))
    assert isinstance(question, ProgramQuestion)
    code = write_program(question)
    for row, value in zip(rows, answers(pool, code, rows, labels), strict=True):
        wanted = rule.answer(row)
        wanted = (labels[0] if labels else 0.0) if wanted is None else wanted
        assert shortened(value) == shortened(wanted), (words, code, row)


def shortened(value: Value) -> Value:
    return value if isinstance(value, str) or value is None else float(f"{value:.10g}")  # type: ignore[str-format]


@settings(max_examples=25, deadline=None)
@example(names=["a", "b", "c", "d", "abs"], texts=["Biscoe", "New York"], digits=True, seed=870)
@example(names=["a", "b", "c", "d", "x"], texts=["Biscoe", "New York"], digits=True, seed=151916148)
@given(names=RANDOM["names"], texts=RANDOM["texts"], digits=st.booleans(), seed=SEEDS)
def test_a_program_answers_as_its_rule(pool, names: list[str], texts: list[str], digits: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = table(names, texts, digits=digits, rng=rng)
    for rule in written(Batch(rows, [LABELS[int(at)] for at in rng.integers(2, size=20)]), rng):
        assert_alike(pool, rule, rows, LABELS)
    for rule in written(Batch(rows, rng.normal(size=20).round(2).tolist()), rng):
        assert_alike(pool, rule, rows, ())


DIGITS = [dict(zip("abcd", cells, strict=True)) for cells in np.random.default_rng(0).integers(10, size=(60, 4))]
LINES = [{"x": x} for x in (-2.5, -1, 0, 0.25, 1.5, 9, "missing")]
POINTS = [{"x1": x, "x2": y} for x in (-0.6, 0, 0.3, "missing") for y in (-0.5, 0.1, 0.615)]
FLOWERS = [FLOWER.format(*cells) for cells in [(4.0, 1.3, "Biscoe", "1st"), (2.5, 0.3, "St. Louis", "2nd"),
           (3.5, "missing", "missing", "2nd"), (1.0, 0.2, "New York", "3rd"), (9.1, 0.6, "A", "1st")]]  # fmt: skip
STATED = [
    *((f"Output 1 if {condition}, and 0 otherwise.", DIGITS, LABELS) for condition, _ in CONDITIONS),
    *((text, DIGITS, LABELS) for text in (*EVEN_SUM, *HAS_ZERO)),
    *((text.removeprefix("The decision boundary is a circle. "), POINTS, LABELS) for text in CIRCLES),
    *((f"Output 1 if {condition}; otherwise output 0.", FLOWERS, LABELS) for condition, *_ in CATEGORIES),
    *((text, LINES, ()) for text in (*FORMULAS, "Output x / 3 + abs(x) * sqrt(abs(x)) - x^3 + exp(x).")),
]


@pytest.mark.parametrize(("rule", "table", "labels"), STATED, ids=[rule for rule, *_ in STATED])
def test_every_wording_that_is_read_becomes_a_program(pool, rule: str, table, labels: tuple[str, ...]) -> None:
    lines = [
        one if isinstance(one, str) else "\n".join(f"{name}: {cell}" for name, cell in one.items()) for one in table
    ]
    rows = [read_row(text) for text in lines]
    code = reply(prompt(rule, rows, labels))
    assert "def predict(" in code, code
    task = BINARY if labels else REGRESSION
    for text, value in zip(lines, answers(pool, code, rows, labels), strict=True):
        wanted = apply_rule(LearnerQuestion(f"{task} {rule}", text, labels)).output
        assert shortened(value) == (wanted if labels else float(wanted)), (code, text)


SKY = """Columns:
sky_at_noon (“sky at noon”): text, one of clear, cloudy
petals: number or None, in cm
message: a text
Output: one of hot, mild
Rule: """


def test_only_the_columns_of_the_rule_are_arguments_and_each_branch_is_a_return() -> None:
    rule = (
        'If sky at noon is Clear or petals is at most 3.5, output mild; otherwise, if message contains the text "Sun", '
    )
    assert reply(f"{SKY}{rule}output hot; otherwise, output mild.") == (
        "def predict(sky_at_noon, petals, message):\n"
        '    if sky_at_noon == "clear" or (petals is not None and petals <= 3.5):\n'
        '        return "mild"\n'
        '    if "sun" in message.casefold():\n'
        '        return "hot"\n'
        '    return "mild"'
    )
    assert reply(f"{SKY}Always output hot.") == 'def predict():\n    return "hot"'


def test_what_cannot_be_read_is_no_program_and_a_repeated_question_has_the_same_answer() -> None:
    assert reply(f"{SKY}Go by the impression of the place.") == "no program"
    assert reply(f"{SKY}Output hot if petals > 3. If the moon is full, output mild.") == "no program"
    code = reply(f"{SKY}Output hot if petals > 3.")
    assert code.startswith("def predict(petals):")
    assert reply(f"An earlier answer was refused: nothing.\n{SKY}Output hot if petals > 3.") == code
    assert reply(SKY + "Always output mild.", "x", f"{SKY}Output hot if petals > 3.", "y", "Answer again.") == code
