"""The rows of one file that have a target."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vpp.data.dataset import Row, Task
from vpp.data.inputs import unlabelled_rows
from vpp.data.table import Table
from vpp.data.target import target_value


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Rows of a table with a value in the target column, and maybe in another."""

    table: Table
    inputs: tuple[str, ...]
    target: str
    task: Task
    first_id: int = 0
    """The id of the file's first row."""
    needed: str = ""
    """A column in which a row must have a value too, to be taken."""

    @cached_property
    def labelled(self) -> list[tuple[int, str]]:
        """(Position in the file, target's cell) of each row with a target."""
        return [(i, cell) for i, cell in enumerate(self.table.cells(self.target)) if cell is not None]

    @cached_property
    def targets(self) -> list[tuple[int, str]]:
        """Those of `labelled` that may be taken."""
        if not self.needed:
            return self.labelled
        cells = self.table.cells(self.needed)
        return [(i, cell) for i, cell in self.labelled if cells[i] is not None]

    @property
    def n_without(self) -> int:
        """Rows with a target that lack the needed cell."""
        return len(self.labelled) - len(self.targets)

    @cached_property
    def strata(self) -> list[str]:
        """The label of each of `targets`; all equal for regression."""
        return [cell if self.task == "classification" else "" for _, cell in self.targets]

    @property
    def labels(self) -> set[str]:
        """Of all rows with a target; those of a regression are the one stratum."""
        return {cell if self.task == "classification" else "" for _, cell in self.labelled}

    @property
    def unlabelled(self) -> tuple[Row, ...]:
        """The file's rows without a target that have any input, in its order."""
        found = unlabelled_rows(self.table, self.inputs, self.target)
        asked = (row for row in found if any(cell is not None for _, cell in row.inputs))
        return tuple(replace(row, id=self.first_id + row.id) for row in asked)

    def cells(self, column: str) -> list[str | None]:
        """Of each of `targets`."""
        cells = self.table.cells(column)
        return [cells[i] for i, _ in self.targets]

    def rows(self, picked: Sequence[int]) -> tuple[Row, ...]:
        """The rows at these places among `targets`."""
        columns = [(name, self.table.cells(name)) for name in self.inputs]
        return tuple(
            Row(
                id=self.first_id + i,
                inputs=tuple((name, cells[i]) for name, cells in columns),
                target=target_value(cell, self.task),
            )
            for i, cell in (self.targets[k] for k in picked)
        )
