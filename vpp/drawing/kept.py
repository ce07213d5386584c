"""Drawings that are kept while what they are made from is the same, and shared by all who look."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar, cast

T = TypeVar("T")


class Kept:
    """Drawings by what they are made from; the ones unused for longest go first. Any thread may ask.

    Each is made once: who wants one that is being made waits for it.
    """

    def __init__(self, most: int) -> None:
        """most: how large all together may be, in the unit of `size`; one that is larger is not kept."""
        self._most = most
        self._held = 0
        self._drawings: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Of all that are kept."""
        return self._held

    def get(self, made_from: Hashable, make: Callable[[], T], *, size: Callable[[T], int]) -> T:
        """The drawing; what `make` raises is raised. None is given, but not kept: there is no drawing yet."""
        with self._lock:
            if made_from in self._drawings:
                return cast(T, self._found(made_from))
            making = self._making.setdefault(made_from, Lock())
        with making:
            with self._lock:
                if made_from in self._drawings:
                    return cast(T, self._found(made_from))
            try:
                made = make()
                if made is not None:
                    self._keep(made_from, made, size(made))
            finally:
                with self._lock:
                    self._making.pop(made_from, None)
        return made

    def _found(self, made_from: Hashable) -> object:
        self._drawings.move_to_end(made_from)
        return self._drawings[made_from][0]

    def _keep(self, made_from: Hashable, made: object, size: int) -> None:
        if size > self._most:
            return
        with self._lock:  # after one that failed, a waiter and a newcomer may both have made it
            _, before = self._drawings.pop(made_from, (None, 0))
            self._drawings[made_from] = (made, size)
            self._held += size - before
            while self._held > self._most:
                _, (_, freed) = self._drawings.popitem(last=False)
                self._held -= freed
