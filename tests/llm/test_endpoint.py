import asyncio
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from vpp.errors import EndpointRefused, EndpointUnreachable, InputError
from vpp.events import Counters, Usage
from vpp.llm.cache import ResponseCache
from vpp.llm.endpoint import PROMPT_CUT, Server
from vpp.llm.gate import body_of, headers_of
from vpp.llm.limits import Budget
from vpp.llm.protocol import Completion, structure_of

from .asking import ask
from .stub import (
    Behaviour,
    Held,
    Reply,
    Request,
    as_json,
    chat,
    dropped,
    endpoint_at,
    endpoint_of,
    refusal,
    script,
    serving,
)

KEY = "sk-very-secret-0123456789"
OWN = {"headers": (("X-Team", "secret-of-ours"), ("Authorization", "Basic abc"))}
HTML = Reply(b"<html><body>It works!</body></html>", headers={"content-type": "text/html"})


async def test_a_call_sends_the_smallest_body_and_reads_the_answer() -> None:
    async with endpoint_of(script(chat()), api_key=KEY) as (endpoint, stub):
        answer = await ask(endpoint)
        assert answer == Completion(text="Output: 1", prompt_tokens=7, completion_tokens=3)
        assert stub.requests[0].path == "/v1/chat/completions"
        assert stub.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert stub.bodies == [
            {
                "model": "tiny",
                "messages": [{"role": "user", "content": "hello"}],
                "stream": False,
                "max_completion_tokens": 50,
                "temperature": 0.0,
                "seed": 5,
            }
        ]
        assert endpoint.counters.snapshot() == Usage(prompt_tokens=7, completion_tokens=3)


async def test_an_effort_is_sent_if_it_is_given() -> None:
    none = {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}
    for effort, expected in {"low": {"reasoning_effort": "low"}, "none": none}.items():
        async with endpoint_of(script(chat()), effort=effort) as (endpoint, stub):
            await ask(endpoint)
            assert {name: stub.bodies[0].get(name) for name in none} == dict.fromkeys(none) | expected
            assert stub.requests[0].headers["authorization"] == "Bearer EMPTY"


HUGE = b" " * (8 * 2**20 + 1)
GZIP = {"content-encoding": "gzip"}
FAULTS: dict[str, tuple[Reply | None, str, str]] = {
    "a web page": (HTML, "found a web page", "web page"),
    "no gzip": (Reply(gzip.compress(b"")[:10] + b"\xff" * 20, headers=GZIP), "not complete JSON", "broken JSON"),
    "a huge reply": (Reply(HUGE), "longer than 8,192 KiB", "reply too long"),
    "a packed flood": (Reply(gzip.compress(HUGE), headers=GZIP), "longer than 8,192 KiB", "reply too long"),
    "a body that stops": (Reply(b'{"choices"', promised=500), "connection with", "connection failed"),
    "a cut connection": (None, "connection with", "connection failed"),
    "an overload": (refusal(503, "queue full"), "HTTP 503 queue full", "HTTP 503"),
    "a failure": (Reply(b"<h1>Bad gateway</h1>", status=502), "HTTP 502 with a web page", "HTTP 502"),
    "a conflict": (refusal(409), "HTTP 409", "HTTP 409"),
    "a time-out of its own": (refusal(408), "HTTP 408", "HTTP 408"),
}
"""Replies after which an attempt is repeated: message and kind of fault."""


async def test_a_failed_attempt_is_repeated_and_in_the_end_explained_in_one_line() -> None:
    packed = Reply(gzip.compress(chat().body), headers=GZIP)

    for case, (reply, words, kind) in FAULTS.items():
        async with endpoint_of(script(reply, reply, packed)) as (endpoint, stub):
            assert (await ask(endpoint)).text == "Output: 1", case
            assert len(stub.requests) == 3, case
            assert endpoint.counters.snapshot() == Usage(prompt_tokens=7, completion_tokens=3), case
        async with endpoint_of(script(reply), max_attempts=3) as (endpoint, stub):
            with pytest.raises(EndpointUnreachable, match=re.escape(words)) as caught:
                await ask(endpoint)
            message = str(caught.value)
            assert message.startswith(f"tiny at {stub.base_url}: "), case
            assert "at the last of 3 attempts: " in message, case
            assert "\n" not in message, case
            assert len(message) < 500, case
            assert endpoint.counters.snapshot() == Usage(failed=1), case
            assert endpoint.counters.snapshot().faults == {kind: 3}, case


