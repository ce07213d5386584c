"""A worker's control: it obeys commands and signals, and reports itself by heartbeats."""

import asyncio
import logging
import signal
from collections.abc import Coroutine
from dataclasses import asdict
from typing import Any

from vpp.cancellation import cancel
from vpp.events import Event, RunFailed, RunFinished, RunPaused
from vpp.runs.directory import Command, RunDirectory
from vpp.runs.disk import refusal
from vpp.usage import Usage

POLL_S = 0.1
COMPLETING = (RunPaused, RunFinished, RunFailed)
"""Events after which the last command has been carried out."""
log = logging.getLogger("vpp.worker")


class Stopped(Exception):
    """The user stopped the run."""


class Control:
    """The commands a worker has received, and what its heartbeats say."""

    def __init__(self, directory: RunDirectory, *, past_command: str) -> None:
        """past_command: token of the command sent before this worker was requested, which it ignores."""
        self.stop = asyncio.Event()
        self.pause = asyncio.Event()
        self.retry = asyncio.Event()
        """Set when the user asks to try the endpoint again now."""
        self.queued = True
        """True while the worker waits for a slot."""
        self.loading_s: float | None = None
        """Seconds for which a model file has been loading; None if it is not."""
        self._directory = directory
        self._last_token = self._done = past_command
        self._is_silent = False

    def listen_to_signals(self) -> None:
        """Let a signal stop the run; a closed terminal too, unless the worker was started to ignore that."""
        loop = asyncio.get_running_loop()
        minds_hangup = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        for name in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if minds_hangup else [])):
            loop.add_signal_handler(name, self.obey, "stop")

    async def watch(self) -> None:
        """Obey each new command once."""
        while True:
            sent = self._directory.last_command()
            if sent is not None and sent.token != self._last_token:
                self._last_token = sent.token
                self.obey(sent.command)
            await asyncio.sleep(POLL_S)

    def obey(self, command: Command) -> None:
        """Set the events that the command asks for."""
        match command:
            case "pause":
                self.pause.set()
            case "go on":
                self.pause.clear()
                self.retry.set()
                self._done = self._last_token
            case "stop":
                self.stop.set()

    def note(self, event: Event) -> None:
        """Mark the last command as carried out if the event completes it."""
        if isinstance(event, COMPLETING):
            self._done = self._last_token

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

    def beat(self, usage: Usage) -> None:
        """Write a heartbeat. The first of several failures in a row is logged; the run works without heartbeats."""
        try:
            self._directory.beat(asdict(usage), queued=self.queued, done=self._done, loading_s=self.loading_s)
            self._is_silent = False
        except OSError as error:
            if not self._is_silent:
                log.warning("no heartbeat can be written: %s", refusal(error, self._directory.path))
            self._is_silent = True
