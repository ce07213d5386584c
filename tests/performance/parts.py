"""The parts of the bench: each is a process of its own, which may take so long and no longer."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from tests.performance.figures import Figure, unmeasured

SPAWN = multiprocessing.get_context("spawn")
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
    """Measure in a process of its own, which is ended with all that it started if it takes too long."""
    limit_s = part.limit_s / 3 if short else part.limit_s
    receiving, sending = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_report, args=(part.name, short, sending))
    process.start()
    sending.close()
    try:
        if not receiving.poll(limit_s):
            return [unmeasured(part.about, f"not done within {limit_s:.0f} s")]
        figures = receiving.recv()
    except EOFError:
        process.join()
        return [unmeasured(part.about, f"the part {part.name} ended with {process.exitcode}: see above")]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
    by = f"python -m tests.performance --part {part.name}{' --quick' if short else ''}"
    return [replace(figure, command=by) for figure in figures]


def _report(name: str, short: bool, sending: Connection) -> None:
    """Send a part's figures, from a process group of its own."""
    os.setsid()
    part = next(each for each in PARTS if each.name == name)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        sending.send(part.measure(Path(folder), short))