async def test_an_answer_without_a_text_is_returned_and_a_stream_is_refused_at_once() -> None:
    for said, is_cut in ((chat(None), False), (chat("", finish="length"), True), (chat("<think>hm"), False)):
        async with endpoint_of(script(said)) as (endpoint, stub):
            answer = await ask(endpoint)
            assert (answer.text, answer.cut_off, len(stub.requests)) == ("", is_cut, 1)
    async with endpoint_of(script(Reply(b'data: {"choices": []}'))) as (endpoint, stub):
        with pytest.raises(EndpointRefused, match="it streams answers, though asked not to: switch its streaming off"):
            await ask(endpoint)
        assert (len(stub.requests), endpoint.counters.snapshot().faults) == (1, {"streamed": 1})


async def test_a_server_of_which_no_answer_ends_as_it_should_is_refused_with_its_finish_reason() -> None:
    for finish, replies in (("abort", [chat("Out", finish="abort")] * 2), ("done", [chat(finish="done")])):
        async with endpoint_of(script(*replies), max_attempts=3) as (endpoint, stub):
            with pytest.raises(EndpointRefused, match=rf"finish reason {finish}\), at the last of 3 attempts: try"):
                await ask(endpoint)
            assert (len(stub.requests), endpoint.counters.snapshot().faults) == (3, {"stopped early": 3})
    async with endpoint_of(script(chat(), chat("Out", finish="abort")), max_attempts=3) as (endpoint, stub):
        await ask(endpoint)
        with pytest.raises(EndpointUnreachable, match="finish reason abort"):
            await ask(endpoint)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with serving(script(chat())) as stub:
        address = stub.base_url
    endpoint = endpoint_at(address, max_attempts=2)
    with pytest.raises(EndpointUnreachable, match=r"nothing listens at http://127.0.0.1:\d+, .*: is the server up"):
        await ask(endpoint)
    await endpoint.aclose()


async def test_no_message_repeats_the_key_or_a_header() -> None:
    for rest in (f"API key provided: {KEY}.", "API key provided: sk-ve****6789.", "key sk-other is wrong"):
        async with endpoint_of(script(refusal(401, f"Incorrect {rest}")), api_key=KEY) as (endpoint, _):
            with pytest.raises(EndpointRefused, match=r"\[key\]") as caught:
                await ask(endpoint)
            assert "sk-" not in str(caught.value)
            assert "6789" not in str(caught.value)
    async with endpoint_of(script(refusal(400, "X-Team: secret-of-ours is unknown")), **OWN) as (endpoint, _):
        with pytest.raises(EndpointRefused, match=r"X-Team: \[key\] is unknown"):
            await ask(endpoint)
        assert "secret-of-ours" not in repr(endpoint.server)


def refusing(*fields: str) -> Behaviour:
    async def behave(request: Request) -> Reply:
        refused = {field for field in fields if field in request.body}
        return as_json({"detail": f"Unexpected fields in the request: {refused}"}, 422) if refused else chat()

    return behave


REFUSED_FIELDS = (
    ("seed",),
    ("temperature", "seed"),
    ("max_completion_tokens",),
    ("max_completion_tokens", "max_tokens", "seed"),
    ("reasoning_effort", "chat_template_kwargs"),
)


