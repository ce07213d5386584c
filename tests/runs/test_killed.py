"""A worker killed at any moment loses nothing but the time since the last whole step."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes import Desk, Outcome, but_times_and_ids, model, posterior, wait_until
from vpp.events import StepFinished
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader

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


@pytest.fixture(scope="module")
def killed(
    tmp_path_factory: pytest.TempPathFactory, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> Iterator[Desk]:
    """A run killed in each of the phases; a torn line ends its journal; then resumed. Two at a time."""
    desk = Desk(tmp_path_factory.mktemp("killed"))
    moments = draw_moments(shared_desk.directory("smc"))

    def disturb(name: str) -> None:
        with model() as served:
            served.hold_after = moments[name]
            worker = desk.run(name, *served.options)
            wait_until(lambda: served.is_holding, f"call {moments[name]} is answered, the next is not")
            worker.kill()
            desk.states[name] = desk.state(name)
            with desk.directory(name).journal.open("ab") as file:
                file.write(b'{"v":1,"at":17')
            served.hold_after = None
            desk.outcomes[name] = desk.resume(name).finish()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(disturb, MOMENTS))
    yield desk
    desk.close()


@pytest.mark.parametrize("name", MOMENTS)
def test_a_killed_run_is_interrupted(killed: Desk, name: str) -> None:
    assert killed.states[name] == "interrupted", f"drawn with {SEED}"


@pytest.mark.parametrize("name", MOMENTS)
def test_a_resumed_run_ends_like_an_undisturbed_one(
    killed: Desk, shared_desk: Desk, undisturbed: dict[str, Outcome], name: str
) -> None:
    outcome = killed.outcomes[name]
    assert outcome.code == 0
    assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed["smc"].result), f"drawn with {SEED}"
    assert posterior(killed.directory(name)) == posterior(shared_desk.directory("smc")), f"drawn with {SEED}"


def test_a_run_of_programs_killed_at_any_call_ends_like_an_undisturbed_one(
    desk: Desk, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    calls = undisturbed["programs"].result["spent"]["requests"]
    with model() as served:
        served.hold_after = random.Random(SEED).randrange(1, calls)
        worker = desk.run("run", *served.options, "--reading", "auto")
        wait_until(lambda: served.is_holding, f"call {served.hold_after} is answered, the next is not")
        worker.kill()
        served.hold_after = None
        outcome = desk.resume("run").finish()
    assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed["programs"].result), f"drawn with {SEED}"
    assert posterior(desk.directory("run")) == posterior(shared_desk.directory("programs")), f"drawn with {SEED}"


def test_resuming_a_finished_run_prints_its_result_again_and_changes_nothing(
    shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    before = contents(shared_desk.folder / "vml")
    again = shared_desk.resume("vml").finish()
    assert (again.code, again.result) == (0, undisturbed["vml"].result)
    assert contents(shared_desk.folder / "vml") == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
