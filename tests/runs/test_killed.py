"""The same seed gives the same result: for a worker killed at any moment, whatever the cache held, in any order."""

import random

import pytest

from tests.conftest import METHODS
from tests.processes import (
    PENGUINS,
    SMALL,
    TARGET,
    Desk,
    Model,
    Outcome,
    but_times_and_ids,
    demo_server,
    posterior,
    wait_until,
)
from vpp.events import StepFinished
from vpp.runs.directory import JournalReader, RunDirectory

SEED = random.randrange(1000)
MOMENTS = ("before the first hypotheses", "in step 1", "in step 3", "in the final evaluation")


def draw_moments(undisturbed: RunDirectory) -> dict[str, int]:
    """A number of answered calls within each phase, drawn at random."""
    records = list(JournalReader(undisturbed.journal).new_records())
    first, *steps = (r.usage.calls for r in records if isinstance(r.event, StepFinished))
    assert len(steps) == 3
    spans = ((0, 10), (first, steps[0]), (steps[1], steps[2]), (steps[2], records[-1].usage.calls))
    rng = random.Random(SEED)
    return {name: rng.randrange(begin + 1, end) for name, (begin, end) in zip(MOMENTS, spans, strict=True)}


def killed_and_resumed(desk: Desk, served: Model, after: int, *words: str) -> Outcome:
    """Return the end of a run that was killed after so many calls, with a torn line in its journal."""
    served.hold_after = after
    worker = desk.run("run", *served.options, *words)
    wait_until(lambda: served.is_holding, f"call {after} is answered, the next is not")
    worker.kill()
    assert desk.state("run") == "interrupted"
    with desk.directory("run").journal.open("ab") as file:
        file.write(b'{"v":1,"at":17')
    served.hold_after = None
    return desk.resume("run").finish()


@pytest.mark.parametrize("moment", [*MOMENTS, "at any call of a run of programs"])
def test_a_killed_run_is_interrupted_and_once_resumed_ends_like_an_undisturbed_one(
    moment: str, desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    name = "smc" if moment in MOMENTS else "programs"
    calls = random.Random(SEED).randrange(1, undisturbed["programs"].result["spent"]["requests"])
    after = draw_moments(shared_desk.directory("smc")).get(moment, calls)
    outcome = killed_and_resumed(desk, served, after, *METHODS[name])
    assert outcome.code == 0
    assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed[name].result), f"drawn with {SEED}"
    assert posterior(desk.directory("run")) == posterior(shared_desk.directory(name)), f"drawn with {SEED}"


def test_resuming_a_finished_run_prints_its_result_again_and_changes_nothing(
    shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    before = {path: path.read_bytes() for path in (shared_desk.folder / "vml").iterdir()}
    again = shared_desk.resume("vml").finish()
    assert (again.code, again.result) == (0, undisturbed["vml"].result)
    assert {path: path.read_bytes() for path in (shared_desk.folder / "vml").iterdir()} == before


# Without a fault


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