async def test_a_refused_optional_field_is_left_out_from_then_on() -> None:
    for fields in REFUSED_FIELDS:
        async with endpoint_of(refusing(*fields), effort="none") as (endpoint, stub):
            await asyncio.gather(*(ask(endpoint, str(i)) for i in range(3)))
            before = len(stub.requests)
            await ask(endpoint, "once more")
            assert len(stub.requests) == before + 1, fields
            last = stub.bodies[-1]
            assert not set(fields) & last.keys(), fields
            assert ("max_tokens" in last) == ("max_completion_tokens" in fields and "max_tokens" not in fields)
            assert sorted(dropped(endpoint)) == sorted(fields)
            usage = endpoint.counters.snapshot()
            assert sorted(usage.refused_fields) == sorted(f"{field} (tiny)" for field in fields)
            assert (usage.faults, usage.failed) == ({}, 0), fields


def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make every back-off instant; return the list of their lengths."""
    asked_for: list[float] = []
    real = asyncio.sleep

    async def instant(seconds: float) -> None:
        asked_for.append(seconds)
        await real(0)

    monkeypatch.setattr("vpp.llm.endpoint.asyncio.sleep", instant)
    return asked_for


async def test_retry_after_is_honoured_up_to_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = waits(monkeypatch)

    odd = dict.fromkeys(("1e9", "Sat, 10 Jan 2026 14:32:30 GMT", "nan", "-5", ""), 0)
    for header, wait_s in {"7": 7, "2.5": 2.5, "3600": 120, "9" * 400: 120, **odd}.items():
        slept.clear()
        behaviour = script(as_json({}, 429, retry_after=header), chat())
        async with endpoint_of(behaviour, backoff_s=0.5) as (endpoint, _):
            await ask(endpoint)
        assert wait_s <= slept[0] <= wait_s + 0.5, header


async def test_back_off_doubles_up_to_its_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = waits(monkeypatch)
    monkeypatch.setattr("vpp.llm.endpoint.random.uniform", lambda low, high: high)

    async with endpoint_of(script(refusal(500)), backoff_s=1, max_attempts=8) as (endpoint, _):
        with pytest.raises(EndpointUnreachable):
            await ask(endpoint)
        assert slept == [1, 2, 4, 8, 16, 30, 30]


async def test_an_overloaded_server_that_answers_others_is_not_given_up() -> None:
    waiting = 0

    async def one_at_a_time(request: Request) -> Reply:
        nonlocal waiting
        if waiting:
            return refusal(503, "queue full")
        waiting += 1
        await asyncio.sleep(0.001)
        waiting -= 1
        return chat()

    async with endpoint_of(one_at_a_time, max_attempts=6, backoff_s=0.002) as (endpoint, _):
        await asyncio.gather(*(ask(endpoint, str(i)) for i in range(25)))
        assert endpoint.counters.snapshot().failed == 0
        assert endpoint.counters.snapshot().faults["HTTP 503"] > 25


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    held = Held()

    async with endpoint_of(held, concurrency=4) as (endpoint, stub):
        calls = [asyncio.create_task(ask(endpoint, str(i))) for i in range(20)]
        for _ in range(4):
            await held.arrived.get()
        held.free.set()
        await asyncio.gather(*calls)
        assert stub.most_under_way == 4


async def test_a_pause_lets_no_new_call_go() -> None:
    budget = Budget(Counters())
    await budget.turn()
    budget.pause()
    second = asyncio.create_task(budget.turn())
    await asyncio.sleep(0)
    budget.ended()
    await asyncio.sleep(0)
    assert (second.done(), budget.exhausted.is_set()) == (False, False)
    budget.go_on()
    await second


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResponseCache]:
    opened = ResponseCache(tmp_path)
    yield opened
    opened.close()


async def test_equal_requests_are_sent_once(cache: ResponseCache) -> None:
    async with endpoint_of(script(chat()), cache=cache) as (endpoint, stub):
        answers = [await ask(endpoint) for _ in range(4)]
        assert {answer.text for answer in answers} == {"Output: 1"}
        assert len(stub.requests) == 1
        assert endpoint.counters.snapshot() == Usage(cached=3, prompt_tokens=28, completion_tokens=12)


async def test_the_answer_to_a_cut_prompt_is_counted_and_not_kept(cache: ResponseCache) -> None:
    replies = (chat(prompt_tokens=n) for n in (300, 600, 300))
    async with endpoint_of(script(*replies), cache=cache) as (endpoint, stub):
        for n, cuts in ((300, 1), (300, 1), (300, 1), (299, 2), (299, 3), (301, 4)):
            await ask(endpoint, content="one two " * n)
            assert endpoint.counters.snapshot().faults == {PROMPT_CUT: cuts}
        assert len(stub.requests) == 5


CHANGES: tuple[dict[str, Any], ...] = (
    *({"content": "other"}, {"temperature": 0.5}, {"seed": 6}, {"max_tokens": 51}),
    {"structured": structure_of(output=Literal["0", "1"])},
)


async def test_whatever_decides_an_answer_is_part_of_its_key_and_no_more(cache: ResponseCache, tmp_path: Path) -> None:
    async with endpoint_of(script(chat()), cache=cache) as (endpoint, stub):
        await ask(endpoint)
        for asked_before, change in enumerate(CHANGES, start=1):
            await ask(endpoint, **change)
            assert len(stub.requests) == asked_before + 1, change
    cached = []
    for options in ({"api_key": KEY}, {"api_key": "two"}, {"model": "large"}, {"cache_address": "demo:2"}):
        async with endpoint_of(script(chat()), cache=cache, **{"cache_address": "demo:1", **options}) as (endpoint, _):
            await ask(endpoint)
            cached.append(bool(endpoint.counters.snapshot().cached))
    assert cached == [False, True, False, False]
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


MORE = '{"provider": {"sort": "price"}}'


async def test_headers_and_further_fields_are_sent_and_the_fields_alone_are_in_the_key(cache: ResponseCache) -> None:
    cached = []
    for options in (OWN, {}, {"body": MORE}, {"body": MORE, **OWN}):
        async with endpoint_of(script(chat()), cache=cache, cache_address="here", api_key=KEY, **options) as (
            endpoint,
            stub,
        ):
            await ask(endpoint)
            cached.append(bool(endpoint.counters.snapshot().cached))
            for request in stub.requests:
                is_own = "headers" in options
                assert request.headers.get("x-team") == ("secret-of-ours" if is_own else None)
                assert request.headers["authorization"] == ("Basic abc" if is_own else f"Bearer {KEY}")
                assert request.body.get("provider") == ({"sort": "price"} if "body" in options else None)
    assert cached == [False, True, False, True]


def test_a_header_a_key_or_a_body_that_cannot_be_sent_is_refused_without_its_secret() -> None:
    assert headers_of("A=1\n\nX-B = a=b \nA=2") == (("A", "2"), ("X-B", "a=b"))
    for text in ("X-Team", "=secret", "X Team=secret", "X-Team=secr\u00e9t", "X-Team="):
        with pytest.raises(InputError, match="header") as refused:
            headers_of(text)
        assert "secr" not in str(refused.value)
    for key in ("secr\u00e9t", "secret\nlines"):
        with pytest.raises(InputError, match="the API key holds characters that no header can carry") as refused:
            Server(base_url="http://localhost/v1", model="tiny", api_key=key)
        assert "secr" not in str(refused.value)
    for body in ("{", "[]", "3", '{"stream": true}', '{"temperature": 1, "model": "x"}'):
        with pytest.raises(InputError, match=r"give a JSON object|which the run decides"):
            body_of(body)


MODELS = as_json({"data": [{"id": "tiny", "max_model_len": 2048}, {"id": "large"}, {"no": "id"}, 3]})


async def test_models_are_listed_with_their_context_or_raise() -> None:
    async with endpoint_of(script(MODELS)) as (endpoint, _):
        assert await endpoint.models() == {"tiny": 2048, "large": 0}
    refused, unreachable = EndpointRefused, EndpointUnreachable
    for reply, error in ((refusal(401), refused), (refusal(500), unreachable), (HTML, unreachable)):
        async with endpoint_of(script(reply)) as (endpoint, stub):
            with pytest.raises(error):
                await endpoint.models()
            assert len(stub.requests) == 1
            assert not endpoint.counters.snapshot().faults
