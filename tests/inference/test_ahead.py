"""What is asked ahead of its turn changes no event, no count of needed calls and no answer that is kept, only time."""

import asyncio
import gc
import random
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.errors import EndpointRefused
from vpp.events import StepFinished
from vpp.inference import sample
from vpp.inference.ahead import LEAD
from vpp.inference.evaluation import conclude
from vpp.inference.plan import plan
from vpp.llm.counters import Counters
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion
from vpp.llm.templates import shipped
from vpp.usage import Transaction

from . import scripted, virtual_time
from .test_calls import N_TEST, N_TRAIN, as_published


class World:
    """The real learner and its counts over a scripted endpoint; calls take as long as `delay` says."""

    def __init__(self, config, *, delay=None, n_train=18, n_test=7, has_room=True, write=scripted.rewrite, known=()):
        self.dataset = scripted.make_dataset("classification", n_train=n_train, n_test=n_test)
        self.rows = {row.inputs[0][1]: row for row in (*self.dataset.train, *self.dataset.test)}
        self.counters = Counters()
        self.kept, self.asked, self.ended, self.cancelled = [], 0, 0, []
        self.lives = []
        """Seconds after which each of the cancelled was."""
        self.instead = None
        self.refuses = self.hangs = lambda text, row: False
        self.script = scripted.Script("classification", write=write, delay=delay)
        self.delay = delay
        learner = LlmLearner(
            self,
            LearnerPrompts(dataset=self.dataset, template=shipped("learner", "paper")),
            LearnerOptions(seed=0, max_tokens=64),
            counters=self.counters,
            on_answer=lambda *said: self.kept.append(said),
        )
        learner.preload(known)
        self.config = config
        problem = scripted.make_problem(config, self, dataset=self.dataset, has_room=has_room)
        self.problem = replace(problem, learner=learner)

    async def complete(self, messages, **options):
        said = messages[0]["content"]
        text = (re.findall(r"You predict y\. (?:new|h)[ \d]+", said) or [scripted.SEED_TEXT])[0].strip()
        row = self.rows[re.findall(r"x: (\d+)", said)[-1]]
        self.asked += 1
        began = asyncio.get_running_loop().time()
        try:
            if self.delay is not None:
                await self.delay()
            if self.refuses(text, row):
                self.counters.add(failed=1)
                raise EndpointRefused("no")
            while self.hangs(text, row):
                await asyncio.sleep(1)
        except asyncio.CancelledError:
            self.cancelled.append((text, row.id))
            self.lives.append(asyncio.get_running_loop().time() - began)
            raise
        self.ended += 1
        value = scripted.answer(text, row, task="classification") or self.instead
        self.counters.add(prompt_tokens=3, completion_tokens=1)
        answer = "I cannot say." if value is None else f"Because.\nOutput: {value}"
        return Completion(text=answer, finish_reason="stop", prompt_tokens=3, completion_tokens=1)

    async def propose(self, *asked, **options):
        return await self._counted(self.script.propose(*asked, **options))

    async def draw(self, **options):
        return await self._counted(self.script.draw(**options))

    async def _counted(self, work):
        proposal = await work
        self.counters.add(optimizer=1)
        return proposal

    async def whole(self):
        """Every event with the counts and the number of kept answers at that moment; then nothing is left running."""
        told = []

        def tell(event):
            told.append((event, self.counters.snapshot(), len(self.kept)))

        async for event in sample(self.problem, self.config):
            tell(event)
        last = scripted.populations([event for event, *_ in told], self.dataset)[-1]
        async for event in conclude(self.problem, self.config, last):
            tell(event)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return told

    async def rest(self, population, last):
        """After a population that was kept."""
        await scripted.collect(sample(self.problem, self.config, resume_from=population))
        await scripted.collect(conclude(self.problem, self.config, last))

    def run(self):
        return asyncio.run(self.whole())


def small(name, **options):
    return scripted.variant(name, seed=3, evaluate_every=2, final_weights="rescored", **options)


def at_steps(world, told):
    """Counts and kept answers at the end of each step, and in all."""
    marks = [(e.step, usage, set(world.kept[:n])) for e, usage, n in told if isinstance(e, StepFinished)]
    return [*marks, (None, world.counters.snapshot(), set(world.kept))]


def steadily(numbers, *, spread=1.0):
    async def delay():
        await asyncio.sleep(numbers.lognormvariate(0, spread))

    return delay


@pytest.mark.parametrize("name", scripted.VARIANTS)
@settings(max_examples=1, deadline=None)
@given(order=st.integers(0, 10**6))
def test_events_counts_and_answers_of_every_step_are_those_of_a_run_that_asks_nothing_ahead(name, order):
    config = small(name)
    plain = World(config, has_room=False)
    told = plain.run()
    hasty = World(config, delay=steadily(random.Random(order)), has_room=True)
    raced, _ = virtual_time.run_timed(hasty.whole())
    assert scripted.content([e for e, *_ in raced]) == scripted.content([e for e, *_ in told])
    assert at_steps(hasty, raced) == at_steps(plain, told)
    used = hasty.counters.snapshot()
    assert used.ahead_unused <= used.ahead


