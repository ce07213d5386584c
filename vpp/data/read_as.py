"""How a file is to be read, where a person says so; what is not said is found from the file."""

import codecs
from dataclasses import asdict, dataclass
from typing import Any

from vpp.errors import InputError

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
"""What delimiters are called; a space stands for any run of spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAs:
    """Choices of a person; None leaves each to what is found. Raises InputError for one that cannot be."""

    encoding: str | None = None
    """Any text encoding that Python knows."""
    delimiter: str | None = None
    """One character, or a name of DELIMITER_NAMES, which becomes its character."""
    header: bool | None = None
    """Whether the first line, after those skipped, names the columns."""
    skip_lines: int | None = None
    """Lines above the table, such as titles and comments."""
    sheet: str | None = None
    """A workbook's sheet."""
    decimal: str | None = None
    """The mark before decimals, a point or a comma, or its name."""

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _known(self.encoding))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _one_character(self.delimiter))
        if self.skip_lines is not None and self.skip_lines < 0:
            raise InputError(f"skip-lines is {self.skip_lines}: give 0 or more")
        if self.decimal is not None:
            object.__setattr__(self, "decimal", _mark(self.decimal))

    @property
    def said(self) -> dict[str, Any]:
        """The choices that were made, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


AS_FOUND = ReadAs()
"""Nothing is said."""


def _known(encoding: str) -> str:
    """Its usual name."""
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)  # LookupError for a codec that is not of text
    except (LookupError, ValueError):  # a NUL in the name is a ValueError
        raise InputError(f"encoding {encoding!r} is not known: give one such as utf-8, utf-16 or cp1252") from None
    return info.name


def _mark(decimal: str) -> str:
    found = {"point": ".", "comma": ","}.get(decimal.lower(), decimal)
    if found not in (".", ","):
        raise InputError(f"decimal is {decimal!r}: give point or comma")
    return found


def _one_character(delimiter: str) -> str:
    by_name = {name: character for character, name in DELIMITER_NAMES.items()}
    found = "\t" if delimiter == "\\t" else by_name.get(delimiter.lower(), delimiter)
    if len(found) != 1 or found in '"\r\n\0':
        raise InputError(f"delimiter {delimiter!r} is none: give one character, or {', '.join(by_name)}")
    return found
