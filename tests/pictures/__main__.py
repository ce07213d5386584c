"""`python -m tests.pictures [NAME ...]`: starts the app and runs in it, and photographs pages for docs/pictures."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from pages.parts.opening import COMMAND
from tests.app.conftest import CHROMIUM, FLAGS, ROOT, App, serving
from tests.pictures.prints import CSV, PRINTS, Stage
from tests.pictures.studio import Studio

DOCS = ROOT / "docs" / "pictures"
SEED = "5"
"""Seed of a run whose ideas have comparable weights: with one heavy idea the pictures would show little."""
CALIBRATED = ("--demo", "--seed", SEED, "--calibration-size", "60", "--name", "Penguins, calibrated")
GRADED = ("--demo", "--seed", SEED, "--epochs", "1", "--likelihood", "logprobs", "--name", "Penguins, probabilities")


def main(names: list[str]) -> None:
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, sync_playwright() as playwright:
        studio = Studio(playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), app.url, DOCS)
        take(studio, "empty", names)
        studio.runs = make_runs(app)
        take(studio, "finished", names)
        studio.browser.close()
    for old in set(DOCS.glob("*.png")) - {DOCS / f"{wanted.name}.png" for wanted in PRINTS}:
        old.unlink()


def take(studio: Studio, stage: Stage, names: list[str]) -> None:
    """Take the pictures of a stage: before any run, or after one with others beside it."""
    for wanted in PRINTS:
        if wanted.stage == stage and wanted.name in (names or [wanted.name]):
            studio.take(wanted)
            print(wanted.name, flush=True)


def make_runs(app: App) -> dict[str, str]:
    """Make the example, a run with calibration rows, and one with label probabilities; return their ids."""
    table = ("run", str(CSV), "--target", "species", "--quiet", "--json")
    made = {"run": ("--demo", *COMMAND[COMMAND.index("--no-cache") :]), "calibrated": CALIBRATED, "graded": GRADED}
    return {name: json.loads(vpp(app, *table, *options))["run"] for name, options in made.items()}


def vpp(app: App, *command: str) -> str:
    """Return what a command prints. Raises CalledProcessError."""
    call = [sys.executable, "-m", "vpp", *command]
    done = subprocess.run(call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
