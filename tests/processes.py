"""Real processes for tests: commands, demo servers, and a model that counts, holds and refuses."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from starlette.types import ASGIApp

from tests.forked import Forked
from tests.llm.stub import Reply, Request, refusal, serving
from vpp.demo.server import application
from vpp.events import RunResumed
from vpp.runs.directory import JournalReader, RunDirectory, RunReader, Snapshot, complete_answers, encode

ROOT = Path(__file__).parents[1]
PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
SMALL = ("--particles", "3", "--epochs", "1", "--train-size", "30", "--test-size", "10", "--reading", "rows")
"""Three steps and about 240 calls: the first 13 are the initial draw, and the first step has at least 13 more."""
TARGET = ("--target", "species")
WITHIN_S = 180.0


def wait_until(happens: Callable[[], object], what: str, *, within_s: float = WITHIN_S) -> None:
    """Wait for a condition; tests wait nowhere else."""
    deadline = time.monotonic() + within_s
    while not happens():
        assert time.monotonic() < deadline, f"within {within_s} s: {what}"
        time.sleep(0.02)


def stays(value: Callable[[], object], *, for_s: float) -> bool:
    """Return whether a value stays the same for some seconds."""
    first, deadline = value(), time.monotonic() + for_s
    while time.monotonic() < deadline:
        if value() != first:
            return False
        time.sleep(0.02)
    return True


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """Standard output, which must be one JSON object."""
        assert self.out.count("\n") == 1, f"{self.out}\n{self.err}"
        found: dict[str, Any] = json.loads(self.out, parse_constant=_refuse)
        return found

    @property
    def complaint(self) -> str:
        """Standard error, which must be one line."""
        assert self.err.startswith("vpp: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("vpp: ").strip()


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@dataclass
class Running:
    process: Forked

    def finish(self, *, within_s: float = WITHIN_S) -> Outcome:
        out, err = self.process.communicate(timeout=within_s)
        assert not any(word in err for word in ("Traceback", "Warning:", "never retrieved", "Exception ignored")), err
        return Outcome(self.process.returncode, out, err)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=WITHIN_S)

    def signal(self, number: int) -> None:
        """Send a signal to the process group, as a terminal does."""
        os.killpg(self.process.pid, number)


@dataclass
class Desk:
    """A working folder with its own runs folder and cache, and the commands started there."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: list[Running] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def start(self, *words: str | Path, **environment: str) -> Running:
        """Start `python -m vpp …` in this folder."""
        process = Forked(list(map(str, words)), cwd=self.folder, env={**self.variables, **environment})
        self.started.append(Running(process))
        return self.started[-1]

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of a command started here."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "VPP_"))}
        return {
            **inherited,
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "default",
            "VPP_RUNS_DIR": str(self.runs),
            "VPP_CACHE_DIR": str(self.folder / "cache"),
            "VPP_MAX_RUNNING": "20",
            **self.environment,
        }

    def vpp(self, *words: str | Path, **environment: str) -> Outcome:
        return self.start(*words, **environment).finish()

    def run(self, name: str, *words: str | Path, data: Path = PENGUINS, **environment: str) -> Running:
        """Start a small `run` without a cache in the directory `name`."""
        return self.start(
            *("run", data, *(TARGET if data == PENGUINS else ()), *SMALL, "--no-cache", "--limit", "wait=30"),
            *("--json", "--quiet", "--run-dir", self.folder / name, *words),
            **environment,
        )

    def resume(self, name: str, **environment: str) -> Running:
        return self.start("resume", self.folder / name, "--json", "--quiet", **environment)

    def directory(self, name: str) -> RunDirectory:
        return RunDirectory(self.folder / name)

    def look(self, name: str) -> Snapshot:
        return RunReader(self.directory(name)).refresh()

    def state(self, name: str) -> str | None:
        """State of a run; None before it exists."""
        return self.look(name).state if (self.folder / name / "run.json").exists() else None

    def wait_for(self, name: str, state: str) -> None:
        wait_until(lambda: self.state(name) == state, f"{name} is {state}")

    def close(self) -> None:
        for each in self.started:
            if each.process.poll() is None:
                each.kill()
            for stream in (each.process.stdout, each.process.stderr):
                if stream:
                    stream.close()


