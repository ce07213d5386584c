"""A label counts where a text says that it applies to the input, and nowhere else."""

from vpp.llm.answers import parse_label

YES_NO = ("no", "yes")
DECISIONS = ("admitted", "rejected")


def test_yes_and_no_are_never_asserted_since_they_answer_conditions_too() -> None:
    for answer in ("Is age above 40? No.", "35 > 40 -> no", "The condition is no.", "So the output is no."):
        assert parse_label(f"Explanation: {answer}", YES_NO).value is None, answer


def test_a_given_yes_or_no_is_read() -> None:
    for answer in ["Output: no", "No", "Answer: no", '{"output": "no"}']:
        assert parse_label(answer, YES_NO).value == "no", answer


def test_the_part_of_a_rule_asserted_to_apply_is_read() -> None:
    cases: list[str] = [
        "Is math A? D: no. So otherwise answer rejected.",
        "math D is not A. So, otherwise answer rejected.",
        "math is D, so answer rejected.",
    ]
    for answer in cases:
        assert parse_label(answer, DECISIONS).value == "rejected", answer


def test_a_part_of_a_rule_that_is_only_repeated_is_not_read() -> None:
    cases: list[str] = [
        "If math is D, so answer rejected.",
        "Is math A? Otherwise answer rejected.",
        "Is math A? Answer rejected otherwise.",
        "The rule tells whether the student is rejected.",
        "We check whether math is D and then the answer is rejected.",
        "Students with math D have bad grades, so answer rejected. This student has math A.",
        "So otherwise answer rejected. Math is A, so the first part applies.",
        "math is D, answer rejected.",
    ]
    for answer in cases:
        assert parse_label(answer, DECISIONS).value is None, answer
