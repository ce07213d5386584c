"""Cached answers, and a cache folder that somebody else has written to."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from vpp.errors import InputError
from vpp.llm.cache import FILE, ResponseCache, cache_key
from vpp.llm.protocol import Completion

ANSWER = Completion(text="Output: 1", finish_reason="stop", prompt_tokens=7, completion_tokens=3, reasoning="hm")


def plant(folder: Path, key: str, answer: object) -> None:
    """Insert a row into the database without the cache."""
    with sqlite3.connect(folder / FILE) as database:
        database.execute("INSERT INTO answers VALUES (?, ?)", (key, answer))
    database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ResponseCache(tmp_path / "cache").close()
    return tmp_path / "cache"


async def test_an_answer_is_found_again_until_the_cache_is_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    cache = ResponseCache(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert await cache.get("k") is None
    cache.put("k", ANSWER)
    assert await cache.get("k") == replace(ANSWER, cached=True), "not yet written"
    await cache.aclose()
    again = ResponseCache(folder)
    assert await again.get("k") == replace(ANSWER, cached=True)
    assert again.info().entries == 1
    assert again.info().bytes > 0
    assert again.clear() == 1
    assert again.info().entries == 0
    assert await again.get("k") is None
    await again.aclose()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / FILE).write_bytes(b"not a database" * 1000)
    for place in (tmp_path / "file", tmp_path / "text"):
        with pytest.raises(InputError, match="choose another folder"):
            ResponseCache(place)


async def test_a_locked_database_is_reported_and_not_waited_for_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vpp.llm.cache.WAIT_S", 0.05)
    faults: list[tuple[str, int]] = []
    cache = ResponseCache(folder, on_fault=lambda *fault: faults.append(fault))
    other = sqlite3.connect(folder / FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    cache.put("k", ANSWER)
    await cache.flush()
    other.rollback()
    other.close()
    assert await cache.get("k") is None
    assert faults == [("database is locked", 1), ("database is locked", 0)]
    await cache.aclose()


def test_the_key_does_not_depend_on_the_order_of_fields() -> None:
    assert cache_key({"a": 1, "b": [{"c": 2, "d": 3}]}) == cache_key({"b": [{"d": 3, "c": 2}], "a": 1})
    assert cache_key({"a": 1}) != cache_key({"a": 1.5})


SOUND = {"text": "x", "finish_reason": None, "prompt_tokens": 1, "completion_tokens": 1, "reasoning": None}
UNSOUND: tuple[object, ...] = (
    *("not JSON", "[]", "{}", 3),
    *(
        json.dumps(SOUND | change)
        for change in ({"text": 1}, {"prompt_tokens": "1"}, {"finish_reason": 3}, {"more": 1})
    ),
    *(json.dumps(SOUND | {"prompt_tokens": tokens}) for tokens in (10**400, -1)),
)


async def test_a_row_that_is_no_answer_is_a_miss(folder: Path) -> None:
    for place, value in enumerate(UNSOUND):
        plant(folder, str(place), value)
    plant(folder, "sound", json.dumps(SOUND))

    cache = ResponseCache(folder)
    assert await cache.get("sound") is not None
    for place, value in enumerate(UNSOUND):
        assert await cache.get(str(place)) is None, value
    await cache.aclose()
