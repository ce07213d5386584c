"""`make watchers`: the campaign and its table, also in docs/reliability.md where that has a place for it."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.app.conftest import ROOT
from tests.watchers.campaign import Plan, campaign, told

PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- watchers -->", "<!-- /watchers -->"


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
        found = campaign(Plan(**given), Path(folder))
    print("\n".join(told(found)))
    if write:
        put("\n".join(told(found)))
    for fault in found.wrong:
        print(f"FAULT: {fault}")
    return 1 if found.wrong else 0


def put(table: str) -> None:
    """The table between the page's markers. Raises ValueError where it has none."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{PAGE} has no {BEGIN} … {END}: add them where the table is to stand")
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