def posterior(directory: RunDirectory) -> dict[str, Any]:
    """Results that must not depend on interruptions."""
    snapshot = RunReader(directory).refresh()
    view = snapshot.view
    usage = view.usage
    return {
        "texts": [view.texts[p.hypothesis] for p in view.population],
        "population": view.population,
        "weights": view.weights,
        "ess_by_step": view.ess_by_step,
        "resampled": [(s.step, s.resampling.ancestors) for s in view.complete_steps if s.resampling],
        "proposals": view.proposals,
        "evaluated": view.evaluations,
        "steps": [(s.step, s.end, sorted(s.scores.items())) for s in view.complete_steps],
        "calls": (usage.learner, usage.optimizer, usage.failed, usage.unparsable),
        "tokens": (usage.prompt_tokens, usage.completion_tokens),
        "answers": sorted(map(encode, complete_answers(directory.journal))),
    }


def resumed_steps(directory: RunDirectory) -> list[int | None]:
    events = [record.event for record in JournalReader(directory.journal).new_records()]
    return [event.step for event in events if isinstance(event, RunResumed)]


def but_times_and_ids(result: dict[str, Any]) -> dict[str, Any]:
    """Fields of a result that are equal for equal runs."""
    calls = {name: count for name, count in result["calls"].items() if name != "cached"}
    rest = {name: value for name, value in result.items() if name not in ("run", "dir", "wall_s", "spent")}
    return {**rest, "calls": calls}


class Model:
    """The demo model behind a server that counts calls, and holds or refuses them on request."""

    def __init__(self) -> None:
        self._app = application()
        self.base_url = ""
        self.asked = 0
        self.answered = 0
        self.bodies: list[dict[str, Any]] = []
        """Bodies of the requests, in order."""
        self.hold_after: int | None = None
        """Number of calls after which answers are held back; None for no limit."""
        self.refusal: Reply | None = None
        self.refused_word = ""
        """Only prompts whose question holds it are refused; empty: all."""
        self.key: str | None = None
        """The only accepted key; a refusal repeats the given one."""

    @property
    def is_holding(self) -> bool:
        return self.hold_after is not None and self.asked > self.hold_after == self.answered

    @property
    def options(self) -> tuple[str, ...]:
        return ("--base-url", self.base_url, "--model", "demo")

    async def behave(self, request: Request) -> Reply | None:
        if request.path.endswith("/models"):
            return await asked_of(self._app, "GET", request)
        if not request.path.endswith("/chat/completions"):
            return refusal(404)
        self.asked += 1
        self.bodies.append(request.body)
        number = self.asked
        while self.hold_after is not None and number > self.hold_after:
            await asyncio.sleep(0.01)
        given = request.headers.get("authorization", "")
        if self.key is not None and given != f"Bearer {self.key}":
            return refusal(401, f"{given} is not a key")
        if self.refusal is not None and self.refused_word in request.body["messages"][-1]["content"]:
            return self.refusal
        reply = await asked_of(self._app, "POST", request)
        self.answered += 1
        return reply


async def asked_of(app: ASGIApp, method: str, request: Request) -> Reply:
    """Answer of the demo server's application."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(request.body).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    await app({"type": "http", "method": method, "path": request.path, "headers": []}, receive, send)
    return Reply(sent[1]["body"], status=sent[0]["status"])


M = TypeVar("M", bound=Model)


@contextmanager
def model() -> Iterator[Model]:
    with served_by_thread(Model()) as served:
        yield served


@contextmanager
def served_by_thread(served: M) -> Iterator[M]:
    started: SimpleQueue[asyncio.AbstractEventLoop] = SimpleQueue()
    done = asyncio.Event()

    async def serve() -> None:
        async with serving(served.behave) as stub:
            served.base_url = stub.base_url
            started.put(asyncio.get_running_loop())
            await done.wait()
            served.hold_after = None
            await asyncio.sleep(0.05)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    loop = started.get(timeout=10)
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


@contextmanager
def demo_server(*, port: int = 0, **options: float) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The demo model as a process, on a free port unless one is given; yields its base URL. It ends with the block."""
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "vpp.demo", "--port", str(port), "--exit-with-parent", *words]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers_at(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False


def beside_the_constant(result: dict[str, Any]) -> list[float]:
    """(K,) weights of the sentences alone, without the constant answer's."""
    return [weight / (1 - result["constant"]["weight"]) for weight in result["weights"]]
