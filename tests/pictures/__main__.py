"""`python -m tests.pictures [NAME ...]`: starts the app and runs in it, and photographs pages for docs/pictures."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, App, serving
from tests.pictures.prints import CARD, CSV, PRINTS, START, Stage, upload
from tests.pictures.studio import Studio
from tests.processes import wait_until

DOCS = ROOT / "docs" / "pictures"
SEED = "5"
"""Seed of a run whose ideas have comparable weights: with one heavy idea the pictures would show little."""
CHAINS = ("--demo", "--seed", SEED, "--method", "mh", "--mh-rows", "buffer", "--name", "Penguins, chains")
CALIBRATED = ("--demo", "--seed", SEED, "--calibration-size", "60", "--name", "Penguins, calibrated")
GRADED = ("--demo", "--seed", SEED, "--epochs", "1", "--likelihood", "logprobs", "--name", "Penguins, probabilities")
FAILING = ("--base-url", "http://127.0.0.1:9/v1", "--model", "llama", "--limit", "wait=0", "--name", "No server")
MOST_S = 300.0


def main(names: list[str]) -> None:
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, sync_playwright() as playwright:
        studio = Studio(playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), app.url, DOCS)
        take(studio, "empty", names)
        run = start(studio.browser, app)
        studio.runs = {"run": run}
        record = app.runs / run / "run.json"
        wait_until(lambda: json.loads(record.read_text())["status"] not in ("queued", "running"), run, within_s=MOST_S)
        studio.runs = {"run": run, **others(app)}
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


def start(browser: Browser, app: App) -> str:
    """Start a run as a user does, with a CSV, a seed and a click; return its id."""
    page = browser.new_page()
    page.goto(app.url)
    upload(page)
    seed = page.get_by_label("Seed", exact=True)
    seed.fill(SEED)
    seed.press("Enter")
    page.get_by_role("button", name=START).click()
    page.wait_for_url("**/watch?run=*")
    page.locator(CARD).first.wait_for()
    run = page.url.partition("run=")[2]
    page.close()
    return run


def others(app: App) -> dict[str, str]:
    """Make runs of another method, with calibration rows, with label probabilities, and one that fails; return ids."""
    table = ("run", str(CSV), "--target", "species", "--quiet", "--json")
    made = {"other": CHAINS, "calibrated": CALIBRATED, "graded": GRADED}
    runs = {name: json.loads(vpp(app, *table, *options))["run"] for name, options in made.items()}
    vpp(app, *table, *FAILING, may_fail=True)
    failed = next(app.runs.glob("*no-server*")).name
    return {**runs, "failed": failed}


def vpp(app: App, *command: str, may_fail: bool = False) -> str:
    """Return what a command prints. Raises CalledProcessError."""
    call = [sys.executable, "-m", "vpp", *command]
    done = subprocess.run(call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=not may_fail)
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
