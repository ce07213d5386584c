"""Bytes as choices: what a fuzzer changes byte by byte becomes other records, other files, other texts."""

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

TEXTS = (
    "", " ", "\x00", "\n", "\r", "\u2028", "\u202e", "\ufeff", "a", "yes", "no", "0", "-1", "1e999", "NaN", "Infinity",
    "-Infinity", "<img src=x onerror=f(1)>", "</script>", "{hypothesis}", "{input}", "{0.__class__}", "%s", "`", "|",
    "| a | b |", "](x)", "\\", '"', "'", "=1+1", ">>>", "<<<", "http://e.example", "Ä" * 50, "é\u0301" * 9, "x" * 5_000,
    "\ud800".encode("utf-8", "replace").decode(),
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2, 3, 7, -2, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.5, 1.5, 1e-320, 1e308, -1e308)
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"type": "scored"}, "NaN", "Infinity", "-Infinity")


class Choices:
    """Takes choices off the front of some bytes; zeros once they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to choose by."""
        return self._at >= len(self._data)

    def byte(self) -> int:
        """From 0 to 255."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, n: int) -> int:
        """From 0 to n - 1."""
        return (self.byte() if n <= 256 else self.byte() << 8 | self.byte()) % n if n > 1 else 0

    def pick(self, some: Sequence[T]) -> T:
        """One of them."""
        return some[self.below(len(some))]

    def text(self) -> str:
        """One of TEXTS, or some of the bytes."""
        kind = self.byte()
        return self.pick(TEXTS) if kind < 192 else self.bytes(kind - 192).decode("utf-8", "replace")

    def bytes(self, n: int) -> bytes:
        """The next n, or what is left of them."""
        self._at += n
        return self._data[self._at - n : self._at]

    def rest(self) -> bytes:
        """All that is left."""
        return self.bytes(max(0, len(self._data) - self._at))

    def value(self) -> Any:
        """Anything that JSON can hold and that does harm."""
        return self.pick((self.text, lambda: self.pick(NUMBERS), lambda: self.pick(OTHERS), self.byte))()


def mutate(records: list[Any], choices: Choices, *, most: int = 8) -> None:
    """Changes JSON records in place: fields, their values, the records' order and number."""
    for _ in range(most):
        if choices.is_over or not records:
            return
        at = choices.below(len(records))
        match choices.byte() % 12:
            case 0:
                del records[at]
            case 1:
                records.insert(choices.below(len(records) + 1), records[at])
            case 2:
                records.append(records.pop(at))
            case 3:
                del records[at + 1 :]
            case _:
                records[at] = _changed(records[at], choices, records)


def _changed(value: Any, choices: Choices, records: list[Any]) -> Any:
    """The value with something in it changed; containers are copied on the way, since a record may stand twice."""
    if isinstance(value, dict) and value and choices.byte() % 16:
        name = choices.pick(list(value))
        return {**value, name: _changed(value[name], choices, records)}
    if isinstance(value, list) and value and choices.byte() % 8:
        at = choices.below(len(value))
        match choices.byte() % 4:
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
            case _:
                return [*value[:at], _changed(value[at], choices, records), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and choices.byte() % 2:
        return value + choices.pick((-1, 1, 2, -3, 10, 1_000_000))
    return choices.value() if choices.byte() % 4 else _somewhere(choices.pick(records), choices)


def _somewhere(value: Any, choices: Choices) -> Any:
    """A value out of another record."""
    while isinstance(value, dict | list) and value and choices.byte() % 8:
        value = choices.pick(list(value.values()) if isinstance(value, dict) else value)
    return value
