"""`python -m tests.pictures [NAME ...]`: starts the app and a run in it, and photographs pages for docs/pictures."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, App, serving
from tests.example import DEMO
from tests.pictures.prints import PRINTS, Stage
from tests.pictures.studio import Studio
from vpp.runs.store import EXAMPLE

DOCS = ROOT / "docs" / "pictures"


def main(names: list[str]) -> None:
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, sync_playwright() as playwright:
        studio = Studio(playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), app.url, DOCS)
        take(studio, "empty", names)
        studio.run = make_run(app)
        take(studio, "finished", names)
        studio.browser.close()
    for old in set(DOCS.glob("*.png")) - {DOCS / f"{wanted.name}.png" for wanted in PRINTS}:
        old.unlink()


def take(studio: Studio, stage: Stage, names: list[str]) -> None:
    """Take the pictures of a stage: before any run, or after one."""
    for wanted in PRINTS:
        if wanted.stage == stage and wanted.name in (names or [wanted.name]):
            studio.take(wanted)
            print(wanted.name, flush=True)


def make_run(app: App) -> str:
    """Make the example; return its id."""
    call = [sys.executable, "-m", "vpp", *DEMO[EXAMPLE], "--quiet", "--json"]
    done = subprocess.run(call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=True)
    return str(json.loads(done.stdout)["run"])


if __name__ == "__main__":
    main(sys.argv[1:])
