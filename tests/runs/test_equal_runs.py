"""The same seed gives the same result, whatever the cache held and in whatever order answers came."""

import pytest

from tests.conftest import METHODS
from tests.processes import PENGUINS, SMALL, TARGET, Desk, Outcome, but_times_and_ids, demo_server, posterior
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader, Record


def test_a_run_ends_with_one_object_that_says_what_it_came_to(undisturbed: dict[str, Outcome]) -> None:
    result = undisturbed["smc"].result
    assert undisturbed["smc"].code == 0
    assert result["status"] == "finished"
    assert result["method"] == "smc"
    assert result["metric"]["name"] == "accuracy"
    assert 0 <= result["metric"]["test"] <= 1
    assert " ".join(result["calls"]) == "learner optimizer cached failed unparsable refused contradictory"
    assert result["calls"]["cached"] == 0
    assert result["rounds"] == 2 + 3 * 3 + 1
    assert len(result["ess_by_step"]) == 3
    assert len(result["weights"]) == 3
    assert sum(result["weights"]) == pytest.approx(1)
    assert result["uncertain"]["of"] == 10
    assert 0 <= result["acceptance_rate"] <= 1
    first, *_, last = JournalReader(RunDirectory(result["dir"]).journal).new_records()
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert result["wall_s"] == pytest.approx(last.at - first.at, abs=0.01)
    assert result["tokens"]["prompt"] > result["tokens"]["completion"] > 0


def test_answers_in_another_order_give_the_same_result(undisturbed: dict[str, Outcome], desk: Desk) -> None:
    """The server answers later calls before earlier ones."""
    with demo_server(latency_ms=8, jitter=1) as (url, _):
        for name in ("smc", "mh"):
            outcome = desk.run(name, *METHODS[name], "--base-url", url, "--model", "demo").finish()
            assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed[name].result), name


def test_the_cache_changes_only_what_was_cached(desk: Desk, undisturbed: dict[str, Outcome]) -> None:
    """With the demo model, whose port changes from run to run."""
    results = []
    for name in ("first", "second"):
        words = ("run", PENGUINS, *TARGET, *SMALL, "--demo", "--json", "--seed", "0", "--name", name)
        results.append(desk.vpp(*words).result)
    first, second = results
    assert first["calls"]["cached"] == 0
    assert second["calls"]["cached"] == second["calls"]["learner"] + second["calls"]["optimizer"]
    assert but_times_and_ids(first) == but_times_and_ids(second) == but_times_and_ids(undisturbed["smc"].result)
    assert posterior(RunDirectory(first["dir"])) == posterior(RunDirectory(second["dir"]))
