"""`make watchers`: the campaign and its table, also in docs/reliability.md where that has a place for it."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.markdown import DOCS, put
from tests.watchers.campaign import Plan, campaign, summary

PAGE = DOCS / "reliability.md"


def main() -> int:
    """0 where all holds."""
    usual = Plan()
    parser = argparse.ArgumentParser(prog="python -m tests.watchers")
    for name in ("runs", "lines", "windows"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    for name in ("seconds", "warm_up_s"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=getattr(usual, name))
    parser.add_argument("--write", action="store_true", help=f"the table between the markers of {PAGE.name}")
    given = vars(parser.parse_args())
    write = given.pop("write")
    with tempfile.TemporaryDirectory() as folder:
        result = campaign(Plan(**given), Path(folder))
    print("\n".join(summary(result)))
    if write:
        put(PAGE, "watchers", summary(result))
    for fault in result.wrong:
        print(f"FAULT: {fault}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
