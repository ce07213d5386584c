"""A model's program, read but never run here: one function `predict` with a branch for each return.

A program is text from a model. This module parses it to find its columns, its branches and its questions about texts;
only the sandbox runs it. The check at its end decides which programs may leave the sandbox.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

LONGEST = 6_000
"""Characters of a program: parsing a longer one may exhaust the parser's stack."""
ENTRY, QUESTION = "predict", "ask"
REFUSAL = re.compile(r"\W{0,20}no program\b", re.IGNORECASE)
_FENCED = re.compile(r"^```[\w ]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^(?:def|import|from) ", re.MULTILINE)

_GUARD = re.compile(r"\b\w{1,100} is not None and ")
"""Of a comparison with a cell that may be missing."""


class ProgramFault(Exception):
    """Why a text is no usable program, which the model is told, or must stay in the sandbox."""


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


# A check of a program that will run outside the sandbox, with the rights of whoever runs it. What no list here has is
# refused: syntax, names, functions, methods. So a program cannot reach files, modules or the interpreter. It may still
# be slow: the sandbox has run it within its limits before.

CONSTANT, EXPONENT, LONGEST_TEXT = 10**9, 10, 300
"""Largest whole number and power, and most characters of a text in a program."""

_SYNTAX = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Import, ast.alias, ast.Return, ast.Assign, ast.AnnAssign),
    *(ast.AugAssign, ast.For, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.boolop, ast.BoolOp, ast.BinOp),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UnaryOp, ast.unaryop, ast.IfExp),
    *(ast.Compare, ast.cmpop, ast.Call, ast.keyword, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Name),
    *(ast.Load, ast.Store, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.comprehension),
)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


_FUNCTIONS = _words(
    "abs all any bool enumerate float int len list max min range reversed round set sorted str sum tuple zip"
)
_BUILTIN = frozenset(dir(builtins)) - _FUNCTIONS
"""Names that a program may give only to its arguments: elsewhere the name could mean Python's own."""
_OPTIONS = _words("reverse default")
_METHODS = _words(
    "capitalize casefold count endswith find get index isalpha isdigit islower isspace isupper lower lstrip "
    "replace rfind rindex rstrip split startswith strip title upper values"
)
_MATH = _words(
    "acos asin atan atan2 ceil copysign cos cosh degrees dist e exp expm1 fabs floor fmod fsum hypot inf isclose "
    "isfinite isinf isnan log log10 log1p log2 nan pi radians sin sinh sqrt tan tanh tau trunc"
)
_HINTS = _words("int float str bool list dict set tuple")


def strict_fault(program: Program) -> str | None:
    """Return why a program must not run outside the sandbox; None if it may."""
    try:
        _check(ast.parse(program.code))
    except ProgramFault as fault:
        return str(fault)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python, or nested too deeply"
    return None


def _refuse(node: ast.AST, words: str) -> NoReturn:
    raise ProgramFault(f"line {getattr(node, 'lineno', 1)}: {words} is not allowed")


def _check(tree: ast.Module) -> None:
    match [each for each in tree.body if not isinstance(each, ast.Import | ast.Expr)]:
        case [ast.FunctionDef(name=name, args=arguments, decorator_list=[]) as entry] if name == ENTRY:
            if len(arguments.args) != sum(isinstance(each, ast.arg) for each in ast.walk(arguments)):
                _refuse(entry, "an argument other than a plain column")
            if arguments.defaults:
                _refuse(entry, "a default of an argument")
        case rest:
            _refuse(rest[0] if rest else tree, f"anything but one plain function {ENTRY} and “import math”")
    nodes = list(ast.walk(tree))[1:]
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names = {argument.arg for argument in arguments.args}
    if strange := [name for name in (*own, *names) if name in ("math", ENTRY) or name.startswith("__")]:
        _refuse(entry, f"the name {strange[0]}")
    if strange := sorted((own & _BUILTIN) - names):
        _refuse(entry, f"to assign to {strange[0]}")
    own |= names
    by_place: set[ast.AST] = set()
    for node in nodes:  # the parents first
        _check_syntax(node)
        by_place |= _checked_parts(node)
        if isinstance(node, ast.Attribute) and node not in by_place:
            _refuse(node, f"the attribute .{node.attr}")
        if isinstance(node, ast.Name) and node.id not in own and node not in by_place:
            _refuse(node, f"the name {node.id}")


def _check_syntax(node: ast.AST) -> None:
    if not isinstance(node, _SYNTAX):
        _refuse(node, f"{type(node).__name__} like this")
    match node:
        case ast.FunctionDef(name=name) if name != ENTRY or node.col_offset:
            _refuse(node, "another function")
        case ast.Import(names=names) if any(each.name != "math" or each.asname for each in names):
            _refuse(node, "an import other than “import math”")
        case ast.Constant(value=value) if not _is_plain(value):
            _refuse(node, "this constant")
        case ast.Dict(keys=keys) if None in keys:
            _refuse(node, "** in a dictionary")
        case ast.Assign(targets=targets) if not all(isinstance(each, ast.Name | ast.Tuple) for each in targets):
            _refuse(node, "to assign to this")
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) if not isinstance(target, ast.Name):
            _refuse(node, "to assign to this")
        case ast.BinOp(op=ast.Pow(), right=power) | ast.AugAssign(op=ast.Pow(), value=power):
            if not (isinstance(power, ast.Constant) and isinstance(power.value, int | float)):
                _refuse(node, "** with a power that is no number")
            if power.value > EXPONENT:
                _refuse(node, f"** with a power above {EXPONENT}")


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return value is None or isinstance(value, float) or (isinstance(value, int) and value <= CONSTANT)


def _checked_parts(node: ast.AST) -> set[ast.AST]:
    """Return parts of the node that are allowed in this place alone: functions, attributes of math, type hints."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name == QUESTION:
            raise ProgramFault("it asks the model about a text")
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as function, keywords=options):
            allowed = _FUNCTIONS if isinstance(function, ast.Name) else _METHODS | _MATH
            if name not in allowed or not {option.arg for option in options} <= _OPTIONS:
                _refuse(node, f"the call of {name} like this")
            return {function}
        case ast.Call():
            _refuse(node, "the call of what has no name")
        case ast.Attribute(value=ast.Name(id="math") as module, attr=name):
            if name not in _MATH:
                _refuse(node, f"the attribute .{name}")
            return {node, module}
        case ast.FunctionDef(returns=ast.Name(id=name) as hint) | ast.arg(annotation=ast.Name(id=name) as hint):
            return {hint} if name in _HINTS else set()
        case ast.AnnAssign(annotation=ast.Name(id=name) as hint):
            return {hint} if name in _HINTS else set()
    return set()
