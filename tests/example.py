"""Makes the shipped example anew: `make example`. The same seed gives the same hypotheses and weights."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages.parts.opening import SHIPPED, prepare_shipped
from vpp.runs.directory import RunDirectory
from vpp.runs.store import SHIPPED_FILES


def made(folder: Path) -> RunDirectory:
    """The example's run, finished, in a folder that is there."""
    directory = prepare_shipped().create(folder, run_dir=folder / SHIPPED.name)
    subprocess.run([sys.executable, "-m", "vpp", "resume", str(directory.path)], check=True, capture_output=True)
    return directory


def main() -> None:
    """Replaces what is shipped."""
    with tempfile.TemporaryDirectory() as folder:
        run = made(Path(folder))
        shutil.rmtree(SHIPPED, ignore_errors=True)
        SHIPPED.mkdir(parents=True)
        for name in SHIPPED_FILES:
            shutil.copyfile(run.path / name, SHIPPED / name)


if __name__ == "__main__":
    main()
