"""The paper's seven tasks: seeded generators of CSV files (Section 5.1)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpp.data.dataset import Task
from vpp.errors import InputError
from vpp.randomness import rng

RING_NOISE = 0.04
N_DIGITS = 4

Floats = NDArray[np.float64]
Columns = Sequence[NDArray[Any]]
Span = tuple[float, float]


class TaskInfo(NamedTuple):
    name: str
    task: Task
    inputs: tuple[str, ...]
    target: str
    description: str
    span: Span  # smallest and largest input; coordinates of the two centres (two-blobs); the two radii (two-circles)
    draw: Callable[[np.random.Generator, int, Span], Columns]  # (rng, n, span) -> columns of n cells each, in any order
    prior: str | None = None


def generate(name: str, *, seed: int = 0, train_size: int = 100, test_size: int = 60) -> bytes:
    """Generate a CSV in random order, numbers rounded to 2 decimals. Raises InputError for an unknown task."""
    info = find_info(name)
    generator = rng(seed, "task", list(TASKS).index(name))
    columns = info.draw(generator, train_size + test_size, info.span)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    lines = [",".join((*info.inputs, info.target))]
    for i in generator.permutation(len(rows)):
        lines.append(",".join(f"{cell:z.2f}" if isinstance(cell, float) else str(cell) for cell in rows[i]))
    return "\n".join([*lines, ""]).encode()


def describe(name: str, *, seed: int = 0) -> str:
    """Provenance note of a generated task: rule, span and seed. Raises InputError for an unknown task."""
    info = find_info(name)
    low, high = info.span
    return f"generated: {name} ({info.description}), span {low:g} to {high:g}, seed {seed}"


def find_info(name: str) -> TaskInfo:
    if name not in TASKS:
        raise InputError(f"there is no task {name!r}: pick one of {', '.join(TASKS)}")
    return TASKS[name]


def _curve(formula: Callable[[Floats], Floats], *, noise: float) -> Callable[[np.random.Generator, int, Span], Columns]:
    """y = formula(x) + noise * N(0, 1) at x ~ U[span]."""

    def draw(rng: np.random.Generator, n: int, span: Span) -> Columns:
        x = rng.uniform(*span, size=n).round(2)
        return x, formula(x) + noise * rng.standard_normal(n)

    return draw


def _blobs(rng: np.random.Generator, n: int, span: Span) -> Columns:
    """Unit Gaussians; class 0 about (low, low), class 1 about (high, high)."""
    label = np.arange(n) % 2
    return *(np.array(span)[label][:, None] + rng.standard_normal((n, 2))).T, label


def _circles(rng: np.random.Generator, n: int, span: Span) -> Columns:
    """Rings about the origin; class 1 is the inner ring."""
    label, angle = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, size=n)
    ring = np.array(span)[1 - label][:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return *(ring + RING_NOISE * rng.standard_normal((n, 2))).T, label


def _parity(rng: np.random.Generator, n: int, span: Span) -> Columns:
    digits = rng.integers(int(span[0]), int(span[1]) + 1, size=(n, N_DIGITS))
    return *digits.T, 1 - digits.sum(axis=1) % 2


def _zero(rng: np.random.Generator, n: int, span: Span) -> Columns:
    """Class 1 if any digit is 0, in half of the rows; digits are uniform given the class."""
    label, rows = np.arange(n) % 2, list[Any]()
    while len(rows) < n:
        digits = rng.integers(int(span[0]), int(span[1]) + 1, size=N_DIGITS)
        if (digits == 0).any() == label[len(rows)]:
            rows.append(digits)
    return *np.array(rows).T, label


_PAIR, _DIGITS = ("x1", "x2"), ("a", "b", "c", "d")

# A task's place numbers its random stream, so new tasks go to the end.
TASKS: dict[str, TaskInfo] = {
    info.name: info
    for info in (
        TaskInfo("linear", "regression", ("x",), "y", "y = 3x + 4 + N(0, 1)", (0, 2),
                 _curve(lambda x: 3 * x + 4, noise=1)),
        TaskInfo("poly", "regression", ("x",), "y", "y = 3x² + x + 2 + N(0, 1)", (-3, 1),
                 _curve(lambda x: 3 * x**2 + x + 2, noise=1)),
        TaskInfo("sine", "regression", ("x",), "y", "y = sin x + 2 + 0.01 N(0, 1)", (-3, 3),
                 _curve(lambda x: np.sin(x) + 2, noise=0.01)),
        TaskInfo("two-blobs", "classification", _PAIR, "label", "which of two unit Gaussians a point is from", (-2, 2),
                 _blobs),
        TaskInfo("two-circles", "classification", _PAIR, "label", "1 on the inner of two rings", (0.35, 1.0), _circles,
                 prior="The decision boundary is a circle"),
        TaskInfo("sum-parity", "classification", _DIGITS, "label", "1 if the sum of four integers is even", (0, 9),
                 _parity),
        TaskInfo("contains-zero", "classification", _DIGITS, "label", "1 if any of four integers is 0", (0, 9), _zero),
    )
}  # fmt: skip
