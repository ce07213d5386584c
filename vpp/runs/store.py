"""The runs folder: its runs, newest first, and the shipped examples that are copied into it."""

import re
import secrets
import shutil
import tempfile
import unicodedata
from datetime import datetime
from pathlib import Path

from vpp.errors import DiskRefused, RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import refusal
from vpp.runs.spec import RunSpec

EXAMPLE = "example-penguins"
"""Id and folder of the shipped run of the demo model, SMC."""
CHAINS_EXAMPLE = "example-penguins-mh"
"""Id and folder of the shipped run of the demo model, MH."""
REAL_EXAMPLE = "example-titanic"
"""Id and folder of the shipped run of a language model."""
TEXT_EXAMPLE = "example-messages"
"""Id and folder of the shipped run on texts: a language model weighs a person's hypotheses."""
EXAMPLES = (EXAMPLE, CHAINS_EXAMPLE, REAL_EXAMPLE, TEXT_EXAMPLE)
SHIPPED_FILES = ("run.json", "data.csv", "events.jsonl", "summary.json")
"""Files of every shipped run; one may have results of later commands beside them."""
FILES = frozenset({*SHIPPED_FILES, "control", "heartbeat", "lock", "worker.log"})


def run_id(name: str, method: str, *, now: datetime) -> str:
    """Return an id that sorts by time and is readable: 20260110-1432-iris-smc-7f3a."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:32] or "run"
    return f"{now:%Y%m%d-%H%M}-{slug}-{method}-{secrets.token_hex(2)}"


class RunStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, spec: RunSpec, data: bytes, *, now: datetime) -> RunDirectory:
        directory = RunDirectory(self.folder / run_id(spec.name, spec.config.method, now=now))
        directory.create(spec, data)
        return directory

    def runs(self) -> list[RunDirectory]:
        """Return the runs, newest first."""
        paths = self.folder.iterdir() if self.folder.is_dir() else ()
        runs = [run for run in map(RunDirectory, paths) if run.exists]
        return sorted(runs, key=lambda run: (made_at(run), run.id), reverse=True)

    def get(self, run: str) -> RunDirectory:
        """Return a run by id, which is never a path. Raises RunError if there is none."""
        is_name = run not in ("", ".", "..") and not {"/", "\0"} & set(run)
        if is_name and (directory := RunDirectory(self.folder / run)).exists:
            return directory
        raise RunError(f"no run {run!r} in {self.folder}: pick one of the list")


def made_at(run: RunDirectory) -> datetime:
    """Return when its rows were written, in local time."""
    try:
        return datetime.fromtimestamp(run.data.stat().st_mtime)
    except OSError:
        return datetime.min


def rename(directory: RunDirectory, name: str) -> None:
    if not name.strip():
        raise RunError("a run needs a name of at least one character")
    directory.amend(name=name.strip())


def delete(directory: RunDirectory) -> None:
    """Delete the run. Raises RunError if a worker holds it, it is no run, or the disk refuses."""
    if not directory.exists:
        raise RunError(f"{directory.path} holds no run: nothing was deleted")
    with directory.lock():
        try:
            (directory.path / "run.json").unlink()  # first, so that nobody sees half a run
        except OSError as error:
            raise DiskRefused(refusal(error, directory.path)) from None
        shutil.rmtree(directory.path, ignore_errors=True)


def unpack(shipped: Path, runs_dir: Path) -> RunDirectory:
    """Copy a shipped run into `runs_dir`, unless it is there already. Raises RunError if it cannot be copied.

    The copy appears complete or not at all, also if two ask at the same time.
    """
    target = RunDirectory(runs_dir / shipped.name)
    if target.exists:
        return target
    try:
        runs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=runs_dir) as part:
            shutil.copytree(shipped, Path(part) / shipped.name).rename(target.path)
    except OSError as error:
        if not target.exists:
            raise RunError(
                f"the example cannot be copied to {target.path} ({error.strerror}): choose another runs folder"
            ) from None
    return target
