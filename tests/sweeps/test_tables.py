"""A sweep's cells, their options and data; and its tables, against cells made by hand."""

import csv
import io
import json
from dataclasses import asdict, replace
from statistics import fmean, stdev
from typing import Any

import pytest
from scipy.stats import chi2

from tests.processes import ROOT
from vpp import __version__
from vpp.bench.sweep import (
    METHODS,
    SWEPT_TASKS,
    Cell,
    Outcome,
    Setting,
    SweepSpec,
    best_of_five,
    config_of,
    dataset_of,
    prepare,
    results_csv,
)
from vpp.bench.tables import claims, paper, papers, tables, tables_markdown
from vpp.bench.tasks import TASKS
from vpp.demo import VERSION
from vpp.llm.templates import AUTO, EXAMPLES, NUMBERS, PAPER, set_texts
from vpp.runs.spec import EndpointSpec
from vpp.settings import Reading, choices, preset
from vpp.show.blocks import Table

DEMO = EndpointSpec(demo=True, model="demo", cache=False)


def spec(**changed: Any) -> SweepSpec:
    """One task, every method of the paper, three seeds."""
    given: dict[str, Any] = {"tasks": ("linear",), "methods": ("vml", "vml5", "mh", "smc"), "seeds": 3, **changed}
    return SweepSpec(**{"endpoint": DEMO, **given})


def outcome(task: str, method: str, seed: int, test: float, **changed: Any) -> Outcome:
    """A cell that came to `test`, with what the tables are made of."""
    usual: dict[str, Any] = {
        "wall_s": 1.0,
        "K": 1,
        "n_unique": 1,
        "n_ideas": 1,
        "ess": [],
        "acceptance_rate": None,
        "uncertain": None if TASKS[task].task == "regression" else 0,
        "uncertain_of": 60,
        "individual_test": [test],
        "oracle_best_test": None,
        "best_on_train": None,
        "last_text": "",
    }
    return {"task": task, "method": method, "seed": seed, "test": test, **usual, **changed}


SETTING = Setting()


def cell_of(task: str, method: str, seed: int = 0) -> Cell:
    return Cell(task=task, method=method, seed=seed)


def test_a_method_is_the_papers_preset_with_its_own_options() -> None:
    paper = asdict(preset("paper"))
    for name, method in METHODS.items():
        config = asdict(config_of(cell_of(method.tasks[0], name, seed=7), SETTING))
        changed = {option for option, value in config.items() if value != paper[option]}
        assert changed - {"seed"} <= set(method.options), name


@pytest.mark.parametrize("reading", ["program", "auto"])
def test_cells_by_programs_keep_the_papers_schedule(reading: Reading) -> None:
    setting = Setting(reading=reading)
    for method in METHODS:
        config = config_of(cell_of("linear", method), setting)
        assert (config.has_programs, config.schedule) == (True, "paper")
        rows = config_of(cell_of("linear", method), SETTING)
        assert replace(config, reading="rows", tempering=rows.tempering) == rows


@pytest.mark.parametrize(("task", "templates"), [("linear", NUMBERS), ("sum-parity", EXAMPLES)])
def test_a_small_models_sweep_shows_it_the_tasks_worked_examples(task: str, templates: str) -> None:
    endpoint = EndpointSpec(base_url="http://127.0.0.1:9/v1", model="m")
    shown = prepare(cell_of(task, "smc"), Setting(templates=AUTO), endpoint).spec.templates["optimizer"]
    assert shown == set_texts(templates)["optimizer"] != set_texts(PAPER)["optimizer"]


def test_a_cell_has_the_papers_rows_its_seeds_own_and_the_tasks_prior() -> None:
    for task, info in TASKS.items():
        data = dataset_of(cell_of(task, "smc"), SETTING)
        assert (len(data.train), len(data.test)) == (100, 60), task
        assert data.task == info.task, task
        assert config_of(cell_of(task, "smc"), SETTING).prior == (info.prior or ""), task
    first, again, second = (dataset_of(cell_of("linear", "vml", seed), SETTING) for seed in (0, 0, 1))
    assert first == again
    assert {row.inputs for row in first.train} != {row.inputs for row in second.train}


def test_every_method_of_the_paper_is_run_on_every_task_but_the_sweep_of_particles() -> None:
    cells = spec(tasks=tuple(TASKS), methods=tuple(METHODS)).cells
    assert len(cells) == len(set(cells)) == 3 * (7 * 5 + 3 * len(SWEPT_TASKS))
    assert {each.task for each in cells if each.method == "mh-k3"} == set(SWEPT_TASKS)


def table_of(title: str, sweep: SweepSpec, outcomes: list[Outcome]) -> Table:
    return next(table for heading, table in tables(sweep, outcomes) if heading.title.startswith(title))


