"""Response cache: answers in SQLite under a hash of everything that determines them, except keys and secret headers.

A cached answer is the model's raw text, so an improved parser can read it again. No write waits for the disk, so that a
look-up or a write takes some tens of microseconds.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError
from vpp.llm.protocol import Completion

FILE = "answers.db"
WAIT_S = 2.0
"""Seconds to wait for another process that has locked the database; after them a run goes on without its cache."""
REASON_LENGTH = 160
OnFault = Callable[[str, int], None]
"""Receives the reason of a failure and the number of answers that are not stored because of it."""

_ANSWER = TypeAdapter(Completion)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class CacheInfo(NamedTuple):
    """Size of the cache."""

    entries: int
    bytes: int


def cache_key(question: dict[str, Any]) -> str:
    """Return the SHA-256 of a question's canonical JSON: address, model, messages, temperature, seed, limit, format."""
    return hashlib.sha256(_CANONICAL.encode(question).encode()).hexdigest()


class ResponseCache:
    """Answers by `cache_key`. Several processes may share a folder."""

    def __init__(self, folder: Path, *, on_fault: OnFault = lambda *_: None) -> None:
        """Open or create the cache. Raises InputError if the folder cannot be used.

        on_fault: called each time the cache fails later.
        """
        self._on_fault = on_fault
        self._is_locked = False
        try:
            self._database = _open(folder)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"the response cache {folder} cannot be used ({error}): choose another folder") from error

    def get(self, key: str) -> Completion | None:
        """Return the answer under `key`, marked as cached; None for none, or a row that this module did not write."""
        row = self._use("SELECT answer FROM answers WHERE key = ?", key)
        with suppress(ValidationError, TypeError):
            return replace(_ANSWER.validate_json(row, strict=True, extra="forbid"), cached=True)
        return None

    def put(self, key: str, completion: Completion) -> None:
        answer = _ANSWER.dump_json(completion, exclude={"cached"}).decode()
        self._use("INSERT OR REPLACE INTO answers VALUES (?, ?)", key, answer)

    def _use(self, statement: str, *values: str) -> Any:
        """Return the first cell of the result, if any. A run goes on after a failure, and waits for one lock alone."""
        try:
            if self._is_locked:
                raise sqlite3.OperationalError("database is locked")
            row = self._database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._is_locked |= "locked" in str(error)
            self._on_fault(" ".join(str(error).split())[:REASON_LENGTH], len(values) - 1)
            return None
        return row and row[0]

    def close(self) -> None:
        self._database.close()

    def info(self) -> CacheInfo:
        """Return the number of entries and bytes on disk."""
        size = "SELECT (SELECT count(*) FROM answers), page_count * page_size FROM pragma_page_count, pragma_page_size"
        return CacheInfo(*self._database.execute(size).fetchone())

    def clear(self) -> int:
        """Delete every answer; return how many there were."""
        return self._database.execute("DELETE FROM answers").rowcount


def _open(folder: Path) -> sqlite3.Connection:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    database = sqlite3.connect(folder / FILE, timeout=WAIT_S, isolation_level=None)
    try:
        # a reader and a writer need not wait for each other; the last answers may be lost with the machine's power
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT)")
    except sqlite3.Error:
        database.close()
        raise
    return database
