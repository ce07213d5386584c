"""`make bench`: the ratios of docs/performance.md, a line each; 1 if one misses its limit or cannot be measured.

Takes under eight minutes on two quiet cores.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from subprocess import SubprocessError

import vpp
from tests.performance import app, library, runs
from tests.performance.ratios import Ratio, put

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
PARTS = {
    "runs": runs.ratios,
    "client": library.client,
    "tables": library.tables,
    "programs": library.programs,
    "pages": app.pages,
    "load": app.load,
}
PACKAGES = ("openai", "aiohttp", "streamlit", "pandas")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--write", action="store_true", help=f"put the ratios into {PAGE.name}")
    options = parser.parse_args(words)
    began, ratios = time.monotonic(), list[Ratio]()
    for part in options.part or PARTS:
        ratios += measure(part)
    failed = [ratio.name for ratio in ratios if not ratio.holds]
    verdict = f"Missed: {'; '.join(failed)}." if failed else "Every limit holds."
    about = f"{verdict} {machine()} The bench took {(time.monotonic() - began) / 60:.1f} minutes."
    print(about)
    if options.write:
        put(PAGE, about, ratios)
    return 1 if failed else 0


def measure(part: str) -> list[Ratio]:
    """Measure a part; one that fails is a ratio that misses its limit."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        try:
            ratios = PARTS[part](Path(folder))
        except (AssertionError, OSError, SubprocessError) as error:
            ratios = [Ratio(name=part, value=float("nan"), most=0.0, parts=f"not measured: {error}"[:200])]
    print(*(f"{ratio.line} {ratio.parts}" for ratio in ratios), sep="\n", flush=True)
    return ratios


def machine() -> str:
    packages = ", ".join([f"vpp {vpp.__version__}", *(f"{name} {version(name)}" for name in PACKAGES)])
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {system}, {packages}."


if __name__ == "__main__":
    sys.exit(main())