def cell(table: Table, row: int, head: str) -> str:
    return table.rows[row][table.head.index(head)]


LINEAR = [
    *(outcome("linear", "vml", seed, test) for seed, test in enumerate((16.80, 6.99, 2.24))),
    *(outcome("linear", "mh", seed, test, K=10) for seed, test in enumerate((1.0, 3.0))),
    outcome("linear", "smc", 0, 0.5, K=10, ess=[2.0, 10.0], n_unique=8),
    outcome("linear", "vml5", 0, 4.0, K=5, individual_test=[9.0, 2.0, 3.0, 5.0, 6.0], wall_s=5.0,
            oracle_best_test=2.0, best_on_train=3.0),
]  # fmt: skip


def test_main_results_give_mean_sample_deviation_and_number_of_seeds() -> None:
    table = table_of("Main results", spec(), LINEAR)
    assert dict(zip(table.head[2:], table.rows[0][2:], strict=True)) == {
        "VML": "8.68 ± 7.43 (3)",
        "VML×5 ensemble": "4.00 (1 seed)",
        "VML×5 oracle": "2.00 (1 seed)",
        "VML×5 best on train": "3.00 (1 seed)",
        "MH": "2.00 ± 1.41 (2)",
        "SMC": "0.50 (1 seed)",
    }
    assert cell(table, 1, "VML") == "8.68 ± 7.43"
    assert cell(table_of("Main results", spec(), [LINEAR[0]]), 0, "SMC") == "–"
    table = table_of("Main results", spec(tasks=("sum-parity",)), [outcome("sum-parity", "smc", 0, 0.8725)])
    assert [cell(table, row, "SMC") for row in (0, 1)] == ["87.2 (1 seed)", "100 ± 0.0"], "accuracies are in percent"


WINNERS = (
    *(("linear", 1.0, 2.0, "MH"), ("linear", 2.0, 1.0, "SMC"), ("linear", float("inf"), float("inf"), "Tie")),
    *(("sum-parity", 0.9, 1.0, "SMC"), ("sum-parity", 1.0, 0.9, "MH"), ("sum-parity", 1.0, 1.0, "Tie")),
)


@pytest.mark.parametrize(("task", "mh", "smc", "winner"), WINNERS)
def test_the_winner_has_the_lower_error_or_the_higher_accuracy(task: str, mh: float, smc: float, winner: str) -> None:
    both = [outcome(task, method, seed, test) for seed in (0, 1) for method, test in (("mh", mh), ("smc", smc))]
    assert cell(table_of("MH against", spec(tasks=(task,)), both), 0, "winner") == winner
    assert cell(table_of("MH against", spec(tasks=(task,)), both[:2]), 0, "winner") == "one seed"


def test_sample_sizes_have_mean_and_minimum_and_runs_of_five_are_listed_beside_the_papers() -> None:
    table = table_of("Effective", spec(), LINEAR)
    assert table.head == ("step", "linear", "paper")
    assert list(table.rows[:3]) == [("0", "2.00", "1.66"), ("1", "10.00", "6.72"), ("2", "–", "4.28")]
    assert list(table.rows[-2:]) == [("mean", "6.00", "4.18"), ("min", "2.00", "1.62")]
    table = table_of("Robustness", spec(), LINEAR)
    assert table.rows[0][2:] == ("9.00, 2.00, 3.00, 5.00, 6.00", "1.00", "0.50")
    assert table.rows[1][2:] == ("46.6, 38.2, 14.5, 27.5, 48.3", "0.47", "0.76")


def test_uncertain_points_are_given_a_seed_and_not_for_regression() -> None:
    sweep = spec(tasks=("linear", "sum-parity"))
    outcomes = [outcome("sum-parity", "mh", seed, 0.9, uncertain=n) for seed, n in enumerate((29, 30, 3))]
    table = table_of("Test points", sweep, [*LINEAR, *outcomes])
    assert len(table.rows) == 2
    assert cell(table, 0, "MH") == "29 of 60, 30 of 60, 3 of 60"
    assert cell(table, 1, "MH") == "29, 30, 3 of 60"


def test_wall_clock_ratios_are_to_vml_and_their_mean_is_over_tasks() -> None:
    seconds = {("linear", "vml"): 2.0, ("linear", "mh"): 6.0, ("poly", "vml"): 1.0, ("poly", "mh"): 5.0}
    outcomes = [outcome(*cell, 0, 1.0, wall_s=wall_s) for cell, wall_s in seconds.items()]
    table = table_of("Seconds", spec(tasks=("linear", "poly")), outcomes)
    shown = [row[table.head.index("MH")] for row in table.rows]
    assert shown == ["6.0 (3.0×)", "5002 (16.0×)", "5.0 (5.0×)", "4191 (12.0×)", "4.0×", "14.7×"]


