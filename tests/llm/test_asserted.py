"""Yes, no, true and false are labels only where the output is said to be one, not where they answer a condition."""

from vpp.llm.answers import parse_label

YES_NO = ("no", "yes")
DECISIONS = ("admitted", "rejected")
TRUE_FALSE = ("False", "True")


def test_the_answer_to_a_condition_is_no_label() -> None:
    cases: list[tuple[str, tuple[str, ...]]] = [
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
    ]
    for answer, classes in cases:
        assert parse_label(answer, classes).value is None, (answer, classes)


def test_an_output_asserted_to_be_yes_or_no_is_read() -> None:
    cases: list[tuple[str, tuple[str, ...], str]] = [
        ("35 is not above 40, so the output is no.", YES_NO, "no"),
        ("Age is 35. The rule predicts no.", YES_NO, "no"),
        ("Age is 35, not above 40. Therefore, the answer is no.", YES_NO, "no"),
        ("Is age above 40? It is 35. So the predicted label is no.", YES_NO, "no"),
        ("35 < 40. The output is **False**.", TRUE_FALSE, "False"),
    ]
    for answer, classes, label in cases:
        parsed = parse_label(answer, classes)
        assert (parsed.value, parsed.inferred) == (label, True), (answer, classes, label)


def test_a_given_yes_or_no_is_read_as_before() -> None:
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
