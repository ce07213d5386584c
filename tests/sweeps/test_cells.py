"""What a cell's run is made of."""

from dataclasses import asdict

import pytest

from vpp.bench.cells import Cell, Sizes, calls_at_most, config_of, dataset_of, product
from vpp.bench.variants import PAPER, SWEPT_TASKS, VARIANTS
from vpp.data.tasks import TASKS
from vpp.settings import preset

SIZES = Sizes()


def cell(task: str, method: str, seed: int = 0) -> Cell:
    return Cell(task=task, method=method, seed=seed)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_the_papers_preset_but_for_its_options(name: str) -> None:
    variant = VARIANTS[name]
    task = variant.tasks[0]
    changed = {
        option
        for option, value in asdict(config_of(cell(task, name, seed=7), SIZES)).items()
        if value != asdict(preset("paper"))[option]
    }
    assert changed - {"seed"} <= set(variant.options)
    assert variant.about.endswith(".")


@pytest.mark.parametrize("name", [name for name in VARIANTS if VARIANTS[name].base])
def test_a_variant_beyond_the_paper_differs_from_its_base(name: str) -> None:
    ours, base = (config_of(cell("linear", each), SIZES) for each in (name, VARIANTS[name].base))
    assert ours != base
    assert ours.method == base.method


@pytest.mark.parametrize("task", TASKS)
def test_a_cell_has_the_papers_rows_and_the_tasks_prior(task: str) -> None:
    data = dataset_of(cell(task, "smc"), SIZES)
    assert (len(data.train), len(data.test)) == (100, 60)
    assert data.task == TASKS[task].task
    assert config_of(cell(task, "smc"), SIZES).prior == (TASKS[task].prior or "")


def test_seeds_have_data_of_their_own() -> None:
    first, again, second = (dataset_of(cell("linear", "vml", seed), SIZES) for seed in (0, 0, 1))
    assert first == again
    assert {row.inputs for row in first.train} != {row.inputs for row in second.train}


def test_every_method_of_the_paper_is_run_on_every_task_but_the_sweep_of_particles() -> None:
    found = list(product(tuple(TASKS), PAPER, 3))
    assert len(found) == len(set(found)) == 3 * (7 * 5 + 3 * len(SWEPT_TASKS))
    assert {each.task for each in found if each.method == "mh-k3"} == set(SWEPT_TASKS)


def test_a_plan_bounds_the_calls_of_a_cell() -> None:
    # 20 steps of 10 rows, 20 proposals, then 60 test and 100 training rows.
    assert calls_at_most(cell("linear", "vml"), SIZES) == 380
