"""Makes the demo model's shipped examples anew: `make example`. The same seed gives the same hypotheses and weights."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pages.parts.opening import SHIPPED, prepare_example
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLE, SHIPPED_FILES
from vpp.settings import Config

CHAINS_NAME = "Penguins, chains"


def prepare_shipped() -> Preparation:
    """Prepare SMC with a seed whose wrong first sentences die or are replaced; one pass and 40 rows keep it small."""
    return prepare_example(
        Config(epochs=1, buffer_size=40), options=("--no-cache", "--epochs", "1", "--buffer-size", "40")
    )


def prepare_chains() -> Preparation:
    """Prepare three MH chains with one pass over the rows, and a seed that rejects proposals in every chain."""
    config = Config(method="mh", particles=3, epochs=1, seed=2)
    options = ("--no-cache", "--method", "mh", "--particles", "3", "--epochs", "1", "--seed", "2")
    prepared = prepare_example(config, options=(*options, "--name", CHAINS_NAME))
    return replace(prepared, spec=replace(prepared.spec, name=CHAINS_NAME))


PREPARED: dict[str, Callable[[], Preparation]] = {EXAMPLE: prepare_shipped, CHAINS_EXAMPLE: prepare_chains}


def made(folder: Path, example: str) -> RunDirectory:
    """Make an example's run, finished, in an existing folder."""
    directory = PREPARED[example]().create(folder, run_dir=folder / example)
    subprocess.run([sys.executable, "-m", "vpp", "resume", str(directory.path)], check=True, capture_output=True)
    return directory


def main() -> None:
    """Replace the shipped runs."""
    for example in PREPARED:
        shipped = SHIPPED.with_name(example)
        with tempfile.TemporaryDirectory() as folder:
            run = made(Path(folder), example)
            shutil.rmtree(shipped, ignore_errors=True)
            shipped.mkdir(parents=True)
            for name in SHIPPED_FILES:
                shutil.copyfile(run.path / name, shipped / name)


if __name__ == "__main__":
    main()
