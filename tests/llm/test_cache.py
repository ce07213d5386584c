"""Cached answers, and a cache folder that somebody else has written to."""

import asyncio
import json
import os
import sqlite3
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from vpp.errors import InputError
from vpp.llm.cache import CacheInfo, ResponseCache, cache_key
from vpp.llm.protocol import Completion

ANSWER = Completion(text="Output: 1", finish_reason="stop", prompt_tokens=7, completion_tokens=3, reasoning="hm")


def plant(folder: Path, key: str, answer: object) -> None:
    """Insert a row into the database without the cache."""
    with sqlite3.connect(folder / "answers.db") as database:
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
    assert again.info() == CacheInfo(0, again.info().bytes)
    assert await again.get("k") is None
    await again.aclose()


async def test_simultaneous_look_ups_and_writes_are_one_batch_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[tuple[int, int]] = []
    use_database = ResponseCache._use_database

    def counted(self: ResponseCache, keys: list[str], unwritten: dict[str, Completion]) -> object:
        batches.append((len(keys), len(unwritten)))
        return use_database(self, keys, unwritten)

    monkeypatch.setattr(ResponseCache, "_use_database", counted)

    cache = ResponseCache(tmp_path)
    for number in range(400):
        cache.put(str(number), ANSWER)
    await cache.flush()
    answers = await asyncio.gather(*(cache.get(str(number)) for number in range(500)))
    assert sum(each is not None for each in answers) == 400
    assert batches == [(0, 400), (500, 0)]
    await cache.aclose()


def test_a_database_that_is_no_plain_file_is_refused_unopened(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name, make in product(("answers.db", "answers.db-wal"), (os.mkfifo, lambda path: path.symlink_to(elsewhere))):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        make(folder / name)
        with pytest.raises(InputError, match=f"{name} is a link, a pipe or a folder"):
            ResponseCache(folder)
    assert not elsewhere.exists()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "answers.db").write_bytes(b"not a database" * 1000)
    for place in (tmp_path / "file", tmp_path / "text"):
        with pytest.raises(InputError, match="choose another folder"):
            ResponseCache(place)


def test_the_key_does_not_depend_on_the_order_of_fields() -> None:
    assert cache_key({"a": 1, "b": [{"c": 2, "d": 3}]}) == cache_key({"b": [{"d": 3, "c": 2}], "a": 1})
    assert cache_key({"a": 1}) != cache_key({"a": 1.5})


SOUND = {"text": "x", "finish_reason": None, "prompt_tokens": 1, "completion_tokens": 1, "reasoning": None}
UNSOUND: tuple[object, ...] = (
    *("not JSON", "[]", "{}", 3, b"\x80\x04N."),
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
