"""The example tables: what docs/examples.md says of them."""

import csv
from collections import Counter
from itertools import product
from pathlib import Path

TITANIC = Path(__file__).parents[2] / "assets" / "examples" / "titanic.csv"
PUBLISHED = {
    ("male", "child", "no"): (0, 0, 35, 0),
    ("female", "child", "no"): (0, 0, 17, 0),
    ("male", "adult", "no"): (118, 154, 387, 670),
    ("female", "adult", "no"): (4, 13, 89, 3),
    ("male", "child", "yes"): (5, 11, 13, 0),
    ("female", "child", "yes"): (1, 13, 14, 0),
    ("male", "adult", "yes"): (57, 14, 75, 192),
    ("female", "adult", "yes"): (140, 80, 76, 20),
}
"""Sex, age and whether they survived: how many of the first, second and third class, and of the crew (Dawson 1995)."""


def test_the_titanic_is_the_published_counts() -> None:
    with TITANIC.open(newline="") as file:
        rows = Counter((row["sex"], row["age"], row["survived"], row["class"]) for row in csv.DictReader(file))
    classes = ("1st", "2nd", "3rd", "crew")
    assert {(*who, name): rows[*who, name] for who, name in product(PUBLISHED, classes)} == {
        (*who, name): count for who, counts in PUBLISHED.items() for name, count in zip(classes, counts, strict=True)
    }
    assert sum(rows.values()) == 2201
