"""The simulated server, by real requests: its answers, its capacity, and its counts."""

import asyncio
from typing import Any

import aiohttp

from tests.performance.stub import Served, served
from vpp.llm.answers import parse_label, parse_rule

LABELS = "Labels:\n- café\n- no\n\nAnswer in exactly this form:\nOutput: one of the labels"
RULES = "Answer in exactly this form:\nNew rule: the whole new rule"


def asked(stub: Served, *prompts: str) -> list[tuple[int, str]]:
    """Ask all at once; return the status and text of each answer."""

    async def ask(session: aiohttp.ClientSession, prompt: str) -> tuple[int, str]:
        body: dict[str, Any] = {"model": "stub", "messages": [{"role": "user", "content": prompt}], "seed": 0}
        async with session.post(f"{stub.base_url}/chat/completions", json=body) as response:
            answer = await response.json()
            return response.status, "choices" in answer and answer["choices"][0]["message"]["content"]

    async def every() -> list[tuple[int, str]]:
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(ask(session, prompt) for prompt in prompts))

    return asyncio.run(every())


def test_the_request_decides_a_label_or_a_rule_of_its_own():
    rows = [f"row {number}\n{LABELS}" for number in range(8)]
    with served(learner_s=0.0, optimizer_s=0.0, jitter=0.5) as stub:
        first, again = asked(stub, *rows), asked(stub, *rows)
        rules = {parse_rule(text).value for _, text in asked(stub, RULES, f"{RULES}.", f"{RULES}!")}
    assert first == again
    assert {parse_label(text, ("café", "no")).value for _, text in first} == {"café", "no"}
    assert len(rules) == 3
    assert None not in rules


def test_a_full_server_lets_some_wait_and_refuses_the_rest():
    with served(learner_s=0.2, capacity=1, queue=1) as stub:
        statuses = sorted(status for status, _ in asked(stub, "1", "2", "3"))
        assert (statuses, stub.counts()["rejected"]) == ([200, 200, 503], 1)


def test_rounds_and_repeated_calls_are_counted_from_the_last_reset():
    with served(learner_s=0.1, optimizer_s=0.1) as stub:
        asked(stub, LABELS, f"{LABELS}!")
        stub.reset()
        asked(stub, LABELS, f"{LABELS}?", f"{LABELS}.")
        asked(stub, RULES)
        counts = stub.counts()
    assert [(each["role"], each["calls"]) for each in counts["rounds"]] == [("learner", 3), ("optimizer", 1)]
    assert (counts["calls"], counts["repeated_bodies"], counts["peak_in_flight"]) == (4, 1, 3)
