"""The worker: runs a sampler from a run's directory, keeps its events, and obeys the control file."""

import asyncio
import errno
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, aclosing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from vpp.cancellation import cancel
from vpp.errors import DiskRefused, EndpointError, EndpointUnreachable, VppError
from vpp.events import (
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Scored,
)
from vpp.inference import sample
from vpp.inference.evaluation import conclude
from vpp.inference.population import Population
from vpp.llm.counters import Counters
from vpp.runs.answers import AnswerLog, read_answers
from vpp.runs.budget import cap_reached
from vpp.runs.damage import view_to_go_on_from
from vpp.runs.directory import Command, RunDirectory
from vpp.runs.disk import drop_ballast, is_of_the_disk, load_ballast, refusal, sync_folder
from vpp.runs.journal import Journal, Record, cut_torn_tail
from vpp.runs.moment import steady_clock
from vpp.runs.outage import Outage, given_up
from vpp.runs.restored_population import population_of
from vpp.runs.session import Keys, Session, open_session, started
from vpp.runs.slots import Slots
from vpp.runs.view import RunView
from vpp.usage import Usage

POLL_S = 0.1
FLUSH_S = 0.2
BEAT_S = 1.0
SYNCED = (RunStarted, RunPaused, RunFinished, RunFailed)
"""Events that reach the disk at once, as a finished step does."""
WAITING = (ParticleDrawn, Scored, Reweighted, Resampled, Proposed)
"""Events of a step under way, written together: with what follows them, or as a watcher waits no longer."""
OBEYED = (RunPaused, RunFinished, RunFailed)
"""Events after which the last word is done with."""

Listener = Callable[[RunView, Record], None]
log = logging.getLogger("vpp.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a worker is given besides the run itself."""

    keys: Keys
    cache_dir: Path
    slots_dir: Path
    max_running: int
    from_before_damage: bool = False
    """Whether what stands in the journal from its damage on is set aside; else a damaged one is refused."""
    waits_at_cap: bool = False
    """Whether a run whose cap is reached waits for a higher one; else its worker ends."""
    heard: str = ""
    """The mark of the word that stood when this worker was asked for: it was for an earlier one."""
    listener: Listener | None = None
    """Told of every event: of those within a step as they happen, of all others after they are on disk."""
    on_queued: Callable[[], None] | None = None
    """Told where the run has to wait for its turn."""
    on_loading: Callable[[float], None] | None = None
    """Called with the seconds so far while a model file is loaded."""
    on_beat: Callable[[RunView, Usage], None] | None = None
    """Told each second, of a run that has its turn, what it has asked so far."""


def work(directory: RunDirectory, surroundings: Surroundings) -> RunView:
    """Runs the run to its end, or to a user's stop, and returns its view.

    A run that has finished is not run again. Raises RunLocked where another worker holds it, JournalDamaged, and
    DiskRefused where the disk takes nothing from the start; what it refuses later ends the run as failed.
    """
    try:
        with directory.lock():
            return asyncio.run(_Worker(directory, surroundings).run())
    except OSError as error:
        raise DiskRefused(refusal(error, directory.path)) from error


class _Stopped(Exception):
    """A user's word to stop."""


class _AtCap(Exception):
    """The cap is reached, and nobody waits for a higher one."""


class _Worker:
    def __init__(self, directory: RunDirectory, surroundings: Surroundings) -> None:
        self._directory = directory
        self._around = surroundings
        self._spec = directory.spec()
        self._slots = Slots(surroundings.slots_dir, count=surroundings.max_running)
        self._counters = Counters()
        self._stop_asked = asyncio.Event()
        self._pause_asked = asyncio.Event()
        self._retry_asked = asyncio.Event()
        self._going = asyncio.Event()
        self._queued = True
        self._heard = self._done = surroundings.heard
        self._is_silent = False
        self._loading_s: float | None = None
        self._patience_s = self._spec.endpoint.max_wait_s

    async def run(self) -> RunView:
        cut_torn_tail(self._directory.journal)
        self._view = view_to_go_on_from(self._directory, from_before_damage=self._around.from_before_damage)
        if self._view.phase == "finished":
            return self._view
        self._know_spent()
        self._beat()
        with ExitStack() as files:
            self._open(files)
            self._directory.amend(status="running")
            self._listen_to_signals()
            watchers = [asyncio.create_task(self._watch_control()), asyncio.create_task(self._keep_alive())]
            try:
                end = await self._until_it_ends()
            finally:
                await cancel(watchers)
            if end is not None:
                self._end(end)
        self._slots.give_back()
        self._queued = False
        self._beat()
        with suppress(VppError):  # the journal tells it too
            self._directory.amend(status=self._directory.state(self._view))
        return self._view

    def _open(self, files: ExitStack) -> None:
        """The journal, the answers, and the ballast."""
        files.callback(drop_ballast, self._directory.path)
        load_ballast(self._directory.path)
        self._journal = Journal(self._directory.journal, now=steady_clock())
        files.callback(_closed, self._journal)
        self._answers = AnswerLog(self._directory.answers)
        files.callback(_closed, self._answers)
        sync_folder(self._directory.path)

    def _know_spent(self) -> None:
        """What an earlier worker sent is spent, whatever became of it; its last sign of life may know of more."""
        beat = self._directory.last_beat()
        for usage in (self._view.usage, beat.usage if beat else Usage()):
            self._counters.keep_spent(sent=usage.sent, cost=usage.cost)
        self._counters.restore(self._view.usage_kept)

    async def _until_it_ends(self) -> Event | None:
        """Tries until the run ends or the endpoint has been gone for too long; what is left to record of its end."""
        try:
            await self._unless_stopped(self._take_slot())
            await self._try_until_it_ends()
        except _Stopped:
            return RunFinished(outcome="stopped")
        except _AtCap:
            return self._paused_at_cap()
        except EndpointError as error:
            return RunFailed(reason="endpoint", detail=str(error))
        except DiskRefused as error:
            return RunFailed(reason="disk", detail=str(error))
        except VppError as error:
            return RunFailed(reason="input", detail=str(error))
        except OSError as error:
            return self._refused(error)
        except Exception as error:
            log.exception("the run failed")
            return RunFailed(reason="error", detail=f"{type(error).__name__}: {error}: see worker.log")
        return None

    def _refused(self, error: OSError) -> RunFailed:
        if not is_of_the_disk(error):
            log.error("the run failed", exc_info=error)
            return RunFailed(reason="error", detail=str(error))
        return RunFailed(reason="disk", detail=refusal(error, self._directory.path))

    def _end(self, end: Event) -> None:
        """Records how the run ended. Where the disk refuses it, the ballast makes room for saying so."""
        try:
            if not (isinstance(end, RunFailed) and end.reason == "disk"):
                return self._record(end)
        except OSError as error:
            end = self._refused(error)
        drop_ballast(self._directory.path)
        self._journal.forget()
        try:
            cut_torn_tail(self._directory.journal)
            self._look_for_journal()
            record = self._journal.append(end, usage=self._counters.snapshot(), answers=self._answers.lines)
            self._journal.sync()
            self._take_in(record)
        except OSError as error:
            log.error("the end of the run cannot be recorded: %s", error)
            usage, answers = self._counters.snapshot(), self._answers.lines
            self._take_in(Record(at=time.time(), usage=usage, answers=answers, event=end))

    async def _try_until_it_ends(self) -> None:
        outage: Outage | None = None
        while True:
            try:
                self._patience_s = self._patience_left_s(outage)
                return await self._attempt()
            except EndpointUnreachable as error:
                if outage is None or outage.step != self._view.last_step or self._retry_asked.is_set():
                    left_s = self._spec.endpoint.max_wait_s - error.waited_s
                    outage = Outage(self._view.last_step, max_wait_s=left_s)
                wait_s = outage.next_wait_s()
                if wait_s is None:
                    raise EndpointUnreachable(given_up(error, self._spec.endpoint.max_wait_s)) from error
                self._record(_paused_by(error, wait_s, outage.left_s))
                await self._wait_for_retry(wait_s)

    def _patience_left_s(self, outage: Outage | None) -> float:
        """Seconds for which a server may have callers wait without an answer."""
        if outage is None or self._retry_asked.is_set():
            return self._spec.endpoint.max_wait_s
        return max(0.0, outage.left_s)

    async def _wait_for_retry(self, seconds: float) -> None:
        """Leaves the endpoint alone; a user may ask to retry at once."""
        self._slots.give_back()
        self._retry_asked.clear()
        with suppress(TimeoutError):
            await self._unless_stopped(asyncio.wait_for(self._retry_asked.wait(), seconds))
        await self._unless_stopped(self._take_slot())

    async def _take_slot(self) -> None:
        """Waits, as `queued`, for one of the runs folder's slots."""
        if not self._slots.take_now():
            self._queued = True
            if self._around.on_queued:
                self._around.on_queued()
            await self._slots.take()

    async def _attempt(self) -> None:
        """From the last whole step to the end."""
        self._counters.restore(self._view.usage_kept)
        self._answers.keep_only(self._view.answers_kept)
        async with open_session(
            self._directory,
            keys=self._around.keys,
            cache_dir=self._around.cache_dir,
            counters=self._counters,
            on_answer=self._answers.add,
            cap=self._spec.cap,
            max_wait_s=self._patience_s,
            on_loading=self._loading,
        ) as session:
            self._loading_s = None
            session.learner.preload((a.hypothesis, a.prediction) for a in read_answers(self._directory.answers))
            self._announce(session)
            await self._sample(session)

    def _loading(self, seconds: float) -> None:
        """Shows that the model is loading. Raises _Stopped at a user's word."""
        self._loading_s = seconds
        if self._around.on_loading:
            self._around.on_loading(seconds)
        if self._stop_asked.is_set():
            raise _Stopped

    def _announce(self, session: Session) -> None:
        if self._view.started is None:
            self._record(started(self._spec, session))
        else:
            self._record(RunResumed(step=self._view.last_step))
        self._queued = False

    async def _sample(self, session: Session) -> None:
        """The steps, then the end; a stop cuts the steps short and keeps the last whole one."""
        events = sample(session.problem, self._spec.config, resume_from=self._population(session))
        try:
            await self._consume(session, events)
        except _Stopped:
            await self._conclude_early(session)
            raise
        await self._conclude(session)
        self._record(RunFinished(outcome="finished"))

    async def _conclude_early(self, session: Session) -> None:
        """Back to the last whole step, for its test rows; a second stop, a lost endpoint, or a cap does without."""
        self._stop_asked.clear()
        self._pause_asked.clear()
        self._record(RunResumed(step=self._view.last_step))
        if session.budget.exhausted.is_set():
            return
        with suppress(_Stopped, _AtCap, EndpointError):
            await self._unless_stopped(self._take_slot())
            self._queued = False
            await self._conclude(session)

    async def _conclude(self, session: Session) -> None:
        population = self._population(session)
        if population is not None:
            await self._consume(session, conclude(session.problem, self._spec.config, population))

    def _population(self, session: Session) -> Population | None:
        return population_of(self._view, session.problem.dataset, answers=read_answers(self._directory.answers))

    async def _consume(self, session: Session, events: AsyncIterator[Event]) -> None:
        """Keeps events until there are no more. Raises _Stopped, with every call cancelled, at a user's word."""

        async def keep() -> None:
            async with aclosing(cast(AsyncGenerator[Event, None], events)) as stream:
                async for event in stream:
                    await self._going.wait()
                    self._record(event)

        self._going.set()
        try:
            await self._unless_stopped(keep(), self._hold_while_paused(session))
        finally:
            session.go_on()

    async def _pause_or_cap(self, exhausted: asyncio.Event) -> bool:
        """Waits for a user's pause, or for the cap, and says whether it is the cap.

        Raises _AtCap where nobody waits for a higher one.
        """
        while not exhausted.is_set():
            if self._pause_asked.is_set():
                return False
            signs = [asyncio.create_task(sign.wait()) for sign in (self._pause_asked, exhausted)]
            try:
                await asyncio.wait(signs, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await cancel(signs)
        if not self._around.waits_at_cap:
            raise _AtCap
        return True

    def _paused_at_cap(self) -> RunPaused:
        return RunPaused(reason="budget", detail=cap_reached(self._directory.spec(), self._view, self._counters))

    async def _hold_while_paused(self, session: Session) -> None:
        """While a pause lasts, no call is sent and no event kept, and another run may have the slot."""
        while True:
            is_at_cap = await self._pause_or_cap(session.budget.exhausted)
            self._pause_asked.set()
            session.pause()
            self._going.clear()
            self._record(self._paused_at_cap() if is_at_cap else RunPaused(reason="user"))
            self._slots.give_back()
            while self._pause_asked.is_set():
                await asyncio.sleep(POLL_S)
            session.budget.renew(self._directory.spec().cap)
            await self._take_slot()
            self._record(RunResumed(step=self._view.total_steps))
            self._queued = False
            self._going.set()
            session.go_on()

    async def _unless_stopped(self, work: Coroutine[Any, Any, object], *beside: Coroutine[Any, Any, object]) -> None:
        """Awaits `work`; a stop, or a failure of what runs beside it, cancels it. Raises _Stopped, or the failure."""
        stop = asyncio.create_task(self._stop_asked.wait())
        others = [asyncio.create_task(each) for each in beside]
        task = asyncio.create_task(work)
        try:
            done, _ = await asyncio.wait({task, stop, *others}, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
            if task not in done:
                raise _Stopped
        finally:
            await cancel([task, stop, *others])

    def _record(self, event: Event) -> None:
        """Raises OSError where the disk refuses it, or the run was removed under its worker."""
        record = self._journal.add(event, usage=self._counters.snapshot(), answers=self._answers.lines)
        if not isinstance(event, WAITING):
            self._flush()
        if isinstance(event, SYNCED):
            self._journal.sync()
        self._take_in(record)

    def _flush(self) -> None:
        """Answers, then the events that use them, are handed to the operating system. Raises OSError as `_record`."""
        if not (self._journal.is_waiting or self._answers.is_waiting):
            return
        self._look_for_journal()
        if self._journal.ends_a_step:
            self._answers.sync()
        else:
            self._answers.flush()
        self._journal.flush()

    def _look_for_journal(self) -> None:
        """Raises FileNotFoundError where the run was removed under its worker."""
        if not self._directory.journal.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._directory.journal))

    def _take_in(self, record: Record) -> None:
        self._view.apply(record)
        if isinstance(record.event, OBEYED):
            self._done = self._heard
        if self._around.listener:
            self._around.listener(self._view, record)

    def _listen_to_signals(self) -> None:
        """A closed terminal stops the run too, unless it was started not to mind."""
        loop = asyncio.get_running_loop()
        minds_hangup = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        for name in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if minds_hangup else [])):
            loop.add_signal_handler(name, self._obey, "stop")

    async def _watch_control(self) -> None:
        """Obeys each word once, and none that was said before this worker was asked for."""
        while True:
            said = self._directory.said()
            if said is not None and said.mark != self._heard:
                self._heard = said.mark
                self._obey(said.command)
            await asyncio.sleep(POLL_S)

    def _obey(self, command: Command) -> None:
        match command:
            case "pause":
                self._pause_asked.set()
            case "go on":
                self._pause_asked.clear()
                self._retry_asked.set()
                self._done = self._heard
            case "stop":
                self._stop_asked.set()

    async def _keep_alive(self) -> None:
        """A disk that refuses what waits refuses the next event too, and that ends the run."""
        beats = 0
        while True:
            with suppress(OSError):
                self._flush()
            if beats % round(BEAT_S / FLUSH_S) == 0:
                self._beat()
                if self._around.on_beat and not self._queued:
                    self._around.on_beat(self._view, self._counters.snapshot())
            beats += 1
            await asyncio.sleep(FLUSH_S)

    def _beat(self) -> None:
        """A heartbeat that cannot be written is told once: the run itself may do without."""
        try:
            usage = asdict(self._counters.snapshot())
            self._directory.beat(usage, queued=self._queued, done=self._done, loading_s=self._loading_s)
            self._is_silent = False
        except OSError as error:
            if not self._is_silent:
                log.warning("no sign of life can be left: %s", refusal(error, self._directory.path))
            self._is_silent = True


def _paused_by(error: EndpointUnreachable, wait_s: float, left_s: float) -> RunPaused:
    now = time.time()
    return RunPaused(reason="endpoint", detail=str(error), retry_at=now + wait_s, gives_up_at=now + left_s)


def _closed(file: Journal | AnswerLog) -> None:
    """What was refused before is refused again, and was told then."""
    try:
        file.close()
    except OSError as error:
        log.warning("a file of the run may not have reached the disk: %s", error)
