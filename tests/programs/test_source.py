"""Answers of a model, read as programs: branches, questions, and what is refused with a reason."""

from typing import Any

import pytest

from vpp.programs.sandbox import Given, Sandbox
from vpp.programs.source import LONGEST, REFUSAL, ProgramFault, read_program

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


def test_each_return_is_a_branch_with_the_conditions_around_it() -> None:
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


@pytest.mark.parametrize(
    ("row", "given"), [((4, 1), ("x", 0)), ((10, 3), ("y", 1)), ((-1, 3), ("w", 2)), ((4, 2), ("u", 4))]
)
async def test_a_program_reports_the_branch_that_answered(row: tuple[int, int], given: tuple[str, int]) -> None:
    async with Sandbox() as sandbox:
        assert await sandbox.run(read(ADMITTED), [row]) == [Given(*given)]


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
