"""A response's body that ends where it grows too large; imported with the client, which takes its time."""

from collections.abc import AsyncIterator

import httpx2

from vpp.llm.faults import BodyTooLarge

BODY_LIMIT = 8 * 2**20
"""Bytes of a reply that are read: forty times what is kept of an answer."""
PACKED_LIMIT = 256 * 2**10
"""Bytes of a compressed reply, which may grow a thousandfold."""


class BoundedBody(httpx2.AsyncByteStream):
    """Passes on at most `limit` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                raise BodyTooLarge(self._limit)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bound_body(response: httpx2.Response) -> None:
    """What the client calls before it reads a response."""
    is_packed = response.headers.get("content-encoding", "identity").strip().lower() != "identity"
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedBody(response.stream, PACKED_LIMIT if is_packed else BODY_LIMIT)
