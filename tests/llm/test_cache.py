"""Cached answers, a cache folder that somebody else has written to, and requests that are shared while under way."""

import asyncio
import json
import os
import pickle
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


class Planted:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


def plant(folder: Path, value: object, *, key: object = "k", raw: int = 1) -> None:
    """Insert a row into the database without the cache."""
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute("INSERT INTO Cache (key, raw, value) VALUES (?, ?, ?)", (key, raw, value))
    database.close()


def used(folder: Path) -> Completion | None:
    """Return the answer under `k`; then write, inspect and clear the cache, as a run may."""

    async def scene() -> Completion | None:
        cache = ResponseCache(folder)
        answer = await cache.get("k")
        cache.put("k", ANSWER)
        await cache.flush()
        assert (await cache.get("k")) is not None
        cache.info()
        cache.clear()
        await cache.aclose()
        return answer

    return asyncio.run(scene())


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


def test_a_database_that_is_no_plain_file_is_refused_unopened(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name, make in product(("cache.db", "cache.db-wal"), (os.mkfifo, lambda path: path.symlink_to(elsewhere))):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        make(folder / name)
        with pytest.raises(InputError, match=f"{name} is a link, a pipe or a folder"):
            ResponseCache(folder)
    assert not elsewhere.exists()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "cache.db").write_bytes(b"not a database" * 1000)
    for place in (tmp_path / "file", tmp_path / "text"):
        with pytest.raises(InputError, match="choose another folder"):
            ResponseCache(place)


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
        plant(folder, value, key=str(place))
    plant(folder, json.dumps(SOUND), key="sound")

    cache = ResponseCache(folder)
    assert await cache.get("sound") is not None
    for place, value in enumerate(UNSOUND):
        assert await cache.get(str(place)) is None, value
    await cache.aclose()


def test_a_planted_pickle_is_never_loaded(folder: Path, tmp_path: Path) -> None:
    mark, bomb = tmp_path / "unpickled", pickle.dumps(Planted(tmp_path / "unpickled"))
    for key, raw, value in (("k", 1, bomb), (bomb, 0, "{}")):
        plant(folder, value, key=key, raw=raw)
        assert used(folder) is None
        assert not mark.exists()
    pickle.loads(bomb)
    assert mark.exists(), "it leaves a mark if it is loaded"


def test_the_answers_of_earlier_versions_are_found(tmp_path: Path) -> None:
    columns = "rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, mode INTEGER DEFAULT 0, filename TEXT, value BLOB"
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute(f"CREATE TABLE Cache ({columns})")
        database.execute("CREATE UNIQUE INDEX Cache_key_raw ON Cache(key, raw)")
        database.execute("INSERT INTO Cache (key, raw, mode, value) VALUES ('k', 1, 1, ?)", (json.dumps(SOUND),))
        database.execute("INSERT INTO Cache (key, raw, mode, filename) VALUES ('file', 1, 3, '../own.json')")
    database.close()
    answer = used(tmp_path)
    assert (answer and answer.text) == "x"
