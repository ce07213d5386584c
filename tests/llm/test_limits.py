"""The throttle's laws on a virtual clock, and in an event loop."""

import asyncio

import pytest

from vpp.llm.limits import Call, Throttle


@pytest.fixture
def clock() -> list[float]:
    """The time of a throttle, in seconds; a test sets it."""
    return [0.0]


def throttle_at(clock: list[float], ceiling: int) -> Throttle:
    return Throttle(ceiling, clock=lambda: clock[0])


def begin(throttle: Throttle, load: int = 1) -> Call:
    throttle.inside = load
    return throttle.begin()


def test_refusals_of_one_round_trip_halve_the_window_once(clock: list[float]) -> None:
    throttle = throttle_at(clock, 512)
    calls = [begin(throttle, load) for load in range(1, 513)]
    clock[0] = 1.0
    for call in calls:
        throttle.refused(call)
    assert throttle.limit == 256
    clock[0] = 2.0
    throttle.refused(begin(throttle))
    assert throttle.limit == 128


def test_the_window_is_never_below_one(clock: list[float]) -> None:
    throttle = throttle_at(clock, 8)
    for moment in range(1, 20):
        clock[0] = moment
        throttle.refused(begin(throttle))
    assert throttle.limit == 1


def load(throttle: Throttle) -> int:
    return throttle.inside + len(throttle._waiting)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def through(throttle: Throttle, name: str, seen: list[str], leave: asyncio.Event) -> None:
    async with throttle:
        seen.append(name)
        await leave.wait()


async def test_waiting_callers_enter_in_order_and_as_the_window_widens() -> None:
    throttle, seen, leave = Throttle(3), list[str](), asyncio.Event()
    throttle._limit = 1.0
    tasks = [asyncio.create_task(through(throttle, name, seen, leave)) for name in "abcd"]
    await settle()
    assert (seen, throttle.inside, load(throttle)) == (["a"], 1, 4)
    throttle._limit = 3.0
    leave.set()
    await asyncio.gather(*tasks)
    assert seen == ["a", "b", "c", "d"]
    assert load(throttle) == 0


async def test_a_held_throttle_admits_nobody_until_it_is_released() -> None:
    seen: list[str] = []
    leave = asyncio.Event()
    leave.set()
    throttle = Throttle(2)
    throttle.hold(1000)
    task = asyncio.create_task(through(throttle, "a", seen, leave))
    await settle()
    assert seen == []
    throttle.hold(0)
    assert not task.done()
    throttle.release()
    throttle.hold(0.001)
    await task
    assert seen == ["a"]
