"""The reader: documented wordings, unreadable and hostile texts."""

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
    "Predict 0 when the total of all the numbers is odd; otherwise predict 1.",
    "- If the sum of the digits is not odd, answer 1.\n- Otherwise, answer 0.",
    "If the sum of the integers is an even number, the label is 1; otherwise, the label is 0.",
    "1. If the sum of the values is odd, return 0.\n2. Otherwise, return 1.",
    "The label is 1 if the sum is even.",
    "If a plus b plus c plus d is divisible by 2, say 1.",
]
HAS_ZERO = [
    "The class label is 1 if any of the integers is 0, otherwise 0.",
    "If a is 0 or b is 0 or c is 0 or d is 0, output 1. Otherwise output 0.",
    "Output 1 when at least one of a, b, c and d equals zero; otherwise 0.",
    "If the product of the integers is 0, the label is 1; otherwise the label is 0.",
    "Output 0 if the sequence contains no 0s, and 1 otherwise.",
    "Output 1 if the sequence contains a 0, and 0 otherwise.",
    "Output 0 if all of the integers are greater than 0, and 1 otherwise.",
    "If the smallest integer is 0, output 1, otherwise output 0.",
    "Predict 1 if there is at least one 0 in the sequence; otherwise predict 0.",
    "Predict 1 if the number of 0s is at least one. Otherwise, predict 0.",
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
    "Output 1 if the distance from the origin to the point (x1, x2) is at most 0.615, and 0 otherwise.",
    "The decision boundary is a circle. Output 1 if the distance from (0, 0) to (x1, x2) is below 0.615; else 0.",
    "Output 1 if x1^2 + x2^2 <= 0.378, and 0 otherwise.",
    "Output 0 if √(x1**2 + x2**2) > 0.615, otherwise output 1.",
    "0 if √(x1**2 + x2**2) > 0.615, otherwise 1.",
]


def rule_for_digits(condition: str) -> str:
    return f"{BINARY} The class label is 1 if {condition}, and 0 otherwise."


CONDITIONS = [
    ("the sum of the integers is even and at most 26", {"9 8 9 2": "0", "3 4 0 7": "1"}),
    ("the sum of the integers is even and not above 26", {"9 8 9 2": "0", "3 4 0 7": "1"}),
    ("the sum of the integers is even and no two neighbours are equal", {"2 2 1 1": "0", "2 1 2 1": "1"}),
    ("the sum of the integers is a multiple of 4", {"1 1 1 1": "1", "1 1 1 3": "0"}),
    ("the sum of the integers is even and the sequence contains no 0", {"3 4 0 7": "0", "3 4 1 8": "1"}),
    ("the sequence contains at least two even integers", {"2 4 1 1": "1", "2 1 1 1": "0", "2 2 2 2": "1"}),
    ("the sequence contains exactly two even integers", {"2 4 1 1": "1", "2 2 2 1": "0"}),
    ("the sequence does not contain an even integer", {"1 1 1 1": "1", "2 2 2 1": "0"}),
    ("the average of the first three integers is 1", {"1 1 1 5": "1", "1 1 2 2": "0"}),
    ("the integers are in ascending order", {"1 2 2 3": "1", "2 1 3 4": "0"}),
    ("b, c and d are not in ascending order", {"1 3 2 3": "1", "2 1 3 4": "0"}),
    ("the sequence is a palindrome", {"1 2 2 1": "1", "1 2 2 3": "0"}),
    ("the integers are all different", {"1 2 3 4": "1", "1 2 3 1": "0"}),
    ("the sequence contains a repeated integer", {"1 2 3 4": "0", "1 2 3 1": "1"}),
    ("the first integer is greater than the last integer", {"5 0 0 4": "1", "4 0 0 4": "0"}),
    ("the largest integer is between 5 and 7", {"5 0 0 4": "1", "8 0 0 4": "0", "7 7 1 1": "1"}),
    ("the range of b, c and d is between 1 and 3", {"5 0 0 2": "1", "8 0 0 4": "0"}),
    ("a is one of 1, 3 or 5 and b > 2", {"3 3 0 0": "1", "3 2 0 0": "0", "2 9 0 0": "0"}),
    ("a is 1 or 3 or b is 5", {"3 3 0 0": "1", "2 5 0 0": "1", "2 3 0 0": "0"}),
    ("a is even or b is odd and c is 0", {"2 0 1 1": "1", "1 1 0 0": "1", "1 1 1 0": "0"}),
    ("(a is even or b is odd) and c is 0", {"2 0 1 1": "0", "1 1 0 0": "1"}),
    ("not (a is 3)", {"3 0 0 0": "0", "4 0 0 0": "1"}),
    ("the number of integers greater than 5 is at least 2", {"6 7 0 0": "1", "6 5 0 0": "0"}),
    ("the number of integers that are not even among a, b and c is 1", {"1 2 4 1": "1", "2 2 2 1": "0"}),
    ("the number of distinct integers is 4", {"1 2 3 4": "1", "1 1 2 3": "0"}),
    ("the sum of a and b is larger than the sum of c and d", {"5 5 1 1": "1", "1 1 5 5": "0"}),
    ("every integer is at least 3", {"3 4 5 6": "1", "3 4 5 2": "0"}),
    ("b is an even number and a is not an odd number", {"2 4 0 0": "1", "1 4 0 0": "0", "2 3 0 0": "0"}),
    ("the sum of a, a and b is 7", {"3 1 0 0": "1", "3 4 0 0": "0"}),
    ("a - b is more than c", {"9 1 7 0": "1", "9 1 8 0": "0"}),
    ("a is b or c is the sum of a and b", {"5 5 0 0": "1", "5 1 6 0": "1", "5 1 5 0": "0"}),
    ("a is over 4 and b is under 4", {"5 0 0 0": "1", "5 5 0 0": "0"}),
    ("a is 5 or more", {"5 0 0 0": "1", "4 0 0 0": "0"}),
    ("a is 3 to 5 and b is from 1 to 2", {"3 1 0 0": "1", "5 2 0 0": "1", "6 1 0 0": "0", "3 0 0 0": "0"}),
    ("a is not 3-5", {"4 0 0 0": "0", "6 0 0 0": "1"}),
    ("a is 3-5*b", {"3 0 0 0": "1", "4 0 0 0": "0"}),
]


