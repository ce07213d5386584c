"""A finished run as a live one: its journal grows by a step at a time, as if a worker held it."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vpp.events import Usage
from vpp.runs.directory import Heartbeat, RunDirectory


@dataclass
class Replay:
    run: RunDirectory
    steps: list[bytes]
    """Lines of each step, those of the first hypotheses first."""
    rest: bytes
    """Lines after the last step."""
    usage: Usage = field(default_factory=Usage)

    def write_step(self) -> None:
        if self.steps:
            lines = self.steps.pop(0)
            with self.run.journal.open("ab") as file:
                file.write(lines)
            self.usage = Usage(**json.loads(lines.splitlines()[-1])["usage"])
        self.beat()

    def end(self) -> None:
        self.steps.append(self.rest)
        self.write_step()

    def beat(self) -> None:
        self.run.beat(Heartbeat(usage=self.usage))


@contextmanager
def replaying(run: RunDirectory, *, n_first: int = 1) -> Iterator[Replay]:
    """Leave a finished run its first steps, `n_first` of them."""
    steps = [b""]
    for line in run.journal.read_bytes().splitlines(keepends=True):
        steps[-1] += line
        if json.loads(line).get("event", {}).get("type") == "step_finished":  # other lines are answers
            steps.append(b"")
    run.journal.write_bytes(b"")
    with run.lock():
        replay = Replay(run, steps[:-1], steps[-1])
        for _ in range(n_first):
            replay.write_step()
        yield replay


@contextmanager
def living(finished: Path, copy: Path, *, n_first: int, every_s: float) -> Iterator[RunDirectory]:
    """A copy of the run that writes a step every so often, and a heartbeat each second."""
    shutil.copytree(finished, copy)
    ended = threading.Event()
    with replaying(RunDirectory(copy), n_first=n_first) as replay:

        def go_on() -> None:
            due = time.monotonic() + every_s
            while not ended.wait(max(0.0, min(1.0, due - time.monotonic()))):
                if time.monotonic() < due:
                    replay.beat()
                else:
                    replay.write_step()
                    due += every_s

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield replay.run
        finally:
            ended.set()
            thread.join()
