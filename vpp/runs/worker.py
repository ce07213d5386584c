"""The worker: runs a sampler from a run's directory, keeps its events, and obeys the control file."""

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vpp.errors import EndpointRefused, EndpointUnreachable
from vpp.events import Event, RunFailed, RunFinished, RunPaused, RunResumed
from vpp.inference import sample
from vpp.inference.evaluation import conclude
from vpp.inference.population import Particle, Population
from vpp.llm.counters import Counters
from vpp.runs.answers import AnswerLog, keep_lines, read_answers
from vpp.runs.directory import Command, RunDirectory
from vpp.runs.journal import Journal, JournalReader, Record, cut_torn_tail
from vpp.runs.session import Keys, Session, open_session, started
from vpp.runs.slots import Slots
from vpp.runs.view import RunView

POLL_S = 0.1
FLUSH_S = 0.2
BEAT_S = 1.0
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 300.0

Listener = Callable[[RunView, Record], None]
log = logging.getLogger("vpp.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a worker is given besides the run itself."""

    keys: Keys
    cache_dir: Path
    slots_dir: Path
    max_running: int
    listener: Listener | None = None
    """Told of every event after it is on disk."""


def work(directory: RunDirectory, surroundings: Surroundings) -> RunView:
    """Runs the run to its end, or to a user's stop, and returns its view.

    A run that has finished is not run again. Raises RunLocked where another worker holds it.
    """
    with directory.lock():
        return asyncio.run(_Worker(directory, surroundings).run())


class _Stopped(Exception):
    """A user's word to stop."""


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
        self._obeyed_at = 0.0

    async def run(self) -> RunView:
        cut_torn_tail(self._directory.journal)
        reader = JournalReader(self._directory.journal)
        self._view = RunView()
        for record in reader.new_records():
            self._view.apply(record)
        if self._view.phase == "finished":
            return self._view
        keep_lines(self._directory.answers, self._view.answers_kept)
        self._journal = Journal(self._directory.journal)
        self._answers = AnswerLog(self._directory.answers)
        self._directory.write_spec(self._spec, status="running")
        self._listen_to_signals()
        watchers = [asyncio.create_task(self._watch_control()), asyncio.create_task(self._keep_alive())]
        try:
            await self._until_it_ends()
        finally:
            for watcher in watchers:
                watcher.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)
            self._answers.close()
            self._journal.close()
            self._slots.give_back()
            self._directory.write_spec(self._directory.spec(), status=self._directory.state(self._view))
        return self._view

    async def _until_it_ends(self) -> None:
        """Tries until the run ends or the endpoint has been gone for too long."""
        waited, pause_s = 0.0, FIRST_RETRY_S
        try:
            await self._take_slot()
            while True:
                steps_before = self._view.last_step
                try:
                    await self._attempt()
                    return
                except EndpointUnreachable as error:
                    if self._view.last_step != steps_before:
                        waited, pause_s = 0.0, FIRST_RETRY_S
                    if waited >= self._spec.endpoint.max_wait_s:
                        raise
                    self._record(RunPaused(reason="endpoint", detail=str(error)))
                    waited += await self._wait_for_retry(min(pause_s, self._spec.endpoint.max_wait_s - waited))
                    pause_s = min(pause_s * 2, LONGEST_RETRY_S)
        except _Stopped:
            self._record(RunFinished(outcome="stopped"))
        except (EndpointRefused, EndpointUnreachable) as error:
            self._record(RunFailed(reason="endpoint", detail=str(error)))
        except Exception as error:
            log.exception("the run failed")
            self._record(RunFailed(reason="error", detail=f"{type(error).__name__}: {error}: see worker.log"))

    async def _take_slot(self) -> None:
        """Waits, as `queued`, for one of the runs folder's slots."""
        await self._unless_stopped(self._slots.take())

    async def _wait_for_retry(self, seconds: float) -> float:
        """Seconds really waited: a user may ask to retry at once."""
        self._slots.give_back()
        self._retry_asked.clear()
        began = time.monotonic()
        with contextlib.suppress(TimeoutError):
            await self._unless_stopped(asyncio.wait_for(self._retry_asked.wait(), seconds))
        waited = time.monotonic() - began
        await self._take_slot()
        return waited

    async def _attempt(self) -> None:
        """From the last whole step to the end."""
        self._restore()
        async with open_session(
            self._directory,
            keys=self._around.keys,
            cache_dir=self._around.cache_dir,
            counters=self._counters,
            on_answer=self._answers.add,
        ) as session:
            self._announce(session)
            session.learner.preload((a.hypothesis, a.prediction) for a in read_answers(self._directory.answers))
            await self._sample(session)

    def _announce(self, session: Session) -> None:
        if self._view.started is None:
            self._record(started(self._spec, session))
        else:
            self._record(RunResumed(step=self._view.last_step))

    def _restore(self) -> None:
        """Counters, answers and population as they were after the last whole step."""
        self._answers.close()
        keep_lines(self._directory.answers, self._view.answers_kept)
        self._answers = AnswerLog(self._directory.answers)
        self._counters.restore(self._view.usage_kept)

    async def _sample(self, session: Session) -> None:
        """The steps, then the end; a stop cuts the steps short and keeps the last whole one."""
        config = self._spec.config
        resume_from = population_of(self._view)
        stopped = False
        try:
            await self._consume(session, sample(session.problem, config, resume_from=resume_from))
        except _Stopped:
            stopped = True
        population = population_of(self._view)
        if population is not None:
            self._stop_asked.clear()
            with contextlib.suppress(_Stopped):
                await self._consume(session, conclude(session.problem, config, population))
        stopped = stopped or self._stop_asked.is_set()
        self._record(RunFinished(outcome="stopped" if stopped else "finished"))

    async def _consume(self, session: Session, events: AsyncIterator[Event]) -> None:
        """Keeps events until there are no more. Raises _Stopped, with every call cancelled, at a user's word."""

        async def keep() -> None:
            async for event in events:
                self._record(event)

        holder = asyncio.create_task(self._hold_while_paused(session))
        try:
            await self._unless_stopped(keep())
        finally:
            holder.cancel()
            await asyncio.gather(holder, return_exceptions=True)
            session.go_on()

    async def _hold_while_paused(self, session: Session) -> None:
        while True:
            await self._pause_asked.wait()
            session.pause()
            self._record(RunPaused(reason="user"))
            self._slots.give_back()
            while self._pause_asked.is_set():
                await asyncio.sleep(POLL_S)
            await self._slots.take()
            self._record(RunResumed(step=self._view.total_steps))
            session.go_on()

    async def _unless_stopped(self, work: Coroutine[Any, Any, object]) -> None:
        """Awaits `work`; a stop cancels it, waits for it to end, and raises _Stopped."""
        task = asyncio.create_task(work)
        stop = asyncio.create_task(self._stop_asked.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise _Stopped
            task.result()
        finally:
            for each in (task, stop):
                each.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    def _record(self, event: Event) -> None:
        self._answers.flush()
        record = self._journal.append(event, usage=self._counters.snapshot(), answers=self._answers.lines)
        self._view.apply(record)
        if self._around.listener:
            self._around.listener(self._view, record)

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self._obey, "stop")

    async def _watch_control(self) -> None:
        """Obeys each word once; whoever starts a worker clears what was said to an earlier one."""
        while True:
            said = self._directory.said()
            if said is not None and said[1] > self._obeyed_at:
                self._obeyed_at = said[1]
                self._obey(said[0])
            await asyncio.sleep(POLL_S)

    def _obey(self, command: Command) -> None:
        if command == "pause":
            self._pause_asked.set()
        elif command == "go on":
            self._pause_asked.clear()
            self._retry_asked.set()
        else:
            self._pause_asked.clear()
            self._stop_asked.set()

    async def _keep_alive(self) -> None:
        beats = 0
        while True:
            self._answers.flush()
            if beats % round(BEAT_S / FLUSH_S) == 0:
                self._directory.beat(asdict(self._counters.snapshot()))
            beats += 1
            await asyncio.sleep(FLUSH_S)


def population_of(view: RunView) -> Population | None:
    """The last whole population, to go on from; None where there is none."""
    if not view.finished_steps:
        return None
    last = view.finished_steps[-1]
    assert last.finished is not None
    particles = tuple(
        Particle(
            text=view.texts[state.hypothesis],
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
        )
        for state in last.finished.population
    )
    return Population(step=last.step, particles=particles, tau=last.finished.tau)
