"""The runs folder: every run in it, newest first."""

import re
import secrets
import shutil
import unicodedata
from datetime import datetime
from pathlib import Path

from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec


def run_id(name: str, method: str, *, now: datetime) -> str:
    """An id that sorts by time and reads well: 20260110-1432-iris-smc-7f3a."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:32] or "run"
    return f"{now:%Y%m%d-%H%M}-{slug}-{method}-{secrets.token_hex(2)}"


class RunStore:
    """A folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, spec: RunSpec, data: bytes, *, now: datetime) -> RunDirectory:
        """A new run, ready for a worker."""
        path = self.folder / run_id(spec.name, spec.config.method, now=now)
        while path.exists():
            path = self.folder / run_id(spec.name, spec.config.method, now=now)
        directory = RunDirectory(path)
        directory.create(spec, data)
        return directory

    def runs(self) -> list[RunDirectory]:
        """Newest first; folders without a run.json are not runs."""
        if not self.folder.is_dir():
            return []
        found = [RunDirectory(p) for p in self.folder.iterdir() if (p / "run.json").is_file()]
        return sorted(found, key=lambda run: (made_at(run), *_written(run)), reverse=True)

    def get(self, run: str) -> RunDirectory:
        """A run by id. Raises RunError where there is none; an id is never a path."""
        for directory in self.runs():
            if directory.id == run:
                return directory
        raise RunError(f"no run {run!r} in {self.folder}: pick one of the list")


def made_at(run: RunDirectory) -> datetime:
    """The minute that the id names; of an id that names none, when the rows were written. Local time."""
    try:
        return datetime.strptime(run.id[:13], "%Y%m%d-%H%M")
    except ValueError:
        return datetime.fromtimestamp(_written(run)[0])


def _written(run: RunDirectory) -> tuple[float, str]:
    """When the rows were, which is once (Unix time), then the id."""
    try:
        return run.data.stat().st_mtime, run.id
    except OSError:
        return 0.0, run.id


def rename(directory: RunDirectory, name: str) -> None:
    """Gives the run another name; its id stays."""
    if not name.strip():
        raise RunError("a run needs a name of at least one character")
    directory.amend(name=name.strip()[:120])


def delete(directory: RunDirectory) -> None:
    """Removes the run for good. Raises RunError while a worker holds it, or where it is no run."""
    if not (directory.path / "run.json").is_file():
        raise RunError(f"{directory.path} holds no run: nothing was deleted")
    with directory.lock():
        shutil.rmtree(directory.path)
