"""Calls and rounds against method.md's table, measured with a counting model on a virtual clock."""

from dataclasses import replace

import pytest

from tests.reporting.builders import dataset as small
from vpp.events import Counters
from vpp.inference import sample
from vpp.inference.plan import ending_rows, plan
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.prompts import LearnerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.protocol import Completion
from vpp.llm.templates import shipped
from vpp.llm.translator import ProgramLearner
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Given
from vpp.settings import Config, preset

from . import scripted, virtual_time

TABLE = {
    "vml": {"learner": 200, "optimizer": 20, "rounds": 40},
    "mh": {"learner": 10 + 2 * 10 * 10 * 20 + 10 * 10 * 19, "optimizer": 210, "rounds": 43},
    "smc": {"learner": 10 + 10 * (10 + 20 + 30 + 17 * 40), "optimizer": 210, "rounds": 42},
}
N_TRAIN, N_TEST = 200, 7


def as_published(method, **options):
    """K = 10, M = 10, B = 40, 200 rows, one epoch: T = 20."""
    return replace(preset("paper"), method=method.split()[0], **{"epochs": 1, **OTHERS.get(method, {}), **options})


OTHERS = {
    "vml5": {},
    "always-accept": {},
    "mh on the buffer": {"mh_rows": "buffer"},
    "mh on all rows": {"mh_rows": "train"},
    "mh from the prior": {"restart": 1.0},
    "smc filtered": {"mutate": "filtered"},
    "smc deduplicated": {"final_weights": "rescored", "buffer_size": 130},
    "smc incremental": {"tempering": "incremental"},
    "smc from the prior": {"tempering": "adaptive", "restart": 1.0},
}
"""Their plan counts on the memo: what was kept was scored on the same rows before."""


def measure(config, *, ending=False, task="classification", write=scripted.rewrite_anew, n_train=N_TRAIN):
    """Calls and rounds of a run whose every text is new."""
    script = scripted.Script(task, write=write, delay=virtual_time.tick, memo=True)
    problem = scripted.make_problem(config, script, n_train=n_train, n_test=N_TEST)
    run = scripted.whole(problem, config) if ending else scripted.collect(sample(problem, config))
    _, ticks = virtual_time.run_timed(run)
    return {"learner": script.asked, "optimizer": len(script.proposed) + len(script.drawn), "rounds": ticks}


@pytest.mark.parametrize("method", ["vml", "mh", "smc"])
def test_calls_and_rounds_are_the_tables_when_nothing_is_shared(method):
    assert measure(as_published(method)) == TABLE[method]


def plan_of(config, n_train=N_TRAIN, *, ending=True):
    """Calls and rounds of the plan, under the names that `measure` uses."""
    whole = plan(config, n_train=n_train, n_test=N_TEST)
    end = 0 if ending else ending_rows(config, n_train, N_TEST)
    return {
        "learner": whole.learner_calls - end,
        "optimizer": whole.optimizer_calls,
        "rounds": whole.rounds - (not ending),
    }


PLANNED = {
    **{
        f"{method} {options}": (as_published(method, **options), N_TRAIN)
        for method in ("vml", "mh", "smc")
        for options in (
            *({"final_weights": final} for final in ("paper", "rescored", "train")),
            {"buffer_size": 10**6, "particles": 3, "batch_size": 15},
        )
    },
    **{method: (as_published(method, particles=3, epochs=2), 100) for method in OTHERS},
    "a buffer shorter than a batch": (as_published("smc", buffer_size=4), N_TRAIN),
    **{
        f"{method} on {n_train} rows": (as_published(method, final_weights="rescored", particles=3), n_train)
        for method in ("vml", "mh", "smc")
        for n_train in (7, 95, 101)
    },
}


