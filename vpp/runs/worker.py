"""The worker: runs a sampler from a run's directory, through outages, pauses, caps and stops, to the run's end."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, cast

from vpp.environment import Environment
from vpp.errors import DiskRefused, EndpointError, EndpointUnreachable, VppError
from vpp.events import Counters, Event, RunFailed, RunFinished, RunPaused, RunResumed, RunStarted, StepFinished
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.runs.asking import Access, Session, open_session, versions
from vpp.runs.budget import cap_reached_words
from vpp.runs.directory import Heartbeat, Journal, RunDirectory, complete_answers, read_view, refusal, write_summary
from vpp.runs.preparation import start_of
from vpp.runs.process import SLOT_POLL_S, Slots, on_signals
from vpp.runs.spec import Keys
from vpp.runs.view import RunView, last_complete, population_of, settling_of
from vpp.runtime import cancel, rare_collecting

POLL_S = 0.1
FLUSH_S = 0.2
BEAT_S = 1.0
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 300.0
DURABLE = (RunStarted, RunPaused, RunResumed, RunFinished, RunFailed, StepFinished)
"""Events that reach the disk immediately. Others are written with the next of these, or within `FLUSH_S`."""
log = logging.getLogger("vpp.worker")


OnBeat = Callable[[RunView, Heartbeat], None]


def work(directory: RunDirectory, keys: Keys, environment: Environment, on_beat: OnBeat = lambda *_: None) -> RunView:
    """Run the run to its end, or to a user's stop, and return its view. on_beat: called once a second.

    A finished run is not run again. Raises RunLocked if another worker holds it, JournalDamaged, and DiskRefused if
    the journal cannot be opened; a later refusal of the disk ends the run as failed.
    """
    try:
        with directory.lock():
            view = read_view(directory.journal)
            if view.phase == "finished":
                return view
            with closing(Journal(directory.journal)) as journal:
                return asyncio.run(Worker(directory, view, journal, keys, environment, on_beat).run())
    except OSError as error:
        raise DiskRefused(refusal(error, directory.path)) from error


class _Stopped(Exception):
    pass


class _AtCap(Exception):
    pass


class _Control:
    """The commands that a worker has received, by the control file or a signal."""

    def __init__(self, directory: RunDirectory) -> None:
        self.stop, self.pause = asyncio.Event(), asyncio.Event()
        self.retry = asyncio.Event()
        """Set when the user asks to try the endpoint again now."""
        self._directory = directory

    async def watch(self) -> None:
        last: tuple[int, int] | None = None
        while True:
            with suppress(FileNotFoundError):
                file = self._directory.control.stat()
                sent = file.st_ino, file.st_mtime_ns
                if sent != last and (command := self._directory.command()):
                    self.obey(command)
                    last = sent
            await asyncio.sleep(POLL_S)

    def obey(self, command: str) -> None:
        if command == "go on":
            self.pause.clear()
            self.retry.set()
            self.carry_out()
        else:
            (self.pause if command == "pause" else self.stop).set()

    def carry_out(self) -> None:
        with suppress(OSError):
            self._directory.control.unlink()

    async def unless_stopped(self, *work: Coroutine[Any, Any, object]) -> None:
        """Await the first of these to end, and cancel the others. Raises its error, or _Stopped at a stop."""
        tasks = [asyncio.create_task(each) for each in (*work, self.stop.wait())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
            if tasks[-1] in done:
                raise _Stopped
        finally:
            await cancel(tasks)


class Worker:
    """A run from its start to its end, in as many attempts as the endpoint makes necessary."""

    def __init__(
        self,
        directory: RunDirectory,
        view: RunView,
        journal: Journal,
        keys: Keys,
        environment: Environment,
        on_beat: OnBeat,
    ) -> None:
        self.directory, self.view, self.journal, self.spec = directory, view, journal, directory.spec()
        self.keys, self.cache_dir, self.on_beat = keys, environment.cache_dir, on_beat
        self.slots = Slots(environment.runs_dir, count=environment.max_running)
        self.counters = Counters()
        self.control = _Control(directory)
        self._last_beat = Heartbeat(queued=True)
        self._turn = asyncio.Lock()
        """Held to record an event, and during a pause."""

    async def run(self) -> RunView:
        beat = self.directory.last_beat() or Heartbeat()  # it may know of more calls than the journal
        for usage in (self.view.usage, beat.usage, last_complete(self.view).usage):
            self.counters.restore(usage)
        self.beat()
        watchers = [asyncio.create_task(self.control.watch()), asyncio.create_task(self._keep_alive())]
        loop = asyncio.get_running_loop()
        try:
            with on_signals(partial(loop.call_soon_threadsafe, self.control.obey, "stop")):
                if end := await self._until_it_ends():
                    self.record(end)
        except OSError as error:
            log.error("the run cannot be recorded: %s", error)
            self._record_refusal(RunFailed(reason="disk", detail=refusal(error, self.directory.path)))
        finally:
            await cancel(watchers)
        self.slots.give_back()
        self.beat(queued=False)
        return self.view

    def record(self, event: Event) -> None:
        """Record an event. Raises OSError as `Journal.flush` does."""
        self.view.apply(self.journal.add(event, usage=self.counters.snapshot()))
        if isinstance(event, DURABLE):
            # The summary first: a page that sees the event draws the list of runs from it, perhaps for the last time.
            write_summary(self.directory, self.view, journal=self.journal.size)
            self.journal.flush(sync=True)
        if isinstance(event, RunPaused | RunFinished | RunFailed):
            self.control.carry_out()

    def _record_refusal(self, failure: RunFailed) -> None:
        """Record a disk's refusal after the lines that wait, such as paid answers; without them if it refuses again."""
        try:
            self.record(failure)
        except OSError:
            self.journal.forget()  # the disk may still take a shorter line
            with suppress(OSError):
                self.record(failure)
        self.journal.forget()

    def beat(self, **changes: Any) -> None:
        """Write a heartbeat, if the disk takes it: the run works without. changes: of its fields since the last."""
        now, (in_flight, age_s) = time.time(), self.counters.flight()
        counts: dict[str, Any] = {"usage": self.counters.snapshot(), "in_flight": in_flight, "oldest_at": now - age_s}
        self._last_beat = replace(self._last_beat, at=now, **counts, **changes)
        with suppress(DiskRefused):
            self.directory.beat(self._last_beat)
        self.on_beat(self.view, self._last_beat)

    async def _keep_alive(self) -> None:
        """Write waiting events and heartbeats. A refusing disk ends the run at its next event."""
        for beats in count(1):
            with suppress(OSError):
                self.journal.flush()
            if beats % round(BEAT_S / FLUSH_S) == 0:
                self.beat()
            await asyncio.sleep(FLUSH_S)

    async def _until_it_ends(self) -> Event | None:
        """Run to the end; return the event that is still to be recorded, if any."""
        try:
            await self._take_slot()
            await self._try_until_it_ends()
        except _Stopped:
            return RunFinished(outcome="stopped")
        except _AtCap:
            return RunPaused(reason="budget", detail=cap_reached_words(self.spec, self.view, self.counters))
        except EndpointError as error:
            return RunFailed(reason="endpoint", detail=str(error))
        except VppError as error:
            return RunFailed(reason="disk" if isinstance(error, DiskRefused) else "input", detail=str(error))
        except OSError:
            raise  # the disk's
        except Exception as error:
            log.exception("the run failed")
            return RunFailed(reason="error", detail=f"{type(error).__name__}: {error}: see worker.log")
        return None

    async def _try_until_it_ends(self) -> None:
        """Try again after each outage. Patience begins anew after a complete step, and when the user asks to try."""
        patience_s = self.spec.endpoint.max_wait_s
        pause_s, gives_up_at = FIRST_RETRY_S, 0.0
        lost_at: float | None = -math.inf  # the last complete step at the last outage
        while True:
            try:
                return await self._attempt()
            except EndpointUnreachable as error:
                now, step = time.time(), self.view.last_step
                if lost_at != step or self.control.retry.is_set():
                    pause_s, gives_up_at, lost_at = FIRST_RETRY_S, now + patience_s, step
                if now >= gives_up_at:
                    waited = f"the run waited for {patience_s:g} s (--limit wait=N) and gave up"
                    words = f"{error}; {waited}: resume it once the endpoint answers" if patience_s else str(error)
                    raise EndpointUnreachable(words) from error
                wait_s = min(pause_s, gives_up_at - now)
                pause_s = min(2 * pause_s, LONGEST_RETRY_S)
                pause = RunPaused(reason="endpoint", detail=str(error), retry_at=now + wait_s, gives_up_at=gives_up_at)
                self.record(pause)
                self.slots.give_back()
                self.control.retry.clear()
                with suppress(TimeoutError):
                    await self.control.unless_stopped(asyncio.wait_for(self.control.retry.wait(), wait_s))
                await self._take_slot()

    async def _take_slot(self) -> None:
        """Wait, as `queued`, for one of the runs folder's slots. Raises _Stopped."""
        if not self.slots.take():
            self.beat(queued=True, waits=True)
            while not self.slots.take():
                await self.control.unless_stopped(asyncio.sleep(SLOT_POLL_S))
            self.beat(waits=False)

    async def _attempt(self) -> None:
        """Run from the last complete step to the end. Raises _Stopped, _AtCap, EndpointError and OSError."""
        self.counters.restore(last_complete(self.view).usage)
        was_started = self.view.start is not None
        if not was_started:  # before a model is reached for, which may take long
            used = versions(gguf=bool(self.spec.endpoint.gguf))
            self.record(start_of(self.spec, self.directory.dataset(), versions=used))
        self.journal.flush()

        def show_loading(seconds: float) -> None:
            self.beat(loading_s=seconds)
            if self.control.stop.is_set():
                raise _Stopped

        access = Access(
            keys=self.keys,
            cache_dir=self.cache_dir,
            counters=self.counters,
            on_answer=self.journal.add_answer,
            on_program=self.journal.add_entry,
            answers=complete_answers(self.directory.journal),
            cap=self.spec.cap,
            on_loading=show_loading,
        )
        async with open_session(self.directory, access) as session:
            if was_started:
                self.record(RunResumed(step=self.view.last_step))
            self.beat(queued=False, loading_s=None)
            with rare_collecting():
                await self._sample(session)

    async def _sample(self, session: Session) -> None:
        """Run the steps and the evaluation; a stop ends the steps early and keeps the last complete one."""
        problem, population = session.problem, population_of(self.view)
        settling = settling_of(self.view, problem.dataset)
        events = sample(problem, self.spec.config, resume_from=population, settling=settling)
        try:
            await self._consume(session, events)
        except _Stopped:
            await self._conclude_early(session)
            raise
        await self._conclude(session)
        self.record(RunFinished(outcome="finished"))

    async def _conclude_early(self, session: Session) -> None:
        """Return to the last complete step and evaluate it; skipped at a second stop, a lost endpoint or the cap."""
        self.control.stop.clear()
        self.control.pause.clear()
        self.record(RunResumed(step=self.view.last_step))
        if session.budget.exhausted.is_set():
            return
        with suppress(_Stopped, _AtCap, EndpointError):
            await self._take_slot()
            self.beat(queued=False)
            await self._conclude(session)

    async def _conclude(self, session: Session) -> None:
        if (population := population_of(self.view)) is not None:
            await self._consume(session, conclude(session.problem, self.spec.config, population))

    async def _consume(self, session: Session, events: AsyncIterator[Event]) -> None:
        """Record events until there are no more. Raises _Stopped, with every call cancelled, once the user stops."""

        async def record() -> None:
            async with aclosing(cast(AsyncGenerator[Event, None], events)) as stream:
                async for event in stream:
                    async with self._turn:
                        self.record(event)

        async def end_at_cap() -> None:
            await session.budget.exhausted.wait()
            raise _AtCap

        try:
            await self.control.unless_stopped(record(), self._hold_while_paused(session), end_at_cap())
        finally:
            session.budget.go_on()

    async def _hold_while_paused(self, session: Session) -> None:
        """Hold the run during each pause: send no call, record no event, and free the slot for another run."""
        while True:
            await self.control.pause.wait()
            session.budget.pause()
            async with self._turn:
                self.record(RunPaused(reason="user"))
                self.slots.give_back()
                while self.control.pause.is_set():
                    await asyncio.sleep(POLL_S)
                await self._take_slot()
                self.record(RunResumed(step=self.view.total_steps))
                self.beat(queued=False)
            session.budget.go_on()
