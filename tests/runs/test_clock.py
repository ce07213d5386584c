"""A clock that is set back or forward changes nothing: commands are obeyed, ages and times stay true."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tests.runs.conftest import surroundings
from tests.runs.test_view import FIRST, view
from vpp.errors import EndpointUnreachable
from vpp.events import Event, RunFinished, RunPaused, RunResumed, Usage
from vpp.runs import directory as directories
from vpp.runs import worker
from vpp.runs.directory import STALLED_AFTER_S, STARTING_S, Moment, RunDirectory
from vpp.runs.journal import Journal, JournalReader, Record
from vpp.runs.spec import EndpointSpec
from vpp.runs.view import RunView
from vpp.runs.worker import LONGEST_RETRY_S, Outage, work
from vpp.wording.status import retry_words

DAY_S = 86_400.0


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Move this process's clock by so many seconds."""
    true = time.time

    def move(by_s: float) -> None:
        monkeypatch.setattr(time, "time", lambda: true() + by_s)

    return move


Attempt = Callable[[worker._Attempt], Awaitable[None]]


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Attempt], None]:
    """Give a worker's attempts another content."""
    return lambda attempt: monkeypatch.setattr(worker._Attempt, "run", attempt)


def test_a_follower_of_a_run_sees_its_calls_between_its_events(
    directory: RunDirectory, attempts: Callable[[Attempt], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Usage] = []

    async def attempt(self: worker._Attempt) -> None:
        self.control.queued = False
        self.worker.counters.fault("HTTP 503")
        while not seen:
            await asyncio.sleep(0.01)
        self.recorder.record(RunFinished(outcome="finished"))

    attempts(attempt)
    monkeypatch.setattr(worker, "FLUSH_S", 0.01)
    monkeypatch.setattr(worker, "BEAT_S", 0.01)
    work(directory, surroundings(directory.path.parent, on_beat=lambda _, usage: seen.append(usage)))
    assert seen[0].faults == {"HTTP 503": 1}


@pytest.mark.parametrize("moved_s", [0.0, -DAY_S, DAY_S])
def test_a_command_sent_later_is_obeyed_whatever_the_clock_says(
    directory: RunDirectory,
    attempts: Callable[[Attempt], None],
    set_clock: Callable[[float], None],
    monkeypatch: pytest.MonkeyPatch,
    moved_s: float,
) -> None:
    """`Try again now` ends a wait of 50 minutes; the command before it was for an earlier worker."""
    directory.send_command("stop")
    pauses: list[tuple[RunView, bool, float]] = []

    async def attempt(self: worker._Attempt) -> None:
        if not pauses:
            raise EndpointUnreachable("a model at an address: no answer")
        self.recorder.record(RunResumed(step=None))
        self.recorder.record(RunFinished(outcome="finished"))

    def listen(view: RunView, record: Record) -> None:
        if isinstance(record.event, RunPaused):
            after = time.time()
            set_clock(moved_s)
            directory.send_command("go on")
            pauses.append((view.copy(), directory.pending_command() is not None, after))

    attempts(attempt)
    monkeypatch.setattr(worker, "FIRST_RETRY_S", 3000.0)

    before = time.time()
    ended = work(
        directory, surroundings(directory.path.parent, listener=listen, past_command=directory.command_token())
    )
    [(paused, waits, after)] = pauses
    assert ended.phase == "finished"
    assert waits
    assert directory.pending_command() is None
    assert paused.retry_at is not None
    assert paused.gives_up_at is not None
    assert before + 3000 <= paused.retry_at <= after + 3000
    assert before + 3599 <= paused.gives_up_at <= after + 3601  # counted by another clock
    assert ended.wall_s < DAY_S / 2
    assert abs((ended.last_at or 0) - before) < DAY_S / 2


@pytest.mark.parametrize("by_s", [-DAY_S, DAY_S])
def test_a_heartbeat_ages_by_the_machines_own_count(
    directory: RunDirectory, set_clock: Callable[[float], None], by_s: float
) -> None:
    if not directories.BOOT_ID.exists():
        pytest.skip("this system does not name its starts")
    with directory.lock():
        directory.beat({}, queued=False)
        set_clock(by_s)
        now = Moment.now()
        assert directory.state(view(*FIRST)) == "running"
        assert directory.state(view(*FIRST), now=replace(now, up=now.up + STALLED_AFTER_S + 1)) == "stalled"
    directory.request_worker()
    set_clock(0)
    now = Moment.now()
    assert directory.state(view(*FIRST), now=now) == "queued"
    assert directory.state(view(*FIRST), now=replace(now, up=now.up + STARTING_S)) == "interrupted"


def test_who_asks_for_a_worker_that_has_written_since_sees_what_it_wrote(directory: RunDirectory) -> None:
    directory.request_worker()
    assert directory.state(view(*FIRST)) == "queued"
    directory.journal.write_bytes(b"a line\n")
    assert directory.state(view(*FIRST)) == "interrupted"


def test_a_journal_keeps_even_time_though_the_clock_is_set(
    directory: RunDirectory, set_clock: Callable[[float], None]
) -> None:
    journal = Journal(directory.journal, now=directories.steady_clock())
    for by_s in (0.0, DAY_S, -DAY_S):
        set_clock(by_s)
        journal.append(RunPaused(reason="user"), usage=Usage(), answers=0)
    journal.close()
    times = [record.at for record in JournalReader(directory.journal).new_records() if isinstance(record, Record)]
    assert len(times) == 3
    assert 0 <= times[2] - times[0] < DAY_S / 2


def test_an_hour_without_an_endpoint_is_a_few_tries_that_grow_apart_and_end() -> None:
    """No hour passes here: the clock is the test's own."""
    now = [0.0]
    gone = Outage(None, max_wait_s=3600, now=lambda: now[0])
    waits = []
    while (wait_s := gone.next_wait_s()) is not None:
        waits.append(wait_s)
        now[0] += wait_s
    assert waits[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert max(waits) == LONGEST_RETRY_S
    assert sum(waits) == 3600
    assert len(waits) == 19


def test_progress_and_a_pressed_retry_begin_the_waits_anew(
    directory: RunDirectory, attempts: Callable[[Attempt], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first hypotheses come in the third try; `Try again now` is pressed in the fifth wait."""
    waits: list[float] = []

    async def attempt(self: worker._Attempt) -> None:
        for event in FIRST if len(waits) == 2 else ():
            self.recorder.record(event)
        if len(waits) < 6:
            raise EndpointUnreachable("a model at an address: no answer")
        self.recorder.record(RunFinished(outcome="finished"))

    async def wait(self: worker._Worker, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 5:
            self.control.obey("go on")

    attempts(attempt)
    monkeypatch.setattr(worker._Worker, "_wait_for_retry", wait)
    assert work(directory, surroundings(directory.path.parent)).phase == "finished"
    assert waits == [2, 4, 2, 4, 8, 2]


def paused(retry_at: float | None, gives_up_at: float | None = None) -> RunView:
    event: Event = RunPaused(reason="endpoint", detail="gone", retry_at=retry_at, gives_up_at=gives_up_at)
    return view(*FIRST, event)


def test_a_pause_tells_when_it_tries_again_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "localtime", time.gmtime)
    at = 1_800_000_000.0
    assert retry_words(paused(at + 12, at + 3600), now=at).replace("\xa0", " ") == (
        "Next try in 12 s (at 08:00:12); gives up at 09:00."
    )
    assert retry_words(paused(at, at + 60), now=at + 1) == "Next try any moment; gives up at 08:01."
    assert retry_words(paused(None), now=at) == ""
    assert retry_words(view(*FIRST), now=at) == ""


@pytest.mark.parametrize("waited_s", [25.2, 10.0])
def test_what_a_server_had_callers_wait_counts_towards_the_longest_wait(
    directory: RunDirectory, attempts: Callable[[Attempt], None], monkeypatch: pytest.MonkeyPatch, waited_s: float
) -> None:
    """A run may wait 25 s in all: the first attempt uses them up, or leaves the second less than 15 s."""
    directory.amend(endpoint=EndpointSpec(demo=True, max_wait_s=25))
    granted, ticks = list[float](), iter(range(0, 10_000, 4))

    async def attempt(self: worker._Attempt) -> None:
        granted.append(self.max_wait_s)
        raise EndpointUnreachable("a model at an address: HTTP 429", waited_s=0 if granted[1:] else waited_s)

    attempts(attempt)
    monkeypatch.setattr(worker, "FIRST_RETRY_S", 0.01)
    monkeypatch.setattr(
        worker, "Outage", lambda step, max_wait_s: Outage(step, max_wait_s=max_wait_s, now=lambda: float(next(ticks)))
    )
    ended = work(directory, surroundings(directory.path.parent))
    assert (ended.phase, ended.failure, granted[0]) == ("failed", "endpoint", 25)
    assert "the run waited for 25 s (--max-wait) and gave up" in ended.detail
    assert granted[1:] == [] if waited_s > 25 else 0 <= granted[1] < 15
