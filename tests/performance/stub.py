"""A server of fixed latency on loopback that costs little, in a process of its own: `with served(0.3) as base_url:`.

The request decides the answer, so equal runs get equal answers. A request that asks for a new rule gets one that no
other request gets; any other gets one of the labels that it names.
"""

import asyncio
import gc
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LABELS = re.compile(r"(?:Labels:\n- |one of: )(.+?)(?:\n\n|\Z|\nRule:)", re.DOTALL)
MODEL = {"id": "stub", "max_model_len": 32768}


class Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection; one call at a time."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._unread = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        head, mark, body = self._unread.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if not mark or len(body) < int(length[1] if length else 0):
            return
        self._unread = b""
        if head.startswith(b"POST"):
            asyncio.get_running_loop().call_later(self._latency_s, self._write, completion(body))
        else:
            self._write({"object": "list", "data": [MODEL]})

    def _write(self, page: Any) -> None:
        body = json.dumps(page).encode()
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )


def completion(body: bytes) -> dict[str, Any]:
    """Return the chat completion for a request."""
    text = answer(body)
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4, "total_tokens": 0}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    head = {"id": "stub", "object": "chat.completion", "created": 0, "model": "stub"}
    return {**head, "choices": [choice], "usage": usage}


def answer(body: bytes) -> str:
    number = int.from_bytes(blake2b(body, digest_size=8).digest())
    if b"ew rule" in body:
        rule = f"Above {number % 97}.{number:016x} the output is yes, else no."
        return f"Reasoning: the boundary moves.\nNew rule: {rule}"
    found = LABELS.search(json.loads(body)["messages"][-1]["content"])
    labels = re.split(r"\n- |, ", found[1]) if found else ["0", "1"]
    return f"Explanation: as the rule says.\nOutput: {labels[number % len(labels)].strip()}"


@contextmanager
def served(latency_s: float) -> Iterator[str]:
    """Serve in a process that ends with this one; yield the base URL."""
    command = [sys.executable, "-m", "tests.performance.stub", str(latency_s)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


async def serve(latency_s: float) -> None:
    """Print the base URL and serve until standard input ends."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    listening = await loop.create_server(lambda: Connection(latency_s), "127.0.0.1", 0, backlog=8192)
    loop.add_reader(sys.stdin.fileno(), ended.set)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", flush=True)
    await ended.wait()


if __name__ == "__main__":
    gc.disable()  # a pause would look like a slow client
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(float(sys.argv[1])))
