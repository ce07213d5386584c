"""The fold: what a resume voids, and what a person is told of a run's state."""

import time

import pytest

from tests.reporting.builders import YES_NO, drawn, evaluated, finished, folded, proposed, reweighted, scored, started
from vpp.events import Evaluated, Event, RunFailed, RunFinished, RunPaused, RunResumed, Usage
from vpp.runs.directory import STALLED_AFTER_S, Heartbeat, Record, RunDirectory
from vpp.runs.view import RunView, last_complete
from vpp.settings import Config

STARTED = started(Config(), YES_NO)
DRAWN, FIRST_END = drawn("A")


def step(number: int) -> tuple[Event, ...]:
    return scored(number, 0, "A", {1: "yes"}, role="buffer"), proposed(number, 0, "A", "B"), finished(number, ("A",))


def evaluation(number: int) -> Evaluated:
    return evaluated(YES_NO, {"A": ("yes", "no", "no")}, slots=("A",), step=number)


FINAL = reweighted(1, (1.0,), role="final")
FIRST = (STARTED, DRAWN, FIRST_END)
STEP_0, STEP_1 = step(0), step(1)
END = (scored(1, 0, "A", {1: "yes"}, role="final"), FINAL, evaluation(1))


def view(*events: Event, second: float = 1.0) -> RunView:
    """One event a second, a call an event."""
    return folded(Record(at=second * i, usage=Usage(learner=i), event=event) for i, event in enumerate(events))


def shown(found: RunView) -> tuple[object, ...]:
    """What a resume must bring back."""
    return found.draws, found.steps, found.final, found.final_scores, found.evaluations, found.population, found.phase


@pytest.mark.parametrize(
    ("kept", "void", "last"),
    [
        ((STARTED,), (DRAWN,), None),
        (FIRST, STEP_0[:2], -1),
        ((*FIRST, *STEP_0), STEP_1[:2], 0),
        ((*FIRST, *STEP_0, *STEP_1), END, 1),
        ((*FIRST, *STEP_0), (*STEP_1, *END), 0),
        ((*FIRST, *STEP_0), (evaluation(0), RunFinished(outcome="stopped")), 0),
        ((*FIRST, *STEP_0, *STEP_1), (*END, RunFailed(reason="endpoint", detail="gone")), 1),
    ],
)
def test_a_resume_voids_what_came_after_its_step(
    kept: tuple[Event, ...], void: tuple[Event, ...], last: int | None
) -> None:
    assert shown(view(*kept, *void, RunResumed(step=last))) == shown(view(*kept))


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((*FIRST, *STEP_0), None),
        ((*FIRST, *STEP_0, RunPaused(reason="user")), None),
        ((*FIRST, *STEP_0, *STEP_1, *END, RunFinished(outcome="finished")), "completed"),
        ((*FIRST, *STEP_0, *END, RunFinished(outcome="finished")), "settled"),
        ((*FIRST, *STEP_0, RunFinished(outcome="stopped")), "stopped"),
        ((*FIRST, *STEP_0, RunPaused(reason="budget")), "limit"),
        ((*FIRST, *STEP_0, RunFailed(reason="endpoint", detail="gone")), "endpoint"),
        ((*FIRST, *STEP_0, RunFailed(reason="disk", detail="full"), RunResumed(step=0)), None),
    ],
)
def test_a_run_says_why_it_makes_no_further_step(events: tuple[Event, ...], reason: str | None) -> None:
    assert view(*events).finish_reason == reason


def test_a_run_that_was_only_held_loses_nothing() -> None:
    held = view(*FIRST, *STEP_0, STEP_1[0], RunPaused(reason="user"), RunResumed(step=2))
    assert shown(held) == shown(view(*FIRST, *STEP_0, STEP_1[0]))
    late = view(*FIRST, *STEP_0, *STEP_1, *END, RunPaused(reason="user"), RunResumed(step=2))
    assert late.final == FINAL


def test_a_resumed_run_begins_with_the_counts_of_its_last_whole_step() -> None:
    assert last_complete(view(*FIRST, *STEP_0[:2])).usage == Usage(learner=2)


def test_pauses_interruptions_and_waiting_are_not_the_runs_time() -> None:
    assert view(*FIRST, RunPaused(reason="user"), RunResumed(step=2), STEP_0[0]).wall_s == 4
    assert view(RunFinished(outcome="stopped"), STARTED, DRAWN).wall_s == 1
    assert view(*FIRST, second=-1).wall_s == 0


def test_without_a_worker_a_begun_run_is_interrupted(directory: RunDirectory) -> None:
    assert directory.state(view(*FIRST)) == "interrupted"
    assert directory.state(view(*FIRST, RunPaused(reason="endpoint"))) == "interrupted"


def test_a_held_run_is_what_its_worker_says(directory: RunDirectory) -> None:
    with directory.lock():
        assert directory.state(RunView()) == "queued"
        directory.beat(Heartbeat())
        assert directory.state(view(*FIRST)) == "running"
        assert directory.state(view(*FIRST, RunPaused(reason="user"))) == "paused"
        directory.beat(Heartbeat(at=time.time() - STALLED_AFTER_S - 1))
        assert directory.state(view(*FIRST)) == "stalled"
        directory.beat(Heartbeat(queued=True))
        assert directory.state(view(*FIRST)) == "queued"
        assert directory.state(view(*FIRST, RunFailed(reason="endpoint", detail="gone"))) == "queued"
        assert directory.state(view(*FIRST, RunFinished(outcome="finished"))) == "finished"
        # A page that saw it as stopped here would stop looking
        directory.beat(Heartbeat(queued=True))
        assert directory.state(view(*FIRST, RunFinished(outcome="stopped"))) == "queued"
    assert not directory.is_held()
