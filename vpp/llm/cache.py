"""The response cache: answers on disk under the hash of everything that decides them, never the API key.

A cached answer is the model's raw text, so a parser that learns to read more gains from it. The disk is
touched in batches from one thread of its own: what is looked up, or written, while it is busy makes up the next batch.
"""

import asyncio
import dataclasses
import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from diskcache import Cache, Disk, Timeout
from diskcache.core import MODE_PICKLE

from vpp.errors import InputError
from vpp.llm.wire import COUNT_LIMIT, Completion

SIZE_LIMIT = 64 * 2**30
"""Bytes. Nothing is ever evicted; diskcache asks for a number."""
DATABASE = ("cache.db", "cache.db-wal", "cache.db-shm", "cache.db-journal")
KEPT = tuple(field.name for field in dataclasses.fields(Completion) if field.name != "cached")
"""What is kept of an answer."""
IN_ROW_LIMIT = 4 * 2**20
"""Bytes. Values up to this size live in the database, which is every value: texts are capped far below."""

WAIT_S = 10.0
"""For another process that has the database to itself."""
REASON_LENGTH = 160
REST_S = 60.0
"""Without the cache, after it has been waited for in vain."""
OnFault = Callable[[str, int], None]
"""Told why, and how many answers are not kept for it."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


class CacheInfo(NamedTuple):
    """What the cache holds."""

    entries: int
    bytes: int


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def cache_key(question: dict[str, Any]) -> str:
    """SHA-256 of a question's canonical JSON: address, model, messages, temperature, seed, limit, format."""
    return hashlib.sha256(_CANONICAL.encode(question).encode()).hexdigest()


class TextDisk(Disk):  # type: ignore[misc]
    """diskcache's disk without its pickles (CVE-2025-69872): a planted one is refused, never loaded.

    Nor does it touch files beside the database, where we keep none: a planted row may name any file.
    """

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """The stored value. A pickle, or a file, raises OSError, which diskcache takes for a miss."""
        if mode == MODE_PICKLE or filename is not None:
            raise OSError("a pickle, or the name of a file, in the response cache was refused")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: str) -> None:
        """Removes nothing: no file is ours."""

    def get(self, key: Any, raw: bool) -> Any:
        """The key of a row. Raises OSError for a pickled one."""
        if not raw:
            raise OSError("a pickled key in the response cache was refused")
        return super().get(key, raw)


