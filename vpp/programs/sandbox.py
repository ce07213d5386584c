"""The sandbox: programs run in worker processes of `pydantic-monty`, which know no file, network or environment.

Each run of a program has its own session with limits of time and memory. A program that breaks one, or its interpreter,
costs an answer, never this process.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pydantic_monty as monty

from vpp.programs.source import ENTRY, QUESTION, Program

SECONDS = 5.0
"""Longest run over one chunk of rows; a rule of two conditions needs 0.3 s."""
CHUNK = 10_000
"""Rows handed over at a time."""
MEMORY = 128 * 2**20
"""Bytes that a program may use, its rows included."""
DEPTH = 200
FAULT_LENGTH = VALUE_LENGTH = 200
LARGEST = 10**15
"""Whole numbers from here on come back as floats: Python refuses to write numbers of thousands of digits."""
Cell = str | int | float | list[float] | None
Yes = Mapping[str, Mapping[str, bool]]
"""Answers about texts: by question, then by text."""

_RUN = f"""
def {QUESTION}(question, text):
    return _YES[question].get(text, False)

def _plain(value):
    if isinstance(value, str):
        return value[:{VALUE_LENGTH}]
    if isinstance(value, int):
        return value if abs(value) < {LARGEST} else float(value)
    return value if isinstance(value, float) else "a value of type " + type(value).__name__

def _run(rows):
    given = []
    for row in rows:
        try:
            value, branch = {ENTRY}(*row)
            given.append((_plain(value), branch, ""))
        except Exception as error:
            given.append((None, None, type(error).__name__ + ": " + str(error)[:{FAULT_LENGTH}]))
    return given

_run(_ROWS)
"""


@dataclass(frozen=True, slots=True)
class Given:
    """What a program gives for a row."""

    value: str | int | float | None
    """None if it failed on this row."""
    branch: int | None
    fault: str = ""
    """Why it failed."""


class Sandbox:
    """A pool of worker processes, one a core; used as an asynchronous context."""

    def __init__(self) -> None:
        self._pool = monty.AsyncMonty(max_processes=os.cpu_count() or 1, min_processes=1, request_timeout=4 * SECONDS)

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(kind, error, traceback)

    async def run(self, program: Program, rows: Sequence[Sequence[Cell]], yes: Yes | None = None) -> list[Given]:
        """Return what the program gives for each row. rows: (N, columns of the program).

        A program that breaks a limit fails on all rows of its chunk, with the limit as the fault.
        """
        given: list[Given] = []
        for at in range(0, len(rows), CHUNK):
            given += await self._run_chunk(program, rows[at : at + CHUNK], yes or {})
        return given

    async def _run_chunk(self, program: Program, rows: Sequence[Sequence[Cell]], yes: Yes) -> list[Given]:
        limits: Any = {"max_feed_duration_secs": SECONDS, "max_memory": MEMORY, "max_recursion_depth": DEPTH}
        inputs = {"_ROWS": [list(row) for row in rows], "_YES": {words: dict(known) for words, known in yes.items()}}
        try:
            async with self._pool.checkout(limits=limits) as session:
                given = await session.feed_run(
                    f"{program.instrumented}\n{_RUN}", inputs=inputs, print_callback=monty.CollectString()
                )
        except monty.MontyError as error:
            return [Given(None, None, _reason(error))] * len(rows)
        return [Given(*each) for each in given]


def _reason(error: monty.MontyError) -> str:
    """The last line of the interpreter's report, shortened."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1][:FAULT_LENGTH]
