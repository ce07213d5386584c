"""`make install-check`: build wheel and sdist, install the wheel in an empty environment, and use it there.

Needs the registry of packages. A line for each step; the first that fails ends it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.app.conftest import end, wait_until_up
from tests.processes import PENGUINS, ROOT, free_port

RUN = ("run", PENGUINS, "--target", "species", "--demo", "--epochs", "1", "--particles", "3", "--json", "--quiet")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = clean(folder)
        call(sys.executable, "-m", "hatchling", "--quiet", "build", "-d", folder / "dist", cwd=ROOT)
        (wheel,), (sdist,) = folder.glob("dist/*.whl"), folder.glob("dist/*.tar.gz")
        say("built", f"{wheel.name}, {sdist.name}")
        call(sys.executable, "-m", "venv", folder / "venv")
        call(folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        vpp = folder / "venv/bin/vpp"
        say("installed", call(vpp, "--version", cwd=folder, env=environment).strip())
        say("helps", call(vpp, "--help", cwd=folder, env=environment).splitlines()[0])
        result = json.loads(call(vpp, *RUN, cwd=folder, env=environment))
        say("runs", f"{result['status']}, {result['metric']['name']} {result['metric']['test']:.2f}")
        say("serves", serve(vpp, folder, environment))


def say(step: str, words: str) -> None:
    print(f"{step:10} {words}", flush=True)


def clean(home: Path) -> dict[str, str]:
    """Return an environment that knows nothing of the clone."""
    foreign = ("VPP_", "PYTHON", "XDG_", "OPENAI_")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    return {**inherited, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}


def call(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Return what a command prints. Raises CalledProcessError."""
    return subprocess.run([*map(str, words)], cwd=cwd, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


def serve(vpp: Path, folder: Path, environment: dict[str, str]) -> str:
    """Start the app, and wait until it answers. Raises AssertionError if it ended."""
    port, began = free_port(), time.monotonic()
    quiet = subprocess.DEVNULL
    words = [str(vpp), "app", "--port", str(port)]
    server = subprocess.Popen(words, cwd=folder, env=environment, stdout=quiet, stderr=quiet)
    try:
        wait_until_up(f"http://127.0.0.1:{port}", server)
    finally:
        end(server)
    return f"/_stcore/health answers after {time.monotonic() - began:.1f} s"


if __name__ == "__main__":
    main()
