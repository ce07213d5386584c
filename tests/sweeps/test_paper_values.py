"""paper.json: the paper's tables agree with each other to the digits they print, or the file says where not."""

from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy.stats import chi2

from vpp.bench.tables import paper, papers_table, printed
from vpp.data.tasks import TASKS
from vpp.demo import VERSION

COLUMNS = ("vml", "vml5", "vml5-best", "mh", "smc")
CELLS = [(task, column) for task in TASKS for column in COLUMNS]
OFF = {("linear", "vml5-best"): "7.47", ("poly", "vml5-best"): "2.95", ("sine", "vml5-best"): "0.93"}
"""Deviations that the values by seed do not have, and what they have instead."""


def half_a_digit(value: str) -> float:
    """Half a unit in the last place; a plain 100 is printed as briefly as 100.0 is meant."""
    decimals = len(value.partition(".")[2])
    return 0.5 * 10.0 ** -(decimals or 1)


def seeds(task: str, column: str) -> list[str]:
    return [run[column] for run in papers_table("tab:per_seed")[task]]


@pytest.mark.parametrize(("task", "column"), CELLS)
def test_a_main_result_is_mean_and_sample_deviation_of_its_seeds(task: str, column: str) -> None:
    mean, _, deviation = printed("tab:main_results", task, column).partition(" ± ")
    shown = seeds(task, column)
    values = [float(value) for value in shown]
    rounding = max(map(half_a_digit, shown))
    assert fmean(values) == pytest.approx(float(mean), abs=half_a_digit(mean) + rounding + 1e-9), (task, column)
    if (task, column) in OFF:
        assert f"{stdev(values):.2f}" == OFF[task, column]
        assert OFF[task, column] in inconsistent("Main results, best of five")
        return
    # Each value may be off by `rounding`: their deviation by at most sqrt(n / (n - 1)) times that.
    tolerance = half_a_digit(deviation) + 1.5**0.5 * rounding + 1e-9
    assert stdev(values) == pytest.approx(float(deviation), abs=tolerance), (task, column)


def test_the_oracle_has_the_best_of_the_five_individual_runs() -> None:
    for task, info in TASKS.items():
        best = min if info.task == "regression" else max
        individual = [best(map(float, run)) for run in papers_table("tab:vml_x5_full")[task]]
        assert individual == [float(value) for value in seeds(task, "vml5-best")], task


def inconsistent(place: str) -> str:
    return next(entry["found"] for entry in paper()["inconsistent"] if entry["place"] == place)


def test_the_best_error_on_linear_is_too_low_for_unit_noise() -> None:
    best = min(float(value) for run in papers_table("tab:per_seed")["linear"] for value in run.values())
    assert f"{best}" in inconsistent("Linear")
    assert f"{chi2.cdf(60 * best, 60):.5f}" in inconsistent("Linear"), "60 squared errors of the true rule, summed"


def test_the_docs_are_of_the_demo_model_that_ships() -> None:
    page = (Path(__file__).parents[2] / "docs" / "bench-demo.md").read_text(encoding="utf-8")
    assert f"here version {VERSION}," in page
    assert paper()["prompts"] in page
