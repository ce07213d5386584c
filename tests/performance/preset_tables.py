"""Tables for comparing presets: made by seed, shipped, or drawn by the paper's tasks; each with a known difficulty."""

import csv
import io
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS, generate

ROOT = Path(__file__).parents[2]
EXAMPLES, RULES = ROOT / "assets" / "examples", ROOT / "tests" / "models" / "tables"
MANY, TRAIN, TEST = 200, 100, 200
"""Training rows of tables with several conditions, training rows of the others, and test rows."""
COLUMNS = ("size", "weight", "count", "colour", "site")
COLOURS, SITES = ("red", "green", "blue"), ("north", "south")

Row = dict[str, float | str]
Draw = Callable[[Row, random.Random], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A table by name: how its rows are made, and what is hard about it."""

    about: str
    make: Callable[[int], Dataset]
    """(seed) -> training and test rows."""


def _row(rng: random.Random) -> Row:
    return {
        "size": round(rng.random(), 2),
        "weight": round(rng.uniform(0, 50), 1),
        "count": rng.randrange(10),
        "colour": rng.choice(COLOURS),
        "site": rng.choice(SITES),
    }


def _made(name: str, about: str, target: Draw, *, n_train: int = TRAIN) -> tuple[str, Kind]:
    def make(seed: int) -> Dataset:
        rng = random.Random(f"{name} {seed}")
        rows = [_row(rng) for _ in range(n_train + TEST)]
        return _split([{**row, "outcome": target(row, rng)} for row in rows], n_train, seed)

    return name, Kind(about=about, make=make)


def _split(rows: list[Row], n_train: int, seed: int) -> Dataset:
    """The first rows for training, the others for testing."""
    train, test = (Table.read(_csv(part), name="made") for part in (rows[:n_train], rows[n_train:]))
    return build_dataset(
        train, target="outcome", test_table=test, split=SplitPlan(seed=seed, train_size=n_train, test_size=TEST)
    )


def _csv(rows: list[Row]) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def _noisy(rule: Callable[[Row], bool], share: float) -> Draw:
    """yes or no by the rule; a share of labels turned."""
    return lambda row, rng: "yes" if rule(row) != (rng.random() < share) else "no"


def _number(formula: Callable[[Row], float], *, noise: float, wild: float = 0.0) -> Draw:
    """The formula with normal noise; a share `wild` of rows is off by up to 30 more."""

    def draw(row: Row, rng: random.Random) -> str:
        off = rng.uniform(-30, 30) if rng.random() < wild else 0.0
        return f"{formula(row) + noise * rng.gauss(0, 1) + off:.2f}"

    return draw


def _five_parts(row: Row) -> str:
    if row["colour"] == "red":
        return "yes" if float(row["size"]) > 0.4 else "no"
    if row["site"] == "south":
        return "yes" if int(row["count"]) >= 5 else "no"
    return "yes" if float(row["weight"]) < 15 else "no"


def _three_labels(row: Row) -> str:
    if row["colour"] == "blue":
        return "air"
    return "van" if float(row["weight"]) > 30 else "post"


def _turned(draw: Callable[[Row], str], labels: tuple[str, ...], share: float) -> Draw:
    """The label; for a share of rows any of the labels."""
    return lambda row, rng: rng.choice(labels) if rng.random() < share else draw(row)


def _task(name: str) -> tuple[str, Kind]:
    def make(seed: int) -> Dataset:
        table = Table.read(generate(name, seed=seed, train_size=TRAIN, test_size=TEST), name=name)
        return build_dataset(
            table, target=TASKS[name].target, split=SplitPlan(seed=seed, train_size=TRAIN, test_size=TEST)
        )

    return name, Kind(about=f"The paper's task {name}.", make=make)


def _example(name: str, target: str) -> tuple[str, Kind]:
    def make(seed: int) -> Dataset:
        table = Table.read((EXAMPLES / f"{name}.csv").read_bytes(), name=name)
        return build_dataset(table, target=target, split=SplitPlan(seed=seed, train_size=TRAIN, test_size=TEST))

    return name, Kind(about=f"The shipped example {name}.", make=make)


def _admission(name: str) -> tuple[str, Kind]:
    def make(seed: int) -> Dataset:
        train, test = (Table.read((RULES / f"{name}_{part}.csv").read_bytes(), name=part) for part in ("train", "test"))
        return build_dataset(
            train, target=train.names[-1], test_table=test, split=SplitPlan(seed=seed, train_size=TRAIN, test_size=TEST)
        )

    return name, Kind(about="A table of HypoBench's admission rules.", make=make)


TABLES: Mapping[str, Kind] = dict(
    [
        _made(
            "noise-and", "Two conditions; 20 % of labels turned.",
            _noisy(lambda r: r["colour"] == "red" and float(r["weight"]) > 15, 0.2), n_train=MANY,
        ),
        _made("noise-cut", "One threshold; 20 % of labels turned.", _noisy(lambda r: int(r["count"]) >= 4, 0.2)),
        _made(
            "noise-or", "Either of two conditions; 10 % of labels turned.",
            _noisy(lambda r: r["site"] == "south" or float(r["size"]) > 0.7, 0.1),
        ),
        _made("parts", "Five questions, each label on several paths.", lambda row, _: _five_parts(row), n_train=MANY),
        _made(
            "parts-noise", "The same; 10 % of labels drawn at random.", _turned(_five_parts, ("yes", "no"), 0.1),
            n_train=MANY,
        ),
        _made(
            "rare", "Three conditions at once: 7 % of rows are yes.",
            _noisy(lambda r: float(r["size"]) > 0.7 and r["colour"] == "red" and int(r["count"]) >= 3, 0.0),
            n_train=MANY,
        ),
        _made("three", "Three labels; 15 % drawn at random.", _turned(_three_labels, ("air", "post", "van"), 0.15)),
        _made(
            "outliers", "A line in one column; 10 % of targets are far off.",
            _number(lambda r: 10 * float(r["size"]) + 3, noise=0.5, wild=0.1),
        ),
        _made(
            "steps", "Two lines, one a site.",
            _number(lambda r: 5 + float(r["weight"]) * (0.4 if r["site"] == "south" else 0.1), noise=1.0),
        ),
        _admission("admission_depth_2"),
        *map(_task, ("linear", "two-blobs", "sum-parity", "contains-zero")),
        _example("penguins", "species"),
        _example("titanic", "survived"),
    ]
)  # fmt: skip
