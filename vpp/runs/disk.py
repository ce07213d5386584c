"""The disk under a run: its errors as one line with the fix, lock files, and synced folders."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from vpp import files
from vpp.errors import DiskRefused

LEAST_FREE = 128 * 1024

_FIXES = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the quota on this disk is used up", "free some space, or have the quota raised"),
    errno.EROFS: ("the disk is read-only", "mount it for writing"),
    errno.EACCES: ("permission denied", "give this user the right to write there"),
    errno.EPERM: ("the system does not permit it", "give this user the right to write there"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n), or set fewer calls in flight"),
    errno.ENFILE: ("too many files are open on this machine", "end some programs"),
    errno.EIO: ("the disk gave an error", "check the disk, or copy the run to another"),
    errno.ENOENT: ("it is gone", "put the folder back where it was"),
    errno.ENOTDIR: ("a folder on its path is a file", "choose another runs folder"),
    errno.ELOOP: ("it is a link, a pipe or a folder", "remove it"),
    errno.ESTALE: ("the network disk is gone", "mount it again"),
    **dict.fromkeys((errno.ENODEV, errno.ENXIO), ("the disk is gone", "mount it again")),
    errno.EFBIG: ("the file is as large as is allowed", "raise the limit (ulimit -f), or take another disk"),
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS), ("its file system locks no files", "keep runs on a local disk")
    ),
}


def is_of_the_disk(error: OSError) -> bool:
    return error.errno in _FIXES


def refusal(error: OSError, path: Path) -> str:
    """Return `PATH cannot be written (the disk is full): free some space`.

    path: named if the error names no file.
    """
    what, fix = _FIXES.get(error.errno or 0, (error.strerror or str(error), "see what the system says of this disk"))
    where = path if error.filename is None or isinstance(error.filename, int) else Path(os.fsdecode(error.filename))
    return f"{where} cannot be written ({what}): {fix}"


def obstacle(folder: Path) -> str:
    """Return why a worker could not write to the folder, worded as by `refusal`; empty if nothing is in the way."""
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return refusal(error, folder)
    if disk.f_flag & os.ST_RDONLY:
        return refusal(OSError(errno.EROFS, ""), folder)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE or (disk.f_files and not disk.f_favail):
        return refusal(OSError(errno.ENOSPC, ""), folder)
    return "" if os.access(folder, os.W_OK | os.X_OK) else refusal(OSError(errno.EACCES, ""), folder)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power, if its file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> BinaryIO | None:
    """Lock a file until it is closed; None if another process holds it. Raises DiskRefused."""
    try:
        return files.locked(path)
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None


@contextmanager
def locked(path: Path, *, wait_s: float = 0) -> Iterator[bool]:
    """Try to lock a file for `wait_s`; yield True if it is locked. Raises DiskRefused."""
    deadline = time.monotonic() + wait_s
    file = try_lock(path)
    while file is None and time.monotonic() < deadline:
        time.sleep(0.02)
        file = try_lock(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.close()


def is_locked(path: Path) -> bool:
    """True if some process holds the lock file; False on a file system without locks."""
    try:
        with files.read(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
