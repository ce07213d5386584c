"""A model's program, read but never run here: one function `predict` with a branch for each return.

A program is text from a model. This module parses it to find its columns, its branches and its questions about texts;
only the sandbox runs it.
"""

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 6_000
"""Characters of a program: parsing a longer one may exhaust the parser's stack."""
ENTRY, QUESTION = "predict", "ask"
REFUSAL = re.compile(r"\W{0,20}no program\b", re.IGNORECASE)
_FENCED = re.compile(r"^```[\w ]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^(?:def|import|from) ", re.MULTILINE)

_GUARD = re.compile(r"\b\w{1,100} is not None and ")
"""Of a comparison with a cell that may be missing."""


class ProgramFault(Exception):
    """Why a text is no usable program; the model is told so."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One return of the program."""

    condition: str
    """The conditions around it, in Python; empty if it is reached when no branch before it answered."""
    output: str
    """What it returns, in Python."""
    line: int
    """In the code, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    code: str
    """As `ast.unparse` writes it: one statement a line, no comments, a return with a condition as two branches."""
    columns: tuple[str, ...]
    """Aliases of the columns that it takes, in order."""
    branches: tuple[Branch, ...]
    questions: tuple[tuple[str, str], ...]
    """(question, alias of the column) that the model is asked about a text."""
    instrumented: str
    """The code whose `predict` returns a pair: the value, and the index of the branch."""

    def words(self, branch: int) -> str:
        """A branch in one line: `math >= 80 and letters > 1: 'admitted'`, `otherwise: 'rejected'`; no guards."""
        at = self.branches[branch]
        return f"{_GUARD.sub('', at.condition) or ('otherwise' if branch else 'always')}: {at.output}"

    def without(self, branch: int) -> str:
        """Return the code without a branch: its rows go to the branches after it, or have no answer."""
        tree = ast.parse(self.code)
        entry = _entry(tree, self.columns)
        entry.body = list(_without_line(entry.body, self.branches[branch].line)) or [ast.Pass()]
        return ast.unparse(tree)


@lru_cache(maxsize=512)
def read_program(answer: str, aliases: tuple[str, ...], texts: frozenset[str] = frozenset()) -> Program:
    """Read a model's answer. Raises ProgramFault.

    aliases: of all columns. texts: aliases of the columns that hold free text, about which a program may ask.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes such as "\\d"
            tree = ast.parse(_code_in(answer))
        entry = _entry(tree, aliases)
        questions = tuple(dict.fromkeys(_questions(tree, texts, {each.arg for each in entry.args.args})))
        entry.body = list(_without_conditional_returns(entry.body))
        code = ast.unparse(ast.fix_missing_locations(tree))
        tree = ast.parse(code)
        entry = _entry(tree, aliases)
        branches: list[Branch] = []
        _number(entry.body, (), branches)
        if not branches:
            raise ProgramFault("predict returns nothing")
        return Program(
            code=code,
            columns=tuple(argument.arg for argument in entry.args.args),
            branches=tuple(branches),
            questions=questions,
            instrumented=ast.unparse(ast.fix_missing_locations(tree)),
        )
    except SyntaxError as error:
        raise ProgramFault(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise ProgramFault("it is nested too deeply, or holds characters that no program has") from None


def _code_in(answer: str) -> str:
    """The code of an answer: what stands in a fence, or all from the first line that begins like code."""
    if len(answer) > LONGEST:
        raise ProgramFault(f"it has {len(answer):,} characters, {LONGEST:,} at most")
    if fenced := _FENCED.search(answer):
        return fenced[1]
    start = _CODE.search(answer)
    if not start:
        raise ProgramFault(f"it has no function {ENTRY}")
    return answer[start.start() :].replace("```", "")


def _entry(tree: ast.Module, aliases: Collection[str]) -> ast.FunctionDef:
    """The function `predict`, whose arguments are columns. Raises ProgramFault."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == ENTRY]
    if len(found) != 1:
        raise ProgramFault(f"it has {len(found)} functions named {ENTRY}")
    given = found[0].args
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        raise ProgramFault(f"the arguments of {ENTRY} must be plain names of columns")
    if strange := [each.arg for each in given.args if each.arg not in aliases]:
        raise ProgramFault(f"there is no column {', '.join(strange)}: the arguments are columns by the names stated")
    return found[0]


def _questions(tree: ast.Module, texts: Collection[str], arguments: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each question with the column it is about. Raises ProgramFault for one that is not written out."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == QUESTION:
            match call.args:
                case [ast.Constant(value=str(words)), ast.Name(id=column)] if (
                    column in texts and column in arguments and words.strip()
                ):
                    yield words, column
                case _:
                    names = f": {', '.join(sorted(texts))}" if texts else "; this table has no such column, use =="
                    raise ProgramFault(f'{QUESTION}() takes a question in quotes, and a column that is "a text"{names}')


def _without_conditional_returns(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements, with `return a if c else b` as two returns, so that each is a branch."""
    for statement in body:
        match statement:
            case ast.Return(value=ast.IfExp(test=test, body=first, orelse=second)):
                yes = list(_without_conditional_returns([ast.Return(value=first)]))
                yield ast.If(test=test, body=yes, orelse=[])
                yield from _without_conditional_returns([ast.Return(value=second)])
            case ast.If():
                statement.body = list(_without_conditional_returns(statement.body))
                statement.orelse = list(_without_conditional_returns(statement.orelse))
                yield statement
            case _:
                yield statement


def _number(body: Sequence[ast.stmt], conditions: tuple[ast.expr, ...], branches: list[Branch]) -> None:
    """Note each return of the function in `branches`, and make it return its index too."""
    for statement in body:
        if isinstance(statement, ast.Return):
            value = statement.value or ast.Constant(value=None)
            branches.append(Branch(_all_of(conditions), ast.unparse(value), statement.lineno))
            statement.value = ast.Tuple(elts=[value, ast.Constant(value=len(branches) - 1)], ctx=ast.Load())
        elif isinstance(statement, ast.If):
            test = statement.test
            parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            _number(statement.body, (*conditions, *parts), branches)
            _number(statement.orelse, conditions, branches)
        else:
            for part in ("body", "orelse", "handlers", "finalbody", "cases"):
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    _number(getattr(statement, part, ()), conditions, branches)


def _without_line(body: Sequence[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """Yield the statements without the one that begins on this line; a condition for nothing gives way to its else."""
    for statement in body:
        if isinstance(statement, ast.Return) and statement.lineno == line:
            continue
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            if hasattr(statement, part):
                setattr(statement, part, list(_without_line(getattr(statement, part), line)))
        if isinstance(statement, ast.If) and not statement.body:
            yield from statement.orelse
            continue
        if not getattr(statement, "body", True):
            setattr(statement, "body", [ast.Pass()])  # noqa: B010
        yield statement


def _all_of(conditions: Sequence[ast.expr]) -> str:
    """Join with "and", in brackets where that binds less."""
    loose = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr) if len(conditions) > 1 else ()
    return " and ".join(
        f"({ast.unparse(each)})" if isinstance(each, loose) else ast.unparse(each) for each in conditions
    )
