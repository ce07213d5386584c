"""Calls made ahead of their step change no event. They save time, and MH sends more of them than it needs."""

import asyncio
import random
import re
from dataclasses import replace

import pytest

from vpp.errors import EndpointRefused
from vpp.events import StepFinished
from vpp.inference import ahead, sample
from vpp.inference.ahead import LEAD
from vpp.inference.plan import plan
from vpp.inference.sampling import conclude
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import Counters
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Completion
from vpp.llm.templates import shipped

from . import scripted, virtual_time
from .test_calls import N_TEST, N_TRAIN, as_published


class World:
    """The real learner and its counts over a scripted endpoint; calls take as long as `delay` says."""

    def __init__(self, config, *, delay=None, n_train=18, n_test=7, write=scripted.rewrite, known=()):
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
        problem = scripted.make_problem(config, self, dataset=self.dataset)
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
        last = scripted.populations([event for event, *_ in told])[-1]
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
    return scripted.variant(name, seed=3, final_weights="rescored", **options)


def steadily(numbers, *, spread=1.0):
    async def delay():
        await asyncio.sleep(numbers.lognormvariate(0, spread))

    return delay


@pytest.fixture
def in_turn(monkeypatch):
    """Return a function that makes runs ask nothing ahead from now on, or again."""

    def switch(is_on):
        if is_on:
            monkeypatch.setattr(ahead, "LEAD", 0)
            monkeypatch.setattr(ahead.Ahead, "ask_next", lambda *_: None)
        else:
            monkeypatch.undo()

    return switch


@pytest.mark.parametrize("name", scripted.VARIANTS)
@pytest.mark.parametrize("order", [1, 2])
def test_events_are_those_of_a_run_that_asks_nothing_ahead_and_only_mh_asks_more(name, order, in_turn):
    config = small(name)
    in_turn(True)
    plain = World(config)
    told = plain.run()
    in_turn(False)
    hasty = World(config, delay=steadily(random.Random(order)))
    raced, _ = virtual_time.run_timed(hasty.whole())
    assert scripted.content([e for e, *_ in raced]) == scripted.content([e for e, *_ in told])
    if name.startswith("mh"):
        assert set(plain.kept) <= set(hasty.kept)
        assert hasty.counters.snapshot().calls <= planned(config)
    else:
        assert set(plain.kept) == set(hasty.kept)
        assert hasty.counters.snapshot() == plain.counters.snapshot()
    assert len(hasty.kept) == len(set(hasty.kept)), "each question is asked once"


def planned(config):
    """Calls of the plan, and two more for each that cannot be read."""
    return 3 * plan(config, n_train=18, n_test=7).calls


@pytest.mark.parametrize("name", ["mh", "always-accept", "smc"])
def test_a_run_killed_after_any_step_and_resumed_asks_for_no_answer_again(name):
    config = small(name)
    whole = World(config, delay=steadily(random.Random(1)))
    whole.instead = "no"  # each row is asked about once
    told, _ = virtual_time.run_timed(whole.whole())
    finished = [(e, usage, n) for e, usage, n in told if isinstance(e, StepFinished)]
    populations = scripted.populations([e for e, *_ in told])
    for (_, usage, n), population in zip(finished, populations, strict=True):
        kept = whole.kept[:n]
        again = World(config, delay=steadily(random.Random(2)), known=[(h, p) for h, p, _ in kept])
        again.instead = "no"
        again.counters.restore(usage)
        again.kept.extend(kept)
        virtual_time.run_timed(again.rest(population, populations[-1]))
        assert len(again.kept) == len(set(again.kept))
        if name == "mh":  # what was in flight for a text that has lost is not asked for again
            assert set(again.kept) <= set(whole.kept)
        else:
            assert set(again.kept) == set(whole.kept)
            assert again.counters.snapshot().learner == whole.counters.snapshot().learner
        repeated = again.counters.snapshot().optimizer - whole.counters.snapshot().optimizer
        assert 0 <= repeated <= (0 if name == "smc" else LEAD * config.size * 3)


# --- what it gains ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["always-accept", "mh"])
def test_a_chain_is_never_more_steps_ahead_than_it_may(name):
    config, requests = small(name, epochs=4), []
    world = World(config)
    newest = {"step": -1}

    async def propose(*said, seed, **options):
        requests.append((newest["step"], steps_of.get(seed, -1)))
        if seed == scripted.call_seed_of(0, 0, seed=3):
            await asyncio.sleep(1000)
        return await world._counted(world.script.propose(*said, seed=seed, **options))

    steps_of = {scripted.call_seed_of(t, k, seed=3): t for t in range(world.problem.steps) for k in range(config.size)}
    world.propose = propose
    world.problem = replace(world.problem, optimizer=world)

    async def listen():
        async for event in sample(world.problem, config):
            if isinstance(event, StepFinished):
                newest["step"] = event.step

    virtual_time.run_timed(listen())
    assert max(at - whole - 1 for whole, at in requests if at >= 0) == LEAD


def published(name, **options):
    """Three particles of the table's ten: rounds are the same, and the calls a particle."""
    config = as_published(name, particles=3)
    world = World(config, n_train=N_TRAIN, n_test=N_TEST, write=scripted.rewrite_anew, **options)
    world.instead = "no"  # each row is asked about once
    return world


def steps_only(world):
    return virtual_time.run_timed(scripted.collect(sample(world.problem, world.config)))[1]


def test_mh_takes_two_rounds_a_step_as_both_texts_get_their_next_forward_pass_while_one_is_judged():
    world = published("mh", delay=virtual_time.tick)
    assert steps_only(world) == 43
    told = plan(as_published("mh"), n_train=N_TRAIN, n_test=N_TEST)
    assert told.rounds == 44, "the end of the run takes one round"
    assert told.learner_calls - 10 * (N_TRAIN + N_TEST) == 5910
    learner = world.counters.snapshot().learner
    assert 1.2 * 3 * 400 < learner <= 10 + 3 * (400 + 190)


def steps_of_script(name, delay):
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

    steps_of_script(name, delay)
    return sum(rounds.values())


@pytest.mark.parametrize(("name", "most"), [("mh", 0.9), ("always-accept", 0.9), ("smc", 0.95)])
def test_slots_that_do_not_wait_for_one_another_take_less_than_the_sum_of_the_rounds_longest_calls(name, most):
    assert steps_of_script(name, steadily(random.Random(5), spread=0.6)) < most * round_maxima(name, 5)
