"""HTTP server of the demo model: a small ASGI app and its process."""

import asyncio
import hashlib
import json
import os
import random
import resource
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from vpp.demo import VERSION, chat

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

FILES = 4_096 + 200
"""Open files for the most calls in flight of a run, and the process's other files."""
_LARGEST_BODY = 4_000_000
_FAULTS = ((500, "internal error"), (503, "overloaded"), (429, "too many requests"))
_GARBAGE = ("", "I would rather not say.", "Outpt ~~ %%", "<think>", '{"out', "Let me think. It could be anything")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Behaviour of the server; except for failures and garbling, answers do not depend on it."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 chooses a free port."""
    latency_ms: float = 0
    """Least time of an answer in milliseconds."""
    jitter: float = 0
    """The latency is multiplied by a factor drawn from 1 - jitter to 1 + jitter."""
    capacity: int = 0
    """Most requests answered at a time, others wait; 0 is unlimited."""
    fail_rate: float = 0
    """Fraction of chat requests answered with 500, 503 or 429."""
    garble_rate: float = 0
    """Fraction of answers replaced by unreadable text."""
    exit_with_parent: bool = False
    """Whether the process ends when its standard input closes."""

    def __post_init__(self) -> None:
        for name in ("jitter", "fail_rate", "garble_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        if self.latency_ms < 0 or self.capacity < 0 or not 0 <= self.port < 65536:
            raise ValueError("latency_ms, capacity and port must not be negative, and port must be below 65536")


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and body of an HTTP answer."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


def _json_reply(status: int, body: dict[str, Any], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Reply:
    return Reply(status, json.dumps(body).encode(), headers)


class DemoServer:
    """ASGI application that answers requests."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._random = random.Random()
        self._room: AbstractAsyncContextManager[object] = (
            asyncio.Semaphore(options.capacity) if options.capacity else nullcontext()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _send(send, await self._route(scope, receive))

    async def _route(self, scope: Scope, receive: Receive) -> Reply:
        match scope["method"], scope["path"].rstrip("/"):
            case "POST", "/v1/chat/completions":
                return await self._chat(await _body(receive))
            case "GET", "/v1/models":
                return _json_reply(200, chat.models())
            case "GET", "/health":
                return _json_reply(200, {"status": "ok", "model": chat.MODEL, "version": VERSION})
            case _, "/v1/chat/completions" | "/v1/models" | "/health":
                return _json_reply(405, chat.error_body("method not allowed", "invalid_request_error"))
        return _json_reply(404, chat.error_body(f"no such path: {scope['path']}", "invalid_request_error"))

    async def _chat(self, body: bytes) -> Reply:
        async with self._room:
            if self._random.random() < self._options.fail_rate:
                return self._fault()
            try:
                return await self._answer(body)
            except chat.BadRequest as error:
                return _json_reply(error.status, error.body())

    async def _answer(self, body: bytes) -> Reply:
        if len(body) > _LARGEST_BODY:
            raise chat.BadRequest("the request is too large", status=413)
        request = chat.read_request(body)
        text = chat.respond(request)
        if self._options.latency_ms:
            factor = self._random.uniform(1 - self._options.jitter, 1 + self._options.jitter)
            await asyncio.sleep(self._options.latency_ms / 1000 * factor)
        return _json_reply(200, chat.completion(request, self._garbled(text, body)))

    def _garbled(self, text: str, body: bytes) -> str:
        """Replace the text for a fraction of requests, chosen by a hash of the request."""
        chance = random.Random(hashlib.sha256(body).digest())
        return chance.choice(_GARBAGE) if chance.random() < self._options.garble_rate else text

    def _fault(self) -> Reply:
        status, message = self._random.choice(_FAULTS)
        headers = ((b"retry-after", b"0"),) if status == 429 else ()
        return _json_reply(status, chat.error_body(message, "server_error", code=str(status)), headers)


async def _body(receive: Receive) -> bytes:
    body, is_whole = b"", False
    while not is_whole and len(body) <= _LARGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        is_whole = not message.get("more_body")
    return body


async def _send(send: Send, reply: Reply) -> None:
    length = str(len(reply.body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length), *reply.headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket without Nagle's algorithm, which would cost 40 ms per answer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def allow_files() -> None:
    """Raise the limit of open files, usually 1,024, to the needs of the largest run."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def serve(options: Options) -> None:
    """Serve until interrupted; print the base URL once requests are accepted."""
    import uvicorn

    allow_files()
    listener = listen(options.host, options.port)
    if options.exit_with_parent:
        threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    config = uvicorn.Config(
        DemoServer(options), log_level="warning", access_log=False, lifespan="off", ws="none", timeout_keep_alive=75
    )
    host, port = listener.getsockname()[:2]
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/v1", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def _exit_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)
