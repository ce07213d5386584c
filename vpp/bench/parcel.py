"""A run directory as bytes, to be sent between machines: its plain files by name. A name is never taken for a path."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from vpp import files
from vpp.errors import RunError
from vpp.runs.disk import sync_folder

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
"""Of a file that may be placed: no folder, nothing hidden, no `..`."""
STAYS = {"lock", "heartbeat", "control", "asked"}
"""What is of one worker on one machine."""
AT_MOST = 64
"""Files of a run directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One file."""

    content: bytes
    changed_at: float
    """Unix time."""


Parcel = dict[str, Sent]


def packed(folder: Path) -> Parcel:
    """The folder's plain files; empty where there is no folder. Raises OSError."""
    if not folder.is_dir():
        return {}
    names = [path.name for path in sorted(folder.iterdir()) if _travels(path)]
    return {name: _read(folder / name) for name in names}


def _travels(path: Path) -> bool:
    return path.name not in STAYS and bool(NAME.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _read(path: Path) -> Sent:
    with files.read(path) as file:
        return Sent(content=file.read(), changed_at=os.fstat(file.fileno()).st_mtime)


def checked(parcel: object) -> Parcel:
    """What came from elsewhere, as a parcel. Raises RunError for a name that is none, or more than a run has."""
    if not isinstance(parcel, dict) or len(parcel) > AT_MOST:
        raise RunError(f"what came back is no run directory of {AT_MOST} files at most: look at the machine it is from")
    for name, sent in parcel.items():
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in STAYS:
            raise RunError(f"what came back names a file {str(name)[:80]!r}: look at the machine that it is from")
        if not isinstance(sent, Sent) or not isinstance(sent.content, bytes):
            raise RunError(f"what came back as {name} is no file's content: look at the machine that it is from")
    return parcel


def place(parcel: Parcel, folder: Path) -> None:
    """Puts it in place of the folder: who looks sees what was there, for a moment nothing, then the whole.

    What was there is set aside, and deleted once the whole is in its place; where that fails it comes back, and after a
    kill in between `put_back` brings it. One caller at a time. Raises RunError for a name that is none, OSError where
    it cannot be written.
    """
    checked(parcel)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        fill(parcel, part)
        put_back(folder)
        if folder.exists():
            folder.rename(_aside(folder))
        part.rename(folder)
        sync_folder(folder.parent)
    finally:
        put_back(folder)
        shutil.rmtree(part, ignore_errors=True)


def put_back(folder: Path) -> None:
    """Brings back what an exchange that did not end set aside; where one did, deletes that. Raises OSError."""
    old = _aside(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def fill(parcel: Parcel, folder: Path) -> None:
    """Writes the files into a new folder. Raises RunError as `checked` does, OSError."""
    folder.mkdir(parents=True, mode=0o700)
    for name, sent in checked(parcel).items():
        with files.written(folder / name) as file:
            file.write(sent.content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(folder / name, (sent.changed_at, sent.changed_at))
