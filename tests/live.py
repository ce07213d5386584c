"""A finished run as a live one: its journal grows by a step every so often, as if a worker held it."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from vpp.events import Usage
from vpp.runs.directory import Heartbeat, RunDirectory

APART_S = 0.01
"""Seconds between the records that are there from the first."""
Lines = list[dict[str, Any]]


@contextmanager
def living(finished: Path, copy: Path, *, shown: int, every_s: float) -> Iterator[RunDirectory]:
    """A copy of the run with its first steps, `shown` of them; the rest come one by one.

    Shutting it down takes no longer than one step.
    """
    shutil.copytree(finished, copy)
    run = RunDirectory(copy)
    steps = by_step([json.loads(line) for line in run.journal.read_bytes().splitlines()])
    first = [line for step in steps[: shown + 1] for line in step]
    run.journal.write_bytes(b"")
    with run.lock():
        began = time.time() - APART_S * len(first)
        write(run, [timed(line, began + APART_S * number) for number, line in enumerate(first)])
        run.beat(Heartbeat(usage=Usage(**first[-1]["usage"])))
        ended = threading.Event()
        thread = threading.Thread(target=_go_on, args=(run, steps[shown + 1 :], every_s, ended))
        thread.start()
        try:
            yield run
        finally:
            ended.set()
            thread.join()


def by_step(lines: Lines) -> list[Lines]:
    """Records up to the end of each step, the first hypotheses' first; what comes after the last step is left out."""
    steps: list[Lines] = [[]]
    for line in lines:
        steps[-1].append(line)
        if "event" in line and line["event"]["type"] == "step_finished":
            steps.append([])
    return steps[:-1]


def timed(line: dict[str, Any], at: float) -> dict[str, Any]:
    """Return a record with another time; a line with an answer has none."""
    return {**line, "at": at} if "event" in line else line


def write(run: RunDirectory, lines: Lines) -> None:
    """Append records, as compact as a worker writes them."""
    with run.journal.open("ab") as file:
        file.write(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))


def _go_on(run: RunDirectory, steps: list[Lines], every_s: float, ended: threading.Event) -> None:
    """Write a step every so often and a heartbeat each second, until `ended` is set."""
    left, due = iter(steps), time.monotonic() + every_s
    usage: dict[str, Any] = {}
    while not ended.wait(max(0.0, min(1.0, due - time.monotonic()))):
        if time.monotonic() >= due:
            step = next(left, [])
            write(run, [timed(line, time.time()) for line in step])
            usage = step[-1]["usage"] if step else usage
            due += every_s
        with suppress(OSError):
            run.beat(Heartbeat(usage=Usage(**(usage or steps[0][-1]["usage"]))))
