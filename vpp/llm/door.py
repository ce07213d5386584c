"""A door for as many at once as a window is wide, in the order in which they come; one event loop.

A few go in each turn of the loop. A round of hundreds that all went in at once would be prepared call by call before
the first is sent, and wait for all its answers before the first is read: client and server would take turns.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType

A_TURN = 16
"""Who goes in before the loop sends what they began."""


class Door:
    """A semaphore whose width may change, and that can be held shut for a while."""

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held: asyncio.TimerHandle | None = None
        self.inside = 0
        self._gone_in = 0
        """In this turn of the loop."""

    @property
    def load(self) -> int:
        """Those inside and those who wait."""
        return self.inside + len(self._waiting)

    @property
    def held_s(self) -> float:
        """Seconds for which it is still held; 0.0 where it is not."""
        return max(0.0, self._held.when() - asyncio.get_running_loop().time()) if self._held else 0.0

    async def __aenter__(self) -> None:
        if not self._waiting and self._is_open():
            self._go_in()
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            elif place in self._waiting:
                self._waiting.remove(place)
            raise

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._leave()

    def hold(self, seconds: float) -> None:
        """Lets nobody in for so long, or until `open`."""
        loop = asyncio.get_running_loop()
        if self._held is None or self._held.when() < loop.time() + seconds:
            self.open()
            self._held = loop.call_later(seconds, self._let_in, True)

    def open(self) -> None:
        """Ends a hold: who waits goes in when the next one leaves."""
        if self._held is not None:
            self._held.cancel()
            self._held = None

    def _is_open(self) -> bool:
        return self._held is None and self._gone_in < A_TURN and self.inside < self._width()

    def _go_in(self) -> None:
        self.inside += 1
        self._gone_in += 1
        if self._gone_in == 1:
            asyncio.get_running_loop().call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._gone_in = 0
        self._let_in()

    def _leave(self) -> None:
        self.inside -= 1
        self._let_in()

    def _let_in(self, opens: bool = False) -> None:
        if opens:
            self._held = None
        while self._waiting and self._is_open():
            place = self._waiting.popleft()
            if not place.done():
                self._go_in()
                place.set_result(None)
