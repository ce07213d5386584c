"""A response's body that ends where it grows too large; imported with the client, which takes its time."""

from collections.abc import AsyncIterator

import httpx2

from vpp.llm.faults import BodyTooLarge

BODY_LIMIT = 8 * 2**20
"""Bytes of a reply that are read, as sent and as unpacked: forty times what is kept of an answer."""


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


class UnpackedBody(httpx2.AsyncByteStream):
    """A compressed body, undone in parts as the client would do it."""

    def __init__(self, stream: httpx2.AsyncByteStream, encoding: str) -> None:
        self._packed = httpx2.Response(200, headers={"content-encoding": encoding}, stream=stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._packed.aiter_bytes()

    async def aclose(self) -> None:
        await self._packed.aclose()


async def whole_body(response: httpx2.Response) -> bytes:
    """What a response that is still open holds, unpacked. Raises BodyTooLarge, and whatever its connection does."""
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return response.content
    stream: httpx2.AsyncByteStream = BoundedBody(response.stream, BODY_LIMIT)
    if encoding := response.headers.get("content-encoding", ""):
        stream = BoundedBody(UnpackedBody(stream, encoding), BODY_LIMIT)
    return b"".join([part async for part in stream])
