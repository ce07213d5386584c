"""A cache folder that somebody else has written to: nothing in it is run, and no file beside it is touched."""

import asyncio
import io
import os
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from diskcache.core import MODE_BINARY, MODE_PICKLE, MODE_TEXT

from vpp.errors import InputError
from vpp.llm.cache import ResponseCache
from vpp.llm.protocol import Completion

ANSWER = Completion(text="Output: 1", finish_reason="stop", prompt_tokens=7, completion_tokens=3)
COLUMNS = {"raw": 1, "store_time": 0, "expire_time": None, "access_time": 0, "size": 0, "filename": None, "value": None}


class Planted:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


def plant(folder: Path, **row: Any) -> None:
    """Puts a row into the database behind the cache's back."""
    given = {**COLUMNS, "key": "k", **row}
    names, places = ", ".join(given), ", ".join("?" * len(given))
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute(f"INSERT INTO Cache ({names}) VALUES ({places})", list(given.values()))
    database.close()


def used(folder: Path) -> Completion | None:
    """What is found under `k` by a run that then writes, looks at and clears the cache."""

    async def scene() -> Completion | None:
        cache = ResponseCache(folder)
        found = await cache.get("k")
        cache.put("k", ANSWER)
        await cache.flush()
        assert (await cache.get("k")) is not None
        cache.info()
        cache.clear()
        await cache.aclose()
        return found

    return asyncio.run(scene())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ResponseCache(tmp_path / "cache").close()
    return tmp_path / "cache"


@pytest.mark.parametrize("place", ["value", "file", "key"])
def test_a_planted_pickle_is_never_loaded(folder: Path, tmp_path: Path, place: str) -> None:
    mark, bomb = tmp_path / "unpickled", pickle.dumps(Planted(tmp_path / "unpickled"))
    (folder / "bomb.val").write_bytes(bomb)
    rows: dict[str, dict[str, Any]] = {
        "value": {"mode": MODE_PICKLE, "value": bomb},
        "file": {"mode": MODE_PICKLE, "filename": "bomb.val"},
        "key": {"mode": 1, "key": bomb, "raw": 0, "value": "{}"},
    }
    plant(folder, **rows[place])
    assert used(folder) is None
    assert not mark.exists()


def test_the_planted_pickle_does_leave_a_mark_where_it_is_loaded(tmp_path: Path) -> None:
    pickle.load(io.BytesIO(pickle.dumps(Planted(tmp_path / "unpickled"))))
    assert (tmp_path / "unpickled").exists()


@pytest.mark.parametrize("mode", [MODE_TEXT, MODE_BINARY])
@pytest.mark.parametrize("form", ["relative", "absolute"])
def test_a_row_that_names_a_file_neither_reads_nor_removes_it(
    folder: Path, tmp_path: Path, mode: int, form: str
) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"text": "x", "finish_reason": null, "prompt_tokens": 1, "completion_tokens": 1}')
    plant(folder, mode=mode, filename="../own.json" if form == "relative" else str(own))
    assert used(folder) is None
    assert own.exists()


def test_a_row_that_names_a_pipe_does_not_hold_the_run_up(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    plant(folder, mode=MODE_TEXT, filename="pipe")
    assert used(folder) is None


def test_settings_of_another_hand_are_refused_in_one_line(folder: Path) -> None:
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute("INSERT INTO Settings VALUES ('disk_planted', 1)")
    database.close()
    with pytest.raises(InputError, match="choose another folder"):
        ResponseCache(folder)
