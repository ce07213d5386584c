import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from vpp.llm.check import Finding, check

from .stub import Behaviour, Reply, Request, as_json, chat, endpoint_of, refusal, script

MODELS = as_json({"data": [{"id": "tiny", "max_model_len": 2048}, {"id": "tiny-chat"}]})


said = partial(chat, prompt_tokens=5_000)


def answer(body: dict[str, Any]) -> Reply:
    """Answer of an obedient model."""
    asked = body["messages"][-1]["content"]
    if body["messages"][0]["content"].startswith("You translate"):
        return said("def predict(length):\n    return 'wug' if length > 50 else 'dax'")
    if "response_format" in body and "hello" in asked:
        return said('{"output": "KALUMI"}')
    if "New rule:" in asked:
        return said("Reasoning: length decides.\nNew rule: Above 50 it is a wug, else a dax.")
    return said("Explanation: it is long.\nOutput: wug")


def server(say: Callable[[dict[str, Any]], Reply | None] = answer, *, models: Reply | None = MODELS) -> Behaviour:
    async def behave(request: Request) -> Reply | None:
        if request.path == "/v1/chat/completions":
            return say(request.body)
        return models if request.path == "/v1/models" else refusal(404)

    return behave


async def findings_of(behaviour: Behaviour, *, model: str = "tiny", key: str = "") -> dict[str, Finding]:
    async with endpoint_of(behaviour, model=model, api_key=key, max_attempts=1, concurrency=4) as (endpoint, _):
        return {one.name: one async for one in check(endpoint, {"learner": 512, "optimizer": 1536})}


async def test_a_good_server_is_said_to_do_all_of_it() -> None:
    findings = await findings_of(server())
    assert list(findings) == [
        *("reachable", "models", "context length", "answers", "structured output", "learner prompt"),
        *("writes programs", "optimizer prompt", "throughput"),
    ]
    assert {one.mark for one in findings.values()} == {"works"}
    assert findings["context length"].words.startswith("2,048 tokens")
    assert "as the rule says" in findings["learner prompt"].words
    assert findings["writes programs"].words == "yes: right on 8 of 8 rows, at answer 1"
    assert findings["optimizer prompt"].words == "read: 'Above 50 it is a wug, else a dax.'"
    words = r"4 of 4 short calls at once answered within [\d.]+ s, [\d.]+ a second"
    assert re.fullmatch(words, findings["throughput"].words)


def without(*fields: str) -> Callable[[dict[str, Any]], Reply]:
    """Refuses these fields."""

    def say(body: dict[str, Any]) -> Reply:
        refused = [field for field in fields if field in body]
        return refusal(400, f"Unsupported parameter: '{refused[0]}'") if refused else answer(body)

    return say


def deaf(*fields: str) -> Callable[[dict[str, Any]], Reply]:
    """Ignores these fields in silence."""
    return lambda body: answer({name: value for name, value in body.items() if name not in fields})


NOTED = (
    (without("response_format"), "response_format is refused: "),
    (lambda body: refusal(400, "no xgrammar") if "response_format" in body else answer(body), "refused"),
    (deaf("response_format"), "ignored in silence"),
)


async def test_a_schema_that_a_server_ignores_or_refuses_is_noted() -> None:
    for say, words in NOTED:
        finding = (await findings_of(server(say)))["structured output"]
        assert (finding.mark, finding.value) == ("note", None), words
        assert words in finding.words
    assert (await findings_of(server()))["structured output"].value == "json_schema"


PROGRAMS = {
    "no program": "no: the model says that no program can follow it; --reading auto",
    "I am a parrot.": "no: it has no function predict; --reading auto",
    "def predict(length):\n    return 'dax'": "yes: right on 4 of 8 rows, at answer 1",
}


