"""Programs: answers of a model as such, columns as arguments, the check before an export, attacks on the sandbox."""

import ast
import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.llm.prompts import ProgramPrompts
from vpp.programs.columns import Columns, cell_value
from vpp.programs.sandbox import CHUNK, SECONDS, Given, Sandbox
from vpp.programs.source import LONGEST, REFUSAL, Program, ProgramFault, read_program, strict_fault

ALIASES, TEXTS = ("a", "b", "note"), frozenset({"note"})


def read(code: str) -> Any:
    return read_program(code, ALIASES, TEXTS)


BODY = "def predict(a):\n    return "
HOSTILE = {
    "parentheses": (BODY + "(" * 2500 + "1" + ")" * 2500, "too many nested parentheses"),
    "lists": (BODY + "[" * 2900 + "]" * 2900, "too many nested parentheses"),
    "signs": (BODY + "-" * 5000 + "1", "nested too deeply"),
    "nots": (BODY + "not " * 1400 + "1", "nested too deeply"),
    "attributes": (BODY + "a" + ".x" * 2900, "nested too deeply"),
    "calls": (BODY + "a" + "()" * 2900, "nested too deeply"),
    "a sum": (BODY + "1" + "+1" * 2900, "nested too deeply"),
    "functions": (BODY + "lambda: " * 700 + "2", "nested too deeply"),
    "a null byte": (BODY + "'\0'", "null bytes"),
    "half a character": (BODY + "'\ud800'", "characters that no program has"),
    "a long number": (BODY + "9" * 5900, "Exceeds the limit"),
    "10 MB": (BODY + "1\n" + "#" * 10_000_000, f"characters, {LONGEST:,} at most"),
    "fences": ("```" * 1900, "no function predict"),
    "a fence of spaces": ("```" + " " * 5900, "no function predict"),
    "nothing": ("", "no function predict"),
    "words": ("I cannot help with that.", "no function predict"),
    "an open bracket": (BODY + "(", "was never closed"),
    "two functions": (f"{BODY}1\n{BODY}2", "2 functions named predict"),
    "no return": ("def predict(a):\n    pass", "returns nothing"),
    "an unknown column": ("def predict(z):\n    return 1", "no column z"),
    "any arguments": ("def predict(*a):\n    return 1", "plain names of columns"),
    "a default": ("def predict(a=1):\n    return 1", "plain names of columns"),
    "a question in pieces": ("def predict(note):\n    return ask('Is it ' + 'long?', note)", "a question in quotes"),
    "a question about no text": (
        "def predict(a):\n    return ask('Is it long?', a)",
        'a column that is "a text": note',
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_ends_in_a_reason(name: str) -> None:
    code, reason = HOSTILE[name]
    with pytest.raises(ProgramFault) as fault:
        read(code)
    assert reason in str(fault.value)


def test_a_question_is_about_a_text_that_the_program_takes_and_not_every_table_has_one() -> None:
    with pytest.raises(ProgramFault, match="a column that is"):
        read("def predict(a):\n    return ask('Is it sad?', note)")
    with pytest.raises(ProgramFault, match="this table has no such column"):
        read_program("def predict(a):\n    return ask('Is it?', a)", ("a",))


ADMITTED = """\
Here is the function:
```python
def predict(a, b):
    # comments go
    if a > 3 or b is None:
        if b == 1:
            return "x"
        elif a > 9 and b > 2:
            return "y"
    else:
        return "w" if a < 0 else "z"
    return "u"
```
It returns labels.
"""


async def test_each_return_is_a_branch_with_the_conditions_around_it_which_a_program_reports() -> None:
    program = read(ADMITTED)
    assert program.columns == ("a", "b")
    assert [program.words(at) for at in range(5)] == [
        "(a > 3 or b is None) and b == 1: 'x'",
        "(a > 3 or b is None) and a > 9 and b > 2: 'y'",
        "a < 0: 'w'",
        "otherwise: 'z'",
        "otherwise: 'u'",
    ]
    assert "#" not in program.code
    assert read(program.code) == program
    async with Sandbox() as sandbox:
        given = await sandbox.run(program, [(4, 1), (10, 3), (-1, 3), (4, 2)])
    assert given == [Given("x", 0), Given("y", 1), Given("w", 2), Given("u", 4)]


async def test_returns_in_loops_matches_and_handlers_are_branches() -> None:
    program = read(
        "def predict(a):\n    match a:\n        case 1:\n            return 'one'\n    for n in range(3):\n"
        "        if n == a:\n            return 'few'\n    try:\n        return 6 // (a - 5)\n    except Exception:\n"
        "        return 'five'"
    )
    assert [branch.output for branch in program.branches] == ["'one'", "'few'", "6 // (a - 5)", "'five'"]
    async with Sandbox() as sandbox:
        given = await sandbox.run(program, [(1,), (2,), (8,), (5,)])
    assert given == [Given("one", 0), Given("few", 1), Given(2, 2), Given("five", 3)]


def test_questions_are_found_once_with_their_column_and_without_conditions_a_program_always_answers() -> None:
    assert read("def predict(a, b):\n    return a + 2 * b").words(0) == "always: a + 2 * b"
    program = read("def predict(note):\n    return 'x' if ask('Is it?', note) or not ask('Is it?', note) else 'y'")
    assert program.questions == (("Is it?", "note"),)
    assert [branch.output for branch in program.branches] == ["'x'", "'y'"]


def test_a_refusal_is_recognised_and_a_program_is_none() -> None:
    assert all(map(REFUSAL.match, ("no program", "No program.", " no program: it is a mood")))
    assert not REFUSAL.match(BODY + "'no program'")


COLUMNS = ("age", "fare", "town", "items", "note", "max")

ORDINARY = (
    "def predict(age):\n return 'yes' if age >= 18 else 'no'",
    "import math\n\ndef predict(age, fare):\n return 2.5 * age - 0.5 * fare ** 2 + math.sin(math.pi * age) / 3",
    "def predict(age, fare):\n if sum(x is not None and x > 5 for x in (age, fare)) > 1: return 'yes'\n return 'no'",
    "def predict(items):\n return 'yes' if any(a == b for a, b in zip(items, items[1:])) else 'no'",
    "def predict(items):\n for i in range(len(items) - 1):\n  if items[i] > items[i + 1]: return 'no'\n return 'yes'",
    "def predict(items):\n count = 0\n for x in items:\n  if x % 2 == 0: count += 1\n"
    " return 'yes' if count >= len(items) / 2 else 'no'",
    "def predict(items):\n best, run = 0, 0\n for at, x in enumerate(items):\n"
    "  run = run + 1 if at and x == items[at - 1] else 1\n  best = max(best, run)\n"
    " return 'yes' if best >= 3 else 'no'",
    "def predict(items):\n return 'yes' if len(set(items)) == len(items) and sorted(items) == items else 'no'",
    "def predict(items):\n return 'yes' if items == items[::-1] else 'no'",
    "def predict(town):\n return 'yes' if town.lower().strip().startswith(('r', 'm')) else 'no'",
    "def predict(note):\n words = note.lower().split()\n"
    " return 'yes' if len(words) > 10 and 'price' in words else 'no'",
    "def predict(note):\n"
    " return 'yes' if note is not None and note.count('!') > 2 and not note.replace(',', '').isdigit() else 'no'",
    "def predict(town, age):\n points = {'Rome': 2, 'Milan': 1}.get(town, 0)\n"
    " if age is not None and age > 60: points += 1\n return 'yes' if points >= 2 else 'no'",
    "def predict(age, fare):\n score = 0\n if age > 40: score += 2\n elif age > 20: score += 1\n"
    " score -= fare < 10\n return 'yes' if score > 1 else 'no'",
    "def predict(age):\n return round(abs(age) ** 0.5, 2)",
    "def predict(age, fare):\n return min(max(age, fare), 100) // 3",
    "def predict(items):\n odd = [x for x in items if x % 2]\n return odd[0] if odd else 0",
    "def predict(items):\n pairs = 0\n for i in range(len(items)):\n  for j in range(i + 1, len(items)):\n"
    "   if items[i] + items[j] == 10: pairs += 1\n return pairs",
    "def predict(age: int, town: str) -> str:\n 'A rule.'\n limit: float = 3.5\n return 'yes' if age > limit else 'no'",
    "def predict(age):\n total = 0.0\n for n in range(1, 21): total += age / n\n return total",
    "def predict(town):\n return str(town)[0].upper() if town else 'none'",
    "def predict(fare):\n low, high = (10, 20) if fare else (0, 5)\n return 'yes' if low <= fare <= high else 'no'",
    "def predict(items):\n seen = {x: items.count(x) for x in items}\n return max(seen.values())",
    "def predict(items):\n last = None\n for x in reversed(items):\n  if last is not None and x <= last:\n"
    "   break\n  last = x\n else: return 'yes'\n return 'no'",
)

UNSAFE = (
    # Ways to the interpreter.
    "return ().__class__.__base__.__subclasses__()",
    "return age.real.__class__",
    "return age.ｒeal.__cl𝐚ss__",
    'return "{0.__class__}".format(age)',
    "return f'{town!r:>999999999}'",
    "return __builtins__",
    "return __ｉmport__('os')",
    "import os\n    return os.getcwd()",
    "import math as m\n    return m.pi",
    "from os import system\n    return system('id')",
    "return math.__loader__",
    "return math.sqrt.__self__.__dict__",
    "math = town\n    return math.lower()",
    "return open('/etc/passwd').read()",
    "return [open for open in [1]] and open",
    "return open",
    "return eval(town)",
    "return getattr(town, 'for' + 'mat')(age)",
    "return min(items, key=open)",
    "return sorted(items, key=lambda x: x)",
    "return (lambda: 1)()",
    "x = len\n    return x(town)",
    "def inner():\n        return 1\n    return inner()",
    "class A: pass\n    return 1",
    "global age\n    return 1",
    "del age\n    return 1",
    "try:\n        return 1\n    except Exception:\n        return 2",
    "with town:\n        return 1",
    "yield 1\n    return 1",
    "match town:\n        case str(upper=x):\n            return x\n    return 1",
    "x: print(1) = 2\n    return x",
    "return (x := 1)",
    "return max(*items)",
    "return {**town}",
    "age.x = 1\n    return 1",
    "items[0] = 1\n    return 1",
    "return b'x'",
    "return 1j",
    "return ask('is it so?', note)",
    "return predict(age)",
    # Ways to take long, or all memory, that no rule needs.
    "while True: pass\n    return 1",
    "return math.factorial(10 ** 9)",
    "return 2 ** age",
    "return 9 ** 9 ** 9",
    "return age ** 64",
    "return math.prod([town, age])",
    "return town.ljust(10 ** 9)",
    f"return {'9' * 4000}",
    "def len(x):\n        return len(x)\n    return len(1)",
    "return [math.inf for open in [1]] and [open for age in [1]]",
)
"""Bodies of predict(age, town, items, note, max)."""


def fault_of(code: str) -> str:
    written = Program(code=code, columns=("age",), branches=(), questions=(), instrumented="")
    return strict_fault(written) or ""


@pytest.mark.parametrize("code", ORDINARY)
def test_an_ordinary_program_passes(code: str) -> None:
    assert strict_fault(read_program(code, COLUMNS)) is None


AROUND = (
    "@print\ndef predict(age):\n    return 1",
    "def predict(age=print()):\n    return 1",
    "def predict(*age):\n    return 1",
    "def predict(age: print(1)):\n    return 1",
    "def predict(age) -> [].pop:\n    return 1",
    "def predict(__age__):\n    return 1",
    "async def predict(age):\n    return 1",
    "X = 1\ndef predict(age):\n    return X",
    "print(1)\ndef predict(age):\n    return 1",
    "def f(x):\n    return f(x)\ndef predict(age):\n    return f(age)",
    *("", "def predict(age", f"def predict(age):\n    return {'-' * 5000}1"),
    f"def predict(age):\n    return {'(' * 300}1{',)' * 300}",
)


@pytest.mark.parametrize("body", UNSAFE)
def test_a_hostile_program_is_refused_in_one_line(body: str) -> None:
    fault = fault_of(f"def predict(age, town, items, note, max):\n    {body}\n")
    assert re.fullmatch(r"line \d+: .+ is not allowed|it asks the model about a text", fault)


@pytest.mark.parametrize("code", AROUND)
def test_what_stands_around_the_function_is_checked_too(code: str) -> None:
    assert fault_of(code)


NAMES = {
    "sky at noon": "sky_at_noon",
    "sky, at-noon": "sky_at_noon_2",
    "class": "class_",
    "None": "None_",
    "2nd": "_2nd",
    "€": "column",
    "%": "column_2",
    "predict": "predict_",
    "ask": "ask_",
    "math": "math",
    "Größe": "Größe",
    "x²": "x2",
    "ﬁeld": "field",
    "_ROWS": "ROWS",
    "a) return 1 #": "a_return_1",
}


def table(text: str) -> Dataset:
    plan = SplitPlan(seed=0, train_size=4, test_size=2)
    choice = ColumnChoice(task="classification")
    return build_dataset(Table.read(text.encode(), name="made up"), target="y", columns=choice, split=plan)


def test_every_name_has_an_identifier_of_its_own() -> None:
    head = ",".join(f'"{name}"' for name in NAMES)
    rows = "\n".join(",".join(str(n + k) for k in range(len(NAMES))) + f",{'yn'[n % 2]}" for n in range(6))
    columns = Columns(table(f"{head},y\n{rows}\n"))
    assert {argument.name: alias for alias, argument in columns.arguments.items()} == NAMES
    tree = ast.parse(f"def predict({', '.join(columns.aliases)}): pass")
    assert [each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)] == list(columns.aliases)


MIXED = """\
n,size,code,flag,note,shore,y
1,2.5,007,0,"We walked to the lighthouse in pouring rain, and the lamp was out.",rock,a
2,,012,1,"The lamp of the lighthouse was out, so we turned back at the gate.",sand,b
3,4.5,007,1,"Third letter, same answer. I will not write a fourth one to you.",rock,a
3,5.5,012,0,"The keeper said that the stair had two hundred steps, or nearly so.",sand,b
5,6.5,012,1,"We counted them on the way down and made it a hundred and ninety.",rock,a
6,7.5,007,0,"Nobody was at the gate when we came back, and the lamp was lit.",sand,b
"""


def test_cells_are_values_of_their_columns_kind() -> None:
    data = table(MIXED)
    columns = Columns(data)
    types = ("number", "number", "text", "number", "prose", "text")
    assert [argument.type for argument in columns.arguments.values()] == list(types)
    assert columns.texts == {"note"}
    row = min(data.labelled, key=lambda row: row.id)
    cells = columns.cells(row, columns.aliases)
    assert cells[:4] == (1, 2.5, "007", 0), "a code stays text, a category of numbers is numbers"
    second = sorted(data.labelled, key=lambda row: row.id)[1]
    assert columns.cells(second, ("size", "shore")) == (None, "sand")
    assert columns.arguments["size"].has_missing
    stated = ProgramPrompts(dataset=data, columns=columns).translation("Rule")[-1]["content"]
    for line in ("size: number or None", "flag: number, one of 0, 1", "note: a text"):
        assert line in stated.splitlines()


@pytest.mark.parametrize("cell", ["about 3", "9" * 5000, "1e400", ""])
def test_a_cell_that_does_not_fit_its_column_stays_text(cell: str) -> None:
    assert cell_value(cell, "number") == cell


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


async def test_one_row_that_fails_leaves_the_others_a_long_text_is_cut_and_chunks_come_back_in_order() -> None:
    async with Sandbox() as sandbox:
        given = await sandbox.run(program("return 6 / a if a < 9 else 'y' * 10_000_000"), [(2,), (0,), (9,), (None,)])
        many = await sandbox.run(HARMLESS, [(n,) for n in range(CHUNK + 2)])
    assert [each.value for each in given] == [3.0, None, "y" * 200, None]
    assert [each.fault.partition(":")[0] for each in given] == ["", "ZeroDivisionError", "", "TypeError"]
    assert [each.value for each in many] == list(range(1, CHUNK + 3))
    assert [each.branch for each in given] == [0, None, 1, None]


async def test_a_program_is_a_function_of_its_row_and_never_sleeps() -> None:
    clock = "import datetime, random, time\ntime.sleep(1_000)\nreturn f'{datetime.datetime.now()} {random.random()}'"
    async with Sandbox() as sandbox:
        first, again = [await sandbox.run(program(clock), [(1,)]) for _ in range(2)]
    assert first == again
    assert str(first[0].value).startswith("2000-01-01")


async def test_a_caller_that_leaves_does_not_stop_the_others() -> None:
    async with Sandbox(seconds=SHORT) as sandbox:
        left = asyncio.create_task(sandbox.run(program("while True:\n    pass\nreturn 1"), [(1,)]))
        await asyncio.sleep(0)
        left.cancel()
        assert await sandbox.run(HARMLESS, [(1,)]) == [Given(2, 0)]