class ResponseCache:
    """Answers by `cache_key`. Several processes may share a folder; one event loop may use an instance."""

    def __init__(self, folder: Path, *, on_fault: OnFault | None = None) -> None:
        """Opens or makes the cache. Raises InputError where the folder cannot be used.

        on_fault: told, in the event loop, each time that it fails later; else that is logged, once.
        """
        self._on_fault = on_fault
        self._has_failed = False
        self._rests_until = 0.0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vpp-cache")
        self._wanted: dict[str, list[asyncio.Future[Completion | None]]] = {}
        self._unwritten: dict[str, Completion] = {}
        self._worker: asyncio.Task[None] | None = None
        try:
            self._store: Any = self._in_thread(lambda: _open(folder))
        except (OSError, sqlite3.Error, Timeout, TypeError, ValueError, AttributeError) as error:
            self._thread.shutdown()
            raise InputError(f"the response cache {folder} cannot be used ({error}): choose another folder") from error

    async def get(self, key: str) -> Completion | None:
        """The answer under `key`, marked as cached; None where there is none."""
        if key in self._unwritten:
            return replace(self._unwritten[key], cached=True)
        found: asyncio.Future[Completion | None] = asyncio.get_running_loop().create_future()
        self._wanted.setdefault(key, []).append(found)
        self._wake()
        return await found

    def put(self, key: str, completion: Completion) -> None:
        """Keeps an answer; it is on disk after the next `flush`, and usually within milliseconds."""
        self._unwritten[key] = completion
        self._wake()

    async def flush(self) -> None:
        """Returns when everything put so far is on disk."""
        while self._worker is not None:
            await asyncio.shield(self._worker)

    async def aclose(self) -> None:
        """Writes what is left and closes the files; what cannot be written by then is told, and harms nobody."""
        await self.flush()
        try:
            self.close()
        except Exception as error:
            self._tell(error, unkept=0)

    def close(self) -> None:
        """Closes the files; for callers without an event loop."""
        self._in_thread(self._store.close)
        self._thread.shutdown()

    def info(self) -> CacheInfo:
        """Entries and bytes on disk."""
        return self._in_thread(lambda: CacheInfo(len(self._store), self._store.volume()))

    def clear(self) -> int:
        """Forgets every answer; returns how many there were."""
        return int(self._in_thread(self._store.clear))

    def _in_thread(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def _wake(self) -> None:
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Serves batches until nothing is left."""
        try:
            while self._wanted or self._unwritten:
                await self._serve_batch()
        finally:
            self._worker = None

    async def _serve_batch(self) -> None:
        wanted, unwritten = self._wanted, dict(self._unwritten)
        self._wanted = {}
        loop = asyncio.get_running_loop()
        kept, found = await loop.run_in_executor(self._thread, self._look_up_and_write, list(wanted), unwritten)
        if isinstance(kept, Exception):
            self._tell(kept, unkept=len(unwritten))
        if isinstance(found, Exception):
            self._tell(found, unkept=0)
            found = {}
        for key, waiting in wanted.items():
            for future in waiting:
                if not future.done():
                    future.set_result(found.get(key))
        for key in unwritten:
            del self._unwritten[key]

    def _look_up_and_write(
        self, keys: list[str], unwritten: dict[str, Completion]
    ) -> tuple[Exception | None, dict[str, Completion] | Exception]:
        """One batch. Whatever fails is a miss: a run goes on without its cache, and nobody waits in vain."""
        if time.monotonic() < self._rests_until:
            return (Timeout() if unwritten else None), {}
        return self._tried(lambda: self._write(unwritten)), self._tried(lambda: self._look_up(keys))

    def _tried(self, work: Callable[[], T]) -> T | Exception:
        try:
            return work()
        except Exception as error:
            if isinstance(error, Timeout):
                self._rests_until = time.monotonic() + REST_S
            return error

    def _tell(self, error: Exception, *, unkept: int) -> None:
        reason = _reason(error)
        if not self._has_failed:
            _log.warning("the response cache cannot be used just now: %s", reason)
        self._has_failed = True
        if self._on_fault:
            self._on_fault(reason, unkept)

    def _look_up(self, keys: list[str]) -> dict[str, Completion]:
        answers = ((key, _from_json(self._store.get(key))) for key in keys)
        return {key: answer for key, answer in answers if answer is not None}

    def _write(self, unwritten: dict[str, Completion]) -> None:
        if not unwritten:
            return
        with self._store.transact():
            for key, completion in unwritten.items():
                self._store.set(key, _to_json(completion))


def _reason(error: Exception) -> str:
    """In a few words of one line."""
    said = "another program has it to itself" if isinstance(error, Timeout) else str(error) or type(error).__name__
    return " ".join(said.split())[:REASON_LENGTH]


def _open(folder: Path) -> Any:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for path in (folder / name for name in DATABASE):  # only looked at: closing a database drops this process's locks
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(f"{path.name} is a link, a pipe or a folder")
    return Cache(
        str(folder),
        timeout=WAIT_S,
        disk=TextDisk,
        disk_min_file_size=IN_ROW_LIMIT,
        eviction_policy="none",
        size_limit=SIZE_LIMIT,
        cull_limit=0,
    )


def _to_json(completion: Completion) -> str:
    return json.dumps({name: getattr(completion, name) for name in KEPT})


def _from_json(stored: object) -> Completion | None:
    """None for a row that this module did not write."""
    try:
        fields = json.loads(stored) if isinstance(stored, str) else None
        return Completion(**fields, cached=True) if isinstance(fields, dict) and _is_whole(fields) else None
    except (ValueError, TypeError, RecursionError):
        return None


def _is_whole(fields: dict[str, Any]) -> bool:
    counts = fields.get("prompt_tokens"), fields.get("completion_tokens")
    words = fields.get("finish_reason"), fields.get("reasoning")
    return (
        isinstance(fields.get("text"), str)
        and all(isinstance(count, int) and 0 <= count <= COUNT_LIMIT for count in counts)
        and all(word is None or isinstance(word, str) for word in words)
    )
