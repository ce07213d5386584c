"""A latency-simulated OpenAI-compatible server on loopback, cheap enough to measure a client with.

    python -m tests.performance.stub --learner-s 0.3 --optimizer-s 0.9 [--capacity 64 [--queue N]]

prints its base URL on one line and serves until it is ended; in Python, `with served(learner_s=0.3) as stub:` and
`stub.base_url`.

An optimizer, known by its model's name or by a prompt that asks for a new rule, is answered with a rule that no other
request gets, or with a numbered list of rules; a learner with a label of its prompt. The request decides each answer,
so that the same run gets the same answers whatever the timing. With `--jitter S` each latency is multiplied by a
log-normal factor of mean 1 that the request decides. With `--capacity N` at most N calls are served at once and the
rest wait in line: with `--queue N` at most N of them, and the next gets a 503.

GET /counts returns what was asked since the start or the last GET /reset, as JSON (see `Counts`).
"""

import argparse
import asyncio
import gc
import json
import math
import random
import re
import resource
import signal
import subprocess
import sys
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

Role = Literal["learner", "optimizer"]
ROOT = Path(__file__).parents[2]
LABELS = b"Labels:\\n- "
OPTIMIZER_WORDS = (b'"model":"optimizer"', b'"model": "optimizer"', b"New rule")
LIST = re.compile(rb"numbered list of (\d+)")
NAMES = ("stub", "learner", "optimizer")
ROUNDS_KEPT = 10_000


@dataclass(frozen=True)
class Options:
    """How long answers take, and how many are given at once."""

    learner_s: float = 0.3
    optimizer_s: float = 0.9
    capacity: int = 0
    """Served at once; 0: any number."""
    queue: int = -1
    """Waiting at most before a 503; -1: any number."""
    jitter: float = 0.0
    """Sigma of the latency's log-normal factor."""


@dataclass
class Round:
    """Calls of one role from the first that came while none of that role was under way."""

    role: Role
    calls: int
    first_s: float
    """Seconds after the counts' start."""
    last_s: float
    """When its last call came: `last_s - first_s` is how long the client took to send the round."""


@dataclass
class Counts:
    """What was asked."""

    learner: int = 0
    optimizer: int = 0
    rejected: int = 0
    """Requests refused with a 503, which are not counted as calls."""
    repeated_bodies: int = 0
    """Calls whose body an earlier call had that was answered, since the server's start."""
    peak_in_flight: int = 0
    """Most calls at once that had come and were not answered."""
    rounds: list[Round] = field(default_factory=list)
    """The first 10,000."""
    began: float = field(default_factory=time.monotonic)
    cpu_began: float = field(default_factory=time.process_time)

    def as_json(self) -> dict[str, Any]:
        """Return the counts with `calls` and the server's `cpu_s`; `began` is a monotonic clock's."""
        own = {name: value for name, value in vars(self).items() if name not in ("rounds", "cpu_began")}
        return {
            **own,
            "calls": self.learner + self.optimizer,
            "cpu_s": time.process_time() - self.cpu_began,
            "rounds": [vars(each) for each in self.rounds],
        }


