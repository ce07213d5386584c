"""`make bench`: every figure of docs/performance.md, a line each; 1 where a target does not hold.

`--quick` tries every part but `confirmed` at a small size; its ratios say little. `--part NAME` measures that part
alone.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median

import vpp
from tests.markdown import DOCS, put
from tests.performance.figures import Figure, section, shown
from tests.performance.headline import HEADLINED, headline
from tests.performance.parts import PARTS, WHOLE_ALONE, measured

PAGE = DOCS / "performance.md"
SQUARES = 1_000_000
TARGET_PACE_MS = 33.5
"""Processor time of the squares on the machine for which targets are set."""
PACKAGES = ("openai", "aiohttp", "streamlit", "diskcache")


def main(words: Sequence[str] | None = None) -> int:
    """Return 0 if every target holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("--part", choices=names, action="append", help="this part alone; may be given again")
    left_out = ", ".join(WHOLE_ALONE)
    parser.add_argument("--quick", action="store_true", help=f"all but {left_out}, small, in under 3 minutes")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {PAGE.name}")
    given = parser.parse_args(words)
    began, paces = time.monotonic(), [pace_ms()]
    measured_parts: dict[str, list[Figure]] = {}
    for part in PARTS:
        if part.name not in (given.part or names) or (given.quick and part.name in WHOLE_ALONE):
            continue
        figures = measured(part, short=given.quick)
        paces.append(pace_ms())
        measured_parts[part.about] = [figure.on(median(paces[-2:]) / TARGET_PACE_MS) for figure in figures]
        for figure in measured_parts[part.about]:
            print(f"{figure.name} | {figure.ranged} | {figure.goal}", flush=True)
    minutes = (time.monotonic() - began) / 60
    on = f"{machine()} {pace_words(paces)} The benchmark took {minutes:.0f} minutes."
    print(f"\n{verdict(every(measured_parts))} {on}")
    if given.write:
        put(PAGE, "bench", report(measured_parts, on))
    return 1 if any(figure.holds is False for figure in every(measured_parts)) else 0


def every(parts: dict[str, list[Figure]]) -> list[Figure]:
    """Return the figures of all parts."""
    return [figure for figures in parts.values() for figure in figures]


def report(parts: dict[str, list[Figure]], on: str) -> list[str]:
    """Markdown: the verdict, the machine, the headline, and a table a part of what the headline leaves out."""
    first = headline(every(parts))
    lines = [verdict(every(parts)), "", on, *(["", *first] if first else [])]
    for about, figures in parts.items():
        rest = [figure for figure in figures if figure.name not in HEADLINED]
        lines += ["", f"### {about[0].upper()}{about[1:]}", "", *section(rest)] if rest else []
    return lines


def verdict(figures: Sequence[Figure]) -> str:
    """Say how many targets hold, and which do not."""
    with_target = [figure for figure in figures if figure.holds is not None]
    failed = [figure.name for figure in with_target if not figure.holds]
    holding = f"{len(with_target) - len(failed)} of {len(with_target)} targets hold."
    return f"{holding} Not: {'; '.join(failed)}." if failed else holding


def pace_ms() -> float:
    """Milliseconds of processor time of a fixed loop: a core that others share may be slower for a while."""
    began, total = time.process_time(), 0
    for number in range(SQUARES):
        total += number * number
    return 1000 * (time.process_time() - began)


def pace_words(paces: Sequence[float]) -> str:
    """Say what a fixed loop took before each part and after the last."""
    spread = f"median; {shown(min(paces))} to {shown(max(paces))} during the benchmark"
    took = f"A loop of a million squares took {shown(median(paces))} ms of processor time ({spread})"
    return f"{took}; targets of speed are for {TARGET_PACE_MS:g} ms."


def machine() -> str:
    """What it ran on."""
    model = next((line.partition(":")[2].strip() for line in cpu_lines() if line.startswith("model name")), "")
    packages = ", ".join([f"vpp {vpp.__version__}", *(f"{name} {version(name)}" for name in PACKAGES)])
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({model or 'unnamed'}), {system}, {packages}."


def cpu_lines() -> list[str]:
    """Lines of /proc/cpuinfo; empty on other systems."""
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    sys.exit(main())
