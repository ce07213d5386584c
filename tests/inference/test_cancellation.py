"""A run that is left early, cancelled, or failed by its model leaves no call running."""

import asyncio

import pytest

from vpp.errors import EndpointUnreachable
from vpp.inference import sample

from . import scripted

METHODS = pytest.mark.parametrize("method", ["vml", "mh", "smc"])
MOMENTS = range(1, 60, 2)


def make(method, script, **options):
    config = scripted.paper(method=method, particles=4, tau="auto", final_weights="train", epochs=1, **options)
    return scripted.make_problem(config, script, n_train=15), config


def others():
    """Tasks besides the one that asks."""
    return asyncio.all_tasks() - {asyncio.current_task()}


@METHODS
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_closing_the_generator_at_any_event_leaves_no_task_running(method, task):
    async def left_after(n):
        script = scripted.Script(task, delay=scripted.jitter(n))
        events = sample(*make(method, script))
        for _ in range(n):
            if await anext(events, None) is None:
                return None
        was_running = len(others())
        await events.aclose()
        assert others() == set()
        assert script.running == 0
        return was_running

    running = [n for moment in MOMENTS if (n := asyncio.run(left_after(moment))) is not None]
    assert len(running) >= 5
    assert max(running) > 0 or method == "vml", "some were closed in the middle of a round"


class Broken:
    """Lets `calls` calls through. The next one runs `at_fault`; later ones hang until they are cancelled."""

    def __init__(self, calls, at_fault):
        self.left, self.at_fault, self.cancelled = calls, at_fault, 0

    async def __call__(self):
        self.left -= 1
        if self.left >= 0:
            await asyncio.sleep(0)
        elif self.left == -1:
            await self.at_fault()
        else:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise


def calls_of(method, task):
    """Calls of a whole run."""
    broken = Broken(10**6, None)
    asyncio.run(scripted.whole(*make(method, scripted.Script(task, delay=broken))))
    return 10**6 - broken.left


@METHODS
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_call_that_fails_ends_the_run_and_cancels_the_rest(method, task):
    async def fail():
        await asyncio.sleep(0)
        raise EndpointUnreachable("gone")

    async def broken_at(call):
        broken = Broken(call, fail)
        script = scripted.Script(task, delay=broken)
        with pytest.raises(EndpointUnreachable, match="gone"):
            await scripted.whole(*make(method, script))
        assert others() == set()
        assert script.running == 0
        return broken.cancelled

    calls = calls_of(method, task)
    cancelled = [asyncio.run(broken_at(call)) for call in range(calls)]
    assert max(cancelled) > 0 or method == "vml"
