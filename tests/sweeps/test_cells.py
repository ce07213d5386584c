"""Options and data of a cell's run."""

from dataclasses import asdict, replace

import pytest

from tests.sweeps.outcomes import spec
from vpp.bench.sweep import METHODS, SWEPT_TASKS, Cell, Setting, config_of, dataset_of
from vpp.data.tasks import TASKS
from vpp.settings import Reading, preset

SETTING = Setting()


def cell(task: str, method: str, seed: int = 0) -> Cell:
    return Cell(task=task, method=method, seed=seed)


def test_a_method_is_the_papers_preset_with_its_own_options() -> None:
    paper = asdict(preset("paper"))
    for name, method in METHODS.items():
        config = asdict(config_of(cell(method.tasks[0], name, seed=7), SETTING))
        changed = {option for option, value in config.items() if value != paper[option]}
        assert changed - {"seed"} <= set(method.options), name


@pytest.mark.parametrize("reading", ["program", "auto"])
def test_cells_by_programs_keep_the_papers_schedule(reading: Reading) -> None:
    setting = Setting(reading=reading)
    for method in METHODS:
        config = config_of(cell("linear", method), setting)
        assert (config.has_programs, config.schedule) == (True, "paper")
        rows = config_of(cell("linear", method), SETTING)
        assert replace(config, reading="rows", tempering=rows.tempering) == rows


def test_a_cell_has_the_papers_rows_and_the_tasks_prior() -> None:
    for task, info in TASKS.items():
        data = dataset_of(cell(task, "smc"), SETTING)
        assert (len(data.train), len(data.test)) == (100, 60), task
        assert data.task == info.task, task
        assert config_of(cell(task, "smc"), SETTING).prior == (info.prior or ""), task


def test_seeds_have_data_of_their_own() -> None:
    first, again, second = (dataset_of(cell("linear", "vml", seed), SETTING) for seed in (0, 0, 1))
    assert first == again
    assert {row.inputs for row in first.train} != {row.inputs for row in second.train}


def test_every_method_of_the_paper_is_run_on_every_task_but_the_sweep_of_particles() -> None:
    cells = spec(tasks=tuple(TASKS), methods=tuple(METHODS)).cells
    assert len(cells) == len(set(cells)) == 3 * (7 * 5 + 3 * len(SWEPT_TASKS))
    assert {each.task for each in cells if each.method == "mh-k3"} == set(SWEPT_TASKS)
