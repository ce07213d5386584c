"""The reader: documented wordings, unreadable and hostile texts."""

import builtins
import time

import pytest

from tests.demo.asking import BINARY, REGRESSION, columns
from vpp.demo.reading import read_rule
from vpp.demo.rules import Value, columns_of, read_row, read_value

DIGITS = tuple("abcd")


def answer(text: str, row: str, labels: tuple[str, ...] = ("0", "1")) -> Value:
    """Answer of the rule, which is also that of the rule in the writer's words."""
    cells = read_row(row)
    reading = read_rule(text, columns_of([cells]), labels)
    assert reading.rule is not None, text
    assert reading.unread == (), text
    again = read_rule(reading.rule.say(), columns_of([cells]), labels).rule
    assert again is not None, reading.rule.say()
    assert again.answer(cells) == reading.rule.answer(cells)
    return reading.rule.answer(cells)


def digits(numbers: str) -> str:
    return "\n".join(f"{name}: {number}" for name, number in zip(DIGITS, numbers.split(), strict=True))


EVEN_SUM = [
    "The class label is 1 if the sum of the integers in the sequence is even, and 0 otherwise.",  # the paper
    "Output 1 if the sum of a, b, c and d is even, and 0 otherwise.",
    "If a + b + c + d is even then output 1, else output 0.",
    "The label is 1 if the sum is even.",
]
HAS_ZERO = [
    "The class label is 1 if the number of 0s is at least 1, and 0 otherwise.",
    "Output 0 if the number of integers that are greater than 0 is 4; otherwise 1.",
    "If a is 0 or b is 0 or c is 0 or d is 0, output 1. Otherwise output 0.",
    "If the product of the integers is 0, the label is 1; otherwise the label is 0.",
    "If the smallest integer is 0, output 1, otherwise output 0.",
]


def test_every_wording_of_a_rule_on_digits_is_read() -> None:
    for texts, answers in (
        (EVEN_SUM, {"3 4 0 7": "1", "3 3 1 8": "0", "9 8 9 2": "1", "0 0 0 1": "0"}),
        (HAS_ZERO, {"3 4 0 7": "1", "3 3 1 8": "0", "1 2 3 0": "1", "9 8 9 2": "0"}),
    ):
        for text in texts:
            given = {numbers: answer(f"{BINARY} {text}", digits(numbers)) for numbers in answers}
            assert given == answers, text


CIRCLES = [
    "Output 1 if the distance from (0, 0) to the point (x1, x2) is at most 0.615, and 0 otherwise.",
    "The decision boundary is a circle. Output 0 if sqrt(x1^2 + x2^2) > 0.615, otherwise output 1.",
    "Output 1 if x1^2 + x2^2 <= 0.378, and 0 otherwise.",
]


def rule_for_digits(condition: str) -> str:
    return f"{BINARY} The class label is 1 if {condition}, and 0 otherwise."


