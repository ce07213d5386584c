"""Cells of a CSV that a spreadsheet takes for what they are: text or a number, never a formula.

A text that begins with `=`, `+`, `-` or `@` (plain or full-width), a tab or a line end gets an apostrophe before it,
the mark by which a spreadsheet knows text; blanks and apostrophes in front make no difference. A finite decimal
number, -3.5 or +2, stays as it is. `original` undoes it, so that nothing is lost.
"""

import re

from vpp.data.kinds import is_number

_FORMULA = re.compile("[' \xa0\u3000]*[=+\\-@＝＋－＠\t\r\n]")


def safe_cell(text: str) -> str:
    """What is written for a cell of this text."""
    return f"'{text}" if _FORMULA.match(text) and not is_number(text) else text


def original(cell: str) -> str:
    """The text that `safe_cell` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell
