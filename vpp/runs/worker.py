"""The worker: runs a sampler from a run's directory, through outages, pauses, caps and stops, to the run's end."""

import asyncio
import logging
import math
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

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
    StepFinished,
    Usage,
)
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.llm.limits import Counters
from vpp.runs.budget import cap_reached_words
from vpp.runs.directory import Command, Heartbeat, RunDirectory, load_dataset
from vpp.runs.disk import obstacle, refusal, sync_folder
from vpp.runs.journal import Journal, JournalReader, Record, settled_answers
from vpp.runs.keys import Keys
from vpp.runs.process import Slots
from vpp.runs.prompts import start_of
from vpp.runs.reader import write_summary
from vpp.runs.session import Access, Session, open_session, versions
from vpp.runs.view import RunView, last_finished, population_of, settling_of
from vpp.runtime import cancel, rare_collecting

POLL_S = 0.1
COMPLETING = (RunPaused, RunFinished, RunFailed)
"""Events after which the last command has been carried out."""
SYNCED = (RunStarted, RunPaused, RunFinished, RunFailed, StepFinished)
"""Events that reach the disk immediately."""
WAITING = (ParticleDrawn, Scored, Reweighted, Resampled, Proposed)
"""Events within a step, written with the next other event, or after a moment so that watchers see them."""
SUMMARISED = (*SYNCED, RunResumed)
Listener = Callable[[RunView, Record], None]
log = logging.getLogger("vpp.worker")


class Stopped(Exception):
    pass


