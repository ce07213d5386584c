"""A scripted OpenAI-compatible server on loopback, for tests: real sockets, and answers as odd as a test wants."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from vpp.llm.endpoint import Endpoint, Server


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. promised: a Content-Length that is not the body's; None: the true one."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Behaviour = Callable[[Request], Awaitable[Reply | None]]
"""None cuts the connection without an answer."""
TURNS = 6
"""Turns of the event loop within which an accepted connection is served, and a closed one ends."""


def chat(content: str | None = "Output: 1", *, finish: str = "stop", prompt_tokens: int = 7, **message: Any) -> Reply:
    """Return a chat completion of the protocol."""
    return as_json(
        {
            "choices": [{"index": 0, "finish_reason": finish, "message": {"content": content, **message}}],
            "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 3},
        }
    )


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(json.dumps(value).encode(), status=status, headers=named)


def refusal(status: int, message: str = "no", **more: Any) -> Reply:
    return as_json({"error": {"message": message, "type": "error", "param": None, "code": None, **more}}, status)


def script(*replies: Reply | None) -> Behaviour:
    """Return a behaviour that gives these answers in turn, and then the last one again."""
    left = list(replies)

    async def behave(request: Request) -> Reply | None:
        return left.pop(0) if len(left) > 1 else left[0]

    return behave


class Held:
    """Keeps every request waiting until `free` is set, then answers with `then`."""

    def __init__(self, then: Behaviour | None = None) -> None:
        self.free = asyncio.Event()
        self.arrived: asyncio.Queue[Request] = asyncio.Queue()
        self.then = then or script(chat())

    async def __call__(self, request: Request) -> Reply | None:
        self.arrived.put_nowait(request)
        await self.free.wait()
        return await self.then(request)


class Stub:
    """Records the requests, the connections, and the most requests at one time."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[Request] = []
        self.under_way = self.most_under_way = 0
        self.connections = 0
        self.base_url = ""
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                reply = await self._answer(request)
                if reply is None:
                    break
                writer.write(_head(reply) + reply.body)
                await writer.drain()
                if reply.promised is not None:
                    break
        except ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, request: Request) -> Reply | None:
        self.requests.append(request)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self.behaviour(request)
        finally:
            self.under_way -= 1

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(head[0].split()[1], headers, json.loads(body) if body else {})


def _head(reply: Reply) -> bytes:
    length = len(reply.body) if reply.promised is None else reply.promised
    headers = {"content-type": "application/json", **reply.headers, "content-length": str(length)}
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@asynccontextmanager
async def serving(behaviour: Behaviour) -> AsyncIterator[Stub]:
    stub = Stub(behaviour)
    server = await asyncio.start_server(stub.serve, "127.0.0.1", 0, backlog=2048)
    stub.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield stub
    finally:
        server.close()
        await _turns()
        stub.hang_up()
        await _turns()
        await server.wait_closed()


def endpoint_at(base_url: str, model: str = "tiny", **options: Any) -> Endpoint:
    """Return an endpoint whose retries hardly wait. options: fields of Server and of Endpoint."""
    named = {"backoff_s": 0.001, **options}
    server = {name: named.pop(name) for name in Server.__dataclass_fields__ if name in named}
    return Endpoint(Server(base_url=base_url, model=model, **server), **named)


@asynccontextmanager
async def endpoint_of(behaviour: Behaviour, **options: Any) -> AsyncIterator[tuple[Endpoint, Stub]]:
    """Start a server with this behaviour, and an endpoint that asks it."""
    async with serving(behaviour) as stub:
        endpoint = endpoint_at(stub.base_url, **options)
        try:
            yield endpoint, stub
        finally:
            await endpoint.aclose()


def dropped(endpoint: Endpoint) -> list[str]:
    """Fields that the endpoint sends no more."""
    return [name for name, within in endpoint.refused.items() if within is None]


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)
