"""The sandbox: programs run in worker processes of `pydantic-monty`, which know no file, network or environment.

Each run of a program has its own session with limits of time and memory. A program that breaks one, or its interpreter,
costs an answer, never this process. Clock, sleep and chance are fixed, so a program is a function of its row.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

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
POLICY: monty.OSPolicy = {"sleep": "zero", "datetime": datetime(2000, 1, 1, tzinfo=UTC), "random_start": {"seed": 0}}
Cell = str | int | float | None
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
    """A pool of worker processes, one a core; used as an asynchronous context.

    Threads wait for the workers: with the library's own event loop, an exit of this process may abort it.
    """

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._limits: monty.ResourceLimits = {
            "max_feed_duration_secs": seconds,
            "max_memory": MEMORY,
            "max_recursion_depth": DEPTH,
        }
        self._pool = monty.Monty(max_processes=os.cpu_count() or 1, min_processes=1, request_timeout=4 * seconds)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._pool.__enter__)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._pool.__exit__, kind, error, traceback)

    async def run(self, program: Program, rows: Sequence[Sequence[Cell]], yes: Yes | None = None) -> list[Given]:
        """Return what the program gives for each row. rows: (N, columns of the program).

        A program that breaks a limit fails on all rows of its chunk, with the limit as the fault.
        """
        given: list[Given] = []
        for at in range(0, len(rows), CHUNK):
            given += await asyncio.to_thread(self._run_chunk, program, rows[at : at + CHUNK], yes or {})
        return given

    def _run_chunk(self, program: Program, rows: Sequence[Sequence[Cell]], yes: Yes) -> list[Given]:
        inputs = {"_ROWS": [list(row) for row in rows], "_YES": {words: dict(known) for words, known in yes.items()}}
        try:
            with self._pool.checkout(limits=self._limits, os_policy=POLICY) as session:
                given = session.feed_run(
                    f"{program.instrumented}\n{_RUN}", inputs=inputs, print_callback=monty.CollectString()
                )
        except monty.MontyError as error:
            return [Given(None, None, _reason(error))] * len(rows)
        if not isinstance(given, list) or len(given) != len(rows):
            return [Given(None, None, "it changes the list of rows")] * len(rows)
        return [_checked(each, len(program.branches)) for each in given]


def _checked(each: object, n_branches: int) -> Given:
    """Return what came back for a row, if it has the form that it should: a program may redefine abs or isinstance."""
    match each:
        case (str(value), int(branch), "") if branch in range(n_branches):
            return Given(value[:VALUE_LENGTH], branch)
        case (int() | float() as value, int(branch), "") if branch in range(n_branches):
            if isinstance(value, float) or abs(value) < LARGEST:
                return Given(value, branch)
        case (None, None, str(fault)):
            return Given(None, None, fault[:FAULT_LENGTH])
    return Given(None, None, "it gives no text and no number")


def _reason(error: monty.MontyError) -> str:
    """The last line of the interpreter's report, shortened."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1][:FAULT_LENGTH]
