"""A run directory as bytes, to send between the machines of a cluster, which trust one another: its files by name."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from vpp import files
from vpp.runs.disk import sync_folder

LOCAL_FILES = {"lock", "heartbeat", "control", "asked"}
"""Files that belong to one worker on one machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file's content and time."""

    content: bytes
    changed_at: float
    """Unix time."""


Archive = dict[str, ArchivedFile]


def pack(folder: Path) -> Archive:
    """Read the folder's plain files except hidden and local ones; empty if there is no folder. Raises OSError."""
    if not folder.is_dir():
        return {}
    return {path.name: _read(path) for path in sorted(folder.iterdir()) if _is_archived(path)}


def _is_archived(path: Path) -> bool:
    is_ours = path.name not in LOCAL_FILES and not path.name.startswith(".")
    return is_ours and path.is_file() and not path.is_symlink()


def _read(path: Path) -> ArchivedFile:
    with files.read(path) as file:
        return ArchivedFile(content=file.read(), changed_at=os.fstat(file.fileno()).st_mtime)


def replace_folder(archive: Archive, folder: Path) -> None:
    """Replace the folder by the archive's files, which are on the disk before the old folder goes.

    Readers see the old folder, briefly none, then the new one. One caller at a time. Raises OSError if a file cannot
    be written.
    """
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        unpack(archive, part)
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def unpack(archive: Archive, folder: Path) -> None:
    """Write the files into a new folder. Raises OSError."""
    folder.mkdir(parents=True, mode=0o700)
    for name, archived in archive.items():
        with files.written(folder / name) as file:
            file.write(archived.content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(folder / name, (archived.changed_at, archived.changed_at))
