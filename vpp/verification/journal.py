"""The journal's records with their numbers."""

import os
from dataclasses import dataclass
from pathlib import Path

from vpp.errors import RunError
from vpp.runs.journal import Record, decoded
from vpp.runs.lines import Lines, Lost
from vpp.runs.soundness import undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A record and where it stands."""

    number: int
    """Of its line, from 1."""
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Journalled:
    """All that a journal holds."""

    whole: tuple[Numbered, ...]
    damaged: tuple[Lost, ...]
    """What cannot be read."""
    is_torn: bool
    """Whether the last line has no end: its writer was cut short, or is at it."""


def read_journal(path: Path) -> Journalled:
    """Every record that can be read; none where there is no file. Raises RunError where a newer program wrote it."""
    whole: list[Numbered] = []
    damaged: list[Lost] = []
    for line in Lines(path).new():
        for found in decoded(line):
            if isinstance(found, Lost) and found.is_newer:
                raise RunError(f"{path}: line {found.line} is {found.reason}: verify it with that one")
            if isinstance(found, Lost):
                damaged.append(found)
            elif why := undefined(found.event):
                damaged.append(Lost(line=line.number, start=line.start, reason=why))
            else:
                whole.append(Numbered(number=line.number, record=found))
    return Journalled(whole=tuple(whole), damaged=tuple(damaged), is_torn=_is_torn(path))


def _is_torn(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"
