"""Response cache: answers on disk under a hash of everything that determines them, except keys and secret headers.

A cached answer is the model's raw text, so an improved parser can read it again. No write waits for the disk, so that a
look-up or a write takes some tens of microseconds, and may happen in the event loop.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from diskcache import Cache, Disk, Timeout
from diskcache.core import MODE_PICKLE
from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError
from vpp.llm.protocol import Completion

WAIT_S = 2.0
"""Seconds to wait for another process that has locked the database; after them a run goes on without its cache."""
_ANSWER = TypeAdapter(Completion)
_FAULTS = (OSError, sqlite3.Error, Timeout)


def cache_key(question: dict[str, Any]) -> str:
    """Return the SHA-256 of a question's canonical JSON: address, model, messages, temperature, seed, limit, format."""
    return hashlib.sha256(json.dumps(question, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class TextDisk(Disk):  # type: ignore[misc]
    """diskcache's disk without pickles (CVE-2025-69872): a planted pickle is refused, never loaded.

    It also touches no files outside the database. We store none there, and a planted row could name any file.
    """

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == MODE_PICKLE or filename is not None:
            raise OSError("a pickle, or the name of a file, in the response cache was refused")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: str) -> None:
        """Remove nothing: no file is ours."""


class ResponseCache:
    """Answers by `cache_key`. Several processes may share a folder."""

    def __init__(self, folder: Path, *, on_fault: Callable[[str, int], None] = lambda *_: None) -> None:
        """Raise InputError if the folder cannot be used. on_fault: gets a reason, and how many answers are lost."""
        self._on_fault = on_fault
        self._is_locked = False
        # answers are far shorter than 4 MiB, so each lives in the database; nothing is evicted
        sizes = {"disk_min_file_size": 4 * 2**20, "size_limit": 64 * 2**30, "cull_limit": 0}
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            self._store = Cache(str(folder), timeout=WAIT_S, disk=TextDisk, eviction_policy="none", **sizes)
        except (*_FAULTS, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"the response cache {folder} cannot be used ({error}): choose another folder") from error

    def get(self, key: str) -> Completion | None:
        """Return the answer under `key`; None for none, or a row that this module did not write."""
        stored = self._use(lambda: self._store.get(key), unkept=0)
        with suppress(ValidationError, TypeError):
            return _ANSWER.validate_json(stored, strict=True, extra="forbid")
        return None

    def put(self, key: str, completion: Completion) -> None:
        answer = _ANSWER.dump_json(completion, exclude={"refusal"}).decode()
        self._use(lambda: self._store.set(key, answer), unkept=1)

    def _use(self, work: Callable[[], Any], *, unkept: int) -> Any:
        """Return what the store gives; None after a failure. A run waits for one lock alone, then goes on without."""
        try:
            if self._is_locked:
                raise Timeout
            return work()
        except _FAULTS as error:
            self._is_locked = isinstance(error, Timeout)
            reason = "another program has it to itself" if self._is_locked else str(error) or type(error).__name__
            self._on_fault(" ".join(reason.split())[:160], unkept)
            return None

    def close(self) -> None:
        with suppress(*_FAULTS):
            self._store.close()
