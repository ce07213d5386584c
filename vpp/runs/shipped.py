"""Finished runs that are shipped with the product: copied among one's own runs when somebody asks to see one."""

import shutil
import tempfile
from pathlib import Path

from vpp.errors import RunError
from vpp.runs.directory import RunDirectory

EXAMPLE = "example-penguins"
"""Id of the demo model's run, and the name of its folder."""
REAL_EXAMPLE = "example-titanic"
"""Id of a real language model's run, and the name of its folder."""
EXAMPLES = (EXAMPLE, REAL_EXAMPLE)
FILES = ("run.json", "data.csv", "events.jsonl", "answers.jsonl")
"""What a finished run is read from; all else is made from these."""


def unpack(shipped: Path, runs_dir: Path) -> RunDirectory:
    """The run of that folder's name in `runs_dir`, copied there unless it is there already.

    It appears whole or not at all, so that two who ask at once do each other no harm. Raises RunError where it cannot
    be copied.
    """
    target = RunDirectory(runs_dir / shipped.name)
    if (target.path / "run.json").is_file():
        return target
    try:
        runs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=runs_dir) as part:
            _copy(shipped, Path(part) / shipped.name)
            (Path(part) / shipped.name).rename(target.path)
    except OSError as error:
        if not (target.path / "run.json").is_file():
            raise RunError(
                f"the example cannot be copied to {target.path} ({error.strerror}): choose another runs folder"
            ) from None
    return target


def _copy(shipped: Path, to: Path) -> None:
    to.mkdir(mode=0o700)
    for name in FILES:
        shutil.copyfile(shipped / name, to / name)
