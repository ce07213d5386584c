"""HTTP server of the demo model: the chat protocol, a small ASGI app, and its process.

An answer depends on the body of its request alone.
"""

import argparse
import asyncio
import hashlib
import math
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vpp.demo import VERSION, learner, optimizer
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion, Question, read_prompt

MODEL = "demo"
CONTEXT_TOKENS = 32_768


class Message(BaseModel):
    role: str
    content: str


class ChatRequest(BaseModel):
    """Fields of a request that determine the answer."""

    model: Literal["demo"]
    messages: list[Message] = Field(min_length=1)
    stream: Literal[False] = False
    temperature: float = Field(default=1.0, ge=0, le=2)
    seed: int = 0
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=20)

    @cached_property
    def question(self) -> Question | None:
        """The last question of the conversation."""
        questions = (read_prompt(message.content) for message in reversed(self.messages))
        return next((question for question in questions if question), None)


def refusal(error: ValidationError) -> JSONResponse:
    """Answer an invalid request."""
    first = error.errors()[0]
    param = str(first["loc"][0]) if first["loc"] else None
    detail = {"message": f"{param or 'the body'}: {first['msg']}", "param": param, "code": first["type"]}
    return JSONResponse({"error": {"type": "invalid_request_error", **detail}}, 404 if param == "model" else 400)


def tokens(text: str) -> list[str]:
    return re.findall(r"\s*(?:[^\W\d_]+|\S)|\s+$", text)


def respond(request: ChatRequest) -> str:
    match request.question:
        case None:
            return "Explanation: I find no rule and input in this request that I can read.\nOutput: 0"
        case LearnerQuestion() as question:
            return learner.respond(question)
        case ProgramQuestion() as question:
            return learner.write_program(question)
        case question:
            return optimizer.propose(question, temperature=request.temperature, seed=request.seed)


def completion(request: ChatRequest) -> dict[str, Any]:
    whole, limit = tokens(respond(request)), request.max_completion_tokens or request.max_tokens
    some, n_prompt = whole[:limit], sum(len(tokens(message.content)) for message in request.messages)
    message = {"role": "assistant", "content": "".join(some)}
    reason = "stop" if some == whole else "length"
    identity = hashlib.sha256(repr(request).encode(errors="replace"))
    return {
        "id": f"chatcmpl-{identity.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": _logprobs(request), "finish_reason": reason}],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": len(some), "total_tokens": n_prompt + len(some)},
    }


def _logprobs(request: ChatRequest) -> dict[str, Any] | None:
    question = request.question if request.logprobs and request.top_logprobs else None
    if not isinstance(question, LearnerQuestion) or question.style != "letter":
        return None
    shares = sorted(learner.letter_shares(question).items(), key=lambda each: -each[1])
    listed = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in shares]
    return {"content": [{**listed[0], "top_logprobs": listed[: request.top_logprobs]}]}


def application(*, latency_ms: float = 0, jitter: float = 0) -> Starlette:
    """Return the ASGI app. jitter: fraction by which the latency of an answer varies."""

    async def complete(request: Request) -> JSONResponse:
        try:
            answer = completion(ChatRequest.model_validate_json(await request.body()))
        except ValidationError as error:
            return refusal(error)
        if latency_ms:
            await asyncio.sleep(latency_ms / 1000 * random.uniform(1 - jitter, 1 + jitter))
        return JSONResponse(answer)

    def models(_: Request) -> JSONResponse:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "vpp", "max_model_len": CONTEXT_TOKENS}
        return JSONResponse({"object": "list", "data": [{**model, "version": VERSION}]})

    completions = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[completions, Route("/v1/models", models)])


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket without Nagle's algorithm, which would cost 40 ms per answer."""
    listener = socket.create_server((host, port), backlog=2048)
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
    # A run may have thousands of calls in flight, each an open file.
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        listener = listen(options.host, options.port)
    except (OSError, OverflowError) as error:
        parser.error(f"{options.host}:{options.port} cannot be listened on ({error}): choose another --port")
    if options.exit_with_parent:
        threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    app = application(latency_ms=options.latency_ms, jitter=options.jitter)
    print("http://{}:{}/v1".format(*listener.getsockname()), flush=True)
    with suppress(KeyboardInterrupt):
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", timeout_keep_alive=75)
        uvicorn.Server(config).run(sockets=[listener])


def _exit_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)