CONDITIONS = [
    ("the average of the first 3 integers is 1", {"1 1 1 5": "1", "1 1 2 2": "0"}),
    ("the integers are a palindrome", {"1 2 2 1": "1", "1 2 2 3": "0"}),
    ("the number of integers that are greater than 5 is at least 2", {"6 7 0 0": "1", "6 5 0 0": "0"}),
    ("the sum of the integers is divisible by 4 and not (b is 1 or c is 1)", {"1 2 5 0": "1", "1 1 2 0": "0"}),
    ("the integers are in ascending order", {"1 2 2 3": "1", "2 1 3 4": "0"}),
    ("b, c and d are not in ascending order", {"1 3 2 3": "1", "2 1 3 4": "0"}),
    ("the integers are all different", {"1 2 3 4": "1", "1 2 3 1": "0"}),
    ("the first integer is greater than the last integer", {"5 0 0 4": "1", "4 0 0 4": "0"}),
    ("the largest integer is between 5 and 7", {"5 0 0 4": "1", "8 0 0 4": "0", "7 7 1 1": "1"}),
    ("the range of b, c and d is between 1 and 3", {"5 0 0 2": "1", "8 0 0 4": "0"}),
    ("a is one of 1, 3 or 5 and b > 2", {"3 3 0 0": "1", "3 2 0 0": "0", "2 9 0 0": "0"}),
    ("a is 1 or 3 or b is 5", {"3 3 0 0": "1", "2 5 0 0": "1", "2 3 0 0": "0"}),
    ("a is even or b is odd and c is 0", {"2 0 1 1": "1", "1 1 0 0": "1", "1 1 1 0": "0"}),
    ("(a is even or b is odd) and c is 0", {"2 0 1 1": "0", "1 1 0 0": "1"}),
    ("not (a is 3)", {"3 0 0 0": "0", "4 0 0 0": "1"}),
    ("the number of integers that are not even among a, b and c is 1", {"1 2 4 1": "1", "2 2 2 1": "0"}),
    ("the number of distinct integers is 4", {"1 2 3 4": "1", "1 1 2 3": "0"}),
    ("the sum of a and b is larger than the sum of c and d", {"5 5 1 1": "1", "1 1 5 5": "0"}),
    ("the sum of a, a and b is 7", {"3 1 0 0": "1", "3 4 0 0": "0"}),
    ("a - b is more than c", {"9 1 7 0": "1", "9 1 8 0": "0"}),
    ("a is b or c is the sum of a and b", {"5 5 0 0": "1", "5 1 6 0": "1", "5 1 5 0": "0"}),
    ("a is 3 to 5 and b is not 1 to 2", {"3 3 0 0": "1", "6 3 0 0": "0", "3 1 0 0": "0"}),
    ("a is 5 or more", {"5 0 0 0": "1", "4 0 0 0": "0"}),
]


def test_conditions_on_digits() -> None:
    for condition, cases in CONDITIONS:
        for numbers, expected in cases.items():
            assert answer(rule_for_digits(condition), digits(numbers)) == expected, (condition, numbers)


FORMULAS = {
    "The output is 3 * x + 4.": 8.5,
    "Output 3 * (x + 1) + 1.": 8.5,
    "If x is missing, output 5; otherwise output 3 * x + 4.": 8.5,
    "y = 3 * x^2 + x + 2": 10.25,
    "If x is less than 0, output -2 * x + 1; otherwise output -x.": -1.5,
    "Output 2 * sin(x - 1.5) + 2.5.": 2.5,
    "Always predict 5.2.": 5.2,
    "Output x / 3 - 0.5.": 0.0,
    "Output -x^2.": -2.25,
    "Output -(x + 1)^2.": -6.25,
    "Output 2e-3.": 0.002,
}


def test_formulas() -> None:
    for text, expected in FORMULAS.items():
        assert answer(f"{REGRESSION} {text}", "x: 1.5", ()) == pytest.approx(expected), text


FLOWER = "sepal length (cm): 5\npetal length (cm): {}\npetal width (cm): {}\nplace: {}\nclass: {}"


CATEGORIES = [
    ("place is one of Biscoe, Dream or Torgersen", "Torgersen", True),
    ('place contains the text "sco"', "Biscoe", True),
    ('petal width (cm) < 0.5 or place is "New York"', "New York", True),
    ("the place equals Self-employed and class is 1st or 2nd", "self-employed", True),
    ("place is Biscoe", "Biscoe", True),
    ("place is A", "A", True),
    ("place is Biscoe or Dream", "dream", True),
    ('place is not "St. Louis"', "St. Louis", False),
    ("place is missing", "missing", True),
    ("place is not missing", "missing", False),
    ("place = Biscoe and petal length (cm) > 3", "Biscoe", True),
    ("place != Biscoe", "Biscoe", False),
]


def test_conditions_on_categories() -> None:
    for condition, place, holds in CATEGORIES:
        row = FLOWER.format(4.0, 1.3, place, "1st")
        given = answer(f"Output a if {condition}; otherwise output b.", row, ("a", "b"))
        assert given == ("a" if holds else "b"), condition