@pytest.mark.parametrize("name", ["mh", "always-accept", "smc"])
def test_a_run_killed_after_any_step_and_resumed_ends_with_the_same_counts_and_answers(name):
    config = small(name)
    whole = World(config, delay=steadily(random.Random(1)))
    told, _ = virtual_time.run_timed(whole.whole())
    finished = [(e, usage, n) for e, usage, n in told if isinstance(e, StepFinished)]
    populations = scripted.populations([e for e, *_ in told], whole.dataset)
    for (_, usage, n), population in zip(finished, populations, strict=True):
        kept = whole.kept[:n]
        again = World(config, delay=steadily(random.Random(2)), known=[(h, p) for h, p, _ in kept])
        again.counters.restore(usage)
        again.kept.extend(kept)
        virtual_time.run_timed(again.rest(population, populations[-1]))
        assert again.counters.snapshot() == whole.counters.snapshot()
        assert set(again.kept) == set(whole.kept)


# --- what it gains ------------------------------------------------------------------------------------------------


def published(name, *, epochs=2, **options):
    """Three particles of the table's ten: rounds are the same, and the calls a particle."""
    config = as_published(name, particles=3, epochs=epochs)
    world = World(config, n_train=N_TRAIN, n_test=N_TEST, write=scripted.rewrite_anew, **options)
    world.instead = "no"  # each row is asked about once
    return world


def steps_only(world):
    return virtual_time.run_timed(scripted.collect(sample(world.problem, world.config)))[1]


def test_mh_takes_a_round_less_a_step_where_it_asks_ahead():
    plain, ahead = (published("mh", delay=virtual_time.tick, has_room=room) for room in (False, True))
    assert (steps_only(plain), steps_only(ahead)) == (62, 43)
    told = plan(as_published("mh"), n_train=N_TRAIN, n_test=N_TEST, is_prefetched=True)
    ending = 10 * (N_TRAIN + N_TEST)
    assert (told.rounds, told.rounds_plain) == (44, 63), "with the ending's one round"
    assert told.learner_calls - ending == 5910
    used = ahead.counters.snapshot()
    assert used == plain.counters.snapshot()
    assert plain.counters.snapshot().ahead == 0
    assert 0 < used.ahead_unused <= 3 * 190
    assert 3 * 190 < used.ahead <= 3 * 380
    assert ahead.asked == used.learner + used.ahead_unused


def steps_of_script(name, delay):
    config = as_published(name)
    script = scripted.Script("classification", write=scripted.rewrite_anew, delay=delay)
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

    steps_of_script(name, delay)
    return sum(rounds.values())


@pytest.mark.parametrize(("name", "most"), [("mh", 0.9), ("always-accept", 0.9), ("smc", 0.95)])
def test_slots_that_do_not_wait_for_one_another_take_less_than_the_sum_of_the_rounds_longest_calls(name, most):
    assert steps_of_script(name, steadily(random.Random(5), spread=0.6)) < most * round_maxima(name, 5)


def test_the_end_of_a_run_is_one_round():
    world = published("smc", epochs=1, delay=virtual_time.tick)
    world.config = replace(world.config, final_weights="train")

    async def ending():
        events = await scripted.collect(sample(world.problem, world.config))
        began = asyncio.get_running_loop().time()
        await scripted.collect(conclude(world.problem, world.config, scripted.populations(events)[-1]))
        return asyncio.get_running_loop().time() - began

    assert virtual_time.run_timed(ending())[0] == 1


@pytest.mark.parametrize("name", ["always-accept", "mh"])
def test_a_chain_is_never_more_steps_ahead_than_it_may(name):
    config, asked = small(name, epochs=4), []
    world = World(config, has_room=False)
    told = {"step": -1}

    async def propose(*said, seed, **options):
        asked.append((told["step"], steps_of.get(seed, -1)))
        if seed == scripted.call_seed_of(0, 0, seed=3):
            await asyncio.sleep(1000)
        return await world._counted(world.script.propose(*said, seed=seed, **options))

    steps_of = {scripted.call_seed_of(t, k, seed=3): t for t in range(world.problem.steps) for k in range(config.size)}
    world.propose = propose
    world.problem = replace(world.problem, optimizer=world)

    async def listen():
        async for event in sample(world.problem, config):
            if isinstance(event, StepFinished):
                told["step"] = event.step

    virtual_time.run_timed(listen())
    assert max(at - whole - 1 for whole, at in asked if at >= 0) == LEAD


# --- what is not needed -------------------------------------------------------------------------------------------