def test_no_table_is_empty_and_the_papers_rows_follow_ours() -> None:
    for heading, table in tables(spec(), LINEAR):
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.head)}
        if table.head[1] == "source" and heading.title != "Final hypotheses":
            assert [row[1].split(",")[0] for row in table.rows] == ["yours", "paper"] * (len(table.rows) // 2)


def test_results_have_a_line_a_cell_and_lists_as_json() -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(LINEAR).decode())))
    assert len(rows) == len(LINEAR)
    assert list(rows[0]) == [name for name in LINEAR[0] if name != "last_text"]
    smc = next(row for row in rows if row["method"] == "smc")
    assert json.loads(smc["ess"]) == [2.0, 10.0]
    assert (smc["acceptance_rate"], smc["uncertain"]) == ("", "")


def test_final_hypotheses_are_listed_by_seed_beside_the_papers() -> None:
    outcomes = [
        outcome("sum-parity", "mh", 0, 0.9, K=10, n_unique=7, n_ideas=5, uncertain=29),
        outcome("sum-parity", "smc", 0, 1.0, K=10, n_unique=4, n_ideas=1, uncertain=0),
        outcome("sum-parity", "vml", 0, 0.65, last_text="Output 1 if a is even."),
    ]
    shown = table_of("Final hypotheses", spec(tasks=("sum-parity",), seeds=1), outcomes)
    ours, theirs = shown.rows
    assert ours[1:4] == ("yours, seed 0", "7 texts, 5 ideas", "29 of 60")
    assert ours[4:] == ("4 texts, 1 idea", "0 of 60", "65.0 %: “Output 1 if a is even.”")
    assert theirs[:4] == ("", "paper", "–", "29, 30, 3 of 60")
    assert theirs[4:] == ("4 to 9 texts", "0 of 60 on each seed", "96.7, 100.0, 65.0 %")


def test_the_oracle_looks_at_the_test_rows_and_the_choice_at_the_training_rows() -> None:
    values = {"test": [0.5, 0.9, 0.7], "train": [0.9, 0.1, 0.9]}
    assert best_of_five(values, "accuracy") == (0.9, 0.5)
    assert best_of_five(values, "mse") == (0.5, 0.9)


@pytest.mark.parametrize("reading", choices("reading"))
def test_the_tables_say_how_hypotheses_are_read(reading: Reading) -> None:
    text = tables_markdown(spec(setting=Setting(reading=reading)), LINEAR)
    assert f", reading {reading}, " in text
    assert f"vpp {__version__}; each run records its own." in text
    assert ("on all training rows in every step" in text) == (reading != "rows")


def test_the_best_error_on_linear_is_too_low_for_unit_noise() -> None:
    best = min(float(value) for run in papers("tab:per_seed", "linear") for value in run.values())
    found = next(entry["found"] for entry in paper()["inconsistent"] if entry["place"] == "Linear")
    assert f"{best}" in found
    assert f"{chi2.cdf(60 * best, 60):.5f}" in found, "60 squared errors of the true rule, summed"


def claim(words: str) -> dict[str, str]:
    return next(each for each in paper()["claims"] if words in each["claim"])


def test_every_claim_has_a_figure_or_says_that_there_is_none() -> None:
    _, table = claims()
    assert {len(row) for row in table.rows} == {len(table.head)}
    assert all(cell for row in table.rows for cell in row)
    verdicts = {verdict for row in table.rows for verdict in row[-2:]}
    assert verdicts <= {"holds", "in part", "gone with programs", "does not hold", "open", "–"}


def with_error(differences: list[float], digits: int = 0) -> str:
    return f"{abs(fmean(differences)):.{digits}f} ± {stdev(differences) / len(differences) ** 0.5:.{digits}f}"


def test_standard_errors_of_the_papers_figures_are_those_of_its_runs() -> None:
    runs = {task: papers("tab:per_seed", task) for task in TASKS}
    against = {
        ("Sum parity", "smc", "vml5"): ("sum-parity", 0),
        ("SMC beats MH", "smc", "mh"): ("poly", 1),
        ("Better than one", "smc", "vml"): ("poly", 0),
    }
    for (words, better, worse), (task, digits) in against.items():
        differences = [float(run[better]) - float(run[worse]) for run in runs[task]]
        assert with_error(differences, digits) in claim(words)["paper"]


def test_the_docs_are_of_the_demo_model_that_ships() -> None:
    page = (ROOT / "docs" / "bench-demo.md").read_text(encoding="utf-8")
    assert f"here version {VERSION}," in page
    assert paper()["prompts"] in page
