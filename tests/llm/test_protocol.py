import json
import math
from typing import Any

import pytest

from vpp.answers import one_line, parse_label
from vpp.data.dataset import Dataset
from vpp.events import Counters
from vpp.llm.learner import LearnerOptions, LlmLearner, letter_shares
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import (
    Completion,
    Failure,
    Structure,
    complaint_of,
    is_kept,
    read_completion,
    read_models,
    read_reply,
    request_options,
    without,
)
from vpp.llm.templates import shipped

from .stub import chat, endpoint_of, script
from .tables import LINE, PARITY, row, table


def test_what_a_server_says_cannot_steer_a_terminal() -> None:
    assert complaint_of({"error": "no\x1b[2J\x07 \u202eway\x9b1m"}).words == "no [2J way 1m"
    listed = read_models([{"id": "ti\x1bny"}, {"id": "a" * 10_000}])
    assert list(listed) == ["ti ny", "a" * 200]


def content(text: object, *, finish: str = "stop", **message: object) -> bytes:
    return chat(text, finish=finish, **message).body  # type: ignore[arg-type]


def read(body: bytes) -> Completion:
    return read_completion(read_reply(200, {}, body, {}))


ODD: dict[str, tuple[bytes, str, str]] = {
    "a web page": (b"<html><body>It works!</body></html>", "found a web page", "web page"),
    "a cut text": (b'{"choices": [{"mess', "not complete JSON", "broken JSON"),
    "nothing": (b"", "not complete JSON: nothing", "broken JSON"),
    "plain text": (b"Output: 1", "not complete JSON", "broken JSON"),
    "half a character": (content("\ud800"), "not complete JSON", "broken JSON"),
    "a list": (b"[1]", "found other JSON, [1]", "not the protocol"),
    "a deep list": (b"[" * 100_000, "not complete JSON", "broken JSON"),
    "two answers in one": (chat().body * 2, "not complete JSON", "broken JSON"),
    "not UTF-8": (b"\xff\xfe\x00", "not complete JSON", "broken JSON"),
    "empty choices": (b'{"choices": []}', "without a choice", "no choices"),
    "choices of another kind": (b'{"choices": ["x"]}', "without a choice", "no choices"),
    "choices that are null": (b'{"choices": null}', "without a choice: ", "no choices"),
    "a stream": (b'data: {"choices": []}\n\ndata: [DONE]', "it streams answers", "streamed"),
}
"""Replies without an answer: body, message and kind."""


def test_a_reply_without_an_answer_is_explained() -> None:
    for case, (body, words, kind) in ODD.items():
        with pytest.raises(Failure) as caught:
            read(body)
        assert words in caught.value.words, case
        assert caught.value.kind == kind, case


def test_a_count_that_is_none_counts_as_nothing() -> None:
    for count in (10**400, -5, True, 1.5, "7", None):
        usage = {"prompt_tokens": count, "completion_tokens": count}
        body = json.dumps({"choices": [{"message": {"content": "Output: 1"}}], "usage": usage}).encode()
        completion = read(body)
        assert (completion.prompt_tokens, completion.completion_tokens) == (0, 0)


KEY = 'Qz7/KEY"abcdefghijklm0123456789'


def test_no_form_of_a_secret_is_left_in_a_reply() -> None:
    for body in (
        f"key {KEY} is wrong".encode(),
        json.dumps([KEY]).encode(),
        json.dumps(KEY).replace("/", "\\/").encode(),
    ):
        assert b"Qz7" in body
        assert b"[key]" in (clean := without(body, ["abc", KEY]))
        assert b"Qz7" not in clean
    assert without(b"abc", ["abc", ""]) == b"abc", "a short one may be a word"


def test_alternatives_of_the_first_token_are_read_and_nonsense_is_left_out() -> None:
    def of(logprobs: Any) -> tuple[tuple[str, float], ...]:
        choice = {"message": {"content": "A"}, "finish_reason": "length", "logprobs": logprobs}
        return read_completion({"choices": [choice]}).first_tokens

    listed = [{"token": "A", "logprob": -0.5}, {"token": " B", "logprob": -1}, {"token": "C", "logprob": "x"}]
    assert of({"content": [{"top_logprobs": listed}]}) == (("A", -0.5), (" B", -1.0))
    odd = [{"token": 3, "logprob": -1}, {"logprob": -1}, {"token": "D", "logprob": 2}, {"token": "E", "logprob": True}]
    assert of({"content": [{"top_logprobs": [*odd, 7, None]}]}) == ()
    for nothing in (None, {}, [], {"content": None}, {"content": []}, {"content": [None]}, {"content": [{}]}):
        assert of(nothing) == ()


def test_the_share_of_a_letter_is_summed_over_its_tokens() -> None:
    tokens = [("A", math.log(0.5)), (" A", math.log(0.25)), ("B\n", math.log(0.125)), ("AB", math.log(0.1))]
    assert letter_shares(tokens, 2) == pytest.approx((0.75, 0.125))
    assert letter_shares(tokens, 1) == pytest.approx((0.75,))
    assert letter_shares([], 3) == (0, 0, 0)


def structure(dataset: Dataset) -> Structure:
    prompts = LearnerPrompts(dataset=dataset, template=shipped("learner"), is_structured=True)
    assert prompts.structure
    return prompts.structure


def test_a_schema_is_sent_with_the_explanation_first_and_every_label() -> None:
    sent = request_options(structure(PARITY))["response_format"]["json_schema"]
    assert sent["strict"]
    assert sent["schema"]["required"] == list(sent["schema"]["properties"]) == ["explanation", "output"]
    assert sent["schema"]["properties"]["output"]["enum"] == ["0", "1"]
    assert sent["schema"]["additionalProperties"] is False
    assert request_options(None) == {}


KEPT = r'{"explanation": "\"8\" is even", "output": "1"}'
BROKEN = (
    "no JSON",
    KEPT.replace('"1"', '"2"'),
    KEPT.replace('"1"', "1"),
    KEPT.replace("\\", ""),
    '{"explanation": "", "output": "1"}',
    '{"explanation": "even", "output": "1", "more": 1}',
    '["even", "1"]',
)


def test_an_answer_that_breaks_the_schema_is_noticed() -> None:
    assert is_kept(structure(PARITY), KEPT)
    assert parse_label(KEPT, PARITY.classes).explanation == '"8" is even'
    assert [said for said in BROKEN if is_kept(structure(PARITY), said)] == []
    numbers = ("0", "-3.25", "1.5e-7", "1e300", "NaN")
    assert [is_kept(structure(LINE), KEPT.replace('"1"', number)) for number in numbers] == [True] * 4 + [False]
    for label in ("a.b", "50% (or more)", "C:\\x|y", "weiß", '"[x]"', "two\nlines"):
        dataset = table("classification", (row(0, label, x="1"),), classes=("other", label))
        assert is_kept(structure(dataset), json.dumps({"explanation": "x", "output": one_line(label)})), label


async def test_a_server_that_ignores_the_structure_is_read_all_the_same() -> None:
    prompts = LearnerPrompts(dataset=PARITY, template=shipped("learner", "paper"), is_structured=True)
    async with endpoint_of(script(chat("It is even.\nOutput: 1"))) as (endpoint, stub):
        learner = LlmLearner(endpoint, prompts, LearnerOptions(seed=0, max_tokens=9), counters=Counters())
        assert [each.value for each in await learner.predict("a rule", PARITY.train)] == ["1", "1", "1"]
        assert [body["response_format"] for body in stub.bodies] == [*request_options(prompts.structure).values()] * 3
