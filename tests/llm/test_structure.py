import asyncio

import pytest

from vpp.data.dataset import Dataset
from vpp.llm.answers import parse_label, parse_number, parse_pack
from vpp.llm.counters import Counters
from vpp.llm.forms import Style
from vpp.llm.learner import LlmLearner
from vpp.llm.structure import NUMBER, Structure, answer_form, is_kept, structure
from vpp.llm.templates import Template
from vpp.llm.wire import Completion, Messages

from .tables import LINE, PARITY, row, table

STYLES: tuple[Style, ...] = ("text", "brief", "json")
SAID = {
    "text": "Explanation{0}: it is even\nOutput{0}: {1}",
    "brief": "Output{0}: {1}",
}


def held(kind: str, style: Style, dataset: Dataset, *, numbers: tuple[int, ...] = (1,), of: int = 1) -> Structure:
    asked = structure(kind, style, dataset, numbers=numbers, of=of)
    assert asked is not None
    return asked


def test_free_text_is_held_to_nothing() -> None:
    assert structure("off", "text", PARITY, numbers=(1,), of=1) is None


def test_a_choice_of_labels_is_what_the_prompt_shows() -> None:
    assert held("choice", "text", PARITY) == {"choice": ["0", "1"]}
    assert held("choice", "text", LINE) == {"regex": NUMBER}
    assert "no explanation" in answer_form("choice", "text", PARITY, 1)
    assert "- 0\n- 1\n" in answer_form("choice", "text", PARITY, 1)


@pytest.mark.parametrize("label", ["a.b", "50% (or more)", "C:\\x|y", "wei\u00df", "[x]", "a+b*c?"])
def test_a_label_of_any_text_is_held_to_and_read(label: str) -> None:
    dataset = table("classification", (row(0, label, x="1"),), classes=("other", label))
    for style in STYLES[:2]:
        said = SAID[style].format("", label)
        assert is_kept(held("regex", style, dataset), said)
        assert parse_label(said, dataset.classes).value == label
        assert not is_kept(held("regex", style, dataset), said + "x")


@pytest.mark.parametrize("number", ["0", "-3.25", "1200000", "1.5e-7", "1e300", "2.5e-308"])
def test_a_number_that_the_pattern_allows_is_read(number: str) -> None:
    assert is_kept(held("choice", "text", LINE), number)
    assert is_kept(held("regex", "text", LINE), SAID["text"].format("", number))
    assert parse_number(number).value == float(number)


@pytest.mark.parametrize("number", ["", "NaN", "inf", "1,000", "--1", "1e309", "1e999"])
def test_a_number_that_cannot_be_is_not_allowed(number: str) -> None:
    assert not is_kept({"regex": NUMBER}, number)


def test_json_is_held_to_its_keys() -> None:
    assert is_kept(held("regex", "json", PARITY), '{"explanation": "even", "output": "1"}')
    assert not is_kept(held("regex", "json", PARITY), '{"explanation": "even", "output": "2"}')
    pack = held("regex", "json", LINE, numbers=(2,), of=3)
    assert is_kept(pack, '{"number": 2, "explanation": "even", "output": 7}')


@pytest.mark.parametrize("kind", ["choice", "regex"])
def test_a_pack_is_held_to_the_numbers_that_are_asked_about(kind: str) -> None:
    asked = held(kind, "text", PARITY, numbers=(1, 3), of=3)
    style = "brief" if kind == "choice" else "text"
    said = "\n".join(SAID[style].format(f" [{number}]", "1") for number in (1, 3))
    assert is_kept(asked, said)
    read = parse_pack(said, (1, 3), lambda text: parse_label(text, PARITY.classes))
    assert {number: one.value for number, one in read.items()} == {1: "1", 3: "1"}
    assert not is_kept(asked, said.replace("[3]", "[2]"))


class Obedient:
    """A model that a server holds to its first choice; it keeps what it was sent."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Structure | None]] = []

    async def complete(
        self, messages: Messages, *, temperature: float, seed: int, max_tokens: int, structured: Structure | None = None
    ) -> Completion:
        self.asked.append((messages[0]["content"], structured))
        return Completion(text=self.replies.pop(0), finish_reason="stop", prompt_tokens=1, completion_tokens=1)


def predictions(chat: Obedient, kind: str, dataset: Dataset, **options: int) -> list[object]:
    learner = LlmLearner(
        chat,
        Template.shipped("learner", "paper"),
        dataset,
        seed=0,
        max_tokens=9,
        counters=Counters(),
        structured=kind,
        **options,
    )
    return [given.value for given in asyncio.run(learner.predict("a rule", dataset.train))]


def test_the_learner_asks_for_a_bare_label_where_a_choice_is_enforced() -> None:
    chat = Obedient("1", "0", "1")
    assert predictions(chat, "choice", PARITY) == ["1", "0", "1"]
    prompt, structured = chat.asked[0]
    assert prompt.rstrip().endswith("no other word.")
    assert structured == {"choice": ["0", "1"]}


def test_rows_asked_about_again_are_held_to_their_own_numbers() -> None:
    chat = Obedient("Output [1]: 1\nOutput [2]: ?\nOutput [3]: 1", "Output [2]: 0")
    assert predictions(chat, "choice", PARITY, points_per_call=3) == ["1", "0", "1"]
    assert [structured for _, structured in chat.asked] == [
        held("choice", "text", PARITY, numbers=(1, 2, 3), of=3),
        held("choice", "text", PARITY, numbers=(2,), of=3),
    ]


def test_a_server_that_ignores_the_structure_is_read_all_the_same() -> None:
    chat = Obedient(*["Explanation: it is even.\nOutput: 1"] * 3)
    assert predictions(chat, "choice", PARITY) == ["1", "1", "1"]
