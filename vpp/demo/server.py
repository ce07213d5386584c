"""HTTP server of the demo model: a small ASGI app and its process."""

import argparse
import asyncio
import os
import random
import resource
import signal
import socket
import sys
import threading
from contextlib import suppress

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vpp.demo import chat

FILES = 4_096 + 200
"""Open files for the most calls in flight of a run, and the process's other files."""


def application(*, latency_ms: float = 0, jitter: float = 0) -> Starlette:
    """Return the ASGI app. jitter: fraction by which the latency of an answer varies."""

    async def complete(request: Request) -> JSONResponse:
        try:
            question = chat.ChatRequest.model_validate_json(await request.body())
        except ValidationError as error:
            status, body = chat.refusal(error)
            return JSONResponse(body, status)
        answer = chat.completion(question)
        if latency_ms:
            await asyncio.sleep(latency_ms / 1000 * random.uniform(1 - jitter, 1 + jitter))
        return JSONResponse(answer)

    def models(_: Request) -> JSONResponse:
        return JSONResponse(chat.models())

    completions = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[completions, Route("/v1/models", models)])


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket without Nagle's algorithm, which would cost 40 ms per answer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def main() -> None:
    """Serve until interrupted; print the base URL once requests are accepted."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m vpp demo-server", description="Serve the demo model at /v1.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900, help="0 chooses a free port")
    parser.add_argument("--latency-ms", type=float, default=0, help="mean time of an answer")
    parser.add_argument("--jitter", type=float, default=0, help="fraction by which the latency varies, from 0 to 1")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input closes")
    options = parser.parse_args()
    # A shell starts background processes with interrupts ignored; this server ends at an interrupt all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard), hard)
        )
    try:
        listener = listen(options.host, options.port)
    except (OSError, OverflowError) as error:
        parser.error(f"{options.host}:{options.port} cannot be listened on ({error}): choose another --port")
    if options.exit_with_parent:
        threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    app = application(latency_ms=options.latency_ms, jitter=options.jitter)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_keep_alive=75
    )
    host, port = listener.getsockname()[:2]
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/v1", flush=True)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _exit_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)
