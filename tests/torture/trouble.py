"""A model that can be told to answer with faults of transport and of protocol for a while."""

import random
from collections.abc import Callable

from tests.llm.stub import Reply, Request, refusal
from tests.processes import Model
from vpp.demo.server import Options

Trouble = Callable[[], tuple[Reply | None] | None]
"""Draws what goes wrong with a request; None where nothing does."""
LATENCY_MS = 30
HALF = b'{"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Out'


class TroubledModel(Model):
    """The demo model, with `trouble` before it."""

    def __init__(self, *, garble_rate: float = 0.0, latency_ms: float = LATENCY_MS) -> None:
        super().__init__(Options(garble_rate=garble_rate, latency_ms=latency_ms, jitter=0.5))
        self.trouble: Trouble | None = None
        self.troubles = 0
        """Requests that went wrong."""

    async def behave(self, request: Request) -> Reply | None:
        fault = self.trouble() if self.trouble and request.path.endswith("/chat/completions") else None
        if fault is None:
            return await super().behave(request)
        self.troubles += 1
        return fault[0]


def storm(chance: random.Random, *, share: float) -> Trouble:
    """503, and now and then 429, for a share of requests."""
    return lambda: (refusal(chance.choice((503, 503, 503, 429)), "overloaded"),) if chance.random() < share else None


def breakage(chance: random.Random, *, share: float) -> Trouble:
    """Half answers, web pages, wrong JSON, and cut connections for a share of requests."""
    kinds: tuple[Reply | None, ...] = (
        Reply(HALF),
        Reply(HALF, promised=len(HALF) + 40),
        Reply(b"<html><body>Welcome to the hotel's network</body></html>", headers={"content-type": "text/html"}),
        Reply(b'{"error": "no choice was made"}'),
        Reply(b'{"choices": []}'),
        Reply(b"\x00\xff\xfe not a body"),
        None,
    )
    return lambda: (chance.choice(kinds),) if chance.random() < share else None
