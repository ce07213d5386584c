"""The same run whichever call ends first and whatever is asked ahead, resumed after any step; and what that gains.

A run that is left early, cancelled, or failed by its model leaves no call running.
"""

import asyncio
import random
from collections import Counter
from functools import cache

import pytest

from vpp.errors import EndpointUnreachable
from vpp.events import Evaluated, Proposed, Resampled, Reweighted, Scored, StepFinished
from vpp.inference import ahead, sample
from vpp.inference.ahead import LEAD
from vpp.inference.plan import plan
from vpp.inference.sampling import conclude
from vpp.randomness import call_seed

from . import scripted, virtual_time
from .test_calls import N_TRAIN, as_published

TASKS = ("classification", "regression")
IN_ORDER = (Reweighted, Resampled, StepFinished, Evaluated)
"""Events that tell of the whole population: their order is fixed."""
each_method_and_task = pytest.mark.parametrize(("method", "task"), [(m, t) for m in scripted.VARIANTS for t in TASKS])


def configure(method, task="classification", **options):
    tau = "auto" if task == "regression" else "1.0"
    return scripted.variant(method, seed=3, tau=tau, final_weights="rescored", **options)


def steadily(numbers, *, spread=1.0):
    async def delay():
        await asyncio.sleep(numbers.lognormvariate(0, spread))

    return delay


@cache
def plain_run(method, task):
    """Events, those of the end, and the script of a run that asks nothing ahead, its calls ending in order."""
    script = scripted.Script(task, memo=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "LEAD", 0)
        patch.setattr(ahead.Ahead, "ask_next", lambda *_: None)
        return *scripted.whole_run(configure(method, task), script), script


@each_method_and_task
def test_events_have_the_same_content_in_any_order_of_calls_and_only_mh_asks_more(method, task):
    config = configure(method, task)
    plain, plain_end, alone = plain_run(method, task)
    orders = set()
    for delay, memo in (
        *((scripted.jitter(order), order == 2) for order in range(3)),
        *((steadily(random.Random(order)), True) for order in (1, 2)),
    ):
        script = scripted.Script(task, delay=delay, memo=memo)
        problem = scripted.make_problem(config, script, n_train=18)
        (events, end), _ = virtual_time.run_timed(scripted.whole(problem, config))
        assert Counter(events) == Counter(plain)
        assert Counter(end) == Counter(plain_end)
        assert [e for e in events if isinstance(e, IN_ORDER)] == [e for e in plain if isinstance(e, IN_ORDER)]
        for slot in range(config.size):
            assert events_of(events, slot) == events_of(plain, slot), "in the order of its own phases"
        orders.add(tuple((type(event), getattr(event, "particle", None)) for event in events))
        assert Counter(script.proposed + script.drawn) == Counter(alone.proposed + alone.drawn)
        if memo and not method.startswith("mh"):
            assert script.known.keys() == alone.known.keys()
        elif memo:
            assert script.known.keys() >= alone.known.keys()
            assert script.calls <= plan(config, n_train=18, n_test=7).calls
    assert len(orders) > 1 or method == "vml", "the calls did finish in different orders"


def events_of(events, slot):
    return [e for e in events if isinstance(e, Scored | Proposed) and e.particle == slot]


@cache
def race(method, task):
    """The script of a run with calls in flight, and the answers that it had after each step."""
    config, answered = configure(method, task), []
    script = scripted.Script(task, delay=steadily(random.Random(1)), memo=True)
    problem = scripted.make_problem(config, script, n_train=18)

    async def watch():
        events = []
        async for event in sample(problem, config):
            events.append(event)
            if isinstance(event, StepFinished):
                answered.append({question: call for question, call in script.known.items() if call.done()})
        await scripted.collect(conclude(problem, config, scripted.populations(events)[-1]))

    virtual_time.run_timed(watch())
    return script, answered


