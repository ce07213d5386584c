"""Opening a file in a folder that others may write to: never a link, and never a pipe, which may wait for good."""

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import BinaryIO

_NO_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
"""What opening a link, a socket or a folder comes to."""


def plain_file(path: Path, flags: int) -> int:
    """A descriptor of the file, made for this user alone where `flags` make it.

    Raises OSError, ELOOP for what is no plain file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise (_no_file(path) if error.errno in _NO_FILE else error) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(path)
    return descriptor


def read(path: Path) -> BinaryIO:
    """The file, open to be read. Raises OSError as `plain_file` does."""
    return os.fdopen(plain_file(path, os.O_RDONLY), "rb")


def written(path: Path, flags: int = os.O_WRONLY | os.O_CREAT | os.O_TRUNC) -> BinaryIO:
    """The file, open to be written, from its beginning. Raises OSError as `plain_file` does."""
    return os.fdopen(plain_file(path, flags), "wb")


def locked(path: Path, *, shared: bool = False) -> BinaryIO | None:
    """The file, made and locked until it is closed; None if another process has it. Raises OSError as `plain_file`."""
    file = written(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        file.close()
        raise
    return file


def _no_file(path: Path) -> OSError:
    return OSError(errno.ELOOP, "it is a link, a pipe or a folder", str(path))
