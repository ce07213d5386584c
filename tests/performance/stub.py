"""A server of fixed latency on loopback that costs little: `with served(learner_s=0.3, optimizer_s=0.9) as stub:`.

The request decides the answer, so equal runs get equal answers. A request that asks for a new rule is the optimizer's
and gets a rule that no other request gets; any other is a learner's and gets one of the labels that it names. Answers
keep to a JSON schema where the request has one. GET /counts tells the calls and the server's processor seconds.
"""

import asyncio
import gc
import json
import re
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LABELS = re.compile(r"(?:Labels:\n- |one of: )(.+?)(?:\n\n|\Z|\nRule:)", re.DOTALL)
LIST = re.compile(r"numbered list of (\d+)")
RULE_WORDS = (b"New rule", b"new rule", b"numbered list of")
MODEL = {"id": "stub", "max_model_len": 32768}


class Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection; one call at a time."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        head, mark, rest = self._unread.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        size = int(length[1]) if length else 0
        if not mark or len(rest) < size:
            return
        self._unread = rest[size:]
        if head.startswith(b"POST"):
            self._server.take(rest[:size], self._write)
        else:
            self._write(self._server.page(head.split(b" ")[1].decode()))

    def _write(self, page: Any) -> None:
        body = json.dumps(page).encode()
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )


class Server:
    """Answers after its latency, any number of calls at once."""

    def __init__(self, learner_s: float, optimizer_s: float) -> None:
        self._latency_s = {False: learner_s, True: optimizer_s}
        self._calls = 0

    def take(self, body: bytes, write: Any) -> None:
        """Answer a call once its time is over."""
        self._calls += 1
        request = json.loads(body)
        number = int.from_bytes(blake2b(body, digest_size=8).digest())
        asks_rule = any(words in body for words in RULE_WORDS)
        text = answer(request, number, asks_rule=asks_rule)
        asyncio.get_running_loop().call_later(self._latency_s[asks_rule], write, completion(text, len(body)))

    def page(self, path: str) -> Any:
        """Return what a GET of a path answers."""
        if path == "/counts":
            return {"calls": self._calls, "cpu_s": time.process_time()}
        return {"object": "list", "data": [MODEL]} if path.endswith("/models") else {}


def completion(text: str, prompt_size: int) -> dict[str, Any]:
    """Return a chat completion; four bytes count as a token."""
    sizes = {"prompt_tokens": prompt_size // 4, "completion_tokens": len(text) // 4}
    message = {"role": "assistant", "content": text}
    return {
        "id": "stub", "object": "chat.completion", "created": 0, "model": "stub",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {**sizes, "total_tokens": sum(sizes.values())},
    }  # fmt: skip


def answer(request: dict[str, Any], number: int, *, asks_rule: bool) -> str:
    """Return the text of an answer, in the request's JSON schema if it has one."""
    if schema := request.get("response_format", {}).get("json_schema", {}).get("schema"):
        return json.dumps(filled(schema, number))
    prompt = request["messages"][-1]["content"]
    if count := LIST.search(prompt):
        return "\n".join(f"{n}. {rule(number + n)}" for n in range(1, int(count[1]) + 1))
    if asks_rule:
        return f"Reasoning: the boundary moves.\nNew rule: {rule(number)}"
    found = LABELS.search(prompt)
    labels = re.split(r"\n- |, ", found[1]) if found else ["0", "1"]
    return f"Explanation: as the rule says.\nOutput: {labels[number % len(labels)].strip()}"


def rule(number: int) -> str:
    return f"Above {number % 97}.{number:016x} the output is yes, else no."


def filled(schema: dict[str, Any], number: int) -> Any:
    """Return a value of the schema."""
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    if schema.get("type") == "object":
        return {name: filled(each, number) for name, each in schema["properties"].items()}
    if schema.get("type") == "array":
        return [filled(schema["items"], number + n) for n in range(schema.get("minItems", 10))]
    return rule(number) if schema.get("type") == "string" else number % 10


@dataclass(frozen=True)
class Served:
    """A server in a process of its own."""

    base_url: str
    """Ends in /v1."""

    def counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.base_url.removesuffix('/v1')}/counts", timeout=30) as response:
            return dict(json.load(response))


@contextmanager
def served(*, learner_s: float, optimizer_s: float = 0.0) -> Iterator[Served]:
    """Serve in a process that ends with this one."""
    command = [sys.executable, "-m", "tests.performance.stub", str(learner_s), str(optimizer_s)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Served(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


async def serve(learner_s: float, optimizer_s: float) -> None:
    """Print the base URL and serve until standard input ends."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    server = Server(learner_s, optimizer_s)
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=8192)
    loop.add_reader(sys.stdin.fileno(), ended.set)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", flush=True)
    await ended.wait()


if __name__ == "__main__":
    gc.disable()  # a pause would look like a slow client
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(*map(float, sys.argv[1:])))
