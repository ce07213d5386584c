"""Programs in the sandbox: all hypotheses of a step at once, and of a prediction for a large table."""

import asyncio
import time
from pathlib import Path

from tests.performance.ratios import Ratio, divided
from vpp.programs.sandbox import Sandbox
from vpp.programs.source import read_program

PROGRAMS = 10
ALLOWED_S = {100: 0.2, 10_000: 15.0}
"""Seconds for all programs, by rows."""
CODE = """\
def predict(size, weight, colour):
    if size > {0} and (weight is None or weight < 50) or colour == "red":
        return "yes"
    if sum(each > {0} for each in (size, weight or 0)) == 1:
        return "perhaps"
    return "no"
"""


def ratios(_: Path, short: bool) -> list[Ratio]:
    """Seconds from the call to the last answer, over those allowed; the workers run already."""
    return [
        divided(f"{PROGRAMS} programs on {rows:,} rows / allowed", asyncio.run(taken_s(rows)), s, unit="s", most=1.0)
        for rows, s in list(ALLOWED_S.items())[: 1 if short else None]
    ]


async def taken_s(rows: int) -> float:
    columns = ("size", "weight", "colour")
    programs = [read_program(CODE.format(k), columns) for k in range(PROGRAMS)]
    cells = [(n % 97, None if n % 11 == 0 else n % 83 / 2, ("red", "green", "blue")[n % 3]) for n in range(rows)]
    async with Sandbox() as sandbox:
        await asyncio.gather(*(sandbox.run(program, cells[:1]) for program in programs))
        began = time.monotonic()
        given = await asyncio.gather(*(sandbox.run(program, cells) for program in programs))
        taken = time.monotonic() - began
    assert all(len(each) == rows and not any(one.fault for one in each) for each in given)
    return taken
