"""The simulated server: what it answers, how many at once, and what it counts."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from statistics import mean

import pytest

from tests.performance.stub import Connection, Options, Stub, jitter, role_of, served
from vpp.llm.answers import parse_label, parse_rule
from vpp.llm.choices import GALLERY
from vpp.llm.templates import SLOTS, shipped

LABELS = "Labels:\n- café\n- no\n\nAnswer in exactly this form:\nOutput: one of the labels"
RULES = "Answer in exactly this form:\nNew rule: the whole new rule"


def asked(content: str = LABELS, *, seed: int = 0, model: str = "stub") -> bytes:
    """A whole request."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": content}], "seed": seed}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict]:
    """The next response: status and body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = int(head.split("Content-Length: ")[1].split("\r\n")[0])
    return int(head.split()[1]), json.loads(await reader.readexactly(length))


class Desk:
    """Connections to one stub in this loop."""

    def __init__(self, stub: Stub, port: int) -> None:
        self.stub = stub
        self.port = port
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        return reader, writer

    async def ask(self, request: bytes) -> tuple[int, dict]:
        reader, writer = await self.connect()
        writer.write(request)
        return await answer(reader)

    async def said(self, *args: object, **options: object) -> str:
        _, body = await self.ask(asked(*args, **options))  # type: ignore[arg-type]
        return body["choices"][0]["message"]["content"]

    async def until(self, happens: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not happens():
                await asyncio.sleep(0.001)


def at_desk(work: Callable[[Desk], Awaitable[object]], **options: object) -> None:
    """Serves in this process; no latency unless said."""

    async def whole() -> None:
        stub = Stub(Options(**{"learner_s": 0.0, "optimizer_s": 0.0, **options}))  # type: ignore[arg-type]
        server = await asyncio.get_running_loop().create_server(lambda: Connection(stub), "127.0.0.1", 0)
        desk = Desk(stub, server.sockets[0].getsockname()[1])
        async with asyncio.timeout(20):
            await work(desk)
        for writer in desk.writers:
            writer.close()
        server.close()

    asyncio.run(whole())


def test_a_learner_is_answered_with_a_label_that_its_prompt_decides():
    async def work(desk: Desk) -> None:
        said = [await desk.said(f"row {number}\n{LABELS}") for number in (1, 2, 3, 4, 5, 6, 7, 8)]
        assert {parse_label(text, ("café", "no")).value for text in said} == {"café", "no"}
        assert said == [await desk.said(f"row {number}\n{LABELS}") for number in (1, 2, 3, 4, 5, 6, 7, 8)]

    at_desk(work)


def test_a_pack_is_answered_line_by_line():
    async def work(desk: Desk) -> None:
        said = await desk.said(f"There are 3 inputs, each under its number.\n{LABELS}")
        assert [line.split(": ")[0] for line in said.splitlines()] == ["Output [1]", "Output [2]", "Output [3]"]

    at_desk(work)


def test_an_optimizer_writes_a_rule_that_no_other_request_gets():
    async def work(desk: Desk) -> None:
        rules = [parse_rule(await desk.said(RULES, seed=seed)).value for seed in (1, 2, 3, 3)]
        assert None not in rules
        assert len(set(rules)) == 3
        assert rules[2] == rules[3]

    at_desk(work)


@pytest.mark.parametrize("name", GALLERY)
@pytest.mark.parametrize("role", ["learner", "optimizer", "prior"])
def test_roles_are_told_by_the_shipped_templates(role, name):
    from tests.reporting.builders import YES_NO
    from vpp.llm.forms import learner_form, optimizer_form, prior_form

    template = shipped(role, name)
    forms = {
        "learner": lambda: learner_form(template.style, YES_NO, 1),
        "optimizer": lambda: optimizer_form(template.style),
        "prior": lambda: prior_form(template.style),
    }
    prompt = template.fill(answer_form=forms[role](), **dict.fromkeys(SLOTS[role], "x"))
    prompt = "\n".join([*(turn["content"] for turn in template.opening), prompt])
    assert role_of(asked(prompt)) == ("learner" if role == "learner" else "optimizer")


def test_a_models_name_can_be_its_role():
    assert role_of(asked("Say something.", model="optimizer")) == "optimizer"
    assert role_of(asked(RULES, model="learner")) == "learner"


def test_requests_in_pieces_and_in_one_packet_are_answered_in_order():
    async def work(desk: Desk) -> None:
        reader, writer = await desk.connect()
        first, second = asked(RULES, seed=1), asked(RULES, seed=2)
        writer.write(first + second[:40])
        texts = [(await answer(reader))[1]["choices"][0]["message"]["content"]]
        writer.write(second[40:])
        texts.append((await answer(reader))[1]["choices"][0]["message"]["content"])
        assert texts == [await desk.said(RULES, seed=seed) for seed in (1, 2)]
        writer.write(first + second)
        assert [(await answer(reader))[1]["choices"][0]["message"]["content"] for _ in range(2)] == texts

    at_desk(work)


def test_a_body_in_chunks_is_refused():
    async def work(desk: Desk) -> None:
        status, _ = await desk.ask(b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert status == 411

    at_desk(work)


def test_no_more_than_its_capacity_are_served_at_once_and_all_in_the_end():
    async def work(desk: Desk) -> None:
        replies = await asyncio.gather(*(desk.ask(asked(f"row {number}\n{LABELS}")) for number in range(20)))
        assert [status for status, _ in replies] == [200] * 20
        counts = desk.stub.counts
        assert (counts.peak_served, counts.peak_in_flight, counts.learner) == (4, 20, 20)

    at_desk(work, capacity=4, learner_s=0.02)


@pytest.mark.parametrize(("options", "status"), [({"queue": 1}, 503), ({"reject": True}, 429)])
def test_a_full_server_refuses(options, status):
    async def work(desk: Desk) -> None:
        held = [await desk.connect() for _ in range(1 + options.get("queue", 0))]
        for number, (_, writer) in enumerate(held):
            writer.write(asked(f"row {number}\n{LABELS}"))
        await desk.until(lambda: desk.stub.counts.learner == len(held))
        assert (await desk.ask(asked()))[0] == status
        assert desk.stub.counts.rejected == 1

    at_desk(work, capacity=1, learner_s=60, **options)


def test_a_call_that_was_answered_is_repeated_and_one_that_was_cut_off_is_not():
    async def work(desk: Desk) -> None:
        _, writer = await desk.connect()
        writer.write(asked())
        await desk.until(lambda: desk.stub.counts.learner == 1)
        writer.close()
        await desk.until(lambda: desk.stub.counts.dropped == 1)
        counts = desk.stub.counts
        await desk.ask(asked())
        assert (counts.repeated_prompts, counts.repeated_bodies) == (0, 0)
        await desk.ask(asked(seed=1))
        assert (counts.repeated_prompts, counts.repeated_bodies) == (1, 0)
        await desk.ask(asked(seed=1))
        assert (counts.repeated_prompts, counts.repeated_bodies) == (2, 1)
        assert desk.stub.served == 0

    at_desk(work, learner_s=0.05)


def test_a_round_is_what_comes_while_its_role_is_under_way():
    async def work(desk: Desk) -> None:
        for count in (3, 2):
            await asyncio.gather(*(desk.ask(asked(f"row {count}{number}\n{LABELS}")) for number in range(count)))
            await desk.said(RULES, seed=count)
        assert [(each.role, each.calls) for each in desk.stub.counts.rounds] == [
            ("learner", 3),
            ("optimizer", 1),
            ("learner", 2),
            ("optimizer", 1),
        ]

    at_desk(work, learner_s=0.1)


def test_latencies_vary_around_their_mean():
    factors = [jitter(number, 0.5) for number in range(4000)]
    assert mean(factors) == pytest.approx(1, abs=0.03)
    assert factors[7] == jitter(7, 0.5)
    assert max(factors) > 3


def test_a_stub_of_its_own_process_counts_from_zero_when_told():
    with served(learner_s=0.0) as stub:
        assert stub.counts()["calls"] == 0

        async def ask() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(stub.base_url.split(":")[2].split("/")[0]))
            for _ in range(2):
                writer.write(asked())
                await answer(reader)
            writer.close()

        asyncio.run(ask())
        counts = stub.counts()
        assert (counts["calls"], counts["repeated_bodies"], counts["peak_in_flight"]) == (2, 1, 1)
        stub.reset()
        assert stub.counts()["calls"] == 0
