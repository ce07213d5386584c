"""`python -m tests.pictures`: starts the app, starts runs in it, and photographs its pages.

Ends with 1 and a line a fault where a picture would show what it must not.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from tests.app.conftest import ROOT, App, serving
from tests.pictures import runs
from tests.pictures.prints import PRINTS
from tests.pictures.scenes import SCENES, Stage
from tests.pictures.studio import Studio, chromium, part, whole
from vpp.wording.theme import Mode

DOCS = ROOT / "docs" / "pictures"
EVERYTHING = ROOT / "build" / "pictures"
MODES: tuple[Mode, ...] = ("light", "dark")
WIDTHS = (1440, 390)


def main() -> int:
    """Both sets of pictures; how many faults decides what it ends with."""
    asked = arguments()
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, chromium() as browser:
        faults = take_all(app, browser, asked)
    for old in set(DOCS.glob("*.png")) - {DOCS / f"{wanted.name}.png" for wanted in PRINTS}:
        old.unlink()
    return 1 if faults else 0


def arguments() -> argparse.Namespace:
    """Where to, and which."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description="Photograph the app.")
    parser.add_argument("--all", type=Path, default=EVERYTHING, metavar="DIR", help="every page goes here")
    parser.add_argument("--docs-only", action="store_true", help="no more than what docs/ shows")
    parser.add_argument("--scenes", type=lambda names: names.split(","), metavar="A,B", help="these alone")
    return parser.parse_args()


def take_all(app: App, browser: Browser, asked: argparse.Namespace) -> list[str]:
    """Stage by stage: before any run, while one goes on, and after it with others beside it."""
    studio = Studio(browser, app.url)
    take(studio, "empty", asked)
    run = runs.start(browser, app)
    studio.runs = {"run": run}
    take(studio, "live", asked)
    runs.wait(app, run)
    studio.runs = {"run": run, **runs.others(app)}
    take(studio, "finished", asked)
    return studio.faults


def take(studio: Studio, stage: Stage, asked: argparse.Namespace) -> None:
    """Every picture of a stage."""
    for scene in (scene for scene in SCENES if scene.stage == stage and scene.name in (asked.scenes or [scene.name])):
        for wanted in (each for each in PRINTS if each.scene == scene.name):
            studio.take(scene, wanted.mode, wanted.width, part(wanted, DOCS))
        for mode, width in () if asked.docs_only else pairs():
            studio.take(scene, mode, width, whole(asked.all / f"{scene.name}-{width}-{mode}.png"))
        print(scene.name, flush=True)


def pairs() -> Iterable[tuple[Mode, int]]:
    """Each theme at each width."""
    return ((mode, width) for mode in MODES for width in WIDTHS)


if __name__ == "__main__":
    sys.exit(main())