@each_method_and_task
def test_a_run_killed_after_any_step_ends_as_if_it_were_not_and_asks_only_what_it_lacks(method, task):
    """Killed after the last step and every second one: even steps of a classification, odd ones of a regression."""
    config = configure(method, task)
    events, end, _ = plain_run(method, task)
    raced, answered = race(method, task)
    populations = scripted.populations(events)
    for place in {*range(TASKS.index(task), len(populations), 2), len(populations) - 1}:
        finished = next(e for e in events if isinstance(e, StepFinished) and e.step == populations[place].step)
        before, tail = events[: events.index(finished) + 1], events[events.index(finished) + 1 :]
        script = scripted.Script(task, memo=True, known=dict(answered[place]))
        problem = scripted.make_problem(config, script, n_train=18)
        resumed = scripted.run(problem, config, resume_from=populations[place])
        assert resumed == tail
        assert scripted.run_conclusion(problem, config, scripted.populations(before + resumed)[-1]) == end
        assert len(script.proposed) + len(script.drawn) == len(scripted.of_kind(tail, Proposed))
        if method.startswith("mh"):  # what was in flight for a text that has lost is not asked for again
            assert script.known.keys() <= raced.known.keys()
        else:
            assert script.known.keys() == raced.known.keys()


@pytest.mark.parametrize("method", ["always-accept", "mh"])
def test_a_chain_is_never_more_steps_ahead_than_it_may(method):
    config, leads, newest = configure(method, epochs=4), [], [-1]

    class Slow(scripted.Script):
        async def propose(self, *asked, seed, **options):
            leads.append(steps.get(seed, -1) - newest[-1] - 1)
            if seed == call_seed(3, "propose", 0, 0):
                await asyncio.sleep(1000)
            return await super().propose(*asked, seed=seed, **options)

    problem = scripted.make_problem(config, Slow("classification"))
    steps = {call_seed(3, "propose", t, k): t for t in range(problem.steps) for k in range(config.size)}

    async def listen():
        async for event in sample(problem, config):
            newest.extend([event.step] if isinstance(event, StepFinished) else [])

    virtual_time.run_timed(listen())
    assert max(leads) == LEAD


def seconds_of(name, delay):
    config = as_published(name)
    script = scripted.Script("classification", write=scripted.rewrite_anew, delay=delay, memo=True)
    problem = scripted.make_problem(config, script, n_train=N_TRAIN)
    return virtual_time.run_timed(scripted.collect(sample(problem, config)))[1]


def round_maxima(name, seed):
    """The time of a run whose steps wait for one another: every round as long as its longest call."""
    numbers, rounds = random.Random(seed), {}

    async def delay():
        now = asyncio.get_running_loop().time()
        longest = rounds.setdefault(now, 0.0)
        rounds[now] = max(longest, numbers.lognormvariate(0, 0.6))
        await asyncio.sleep(1)

    seconds_of(name, delay)
    return sum(rounds.values())


@pytest.mark.parametrize(("name", "most"), [("mh", 0.9), ("always-accept", 0.9), ("smc", 0.95)])
def test_slots_that_do_not_wait_for_one_another_take_less_than_the_sum_of_the_rounds_longest_calls(name, most):
    assert seconds_of(name, steadily(random.Random(5), spread=0.6)) < most * round_maxima(name, 5)


WITHIN_S = 10
LEFT = pytest.mark.parametrize("method", ["vml", "mh", "smc"])
MOMENTS = range(1, 60, 2)


def make(method, script, **options):
    config = scripted.paper(method=method, particles=4, tau="auto", final_weights="train", epochs=1, **options)
    return scripted.make_problem(config, script, n_train=15), config


def others():
    return asyncio.all_tasks() - {asyncio.current_task()}


@LEFT
@pytest.mark.parametrize("task", TASKS)
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
    broken = Broken(10**6, None)
    asyncio.run(scripted.whole(*make(method, scripted.Script(task, delay=broken))))
    return 10**6 - broken.left


@LEFT
@pytest.mark.parametrize("task", TASKS)
def test_a_call_that_fails_ends_the_run_and_cancels_the_rest(method, task):
    async def fail():
        await asyncio.sleep(0)
        raise EndpointUnreachable("gone")

    async def broken_at(call):
        broken = Broken(call, fail)
        script = scripted.Script(task, delay=broken)
        async with asyncio.timeout(WITHIN_S):  # a failure that nobody hears of would hang here
            with pytest.raises(EndpointUnreachable, match="gone"):
                await scripted.whole(*make(method, script))
        assert others() == set()
        assert script.running == 0
        return broken.cancelled

    calls = calls_of(method, task)
    cancelled = [asyncio.run(broken_at(call)) for call in range(calls)]
    assert max(cancelled) > 0 or method == "vml"
