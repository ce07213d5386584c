"""A run directory as bytes, to send between machines: its plain files by name. A name is never used as a path."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from vpp import files
from vpp.errors import RunError
from vpp.runs.disk import sync_folder

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
"""Allowed file names: no folders, no hidden files, no `..`."""
LOCAL_FILES = {"lock", "heartbeat", "control", "asked"}
"""Files that belong to one worker on one machine."""
MAX_FILES = 64
"""Most files in a run directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file's content and time."""

    content: bytes
    changed_at: float
    """Unix time."""


Archive = dict[str, ArchivedFile]


def pack(folder: Path) -> Archive:
    """Read the folder's plain files; empty if there is no folder. Raises OSError."""
    if not folder.is_dir():
        return {}
    names = [path.name for path in sorted(folder.iterdir()) if _is_archived(path)]
    return {name: _read(folder / name) for name in names}


def _is_archived(path: Path) -> bool:
    return path.name not in LOCAL_FILES and bool(NAME.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _read(path: Path) -> ArchivedFile:
    with files.read(path) as file:
        return ArchivedFile(content=file.read(), changed_at=os.fstat(file.fileno()).st_mtime)


def checked(archive: object) -> Archive:
    """Check what another machine sent. Raises RunError for a wrong type, file name or number of files."""
    if not isinstance(archive, dict) or len(archive) > MAX_FILES:
        raise RunError(f"the machine returned no run directory of at most {MAX_FILES} files: check that machine")
    for name, file in archive.items():
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in LOCAL_FILES:
            raise RunError(f"the machine returned a file named {str(name)[:80]!r}: check that machine")
        if not isinstance(file, ArchivedFile) or not isinstance(file.content, bytes):
            raise RunError(f"the machine returned {name} without a file's content: check that machine")
    return archive


def replace_folder(archive: Archive, folder: Path) -> None:
    """Replace the folder by the archive's files. Readers see the old folder, briefly none, then the new one.

    The old folder is moved aside and deleted after the exchange. A failed exchange moves it back; `restore` does so
    after a kill. One caller at a time. Raises RunError as `checked` does, OSError if a file cannot be written.
    """
    checked(archive)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        unpack(archive, part)
        restore(folder)
        if folder.exists():
            folder.rename(_aside(folder))
        part.rename(folder)
        sync_folder(folder.parent)
    finally:
        restore(folder)
        shutil.rmtree(part, ignore_errors=True)


def restore(folder: Path) -> None:
    """Move back the folder of an unfinished exchange, or delete the old one of a finished exchange. Raises OSError."""
    old = _aside(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def unpack(archive: Archive, folder: Path) -> None:
    """Write the files into a new folder. Raises RunError as `checked` does, and OSError."""
    folder.mkdir(parents=True, mode=0o700)
    for name, archived in checked(archive).items():
        with files.written(folder / name) as file:
            file.write(archived.content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(folder / name, (archived.changed_at, archived.changed_at))
