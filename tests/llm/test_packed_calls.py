"""Several rows a request: who shares one, what is asked again, and what is remembered, whatever the order of calls."""

import asyncio
import re
from typing import Any

import pytest

from vpp.errors import EndpointRefused
from vpp.events import hypothesis_id
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.templates import shipped
from vpp.problem import Prediction

from .asking import RULE, Noted, learner_of
from .stub import Held, Reply, Request, chat, refusal, script
from .tables import row, table

ROWS = tuple(row(at, str(at % 2), a=str(at), b="2") for at in range(8))
TABLE = table("classification", ROWS, target="even", classes=("0", "1"))
THREE: dict[str, Any] = {"dataset": TABLE, "points_per_call": 3}
"""Options of a learner that asks about three rows of the table in one call."""


def ids(request: dict[str, Any]) -> list[int]:
    """Rows that a request shows, by their column a."""
    return [int(cell) for cell in re.findall(r"(?m)^a: (\d+)$", request["messages"][0]["content"])]


def said(*values: int | str) -> str:
    return "\n".join(f"Explanation [{at}]: so\nOutput [{at}]: {value}" for at, value in enumerate(values, 1))


async def parity(request: Request) -> Reply:
    """Applies the rule to every row it is shown, a single one in the single form."""
    values = [at % 2 for at in ids(request.body)]
    return chat(said(*values)) if len(values) > 1 else chat(f"Output: {values[0]}")


async def test_missing_rows_share_requests_in_the_order_of_the_call_without_repeats() -> None:
    async with learner_of(parity, **THREE) as (learner, stub, counters):
        learner.preload([(hypothesis_id(RULE), Prediction(row=4, value="1"))])
        wanted = [ROWS[at] for at in (5, 2, 4, 5, 0, 7, 1, 3)]
        predictions = await learner.predict(RULE, wanted)
        assert [(p.row, p.value) for p in predictions] == [
            (5, "1"), (2, "0"), (4, "1"), (5, "1"), (0, "0"), (7, "1"), (1, "1"), (3, "1")
        ]  # fmt: skip
        assert sorted(map(ids, stub.bodies)) == [[5, 2, 0], [7, 1, 3]]
        assert counters.snapshot().learner == 2
        assert {body["max_completion_tokens"] for body in stub.bodies} == {3 * 64}


async def test_the_inputs_carry_numbers_unless_one_row_is_left_over() -> None:
    async with learner_of(parity, **THREE) as (learner, stub, _):
        await learner.predict(RULE, ROWS[:2])
        await learner.predict(RULE, ROWS[2:3])
        several, one = (body["messages"] for body in stub.bodies)
        prompt = several[0]["content"]
        assert "<<<\n[1]\na: 0\nb: 2\n[2]\na: 1\nb: 2\n>>>" in prompt
        assert prompt.index(RULE) < prompt.index("[1]") < prompt.index("Output [1]:")
        assert one == LearnerPrompts(dataset=TABLE, template=shipped("learner", "paper")).messages(RULE, ROWS[2:3])
        assert "[1]" not in one[0]["content"]
        assert [body["max_completion_tokens"] for body in stub.bodies] == [2 * 64, 64]


async def test_only_rows_without_a_readable_answer_are_asked_about_again_with_their_faults() -> None:
    noted: list[Noted] = []

    replies = (chat(said(0, "perhaps", "")), chat("Output [1]: 1\nOutput [2]: 1"), chat("Output [3]: 1"))
    async with learner_of(*replies, noted=noted, **THREE) as (learner, stub, counters):
        predictions = await learner.predict(RULE, ROWS[:3])
        assert [p.value for p in predictions] == ["0", "1", "1"]
        first, second, third = (body["messages"] for body in stub.bodies)
        assert second[: len(first)] == first
        assert second[1] == {"role": "assistant", "content": said(0, "perhaps", "").strip()}
        assert second[2]["content"].split("\n")[1:3] == [
            "[2]: 'perhaps' is none of the labels 0, 1",
            "[3]: '' is none of the labels 0, 1",
        ]
        assert third[-1]["content"].split("\n")[1:-1] == ["[3]: there is no 'Output [3]:' line"]
        assert [body["max_completion_tokens"] for body in stub.bodies] == [3 * 64, 2 * 64, 64]
        assert sorted((one.row, attempts) for _, one, attempts in noted) == [(0, 1), (1, 2), (2, 3)]
        assert (counters.snapshot().learner, counters.snapshot().unparsable) == (3, 2)


async def test_a_request_is_shared_and_goes_on_while_anyone_waits_for_one_of_its_rows() -> None:
    held = Held(parity)

    async with learner_of(held, **THREE) as (learner, stub, _):
        first, second = (asyncio.create_task(learner.predict(RULE, ROWS[at : at + 3])) for at in (0, 2))
        await held.arrived.get()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        held.free.set()
        assert [p.value for p in await second] == ["0", "1", "0"]
        assert [p.value for p in await learner.predict(RULE, ROWS[:3])] == ["0", "1", "0"]
        assert sorted(map(ids, stub.bodies)) == [[0, 1, 2], [3, 4]]


async def test_a_request_nobody_waits_for_ends_and_its_rows_can_be_asked_again() -> None:
    held = Held(parity)

    async with learner_of(held, **THREE) as (learner, stub, counters):
        first = asyncio.create_task(learner.predict(RULE, ROWS[:3]))
        await held.arrived.get()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        held.free.set()
        assert [p.value for p in await learner.predict(RULE, ROWS[1:3])] == ["1", "0"]
        assert list(map(ids, stub.bodies)) == [[0, 1, 2], [1, 2]]
        assert counters.snapshot().learner == 1


async def test_a_failure_reaches_all_who_wait_and_is_not_remembered() -> None:
    held = Held(script(refusal(401)))

    async with learner_of(held, **THREE) as (learner, _, _):
        asking = [asyncio.create_task(learner.predict(RULE, ROWS[at : at + 2])) for at in range(2)]
        await held.arrived.get()
        held.free.set()
        for each in asking:
            with pytest.raises(EndpointRefused):
                await each
        held.then = script(chat(said(0, 1, 0)))
        assert len(await learner.predict(RULE, ROWS[:3])) == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_predictions_do_not_depend_on_the_order_in_which_calls_finish(order: tuple[int, ...]) -> None:
    """The model's answer about a row depends on what else is in its request."""

    ended, turn = [], asyncio.Condition()

    async def in_order(request: Request) -> Reply:
        shown = ids(request.body)
        async with turn:
            await turn.wait_for(lambda: len(ended) == order[shown[0] // 3])
            ended.append(shown)
            turn.notify_all()
        return chat(said(*(sum(shown) * at // 3 % 2 for at in shown)))

    values: list[tuple[Any, ...]] = []
    async with learner_of(in_order, **THREE) as (learner, stub, _):
        several = await asyncio.gather(*(learner.predict(RULE, rows) for rows in (ROWS[:6], ROWS[3:8], ROWS)))
        values.append(tuple(p.value for p in several[-1]))
        assert sorted(map(ids, stub.bodies)) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    expected = [str(sum(pack) * at // 3 % 2) for pack in ((0, 1, 2), (3, 4, 5), (6, 7)) for at in pack]
    assert values == [tuple(expected)]


async def test_the_learners_temperature_is_sent_with_the_runs_seed() -> None:
    async with learner_of(parity, temperature=0.4, **THREE) as (learner, stub, _):
        await learner.predict(RULE, ROWS[:4])
        assert {(body["temperature"], body["seed"]) for body in stub.bodies} == {(0.4, 9)}
