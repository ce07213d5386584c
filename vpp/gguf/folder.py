"""The folder by which runs share one server: who uses it, who starts it, and where it listens.

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
"""Read between two looks at whether to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a server listens, and the key that it asks for."""

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
        """The folder below `home`, made if it is not there. Raises OSError."""
        folder = file_folder(home, model) / f"{slots}x{context}"
        for each in (home.parent, home, folder.parent, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(folder)

    def tell(self, listening: Listening) -> None:
        """Say where the server listens."""
        part = self.path / ".listening.part"
        with files.written(part) as file:
            file.write(json.dumps(asdict(listening)).encode())
        part.replace(self._note)

    def forget(self) -> None:
        """Remove what an earlier server said."""
        self._note.unlink(missing_ok=True)

    def is_alive(self) -> bool:
        """Whether a server of this folder is running, or starting. Raises OSError."""
        free = files.locked(self.server)
        if free is not None:
            free.close()
        return free is None

    def listening(self) -> Listening | None:
        """Where the server listens; None before it does."""
        try:
            return Listening(**files.read_json(self._note, largest=LARGEST_NOTE))
        except (OSError, ValueError, TypeError):
            return None

    def end_of_log(self) -> list[str]:
        """The last lines that the server wrote."""
        try:
            with files.read(self.log) as file:
                file.seek(max(0, file.seek(0, 2) - LOG_END_BYTES))
                return file.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return []


def file_folder(home: Path, model: Path) -> Path:
    """The folder of a model file's content: another one once the file has changed. Raises OSError."""
    found = model.stat()
    mark = f"{model.resolve()}\0{found.st_size}\0{found.st_mtime_ns}"
    return home / hashlib.sha256(mark.encode()).hexdigest()[:24]


def content_hash(home: Path, model: Path, *, stop: Event) -> str:
    """SHA-256 of the file, worked out once; empty if `stop` is set before the file is read. Raises OSError."""
    kept = file_folder(home, model) / "sha256"
    if kept.is_file() and len(known := kept.read_text(encoding="ascii")) == 64:
        return known
    found = _hashed(model, stop)
    if not found:
        return ""
    part = kept.with_name(f".{secrets.token_hex(8)}.part")
    part.write_text(found, encoding="ascii")
    part.replace(kept)
    return found


def _hashed(model: Path, stop: Event) -> str:
    """SHA-256 of the file; empty if `stop` is set before its end."""
    digest = hashlib.sha256()
    with model.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            if stop.is_set():
                return ""
            digest.update(chunk)
    return digest.hexdigest()
