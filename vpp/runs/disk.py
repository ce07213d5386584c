"""The disk under a run: files replaced in one move, lock files, and its errors as one line with the fix."""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from vpp.errors import DiskRefused

_FIXES = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the quota on this disk is used up", "free some space, or have the quota raised"),
    errno.EROFS: ("the disk is read-only", "mount it for writing"),
    errno.EACCES: ("permission denied", "give this user the right to write there"),
    errno.ENOENT: ("it is gone", "put the folder back where it was"),
}


def refusal(error: OSError, path: Path) -> str:
    """Return `PATH cannot be written (the disk is full): free some space`.

    path: named if the error names no file.
    """
    what, fix = _FIXES.get(error.errno or 0, (error.strerror or str(error), "see what the system says of this disk"))
    where = error.filename if isinstance(error.filename, str) else path
    return f"{where} cannot be written ({what}): {fix}"


def write_atomically(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Replace the file in one move, so that a reader sees old or new content. Several may write at a time.

    sync: make it survive a loss of power. Raises DiskRefused.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        raise DiskRefused(refusal(OSError(error.errno, error.strerror), path)) from None  # not by the part's name
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power, if its file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def try_lock(path: Path) -> BinaryIO | None:
    """Lock a file until it is closed; None if another process holds it. Raises DiskRefused."""
    try:
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            file.close()
            raise
    except BlockingIOError:
        return None
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None
    return file


@contextmanager
def locked(path: Path, *, wait_s: float = 0) -> Iterator[BinaryIO | None]:
    """Try to lock a file for `wait_s`; yield it, or None if another process holds it. Raises DiskRefused."""
    deadline = time.monotonic() + wait_s
    while (file := try_lock(path)) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    with file or nullcontext():
        yield file


def is_locked(path: Path) -> bool:
    """True if some process holds the lock file; False on a file system without locks."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
