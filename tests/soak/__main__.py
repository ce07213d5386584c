"""`make soak`: the course and its table, with --write also in docs/performance.md."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.markdown import DOCS, put
from tests.soak.course import soak, summary


def main() -> int:
    """Return 0 if all holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "3600")))
    parser.add_argument("--write", action="store_true", help="the table between the markers of docs/performance.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = soak(given.seconds, Path(folder), say=lambda words: print(words, flush=True))
    print("\n".join(summary(course)))
    if given.write:
        put(DOCS / "performance.md", "soak", summary(course))
    for fault in dict.fromkeys(course.wrong):
        print(f"FAULT: {fault}")
    return 1 if course.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
