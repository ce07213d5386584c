"""The test rows label by label, as cells of a table. Labels are the data's, to be escaped."""

from collections.abc import Sequence

from vpp.inspection.scores import LabelLine
from vpp.wording.words import integer, percent, value_text

HEAD = ("label", "training rows", "test rows", "right", "share right", "else mostly")
RIGHT = (1, 2, 3, 4)
"""Columns of numbers."""


def label_cells(lines: Sequence[LabelLine]) -> list[tuple[str, ...]]:
    """A row a label."""
    return [
        (
            line.label,
            integer(line.n_trained),
            integer(line.n),
            integer(line.n_correct),
            percent(line.n_correct / line.n) if line.n else "–",
            _mistaken(line),
        )
        for line in lines
    ]


def _mistaken(line: LabelLine) -> str:
    if line.mistaken is None:
        return ""
    answer, n = line.mistaken
    return f"{value_text(answer)} ({integer(n)})"
