"""A strict check of a program that will run outside the sandbox, with the rights of whoever runs it.

Syntax, names, functions of `math` and methods are refused unless a list here has them, so nothing leads from a row's
cells to the interpreter. Loops and sizes are bounded by an abstract interpretation (Cousot and Cousot 1977): the
program is followed once with bounds in the place of values, and a loop until its bounds no longer change.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vpp.programs.columns import Type
from vpp.programs.source import ENTRY, QUESTION, Program

CELL = 100
"""Characters or items of a cell, for the bounds: those of a row with longer cells are as much larger."""
RANGE = 10_000
"""Most numbers of a range."""
ROUNDS = 30_000
"""Most rounds of a loop with all loops around it."""
STEPS = 1_000_000
"""Most operations for a row: a third of a second in the worst programs that were tried."""
LARGEST = 100_000
"""Most characters or items of a value."""
DIGITS = 18
_PASSES = 8
_WORD = 64
_AT_ONCE = 16
"""Words, characters or items that take about as long as an operation."""
_LONGEST = 400
"""Most words of a number."""
_FLOAT = 16
"""Words of the largest float as a whole number."""

_FUNCTIONS = dict.fromkeys(re.findall(r"\w+", "abs all any bool float int len list reversed set sorted str tuple"), 1)
_FUNCTIONS |= {"enumerate": 2, "round": 2, "sum": 2, "range": 3, "zip": 9, "max": 99, "min": 99}
"""Most arguments of each function."""
_EAGER = {"all", "any", "list", "max", "min", "set", "sorted", "sum", "tuple"}
_OPTIONS = {"sorted": "reverse", "max": "default", "min": "default", "enumerate": "start", "round": "ndigits"}
_SAME_TEXT = {"lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "casefold"}
_TESTS = {"startswith", "endswith", "isdigit", "isalpha", "isalnum", "isnumeric", "isspace", "isupper", "islower"}
_PLACES = {"count", "find", "rfind", "index"}
_METHODS = {*_SAME_TEXT, *_TESTS, *_PLACES, "split", "join", "replace", "get", "items", "keys", "values"}
_MATH = re.findall(
    r"\w+",
    "acos asin atan atan2 ceil copysign cos cosh degrees dist exp expm1 fabs floor fmod fsum gcd hypot isclose "
    "isfinite isinf isnan isqrt log log10 log1p log2 pow prod radians sin sinh sqrt tan tanh trunc",
)
"""Functions whose time is bounded by the sizes of their arguments, and that Python 3.9 has."""
_CONSTANTS = {"pi", "e", "tau", "inf", "nan"}
_HINTS = {"int", "float", "str", "bool", "list", "dict", "set", "tuple"}
_SYNTAX = re.findall(
    r"\w+",
    "Module FunctionDef arguments arg Import alias Return Assign AnnAssign AugAssign For If Expr Pass Break Continue "
    "BoolOp BinOp UnaryOp IfExp Compare Call keyword Constant Attribute Subscript Slice Name Tuple List Set Dict "
    "ListComp SetComp DictComp GeneratorExp comprehension",
)
_PARTS = (ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context)
_WORDS = {
    "While": "a while loop",
    "Lambda": "a lambda",
    "ClassDef": "a class",
    "AsyncFunctionDef": "async",
    "JoinedStr": "an f-string",
    "NamedExpr": "an assignment inside an expression (:=)",
    "Starred": "a star before a value",
    "ImportFrom": "an import other than “import math”",
    "YieldFrom": "yield",
}

Types = Mapping[str, Type | Literal["any"]]
Kind = Literal["none", "number", "text", "many", "other"]


class _Fault(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known of a value."""

    kind: Kind
    """`many`: a list, tuple, set, dictionary or range. `other`: of several kinds."""
    size: int = 1
    """At most so many words of 64 bits, characters, or sizes of all items."""
    count: int = 1
    """At most so many items."""
    item: "_Value | None" = None
    """The join of the items."""
    parts: tuple["_Value", ...] = ()
    """Of a tuple written out, each item."""
    value: "_Value | None" = None
    """Of a dictionary, the join of its values."""
    most: int | None = None
    """Largest absolute value of a whole number; None if it has no bound."""


