"""Attacks on the sandbox, each run for real: it ends in a reason, and the next program runs."""

import asyncio
from pathlib import Path

import pytest

from vpp.programs.sandbox import CHUNK, SECONDS, Given, Sandbox
from vpp.programs.source import Program, read_program

SHORT = 0.3
"""Limit of time for programs that take all of it."""


def program(body: str, *, above: str = "", columns: tuple[str, ...] = ("a",)) -> Program:
    lines = "".join(f"\n    {line}" for line in body.splitlines())
    return read_program(f"{above}\ndef predict({', '.join(columns)}):{lines}", columns, frozenset({"note"}))


HARMLESS = program("return a + 1")
FILE = Path(__file__)
ATTACKS = {
    "an endless loop": ("while True:\n    pass\nreturn 1", "time limit exceeded"),
    "an endless loop that catches all": (
        "while True:\n    try:\n        sum(range(10 ** 12))\n    except BaseException:\n        pass\nreturn 1",
        "time limit exceeded",
    ),
    "a long sum": ("return sum(range(10 ** 12))", "time limit exceeded"),
    "a large list": ("return len([0] * 10 ** 9)", "memory limit exceeded"),
    "a growing list": ("x = []\nwhile True:\n    x.append('y' * 10_000_000)\nreturn 1", "memory limit exceeded"),
    "a long text": ("return 'y' * 10 ** 10", "memory limit exceeded"),
    "output of 10 MB": ("print('y' * 12_000_000)\nreturn 1", "memory limit exceeded"),
    "recursion": ("def f(n):\n    return f(n + 1)\nreturn f(0)", "maximum recursion depth exceeded"),
    "a huge power": ("return 2 ** 10 ** 9", "memory limit exceeded"),
    "a huge shift": ("return 1 << 10 ** 12", "memory limit exceeded"),
    "a number of 5,000 digits": ("return 10 ** 5000", "int too large"),
    "its text": ("return str(10 ** 5000)", "Exceeds the limit"),
    "deep JSON": ("import json\nreturn json.loads('[' * 100_000)", "recursion limit exceeded"),
    "a process": ("import subprocess\nreturn subprocess.run('id')", "No module named 'subprocess'"),
    "the network": ("import socket\nreturn socket.gethostname()", "No module named 'socket'"),
    "an address": (
        "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1')",
        "No module named 'urllib'",
    ),
    "a hidden import": ("return __import__('os').getcwd()", "'__import__' is not defined"),
    "reading a file": (f"return open({str(FILE)!r}).read()", "Permission denied"),
    "reading by pathlib": (f"from pathlib import Path\nreturn Path({str(FILE)!r}).read_text()", "Permission denied"),
    "writing a file": (f"open({str(FILE.with_suffix('.txt'))!r}, 'w').write('x')\nreturn 1", "Permission denied"),
    "a folder": ("import os\nreturn str(os.listdir('/'))", "Permission denied"),
    "the environment": ("import os\nreturn os.environ['PATH']", "'os.environ' is not supported"),
    "one variable": ("import os\nreturn os.getenv('PATH')", "'os.getenv' is not supported"),
    "classes of classes": ("return str(().__class__.__bases__)", "no attribute '__class__'"),
    "globals of a function": ("return str(predict.__globals__)", "no attribute '__globals__'"),
    "an exit": ("raise SystemExit(3)\nreturn 1", "RuntimeError"),
    "fewer rows": ("_ROWS.clear()\nreturn 1", "it changes the list of rows"),
    "another list": ("return [1]", "a value of type list"),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_ends_in_a_reason_and_the_next_program_runs(name: str) -> None:
    body, reason = ATTACKS[name]
    async with Sandbox(seconds=SHORT if "time" in reason else SECONDS) as sandbox:
        for given in await sandbox.run(program(body), [(1,), (2,)]):
            assert reason in f"{given.fault}{given.value}"
            assert len(given.fault) <= 200
        assert await sandbox.run(HARMLESS, [(1,), (2.5,)]) == [Given(2, 0), Given(3.5, 0)]
    assert not FILE.with_suffix(".txt").exists()


REDEFINED = {
    "abs": ("return 10 ** 5000", None, "it gives no text and no number"),
    "isinstance": ("return [1]", None, "it gives no text and no number"),
    "str": ("return 1 / 0", None, "TypeError: 'int' object is not subscriptable"),
    "_run": ("return 'yes'", "yes", ""),
    "ask": ("return 'yes' if ask('Is it?', note) else 'no'", "no", ""),
}


@pytest.mark.parametrize("name", REDEFINED)
async def test_a_program_that_redefines_what_runs_it_gains_nothing(name: str) -> None:
    body, value, fault = REDEFINED[name]
    above = f"def {name}(*_):\n    return 1\n"
    async with Sandbox() as sandbox:
        (given,) = await sandbox.run(program(body, above=above, columns=("note",)), [("rain",)], {"Is it?": {}})
    assert (given.value, given.fault) == (value, fault)


async def test_one_row_that_fails_leaves_the_others_and_a_long_text_is_cut() -> None:
    async with Sandbox() as sandbox:
        given = await sandbox.run(program("return 6 / a if a < 9 else 'y' * 10_000_000"), [(2,), (0,), (9,), (None,)])
    assert [each.value for each in given] == [3.0, None, "y" * 200, None]
    assert [each.fault.partition(":")[0] for each in given] == ["", "ZeroDivisionError", "", "TypeError"]
    assert [each.branch for each in given] == [0, None, 1, None]


async def test_a_program_is_a_function_of_its_row_and_never_sleeps() -> None:
    clock = "import datetime, random, time\ntime.sleep(1_000)\nreturn f'{datetime.datetime.now()} {random.random()}'"
    async with Sandbox() as sandbox:
        first, again = [await sandbox.run(program(clock), [(1,)]) for _ in range(2)]
    assert first == again
    assert str(first[0].value).startswith("2000-01-01")


async def test_more_rows_than_a_chunk_come_back_in_order() -> None:
    async with Sandbox() as sandbox:
        given = await sandbox.run(HARMLESS, [(n,) for n in range(CHUNK + 2)])
    assert [each.value for each in given] == list(range(1, CHUNK + 3))


async def test_a_caller_that_leaves_does_not_stop_the_others() -> None:
    async with Sandbox(seconds=SHORT) as sandbox:
        left = asyncio.create_task(sandbox.run(program("while True:\n    pass\nreturn 1"), [(1,)]))
        await asyncio.sleep(0)
        left.cancel()
        assert await sandbox.run(HARMLESS, [(1,)]) == [Given(2, 0)]
