"""A cache of drawings, shared by all readers: least recently used ones are evicted, and each is made once."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar, cast

T = TypeVar("T")


class DrawingCache:
    """Drawings by the key of what they are made from. Thread-safe; a drawing in the making is waited for."""

    def __init__(self, most: int) -> None:
        """most: size of all drawings together, in the unit of `size`; a larger drawing is not cached."""
        self._most = most
        self._size = 0
        self._drawings: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T], *, size: Callable[[T], int]) -> T:
        """Cached drawing, or a new one. An exception of `make` is raised; None is returned, but not cached."""
        with self._lock:
            if key in self._drawings:
                return cast(T, self._cached(key))
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._drawings:
                    return cast(T, self._cached(key))
            try:
                made = make()
                if made is not None:
                    self._store(key, made, size(made))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return made

    def _cached(self, key: Hashable) -> object:
        self._drawings.move_to_end(key)
        return self._drawings[key][0]

    def _store(self, key: Hashable, made: object, size: int) -> None:
        if size > self._most:
            return
        with self._lock:
            # After a failed `make`, a waiter and a newcomer may both have made the drawing.
            _, before = self._drawings.pop(key, (None, 0))
            self._drawings[key] = (made, size)
            self._size += size - before
            while self._size > self._most:
                _, (_, freed) = self._drawings.popitem(last=False)
                self._size -= freed
