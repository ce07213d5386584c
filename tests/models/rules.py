"""Tables and rules whose answers are known: what a model that applies a rule faithfully gives for each row.

Rows are drawn by seed. A rule is a sentence, worded as people word them, above the expression that it states.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """Values of each column, all equally likely."""
    stated: str
    """Each rule's sentence, with its expression on the next line."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        lines = iter(map(str.strip, self.stated.strip().splitlines()))
        return tuple(Rule(text, next(lines)) for text in lines)

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


def tenths(first: int, last: int) -> list[float]:
    return [n / 10 for n in range(first, last + 1)]


ADMISSION = Table(
    "admission",
    "decision",
    {"math": "ABC", "num_publications": range(5), "num_letters": range(5)},
    """
        If math is A, answer admitted; otherwise answer rejected.
            'admitted' if math == 'A' else 'rejected'
        If math is not C, answer admitted; otherwise answer rejected.
            'admitted' if math != 'C' else 'rejected'
        If num_publications is greater than 2, answer admitted; otherwise answer rejected.
            'admitted' if num_publications > 2 else 'rejected'
        Students with at least two letters are admitted. All others are rejected.
            'admitted' if num_letters >= 2 else 'rejected'
        If math is A and num_publications is at least 1, answer admitted; otherwise answer rejected.
            'admitted' if math == 'A' and num_publications >= 1 else 'rejected'
        If math is C or num_publications is 0, answer rejected; otherwise answer admitted.
            'rejected' if math == 'C' or num_publications == 0 else 'admitted'
        If math is B and num_letters is less than 3, answer rejected; otherwise answer admitted.
            'rejected' if math == 'B' and num_letters < 3 else 'admitted'
    """,
)
LOAN = Table(
    "loan",
    "outcome",
    {
        "income": range(18_000, 120_000, 1000),
        "employment": ("employed", "self-employed", "unemployed"),
        "owns_home": ("yes", "no"),
        "age": range(19, 80),
    },
    """
        If income is above 50000, answer approved; otherwise answer declined.
            'approved' if income > 50000 else 'declined'
        Applicants who own a home are approved; everyone else is declined.
            'approved' if owns_home == 'yes' else 'declined'
        If employment is unemployed, answer declined; otherwise answer approved.
            'declined' if employment == 'unemployed' else 'approved'
        If income is above 40000 and owns_home is yes, answer approved; otherwise answer declined.
            'approved' if income > 40000 and owns_home == 'yes' else 'declined'
        If employment is employed or owns_home is yes, answer approved; otherwise answer declined.
            'approved' if employment == 'employed' or owns_home == 'yes' else 'declined'
        If age is between 30 and 60, answer approved; otherwise answer declined.
            'approved' if 30 <= age <= 60 else 'declined'
    """,
)
PARCEL = Table(
    "parcel",
    "carrier",
    {"weight_kg": tenths(2, 300), "destination": ("domestic", "Europe", "overseas"), "fragile": ("true", "false")},
    """
        If destination is overseas, answer air. Otherwise, if weight_kg is above 10, answer van; if not, answer post.
            'air' if destination == 'overseas' else 'van' if weight_kg > 10 else 'post'
        If fragile is true, answer van; otherwise answer post.
            'van' if fragile == 'true' else 'post'
        If weight_kg is at most 5, answer post; otherwise answer van.
            'post' if weight_kg <= 5 else 'van'
        Answer air if destination is Europe and fragile is false; otherwise answer van.
            'air' if destination == 'Europe' and fragile == 'false' else 'van'
        If destination is not domestic, answer air; otherwise answer post.
            'air' if destination != 'domestic' else 'post'
    """,
)
FLOWER = Table(
    "flower",
    "group",
    {"petal_length": tenths(10, 70), "petal_width": tenths(1, 25), "habitat": ("meadow", "forest", "bog")},
    """
        If petal_length is below 2.5, answer small. If petal_length is 5 or more, answer large. Otherwise answer medium.
            'small' if petal_length < 2.5 else 'large' if petal_length >= 5 else 'medium'
        If petal_width is less than 1.2, answer small; otherwise answer large.
            'small' if petal_width < 1.2 else 'large'
        Flowers from a bog are medium; all other flowers are small.
            'medium' if habitat == 'bog' else 'small'
        If habitat is forest and petal_length is greater than 4, answer large; otherwise answer small.
            'large' if habitat == 'forest' and petal_length > 4 else 'small'
        If petal_width is between 0.5 and 1.5, answer medium; otherwise answer large.
            'medium' if 0.5 <= petal_width <= 1.5 else 'large'
    """,
)
SURVIVAL = Table(
    "survival",
    "survived",
    {"sex": ("male", "female"), "age": range(1, 71), "deck": ("upper", "middle", "lower")},
    """
        If sex is male, answer no; otherwise yes.
            'no' if sex == 'male' else 'yes'
        If deck is upper or age is below 12, answer yes; otherwise answer no.
            'yes' if deck == 'upper' or age < 12 else 'no'
        If sex is female and deck is not lower, answer yes; otherwise answer no.
            'yes' if sex == 'female' and deck != 'lower' else 'no'
    """,
)
ALARM = Table(
    "alarm",
    "alarm",
    {"heat": range(20, 96), "smoke": ("false", "true")},
    """
        If smoke is true, answer false; otherwise answer true.
            'false' if smoke == 'true' else 'true'
        If heat is above 60 and smoke is false, answer true; otherwise answer false.
            'true' if heat > 60 and smoke == 'false' else 'false'
    """,
)
TANK = Table(
    "tank",
    "mark",
    {"level": range(100), "valve": ("open", "shut")},
    """
        If level is below 40, answer above; otherwise answer below.
            'above' if level < 40 else 'below'
        If valve is open or level is above 70, answer below; otherwise answer above.
            'below' if valve == 'open' or level > 70 else 'above'
    """,
)
TABLES = (ADMISSION, LOAN, PARCEL, FLOWER, SURVIVAL, ALARM, TANK)
"""The last three have labels that are words of conditions."""