class Stub:
    """What all connections share."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.counts = Counts()
        self.in_flight: dict[Role, int] = {"learner": 0, "optimizer": 0}
        self.served = 0
        self.waiting: deque[Connection] = deque()
        self._rounds: dict[Role, Round] = {}
        self._bodies: set[int] = set()
        self._call_later = asyncio.get_running_loop().call_later

    def reset(self) -> None:
        """Counts from zero; what was asked before still counts as asked before."""
        self.counts = Counts()
        self._rounds.clear()

    def is_full(self) -> bool:
        return 0 < self.options.capacity <= self.served

    def is_refused(self) -> bool:
        """Return whether a call finds no place in the line."""
        return self.is_full() and 0 <= self.options.queue <= len(self.waiting)

    def begin(self, connection: "Connection", role: Role, body: bytes) -> None:
        """Takes a call: serves it, or puts it in line."""
        counts = self.counts
        self._note_round(role)
        if role == "learner":
            counts.learner += 1
        else:
            counts.optimizer += 1
        counts.repeated_bodies += connection.number in self._bodies
        self.in_flight[role] += 1
        counts.peak_in_flight = max(counts.peak_in_flight, sum(self.in_flight.values()))
        if self.is_full():
            self.waiting.append(connection)
        else:
            self._serve(connection)

    def _note_round(self, role: Role) -> None:
        now = time.monotonic() - self.counts.began
        current = self._rounds.get(role)
        if current is None or not self.in_flight[role]:
            current = self._rounds[role] = Round(role, 0, now, now)
            if len(self.counts.rounds) < ROUNDS_KEPT:
                self.counts.rounds.append(current)
        current.calls += 1
        current.last_s = now

    def _serve(self, connection: "Connection") -> None:
        self.served += 1
        connection.timer = self._call_later(self._latency_s(connection), connection.answer)

    def _latency_s(self, connection: "Connection") -> float:
        options = self.options
        base = options.learner_s if connection.role == "learner" else options.optimizer_s
        return base * jitter(connection.number, options.jitter) if options.jitter else base

    def note_answered(self, number: int) -> None:
        self._bodies.add(number)

    def ended(self, connection: "Connection", *, was_served: bool) -> None:
        """A call was answered or dropped: the next in line is served."""
        self.in_flight[connection.role] -= 1
        if not was_served:
            self.waiting.remove(connection)
            return
        self.served -= 1
        while self.waiting and not self.is_full():
            self._serve(self.waiting.popleft())


class Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection; one call at a time."""

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._held = b""
        self._transport: asyncio.Transport | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.role: Role = "learner"
        self.number = 0
        """What the request decides everything by."""
        self._reply: bytes | None = None
        """The answer of the call under way."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._reply is not None:
            self._end_call()

    def data_received(self, data: bytes) -> None:
        self._held = self._held + data if self._held else data
        while self._reply is None and self._transport and self._take_one():
            pass

    def _take_one(self) -> bool:
        """Reads one whole request, where there is one."""
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = self._held[:end]
        length = _content_length(head)
        if length < 0:
            self._write(411, b'{"error": {"message": "a body needs a Content-Length"}}')
            self._held = b""
            return False
        stop = end + 4 + length
        if len(self._held) < stop:
            return False
        body, self._held = self._held[end + 4 : stop], self._held[stop:]
        method, path, *_ = head[: head.find(b"\r\n")].split(b" ")
        self._take(method, path, body)
        return True

    def _take(self, method: bytes, path: bytes, body: bytes) -> None:
        if method == b"POST" and path.endswith(b"/chat/completions"):
            self._begin(body)
        elif method == b"GET" and path in PLAIN:
            self._write(200, json.dumps(PLAIN[path](self._stub)).encode())
        else:
            self._write(404, b'{"error": {"message": "no such path"}}')

    def _begin(self, body: bytes) -> None:
        if self._stub.is_refused():
            self._stub.counts.rejected += 1
            self._write(503, b'{"error": {"message": "too many calls at once"}}')
            return
        self.number = int.from_bytes(blake2b(body, digest_size=8).digest())
        self.role = role_of(body)
        self._reply = reply(body, self.role, self.number)
        self._stub.begin(self, self.role, body)

    def answer(self) -> None:
        """The call's time is over."""
        text = self._reply
        self._stub.note_answered(self.number)
        self._end_call()
        if self._transport is not None and text is not None:
            self._transport.write(text)
            while self._held and self._reply is None and self._take_one():
                pass

    def _end_call(self) -> None:
        timer, self.timer, self._reply = self.timer, None, None
        if timer is not None:
            timer.cancel()
        self._stub.ended(self, was_served=timer is not None)

    def _write(self, status: int, body: bytes) -> None:
        if self._transport is not None:
            self._transport.write(_framed(status, body))


PLAIN: dict[bytes, Callable[[Stub], Any]] = {
    b"/counts": lambda stub: stub.counts.as_json(),
    b"/reset": lambda stub: stub.reset(),
    b"/v1/models": lambda stub: {"object": "list", "data": [{"id": name, "max_model_len": 32768} for name in NAMES]},
    b"/health": lambda stub: {},
}


def role_of(body: bytes) -> Role:
    """Return the role by the model's name, or by what the prompt asks for."""
    return "optimizer" if any(words in body for words in OPTIMIZER_WORDS) else "learner"


