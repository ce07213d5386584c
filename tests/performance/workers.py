"""Real worker processes, and how long their runs took by their own journals."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vpp.data.tasks import generate

ROOT = Path(__file__).parents[2]
TEST_ROWS = 10
POLL_S = 0.02
RUN = "import runpy; runpy.run_module('vpp', run_name='__main__', alter_sys=True)"
AS_THE_STUB_READS = ("--templates", "paper", "--structured", "off")
"""The stub finds labels in prompts of this form alone, and keeps to no structure."""


@dataclass(frozen=True)
class Ran:
    """A run that finished."""

    wall_s: float
    """From the journal's first line to its last."""
    steps: int
    usage: dict[str, Any]
    """As its last line has it."""


class WorkerFailed(RuntimeError):
    """A worker that did not finish its run, or not in time."""


@dataclass
class Bench:
    """A folder for runs, each with a cache of its own."""

    folder: Path
    started: list["Worker"] = field(default_factory=list)

    def table(self, rows: int) -> Path:
        """A CSV whose two inputs and labels are made up, with so many training rows and ten more."""
        path = self.folder / f"table-{rows}.csv"
        if not path.exists():
            numbers = random.Random(0)
            cells = [(numbers.randrange(10_000), numbers.randrange(10_000)) for _ in range(rows + TEST_ROWS)]
            lines = [f"{a / 100},{b / 100},{'yes' if a > b else 'no'}" for a, b in cells]
            path.write_text("\n".join(["width,height,label", *lines, ""]))
        return path

    def task(self, name: str, seed: int) -> Path:
        """The CSV of one of the paper's tasks."""
        path = self.folder / f"{name}-{seed}.csv"
        path.write_bytes(generate(name, seed=seed))
        return path

    def words(self, method: str, *, steps: int, base_url: str) -> list[str]:
        """`run` with K = 10, M = 10, B = 40 and T steps, one epoch, smc without a filter."""
        rows = 10 * steps
        return [
            *("run", str(self.table(rows)), "--target", "label", "--method", method.removesuffix("-prefetch")),
            *("--particles", "10", "--batch-size", "10", "--buffer-size", "40", "--epochs", "1", "--mutate", "every"),
            *("--train-size", str(rows), "--test-size", str(TEST_ROWS), "--base-url", base_url, "--model", "stub"),
            *AS_THE_STUB_READS,
        ]

    def start(self, name: str, words: Sequence[str], *, changed: str = "") -> "Worker":
        """A worker in the run directory `name`. changed: Python that is run first, to leave a part out."""
        place = self.folder / name
        return self.launch(place, [*words, "--run-dir", str(place), "--quiet"], changed=changed)

    def launch(self, place: Path, words: Sequence[str], *, changed: str = "") -> "Worker":
        """Any command of vpp, about the run in `place`."""
        program = ["-c", f"{changed}\n{RUN}"] if changed else ["-m", "vpp"]
        log = (self.folder / f"{place.name}.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, *program, *words],
            cwd=ROOT,
            env=self.environment(place.name),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        log.close()
        worker = Worker(process, place)
        self.started.append(worker)
        return worker

    def environment(self, name: str) -> dict[str, str]:
        """Without what this shell says of servers; a fresh cache a run."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "VPP_"))}
        return {
            **inherited,
            "VPP_RUNS_DIR": str(self.folder / "runs"),
            "VPP_CACHE_DIR": str(self.folder / f"cache-{name}"),
            "VPP_MAX_RUNNING": "20",
            "no_proxy": "127.0.0.1",
        }


@dataclass
class Worker:
    """A command under way."""

    process: subprocess.Popen[bytes]
    place: Path

    @property
    def journal(self) -> Path:
        return self.place / "events.jsonl"

    def finish(self, *, within_s: float) -> Ran:
        """Raises WorkerFailed with the last line of its log."""
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise WorkerFailed(f"{self.place.name} did not end within {within_s:.0f} s") from None
        if self.process.returncode:
            raise WorkerFailed(f"{self.place.name} ended with {self.process.returncode}: {self._last_words()}")
        return ran(self.journal)

    def kill(self) -> None:
        """Kill it; a demo model that it started ends with it."""
        self.process.kill()
        self.process.wait()

    def wait_for_step(self, step: int, *, within_s: float) -> None:
        """Wait until the journal has a finished step. Raises WorkerFailed."""
        deadline = time.monotonic() + within_s
        while not any(_step(event) == step for event in events(self.journal)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise WorkerFailed(f"{self.place.name} did not finish step {step}: {self._last_words()}")
            time.sleep(POLL_S)

    def _last_words(self) -> str:
        log = self.place.parent / f"{self.place.name}.log"
        return (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]


def _step(event: dict[str, Any]) -> int | None:
    return event["event"]["step"] if event["event"]["type"] == "step_finished" else None


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """Open a bench; its workers end with it."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = Bench(folder)
    try:
        yield desk
    finally:
        for worker in desk.started:
            worker.kill()


def events(journal: Path) -> list[dict[str, Any]]:
    """Return the complete records of a journal; none before there is one."""
    if not journal.exists():
        return []
    whole = journal.read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def ran(journal: Path) -> Ran:
    """Read how long a run took. Raises WorkerFailed for a journal without an end."""
    lines = events(journal)
    kinds = [each["event"]["type"] for each in lines]
    if "run_started" not in kinds or kinds[-1] != "run_finished":
        raise WorkerFailed(f"{journal.parent.name} has no run_finished: its last line is {kinds[-1:] or 'none'}")
    began = lines[kinds.index("run_started")]
    steps = int(began["event"]["steps"])
    return Ran(wall_s=lines[-1]["at"] - began["at"], steps=steps, usage=lines[-1]["usage"])
