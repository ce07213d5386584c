"""Cached answers, and a cache folder that somebody else has written to."""

import json
import os
import pickle
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from diskcache.core import MODE_BINARY, MODE_PICKLE, MODE_TEXT

from vpp.errors import InputError
from vpp.llm.cache import ResponseCache, cache_key
from vpp.llm.protocol import Completion

ANSWER = Completion(text="Output: 1", prompt_tokens=7, completion_tokens=3, reasoning="hm")
COLUMNS = {"raw": 1, "store_time": 0, "expire_time": None, "access_time": 0, "size": 0, "filename": None, "value": None}


class Planted:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


def plant(folder: Path, **row: Any) -> None:
    """Insert a row into the database without the cache."""
    given = {**COLUMNS, "key": "k", **row}
    names, places = ", ".join(given), ", ".join("?" * len(given))
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute(f"INSERT OR REPLACE INTO Cache ({names}) VALUES ({places})", list(given.values()))
    database.close()


def used(folder: Path) -> Completion | None:
    """Return the answer under `k`; then write another, as a run may."""
    cache = ResponseCache(folder)
    answer = cache.get("k")
    cache.put("k", ANSWER)
    assert cache.get("k") == ANSWER
    cache.close()
    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ResponseCache(tmp_path / "cache").close()
    return tmp_path / "cache"


def test_an_answer_is_found_again_in_a_private_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    cache = ResponseCache(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache.get("k") is None
    cache.put("k", ANSWER)
    assert cache.get("k") == ANSWER
    cache.close()
    again = ResponseCache(folder)
    assert again.get("k") == ANSWER
    again.close()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "cache.db").write_bytes(b"not a database" * 1000)
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute("INSERT INTO Settings VALUES ('disk_planted', 1)")
    database.close()
    for place in (tmp_path / "file", tmp_path / "text", folder):
        with pytest.raises(InputError, match="choose another folder"):
            ResponseCache(place)


def test_the_key_does_not_depend_on_the_order_of_fields() -> None:
    assert cache_key({"a": 1, "b": [{"c": 2, "d": 3}]}) == cache_key({"b": [{"d": 3, "c": 2}], "a": 1})
    assert cache_key({"a": 1}) != cache_key({"a": 1.5})


SOUND = {"text": "x", "prompt_tokens": 1, "completion_tokens": 1, "reasoning": None}
UNSOUND: tuple[object, ...] = (
    *("not JSON", "[]", "{}", 3),
    *(json.dumps(SOUND | change) for change in ({"text": 1}, {"prompt_tokens": "1"}, {"cut_off": 3}, {"more": 1})),
    *(json.dumps(SOUND | {"prompt_tokens": tokens}) for tokens in (10**400, -1)),
)


def test_a_row_that_is_no_answer_is_a_miss(folder: Path) -> None:
    for place, value in enumerate(UNSOUND):
        plant(folder, key=str(place), mode=1, value=value)
    plant(folder, key="sound", mode=1, value=json.dumps(SOUND))

    cache = ResponseCache(folder)
    assert cache.get("sound") is not None
    for place, value in enumerate(UNSOUND):
        assert cache.get(str(place)) is None, value
    cache.close()


def test_a_planted_pickle_is_never_loaded(folder: Path, tmp_path: Path) -> None:
    mark, bomb = tmp_path / "unpickled", pickle.dumps(Planted(tmp_path / "unpickled"))
    (folder / "bomb.val").write_bytes(bomb)
    planted: tuple[dict[str, Any], ...] = (
        {"mode": MODE_PICKLE, "value": bomb},
        {"mode": MODE_PICKLE, "filename": "bomb.val"},
    )
    for one in planted:
        plant(folder, **one)
        assert used(folder) is None
        assert not mark.exists()
    pickle.loads(bomb)
    assert mark.exists(), "it leaves a mark if it is loaded"


def test_a_row_that_names_a_file_neither_reads_nor_removes_it(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"text": "x", "prompt_tokens": 1, "completion_tokens": 1}')
    os.mkfifo(folder / "pipe")  # opening it would hold the run up
    for mode, name in product((MODE_TEXT, MODE_BINARY), ("../own.json", str(own), "pipe")):
        plant(folder, mode=mode, filename=name)
        assert used(folder) is None
        assert own.exists()


def test_a_locked_database_is_waited_for_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[tuple[str, int]] = []
    monkeypatch.setattr("vpp.llm.cache.WAIT_S", 0.01)
    cache = ResponseCache(folder, on_fault=lambda *fault: faults.append(fault))
    other = sqlite3.connect(folder / "cache.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    cache.put("k", ANSWER)
    other.close()
    assert cache.get("k") is None
    cache.close()
    assert faults == [("another program has it to itself", 1), ("another program has it to itself", 0)]
