import asyncio

from pages.parts.opening import SHIPPED
from tests.example import prepare_shipped
from tests.performance.in_process import run
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader


def test_a_run_in_one_process_equals_the_shipped_run_of_a_worker_with_a_server():
    prepared = prepare_shipped()
    shipped = RunReader(RunDirectory(SHIPPED)).refresh()
    view, usage = shipped.view, shipped.usage

    finished = asyncio.run(run(prepared.dataset, prepared.spec.config))

    assert finished.texts == tuple(view.texts[state.hypothesis] for state in view.population)
    assert finished.test == view.evaluated["test"]
    assert finished.train == view.evaluated["train"]
    assert (finished.usage.learner, finished.usage.optimizer) == (usage.learner, usage.optimizer)
