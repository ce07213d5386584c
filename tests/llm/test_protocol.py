import codecs
import json
import math
from typing import Any

import pytest

from tests.llm.stub import chat
from vpp.llm.answers import letter_shares
from vpp.llm.protocol import Completion, Failure, complaint_of, read_completion, read_models, read_reply, without


def test_what_a_server_says_cannot_steer_a_terminal() -> None:
    assert complaint_of({"error": "no\x1b[2J\x07 \u202eway\x9b1m"}).words == "no [2J way 1m"
    listed = read_models([{"id": "ti\x1bny"}, {"id": "a" * 10_000}])
    assert list(listed) == ["ti ny", "a" * 200]


def content(text: object, *, finish: str = "stop", **message: object) -> bytes:
    return chat(text, finish=finish, **message).body  # type: ignore[arg-type]


def read(body: bytes) -> Completion:
    return read_completion(read_reply(200, {}, body, {}))


READ = {
    "thoughts in the content": (content("<think>hm</think>\n\nOutput: 1"), "Output: 1", "<think>hm</think>"),
    "thoughts without a beginning": (content("hm\n</think>\nOutput: 1"), "Output: 1", "hm\n</think>"),
    "no thoughts": (content("\nOutput: 1"), "\nOutput: 1", None),
    "parts": (content([{"type": "text", "text": "Output:"}, {"type": "image_url"}, {"text": " 1"}]), "Output: 1", None),
    "long reasoning": (content("1", reasoning="h" * 50_000), "1", "h" * 20_000),
    "a long text": (content("a" * 300_000), "a" * 200_000, None),
    "no content": (content(None), "", None),
    "no message": (b'{"choices": [{"text": "1"}]}', "", None),
    "a thought and no more": (content("<think>hm</think>\n"), "", "<think>hm</think>"),
    "an empty text": (content(""), "", None),
    "a byte-order mark": (codecs.BOM_UTF8 + content("Output: 1"), "Output: 1", None),
}


def test_an_answer_is_read_apart_from_its_reasoning() -> None:
    for case, (body, text, reasoning) in READ.items():
        completion = read(body)
        assert (completion.text, completion.reasoning) == (text, reasoning), case


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
    "a tool call": (content(None, finish="tool_calls", tool_calls=[{"id": "1"}]), "called a tool", "tool called"),
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
