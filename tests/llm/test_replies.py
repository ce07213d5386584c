"""A zoo of replies, by server: `replies/*.json`, written from documentation and issues, replayed through real HTTP.

case    what the reply is
source  address of the documentation or the issue that describes it
status, headers, body   the reply; page: HTML in the place of a body
asked   options of the call that differ from OPTIONS; `words`: length of the prompt
then    what must happen:
    answer, thoughts, cut, noted    the text; the reasoning; a text cut at its limit; a kind of fault that is counted
    letters                         probability of the labels' letters
    withheld, too_long, blocked, refused    this prompt alone is refused, with these words of the server
    stops                           every prompt would be refused: the run ends
    retried                         another attempt is made after this kind of fault
    drops, renames, clamps          the next request lacks this field, or has this value
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vpp.errors import EndpointRefused, EndpointUnreachable, PromptRefused
from vpp.events import Usage
from vpp.inference.ahead import together
from vpp.llm import protocol
from vpp.llm.endpoint import Endpoint
from vpp.llm.learner import letter_shares

from .asking import RULE, ask, learner_of, optimizer_of
from .stub import Reply, Request, Stub, as_json, chat, dropped, endpoint_of, refusal, script
from .tables import PARITY

ZOO = {
    f"{path.stem}: {one['case']}": one
    for path in sorted(Path(__file__).with_name("replies").glob("*.json"))
    for one in json.loads(path.read_text("utf-8"))
}
OPTIONS = {"temperature": 1.2, "seed": 5, "max_tokens": 50}
PROMPT_KINDS = {"withheld": "withheld by", "too_long": "does not fit", "blocked": "blocked on its way", "refused": ""}
"""Refusals of a prompt, with the words that name their kind."""


@pytest.mark.parametrize("name", ZOO)
async def test_each_reply_has_the_effect_that_it_must_have(name: str) -> None:
    then, asked = ZOO[name]["then"], dict(ZOO[name].get("asked", {}))
    reply = as_json(ZOO[name].get("body"), ZOO[name]["status"], **ZOO[name].get("headers", {}))
    reply = replace(reply, body=ZOO[name]["page"].encode()) if "page" in ZOO[name] else reply
    changes = {"retried", "drops", "clamps"} & then.keys()
    content, effort = "word " * asked.pop("words", 1), asked.pop("effort", "")
    server = script(reply, chat()) if changes else script(reply)
    async with endpoint_of(server, effort=effort, api_key="sk-0123456789") as (endpoint, stub):
        call = ask(endpoint, content, **{**OPTIONS, **asked})
        if kind := next(iter({*PROMPT_KINDS, "stops"} & then.keys()), ""):
            with pytest.raises(EndpointRefused) as caught:
                await call
            assert then[kind] in str(caught.value)
            assert isinstance(caught.value, PromptRefused) == (kind != "stops")
            assert PROMPT_KINDS.get(kind, "") in str(caught.value)
            usage = endpoint.counters.snapshot()
            assert (len(stub.requests), usage, sum(usage.faults.values())) == (1, Usage(failed=1), 1)
            return
        completion = await call
        if changes:
            await check_change(then, endpoint, stub)
        elif "letters" in then:
            assert dict(zip("AB", letter_shares(completion.first_tokens, 2), strict=True)) == pytest.approx(
                then["letters"]
            )
        else:
            assert completion.text == then.get("answer", then.get("cut"))
            assert completion.cut_off == ("cut" in then)
            assert completion.reasoning == then.get("thoughts")
            assert set(endpoint.counters.snapshot().faults) == {*filter(None, [then.get("noted")])}
            assert dropped(endpoint) == [*filter(None, [then.get("renames")])]


async def check_change(then: dict[str, Any], endpoint: Endpoint, stub: Stub) -> None:
    first, second = stub.bodies
    usage = endpoint.counters.snapshot()
    if "retried" in then:
        assert first == second
        assert usage.faults == {then["retried"]: 1}
    elif "drops" in then:
        assert (then["drops"] in first, then["drops"] in second) == (True, False)
        assert dropped(endpoint) == [then["drops"]]
    else:
        ((field, value),) = then["clamps"].items()
        assert second == {**first, field: value}
        assert dropped(endpoint) == []
        assert len(usage.refused_fields) == 1
        assert not usage.failed
        await ask(endpoint, "next", **{**OPTIONS, "temperature": 0.5})
        assert stub.bodies[-1]["temperature"] == 0.5


def test_the_zoo_has_many_servers() -> None:
    assert len(ZOO) >= 140
    assert len({name.partition(":")[0] for name in ZOO} - {"any server"}) == 18
    assert all(one["source"].startswith("https://") for one in ZOO.values())


FILTER = refusal(400, "The response was filtered", code="content_filter")
PAGE = Reply(b"<!DOCTYPE html><title>Attention Required!</title>", status=403)
OF_ONE_ROW = (
    (FILTER, "prompt withheld", "withheld by the server's filter (HTTP 400 The response was filtered)"),
    (PAGE, "prompt blocked", "blocked on its way to the model (HTTP 403 with a web page)"),
)
"""Refusals with their kind and words."""


async def test_a_row_that_the_server_refuses_abstains_with_its_words_and_the_others_are_answered() -> None:
    for reply, kind, words in OF_ONE_ROW:

        async def behave(request: Request, reply: Reply = reply) -> Reply:
            return reply if "b: 4" in request.body["messages"][-1]["content"] else chat()

        async with learner_of(behave) as (learner, stub, counters):
            said = await learner.predict(RULE, PARITY.train)
            assert [each.value for each in said] == ["1", None, "1"]
            assert (said[1].reason or "").startswith(words)
            assert (len(stub.requests), counters.snapshot().faults) == (3, {kind: 1})
            assert (counters.snapshot().unparsable, counters.snapshot().learner) == (1, 2)


async def test_a_run_ends_only_if_its_first_questions_are_all_refused() -> None:
    async with learner_of(FILTER) as (learner, _, _):
        asked = [learner.predict(f"{RULE} {n}", PARITY.train[:1]) for n in range(9)]
        assert {prediction.value for (prediction,) in await asyncio.gather(*asked)} == {None}
        with pytest.raises(EndpointRefused, match=r"filtered.*none of the first 10 calls got an answer to use"):
            await learner.predict("Another rule.", PARITY.train[:1])
    async with learner_of(PAGE) as (learner, stub, _):
        asked = [learner.predict(f"{RULE} {n}", PARITY.train) for n in range(20)]
        with pytest.raises(
            EndpointRefused, match=r"HTTP 403 with a web page\): check address and key.*none of the first"
        ):
            await together(asked)
        assert len(stub.requests) <= 60


async def test_a_firewall_that_bans_every_call_after_some_answers_ends_a_run() -> None:
    async with learner_of(chat(), PAGE) as (learner, stub, _):
        (first,) = await learner.predict(RULE, PARITY.train[:1])
        assert first.value == "1"
        with pytest.raises(
            EndpointRefused, match=r"HTTP 403 with a web page.*none of the last \d{3} calls got an answer"
        ):
            await together(learner.predict(f"{RULE} {n}", PARITY.train) for n in range(400))
        assert 512 < len(stub.requests) <= 1_201


async def test_a_filter_that_withholds_every_row_of_one_hypothesis_ends_no_run() -> None:
    async with learner_of(chat(), FILTER) as (learner, _, _):
        await learner.predict(RULE, PARITY.train[:1])
        asked = together(learner.predict(f"{RULE} {n}", PARITY.train[:1]) for n in range(600))
        assert {prediction.value for (prediction,) in await asked} == {None}


async def test_a_field_of_the_persons_own_that_is_refused_is_asked_for_once() -> None:
    refused = refusal(400, "Unrecognized request argument supplied: chat_template_kwargs")
    async with endpoint_of(script(refused), body='{"chat_template_kwargs": {}}') as (endpoint, stub):
        with pytest.raises(PromptRefused, match="chat_template_kwargs"):
            await ask(endpoint)
        assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("name", "sent", "words", "is_fine", "end"),
    [
        ("temperature", (1.3, 1.0, 0.7), "must be less than 1", lambda value: value < 1, (0.99, 0.99, 0.7)),
        ("temperature", (0.0, 0.5), "less than the minimum of 0.1", lambda value: value >= 0.1, (0.1, 0.5)),
        ("temperature", (1.3, 0.0), "must be in (0, 1)", lambda value: 0 < value < 1, (0.99, 0.01)),
        ("top_logprobs", (20, 5), "1 validation error: no extra inputs", lambda _: False, (None, None)),
    ],
)
def test_a_value_moves_until_the_server_takes_it_or_the_field_goes(
    name: str, sent: tuple[float, ...], words: str, is_fine: Callable[[float], bool], end: tuple[float | None, ...]
) -> None:
    refused: protocol.Refused = {}
    for first, last in zip(sent, end, strict=True):
        for _ in range(10):
            fields = protocol.accepted_fields({name: first}, refused)
            if name not in fields or is_fine(fields[name]):
                break
            moved = protocol.nearest_value(fields[name], words, protocol.MOVED[name])
            protocol.note_refused(refused, name, fields[name], moved)
        assert fields.get(name) == last


async def test_a_model_whose_first_answers_all_cannot_be_read_ends_a_run_with_its_words_and_what_to_change() -> None:
    words = (
        r"cannot be read \(there is no 'Output:' line\): it said 'It depends. Really.'.*--templates.*--limit learner=N"
    )
    async with learner_of(chat("It depends.\nReally.")) as (learner, stub, counters):
        asked = [learner.predict(f"{RULE} {n}", PARITY.train) for n in range(20)]
        with pytest.raises(EndpointRefused, match=rf"{words}.*none of the first 1\d\d calls"):
            await together(asked)
        assert 100 <= len(stub.requests) <= 160
        assert counters.snapshot().unparsable >= 99
    async with learner_of(chat(), chat("It depends.")) as (learner, stub, _):
        for n in range(20):
            said = [value for row in PARITY.train for value in await learner.predict(f"{RULE} {n}", [row])]
        assert (len(stub.requests), {each.value for each in said}) == (1 + 59 * 3, {None})
    async with optimizer_of(chat("It depends.")) as (optimizer, stub, _):
        with pytest.raises(EndpointRefused, match=r"no 'New rule:' heading.*--limit optimizer=N"):
            await together(optimizer.draw(temperature=1.0, seed=seed) for seed in range(0, 100, 5))
        assert 30 <= len(stub.requests) <= 60


async def test_a_row_that_fails_while_others_are_answered_is_lost_alone() -> None:
    async def behave(request: Request) -> Reply:
        return refusal(500) if "b: 4" in request.body["messages"][-1]["content"] else chat()

    async with learner_of(behave) as (learner, _, _):
        failing = asyncio.create_task(learner.predict(RULE, PARITY.train[1:2]))
        number = 0
        while not failing.done():
            number += 1
            await learner.predict(f"{RULE} {number}", PARITY.train[:1])
        (prediction,) = await failing
        assert "at the last of 6 attempts" in (prediction.reason or "")
    async with learner_of(behave) as (learner, _, _):
        with pytest.raises(EndpointUnreachable):
            await learner.predict(RULE, PARITY.train[1:2])


async def test_a_model_that_gives_no_text_ends_a_run_with_the_options_that_help() -> None:
    for said, words in (
        (chat("", finish="length"), "--reasoning-effort none"),
        (chat(None), "the answer is empty: try"),
        (chat(None, reasoning_content="Output: 1"), "its reasoning parser wrong"),
    ):
        async with learner_of(said) as (learner, stub, _):
            await learner.predict(RULE, PARITY.train)
            with pytest.raises(EndpointRefused, match=rf"{words}.*none of the first 1\d calls got an answer"):
                await learner.predict(f"{RULE} Again.", PARITY.train)
            assert len(stub.requests) <= 12
