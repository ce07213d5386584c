"""By what rows are parted into training and test rows: by chance, by a column's groups, or by time."""

from dataclasses import dataclass
from typing import Literal

from vpp.errors import InputError

RuleKind = Literal["random", "group", "time"]
SHAPES = "random, group:COLUMN or time:COLUMN"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """Where a column decides, it is no input unless a person asks for it."""

    kind: RuleKind = "random"
    column: str = ""
    """Whose values are the groups, or the times; empty for a random split."""

    @classmethod
    def read(cls, text: str) -> "SplitRule":
        """From `random`, `group:COLUMN` or `time:COLUMN`. Raises InputError for any other."""
        kind, _, column = text.partition(":")
        if text == "random":
            return cls()
        if kind == "group" and column:
            return cls(kind="group", column=column)
        if kind == "time" and column:
            return cls(kind="time", column=column)
        raise InputError(f"split {text!r} is none: give {SHAPES}")

    @property
    def said(self) -> str:
        """What `read` takes."""
        return f"{self.kind}:{self.column}" if self.column else self.kind

    @property
    def why_no_input(self) -> str:
        """Why its column is left out of the inputs unasked, as a clause."""
        if self.kind == "group":
            return "it parts the rows into groups, and a new group is none of those"
        return "it orders the rows in time, and a new row is later than those"


RANDOM = SplitRule()
