"""Cells and phrases that several sections of the report share. What comes from outside is escaped here."""

from textwrap import shorten

from vpp.data.dataset import Row
from vpp.drawing.matrix import inputs_line
from vpp.posterior.prediction import Value
from vpp.wording.escaping import markdown_text
from vpp.wording.words import fixed, value_text

LONGEST_INPUTS = 300
"""Characters of a row's inputs shown in a table."""
NONE = "–"


def answer_cell(value: Value | None) -> str:
    """An answer or a target."""
    return "no answer" if value is None else markdown_text(value_text(value))


def inputs_cell(row: Row) -> str:
    """All inputs of a row, cut where they are long."""
    return markdown_text(shorten(inputs_line(row, most=len(row.inputs)), LONGEST_INPUTS, placeholder=" …"))


def log_text(value: float | None) -> str:
    """A natural logarithm."""
    return "not recorded" if value is None else fixed(value)