@pytest.mark.parametrize("name", PLANNED)
def test_the_plan_is_what_a_run_takes_whose_every_text_is_new_or_bounds_it(name):
    """Training rows that were answered before are not asked again for the summary."""
    config, n_train = PLANNED[name]
    measured, most = measure(config, ending=True, n_train=n_train), plan_of(config, n_train)
    assert measured["optimizer"] == most["optimizer"]
    assert measured["learner"] <= most["learner"]
    assert measured["rounds"] <= most["rounds"]
    if name not in OTHERS:
        assert measured["rounds"] == most["rounds"]
        if config.buffer_size >= config.batch_size:
            assert measure(config, n_train=n_train) == plan_of(config, n_train, ending=False)


class Writer:
    """A learner that reads each row as a yes, and writes programs; counts its calls."""

    def __init__(self):
        self.asked = 0

    async def complete(self, messages, **_):
        self.asked += 1
        await virtual_time.tick()
        is_rule = messages[0]["content"].startswith("You translate")
        text = (
            "def predict(a):\n    return 'no' if a % 3 == 1 else 'yes'" if is_rule else "Explanation: so.\nOutput: yes"
        )
        return Completion(text=text, prompt_tokens=0, completion_tokens=0)


class NoSandbox:
    """Runs no process, which a virtual clock cannot wait for."""

    async def run(self, program, rows, yes=None):
        return [Given("no", 0) if row[0] % 3 == 1 else Given("yes", 1) for row in rows]


def measure_programs(config, dataset):
    """Calls and rounds of a whole run whose every text is new, and is a program at the first attempt."""
    script = scripted.Script("classification", write=scripted.rewrite_anew, delay=virtual_time.tick)
    script.imagine = lambda temperature, seed: scripted.rewrite_anew("", (), (), temperature, seed)
    writer = Writer()
    options, counters = LearnerOptions(seed=0, max_tokens=100), Counters()
    prompts = LearnerPrompts(dataset=dataset, template=shipped("learner"))
    reader = LlmLearner(writer, prompts, options, counters=counters)
    translating = ProgramPrompts(dataset=dataset, columns=Columns(dataset))
    is_mixed = config.reading == "auto"
    learner = ProgramLearner(reader, writer, translating, options, NoSandbox(), counters=counters, falls_back=is_mixed)
    problem = replace(
        scripted.make_problem(config, script, dataset=dataset),
        learner=learner,
        reader=reader,
        seed_text=seed_sentence(dataset),
        start_texts=tuple(f"Rule {k}" for k in range(config.size)) if config.is_weighing else (),
    )
    _, ticks = virtual_time.run_timed(scripted.whole(problem, config))
    return {"learner": writer.asked, "optimizer": len(script.proposed) + len(script.drawn), "rounds": ticks}


PROGRAMS = {
    "smc": {},
    "smc unfiltered": {"tempering": "paper", "mutate": "every"},
    "smc from the prior": {"restart": 1.0},
    "mh": {},
    "always-accept": {},
    "vml": {},
    "vml5": {},
    "weigh": {},
}


@pytest.mark.parametrize("reading", ["program", "auto"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_plan_bounds_a_run_of_programs(name, reading):
    """Every text is right on every row: all weigh the same, so as many are certified as can be."""
    options = {"particles": 6, "epochs": 2, "batch_size": 10, **PROGRAMS[name]}
    data = small(["yes", "no", "yes"] * 10, ["yes"] * 7)
    if name == "weigh":
        options |= {"batch_size": 30, "epochs": 1}
    config = Config(method=name.split()[0], reading=reading, **options)
    measured, whole = measure_programs(config, data), plan(config, n_train=30, n_test=7, given=6 * config.is_weighing)
    assert measured["optimizer"] == whole.optimizer_calls
    assert whole.least_learner_calls <= measured["learner"] <= whole.learner_calls
    assert measured["rounds"] <= whole.rounds
    if name.startswith("smc"):
        assert measured == {"learner": whole.learner_calls, "optimizer": 6 * 7, "rounds": whole.rounds}
