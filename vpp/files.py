"""Opening a file in a folder that others may write to: never a link, and never a pipe, which may wait for good."""

import errno
import fcntl
import os
import stat
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

LARGEST_JSON = 16 * 2**20
"""Bytes of a JSON file: twice the longest names of the most columns that a table may have."""
LARGEST_INTEGER = 2**63 - 1
"""Larger integers make arithmetic with floats fail."""
_MANY_DIGITS = b"0" * len(str(LARGEST_INTEGER))
_DIGITS_ALIKE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord(" ") for byte in range(256))
_NO_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
"""Errors of opening a link, a socket or a folder."""


def plain_file(path: Path, flags: int) -> int:
    """Return a descriptor of a plain file. A file that `flags` create can be read by this user alone.

    Raises OSError, with ELOOP for anything but a plain file.
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
    """Open a file for reading. Raises OSError as `plain_file` does."""
    return os.fdopen(plain_file(path, os.O_RDONLY), "rb")


def read_at_most(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file that the user named, which may be a link or a pipe. Raises OSError."""
    with path.open("rb") as file:
        return file.read(n_bytes)


def read_json(path: Path, *, largest: int = LARGEST_JSON) -> Any:
    """Return a JSON file's content. largest: bytes.

    Raises OSError, for a link or a pipe too, and ValueError where it is no JSON, too large, nested deeper than about
    200 levels, or holds an integer beyond 64 bits.
    """
    with read(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest / 2**20:g} MiB")
    value = from_json(content)
    check_integers(value, written_as=content)
    return value


def check_integers(value: Any, *, written_as: bytes) -> None:
    """Raise ValueError where a value read from JSON holds an integer beyond 64 bits; the text is searched first."""
    if _MANY_DIGITS in written_as.translate(_DIGITS_ALIKE) and holds_huge_integer(value):
        raise ValueError("it holds an integer beyond 64 bits")


def holds_huge_integer(value: Any) -> bool:
    """True if the value is an integer beyond 64 bits, or holds one."""
    if isinstance(value, int):
        return abs(value) > LARGEST_INTEGER
    if isinstance(value, Mapping):
        return any(map(holds_huge_integer, value.values()))
    return isinstance(value, list | tuple) and any(map(holds_huge_integer, value))


def appended(path: Path) -> FileIO:
    """Open a file for appending without a buffer. Raises OSError as `plain_file` does."""
    return FileIO(str(path), "ab", opener=lambda _, flags: plain_file(path, flags))


def written(path: Path, flags: int = os.O_WRONLY | os.O_CREAT | os.O_TRUNC) -> BinaryIO:
    """Open a file for writing from its beginning. Raises OSError as `plain_file` does."""
    return os.fdopen(plain_file(path, flags), "wb")


def locked(path: Path) -> BinaryIO | None:
    """Create a file, locked until it is closed; None if another process holds it. Raises OSError as `plain_file`."""
    file = written(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        file.close()
        raise
    return file


def _no_file(path: Path) -> OSError:
    return OSError(errno.ELOOP, "it is a link, a pipe or a folder", str(path))
