"""The runs that pictures show: one started in the app, others beside it by the command line."""

import json
import subprocess
import sys
import time

from playwright.sync_api import Browser

from tests.app.conftest import ROOT, App
from tests.pictures.scenes import CARD, CSV, SEED, START, upload

SEED_OF_RUN = "5"
"""Its ideas keep comparable weights, so that there is something to see."""
CHAINS = ("--demo", "--seed", SEED_OF_RUN, "--method", "mh", "--mh-rows", "buffer", "--name", "Penguins, chains")
FAILING = ("--base-url", "http://127.0.0.1:9/v1", "--model", "llama", "--max-wait", "0", "--name", "No server")
SIZE = ("--tasks", "linear,sum-parity", "--methods", "vml,mh,smc", "--seeds", "1", "--epochs", "1")
MOST_S = 300.0


def start(browser: Browser, app: App) -> str:
    """As a user does it: a CSV, a seed, a click. Its id."""
    page = browser.new_page()
    page.goto(app.url)
    upload(page)
    seed = page.get_by_label(SEED, exact=True)
    seed.fill(SEED_OF_RUN)
    seed.press("Enter")
    page.get_by_role("button", name=START).click()
    page.wait_for_url("**/watch?run=*")
    page.locator(CARD).first.wait_for()
    run = page.url.partition("run=")[2]
    page.close()
    return run


def wait(app: App, run: str) -> None:
    """Until it has ended. Raises TimeoutError."""
    deadline = time.monotonic() + MOST_S
    while (status := json.loads((app.runs / run / "run.json").read_text())["status"]) in ("queued", "running"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{run} is still {status}")
        time.sleep(0.5)


def others(app: App) -> dict[str, str]:
    """One of another method, one that fails, and a sweep; ids by name."""
    table = ("run", str(CSV), "--target", "species", "--quiet", "--json")
    other = vpp(app, *table, *CHAINS)
    vpp(app, *table, *FAILING, may_fail=True)
    vpp(app, "bench", "--demo", "--quiet", *SIZE)
    failed = next(app.runs.glob("*no-server*"))
    return {"other": json.loads(other)["run"], "failed": failed.name}


def vpp(app: App, *command: str, may_fail: bool = False) -> str:
    """What a command prints. Raises CalledProcessError."""
    call = [sys.executable, "-m", "vpp", *command]
    done = subprocess.run(call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=not may_fail)
    return done.stdout
