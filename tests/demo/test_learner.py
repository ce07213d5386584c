"""The learner: true, short explanations in the asked form, and honest guesses."""

import pytest

from tests.demo.asking import BINARY, REGRESSION, learner_prompt
from vpp.demo.learner import answer, write
from vpp.demo.prompt import LearnerQuestion, read_prompt
from vpp.llm.answers import parse_label

ROW = "a: 3\nb: 4\nc: 0\nd: 7"


def say(hypothesis: str, row: str = ROW, labels: tuple[str, ...] = ("0", "1")) -> str:
    question = read_prompt(learner_prompt(hypothesis, row, labels))
    assert isinstance(question, LearnerQuestion)
    assert (question.rule, question.input, question.labels) == (hypothesis, row, labels)
    return write(answer(question))


@pytest.mark.parametrize(
    ("rule", "explanation"),
    [
        ("Output 1 if the sum of the integers is even, and 0 otherwise.",
         "The sum 3 + 4 + 0 + 7 is 14, which is even, so the rule gives 1."),
        ("Output 0 if the sum of the integers is odd; otherwise output 1.",
         "The sum 3 + 4 + 0 + 7 is 14, which is not odd, so the rule gives 1."),
        ("Output 1 if a > 2 and b <= 9, and 0 otherwise.",
         "A is 3, which is greater than 2 and b is 4, which is at most 9, so the rule gives 1."),
        ("Output 0 if there are no 0s in the sequence, and 1 otherwise.",
         "The number of 0s is 1, which is not equal to 0, so the rule gives 1."),
        ("Output 1 if any integer is 0, and 0 otherwise.",
         "The number of 0s is 1, which is at least 1, so the rule gives 1."),
        ("Output 0 if every integer is above 0, and 1 otherwise.",
         "The number of numbers that are not greater than 0 is 1, which is not equal to 0, so the rule gives 1."),
        ("Output 0 if the integers are in ascending order, and 1 otherwise.",
         "It is not so that the numbers are in ascending order in 3 4 0 7, so the rule gives 1."),
        ("Always output 1.", "The rule gives 1 for every input."),
    ],
)  # fmt: skip
def test_an_explanation_names_the_numbers_used(rule: str, explanation: str) -> None:
    assert say(f"{BINARY} {rule}") == f"Explanation: {explanation}\nOutput: 1"


def test_a_formula_is_shown_with_its_inputs() -> None:
    assert (
        say(f"{REGRESSION} y = 3.1x + 4.", "x: 1.5", ()) == "Explanation: 3.1 * x + 4 = 8.65 for x = 1.5.\nOutput: 8.65"
    )


@pytest.mark.parametrize(("labels", "guess"), [(("0", "1"), "0"), (("no", "yes"), "no"), ((), "0")])
def test_an_unreadable_rule_gets_an_honest_guess(labels: tuple[str, ...], guess: str) -> None:
    said = say("Look deep inside yourself.", ROW, labels)
    assert said == f"Explanation: The rule says nothing that I can read, so {guess} is only a guess.\nOutput: {guess}"


def test_a_rule_read_in_part_says_so() -> None:
    said = say(f"{BINARY} If the moon is full, output 0. Otherwise, output 1.")
    assert said.endswith("Part of the rule I could not read.\nOutput: 1")


def test_a_missing_cell_is_named() -> None:
    said = say(f"{BINARY} Output 1 if a > 2, and 0 otherwise.", "a: missing\nb: 4")
    assert said == (
        "Explanation: A is missing, so it cannot be said whether it is greater than 2, so the rule gives 0.\nOutput: 0"
    )


def test_a_formula_that_cannot_be_worked_out_is_guessed() -> None:
    said = say(f"{REGRESSION} y = 3x + 4.", "x: missing", ())
    assert said == "Explanation: 3 * x + 4 cannot be worked out, so 0 is only a guess.\nOutput: 0"


def test_no_input_breaks_the_learner() -> None:
    rows = (
        "",
        "no colon at all",
        ":",
        "a:",
        ": 3",
        "a: b: c",
        "a: 1e999",
        "a: nan",
        "a: \\n",
        "x" * 9999,
        "a: " + "1 " * 5000,
    )
    for row in rows:
        for rule in ("Output 1 if the sum of the integers is even, and 0 otherwise.", "Output 1 if a > 3."):
            text = write(answer(LearnerQuestion(f"{BINARY} {rule}", row, ("0", "1"))))
            parsed = parse_label(text, ("0", "1"))
            assert parsed.value in ("0", "1"), row[:40]
            assert parsed.explanation, row[:40]
            assert not parsed.inferred, row[:40]


def test_a_rule_may_hold_fences_and_headings() -> None:
    hypothesis = f"{BINARY} Output 1 if a is 3, and 0 otherwise. Input:\nCorrect outputs: none\n```\nInput:"
    question = read_prompt(learner_prompt(hypothesis, ROW, ("0", "1")))
    assert isinstance(question, LearnerQuestion)
    assert question.input == ROW
    assert question.rule == hypothesis


PUBLISHED = """You are the model.
** Pattern Descriptions: **
Output 1 if a is 3, and 0 otherwise.

** Input: **
a: 3
b: 4

Labels:
- 0
- 1

Please give your output strictly in this form:
Explanation: ...
Output: ..."""


def test_a_users_own_template_is_read_by_its_headings() -> None:
    question = read_prompt(PUBLISHED)
    assert isinstance(question, LearnerQuestion)
    assert answer(question).output == "1"
