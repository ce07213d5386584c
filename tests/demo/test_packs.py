"""Several inputs in one learner's question: each answered by itself, under its own number."""

import pytest

from tests.demo.asking import BINARY, REGRESSION, body, learner_prompt, optimizer_prompt, pack_prompt, serving
from vpp.demo import chat, learner
from vpp.demo.prompt import LearnerQuestion, PackQuestion, read_prompt

ROWS = ("a: 3\nb: 5", "a: 3\nb: 4", "a: missing\nb: 2")
EVEN = f"{BINARY} Output 1 if the sum of the integers is even, and 0 otherwise."


def pack(rule: str = EVEN, rows: tuple[str, ...] = ROWS, labels: tuple[str, ...] = ("0", "1")) -> PackQuestion:
    question = read_prompt(pack_prompt(rule, rows, labels))
    assert isinstance(question, PackQuestion)
    return question


def test_the_inputs_are_read_by_their_numbers() -> None:
    assert pack() == PackQuestion(EVEN, (("1", ROWS[0]), ("2", ROWS[1]), ("3", ROWS[2])), ("0", "1"))


@pytest.mark.parametrize(
    ("rule", "rows", "labels"),
    [
        (EVEN, ROWS, ("0", "1")),
        (f"{REGRESSION} y = 2x + 1.", ("x: 3", "x: missing", "x: -1e3"), ()),
        ("Look deep inside yourself.", ROWS, ("no", "yes")),
    ],
)
def test_each_input_is_answered_as_if_it_were_alone(rule: str, rows: tuple[str, ...], labels: tuple[str, ...]) -> None:
    expected = []
    for number, row in enumerate(rows, 1):
        alone = read_prompt(learner_prompt(rule, row, labels))
        assert isinstance(alone, LearnerQuestion)
        given = learner.answer(alone)
        expected += [f"Explanation [{number}]: {given.explanation}", f"Output [{number}]: {given.output}"]
    assert learner.write_pack(pack(rule, rows, labels)).split("\n") == expected


def test_a_complaint_is_answered_for_the_inputs_it_names() -> None:
    said = learner.write_pack(pack(), "Not every answer could be read:\n[2]: '[3]: x' is none\n[9]: no\nAnswer again.")
    assert [line for line in said.split("\n") if line.startswith("Output")] == ["Output [2]: 0"]


def test_a_column_that_is_called_like_a_number_makes_no_pack() -> None:
    assert isinstance(read_prompt(learner_prompt(EVEN, "[1]: 4\n[2]: 5", ("0", "1"))), LearnerQuestion)
    assert pack(rows=("[2]: 4\n[3]: 5", "[2]: 1\n[3]: 5")).inputs[0] == ("1", "[2]: 4\n[3]: 5")


def test_a_pack_is_answered_over_http_and_so_is_its_re_ask() -> None:
    asked = body(pack_prompt(EVEN, ROWS, ("0", "1")))
    with serving() as server:
        said = server.say(asked)
        asked["messages"] += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": "Not every answer could be read:\n[3]: no\nAnswer again."},
        ]
        again = server.say(asked)
    assert said.count("Output [") == 3
    assert again == "\n".join(said.split("\n")[4:])


def test_the_last_question_of_a_conversation_is_answered() -> None:
    def asked(*contents: str) -> str:
        roles = ("user", "assistant")
        messages = [{"role": roles[at % 2], "content": content} for at, content in enumerate(contents)]
        return chat.respond(chat.read_request(chat.json.dumps(body("") | {"messages": messages}).encode()))

    first = optimizer_prompt(f"{BINARY} Always output 1.", ROWS, ["1"] * 3, ["1", "0", "1"], ("0", "1"))
    second = optimizer_prompt(f"{BINARY} Always output 0.", ROWS, ["0"] * 3, ["0", "0", "0"], ("0", "1"))
    alone = asked(second)
    assert alone.endswith("New rule:\nAlways output 0.")
    assert asked(first) != alone
    assert asked(first, "New rule: Always output 0.", second) == alone
    assert asked(first, "New rule: …", second, "hm", "That answer could not be read: nothing. Answer again.") == alone