def test_conditions_on_digits() -> None:
    for condition, cases in CONDITIONS:
        for numbers, expected in cases.items():
            assert answer(rule_for_digits(condition), digits(numbers)) == expected, (condition, numbers)


FORMULAS = {
    "y = 3x + 4.": 8.5,
    "The output is 3 times x plus 4.": 8.5,
    "Output 3(x + 1) + 1.": 8.5,
    "If x is missing, output 5; otherwise output 3x + 4.": 8.5,
    "y = 3x^2 + x + 2": 10.25,
    "Output 2 * sin(x - 1.5) + 2.5.": 2.5,
    "If x is less than 0, output -2x + 1; otherwise output -x.": -1.5,
    "Always predict 5.2.": 5.2,
    "Output x / 3 - 0.5.": 0.0,
    "Output -(x + 1)^2.": -6.25,
    "Output 1,250.5.": 1250.5,
    "Output 2e-3.": 0.002,
}


def test_formulas() -> None:
    for text, expected in FORMULAS.items():
        assert answer(f"{REGRESSION} {text}", "x: 1.5", ()) == pytest.approx(expected), text
    assert answer("You are designed to do regression: predict Price. The price is 2x.", "x: 1.5", ()) == 3.0


FLOWER = "sepal length (cm): 5\npetal length (cm): {}\npetal width (cm): {}\nplace: {}\nclass: {}"


CATEGORIES = [
    ("place is Biscoe", "Biscoe", True),
    ("place is A", "A", True),
    ("place is Biscoe or Dream", "dream", True),
    ("place is one of Biscoe, Dream and Torgersen", "Torgersen", True),
    ('place is not "St. Louis"', "St. Louis", False),
    ("place is missing", "missing", True),
    ("place is not missing", "missing", False),
    ('place contains "sco"', "Biscoe", True),
    ('place does not contain "sco"', "Biscoe", False),
    ("place = Biscoe and petal length (cm) > 3", "Biscoe", True),
    ("place != Biscoe", "Biscoe", False),
    ("petal width (cm) < 0.5 or place is New York", "New York", True),
    ("class is 1st and place is not New York", "Biscoe", True),
    ("the place equals Self-employed and class is 1st or 2nd", "self-employed", True),
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


HOSTILE = [
    "(" * 20_000, "if " * 7_000, "if x is " * 3_000 + "3", "-" * 20_000, '"' * 20_000, "“" * 20_000, "'" * 19_999,
    "the sum of " * 2_000, "2^" * 9_000 + "2", "x + " * 5_000 + "x", "output x + " + "x * " * 4_900 + "x",
    "if not " * 3_000 + "x > 3, output 1", "1 " * 10_000, "a" * 20_000, "otherwise, " * 1_800, "-" * 9_999 + "x",
    "Output 1 if " + "x > 3 and " * 1_900 + "x > 2, else 0", "if x > 3 then " * 1_500, "sin(" * 5_000 + "x",
    "1,000" * 4_000, "\\" * 20_000, "\n" * 20_000, "9" * 20_000, "the distance from the origin " * 700,
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
    "3 4 0 7": (3.0, 4.0, 0.0, 7.0),
}  # fmt: skip


def test_a_cell_has_the_value_that_a_person_sees() -> None:
    assert {text: read_value(text) for text in CELLS} == CELLS
    assert read_row("price: 12.50 €\nzip: 00123\nQ1: age: 7\nat: 12:30") == {
        "price": 12.5, "zip": "00123", "Q1: age": 7.0, "at": "12:30",
    }  # fmt: skip
