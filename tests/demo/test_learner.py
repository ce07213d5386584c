"""The learner: true, short explanations in the requested form, and honest guesses."""

import pytest

from tests.demo.asking import BINARY, learner_prompt, optimizer_prompt, reply
from vpp.answers import parse_label
from vpp.demo.server import LearnerQuestion, read_prompt

ROW = "a: 3\nb: 4\nc: 0\nd: 7"


def say(hypothesis: str, row: str = ROW, labels: tuple[str, ...] = ("0", "1")) -> str:
    prompt = learner_prompt(hypothesis, row, labels)
    assert read_prompt(prompt) == LearnerQuestion(hypothesis, row, labels)
    return reply(prompt)


@pytest.mark.parametrize(
    ("rule", "explanation"),
    [
        ("Output 1 if the sum of the integers is even, and 0 otherwise.",
         "Here the sum of the numbers = 14, so the rule gives 1."),
        ("Output 0 if a > 2 and b > 9, and 1 otherwise.", "Here a = 3, b = 4, so the rule gives 1."),
        ("Output 1 if not (a > 5 or b > 9), and 0 otherwise.", "Here a = 3, b = 4, so the rule gives 1."),
        ("Output 0 if the integers are in ascending order, and 1 otherwise.",
         "Here the numbers = 3, 4, 0, 7, so the rule gives 1."),
        ("Output 1 if a is not missing, and 0 otherwise.", "Here a = 3, so the rule gives 1."),
        ("Output 0 if e > 2, and 1 otherwise.",
         "The rule says nothing that I can read, so 0 is only a guess."),
        ("Always output 1.", "The rule gives 1."),
    ],
)  # fmt: skip
def test_an_explanation_names_the_numbers_used(rule: str, explanation: str) -> None:
    assert say(f"{BINARY} {rule}").partition("\n")[0] == f"Explanation: {explanation}"


def test_a_guess_a_part_unread_and_a_missing_cell_are_named() -> None:
    for labels, guess in ((("no", "yes"), "no"), ((), "0")):
        expected = f"Explanation: The rule says nothing that I can read, so {guess} is only a guess.\nOutput: {guess}"
        assert say("Look deep inside yourself.", ROW, labels) == expected
    said = say(f"{BINARY} If the moon is full, output 0. Otherwise, output 1.")
    assert said.endswith("Part of the rule I could not read.\nOutput: 1")
    said = say(f"{BINARY} Output 1 if a > 2, and 0 otherwise.", "a: missing\nb: 4")
    assert said.startswith("Explanation: Here a = missing, so the rule")


ODD_ROWS = ("", "no colon at all", ":", "a:", ": 3", "a: b: c", "a: 1e999", "a: nan", "a: \\n", "x" * 9999,
            "a: " + "1 " * 5000)  # fmt: skip


def test_no_input_breaks_the_learner() -> None:
    for row in ODD_ROWS:
        for rule in ("Output 1 if the sum of the integers is even, and 0 otherwise.", "Output 1 if a > 3."):
            text = reply(learner_prompt(f"{BINARY} {rule}", row, ("0", "1")))
            parsed = parse_label(text, ("0", "1"))
            assert parsed.value in ("0", "1"), row[:40]
            assert parsed.explanation, row[:40]


ROWS = ("a: 3\nb: 5", "a: 3\nb: 4", "a: missing\nb: 2")


def test_the_last_question_of_a_conversation_is_answered() -> None:
    first = optimizer_prompt(f"{BINARY} Always output 1.", ROWS, ["1"] * 3, ["1", "0", "1"], ("0", "1"))
    second = optimizer_prompt(f"{BINARY} Always output 0.", ROWS, ["0"] * 3, ["0", "0", "0"], ("0", "1"))
    alone = reply(second)
    assert alone.endswith("New rule:\nAlways output 0.")
    assert reply(first) != alone
    assert reply(first, "New rule: Always output 0.", second) == alone
    assert reply(first, "New rule: …", second, "hm", "That answer could not be read: nothing. Answer again.") == alone
