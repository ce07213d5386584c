"""Response cache: answers in SQLite under a hash of everything that determines them, except keys and secret headers.

A cached answer is the model's raw text, so an improved parser can read it again. The disk is used in batches by a
thread of its own: look-ups and writes that arrive while it is busy form the next batch.
"""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError
from vpp.llm.protocol import Completion

FILE = "answers.db"
WAIT_S = 10.0
"""Seconds to wait for another process that has locked the database; after them a run goes on without its cache."""
REASON_LENGTH = 160
OnFault = Callable[[str, int], None]
"""Receives the reason of a failure and the number of answers that are not stored because of it."""

T = TypeVar("T")
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
    """Answers by `cache_key`. Several processes may share a folder; one event loop may use an instance."""

    def __init__(self, folder: Path, *, on_fault: OnFault = lambda *_: None) -> None:
        """Open or create the cache. Raises InputError if the folder cannot be used.

        on_fault: called in the event loop each time the cache fails later.
        """
        self._on_fault = on_fault
        self._is_locked = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vpp-cache")
        self._wanted: dict[str, list[asyncio.Future[Completion | None]]] = {}
        self._unwritten: dict[str, Completion] = {}
        self._worker: asyncio.Task[None] | None = None
        try:
            self._database = self._in_thread(lambda: _open(folder))
        except (OSError, sqlite3.Error) as error:
            self._thread.shutdown()
            raise InputError(f"the response cache {folder} cannot be used ({error}): choose another folder") from error

    async def get(self, key: str) -> Completion | None:
        """Return the answer under `key`, marked as cached; None if there is none."""
        if key in self._unwritten:
            return replace(self._unwritten[key], cached=True)
        answer: asyncio.Future[Completion | None] = asyncio.get_running_loop().create_future()
        self._wanted.setdefault(key, []).append(answer)
        self._wake()
        return await answer

    def put(self, key: str, completion: Completion) -> None:
        """Store an answer. It is on disk after the next `flush`, and usually within milliseconds."""
        self._unwritten[key] = completion
        self._wake()

    async def flush(self) -> None:
        """Wait until everything put so far is on disk."""
        while self._worker is not None:
            await asyncio.shield(self._worker)

    async def aclose(self) -> None:
        """Write the rest and close the file."""
        await self.flush()
        self.close()

    def close(self) -> None:
        """Close the file; for callers without an event loop."""
        self._in_thread(self._database.close)
        self._thread.shutdown()

    def info(self) -> CacheInfo:
        """Return the number of entries and bytes on disk."""
        size = "SELECT (SELECT count(*) FROM answers), page_count * page_size FROM pragma_page_count, pragma_page_size"
        return self._in_thread(lambda: CacheInfo(*self._database.execute(size).fetchone()))

    def clear(self) -> int:
        """Delete every answer; return how many there were."""
        return self._in_thread(lambda: self._database.execute("DELETE FROM answers").rowcount)

    def _in_thread(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def _wake(self) -> None:
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Serve batches until nothing is wanted and all is written."""
        loop = asyncio.get_running_loop()
        try:
            while self._wanted or self._unwritten:
                wanted, unwritten, self._wanted = self._wanted, dict(self._unwritten), {}
                answers, fault = await loop.run_in_executor(self._thread, self._use, list(wanted), unwritten)
                if fault is not None:
                    self._on_fault(" ".join(str(fault).split())[:REASON_LENGTH], len(unwritten))
                for key, waiting in wanted.items():
                    for future in waiting:
                        if not future.done():
                            future.set_result(answers.get(key))
                for key in unwritten:
                    del self._unwritten[key]
        finally:
            self._worker = None

    def _use(
        self, keys: list[str], unwritten: dict[str, Completion]
    ) -> tuple[dict[str, Completion], sqlite3.Error | None]:
        """Look up and write one batch, in the cache's thread. Returns a failure: a run continues without its cache."""
        answers: dict[str, Completion] = {}
        try:
            if self._is_locked and (keys or unwritten):
                raise sqlite3.OperationalError("database is locked")
            for key in keys:
                row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
                if row and (answer := _from_json(row[0])) is not None:
                    answers[key] = answer
            if unwritten:
                rows = [(key, _ANSWER.dump_json(each, exclude={"cached"}).decode()) for key, each in unwritten.items()]
                with self._database:
                    self._database.execute("BEGIN")
                    self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            self._is_locked = "locked" in str(error) or self._is_locked
            return answers, error
        return answers, None


def _open(folder: Path) -> sqlite3.Connection:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    database = sqlite3.connect(folder / FILE, timeout=WAIT_S, isolation_level=None)
    try:
        # a reader and a writer need not wait for each other; the last answers may be lost with the machine's power
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT) WITHOUT ROWID")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _from_json(stored: object) -> Completion | None:
    """Return the answer; None for a row that this module did not write."""
    try:
        return replace(_ANSWER.validate_json(stored, strict=True, extra="forbid"), cached=True)  # type: ignore[arg-type]
    except (ValidationError, TypeError):
        return None
