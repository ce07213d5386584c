"""Drawings that watchers share: made once, bounded, and never another's."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from vpp.drawing.cache import DrawingCache


def test_what_is_asked_for_again_is_not_made_again() -> None:
    kept, made = DrawingCache(100), list[int]()
    for _ in range(3):
        assert kept.get("a", lambda: made.append(1) or "drawing", size=len) == "drawing"
    assert made == [1]


def test_the_ones_unused_for_longest_go_first() -> None:
    kept = DrawingCache(4)
    for name in ("a", "b", "a", "c"):
        kept.get(name, lambda: "xx", size=len)
    assert kept.size == 4
    assert kept.get("a", lambda: "new", size=len) == "xx"
    assert kept.get("b", lambda: "new", size=len) == "new"


def test_one_that_is_too_large_is_given_and_not_kept() -> None:
    kept = DrawingCache(4)
    assert kept.get("a", lambda: "x" * 5, size=len) == "xxxxx"
    assert kept.size == 0


def test_one_that_is_too_large_leaves_the_others() -> None:
    kept = DrawingCache(4)
    kept.get("a", lambda: "xx", size=len)
    kept.get("b", lambda: "x" * 5, size=len)
    assert kept.get("a", lambda: "new", size=len) == "xx"


def test_nothing_is_kept_of_what_is_not_known_yet_or_fails() -> None:
    kept = DrawingCache(100)
    assert kept.get("a", lambda: None, size=len) is None
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: str(1 / 0), size=len)
    assert kept.get("a", lambda: "drawing", size=len) == "drawing"


def test_threads_that_ask_at_once_have_it_made_once() -> None:
    kept, made, together = DrawingCache(100), list[int](), Barrier(8)

    def ask(_: int) -> str:
        together.wait()
        return kept.get("a", lambda: made.append(1) or "drawing", size=len)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == {"drawing"}
    assert made == [1]


def test_a_drawing_stored_twice_counts_once() -> None:
    """Two threads may make the same drawing after a failure."""
    kept = DrawingCache(100)
    kept._store("a", "xx", 2)
    kept._store("a", "xx", 2)
    assert kept.size == 2
