import asyncio

from vpp.data.dataset import Dataset
from vpp.llm.answers import parse_label, parse_number
from vpp.llm.counters import Counters
from vpp.llm.forms import Style
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.packs import parse_pack
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion, Messages
from vpp.llm.structure import (
    CARRIERS,
    FREE_TEXT,
    NUMBER,
    Carrier,
    Structure,
    StructuredAnswers,
    answer_form,
    is_kept,
    request_options,
    structure,
    structured_answers,
)
from vpp.llm.templates import shipped

from .tables import LINE, PARITY, row, table

STYLES: tuple[Style, ...] = ("text", "brief", "json")
SAID = {"text": "Explanation{0}: it is even\nOutput{0}: {1}", "brief": "Output{0}: {1}"}


def answers(kind: str, carrier: Carrier = "structured_outputs") -> StructuredAnswers:
    return structured_answers(kind, carrier)


def held(
    kind: str,
    style: Style,
    dataset: Dataset,
    *,
    numbers: tuple[int, ...] = (1,),
    of: int = 1,
    carrier: Carrier = "structured_outputs",
) -> Structure:
    asked = structure(answers(kind, carrier), style, dataset, numbers=numbers, of=of)
    assert asked is not None
    return asked


def test_a_choice_lists_the_labels_as_the_prompt_shows_them() -> None:
    assert held("choice", "text", PARITY) == {"choice": ["0", "1"]}
    assert held("choice", "text", LINE) == {"regex": NUMBER.regex}
    assert "no explanation" in answer_form(answers("choice"), "text", PARITY, 1)
    assert "- 0\n- 1\n" in answer_form(answers("choice"), "text", PARITY, 1)


def test_a_label_of_any_text_is_enforced_and_read() -> None:
    for label in ("a.b", "50% (or more)", "C:\\x|y", "wei\u00df", "[x]", "a+b*c?"):
        dataset = table("classification", (row(0, label, x="1"),), classes=("other", label))
        for style in STYLES[:2]:
            answer = SAID[style].format("", label)
            assert is_kept(held("regex", style, dataset), answer), answer
            assert parse_label(answer, dataset.classes).value == label, answer
            assert not is_kept(held("regex", style, dataset), answer + "x"), answer


def test_the_pattern_of_a_number_allows_readable_numbers_only() -> None:
    for number in ("0", "-3.25", "1200000", "1.5e-7", "1e300", "2.5e-308"):
        assert is_kept(held("choice", "text", LINE), number), number
        assert is_kept(held("regex", "text", LINE), SAID["text"].format("", number)), number
        assert parse_number(number).value == float(number), number
    for number in ("", "NaN", "inf", "1,000", "--1", "1e309", "1e999"):
        assert not is_kept({"regex": NUMBER.regex}, number), number


def test_json_is_held_to_its_keys() -> None:
    said = r'{"explanation": "\"8\" is even", "output": "1"}'
    assert is_kept(held("regex", "json", PARITY), said)
    assert parse_label(said, PARITY.classes).explanation == '"8" is even'
    for broken in (said.replace('"1"', '"2"'), said.replace("\\", ""), said.replace("\\", r"\\")):
        assert not is_kept(held("regex", "json", PARITY), broken), broken
    pack = held("regex", "json", LINE, numbers=(2,), of=3)
    assert is_kept(pack, '{"number": 2, "explanation": "even", "output": 7}')


def test_a_pack_is_held_to_the_numbers_that_are_asked_about() -> None:
    for kind, style in (("choice", "brief"), ("regex", "text")):
        asked = held(kind, "text", PARITY, numbers=(1, 3), of=3)
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


def predictions(chat: Obedient, kind: str, dataset: Dataset, points_per_call: int = 1) -> list[object]:
    prompts = LearnerPrompts(dataset=dataset, template=shipped("learner", "paper"), structured=answers(kind))
    options = LearnerOptions(seed=0, max_tokens=9, points_per_call=points_per_call)
    learner = LlmLearner(chat, prompts, options, counters=Counters())
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
    asked = held("regex", "text", PARITY, carrier="grammar")
    assert request_options(asked) == {
        "grammar": r'root ::= "Explanation: " [^ \t\n\r] [^\n\r]{0,399} "\n" "Output: " ("0" | "1")'
    }


