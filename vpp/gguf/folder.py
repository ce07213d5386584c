"""Folder through which runs share one server: its users, its starter and its address.

Three lock files, which the kernel frees however a process ends:

- users: shared by everyone who asks the server. It ends when nobody holds this lock any more.
- start: held by the one who starts the server, until it answers.
- server: held by the server as long as it lives.
"""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event

from vpp import files

LARGEST_NOTE = 4_096
LOG_END_BYTES = 16_384
CHUNK_BYTES = 1_048_576
"""Bytes read between two checks of the stop event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Port of a server, its process, and the key that it asks for."""

    port: int
    pid: int
    key: str

    def __repr__(self) -> str:
        return f"Listening(port={self.port}, pid={self.pid})"


class ServerFolder:
    """One server's folder: that of a file as it is now, with so many slots of so much context."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users, self.start, self.server = (path / f"{name}.lock" for name in ("users", "start", "server"))
        self.log = path / "server.log"
        self._note = path / "listening.json"

    @classmethod
    def of(cls, home: Path, model: Path, *, slots: int, context: int) -> "ServerFolder":
        """Return the folder below `home`, which is made if missing. Raises OSError."""
        folder = file_folder(home, model) / f"{slots}x{context}"
        for each in (home.parent, home, folder.parent, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(folder)

    def publish(self, listening: Listening) -> None:
        """Record the address of the server."""
        part = self.path / ".listening.part"
        with files.written(part) as file:
            file.write(json.dumps(asdict(listening)).encode())
        part.replace(self._note)

    def forget(self) -> None:
        """Remove the address of an earlier server."""
        self._note.unlink(missing_ok=True)

    def is_alive(self) -> bool:
        """Return whether a server of this folder is running, or starting. Raises OSError."""
        free = files.locked(self.server)
        if free is not None:
            free.close()
        return free is None

    def listening(self) -> Listening | None:
        """Return the address of the server; None before it listens."""
        try:
            return Listening(**files.read_json(self._note, largest=LARGEST_NOTE))
        except (OSError, ValueError, TypeError):
            return None

    def end_of_log(self) -> list[str]:
        """Return the last lines of the server's log."""
        try:
            with files.read(self.log) as file:
                file.seek(max(0, file.seek(0, 2) - LOG_END_BYTES))
                return file.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return []


def file_folder(home: Path, model: Path) -> Path:
    """Return the folder of a model file; another one once the file has changed. Raises OSError."""
    status = model.stat()
    mark = f"{model.resolve()}\0{status.st_size}\0{status.st_mtime_ns}"
    return home / hashlib.sha256(mark.encode()).hexdigest()[:24]


def content_hash(home: Path, model: Path, *, stop: Event) -> str:
    """Return the file's SHA-256, computed once; empty if `stop` is set before the file is read. Raises OSError."""
    stored = file_folder(home, model) / "sha256"
    if stored.is_file() and len(known := stored.read_text(encoding="ascii")) == 64:
        return known
    digest = _hashed(model, stop)
    if digest:
        part = stored.with_name(f".{secrets.token_hex(8)}.part")
        part.write_text(digest, encoding="ascii")
        part.replace(stored)
    return digest


def _hashed(model: Path, stop: Event) -> str:
    """Return the file's SHA-256; empty if `stop` is set before its end."""
    digest = hashlib.sha256()
    with model.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            if stop.is_set():
                return ""
            digest.update(chunk)
    return digest.hexdigest()
