"""Models asked in a background thread, which a page can look at, leave and return to."""

import asyncio
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from vpp.errors import VppError
from vpp.runs.keys import Keys

Outcome = Literal["running", "finished", "stopped", "failed"]


class Questions(Protocol):
    """Questions to a run's models, counted while they are asked."""

    total: int

    @property
    def done(self) -> int:
        """Answered questions."""

    async def go(self, *, keys: Keys, cache_dir: Path) -> object:
        """Ask all questions."""


Q = TypeVar("Q", bound=Questions)


class Background(Generic[Q]):
    """A thread with an event loop that asks; `asking` holds the answers so far."""

    def __init__(self, asking: Q, *, keys: Keys, cache_dir: Path) -> None:
        """Start the thread."""
        self.asking = asking
        self.outcome: Outcome = "running"
        self.failure = ""
        """Error message of a failure, in one line."""
        self._keys = keys
        self._cache_dir = cache_dir
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._began_at = time.monotonic()
        self._ended_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="vpp-asking", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """True until the thread ends."""
        return self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Seconds so far, or that it took."""
        return (self._ended_at or time.monotonic()) - self._began_at

    def seconds_left(self) -> float | None:
        """Estimate the seconds left at the pace so far; None before the first answer."""
        done = self.asking.done
        return self.seconds / done * (self.asking.total - done) if done else None

    def stop(self) -> None:
        """Cancel the calls in flight and keep the answers; no effect once it has ended."""
        if self._stopping:
            return
        self._stopping = True
        if self._loop and self._task:
            with suppress(RuntimeError):  # it ended meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; True if it has ended within the given seconds."""
        self._thread.join(timeout_s)
        return not self.is_running

    def _run(self) -> None:
        """Ask, and keep any error's message, that of a programming error too."""
        outcome: Outcome = "failed"
        try:
            outcome = asyncio.run(self._ask())
        except VppError as error:
            self.failure = str(error)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
        finally:
            self._ended_at = time.monotonic()
            self.outcome = outcome

    async def _ask(self) -> Outcome:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopping:
            return "stopped"
        try:
            await self.asking.go(keys=self._keys, cache_dir=self._cache_dir)
        except asyncio.CancelledError:
            return "stopped"
        return "finished"
