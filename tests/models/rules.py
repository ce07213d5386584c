"""Tables and rules whose answers are known: what a model that applies a rule faithfully gives for each row.

Rows are drawn by seed. `rules.json` holds the tables: columns with their values, all equally likely, or numbers from
the first to the last by steps; and rules, each a sentence as people word them and the expression that it states.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table as Csv

Cells = Mapping[str, str]
"""A row by column, as a CSV holds it."""
ROWS = 32
"""Rows a rule is applied to."""


@dataclass(frozen=True, slots=True)
class Rule:
    text: str
    expression: str
    """The same in Python, over the columns."""

    def gives(self, row: Cells) -> str:
        return str(eval(self.expression, {name: _value(cell) for name, cell in row.items()}))


def _value(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a made-up subject."""

    name: str
    target: str
    columns: Mapping[str, Sequence[object]]
    rules: tuple[Rule, ...]

    def csv(self, rule: Rule, n: int = ROWS) -> str:
        """Return `n` rows with what the rule gives as their target, as a CSV; always the same rows."""
        rng = random.Random(f"{self.name} 0")
        rows = [{name: str(rng.choice(values)) for name, values in self.columns.items()} for _ in range(n)]
        lines = [",".join((*self.columns, self.target)), *(",".join((*row.values(), rule.gives(row))) for row in rows)]
        return "\n".join(lines) + "\n"


def dataset_of(table: Table, rule: Rule, n: int = ROWS) -> Dataset:
    """Return the table with the rule's outputs as its target and `n` rows for training."""
    n_test = max(8, n // 4)
    csv = Csv.read(table.csv(rule, n + n_test).encode(), name=table.name)
    split = SplitPlan(seed=0, train_size=n, test_size=n_test)
    return build_dataset(csv, target=table.target, columns=ColumnChoice(task="classification"), split=split)


def table_of(name: str, target: str, columns: Mapping[str, Any], rules: Mapping[str, str]) -> Table:
    values = {column: each if isinstance(each, list) else steps(**each) for column, each in columns.items()}
    return Table(name, target, values, tuple(Rule(*each) for each in rules.items()))


def steps(first: float, last: float, step: float) -> list[float]:
    return [round(first + n * step, 1) for n in range(1 + round((last - first) / step))]


TABLES = tuple(table_of(**each) for each in json.loads(Path(__file__).with_name("rules.json").read_text("utf-8")))
"""The last three have labels that are words of conditions."""