_NONE, _NUMBER, _TEXT = _Value("none"), _Value("number"), _Value("text", CELL, CELL)
_TRUTH = _Value("number", most=1)
_OTHER = _Value("other", CELL, CELL)
_ARGUMENTS: dict[Type | Literal["any"], _Value] = {
    "any": _OTHER,
    "number": _NUMBER,
    "text": _TEXT,
    "prose": _TEXT,
    "numbers": _Value("many", CELL, CELL, _NUMBER),
}


def strict_fault(program: Program, types: Types) -> str | None:
    """Return why a program must not run outside the sandbox; None if it may.

    types: of the columns, by alias, or `any`. The program must not run on a cell that is of another type.
    """
    try:
        _check_module(ast.parse(program.code), types)
    except _Fault as fault:
        return str(fault)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python, or nested too deeply"
    return None


def _check_module(tree: ast.Module, types: Types) -> None:
    for node in ast.walk(tree):
        name = type(node).__name__
        if name not in _SYNTAX and not isinstance(node, _PARTS):
            raise _at(node, f"{_WORDS.get(name, name.lower())} is not allowed")
        if isinstance(node, ast.Import) and any(alias.name != "math" or alias.asname for alias in node.names):
            raise _at(node, f"{_WORDS['ImportFrom']} is not allowed")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for statement in tree.body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, ast.Import | ast.FunctionDef) and not is_docstring:
            raise _at(statement, f"a statement outside {ENTRY} is not allowed")
    if [function.name for function in functions] != [ENTRY]:
        raise _at(functions[-1] if functions else tree, f"a function beside {ENTRY} is not allowed")
    _check_signature(functions[0], types)
    names = {each.arg for each in functions[0].args.args} | set(_assigned(functions[0].body))
    _Statements(names).follow(functions[0], types)


def _at(node: ast.AST, words: str) -> _Fault:
    line = getattr(node, "lineno", 0)
    return _Fault(f"line {line}: {words}" if line else words)


def _check_signature(function: ast.FunctionDef, types: Types) -> None:
    given = function.args
    if function.decorator_list:
        raise _at(function.decorator_list[0], "a decorator is not allowed")
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        raise _at(function, "arguments other than plain columns are not allowed")
    if strange := [each.arg for each in given.args if each.arg not in types]:
        raise _at(function, f"there is no column {strange[0]}")
    for each in given.args:
        _check_name(each, each.arg)
        _check_hint(each.annotation)
    _check_hint(function.returns)


def _check_name(node: ast.AST, name: str) -> None:
    if name in ("math", ENTRY) or name.startswith("__"):
        raise _at(node, f"the name {name} is not allowed")


def _check_hint(hint: ast.expr | None) -> None:
    for node in ast.walk(hint) if hint else ():
        is_name = isinstance(node, ast.Name) and node.id in _HINTS
        is_none = isinstance(node, ast.Constant) and node.value is None
        shape = (ast.Subscript, ast.Tuple, ast.BinOp, ast.BitOr, ast.Load)
        if not (is_name or is_none or isinstance(node, shape)):
            raise _at(node, "a type hint other than a plain one is not allowed")


