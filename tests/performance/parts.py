"""The parts of the bench: each is a process of its own, which may take so long and no longer."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests.performance.figures import Figure, packed, unmeasured, unpacked
from tests.performance.workers import ROOT

Measure = Callable[[Path, bool], list[Figure]]
"""(folder, whether in short) -> figures."""


@dataclass(frozen=True)
class Part:
    """Some figures that are measured together."""

    name: str
    about: str
    measure: Measure
    limit_s: float
    """Seconds after which it is ended, and counts as not measured; in short, a third of it."""


def startup(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import startup as own

    return own.figures(folder, times=1 if short else 3)


def cost(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import client as own

    return own.cost_figures(times=1 if short else 3, rounds=2 if short else 3)


def queue(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import client as own

    return own.queue_figures(times=1 if short else 3, calls=300 if short else own.QUEUED)


def kept(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import kept as own

    small = ("--particles", "3", "--epochs", "1") if short else ()
    found = own.memory(folder / "memory", seeds=1 if short else 3, words=small)
    steps = 2 if short else 4
    for method, cached in own.RESUMED:
        found.append(own.resume(folder / f"{method}-{cached}", method, cached=cached, steps=steps))
    return found


def packs(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import kept as own

    return own.packs(folder, seeds=1 if short else 2, particles=3 if short else 5)


def stress(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import latency as own
    from tests.performance.rounds import STRESS

    found = own.runs(STRESS, folder, steps=2 if short else 20, times=1 if short else 3)
    return own.direct(found, targets={} if short else own.TARGETS["stress"])


def real(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import latency as own
    from tests.performance.rounds import REAL

    if short:
        return own.direct(own.runs(REAL, folder, steps=1, times=1, apart_s=1.0))
    six = own.runs(REAL, folder / "six", steps=6, times=3, apart_s=own.APART_S)
    vml = own.TARGETS["real"]["vml"]
    return [*own.from_short(six, steps=20), *own.direct(six, targets={"vml": vml})]


def confirmed(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import latency as own
    from tests.performance.rounds import REAL

    found = own.runs(REAL, folder, steps=20, times=1, apart_s=own.APART_S)
    return own.direct(found, targets=own.TARGETS["real"])


def full(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import latency as own
    from tests.performance.rounds import REAL, STRESS

    if short:
        return [replace(own.capacity(STRESS, folder, steps=2, times=1, apart_s=None), target=None)]
    return [
        own.capacity(REAL, folder / "real", steps=6, times=3, apart_s=own.APART_S),
        own.capacity(STRESS, folder / "stress", steps=6, times=3, apart_s=None),
    ]


def ahead(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import latency as own
    from tests.performance.rounds import STRESS

    return own.ahead(STRESS, folder, steps=2 if short else 6)


def pages(folder: Path, short: bool) -> list[Figure]:
    from tests.performance import pages as own

    if short:
        return own.figures(folder, times=1, seconds=6, names=("watch",))
    return own.figures(folder, times=3, seconds=8, names=own.PAGES)


PARTS = (
    Part("startup", "start-up", startup, 300),
    Part("cost", "client CPU a call", cost, 300),
    Part("queue", "calls against a server of 64 slots", queue, 240),
    Part("kept", "calls saved", kept, 300),
    Part("packs", "rows a call (SMC, demo model)", packs, 300),
    Part("stress", "whole runs at 0.3 s and 0.9 s, each alone", stress, 900),
    Part("real", "whole runs at 1 s and 3 s, T = 6, two at a time", real, 480),
    Part("confirmed", "whole runs at 1 s and 3 s, T = 20, two at a time", confirmed, 420),
    Part("full", "whole runs against a server that answers 64 at once, T = 6", full, 480),
    Part("ahead", "MH chains that run ahead", ahead, 300),
    Part("pages", "pages (loads are of a run of 200 steps, K = 50)", pages, 900),
)
WHOLE_ALONE = ("confirmed",)
"""Parts that the short form leaves out."""


def measured(part: Part, *, short: bool) -> list[Figure]:
    """By a process of its own, which is ended with all that it started where it takes too long."""
    limit_s = part.limit_s / 3 if short else part.limit_s
    command = [sys.executable, "-m", "tests.performance.parts", part.name, *(["--quick"] if short else [])]
    try:
        with _leashed(command) as process:
            told, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return [unmeasured(part.about, f"not done within {limit_s:.0f} s")]
    if process.returncode:
        return [unmeasured(part.about, f"the part {part.name} ended with {process.returncode}: see above")]
    by = f"python -m tests.performance --part {part.name}{' --quick' if short else ''}"
    return [replace(figure, command=by) for figure in unpacked(json.loads(told.splitlines()[-1]))]


@contextmanager
def _leashed(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process whose standard input ends with this one; it and its group are ended when it is left."""
    held, leash = os.pipe()
    process = subprocess.Popen(command, cwd=ROOT, stdin=held, stdout=subprocess.PIPE, text=True, start_new_session=True)
    os.close(held)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(leash)
        if process.stdout:
            process.stdout.close()


def _end_with_leash() -> None:
    """Ends this process and its group where whoever started it is gone."""
    while os.read(0, 1024):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    """One part: its figures as the last line of standard output, as JSON."""
    part = next(each for each in PARTS if each.name == sys.argv[1])
    threading.Thread(target=_end_with_leash, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        print(json.dumps(packed(part.measure(Path(folder), "--quick" in sys.argv))), flush=True)


if __name__ == "__main__":
    main()
