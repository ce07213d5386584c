"""Yes, no, true and false are labels only where the output is said to be one, not where they answer a condition."""

import pytest

from vpp.llm.answers import parse_label

YES_NO = ("no", "yes")
DECISIONS = ("admitted", "rejected")
TRUE_FALSE = ("False", "True")


@pytest.mark.parametrize(
    ("answer", "classes"),
    [
        ("Explanation: Is age above 40? No.", YES_NO),
        ("Is age above 40? 35 is not above 40, so no. The otherwise part applies.", YES_NO),
        ("Is age above 40? 35 > 40 -> no", YES_NO),
        ("Is age above 40? The answer is no.", YES_NO),
        ("Is age above 40? The output is no.", YES_NO),
        ("Is age above 40?\nAnswer: no\nThen the otherwise part applies.", YES_NO),
        ("The condition is no.", YES_NO),
        ("The answer is no. Now the next condition: is income above 100.", YES_NO),
        ("The answer is no. Income is 80, below 100.", YES_NO),
        ("The output is no. Or is that wrong?", YES_NO),
        ("35 > 40 is false. So false.", TRUE_FALSE),
        ("The condition is age above 40. The answer is false.", TRUE_FALSE),
    ],
)
def test_the_answer_to_a_condition_is_no_label(answer: str, classes: tuple[str, ...]) -> None:
    assert parse_label(answer, classes).value is None


@pytest.mark.parametrize(
    ("answer", "classes", "label"),
    [
        ("35 is not above 40, so the output is no.", YES_NO, "no"),
        ("Age is 35. The rule predicts no.", YES_NO, "no"),
        ("Age is 35, not above 40. Therefore, the answer is no.", YES_NO, "no"),
        ("Is age above 40? It is 35. So the predicted label is no.", YES_NO, "no"),
        ("35 < 40. The output is **False**.", TRUE_FALSE, "False"),
    ],
)
def test_an_output_that_is_said_to_be_yes_or_no_is_read(answer: str, classes: tuple[str, ...], label: str) -> None:
    parsed = parse_label(answer, classes)
    assert (parsed.value, parsed.inferred) == (label, True)


@pytest.mark.parametrize("answer", ["Output: no", "No", "Answer: no", '{"output": "no"}'])
def test_a_given_yes_or_no_is_read_as_before(answer: str) -> None:
    assert parse_label(answer, YES_NO).value == "no"


@pytest.mark.parametrize(
    "answer",
    [
        "Is math A? D: no. So otherwise answer rejected.",
        "math D is not A. So, otherwise answer rejected.",
        "math is D, so answer rejected.",
    ],
)
def test_the_part_of_a_rule_that_is_said_to_apply_is_read(answer: str) -> None:
    assert parse_label(answer, DECISIONS).value == "rejected"


@pytest.mark.parametrize(
    "answer",
    [
        "If math is D, so answer rejected.",
        "Is math A? Otherwise answer rejected.",
        "Is math A? Answer rejected otherwise.",
        "The rule tells whether the student is rejected.",
        "We check whether math is D and then the answer is rejected.",
        "Students with math D have bad grades, so answer rejected. This student has math A.",
        "So otherwise answer rejected. Math is A, so the first part applies.",
        "math is D, answer rejected.",
    ],
)
def test_a_part_of_a_rule_that_is_only_repeated_is_not_read(answer: str) -> None:
    assert parse_label(answer, DECISIONS).value is None
