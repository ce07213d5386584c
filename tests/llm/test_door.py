"""The door before an endpoint."""

import asyncio
from itertools import pairwise

from vpp.llm.limits import A_TURN, Semaphore


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def through(door: Semaphore, name: str, seen: list[str], leave: asyncio.Event) -> None:
    async with door:
        seen.append(name)
        await leave.wait()


def test_who_waits_goes_in_by_turns_and_as_the_door_widens() -> None:
    async def scene() -> None:
        width, seen, leave = 1, [], asyncio.Event()
        door = Semaphore(lambda: width)
        tasks = [asyncio.create_task(through(door, name, seen, leave)) for name in "abcd"]
        await settle()
        assert (seen, door.inside, door.load) == (["a"], 1, 4)
        width = 3
        leave.set()
        await asyncio.gather(*tasks)
        assert seen == ["a", "b", "c", "d"]
        assert door.load == 0

    asyncio.run(scene())


def test_one_who_gives_up_takes_no_place() -> None:
    async def scene() -> None:
        seen: list[str] = []
        leave = asyncio.Event()
        door = Semaphore(lambda: 1)
        first, second, third = (asyncio.create_task(through(door, name, seen, leave)) for name in "abc")
        await settle()
        second.cancel()
        await settle()
        assert door.load == 2
        leave.set()
        first.cancel()
        await settle()
        third.cancel()
        await settle()
        assert door.load == 0

    asyncio.run(scene())


def test_a_held_door_lets_nobody_in_until_it_is_opened() -> None:
    async def scene() -> None:
        seen: list[str] = []
        leave = asyncio.Event()
        leave.set()
        door = Semaphore(lambda: 2)
        door.hold(1000)
        task = asyncio.create_task(through(door, "a", seen, leave))
        await settle()
        assert seen == []
        door.hold(0)
        assert not task.done()
        door.release()
        door.hold(0.001)
        await task
        assert seen == ["a"]

    asyncio.run(scene())


def test_a_crowd_goes_in_a_turn_of_the_loop_at_a_time_so_that_the_first_are_sent_meanwhile() -> None:
    async def scene() -> None:
        seen: list[str] = []
        leave = asyncio.Event()
        door = Semaphore(lambda: 3 * A_TURN)
        tasks = [asyncio.create_task(through(door, str(number), seen, leave)) for number in range(4 * A_TURN)]
        went_in = []
        while door.inside < 3 * A_TURN:
            await asyncio.sleep(0)
            went_in.append(door.inside)
        assert {after - before for before, after in pairwise([0, *went_in])} <= {0, A_TURN}
        leave.set()
        await asyncio.gather(*tasks)
        assert seen == [str(number) for number in range(4 * A_TURN)]
        assert door.load == 0

    asyncio.run(scene())
