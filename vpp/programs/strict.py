"""A check of a program that will run outside the sandbox, with the rights of whoever runs it.

What no list here has is refused: syntax, names, functions, methods. So a program cannot reach files, modules or the
interpreter. It may still be slow: the sandbox has run it within its limits before.
"""

import ast
import builtins
import re
from typing import NoReturn

from vpp.programs.source import ENTRY, QUESTION, Program

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


class _Fault(Exception):
    pass


def strict_fault(program: Program) -> str | None:
    """Return why a program must not run outside the sandbox; None if it may."""
    try:
        _check(ast.parse(program.code))
    except _Fault as fault:
        return str(fault)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python, or nested too deeply"
    return None


def _refuse(node: ast.AST, words: str) -> NoReturn:
    raise _Fault(f"line {getattr(node, 'lineno', 1)}: {words} is not allowed")


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
            raise _Fault("it asks the model about a text")
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
