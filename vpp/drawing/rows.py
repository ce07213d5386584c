"""Rows of a table that are worded only where somebody looks at them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

T = TypeVar("T")
Cells = tuple[str, ...]


class Rows(Sequence[Cells], Generic[T]):
    """Known by their number at once, and worded all together at the first look at one of them."""

    def __init__(self, of: Sequence[T], cells: Callable[[T], Cells]) -> None:
        """of: what each row tells. cells: its words."""
        self._of = of
        self._cells = cells

    def __len__(self) -> int:
        return len(self._of)

    @overload
    def __getitem__(self, at: int) -> Cells: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Cells, ...]: ...

    def __getitem__(self, at: int | slice) -> Cells | tuple[Cells, ...]:
        return self._worded[at]

    @cached_property
    def _worded(self) -> tuple[Cells, ...]:
        return tuple(map(self._cells, self._of))
