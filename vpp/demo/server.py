"""HTTP server of the demo model: a small ASGI app and its process."""

import asyncio
import json
import os
import random
import resource
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from vpp.demo import VERSION, chat

FILES = 4_096 + 200
"""Open files for the most calls in flight of a run, and the process's other files."""
_LARGEST_BODY = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Behaviour of the server; answers do not depend on it."""

    host: str = "127.0.0.1"
    port: int = 0
    latency_ms: float = 0
    jitter: float = 0
    exit_with_parent: bool = False

    def __post_init__(self) -> None:
        if not (self.latency_ms >= 0 and 0 <= self.jitter <= 1 and 0 <= self.port < 65536):
            raise ValueError("latency_ms must not be negative, jitter be from 0 to 1, and port be below 65536")


def _json(status: int, body: dict[str, Any]) -> Response:
    return Response(json.dumps(body), status, media_type="application/json")


class DemoServer:
    def __init__(self, options: Options) -> None:
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            response = await self._route(Request(scope, receive))
            await response(scope, receive, send)

    async def _route(self, request: Request) -> Response:
        match request.method, request.scope["path"].rstrip("/"):
            case "POST", "/v1/chat/completions":
                return await self._chat(await request.body())
            case "GET", "/v1/models":
                return _json(200, chat.models())
            case "GET", "/health":
                return _json(200, {"status": "ok", "model": chat.MODEL, "version": VERSION})
        path = request.scope["path"]
        status = 405 if path.rstrip("/") in {"/v1/chat/completions", "/v1/models", "/health"} else 404
        return _json(status, chat.BadRequest(f"{request.method} {path} is not served here").body)

    async def _chat(self, body: bytes) -> Response:
        try:
            if len(body) > _LARGEST_BODY:
                raise chat.BadRequest("the request is too large", status=413)
            request = chat.read_request(body)
        except chat.BadRequest as error:
            return _json(error.status, error.body)
        completion = chat.completion(request, chat.respond(request))
        if self._options.latency_ms:
            factor = random.uniform(1 - self._options.jitter, 1 + self._options.jitter)
            await asyncio.sleep(self._options.latency_ms / 1000 * factor)
        return _json(200, completion)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket without Nagle's algorithm, which would cost 40 ms per answer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(options: Options) -> None:
    """Serve until interrupted; print the base URL once requests are accepted."""
    import uvicorn

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard), hard)
        )
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