def _assigned(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements assign; those of a comprehension are its own."""
    for statement in body:
        for target in _targets(statement):
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        for part in ("body", "orelse"):
            yield from _assigned(getattr(statement, part, ()))


def _targets(statement: ast.stmt) -> Sequence[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For) else []


def _join(a: _Value, b: _Value) -> _Value:
    """The least bounds that hold for both."""
    if "none" in (a.kind, b.kind):
        a, b = (b, a) if a.kind == "none" else (a, b)
        return replace(a, size=max(a.size, b.size))
    return _Value(
        a.kind if a.kind == b.kind else "other",
        max(a.size, b.size),
        max(a.count, b.count),
        _join(_item(a), _item(b)) if a.item or b.item else None,
        tuple(map(_join, a.parts, b.parts)) if len(a.parts) == len(b.parts) else (),
        _join(_held(a), _held(b)) if a.value or b.value else None,
        a.most if a.most == b.most else None,
    )


def _join_all(values: Sequence[_Value]) -> _Value:
    joined = _NONE
    for value in values:
        joined = _join(joined, value)
    return joined


def _item(value: _Value) -> _Value:
    """An item of what is iterated."""
    if value.kind == "text":
        return _Value("text")
    return value.item or (replace(_OTHER, size=value.size, count=value.count) if value.kind == "other" else _NONE)


def _held(value: _Value) -> _Value:
    """What a subscript gives."""
    return value.value or _item(value)


def _display(items: Sequence[_Value], *, is_ordered: bool = True) -> _Value:
    size = max(1, sum(each.size for each in items))
    parts = tuple(items) if is_ordered else ()
    return _Value("many", size, max(1, len(items)), _join_all(items) if items else _NONE, parts)


def _many(value: _Value) -> _Value:
    """A list, tuple or set of the items of a value."""
    return _Value("many", value.size, value.count, _item(value))


def _is_number(*values: _Value) -> bool:
    """True for numbers, and for None, with which arithmetic fails."""
    return all(value.kind in ("number", "none") for value in values)


def _whole(node: ast.expr) -> int | None:
    """A whole number that is written out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return None if (inner := _whole(node.operand)) is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


class _Expressions:
    """Bounds of expressions, with what is known of the names. Raises _Fault."""

    def __init__(self, names: set[str]) -> None:
        """names: those that the function assigns, its arguments included."""
        self._names = names
        self._known: dict[str, _Value] = {}
        self._rounds = 1
        """Rounds of all loops around the current place."""
        self._steps = 0
        self._sums = 0
        """Additions of two numbers that loops change: each makes the longer one longer by a bit at most."""
        self._in_loop: frozenset[str] = frozenset()
        """Names that the loops around the current place assign."""

    def _assign(self, target: ast.expr, value: _Value) -> None:
        match target:
            case ast.Name(id=name):
                _check_name(target, name)
                self._known[name] = _join(self._known.get(name, _NONE), value) if name in self._in_loop else value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = value.parts if len(value.parts) == len(targets) else [_item(value)] * len(targets)
                for each, part in zip(targets, parts, strict=True):
                    self._assign(each, part)
            case _:
                raise _at(target, "a value that is changed in place is not allowed")

    def _enter(self, target: ast.expr, iterable: ast.expr) -> None:
        """Go into a loop: the caller restores the rounds."""
        several = self._value(iterable)
        self._rounds *= max(1, several.count)
        if self._rounds > ROUNDS:
            raise _at(iterable, f"more than {ROUNDS:,} rounds, {CELL} for a cell, are not allowed")
        self._assign(target, _item(several))

    def _value(self, node: ast.expr) -> _Value:
        return self._pay(node, self._bounds(node))

    def _pay(self, node: ast.AST, value: _Value) -> _Value:
        """Count what it takes to make a value; to read a name takes no copy."""
        self._count(0 if isinstance(node, ast.Name) else value.size)
        if value.size > (_LONGEST if value.kind == "number" else LARGEST) or value.count > LARGEST:
            raise _at(node, "a value that can become very large is not allowed")
        if self._steps > STEPS:
            raise _at(node, f"more than {STEPS:,} steps for a row are not allowed")
        return value

    def _count(self, *sizes: int) -> None:
        self._steps += self._rounds * (1 + sum(sizes) // _AT_ONCE)

    def _bounds(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=value):
                return _constant(node, value)
            case ast.Name():
                return self._name(node)
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _CONSTANTS:
                return _NUMBER
            case ast.Attribute(attr=name):
                raise _at(node, f"the attribute .{name} is not allowed")
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self._value(left), self._value(right), right)
            case ast.UnaryOp(op=op, operand=operand):
                of = self._value(operand)
                return _TRUTH if isinstance(op, ast.Not) else replace(_NUMBER, size=of.size, most=of.most)
            case ast.BoolOp(values=values):
                return _join_all([self._value(each) for each in values])
            case ast.Compare(left=left, comparators=others):
                self._count(*(self._value(each).size for each in (left, *others)))
                return _TRUTH
            case ast.IfExp(test=test, body=yes, orelse=no):
                self._value(test)
                return _join(self._value(yes), self._value(no))
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return _display([self._value(each) for each in items])
            case ast.Set(elts=items):
                return _display([self._value(each) for each in items], is_ordered=False)
            case ast.Dict(keys=keys, values=texts):
                if None in keys:
                    raise _at(node, "a star before a value is not allowed")
                found, held = [self._value(each) for each in keys if each], [self._value(each) for each in texts]
                size = sum(each.size for each in (*found, *held)) + 1
                return replace(_display(found, is_ordered=False), size=size, value=_join_all(held))
            case ast.ListComp(elt=item, generators=generators) | ast.SetComp(elt=item, generators=generators):
                return self._comprehension(generators, item)
            case ast.GeneratorExp():  # names may mean other values when it is used
                raise _at(node, "a generator outside a function that uses it up is not allowed")
            case ast.DictComp(key=key, value=item, generators=generators):
                return self._comprehension(generators, key, item)
        raise _at(node, "an expression of this kind is not allowed here")

    def _name(self, node: ast.Name) -> _Value:
        if node.id in self._known:
            return self._known[node.id]
        if node.id in self._names:
            return _NONE  # reading it fails
        if node.id == QUESTION:
            raise _at(node, "it asks the model about a text")
        raise _at(node, f"the name {node.id} is not allowed")

    def _subscript(self, node: ast.Subscript) -> _Value:
        value = self._value(node.value)
        if isinstance(node.slice, ast.Slice):
            for part in filter(None, (node.slice.lower, node.slice.upper, node.slice.step)):
                self._value(part)
            return replace(value, parts=(), value=None)
        self._value(node.slice)
        at = _whole(node.slice)
        if value.parts and at is not None and -len(value.parts) <= at < len(value.parts):
            return value.parts[at]
        return _held(value)

    def _comprehension(
        self, generators: Sequence[ast.comprehension], item: ast.expr, value: ast.expr | None = None
    ) -> _Value:
        known, rounds, inside = dict(self._known), self._rounds, self._in_loop
        self._in_loop = frozenset()
        for generator in generators:
            if generator.is_async:
                raise _at(generator.target, "async is not allowed")
            self._enter(generator.target, generator.iter)
            for test in generator.ifs:
                self._value(test)
        found, held = self._value(item), self._value(value) if value else None
        count = self._rounds // rounds
        self._known, self._rounds, self._in_loop = known, rounds, inside
        return _Value("many", count * (found.size + (held.size if held else 0)), count, found, value=held)

    def _binary(self, node: ast.AST, op: ast.operator, left: _Value, right: _Value, by: ast.expr) -> _Value:
        """by: the right side as it is written."""
        match op:
            case ast.Add() | ast.Sub() if _is_number(left, right):
                sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (by,)
                if all(any(isinstance(n, ast.Name) and n.id in self._in_loop for n in ast.walk(s)) for s in sides):
                    self._sums += self._rounds
                most = None if left.most is None or right.most is None else left.most + right.most
                return _Value("number", max(left.size, right.size) + (not self._in_loop), most=most)
            case ast.Add():
                kind: Kind = left.kind if left.kind == right.kind else "other"
                item = _join(_item(left), _item(right))
                return _Value(kind, left.size + right.size, left.count + right.count, item)
            case ast.Mult() | ast.Mod() | ast.Pow() if not _is_number(left, right):
                what = {"Mult": "*", "Mod": "%", "Pow": "**"}[type(op).__name__]
                raise _at(node, f"{what} of what may be a text or a list is not allowed")
            case ast.Mult():
                most = None if left.most is None or right.most is None else left.most * right.most
                return _Value("number", left.size + right.size, most=most)
            case ast.Pow():
                exponent = _whole(by)
                is_root = isinstance(by, ast.Constant) and isinstance(by.value, float)
                if not is_root and (exponent is None or abs(exponent) > _WORD):
                    raise _at(node, f"** is allowed only with a number of {_WORD} at most as its exponent")
                power = abs(exponent or 1)
                return _Value("number", left.size * power, most=None if left.most is None else left.most**power)
            case ast.Sub() | ast.BitAnd() if left.kind in ("many", "other"):
                return left
            case ast.BitOr() | ast.BitXor() | ast.BitAnd():
                joined = _join(left, right)
                return replace(joined, size=left.size + right.size, count=left.count + right.count, most=None)
            case ast.FloorDiv():
                return _Value("number", left.size, most=left.most)
            case ast.Sub() | ast.Div() | ast.Mod():
                return _Value("number", max(left.size, right.size), most=right.most if type(op) is ast.Mod else None)
        raise _at(node, f"the operator {type(op).__name__} is not allowed")

    def _call(self, node: ast.Call) -> _Value:
        match node.func:
            case ast.Name(id=name) if name in _FUNCTIONS and name not in self._names and name not in self._known:
                return self._function(node, name)
            case ast.Attribute(attr=name) if node.keywords:
                raise _at(node, f"named arguments of .{name} are not allowed")
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _MATH:
                return self._math(node, name)
            case ast.Attribute(value=value, attr=name) if name in _METHODS:
                of, arguments = self._value(value), self._arguments(node, is_eager=name == "join")
                self._count(of.size, *(each.size for each in arguments))
                return _method(node, name, of, arguments)
            case ast.Name(id=name) if name != QUESTION:
                raise _at(node, f"a call of {name} is not allowed")
        self._value(node.func)
        raise _at(node, "a call of a value is not allowed")

    def _arguments(self, node: ast.Call, *, is_eager: bool) -> list[_Value]:
        """is_eager: whether the function uses a generator up."""
        return [
            self._comprehension(each.generators, each.elt)
            if is_eager and isinstance(each, ast.GeneratorExp)
            else self._value(each)
            for each in node.args
        ]

    def _function(self, node: ast.Call, name: str) -> _Value:
        if any(keyword.arg != _OPTIONS.get(name, "") for keyword in node.keywords):
            raise _at(node, f"this named argument of {name} is not allowed")
        if len(node.args) > _FUNCTIONS[name]:
            raise _at(node, f"{name} with {len(node.args)} arguments is not allowed")
        arguments = self._arguments(node, is_eager=name in _EAGER)
        named = [self._value(keyword.value) for keyword in node.keywords]
        self._count(*(each.size**2 if name == "str" and each.kind == "number" else each.size for each in arguments))
        first = arguments[0] if arguments else _NONE
        if name == "round" and len(arguments + named) > 1:
            digits = _whole([*node.args, *(keyword.value for keyword in node.keywords)][1])
            if digits is None or abs(digits) > DIGITS:
                raise _at(node, f"round is allowed only to a written number of {DIGITS} digits at most")
        if name == "enumerate" and len(arguments + named) > 1:
            return replace(_many(first), item=_display([_NUMBER, _item(first)]))
        if name == "sum" and not _is_number(*arguments[1:]):
            raise _at(node, "a sum that does not begin with a number is not allowed")
        if name == "range":
            return _range(node, arguments)
        if name in ("max", "min"):
            return _join_all([*(arguments if len(arguments) > 1 else [_item(first)]), *named])
        if name == "zip":
            items = _display(list(map(_item, arguments)))
            count = max((each.count for each in arguments), default=1)
            return _Value("many", sum(each.size for each in arguments), count, items)
        return _result(name, first)

    def _math(self, node: ast.Call, name: str) -> _Value:
        arguments = self._arguments(node, is_eager=True)
        self._count(*(each.size for each in arguments))
        if name == "prod" and not _is_number(*map(_item, arguments)):
            raise _at(node, "a product of what may be a text or a list is not allowed")
        return _Value("number", sum(each.size for each in arguments) + _FLOAT)


class _Statements(_Expressions):
    """Statements followed with bounds. Raises _Fault."""

    def follow(self, function: ast.FunctionDef, types: Types) -> None:
        self._known = {each.arg: _ARGUMENTS[types[each.arg]] for each in function.args.args}
        self._run(function.body)

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Return(value=value) | ast.Expr(value=value):
                    if value:
                        self._value(value)
                case ast.Assign(targets=targets, value=value):
                    found = self._value(value)
                    for target in targets:
                        self._assign(target, found)
                case ast.AnnAssign(target=target, annotation=hint, value=value):
                    _check_hint(hint)
                    if value:
                        self._assign(target, self._value(value))
                case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                    before, change = self._name(target), self._value(value)
                    if before.kind in ("many", "other"):
                        raise _at(statement, "a list that is changed in place is not allowed")
                    self._assign(target, self._pay(statement, self._binary(statement, op, before, change, value)))
                case ast.If(test=test, body=yes, orelse=no):
                    self._value(test)
                    self._branches(yes, no)
                case ast.For():
                    self._loop(statement)
                    self._run(statement.orelse)
                case ast.Import() | ast.Pass() | ast.Break() | ast.Continue():
                    pass
                case _:
                    raise _at(statement, "a statement of this kind is not allowed here")

    def _branches(self, yes: Sequence[ast.stmt], no: Sequence[ast.stmt]) -> None:
        before = dict(self._known)
        self._run(yes)
        after, self._known = self._known, before
        self._run(no)
        names = {*after, *self._known}
        self._known = {name: _join(after.get(name, _NONE), self._known.get(name, _NONE)) for name in names}

    def _loop(self, loop: ast.For) -> None:
        """Follow a loop, the outermost one until the bounds of the names that it assigns no longer change."""
        if self._in_loop:
            self._round(loop)
            return
        self._in_loop = frozenset(_assigned([loop]))
        steps, sums = self._steps, self._sums
        for at in range(_PASSES):
            before, self._steps, self._sums = self._loop_names(), steps, sums
            self._round(loop)
            if at and before == self._loop_names():
                break
            if not at:  # so long can all sums make a number; those with a number that stays need a word at most
                more = (self._sums - sums) // _WORD + 1
                known = self._loop_names().items()
                self._known |= {n: replace(v, size=v.size + more) for n, v in known if v.kind == "number"}
        else:
            raise _at(loop, "a value that grows in a loop is not allowed")
        self._in_loop = frozenset()

    def _loop_names(self) -> dict[str, _Value]:
        return {name: self._known.get(name, _NONE) for name in self._in_loop}

    def _round(self, loop: ast.For) -> None:
        rounds = self._rounds
        self._enter(loop.target, loop.iter)
        self._run(loop.body)
        self._rounds = rounds


def _constant(node: ast.AST, value: object) -> _Value:
    if isinstance(value, str):
        return _Value("text", len(value) or 1, len(value) or 1)
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        raise _at(node, f"a number of more than {DIGITS} digits is not allowed")
    if isinstance(value, int | float):
        return _Value("number", most=abs(value) if isinstance(value, int) else None)
    if value is None:
        return _NONE
    raise _at(node, f"a value of type {type(value).__name__} is not allowed")


def _range(node: ast.Call, arguments: Sequence[_Value]) -> _Value:
    """A range has at most as many numbers as its ends lie apart."""
    ends = [each.most for each in arguments[:2]]
    if None in ends or not _is_number(*arguments):
        raise _at(node, "a range without a bound is not allowed")
    count = max(1, sum(end for end in ends if end is not None))
    if count > RANGE:
        raise _at(node, f"a range of more than {RANGE:,} numbers is not allowed")
    return _Value("many", count, count, _Value("number", most=count))


def _method(node: ast.Call, name: str, of: _Value, arguments: Sequence[_Value]) -> _Value:
    first = arguments[0] if arguments else _NONE
    if name == "replace":
        match node.args:
            case [ast.Constant(value=str(old)), ast.Constant(value=str(new))] if old and len(new) <= len(old):
                return replace(of, kind="text")
        raise _at(node, "replace is allowed only with written texts, the second not longer than the first")
    if name == "join":
        size = first.size + first.count * of.size
        return _Value("text", size, size)
    if name == "split":
        return _Value("many", of.size, of.count, _Value("text", of.size, of.size))
    if name in _SAME_TEXT:
        return _Value("text", of.size, of.size)
    if name in _TESTS:
        return _TRUTH
    if name in _PLACES:
        return _Value("number", most=of.count)
    held = of.value or _OTHER
    if name == "get":
        return _join_all([held, *arguments[1:]])
    pair = {"items": _display([_item(of), held]), "values": held}.get(name, _item(of))
    return _Value("many", of.size, of.count, pair)


def _result(name: str, of: _Value) -> _Value:
    """Bounds of what a function of one value gives."""
    n_characters = {"number": 20 * of.size + 5, "text": of.size}.get(of.kind, 25 * of.size)
    pair = _display([_Value("number", most=of.count), _item(of)])
    results = {
        "len": _Value("number", most=of.count),
        **dict.fromkeys(("all", "any", "bool"), _TRUTH),
        "abs": replace(of, kind="number"),
        "sum": _Value("number", _item(of).size + of.count // _WORD + 1),
        "float": _NUMBER,
        **dict.fromkeys(("int", "round"), _Value("number", of.size + _FLOAT, most=of.most)),
        "str": _Value("text", n_characters, n_characters),
        "enumerate": _Value("many", of.size + of.count, of.count, pair),
    }
    return results.get(name) or replace(_many(of), parts=of.parts if name in ("list", "tuple") else ())
