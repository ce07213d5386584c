"""Rules of a split: by chance, by the groups of a column, or by its times. Without numpy, for fast help texts."""

from dataclasses import dataclass
from typing import Literal

from vpp.errors import InputError

RuleKind = Literal["random", "group", "time"]
SHAPES = "random, group:COLUMN or time:COLUMN"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """Rule of a split: by chance, by the groups of a column, or by the times of a column."""

    kind: RuleKind = "random"
    column: str = ""
    """Column with the groups or times; empty for a random split. An input only if the user asks for it."""

    @classmethod
    def read(cls, text: str) -> "SplitRule":
        """Parse `random`, `group:COLUMN` or `time:COLUMN`. Raises InputError for other text."""
        kind, _, column = text.partition(":")
        if text == "random":
            return cls()
        if kind == "group" and column:
            return cls(kind="group", column=column)
        if kind == "time" and column:
            return cls(kind="time", column=column)
        raise InputError(f"split {text!r} is unknown: give {SHAPES}")

    @property
    def text(self) -> str:
        """The rule as `read` parses it."""
        return f"{self.kind}:{self.column}" if self.column else self.kind

    @property
    def why_no_input(self) -> str:
        """Reason, as a clause, why its column is not an input by default."""
        if self.kind == "group":
            return "the split is by its groups, and new rows belong to new groups"
        return "the split is by its times, and new rows have later times"


RANDOM = SplitRule()
