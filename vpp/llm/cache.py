"""Response cache: answers on disk under a hash of everything that determines them, except the API key.

A cached answer is the model's raw text, so an improved parser can read it again. The database (SQLite) is used in
batches by a thread of its own: look-ups and writes that arrive while it is busy form the next batch. It holds JSON
texts alone, and whatever else somebody puts into it is a miss.
"""

import asyncio
import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError
from vpp.llm.protocol import Completion

DATABASE = ("cache.db", "cache.db-wal", "cache.db-shm", "cache.db-journal")
WAIT_S = 10.0
"""Seconds to wait for another process that has locked the database."""
REASON_LENGTH = 160
SCHEMA = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "CREATE TABLE IF NOT EXISTS Cache (key TEXT, raw INTEGER, value TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS Cache_key_raw ON Cache (key, raw)",
)
"""Table of earlier versions, whose rows with text keys have raw = 1."""
OnFault = Callable[[str, int], None]
"""Receives the reason of a failure and the number of answers that are not stored because of it."""

T = TypeVar("T")
_ANSWER = TypeAdapter(Completion)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_log = logging.getLogger(__name__)


class CacheInfo(NamedTuple):
    """Size of the cache."""

    entries: int
    bytes: int


def cache_key(question: dict[str, Any]) -> str:
    """Return the SHA-256 of a question's canonical JSON: address, model, messages, temperature, seed, limit, format."""
    return hashlib.sha256(_CANONICAL.encode(question).encode()).hexdigest()


class ResponseCache:
    """Answers by `cache_key`. Several processes may share a folder; one event loop may use an instance."""

    def __init__(self, folder: Path, *, on_fault: OnFault | None = None) -> None:
        """Open or create the cache. Raises InputError if the folder cannot be used.

        on_fault: called in the event loop each time the cache fails later; without it, the first failure is logged.
        """
        self._on_fault = on_fault
        self._has_failed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vpp-cache")
        self._wanted: dict[str, list[asyncio.Future[Completion | None]]] = {}
        self._unwritten: dict[str, Completion] = {}
        self._worker: asyncio.Task[None] | None = None
        try:
            self._store = self._in_thread(lambda: _open(folder))
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
        """Write the rest and close the files. A failure is reported like any other."""
        await self.flush()
        try:
            self.close()
        except sqlite3.Error as error:
            self._report(error, unkept=0)

    def close(self) -> None:
        """Close the files; for callers without an event loop."""
        self._in_thread(self._store.close)
        self._thread.shutdown()

    def info(self) -> CacheInfo:
        return self._in_thread(
            lambda: CacheInfo(
                self._number("SELECT COUNT(*) FROM Cache"),
                self._number("PRAGMA page_count") * self._number("PRAGMA page_size"),
            )
        )

    def clear(self) -> int:
        """Delete every answer; return how many there were."""

        def delete() -> int:
            with self._store:
                return self._store.execute("DELETE FROM Cache").rowcount

        return self._in_thread(delete)

    def _number(self, query: str) -> int:
        return int(self._store.execute(query).fetchone()[0])

    def _in_thread(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def _wake(self) -> None:
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._wanted or self._unwritten:
                await self._serve_batch()
        finally:
            self._worker = None

    async def _serve_batch(self) -> None:
        wanted, unwritten = self._wanted, dict(self._unwritten)
        self._wanted = {}
        loop = asyncio.get_running_loop()
        answers, fault = await loop.run_in_executor(self._thread, self._use_store, list(wanted), unwritten)
        if fault is not None:
            self._report(fault, unkept=len(unwritten))
        for key, waiting in wanted.items():
            for future in waiting:
                if not future.done():
                    future.set_result(answers.get(key))
        for key in unwritten:
            del self._unwritten[key]

    def _use_store(
        self, keys: list[str], unwritten: dict[str, Completion]
    ) -> tuple[dict[str, Completion], Exception | None]:
        """Look up and write one batch, in the cache's thread. Returns a failure: a run continues without its cache."""
        answers: dict[str, Completion] = {}
        try:
            for key in keys:
                row = self._store.execute("SELECT value FROM Cache WHERE key = ? AND raw = 1", (key,)).fetchone()
                if row and (answer := _from_json(row[0])):
                    answers[key] = answer
            if unwritten:
                rows = [(key, _ANSWER.dump_json(one, exclude={"cached"}).decode()) for key, one in unwritten.items()]
                with self._store:
                    self._store.executemany("INSERT OR REPLACE INTO Cache (key, raw, value) VALUES (?, 1, ?)", rows)
        except Exception as error:
            return answers, error
        return answers, None

    def _report(self, error: Exception, *, unkept: int) -> None:
        reason = " ".join((str(error) or type(error).__name__).split())[:REASON_LENGTH]
        if not self._has_failed:
            _log.warning("the response cache cannot be used just now: %s", reason)
        self._has_failed = True
        if self._on_fault:
            self._on_fault(reason, unkept)


def _open(folder: Path) -> sqlite3.Connection:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for path in (folder / name for name in DATABASE):  # not opened: closing it would drop this process's locks
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(f"{path.name} is a link, a pipe or a folder")
    store = sqlite3.connect(folder / DATABASE[0], timeout=WAIT_S)
    try:
        for statement in SCHEMA:
            store.execute(statement)
    except sqlite3.Error:
        store.close()
        raise
    return store


def _from_json(stored: object) -> Completion | None:
    """Return the answer; None for a row that this module did not write."""
    try:
        return replace(_ANSWER.validate_json(stored, strict=True, extra="forbid"), cached=True)  # type: ignore[arg-type]
    except (ValidationError, TypeError):
        return None
