"""What a step writes: its events together, after the answers that they use, and never much later than they happened."""

import asyncio
from pathlib import Path

import pytest

from tests.runs.conftest import surroundings
from vpp.events import Event, RunFinished, RunStarted, Scored, StepFinished
from vpp.problem import Prediction
from vpp.runs import journal, worker
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import decode
from vpp.runs.worker import work

STARTED = RunStarted(config={}, dataset={}, seed_text="", steps=1, templates={}, versions={}, models={})
ENDED = StepFinished(step=-1, population=(), batch=(), tau=None)


def scored(slot: int) -> Event:
    return Scored(
        step=0, particle=slot, hypothesis="h", role="buffer", rows=(0,), predictions=("a",), log_likelihood=-1.0
    )


def kinds(directory: RunDirectory) -> list[str]:
    return [decode(line).event.type for line in directory.journal.read_bytes().splitlines()]


def do(directory: RunDirectory, attempt: object, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a run ends whose attempt is this one."""
    monkeypatch.setattr(worker._Attempt, "run", attempt)
    return work(directory, surroundings(directory.path.parent)).phase


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The file and the lines of each write."""
    written: list[tuple[str, int]] = []
    append = journal.append_whole

    def noted(file: journal.FileIO, content: bytes) -> None:
        written.append((Path(str(file.name)).name, content.count(b"\n")))
        append(file, content)

    monkeypatch.setattr(journal, "append_whole", noted)
    return written


def test_a_step_is_one_write_of_answers_and_one_of_events(
    directory: RunDirectory, written: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def attempt(self: worker._Attempt) -> None:
        self.recorder.record(STARTED)
        for slot in range(10):
            for row in range(40):
                self.recorder.answers.add("h", Prediction(row=row, value="a"), 1)
            self.recorder.record(scored(slot))
        self.recorder.record(ENDED)
        self.recorder.record(RunFinished(outcome="finished"))

    assert do(directory, attempt, monkeypatch) == "finished"
    assert written == [("events.jsonl", 1), ("answers.jsonl", 400), ("events.jsonl", 11), ("events.jsonl", 1)]
    assert kinds(directory) == ["run_started", *["scored"] * 10, "step_finished", "run_finished"]


def test_an_event_within_a_step_is_written_after_its_answers_though_nothing_follows_it(
    directory: RunDirectory, written: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def attempt(self: worker._Attempt) -> None:
        self.recorder.record(STARTED)
        self.recorder.answers.add("h", Prediction(row=0, value="a"), 1)
        self.recorder.record(scored(0))
        assert kinds(directory) == ["run_started"]
        async with asyncio.timeout(30):
            while kinds(directory) == ["run_started"]:
                await asyncio.sleep(0.01)
        self.recorder.record(RunFinished(outcome="finished"))

    assert do(directory, attempt, monkeypatch) == "finished"
    assert written == [("events.jsonl", 1), ("answers.jsonl", 1), ("events.jsonl", 1), ("events.jsonl", 1)]
    assert kinds(directory) == ["run_started", "scored", "run_finished"]


def test_what_a_disk_refused_within_a_step_is_not_written_before_the_end(
    directory: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is asked again by who resumes: the room that is left is for saying so."""

    async def attempt(self: worker._Attempt) -> None:
        self.recorder.record(STARTED)
        self.recorder.record(scored(0))
        raise OSError(28, "No space left on device")

    assert do(directory, attempt, monkeypatch) == "failed"
    assert kinds(directory) == ["run_started", "run_failed"]
