"""A table's columns as arguments of a program."""

import ast

import pytest

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.llm.prompts import ProgramPrompts
from vpp.programs.columns import Columns, cell_value

NAMES = {
    "sky at noon": "sky_at_noon",
    "sky, at-noon": "sky_at_noon_2",
    "class": "class_",
    "None": "None_",
    "2nd": "_2nd",
    "€": "column",
    "%": "column_2",
    "predict": "predict_",
    "ask": "ask_",
    "math": "math",
    "Größe": "Größe",
    "x²": "x2",
    "ﬁeld": "field",
    "_ROWS": "ROWS",
    "a) return 1 #": "a_return_1",
}


def table(text: str) -> Dataset:
    plan = SplitPlan(seed=0, train_size=4, test_size=2)
    choice = ColumnChoice(task="classification")
    return build_dataset(Table.read(text.encode(), name="made up"), target="y", columns=choice, split=plan)


def test_every_name_has_an_identifier_of_its_own() -> None:
    head = ",".join(f'"{name}"' for name in NAMES)
    rows = "\n".join(",".join(str(n + k) for k in range(len(NAMES))) + f",{'yn'[n % 2]}" for n in range(6))
    columns = Columns(table(f"{head},y\n{rows}\n"))
    assert {argument.name: alias for alias, argument in columns.arguments.items()} == NAMES
    tree = ast.parse(f"def predict({', '.join(columns.aliases)}): pass")
    assert [each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)] == list(columns.aliases)


MIXED = """\
n,size,code,flag,run,note,shore,y
1,2.5,007,0,3 4 0 7,"We walked to the lighthouse in pouring rain, and the lamp was out.",rock,a
2,,012,1,1 1 2 3,"The lamp of the lighthouse was out, so we turned back at the gate.",sand,b
3,4.5,007,1,0 0 0 1,"Third letter, same answer. I will not write a fourth one to you.",rock,a
3,5.5,012,0,9 8 7 6,"The keeper said that the stair had two hundred steps, or nearly so.",sand,b
5,6.5,012,1,5 5 5 5,"We counted them on the way down and made it a hundred and ninety.",rock,a
6,7.5,007,0,2 4 6 8,"Nobody was at the gate when we came back, and the lamp was lit.",sand,b
"""


def test_cells_are_values_of_their_columns_kind() -> None:
    data = table(MIXED)
    columns = Columns(data)
    types = ("number", "number", "text", "number", "numbers", "prose", "text")
    assert [argument.type for argument in columns.arguments.values()] == list(types)
    assert columns.texts == {"note"}
    row = min(data.labelled, key=lambda row: row.id)
    cells = columns.cells(row, columns.aliases)
    assert cells[:5] == (1, 2.5, "007", 0, [3, 4, 0, 7]), "a code stays text, a category of numbers is numbers"
    second = sorted(data.labelled, key=lambda row: row.id)[1]
    assert columns.cells(second, ("size", "shore")) == (None, "sand")
    assert columns.arguments["size"].has_missing
    stated = ProgramPrompts(dataset=data, columns=columns).translation("Rule")[-1]["content"]
    for line in ("size: number or None", "flag: number, one of 0, 1", "note: a text", "run: a list of whole numbers"):
        assert line in stated.splitlines()


@pytest.mark.parametrize("cell", ["about 3", "9" * 5000, "1e400", ""])
def test_a_cell_that_does_not_fit_its_column_stays_text(cell: str) -> None:
    assert cell_value(cell, "number") == cell
    assert cell_value(cell, "numbers") == cell
