"""Whole runs of Qwen2.5-Coder-1.5B on tables with known rules: what they must reach, and that they read what they get.

`make test-models` makes six whole runs at a time, which a server that batches answers in less time than one by one.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.models.trials import Trial, run, simple
from tests.models.weights import QWEN_1_5B
from tests.servers import served
from tests.servers.served import MODELS, Served

TARGETS = {"admission_base": 0.97, "admission_depth_2": 0.93, "admission_distractor_3": 0.95}
"""Balanced accuracy on the test rows that smc must reach."""
NOISE_MARGIN = 0.05
"""How far below the best single rule smc may stay where a tenth of the labels is flipped."""
MOST_UNREAD = 0.01
"""Share of calls that may be unreadable."""
LEAST_RULES = 0.95
"""Share of the proposals of all runs that must be rules."""
RUNS = (
    *((table, "smc") for table in (*TARGETS, "admission_noise_10")),
    ("admission_base", "mh"),
    ("admission_base", "vml"),
)
OPTIONS = ("--concurrency", "12", "--limit", "call=900")
Runs = dict[tuple[str, str], Future[Trial]]
"""By table and method."""


@pytest.fixture(scope="module")
def qwen() -> Iterator[Served]:
    """Qwen2.5-Coder-1.5B-Instruct in vLLM, its GGUF unpacked: several times as fast as llama.cpp on two cores."""
    with served.vllm_at_its_best(MODELS / "qwen-1.5b", QWEN_1_5B.name, log=MODELS / "logs" / "qwen.log") as found:
        yield found


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trials")


@pytest.fixture(scope="module")
def runs(qwen: Served, trials: Path) -> Iterator[Runs]:
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(len(RUNS)) as pool:
        patch.setenv("VPP_MAX_RUNNING", str(len(RUNS)))
        yield {key: pool.submit(run, trials, *key, 0, (*qwen.options, *OPTIONS)) for key in RUNS}


@pytest.mark.parametrize("table", TARGETS)
def test_smc_finds_the_rule_of_a_clean_table(runs: Runs, table: str) -> None:
    found = runs[table, "smc"].result()
    assert found.accuracy("test") >= TARGETS[table], found.heaviest


def test_smc_stays_near_the_best_single_rule_under_noise(runs: Runs, trials: Path) -> None:
    found = runs["admission_noise_10", "smc"].result()
    assert found.accuracy("test") >= simple(trials, "admission_noise_10")["tree"] - NOISE_MARGIN, found.heaviest


@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_answers_are_read_and_no_proposal_is_an_echo(runs: Runs, method: str) -> None:
    found = runs["admission_base", method].result()
    calls = found.result["calls"]
    assert calls["failed"] == 0
    assert calls["unparsable"] <= MOST_UNREAD * found.calls
    assert found.accuracy("test") > 0.5


def test_proposals_are_rules(runs: Runs) -> None:
    found = [run.result() for run in runs.values()]
    assert sum(one.rules for one in found) >= LEAST_RULES * sum(one.proposals for one in found)
