"""Response cache: answers on disk under a hash of everything that determines them, except keys and secret headers.

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

from diskcache import Cache, Disk, Timeout
from diskcache.core import MODE_PICKLE
from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError
from vpp.llm.protocol import Completion

SIZE_LIMIT = 64 * 2**30
"""Bytes. Nothing is ever evicted, but diskcache wants a number."""
IN_ROW_LIMIT = 4 * 2**20
"""Bytes up to which a value lives in the database. Answers are capped far below, so that each one does."""
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


class TextDisk(Disk):  # type: ignore[misc]
    """diskcache's disk without pickles (CVE-2025-69872): a planted pickle is refused, never loaded.

    It also touches no files outside the database. We store none there, and a planted row could name any file.
    """

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Return the stored value. A pickle or a file raises OSError, which diskcache takes for a miss."""
        if mode == MODE_PICKLE or filename is not None:
            raise OSError("a pickle, or the name of a file, in the response cache was refused")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: str) -> None:
        """Remove nothing: no file is ours."""

    def get(self, key: Any, raw: bool) -> Any:
        """Return the key of a row. Raises OSError for a pickled one."""
        if not raw:
            raise OSError("a pickled key in the response cache was refused")
        return super().get(key, raw)


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
            self._store: Any = self._in_thread(lambda: _open(folder))
        except (OSError, sqlite3.Error, Timeout, TypeError, ValueError, AttributeError) as error:
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
        except Exception as error:
            self._report(error, unkept=0)

    def close(self) -> None:
        """Close the files; for callers without an event loop."""
        self._in_thread(self._store.close)
        self._thread.shutdown()

    def info(self) -> CacheInfo:
        """Return the number of entries and bytes on disk."""
        return self._in_thread(lambda: CacheInfo(len(self._store), self._store.volume()))

    def clear(self) -> int:
        """Delete every answer; return how many there were."""
        return int(self._in_thread(self._store.clear))

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
                answers, fault = await loop.run_in_executor(self._thread, self._use_store, list(wanted), unwritten)
                if fault is not None:
                    self._report(fault, unkept=len(unwritten))
                for key, waiting in wanted.items():
                    for future in waiting:
                        if not future.done():
                            future.set_result(answers.get(key))
                for key in unwritten:
                    del self._unwritten[key]
        finally:
            self._worker = None

    def _use_store(
        self, keys: list[str], unwritten: dict[str, Completion]
    ) -> tuple[dict[str, Completion], Exception | None]:
        """Look up and write one batch, in the cache's thread. Returns a failure: a run continues without its cache."""
        answers: dict[str, Completion] = {}
        if self._is_locked:
            return answers, Timeout() if unwritten else None
        try:
            for key in keys:
                if (answer := _from_json(self._store.get(key))) is not None:
                    answers[key] = answer
            if unwritten:
                with self._store.transact():
                    for key, completion in unwritten.items():
                        self._store.set(key, _ANSWER.dump_json(completion, exclude={"cached"}).decode())
        except Exception as error:
            self._is_locked = isinstance(error, Timeout)
            return answers, error
        return answers, None

    def _report(self, error: Exception, *, unkept: int) -> None:
        reason = "another program has it to itself" if isinstance(error, Timeout) else str(error)
        self._on_fault(" ".join((reason or type(error).__name__).split())[:REASON_LENGTH], unkept)


def _open(folder: Path) -> Any:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return Cache(
        str(folder),
        timeout=WAIT_S,
        disk=TextDisk,
        disk_min_file_size=IN_ROW_LIMIT,
        eviction_policy="none",
        size_limit=SIZE_LIMIT,
        cull_limit=0,
    )


def _from_json(stored: object) -> Completion | None:
    """Return the answer; None for a row that this module did not write."""
    try:
        return replace(_ANSWER.validate_json(stored, strict=True, extra="forbid"), cached=True)  # type: ignore[arg-type]
    except (ValidationError, TypeError):
        return None
