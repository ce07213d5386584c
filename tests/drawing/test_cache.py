"""Drawings that watchers share: made once, bounded, and never another's."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from vpp.drawing.cache import DrawingCache


def test_a_cached_drawing_is_not_made_again_and_the_least_recently_used_is_evicted_first() -> None:
    cache = DrawingCache(4)
    for name in ("a", "b", "a", "c"):
        cache.get(name, lambda: "xx", size=len)
    assert cache.size == 4
    assert cache.get("a", lambda: "new", size=len) == "xx"
    assert cache.get("b", lambda: "new", size=len) == "new"
    # A drawing that is too large is returned uncached and evicts none.
    cache = DrawingCache(4)
    cache.get("a", lambda: "xx", size=len)
    assert cache.get("b", lambda: "x" * 5, size=len) == "xxxxx"
    assert cache.size == 2
    assert cache.get("a", lambda: "new", size=len) == "xx"


def test_threads_that_ask_together_make_it_once() -> None:
    cache, made, together = DrawingCache(100), list[int](), Barrier(8)

    def ask(_: int) -> str:
        together.wait()
        return cache.get("a", lambda: made.append(1) or "drawing", size=len)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == {"drawing"}
    assert made == [1]
