"""`make bench`: every figure of docs/performance.md, a line each; 1 where a target does not hold.

`--quick` tries every part but `confirmed` at a small size; its ratios say little. `--part NAME` measures that part
alone; the demo model's own table is `python -m tests.performance.demo`, growth `python -m tests.performance.scaling`.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from statistics import median

import vpp
from tests.performance.figures import Figure, shown, table
from tests.performance.headline import HEADLINED, headline
from tests.performance.page import PAGE, put
from tests.performance.parts import PARTS, WHOLE_ALONE, measured

SQUARES = 1_000_000
PACKAGES = ("openai", "aiohttp", "streamlit", "diskcache")


def main(words: Sequence[str] | None = None) -> int:
    """0 where every target holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("--part", choices=names, action="append", help="this part alone; may be given again")
    left_out = ", ".join(WHOLE_ALONE)
    parser.add_argument("--quick", action="store_true", help=f"all but {left_out}, small, in under 3 minutes")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {PAGE.name}")
    given = parser.parse_args(words)
    began, found, paces = time.monotonic(), {}, []
    for part in PARTS:
        if part.name not in (given.part or names) or (given.quick and part.name in WHOLE_ALONE):
            continue
        paces.append(pace_ms())
        found[part.about] = measured(part, short=given.quick)
        for figure in found[part.about]:
            print(figure.line, flush=True)
    on = f"{machine()} {pace_words([*paces, pace_ms()])} All of it took {(time.monotonic() - began) / 60:.0f} minutes."
    print(f"\n{verdict([each for part in found.values() for each in part])} {on}")
    if given.write:
        put("bench", "\n".join(section(found, on)))
    return 1 if any(figure.holds is False for part in found.values() for figure in part) else 0


def section(found: dict[str, list[Figure]], on: str) -> list[str]:
    """Markdown: the verdict, the machine, the headline, and a table a part of what the headline leaves out."""
    every = [figure for part in found.values() for figure in part]
    first = headline(every)
    lines = [verdict(every), "", on, *(["", *first] if first else [])]
    for about, figures in found.items():
        rest = [figure for figure in figures if figure.name not in HEADLINED]
        lines += ["", f"### {about[0].upper()}{about[1:]}", "", *table(rest)] if rest else []
    return lines


def verdict(figures: Sequence[Figure]) -> str:
    """How many targets hold, and which do not."""
    asked = [figure for figure in figures if figure.holds is not None]
    failed = [figure.name for figure in asked if not figure.holds]
    said = f"{len(asked) - len(failed)} of {len(asked)} targets hold."
    return f"{said} Not: {'; '.join(failed)}." if failed else said


def pace_ms() -> float:
    """Milliseconds of processor time of a fixed loop: a core that others share may be slower for a while."""
    began, total = time.process_time(), 0
    for number in range(SQUARES):
        total += number * number
    return 1000 * (time.process_time() - began)


def pace_words(paces: Sequence[float]) -> str:
    """A fixed loop's time before each part and after the last."""
    spread = f"{shown(min(paces))} to {shown(max(paces))} during the benchmark"
    took = f"A loop of a million squares took {shown(median(paces))} ms of processor time ({spread})"
    return f"{took}; compare processor times of two machines by this one."


def machine() -> str:
    """What it ran on."""
    model = next((line.partition(":")[2].strip() for line in cpu_lines() if line.startswith("model name")), "")
    packages = ", ".join([f"vpp {vpp.__version__}", *map(_with_version, PACKAGES)])
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({model or 'unnamed'}), {system}, {packages}."


def _with_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def cpu_lines() -> list[str]:
    """Of /proc/cpuinfo; none where there is none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
