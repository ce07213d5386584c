"""`make install-check`: build the package, install it in every way and for every Python that is here; a line for each.

Needs the registry of packages, and Chromium for the app. Exits with 1 if a line fails.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, free_port, is_served
from tests.processes import wait_until

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
STARTS_WITHIN_S, EXAMPLE_WITHIN_MS = 120, 120_000
CROSS_VALIDATION = """
import numpy as np
from sklearn.model_selection import cross_val_score
from vpp import VPPClassifier
x = np.arange(40.0).reshape(-1, 1)
print(cross_val_score(VPPClassifier(particles=3, epochs=1), x, np.where(x[:, 0] > 19, "high", "low"), cv=2).mean())
"""


class Check:
    """The lines so far, and the folder that they work in."""

    def __init__(self, tools: Path, folder: Path) -> None:
        self._tools, self._folder = tools, folder
        self.has_failed = False

    def line(self, what: str, work: Callable[[], str]) -> None:
        """Do it, and print what came of it and how long it took."""
        began = time.perf_counter()
        try:
            found, mark = work(), "works"
        except (subprocess.SubprocessError, OSError, AssertionError, ValueError) as error:
            found, mark = str(getattr(error, "stderr", "") or error).strip()[-300:].replace("\n", " "), "FAILS"
            self.has_failed = True
        print(f"{mark}  {what}: {found} ({time.perf_counter() - began:.1f} s)", flush=True)

    def run(self, *words: object, tool: bool = False) -> str:
        """Run a command in an empty folder whose user has nothing yet; return what it prints."""
        here = Path(tempfile.mkdtemp(dir=self._folder))
        first = str(self._tools / "bin" / str(words[0])) if tool else str(words[0])
        done = subprocess.run(
            [first, *map(str, words[1:])],
            cwd=here,
            env=self.environment(here),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def environment(self, home: Path) -> dict[str, str]:
        """Return an environment that knows nothing of the clone."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("VPP_", "PYTHON", "XDG_"))}
        return {
            **kept,
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "UV_CACHE_DIR": str(self._folder / "uv"),
        }


def megabytes(path: Path) -> str:
    """Return the size of a file or folder."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return f"{sum(each.stat().st_size for each in files if each.is_file()) / 1e6:,.1f} MB"


def pythons(tools: Path) -> dict[str, str]:
    """Return the Pythons of this machine that the package is for, those of pyenv too, by version."""
    folders = [*os.environ["PATH"].split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    find = (str(tools / "bin" / "uv"), "python", "find", "--system", "--no-python-downloads")
    variables, found = {**os.environ, "PATH": os.pathsep.join(folders)}, {}
    for version in PYTHONS:
        done = subprocess.run((*find, version), env=variables, capture_output=True, text=True)
        found |= {version: done.stdout.strip()} if done.returncode == 0 else {}
    return found


def built(dist: Path) -> str:
    """Build sdist and wheel."""
    subprocess.run(
        (sys.executable, "-m", "hatchling", "build", "-d", str(dist)), cwd=ROOT, check=True, capture_output=True
    )
    return ", ".join(f"{path.name} {megabytes(path)}" for path in sorted(dist.iterdir()))


def installed(check: Check, python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel in an empty environment of one Python."""
    check.run("uv", "venv", "--quiet", "--python", python, folder, tool=True)
    check.run("uv", "pip", "install", "--quiet", "--python", folder / "bin" / "python", wheel, tool=True)
    return f"{check.run(folder / 'bin' / 'vpp', '--version')}, {megabytes(folder)} with all that it needs"


def served(check: Check, command: Sequence[object], home: Path) -> str:
    """Serve the app, open it in a browser, and run the example."""
    home.mkdir()
    port, began = free_port(), time.perf_counter()
    words, quiet = [*map(str, command), "app", "--port", str(port)], subprocess.DEVNULL
    serving = subprocess.Popen(words, cwd=home, env=check.environment(home), stdout=quiet, stderr=quiet)
    try:
        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
            wait_until(lambda: is_served(page, port), "the app is served", within_s=STARTS_WITHIN_S)
            button = page.get_by_role("button", name="Run the example").first
            button.wait_for(timeout=EXAMPLE_WITHIN_MS)
            shown_s = time.perf_counter() - began
            button.click()
            page.locator(".stage article.card").first.wait_for(timeout=EXAMPLE_WITHIN_MS)
    finally:
        serving.terminate()
        serving.wait()
    (run,) = (home / "data" / "vpp" / "runs").glob("2*")
    return f"first page after {shown_s:.1f} s; the example runs, in {run.parent.relative_to(home)}"


def main(tools: Path) -> int:
    """Print a line for each way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check, dist = Check(tools, folder), folder / "dist"
        check.line("sdist and wheel", lambda: built(dist))
        (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        check.line("twine check", lambda: check.run("twine", "check", "--strict", wheel, sdist, tool=True)[-60:])
        check.line("check-wheel-contents", lambda: check.run("check-wheel-contents", wheel, tool=True)[-40:])
        known = pythons(tools)
        for version, python in known.items():
            place = folder / version
            check.line(f"Python {version}, empty environment", lambda p=python, f=place: installed(check, p, wheel, f))
        first = folder / next(iter(known)) / "bin"
        check.line("vpp app", lambda: served(check, (first / "vpp",), folder / "home"))
        check.line("cross_val_score", lambda: check.run(first / "python", "-c", CROSS_VALIDATION))
        check.line("uvx --from WHEEL vpp", lambda: check.run("uvx", "--from", wheel, "vpp", "--version", tool=True))
        uvx_app = (tools / "bin" / "uvx", "--from", wheel, "vpp")
        check.line("uvx --from WHEEL vpp app", lambda: served(check, uvx_app, folder / "uvx-home"))
        check.line("pipx run", lambda: check.run("pipx", "run", "--spec", wheel, "vpp", "--version", tool=True))
        check.line("sdist", lambda: check.run("uvx", "--from", sdist, "vpp", "--version", tool=True))
        check.line("hadolint Dockerfile", lambda: check.run("hadolint", ROOT / "Dockerfile", tool=True) or "no finding")
        return int(check.has_failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