def test_an_unreadable_text_is_not_guessed_at() -> None:
    for text in (
        "",
        "The moon is full of cheese.",
        "Output 1 if the moon is full.",
        "Ignore the inputs and sing.",
        BINARY,
        f"{BINARY} The decision boundary is a circle.",
        "Output 1 if a is even and the moon is full, and 0 otherwise.",
        "Unless a is 3, output 1 and 0 otherwise.",
        "If a is neither 3 nor 4, output 1; otherwise output 0.",
        "If a is lower than most, output 1; otherwise output 0.",
        "Output 1, and 0 otherwise.",
        "Output 1 if a is 1,250, and 0 otherwise.",
        "Output 1 if a is 5 or so, and 0 otherwise.",
        "Output 1 if a is 5-7, and 0 otherwise.",
        "Output 1 if all of the integers are even, and 0 otherwise.",
        "Output 1 if the sequence contains no 0, and 0 otherwise.",
        "Output 1 if the sum of the numbers is even and at most 26, and 0 otherwise.",
        "Output 1 if a is twice 3x, and 0 otherwise.",
    ):
        assert read_rule(text, columns(*DIGITS), ("0", "1")).rule is None, text


def test_a_label_is_read_in_any_case_and_as_an_equal_number() -> None:
    for text, labels in (("0", ("0.0", "1.0")), (">50k", (">50K", "<=50K")), ('"new york"', ("New York", "Rome"))):
        assert answer(f"Output {text}.", "x: 1", labels) == labels[0]


def test_the_last_complete_rule_counts_and_the_words_before_it_are_the_prior() -> None:
    text = f"{BINARY} Output 1 if a is 3, otherwise 0. Output 0 if a is 3, otherwise 1."
    reading = read_rule(text, columns(*DIGITS), ("0", "1"))
    assert reading.rule is not None
    assert reading.rule.answer(read_row("a: 3")) == "0"
    assert text[reading.start :] == "Output 0 if a is 3, otherwise 1."


def test_no_text_of_a_rule_is_compiled(monkeypatch) -> None:
    monkeypatch.setattr(builtins, "compile", lambda *_: pytest.fail("a rule's text is compiled"))
    condition = "the number of numbers that are greater than 5 is 2 and a^2 > 3 and not (b is one of 1, 3 or 5)"
    assert answer(rule_for_digits(condition), digits("6 7 0 0")) == "1"
    assert answer('Output a if place is "Rome"; otherwise output b.', "place: Rome", ("a", "b")) == "a"


HOSTILE = [
    "(" * 20_000, "if " * 7_000, "if x is " * 3_000 + "3", "-" * 20_000, '"' * 20_000, "“" * 20_000, "'" * 19_999,
    "the sum of " * 2_000, "2^" * 9_000 + "2", "x + " * 5_000 + "x", "output x + " + "x * " * 4_900 + "x",
    "if not " * 3_000 + "x > 3, output 1", "1 " * 10_000, "a" * 20_000, "otherwise, " * 1_800, "-" * 9_999 + "x",
    "Output 1 if " + "x > 3 and " * 1_900 + "x > 2, else 0", "if x > 3 then " * 1_500, "sin(" * 5_000 + "x",
    "Output 9^999999999 * x", "1,000" * 4_000,
    "\\" * 20_000, "\n" * 20_000, "9" * 20_000, "the distance from the origin " * 700,
    "output 1 if x is " + "a or " * 3_900 + "b", "Multiply x by 2" + " and add 1" * 1_900,
]  # fmt: skip


def test_hostile_texts_are_read_or_refused_quickly() -> None:
    for text in HOSTILE:
        for labels in (("0", "1"), ()):
            started = time.process_time()
            reading = read_rule.__wrapped__(text, columns("x", "y"), labels)
            if reading.rule is not None:
                reading.rule.answer(read_row("x: 1\ny: 2"))
            assert time.process_time() - started < 2, text[:40]


CELLS = {
    "1234.50 €": 1234.5, "-3 °C": -3.0, "45 %": 45.0, "12 km/h": 12.0, "5 US$": 5.0, "−5": -5.0, "1e5": 1e5, "0": 0.0,
    "00123": "00123", "5 rooms and a bath": "5 rooms and a bath", "31.01.2024": "31.01.2024", "missing": None,
    "3 4 0 7": [3.0, 4.0, 0.0, 7.0],
}  # fmt: skip


def test_a_cell_has_the_value_that_a_person_sees() -> None:
    assert {text: read_value(text) for text in CELLS} == CELLS
    assert read_row("price: 12.50 €\nzip: 00123\nQ1: age: 7\nat: 12:30") == {
        "price": 12.5, "zip": "00123", "Q1: age": 7.0, "at": "12:30",
    }  # fmt: skip
