"""Makes the shipped example anew: `make example`. The same seed gives the same hypotheses and weights."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages.parts.opening import SHIPPED, prepare_example
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.store import SHIPPED_FILES
from vpp.settings import Config


def prepare_shipped() -> Preparation:
    """Prepare SMC with one pass over the rows, and a seed whose sentences end up distinct and divided."""
    options = ("--no-cache", "--epochs", "1", "--seed", "1")
    return prepare_example(Config(epochs=1, seed=1), options=options)


def made(folder: Path) -> RunDirectory:
    """Make the example's run, finished, in an existing folder."""
    directory = prepare_shipped().create(folder, run_dir=folder / SHIPPED.name)
    subprocess.run([sys.executable, "-m", "vpp", "resume", str(directory.path)], check=True, capture_output=True)
    return directory


def main() -> None:
    """Replace the shipped run."""
    with tempfile.TemporaryDirectory() as folder:
        run = made(Path(folder))
        shutil.rmtree(SHIPPED, ignore_errors=True)
        SHIPPED.mkdir(parents=True)
        for name in SHIPPED_FILES:
            shutil.copyfile(run.path / name, SHIPPED / name)


if __name__ == "__main__":
    main()
