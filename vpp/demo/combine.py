"""Combinators: readers of a grammar made of smaller readers.

A reader takes a cursor, moves it over one form and returns the form's value, or None if the form is not there.
"""

from collections.abc import Callable, Mapping
from typing import Any

from vpp.demo.lexer import Cursor

Reader = Callable[[Cursor], Any]


def _the_value(*values: Any) -> Any:
    return values[0]


def seq(*parts: str | Reader, make: Callable[..., Any] = _the_value) -> Reader:
    """Read the parts in turn and make a value of what the readers among them return.

    A text stands for words of which it lists the alternatives, separated by |; with a ? at its end they may be absent.
    """

    def read(cursor: Cursor) -> Any:
        values = []
        for part in parts:
            if isinstance(part, str):
                if cursor.take(part.removesuffix("?")) is None and not part.endswith("?"):
                    return None
            elif (value := cursor.attempt(part)) is not None:
                values.append(value)
            else:
                return None
        return make(*values)

    return read


def first(*readers: Reader) -> Reader:
    """Try the readers in turn; the first that returns a value counts."""
    return lambda cursor: cursor.first(*readers)


def named(values: Mapping[str, Any]) -> Reader:
    """Read the longest of the phrases at the cursor and return its value."""
    phrases = "|".join(values)

    def read(cursor: Cursor) -> Any:
        phrase = cursor.take(phrases)
        return None if phrase is None else values[phrase]

    return read


def joined(part: Reader, joints: str, make: Callable[[tuple[Any, ...]], Any]) -> Reader:
    def read(cursor: Cursor) -> Any:
        parts: list[Any] = []
        mark = cursor.position
        while (one := cursor.attempt(part)) is not None:
            parts.append(one)
            mark = cursor.position
            if not cursor.take(joints):
                break
        cursor.position = mark
        return make(tuple(parts)) if parts else None

    return read
