"""The parts of the bench: each is a process of its own, which may take so long and no longer."""

import importlib
import multiprocessing
import os
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from tests.performance.figures import Figure, unmeasured

SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Part:
    """Some figures that are measured together."""

    name: str
    about: str
    function: str
    """`module.function` of this package: (folder, whether in short) -> figures. Only the part's process imports it."""
    limit_s: float
    """Seconds after which it is ended, and counts as not measured; in short, a third of it."""


PARTS = (
    Part("startup", "start-up", "startup.figures", 300),
    Part("cost", "client CPU a call", "client.cost_figures", 300),
    Part("queue", "calls against a server of 64 slots", "client.queue_figures", 240),
    Part("kept", "calls saved", "kept.figures", 300),
    Part("packs", "rows a call (SMC, demo model)", "kept.packs", 300),
    Part("stress", "whole runs at 0.3 s and 0.9 s, each alone", "latency.stress", 900),
    Part("real", "whole runs at 1 s and 3 s, T = 6, two at a time", "latency.real", 480),
    Part("confirmed", "whole runs at 1 s and 3 s, T = 20, two at a time", "latency.confirmed", 420),
    Part("full", "whole runs against a server that answers 64 at once, T = 6", "latency.full", 480),
    Part("ahead", "MH chains that run ahead", "latency.ahead", 300),
    Part("pages", "pages (loads are of a run of 200 steps, K = 50)", "pages.figures", 900),
)
WHOLE_ALONE = ("confirmed",)
"""Parts that the short form leaves out."""


def measured(part: Part, *, short: bool) -> list[Figure]:
    """Measure in a process of its own, which is ended with all that it started if it takes too long."""
    limit_s = part.limit_s / 3 if short else part.limit_s
    receiving, sending = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_report, args=(part, short, sending))
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


def _report(part: Part, short: bool, sending: Connection) -> None:
    """Send a part's figures, from a process group of its own."""
    os.setsid()
    module, _, function = part.function.partition(".")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        sending.send(getattr(importlib.import_module(f"tests.performance.{module}"), function)(Path(folder), short))
