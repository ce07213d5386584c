"""New rows put to every particle: what is counted, what a stop or a failure keeps."""

import asyncio
from pathlib import Path

import pytest

from tests.inspected import LABELS, askable_labels, pair_run
from tests.llm.stub import refusal
from tests.processes import Model, wait_until
from tests.reporting.builders import drawn, run
from vpp.errors import RunError
from vpp.runs.asking import Asking, Background
from vpp.runs.spec import Keys

ROWS = LABELS.test


def test_a_sentence_that_particles_share_is_asked_once(tmp_path: Path, served: Model) -> None:
    asking = Asking(pair_run(tmp_path, served), ROWS)
    answers = asyncio.run(asking.go(keys=Keys(), cache_dir=tmp_path))
    # Two sentences and six rows; a is 4 to 9, and both say yes where a is even.
    assert asking.total == asking.done == served.answered == 12
    assert [[p.value for p in given] for given in answers.predictions] == [["yes", "no"] * 3] * 3
    assert (answers.step, answers.mixture.classes, answers.weights) == (0, ("no", "yes"), (1 / 3, 1 / 3, 1 / 3))


def test_a_run_without_particles_cannot_be_asked(tmp_path: Path) -> None:
    reader = run(tmp_path, *drawn("even", "odd")[:1])
    with pytest.raises(RunError, match="no particles yet"):
        Asking(reader, ROWS)


def begun(tmp_path: Path, served: Model) -> Background[Asking]:
    return Background(Asking(askable_labels(tmp_path, served), ROWS), keys=Keys(), cache_dir=tmp_path)


def test_asked_in_the_background_it_ends_by_itself(tmp_path: Path, served: Model) -> None:
    job = begun(tmp_path, served)
    assert job.wait(60)
    assert (job.outcome, job.failure, job.asking.done, job.seconds_left()) == ("finished", "", 24, 0)
    assert job.asking.complete_rows().rows == ROWS


def test_a_stop_drops_what_is_in_flight_and_keeps_the_rows_that_all_have_answered(
    tmp_path: Path, served: Model
) -> None:
    served.hold_after = 20
    job = begun(tmp_path, served)
    wait_until(lambda: job.asking.done == 20, "20 of 24 questions are answered")
    assert job.is_running
    job.stop()
    job.stop()
    assert job.wait(60), "the server still holds its answers"
    answers = job.asking.complete_rows()
    assert job.outcome == "stopped"
    # Four questions lack an answer, so at least one row and at most four are not whole.
    assert 2 <= len(answers.rows) <= 5
    assert all(len(said) == len(answers.rows) for said in answers.predictions)
    assert {p.row for said in answers.predictions for p in said} == {row.id for row in answers.rows}


def test_a_failure_is_told_and_keeps_what_was_answered(tmp_path: Path, served: Model) -> None:
    served.hold_after = 20
    job = begun(tmp_path, served)
    wait_until(lambda: job.asking.done == 20 and served.asked > 20, "20 of 24 questions are answered")
    served.refusal, served.hold_after = refusal(401, "no such key"), None
    assert job.wait(60)
    assert job.outcome == "failed"
    assert "no such key" in job.failure
    assert 2 <= len(job.asking.complete_rows().rows) <= 5
