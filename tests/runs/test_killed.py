"""A worker killed at any moment loses nothing but the time since the last whole step."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import Desk, Model, Outcome, but_times_and_ids, model, posterior, wait_until

SEED = random.randrange(1000)
CALLS = 242
MOMENTS = {
    "before the first hypotheses": range(1, 10),
    "among the first hypotheses": range(10, 13),
    "in the first step": range(14, 45),
    "in a later step": range(60, 150),
    "in the final evaluation": range(205, CALLS - 4),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A run killed in each of the phases, at a call drawn at random; torn lines end its files; then resumed."""
    desk, rng = Desk(tmp_path_factory.mktemp("killed")), random.Random(SEED)
    with ExitStack() as stack:
        jobs = [(name, rng.choice(moment), stack.enter_context(model())) for name, moment in MOMENTS.items()]

        def disturb(job: tuple[str, int, Model]) -> None:
            name, moment, served = job
            served.hold_after = moment
            worker = desk.run(name, *served.options)
            wait_until(lambda: served.is_holding, f"call {moment} is answered, the next is not")
            worker.kill()
            served.hold_after = None
            desk.states[name] = desk.state(name)
            for path in (desk.directory(name).journal, desk.directory(name).answers):
                with path.open("ab") as file:
                    file.write(b'{"v":1,"at":17')
            desk.outcomes[name] = desk.resume(name).finish()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(disturb, jobs))
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


def test_resuming_a_finished_run_prints_its_result_again_and_changes_nothing(
    shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    before = contents(shared_desk.folder / "vml")
    again = shared_desk.resume("vml").finish()
    assert (again.code, again.result) == (0, undisturbed["vml"].result)
    assert contents(shared_desk.folder / "vml") == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
