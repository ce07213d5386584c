"""The disk under a run: what it refuses, in one line with the mend; room kept for last words; folders synced."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from vpp.files import written

BALLAST_BYTES = 64 * 1024
"""Kept in the run's folder while a worker holds it: given up when the disk is full, so that the end can be written."""
LEAST_FREE = 2 * BALLAST_BYTES
"""Bytes without which no worker can begin."""

_MENDS = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the quota on this disk is used up", "free some space, or have the quota raised"),
    errno.EROFS: ("the disk is read-only", "mount it for writing"),
    errno.EACCES: ("permission denied", "give this user the right to write there"),
    errno.EPERM: ("the system does not permit it", "give this user the right to write there"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n), or set fewer calls in flight"),
    errno.ENFILE: ("too many files are open on this machine", "end some programs"),
    errno.EIO: ("the disk gave an error", "check the disk, or copy the run to another"),
    errno.ENOENT: ("it is gone", "put the folder back where it was"),
    errno.ENOTDIR: ("a folder on the way to it is none", "choose another runs folder"),
    errno.ELOOP: ("it is a link, a pipe or a folder", "remove it"),
    errno.ESTALE: ("the network disk is gone", "mount it again"),
    errno.ENODEV: ("the disk is gone", "mount it again"),
    errno.ENXIO: ("the disk is gone", "mount it again"),
    errno.EFBIG: ("the file is as large as is allowed", "raise the limit (ulimit -f), or take another disk"),
    errno.ENOLCK: ("its file system locks no files", "keep runs on a local disk"),
    errno.ENOTSUP: ("its file system locks no files", "keep runs on a local disk"),
    errno.ENOSYS: ("its file system locks no files", "keep runs on a local disk"),
}
"""What an error of the system means, and the mend."""


FULL = _MENDS[errno.ENOSPC][0]


def is_of_the_disk(error: OSError) -> bool:
    """Whether the disk, or the limits of this process, refused; else it is a fault of another kind."""
    return error.errno in _MENDS


def refusal(error: OSError, path: Path) -> str:
    """`PATH cannot be written (the disk is full): free some space`.

    path: what was meant, where the error names no file.
    """
    what, mend = _MENDS.get(error.errno or 0, (error.strerror or str(error), "see what the system says of this disk"))
    where = path if error.filename is None or isinstance(error.filename, int) else Path(os.fsdecode(error.filename))
    return f"{where} cannot be written ({what}): {mend}"


def cache_mend(refused: str, folder: Path, cache: Path) -> str:
    """That the response cache fills the disk too and can be emptied; empty where that would not help.

    refused: what was said, as by `refusal`. folder: the run's.
    """
    if f"({FULL})" not in refused:
        return ""
    try:
        used = sum(file.stat().st_size for file in cache.iterdir() if file.is_file())
        is_same = cache.stat().st_dev == folder.stat().st_dev
    except OSError:
        return ""
    return (
        f"the response cache takes {used / 2**20:.1f} MiB of that disk, and can be emptied" if is_same and used else ""
    )


def obstacle(folder: Path) -> str:
    """What keeps a worker from writing to a folder, as `refusal` says it; empty where nothing is seen to."""
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return refusal(error, folder)
    if disk.f_flag & os.ST_RDONLY:
        return refusal(OSError(errno.EROFS, ""), folder)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE or (disk.f_files and not disk.f_favail):
        return refusal(OSError(errno.ENOSPC, ""), folder)
    return "" if os.access(folder, os.W_OK | os.X_OK) else refusal(OSError(errno.EACCES, ""), folder)


def load_ballast(folder: Path) -> None:
    """Takes up BALLAST_BYTES, which no file system can compress. Raises OSError where there is no room for them."""
    try:
        with written(folder / ".ballast") as file:
            file.write(os.urandom(BALLAST_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        drop_ballast(folder)
        raise


def drop_ballast(folder: Path) -> None:
    """Gives the room back."""
    with suppress(OSError):
        (folder / ".ballast").unlink()


def sync_folder(folder: Path) -> None:
    """Makes sure that the names in a folder survive a loss of power, where its file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