def test_what_was_asked_of_the_loser_is_cancelled_and_of_the_winner_is_waited_for():
    config = as_published("mh", epochs=1, particles=4)
    world = World(config, n_train=N_TRAIN, write=scripted.rewrite_anew, delay=steadily(random.Random(7)))
    virtual_time.run_timed(world.whole())
    used = world.counters.snapshot()
    kept = {(identity, prediction.row) for identity, prediction, _ in world.kept}
    assert world.cancelled
    assert not kept & {(scripted.hypothesis_id(text), row) for text, row in world.cancelled}, "nobody asks again for it"
    assert len(kept) == len(world.kept)
    assert len(world.cancelled) <= used.ahead_unused


def guessing(config, **options):
    """A run that asks nothing ahead, one that will, and whether a call of this is one that the first did not need."""
    plain = World(config, n_train=N_TRAIN, write=scripted.rewrite_anew, has_room=False)
    world = World(config, n_train=N_TRAIN, write=scripted.rewrite_anew, **options)
    plain.instead = world.instead = "no"  # each row is asked about once
    plain.run()
    needed = {(identity, prediction.row) for identity, prediction, _ in plain.kept}
    return plain, world, lambda text, row: (scripted.hypothesis_id(text), row.id) not in needed


def test_a_guess_that_the_server_refuses_fails_nothing_unless_it_is_needed():
    plain, world, world.refuses = guessing(as_published("mh", epochs=1, particles=4))
    world.run()
    assert set(world.kept) == set(plain.kept)
    assert world.ended < world.asked
    assert world.counters.snapshot() == plain.counters.snapshot(), "also in what failed"


def test_a_guess_is_cancelled_as_soon_as_its_hypothesis_has_lost():
    """Not when the next forward pass is done, which takes five ticks more.

    The parent's is under way while the proposal is written and while it is judged: a tick each.
    """
    _, world, is_lost = guessing(as_published("mh", epochs=1, particles=1), delay=virtual_time.tick)
    step_of = {row.id: step for step in range(world.problem.steps) for row in world.problem.batch(step)}
    judged, ticks = {}, Counter()

    def hangs(text, row):
        step = step_of.get(row.id, 0)
        ticks[text, row.id] += 1
        return is_lost(text, row) or (step > judged.setdefault(text, step) and ticks[text, row.id] <= 5)

    world.hangs = hangs
    virtual_time.run_timed(world.whole())
    assert max(world.lives) == 2


def test_nothing_is_kept_of_a_guess_that_lost():
    _, world, _ = guessing(as_published("mh", epochs=1, particles=4), delay=virtual_time.tick)
    virtual_time.run_timed(world.whole())
    assert world.counters.snapshot().ahead_unused > len(world.cancelled), "some were answered"
    shared = world.problem.learner._answers
    gc.collect()
    pending = [each for each in gc.get_objects() if isinstance(each, Transaction)]
    assert (shared._ahead, shared._requests, pending) == ({}, {}, [])
    assert shared._answers.keys() == {(identity, prediction.row) for identity, prediction, _ in world.kept}


def test_a_lost_guess_stays_for_whoever_else_may_need_it():
    """Two guess the same: one drops it, under way or answered, and the other needs it."""

    async def scene(waits):
        world = World(small("mh"), delay=virtual_time.tick)
        learner, rows = world.problem.learner, world.dataset.train[:3]
        first, second = Transaction(is_guess=True), Transaction(is_guess=True)
        tasks = [
            asyncio.create_task(learner.predict(scripted.SEED_TEXT, rows), context=transaction.context())
            for transaction in (first, second)
        ]
        await asyncio.sleep(waits)
        tasks[0].cancel()
        first.rollback()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (world.kept, world.counters.snapshot().learner) == ([], 0)
        await learner.predict(scripted.SEED_TEXT, rows)
        second.rollback()
        await learner.predict(scripted.SEED_TEXT, rows)
        return world.asked, len(world.kept), world.counters.snapshot().learner >= 3

    for waits in (0.5, 2):
        assert virtual_time.run_timed(scene(waits))[0] == (3, 3, True)


def test_a_request_of_a_lost_guess_that_another_joins_before_it_is_left_is_counted():
    async def scene():
        world = World(small("mh"), delay=virtual_time.tick)
        learner, rows = world.problem.learner, world.dataset.train[:3]
        guess = Transaction(is_guess=True)
        task = asyncio.create_task(learner.predict(scripted.SEED_TEXT, rows), context=guess.context())
        await asyncio.sleep(0.5)
        task.cancel()
        guess.rollback()
        await learner.predict(scripted.SEED_TEXT, rows)
        return len(world.kept), world.counters.snapshot().learner >= 3

    assert virtual_time.run_timed(scene())[0] == (3, True)


@pytest.mark.parametrize("options", [{"particles_max": 9}, {"mh_rows": "train"}])
def test_nothing_is_guessed_where_it_would_gain_nothing(options):
    config = small("mh", **options)
    world = World(config)
    world.run()
    assert world.counters.snapshot().ahead == 0
    assert plan(config, n_train=18, n_test=7, is_prefetched=True) == plan(config, n_train=18, n_test=7)