def test_quotes_and_backslashes_of_labels_are_escaped_in_a_grammar() -> None:
    dataset = table("classification", (row(0, 'say "a\\b"', x="1"),), classes=("other", 'say "a\\b"'))
    asked = held("choice", "text", dataset, carrier="grammar")
    assert asked["grammar"] == r'root ::= ("other" | "say \"a\\b\"")'


def test_a_json_schema_asks_for_the_explanation_before_the_output() -> None:
    sent = request_options(held("regex", "text", PARITY, carrier="json_schema"))["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    assert list(sent["json_schema"]["schema"]["properties"]) == ["explanation", "output"]


def test_the_prompt_asks_for_json_only_where_the_server_takes_a_schema() -> None:
    for carrier in CARRIERS:
        form = answer_form(answers("regex", carrier), "text", PARITY, 1)
        assert ('{"explanation": "' in form) == (carrier == "json_schema")
        assert ("Output: one of the labels" in form) == (carrier != "json_schema")


def test_a_schema_without_an_explanation_is_asked_for_in_the_prompt_too() -> None:
    cases: tuple[tuple[str, Style], ...] = (("choice", "text"), ("choice", "json"), ("regex", "brief"))
    for kind, style in cases:
        asked = held(kind, style, PARITY, carrier="json_schema")
        assert list(asked["json_schema"]["properties"]) == ["output"]
        assert answer_form(answers(kind, "json_schema"), style, PARITY, 1).endswith('{"output": "one of the labels"}')
        assert is_kept(asked, '{"output": "1"}')


def test_a_pack_held_to_a_schema_has_an_entry_a_number_and_is_read() -> None:
    asked = held("regex", "text", PARITY, numbers=(1, 3), of=3, carrier="json_schema")
    assert list(asked["json_schema"]["properties"]) == ["1", "3"]
    assert '{"1": {"number": 1, "explanation"' in answer_form(answers("regex", "json_schema"), "text", PARITY, 3)
    entries = (f'"{n}": {{"number": {n}, "explanation": "it is {n}", "output": "{n % 2}"}}' for n in (1, 3))
    said = f"{{{', '.join(entries)}}}"
    assert is_kept(asked, said)
    assert not is_kept(asked, said.replace('"number": 3', '"number": 2'))
    read = parse_pack(said, (1, 3), lambda text: parse_label(text, PARITY.classes))
    assert {number: (one.value, one.explanation) for number, one in read.items()} == {
        1: ("1", "it is 1"),
        3: ("1", "it is 3"),
    }


def test_an_answer_held_to_a_schema_is_read() -> None:
    said = '{\n  "explanation": "it is even",\n  "output": 2.5\n}'
    assert is_kept(held("regex", "text", LINE, carrier="json_schema"), said)
    assert parse_number(said).value == 2.5
    assert parse_number(said).explanation == "it is even"


def test_an_explanation_is_one_line_that_is_not_empty() -> None:
    forms: dict[Style, str] = {"text": "Explanation: {}\nOutput: 1", "json": '{{"explanation": "{}", "output": "1"}}'}
    for style, form in forms.items():
        asked = held("regex", style, PARITY)
        assert is_kept(asked, form.format("because"))
        for said in ("", " ", "   because", "two\nlines", "two\r\nlines", "x" * 401):
            assert not is_kept(asked, form.format(said)), said


BROKEN = (
    "no JSON",
    '{"output": "1", "explanation": "even"}',
    '{"explanation": "", "output": "1"}',
    '{"explanation": "even", "output": "2"}',
    '{"explanation": "even", "output": "1", "more": 1}',
    '["even", "1"]',
)


def test_an_answer_that_breaks_the_schema_is_noticed() -> None:
    asked = held("regex", "text", PARITY, carrier="json_schema")
    assert is_kept(asked, '{"explanation": "even", "output": "1"}')
    assert [said for said in BROKEN if is_kept(asked, said)] == []


def test_auto_is_free_text_until_a_carrier_is_known() -> None:
    assert structure(FREE_TEXT, "text", PARITY, numbers=(1,), of=1) is None
    assert structured_answers("auto", "") == structured_answers("auto", "off") == FREE_TEXT
    assert structured_answers("auto", "grammar") == StructuredAnswers("regex", "grammar")
    assert structured_answers("choice", "off") == StructuredAnswers("choice", "structured_outputs")
    assert structured_answers("off", "grammar") == FREE_TEXT
