"""Reading a table: the product's reader over pandas'."""

import io
import random
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tests.performance.ratios import Ratio, divided
from vpp.data.table import Table

ROWS, SHORT_ROWS = 200_000, 10_000


def ratios(_: Path, short: bool) -> list[Ratio]:
    """Megabytes a second of processor time, pandas' over ours: 10 means that ours takes ten times as long."""
    content = csv(SHORT_ROWS if short else ROWS)
    size = len(content) / 1e6
    ours = size / cpu_s(lambda: Table.read(content, name="large.csv"))
    theirs = size / cpu_s(lambda: pd.read_csv(io.BytesIO(content)))
    return [divided("reading a CSV, pandas / this", theirs, ours, unit="MB a second", most=None if short else 40.0)]


def csv(rows: int) -> bytes:
    """Six columns of numbers and words, and a label."""
    numbers = random.Random(0)
    lines = [
        f"{n},{numbers.random():.4f},{numbers.randrange(10**6)},{numbers.choice(('red', 'green'))},"
        f'"a note, with {n % 97} commas",{numbers.choice(("yes", "no"))}'
        for n in range(rows)
    ]
    return "\n".join(["id,share,amount,colour,note,label", *lines, ""]).encode()


def cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
