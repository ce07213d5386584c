"""Answers about several inputs: each line is somebody's, read as it would be alone, and the last that can be wins."""

import re

from hypothesis import given
from hypothesis import strategies as st

from vpp.llm.answers import Parsed, parse_label, parse_number
from vpp.llm.packs import parse_pack

from .test_answers import FORMS, SPECIES

NUMBERED = [
    re.sub(r"(Explanation|[Oo]utput)(?=\W)", r"\1 [{0}]", form.replace("{}", "{1}"))
    for form in FORMS
    if "utput" in form and "<think>" not in form and "aloud" not in form and "\\boxed{{\\text" not in form
]


def labels(text: str, numbers: range = range(1, 3)) -> dict[int, Parsed[str]]:
    return parse_pack(text, numbers, lambda each: parse_label(each, SPECIES))


def values(text: str, numbers: range = range(1, 3)) -> list[str | None]:
    return [parsed.value for parsed in labels(text, numbers).values()]


OTHER_FORMS = (
    "Output {0}: {1}",
    "Output({0}): {1}",
    "Output #{0}: {1}",
    "[{0}] Output: {1}",
    "**[{0}] Output:** {1}",
    "Output \\[{0}\\]: {1}",
    "[{0}]\nExplanation: so\nOutput: {1}",
    "**Input [{0}]:**\nOutput: {1}",
)


def test_every_form_of_an_answer_is_read_under_its_number() -> None:
    for form in (*NUMBERED, *OTHER_FORMS):
        text = "\n".join(form.format(number, label) for number, label in enumerate(SPECIES, 1))
        assert values(text, range(1, 4)) == list(SPECIES), form


OUTPUTS = {
    "Output [1]: Adelie\nOutput [2]: Adelie\nOutput [1]: Gentoo\nOutput [1]: perhaps": ["Gentoo", "Adelie"],
    "<think>Output [1]: Adelie</think>\nOutput [2]: Gentoo": [None, "Gentoo"],
    "Output [1]:\nOutput [2]: Gentoo": [None, "Gentoo"],
    "Output [1]: Gentoo\nOutput [2]: Adelie<|im_end|>\n<|im_start|>user\nOutput [1]: Adelie": ["Gentoo", "Adelie"],
    **{text: [None, None] for text in ("Output: Gentoo", "Gentoo", '{"output": "Gentoo"}', "Output [3]: Gentoo", "")},
}


def test_the_last_readable_line_of_a_number_wins_within_the_models_own_turn() -> None:
    for text, read in OUTPUTS.items():
        assert values(text) == read, text
    assert labels("Gentoo")[2].reason == "there is no 'Output [2]:' line"


def test_of_one_input_left_the_number_may_be_missing_but_not_wrong() -> None:
    assert values("Output: Gentoo", range(2, 3)) == ["Gentoo"]
    assert values("Output [1]: Gentoo\nOutput: Adelie", range(2, 3)) == [None]


def test_each_answer_has_its_own_explanation_and_reason() -> None:
    read = labels("Explanation [1]: long bill\nOutput [1]: Gentoo\nExplanation: short bill\nOutput [2]: a duck")
    assert read[1] == Parsed(value="Gentoo", explanation="long bill")
    assert read[2].explanation == "short bill"
    assert read[2].reason == "'a duck' is none of the labels Adelie, Chinstrap, Gentoo"


def test_a_sentence_under_a_number_is_read_as_inferred() -> None:
    read = labels("Output [1]: The penguin is a Gentoo.\nOutput [2]: Adelie")
    assert (read[1].value, read[1].inferred, read[2].inferred) == ("Gentoo", True, False)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30), st.randoms())
def test_numbers_answered_as_asked_are_read_back_in_any_order(numbers: list[float], random: object) -> None:
    lines = [f"Explanation [{at}]: so\nOutput [{at}]: {number!r}" for at, number in enumerate(numbers, 1)]
    random.shuffle(lines)  # type: ignore[attr-defined]
    read = parse_pack("\n\n".join(lines), range(1, len(numbers) + 1), parse_number)
    assert [parsed.value for parsed in read.values()] == numbers


@given(st.text("Output [1]:=\n*`.#()\\ explanation2") | st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert set(labels(text)) == {1, 2}