class Control:
    """The commands a worker has received, and what its heartbeats say."""

    def __init__(self, directory: RunDirectory, counters: Counters) -> None:
        self.stop = asyncio.Event()
        self.pause = asyncio.Event()
        self.retry = asyncio.Event()
        """Set when the user asks to try the endpoint again now."""
        self.queued = True
        self.waits = False
        """True while other runs hold all slots."""
        self.loading_s: float | None = None
        """Seconds for which a model file has been loading; None if it is not."""
        self._obeying: Command | None = None
        self._directory = directory
        self._counters = counters

    def listen_to_signals(self) -> None:
        """Let a signal stop the run; a closed terminal too, unless the worker was started to ignore that."""
        loop = asyncio.get_running_loop()
        minds_hangup = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        for name in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if minds_hangup else [])):
            loop.add_signal_handler(name, self._obey, "stop")

    async def watch(self) -> None:
        while True:
            if command := self._directory.take_command():
                self._obey(command)
                self.beat()
            await asyncio.sleep(POLL_S)

    def _obey(self, command: Command) -> None:
        self._obeying = None if command == "go on" else command
        match command:
            case "pause":
                self.pause.set()
            case "go on":
                self.pause.clear()
                self.retry.set()
            case "stop":
                self.stop.set()

    def note(self, event: Event) -> None:
        if isinstance(event, COMPLETING):
            self._obeying = None

    async def unless_stopped(self, work: Coroutine[Any, Any, object], *beside: Coroutine[Any, Any, object]) -> None:
        """Await `work`; a stop, or a failure of what runs beside it, cancels it. Raises Stopped, or the failure."""
        stop = asyncio.create_task(self.stop.wait())
        others = [asyncio.create_task(each) for each in beside]
        task = asyncio.create_task(work)
        try:
            done, _ = await asyncio.wait({task, stop, *others}, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
            if task not in done:
                raise Stopped
        finally:
            await cancel([task, stop, *others])

    def beat(self) -> None:
        """Write a heartbeat, if the disk takes it: the run works without."""
        now, (in_flight, age_s) = time.time(), self._counters.flight()
        beat = Heartbeat(
            at=now,
            usage=self._counters.snapshot(),
            queued=self.queued,
            waits=self.waits,
            obeying=self._obeying,
            loading_s=self.loading_s,
            in_flight=in_flight,
            oldest_at=now - age_s,
        )
        with suppress(DiskRefused):
            self._directory.beat(beat)


class Recorder:
    """A run's journal and the view of it, while `opened`."""

    def __init__(self, directory: RunDirectory, view: RunView, counters: Counters, listener: Listener) -> None:
        """listener: called with each event, those within a step before they are on disk, all others after."""
        self.view = view
        self._directory = directory
        self._counters = counters
        self._listener = listener
        self._rows = cache(lambda: load_dataset(directory, directory.spec()))

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.journal = Journal(self._directory.journal)
        try:
            sync_folder(self._directory.path)
            yield
        finally:
            try:
                self.journal.close()
            except OSError as error:  # the refused write was reported before
                log.warning("events.jsonl may not have reached the disk: %s", error)

    def record(self, event: Event) -> None:
        """Record an event. Raises OSError as `Journal.flush` does."""
        record = self.journal.add(event, usage=self._counters.snapshot())
        if not isinstance(event, WAITING):
            self.journal.flush(sync=isinstance(event, SYNCED))
        self._apply(record)

    def end(self, end: Event) -> None:
        """Record how the run ended; if the disk refuses that, try once more with the refusal alone."""
        for _ in range(2):
            try:
                self.record(end)
            except OSError as error:
                self.journal.forget()
                end = failure = self.failure(error)
            else:
                return
        log.error("the end of the run cannot be recorded: %s", failure.detail)
        self._apply(Record(at=time.time(), usage=self._counters.snapshot(), event=end))

    def failure(self, error: OSError) -> RunFailed:
        return RunFailed(reason="disk", detail=refusal(error, self._directory.path))

    def _apply(self, record: Record) -> None:
        self.view.apply(record)
        if isinstance(record.event, SUMMARISED):
            write_summary(self._directory, self.view, self._rows, journal=self._directory.journal_bytes())
        self._listener(self.view, record)


FLUSH_S = 0.2
BEAT_S = 1.0
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    keys: Keys
    cache_dir: Path
    slots_dir: Path
    max_running: int
    listener: Listener | None = None
    """Called with every event: those within a step as they happen, all others after they are on disk."""
    on_queued: Callable[[], None] | None = None
    on_loading: Callable[[float], None] | None = None
    """Called with the seconds so far while a model file is loaded."""
    on_beat: Callable[[RunView, Usage], None] | None = None
    """Called each second with the calls so far, unless the run waits for a slot."""


def work(directory: RunDirectory, surroundings: Surroundings) -> RunView:
    """Run the run to its end, or to a user's stop, and return its view.

    A finished run is not run again. Raises RunLocked if another worker holds it, JournalDamaged, and DiskRefused if
    nothing can be written from the start; a later refusal ends the run as failed.
    """
    try:
        with directory.lock():
            view = JournalReader(directory.journal).read()
            if view.phase == "finished":
                return view
            if in_the_way := obstacle(directory.path):
                raise DiskRefused(in_the_way)
            return asyncio.run(_Worker(directory, surroundings, view).run())
    except OSError as error:
        raise DiskRefused(refusal(error, directory.path)) from error


class _AtCap(Exception):
    pass


class _Worker:
    """A run from its start to its end, in as many attempts as the endpoint makes necessary."""

    def __init__(self, directory: RunDirectory, surroundings: Surroundings, view: RunView) -> None:
        self.directory = directory
        self.around = surroundings
        self.spec = directory.spec()
        self.slots = Slots(surroundings.slots_dir, count=surroundings.max_running)
        self.counters = Counters()
        self.control = Control(directory, self.counters)
        self.recorder = Recorder(directory, view, self.counters, self._listen)
        self._going = asyncio.Event()

    async def run(self) -> RunView:
        beat = self.directory.last_beat()  # it may know of more calls than the journal
        for usage in (self.recorder.view.usage, beat.usage if beat else Usage()):
            self.counters.keep_spent(sent=usage.sent, cost=usage.cost)
        self.counters.restore(last_finished(self.recorder.view).usage)
        self.control.beat()
        with self.recorder.opened():
            self.control.listen_to_signals()
            watchers = [asyncio.create_task(self.control.watch()), asyncio.create_task(self._keep_alive())]
            try:
                end = await self._until_it_ends()
            finally:
                await cancel(watchers)
            if end is not None:
                self.recorder.end(end)
        self.slots.give_back()
        self.control.queued = False
        self.control.beat()
        return self.recorder.view

    def _listen(self, view: RunView, record: Record) -> None:
        self.control.note(record.event)
        if self.around.listener:
            self.around.listener(view, record)

    async def _until_it_ends(self) -> Event | None:
        """Run to the end; return the event that is still to be recorded, if any."""
        try:
            await self.control.unless_stopped(self._take_slot())
            await self._try_until_it_ends()
        except Stopped:
            return RunFinished(outcome="stopped")
        except _AtCap:
            return RunPaused(reason="budget", detail=cap_reached_words(self.spec, self.recorder.view, self.counters))
        except EndpointError as error:
            return RunFailed(reason="endpoint", detail=str(error))
        except DiskRefused as error:
            return RunFailed(reason="disk", detail=str(error))
        except VppError as error:
            return RunFailed(reason="input", detail=str(error))
        except OSError as error:
            return self.recorder.failure(error)
        except Exception as error:
            log.exception("the run failed")
            return RunFailed(reason="error", detail=f"{type(error).__name__}: {error}: see worker.log")
        return None

    async def _try_until_it_ends(self) -> None:
        """Try again after each outage, until the endpoint has been gone for too long.

        Waits double up to a limit. Patience begins anew after a complete step, and when the user asks to try again.
        """
        patience_s = self.spec.endpoint.max_wait_s
        pause_s, gives_up_at = FIRST_RETRY_S, 0.0
        lost_at: float | None = -math.inf  # the last complete step at the last outage
        while True:
            try:
                return await self._attempt()
            except EndpointUnreachable as error:
                now, step = time.time(), self.recorder.view.last_step
                if lost_at != step or self.control.retry.is_set():
                    pause_s, gives_up_at, lost_at = FIRST_RETRY_S, now + patience_s, step
                if now >= gives_up_at:
                    raise EndpointUnreachable(given_up(error, patience_s)) from error
                wait_s = min(pause_s, gives_up_at - now)
                pause_s = min(2 * pause_s, LONGEST_RETRY_S)
                pause = RunPaused(reason="endpoint", detail=str(error), retry_at=now + wait_s, gives_up_at=gives_up_at)
                self.recorder.record(pause)
                self.slots.give_back()
                self.control.retry.clear()
                with suppress(TimeoutError):
                    await self.control.unless_stopped(asyncio.wait_for(self.control.retry.wait(), wait_s))
                await self.control.unless_stopped(self._take_slot())

    async def _take_slot(self) -> None:
        """Wait, as `queued`, for one of the runs folder's slots."""
        if not self.slots.take_now():
            self.control.queued = self.control.waits = True
            if self.around.on_queued:
                self.around.on_queued()
            await self.slots.take()
            self.control.waits = False

    async def _keep_alive(self) -> None:
        """Write waiting events and heartbeats. A refusing disk ends the run at its next event."""
        beats = 0
        while True:
            with suppress(OSError):
                self.recorder.journal.flush()
            if beats % round(BEAT_S / FLUSH_S) == 0:
                self.control.beat()
                if self.around.on_beat and not self.control.queued:
                    self.around.on_beat(self.recorder.view, self.counters.snapshot())
            beats += 1
            await asyncio.sleep(FLUSH_S)

    async def _attempt(self) -> None:
        """Open the session and run from the last complete step to the end.

        Raises Stopped, _AtCap, EndpointError, and OSError of the disk.
        """
        view, journal = self.recorder.view, self.recorder.journal
        self.counters.restore(last_finished(view).usage)
        was_started = view.started is not None
        if not was_started:  # before a model is reached for, which may take long
            used = versions(gguf=bool(self.spec.endpoint.gguf))
            self.recorder.record(start_of(self.spec, load_dataset(self.directory, self.spec), versions=used))
        journal.flush()
        access = Access(
            keys=self.around.keys,
            cache_dir=self.around.cache_dir,
            counters=self.counters,
            on_answer=journal.add_answer,
            on_program=journal.add_entry,
            answers=settled_answers(self.directory.journal),
            cap=self.spec.cap,
            on_loading=self._loading,
        )
        async with open_session(self.directory, access) as session:
            self.control.loading_s = None
            if was_started:
                self.recorder.record(RunResumed(step=view.last_step))
            self.control.queued = False
            with rare_collecting():
                await self._sample(session)

    def _loading(self, seconds: float) -> None:
        """Report that the model is loading. Raises Stopped once the user stops the run."""
        self.control.loading_s = seconds
        if self.around.on_loading:
            self.around.on_loading(seconds)
        if self.control.stop.is_set():
            raise Stopped

    async def _sample(self, session: Session) -> None:
        """Run the steps and the evaluation; a stop ends the steps early and keeps the last complete one."""
        view, problem = self.recorder.view, session.problem
        settling = settling_of(view, problem.dataset)
        events = sample(problem, self.spec.config, resume_from=population_of(view), settling=settling)
        try:
            await self._consume(session, events)
        except Stopped:
            await self._conclude_early(session)
            raise
        await self._conclude(session)
        self.recorder.record(RunFinished(outcome="finished"))

    async def _conclude_early(self, session: Session) -> None:
        """Return to the last complete step and evaluate it; skipped at a second stop, a lost endpoint or the cap."""
        self.control.stop.clear()
        self.control.pause.clear()
        self.recorder.record(RunResumed(step=self.recorder.view.last_step))
        if session.budget.exhausted.is_set():
            return
        with suppress(Stopped, _AtCap, EndpointError):
            await self.control.unless_stopped(self._take_slot())
            self.control.queued = False
            await self._conclude(session)

    async def _conclude(self, session: Session) -> None:
        population = population_of(self.recorder.view)
        if population is not None:
            await self._consume(session, conclude(session.problem, self.spec.config, population))

    async def _consume(self, session: Session, events: AsyncIterator[Event]) -> None:
        """Record events until there are no more. Raises Stopped, with every call cancelled, once the user stops."""

        async def record() -> None:
            async with aclosing(cast(AsyncGenerator[Event, None], events)) as stream:
                async for event in stream:
                    await self._going.wait()
                    self.recorder.record(event)

        async def end_at_cap() -> None:
            await session.budget.exhausted.wait()
            raise _AtCap

        self._going.set()
        try:
            await self.control.unless_stopped(record(), self._hold_while_paused(session), end_at_cap())
        finally:
            session.budget.go_on()

    async def _hold_while_paused(self, session: Session) -> None:
        """Hold the run during each pause: send no call, record no event, and free the slot for another run."""
        while True:
            await self.control.pause.wait()
            session.budget.pause()
            self._going.clear()
            self.recorder.record(RunPaused(reason="user"))
            self.slots.give_back()
            while self.control.pause.is_set():
                await asyncio.sleep(POLL_S)
            await self._take_slot()
            self.recorder.record(RunResumed(step=self.recorder.view.total_steps))
            self.control.queued = False
            self._going.set()
            session.budget.go_on()


def given_up(error: EndpointUnreachable, max_wait_s: float) -> str:
    """Return the endpoint's last error, and how long the run waited; the error alone if it was not to wait."""
    if not max_wait_s:
        return str(error)
    waited = f"the run waited for {max_wait_s:g} s (--limit wait=N) and gave up"
    return f"{error}; {waited}: resume it once the endpoint answers"