@pytest.mark.parametrize("said", PROGRAMS)
async def test_a_model_that_writes_no_programs_or_wrong_ones_is_noted(said: str) -> None:
    def say(body: dict[str, Any]) -> Reply:
        return chat(said) if body["messages"][0]["content"].startswith("You translate") else answer(body)

    finding = (await findings_of(server(say)))["writes programs"]
    assert finding.mark == "note"
    assert finding.words.startswith(PROGRAMS[said])


async def test_a_server_that_cuts_prompts_is_found_out() -> None:
    findings = await findings_of(
        server(lambda body: chat(json.loads(answer(body).body)["choices"][0]["message"]["content"]))
    )
    assert "so it cuts them" in findings["whole prompts"].words


def only_ok(rest: Reply) -> Callable[[dict[str, Any]], Reply]:
    """Answers the first question alone; this is its reply to others."""
    return lambda body: answer(body) if "word OK" in body["messages"][0]["content"] else rest


async def test_prompts_that_cannot_be_read_are_shown_with_what_mends_it() -> None:
    room = ("--limit learner=N", "--reasoning-effort none", "Server settings")
    for said, finish, mends in (("pink elephants", "stop", ("the gallery's prompts",)), ("", "length", room)):
        findings = await findings_of(server(only_ok(chat(said, finish=finish))))
        for name in ("learner prompt", "optimizer prompt"):
            assert findings[name].mark == "note"
            assert "could not be read" in findings[name].words
            assert f"it said '{said}'" in findings[name].words
            assert [words for words in mends if words not in findings[name].value] == []


async def test_a_refused_key_ends_the_check() -> None:
    for refused, words in ((refusal(401), "HTTP 401 no"), (refusal(400, "No connected db."), "No connected db")):
        (finding,) = (await findings_of(server(models=refused), key="sk-x")).values()
        assert (finding.name, finding.mark) == ("key", "fails")
        assert "key refused (" in finding.words
        assert words in finding.words


async def test_a_model_that_never_gets_to_its_answer_fails() -> None:
    findings = await findings_of(server(lambda body: chat("", finish="length")))
    assert list(findings) == ["reachable", "models", "context length", "answers"]
    assert findings["answers"].mark == "fails"
    assert "--reasoning-effort none" in findings["answers"].words


async def test_models_are_listed_and_an_unknown_one_fails_unless_the_server_answers_under_its_name() -> None:
    findings = await findings_of(server(lambda body: refusal(404, "The model does not exist")), model="tinny")
    assert list(findings) == ["reachable", "models"]
    assert findings["models"].mark == "fails"
    assert "unknown model (HTTP 404 The model does not exist): take one of those it lists" in findings["models"].words
    findings = await findings_of(server(), model="alias")
    assert (findings["models"].mark, findings["answers"].mark) == ("note", "works")
    assert findings["models"].words == "alias is not in the server's list: tiny, tiny-chat"
    findings = await findings_of(server(), model="")
    assert list(findings) == ["reachable", "models"]
    assert findings["models"].value == ["tiny", "tiny-chat"]


NO_PAGE = Reply(b"<html><head><title>Error response</title></head><body>Unsupported</body></html>", status=501)
STRANGERS = (
    (NO_PAGE, "found HTTP 501 with a web page"),
    (refusal(405, "method not allowed"), "found HTTP 405 method not allowed"),
    (as_json({"detail": "Not Found"}, 404), "found HTTP 404 Not Found"),
    (Reply(b"<html><body>It <b>works</b>!</body></html>"), "found a web page"),
    (as_json({"weather": "sunny"}), 'found other JSON, {"weather": "sunny"}'),
)


async def test_a_server_of_another_kind_is_no_openai_compatible_api() -> None:
    for reply, found in STRANGERS:
        for model in ("tiny", ""):
            findings = await findings_of(script(reply), model=model)
            assert list(findings) == ["API"], found
            said = f"no OpenAI-compatible API at this address: {found}: give the address of a model server"
            assert findings["API"].mark == "fails"
            assert said in findings["API"].words