def reply(body: bytes, role: Role, number: int) -> bytes:
    """The whole response; labels go from the request into it as they are, escaped as JSON."""
    text = rules(body, number) if role == "optimizer" else output(body, number)
    return _framed(
        200,
        b'{"id":"stub","object":"chat.completion","created":0,"model":"stub","choices":[{"index":0,'
        b'"finish_reason":"stop","message":{"role":"assistant","content":"%b"}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,'
        b'"total_tokens":%d}}' % (text, len(body) // 4, len(text) // 4, (len(body) + len(text)) // 4),
    )


def rules(body: bytes, number: int) -> bytes:
    """Return a rule, or a numbered list of rules, that the request alone has and that names labels."""
    labels, wanted = labels_of(body), LIST.search(body)
    if wanted:
        return b"\\n".join(b"%d. %b" % (n, _rule(number + n, labels)) for n in range(1, int(wanted[1]) + 1))
    return b"Reasoning: the boundary moves.\\nNew rule: %b" % _rule(number, labels)


def _rule(number: int, labels: Sequence[bytes]) -> bytes:
    return b"Above %d.%016x the output is %b, else %b." % (number % 97, number, labels[0], labels[-1])


def output(body: bytes, number: int) -> bytes:
    """Return a label that the prompt names; a number where it names none."""
    labels = labels_of(body)
    return b"Explanation: as the rule says.\\nOutput: %b" % labels[number % len(labels)]


def labels_of(body: bytes) -> list[bytes]:
    """Those that the prompt names, as they stand in its JSON."""
    began = body.find(LABELS)
    if began < 0:
        return [b"%d" % n for n in range(10)]
    text = body[began + len(LABELS) : began + 4000]
    ends = [place for place in (text.find(b"\\n\\n"), text.find(b'"')) if place >= 0]
    return text[: min(ends, default=len(text))].split(b"\\n- ")


def jitter(number: int, sigma: float) -> float:
    """A log-normal factor of mean 1, decided by a number."""
    return math.exp(random.Random(number).gauss(-sigma * sigma / 2, sigma))


def _content_length(head: bytes) -> int:
    """-1 for a body that comes in chunks."""
    lowered = head.lower()
    began = lowered.find(b"\r\ncontent-length:")
    if began < 0:
        return -1 if b"\r\ntransfer-encoding:" in lowered else 0
    return int(lowered[began + 17 :].split(b"\r\n", 1)[0])


def _framed(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d Stub\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        status,
        len(body),
        body,
    )


@dataclass(frozen=True)
class Served:
    """A stub in a process of its own."""

    base_url: str
    """Ends in /v1."""
    pid: int

    def counts(self) -> dict[str, Any]:
        """Return `Counts.as_json`."""
        return dict(self._get("counts"))

    def reset(self) -> None:
        """Counts from zero."""
        self._get("reset")

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.base_url.removesuffix('/v1')}/{path}", timeout=30) as response:
            return json.loads(response.read())


@contextmanager
def served(**options: Any) -> Iterator[Served]:
    """Serve in a process that ends with this one. options: fields of `Options`."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "tests.performance.stub", "--with-parent", *words]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Served(process.stdout.readline().strip(), process.pid)
    finally:
        process.kill()
        process.communicate()


async def serve(options: Options, *, port: int = 0, with_parent: bool = False) -> None:
    """Prints the base URL and serves until it is ended, or until standard input ends."""
    loop = asyncio.get_running_loop()
    stub = Stub(options)
    server = await loop.create_server(lambda: Connection(stub), "127.0.0.1", port, backlog=8192)
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    if with_parent:
        loop.add_reader(sys.stdin.fileno(), ended.set)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await ended.wait()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in fields(Options):
        parser.add_argument(f"--{option.name.replace('_', '-')}", type=type(option.default), default=option.default)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--with-parent", action="store_true", help="ends when standard input ends")
    given = vars(parser.parse_args())
    port, with_parent = given.pop("port"), given.pop("with_parent")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.disable()
    asyncio.run(serve(Options(**given), port=port, with_parent=with_parent))


if __name__ == "__main__":
    main()
