"""Tables for comparing settings: drawn by seed, drawn by the paper's tasks, shipped, or from other packages."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from plotly.data import gapminder
from sklearn.datasets import load_iris, load_wine

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS, generate

ROOT = Path(__file__).parents[2]
MANY, TRAIN, TEST = 200, 100, 200
"""Training rows of tables with several conditions, training rows of the others, and test rows."""

Row = dict[str, float | str]
Draw = Callable[[Row, random.Random], str]


def _row(rng: random.Random) -> Row:
    return {
        "size": round(rng.random(), 2),
        "weight": round(rng.uniform(0, 50), 1),
        "count": rng.randrange(10),
        "colour": rng.choice(("red", "green", "blue")),
        "site": rng.choice(("north", "south")),
    }


def _noisy(rule: Callable[[Row], bool], share: float) -> Draw:
    """Answer yes or no by the rule; a share of labels is turned."""
    return lambda row, rng: "yes" if rule(row) != (rng.random() < share) else "no"


def _number(formula: Callable[[Row], float], *, noise: float, wild: float = 0.0) -> Draw:
    """Apply the formula with normal noise; a share `wild` of rows is off by up to 30 more."""

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
    """Return the label; for a share of rows any of the labels."""
    return lambda row, rng: rng.choice(labels) if rng.random() < share else draw(row)


DRAWN: Mapping[str, tuple[int, Draw]] = {
    # Two conditions; 20 % of labels turned.
    "noise-and": (MANY, _noisy(lambda r: r["colour"] == "red" and float(r["weight"]) > 15, 0.2)),
    # One threshold; 20 % of labels turned.
    "noise-cut": (TRAIN, _noisy(lambda r: int(r["count"]) >= 4, 0.2)),
    # Either of two conditions; 10 % of labels turned.
    "noise-or": (TRAIN, _noisy(lambda r: r["site"] == "south" or float(r["size"]) > 0.7, 0.1)),
    # Five questions, each label on several paths; the second time with 10 % of labels drawn at random.
    "parts": (MANY, lambda row, _: _five_parts(row)),
    "parts-noise": (MANY, _turned(_five_parts, ("yes", "no"), 0.1)),
    # Three conditions at once: 7 % of rows are yes.
    "rare": (MANY, _noisy(lambda r: float(r["size"]) > 0.7 and r["colour"] == "red" and int(r["count"]) >= 3, 0.0)),
    # Three labels; 15 % drawn at random.
    "three": (TRAIN, _turned(_three_labels, ("air", "post", "van"), 0.15)),
    # A line in one column; 10 % of targets are far off.
    "outliers": (TRAIN, _number(lambda r: 10 * float(r["size"]) + 3, noise=0.5, wild=0.1)),
    # Two lines, one a site.
    "steps": (TRAIN, _number(lambda r: 5 + float(r["weight"]) * (0.4 if r["site"] == "south" else 0.1), noise=1.0)),
}
"""Name of a table -> its number of training rows, and the function that draws its targets."""
SHIPPED = {"penguins": "species", "titanic": "survived"}
"""Target by name of an example."""
SIXTEEN = (*DRAWN, "admission_depth_2", "linear", "two-blobs", "sum-parity", "contains-zero", *SHIPPED)
"""The tables of the comparison in docs/method.md."""
FOREIGN = ("iris", "wine", "gapminder")
"""Tables of other packages. Gapminder was never looked at while the demo model was made; penguins and wine were."""


def dataset(name: str, seed: int) -> Dataset:
    """Return training and test rows of a table, of a task of the paper's, or of an example."""
    plan = SplitPlan(seed=seed, train_size=TRAIN, test_size=TEST)
    if name in DRAWN:
        rows, n_train = _drawn(name, seed), DRAWN[name][0]
        plan = SplitPlan(seed=seed, train_size=n_train, test_size=TEST)
        return _built(_csv(rows[:n_train]), "outcome", plan, test=_csv(rows[n_train:]))
    if name in TASKS:
        return _built(generate(name, seed=seed, train_size=TRAIN, test_size=TEST), TASKS[name].target, plan)
    if name in SHIPPED:
        return _built((ROOT / "assets" / "examples" / f"{name}.csv").read_bytes(), SHIPPED[name], plan)
    if name in FOREIGN:
        return _built(_foreign(name), "continent" if name == "gapminder" else "target", SplitPlan(seed=seed))
    train, test = ((ROOT / "tests/models/tables" / f"{name}_{part}.csv").read_bytes() for part in ("train", "test"))
    return _built(train, name, plan, test=test)


def _built(content: bytes, target: str, plan: SplitPlan, *, test: bytes | None = None) -> Dataset:
    test_table = None if test is None else Table.read(test, name="test")
    return build_dataset(Table.read(content, name="train"), target=target, test_table=test_table, split=plan)


def _drawn(name: str, seed: int) -> list[Row]:
    (n_train, target), rng = DRAWN[name], random.Random(f"{name} {seed}")
    rows = [_row(rng) for _ in range(n_train + TEST)]
    return [{**row, "outcome": target(row, rng)} for row in rows]


def _csv(rows: Sequence[Row] | pd.DataFrame) -> bytes:
    return pd.DataFrame(rows).to_csv(index=False).encode()


def _foreign(name: str) -> bytes:
    if name == "gapminder":
        countries = gapminder()
        return _csv(countries[countries["year"] == 2007][["lifeExp", "pop", "gdpPercap", "continent"]])
    bunch = (load_iris if name == "iris" else load_wine)()
    rows = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    return _csv(rows.assign(target=bunch.target_names[bunch.target]))
