"""Callers with one key share one piece of work."""

import asyncio

import pytest

from vpp.llm.cache import SingleFlight


class Work:
    """Counts how often it is begun and cancelled; ends when it is let go on."""

    def __init__(self) -> None:
        self.begun = self.cancelled = 0
        self.may_end = asyncio.Event()

    async def run(self) -> int:
        self.begun += 1
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.begun


def test_one_piece_of_work_answers_all_who_wait_for_it() -> None:
    async def shown() -> tuple[list[tuple[int, bool]], int]:
        flights: SingleFlight[int] = SingleFlight()
        work = Work()
        callers = [asyncio.create_task(flights.run("a", work.run)) for _ in range(3)]
        await asyncio.sleep(0)
        work.may_end.set()
        return await asyncio.gather(*callers), work.begun

    assert asyncio.run(shown()) == ([(1, False), (1, True), (1, True)], 1)


def test_work_that_has_ended_is_begun_again() -> None:
    async def shown() -> list[tuple[int, bool]]:
        flights: SingleFlight[int] = SingleFlight()
        work = Work()
        work.may_end.set()
        return [await flights.run("a", work.run), await flights.run("a", work.run)]

    assert asyncio.run(shown()) == [(1, False), (2, False)]


def test_a_caller_that_leaves_takes_nothing_from_the_others() -> None:
    async def shown() -> tuple[tuple[int, bool], int]:
        flights: SingleFlight[int] = SingleFlight()
        work = Work()
        first, second = (asyncio.create_task(flights.run("a", work.run)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait((first,))
        work.may_end.set()
        return await second, work.cancelled

    assert asyncio.run(shown()) == ((1, True), 0)


def test_work_ends_once_the_last_caller_has_left() -> None:
    async def shown() -> int:
        flights: SingleFlight[int] = SingleFlight()
        work = Work()
        callers = [asyncio.create_task(flights.run("a", work.run)) for _ in range(2)]
        await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await asyncio.wait(callers)
        return work.cancelled

    assert asyncio.run(shown()) == 1


def test_what_the_work_raises_reaches_every_caller() -> None:
    async def fails() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def shown() -> list[BaseException | tuple[int, bool]]:
        flights: SingleFlight[int] = SingleFlight()
        return await asyncio.gather(*(flights.run("a", fails) for _ in range(2)), return_exceptions=True)

    raised = asyncio.run(shown())
    assert [str(one) for one in raised] == ["no", "no"]
    with pytest.raises(ValueError, match="no"):
        raise raised[0]  # type: ignore[misc]
