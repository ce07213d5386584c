import asyncio

from vpp.data.dataset import Dataset
from vpp.llm.answers import parse_label, parse_number
from vpp.llm.counters import Counters
from vpp.llm.forms import (
    CARRIERS,
    NUMBER,
    Carrier,
    Structure,
    Style,
    answer_form,
    carrier_for,
    is_kept,
    request_options,
    structure,
)
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion, Messages
from vpp.llm.templates import shipped

from .tables import LINE, PARITY, row, table

STYLES: tuple[Style, ...] = ("text", "brief", "json")
SAID = {"text": "Explanation{0}: it is even\nOutput{0}: {1}", "brief": "Output{0}: {1}"}


def held(style: Style, dataset: Dataset, carrier: Carrier = "structured_outputs") -> Structure:
    asked = structure(carrier, style, dataset)
    assert asked is not None
    return asked


def test_a_label_of_any_text_is_enforced_and_read() -> None:
    for label in ("a.b", "50% (or more)", "C:\\x|y", "wei\u00df", "[x]", "a+b*c?"):
        dataset = table("classification", (row(0, label, x="1"),), classes=("other", label))
        for style in STYLES[:2]:
            answer = SAID[style].format("", label)
            assert is_kept(held(style, dataset), answer), answer
            assert parse_label(answer, dataset.classes).value == label, answer
            assert not is_kept(held(style, dataset), answer + "x"), answer


def test_the_pattern_of_a_number_allows_readable_numbers_only() -> None:
    for number in ("0", "-3.25", "1200000", "1.5e-7", "1e300", "2.5e-308"):
        assert is_kept(held("text", LINE), SAID["text"].format("", number)), number
        assert parse_number(number).value == float(number), number
    for number in ("", "NaN", "inf", "1,000", "--1", "1e309", "1e999"):
        assert not is_kept({"regex": NUMBER.regex}, number), number


def test_json_is_held_to_its_keys() -> None:
    said = r'{"explanation": "\"8\" is even", "output": "1"}'
    assert is_kept(held("json", PARITY), said)
    assert parse_label(said, PARITY.classes).explanation == '"8" is even'
    for broken in (said.replace('"1"', '"2"'), said.replace("\\", ""), said.replace("\\", r"\\")):
        assert not is_kept(held("json", PARITY), broken), broken
    assert is_kept(held("json", LINE), '{"explanation": "even", "output": 7}')


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


def test_a_server_that_ignores_the_structure_is_read_all_the_same() -> None:
    chat = Obedient(*["It is even.\nOutput: 1"] * 3)
    prompts = LearnerPrompts(dataset=PARITY, template=shipped("learner", "paper"), carrier="structured_outputs")
    learner = LlmLearner(chat, prompts, LearnerOptions(seed=0, max_tokens=9), counters=Counters())
    assert [each.value for each in asyncio.run(learner.predict("a rule", PARITY.train))] == ["1", "1", "1"]
    assert [structured for _, structured in chat.asked] == [held("text", PARITY)] * 3


# --- carriers ---------------------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string", "minLength": 1, "maxLength": 400},
        "output": {"type": "string", "enum": ["0", "1"]},
    },
    "required": ["explanation", "output"],
    "additionalProperties": False,
}


def test_llama_cpp_is_sent_a_grammar_of_the_answer_form() -> None:
    asked = held("text", PARITY, "grammar")
    assert request_options(asked) == {
        "grammar": r'root ::= "Explanation: " [^ \t\n\r] [^\n\r]{0,399} "\n" "Output: " ("0" | "1")'
    }


def test_a_json_schema_asks_for_the_explanation_before_the_output() -> None:
    sent = request_options(held("text", PARITY, "json_schema"))["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    assert list(sent["json_schema"]["schema"]["properties"]) == ["explanation", "output"]


def test_the_prompt_asks_for_json_only_where_the_server_takes_a_schema() -> None:
    for carrier in CARRIERS:
        form = answer_form(carrier, "text", PARITY)
        assert ('{"explanation": "' in form) == (carrier == "json_schema")
        assert ("Output: one of the labels" in form) == (carrier != "json_schema")


def test_an_answer_held_to_a_schema_is_read() -> None:
    said = '{\n  "explanation": "it is even",\n  "output": 2.5\n}'
    assert is_kept(held("text", LINE, "json_schema"), said)
    assert parse_number(said).value == 2.5
    assert parse_number(said).explanation == "it is even"


BROKEN = (
    "no JSON",
    '{"output": "1", "explanation": "even"}',
    '{"explanation": "", "output": "1"}',
    '{"explanation": "even", "output": "2"}',
    '{"explanation": "even", "output": "1", "more": 1}',
    '["even", "1"]',
)


def test_an_answer_that_breaks_the_schema_is_noticed() -> None:
    asked = held("text", PARITY, "json_schema")
    assert is_kept(asked, '{"explanation": "even", "output": "1"}')
    assert [said for said in BROKEN if is_kept(asked, said)] == []


def test_auto_is_free_text_until_a_carrier_is_known() -> None:
    assert structure(None, "text", PARITY) is None
    assert carrier_for("auto", "") is carrier_for("auto", "off") is carrier_for("off", "grammar") is None
    assert carrier_for("auto", "grammar") == "grammar"
