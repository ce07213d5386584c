"""Whole runs of Qwen2.5-Coder-1.5B on tables with known rules: what they must reach, and that they read what they get.

`make test-models` runs these: six whole runs of three to fifteen minutes each on two cores.
"""

from functools import cache
from pathlib import Path

import pytest

from tests.models.trials import Trial, run, simple
from tests.servers.served import Served

TARGETS = {"admission_base": 0.97, "admission_depth_2": 0.93, "admission_distractor_3": 0.95}
"""Balanced accuracy on the test rows that smc must reach."""
NOISE_MARGIN = 0.05
"""How far below the best single rule smc may stay where a tenth of the labels is flipped."""
MOST_UNREAD = 0.01
"""Share of calls that may need asking again."""


@cache
def trial(folder: Path, server: tuple[str, ...], table: str, method: str) -> Trial:
    """One run, made once."""
    return run(folder, table, method, 0, (*server, "--concurrency", "6", "--timeout", "900"))


@pytest.mark.parametrize("table", TARGETS)
def test_smc_finds_the_rule_of_a_clean_table(qwen: Served, trials: Path, table: str) -> None:
    found = trial(trials, qwen.options, table, "smc")
    assert found.test >= TARGETS[table], found.heaviest


def test_smc_stays_near_the_best_single_rule_under_noise(qwen: Served, trials: Path) -> None:
    found = trial(trials, qwen.options, "admission_noise_10", "smc")
    assert found.test >= simple(trials, "admission_noise_10")["tree"] - NOISE_MARGIN, found.heaviest


@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_answers_are_read_and_no_proposal_is_an_echo(qwen: Served, trials: Path, method: str) -> None:
    found = trial(trials, qwen.options, "admission_base", method)
    calls = found.result["calls"]
    assert calls["failed"] == 0
    assert calls["unparsable"] <= MOST_UNREAD * found.calls
    assert found.test > 0.5
