"""The runs folder: every run in it, newest first."""

import os
import re
import secrets
import shutil
import unicodedata
from datetime import datetime
from pathlib import Path

from vpp.errors import DiskRefused, RunError
from vpp.runs.directory import NAME_LENGTH, RunDirectory
from vpp.runs.disk import refusal, sync_folder
from vpp.runs.spec import RunSpec

DELETED = ".deleted-"
"""How the name of a folder begins that was a run."""
FILES = frozenset(
    {"run.json", "events.jsonl", "answers.jsonl", "data.csv", "control", "heartbeat", "asked", "lock", "worker.log"}
)
"""Of a run, whoever wrote them."""


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
        """Newest first; folders without a run.json are not runs, nor are those that were."""
        if not self.folder.is_dir():
            return []
        found = [RunDirectory(p) for p in self.folder.iterdir() if _is_run(p)]
        return sorted(found, key=lambda run: (made_at(run), *_written(run)), reverse=True)

    def get(self, run: str) -> RunDirectory:
        """A run by id. Raises RunError where there is none; an id is never a path."""
        for directory in self.runs():
            if directory.id == run:
                return directory
        raise RunError(f"no run {run!r} in {self.folder}: pick one of the list")


def _is_run(path: Path) -> bool:
    return not path.is_symlink() and not path.name.startswith(DELETED) and is_text(path.name) and is_sound(path)


def is_text(name: str) -> bool:
    """Whether a file's name is UTF-8: no page can show another, and Python keeps its bytes as lone surrogates."""
    return name.isprintable() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def is_sound(folder: Path) -> bool:
    """Whether a folder holds a run, in plain files alone: a link may lead anywhere, and reading a pipe never ends."""
    try:
        with os.scandir(folder) as entries:
            plain = {entry.name: _is_plain(entry) for entry in entries}
    except OSError:
        return False
    return "run.json" in plain and all(plain.values())


def _is_plain(entry: os.DirEntry[str]) -> bool:
    """A file; or a folder, where none of a run's files is meant."""
    if entry.is_dir(follow_symlinks=False):
        return entry.name not in FILES
    return entry.is_file(follow_symlinks=False)


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
    directory.amend(name=name.strip()[:NAME_LENGTH])


def delete(directory: RunDirectory) -> None:
    """Removes the run for good. Raises RunError while a worker holds it, where it is no run, or the disk refuses.

    It is no run any more before its first file goes, and what an earlier delete left behind goes too.
    """
    path = directory.path.absolute()
    if not _is_run(path):
        raise RunError(f"{directory.path} holds no run of plain files: nothing was deleted")
    gone = path.with_name(f"{DELETED}{path.name}.{secrets.token_hex(4)}")
    with directory.lock():
        try:
            path.rename(gone)
        except OSError as error:
            raise DiskRefused(refusal(error, path)) from None
        sync_folder(path.parent)
        for left in path.parent.glob(f"{DELETED}*"):
            shutil.rmtree(left, ignore_errors=True)
