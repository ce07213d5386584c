"""A strict check of a program that will run outside the sandbox, with the rights of whoever runs it.

What no list here has is refused: syntax, names, functions, methods. Loops have bounds. Arithmetic takes only numbers,
so texts and lists never grow; products, and sums of loops, are not multiplied again, so numbers stay short.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NoReturn

from vpp.programs.columns import Type
from vpp.programs.source import ENTRY, QUESTION, Program

CELL = 100
"""Characters or items of a cell in the bounds: for longer cells they are as much larger."""
RANGE, DEPTH, STEPS = 10_000, 2, 300_000
"""Most numbers of a range, loops in each other, and parts of the program to evaluate for a row."""
CONSTANT, EXPONENT = 10**9, 10

_SYNTAX = re.findall(
    r"\w+",
    "FunctionDef arguments arg Import alias Return Assign AnnAssign AugAssign For If Expr Pass Break Continue "
    "BoolOp And BinOp Or Add Sub Mult Div FloorDiv Mod Pow UnaryOp Not USub UAdd IfExp Compare Eq NotEq Lt LtE Gt "
    "GtE Is IsNot In NotIn Call keyword Constant Attribute Subscript Slice Name Load Store Tuple List Set Dict "
    "ListComp SetComp DictComp GeneratorExp comprehension",
)
_SAME = re.findall(r"\w+", "lower upper strip lstrip rstrip title capitalize casefold replace")
_TESTS = re.findall(r"\w+", "startswith endswith isdigit isalpha isspace isupper islower count find rfind index")
_METHODS = {
    "text": dict.fromkeys(_SAME, "text") | dict.fromkeys(_TESTS, "number") | {"split": "list text"},
    "list": {"count": "number", "index": "number"},
    "dict": {"get": "held", "values": "list held"},
}
_FUNCTIONS = {
    **dict.fromkeys(("all", "any", "bool", "float", "len"), "number"),
    **dict.fromkeys(("abs", "int", "round"), "same"),
    **dict.fromkeys(("list", "reversed", "set", "sorted", "tuple"), "list held"),
    **dict.fromkeys(("max", "min", "sum"), "held"),
    "str": "text",
}
"""What methods and functions give: `held` is what the value holds, `same` a number like the value."""
_ITERATORS = {"enumerate", "range", "zip"}
_USE_UP = {"all", "any", "fsum", "max", "min", "sum"}
_OPTIONS = {"sorted": "reverse", "max": "default", "min": "default"}
_MATH = re.findall(
    r"\w+",
    "acos asin atan atan2 ceil copysign cos cosh degrees dist exp expm1 fabs floor fmod fsum hypot isclose isfinite "
    "isinf isnan log log10 log1p log2 radians sin sinh sqrt tan tanh trunc",
)
_CONSTANTS = {"pi", "e", "tau", "inf", "nan"}
_HINTS = {"int", "float", "str", "bool", "list", "dict", "set", "tuple"}
_COLUMNS: dict[Type, str] = {"number": "number", "text": "text", "prose": "text", "numbers": "list number"}
_SHORT_RANGE = re.compile(r"range\((?:len\(\w+\)|\d{1,2}|[ ,+-]){1,5}\)")
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _Fault(Exception):
    pass


def strict_fault(program: Program, types: Mapping[str, Type]) -> str | None:
    """Return why a program must not run outside the sandbox; None if it may.

    types: of the columns, by alias. A program that calculates must not run on a cell that is of another type.
    """
    try:
        _Check(ast.parse(program.code), types)
    except _Fault as fault:
        return str(fault)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python, or nested too deeply"
    return None


def _refuse(node: ast.AST, words: str) -> NoReturn:
    raise _Fault(f"line {getattr(node, 'lineno', 1)}: {words} is not allowed")


def _join(types: Iterable[str]) -> str:
    """The type of what may be of each: `any` may only be compared, tested and returned."""

    def join(a: str, b: str) -> str:
        if "none" in (a, b) or a == b:
            return b if a == "none" else a
        (kind, _, held), (other, _, its) = a.partition(" "), b.partition(" ")
        return f"{kind} {join(held, its)}" if kind == other else "long" if {a, b} == {"number", "long"} else "any"

    return reduce(join, types, "none")


class _Types:
    """Types are none, number, long (not to be multiplied again), text, any, `list …` and `dict …` of what is held.

    A name has one type in the whole program: of all that is assigned to it. Raises _Fault.
    """

    def __init__(self, nodes: Sequence[ast.AST], arguments: dict[str, str]) -> None:
        self._types = arguments
        loops = [node for node in nodes if isinstance(node, ast.For | _Comprehension)]
        self._in_loop = {inner for node in loops for inner in ast.walk(node)}
        before: dict[str, str] = {}
        while before != self._types:
            before = dict(self._types)
            for node in nodes:
                self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, [self._type(value)])
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                self._assign(target, [self._arithmetic(node, target, op, value)])
            case ast.For(target=target, iter=several) | ast.comprehension(target=target, iter=several):
                self._assign(target, self._items(several))
            case ast.Assign() | ast.AugAssign():
                _refuse(node, "this assignment")

    def _assign(self, target: ast.expr, types: list[str]) -> None:
        """types: of the value, or of its parts."""
        match target:
            case ast.Name(id=name) if len(types) == 1:
                own = _join([self._types.get(name, "none"), *types])
                self._types[name] = own if own.count(" ") < DEPTH + 2 else "any"
            case ast.Tuple(elts=targets) if len(types) in (1, len(targets)):
                parts = types if len(types) > 1 else [_held(types[0])] * len(targets)
                for each, part in zip(targets, parts, strict=True):
                    self._assign(each, [part])
            case _:
                _refuse(target, "to assign to this")

    def _items(self, several: ast.expr) -> list[str]:
        """Types of the targets of a loop."""
        match several:
            case ast.Call(func=ast.Name(id=name), args=nodes) if name in _ITERATORS:
                held = [_held(self._type(each)) for each in nodes]
                return {"range": ["number"], "enumerate": ["number", *held]}.get(name, held)
        return [_held(self._type(several))]

    def _type(self, node: ast.expr) -> str:
        kind = "dict" if isinstance(node, ast.Dict | ast.DictComp) else "list"
        match node:
            case ast.Constant(value=value):
                return "none" if value is None else "text" if isinstance(value, str) else "number"
            case ast.Name(id=name):
                return self._types.get(name, "none")
            case ast.Attribute() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return "number"
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value, slice=ast.Slice()):
                return self._type(value)
            case ast.Subscript(value=value):
                return _held(self._type(value))
            case ast.BoolOp(values=values):
                return _join(map(self._type, values))
            case ast.IfExp(body=yes, orelse=no):
                return _join([self._type(yes), self._type(no)])
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(node, left, op, right)
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
                return f"{kind} {_join(map(self._type, items))}"
            case ast.DictComp(value=item) | ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return f"{kind} {self._type(item)}"
            case ast.Call():
                return self._result(node)
        return "any"

    def _arithmetic(self, node: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr) -> str:
        if isinstance(op, ast.Div) or (isinstance(op, ast.Pow) and ast.unparse(right) == "0.5"):
            return "number"
        is_long = isinstance(op, ast.Mult | ast.Pow) or (isinstance(op, ast.Add | ast.Sub) and node in self._in_loop)
        return "long" if is_long else _join([self._type(left), self._type(right)])

    def _result(self, node: ast.Call) -> str:
        types = [self._type(each) for each in node.args]
        first = types[0] if types else "none"
        match node.func:
            case ast.Attribute(value=ast.Name(id="math")):
                return "long" if {"long", "any"} & {*types} else "number"
            case ast.Attribute(value=value, attr=name):
                of = self._type(value)
                rule = self._methods(value).get(name, "any").replace("held", _held(of))
                return _join([rule, *types[1:]]) if name == "get" else rule
            case ast.Name(id="max" | "min"):
                own = types if len(types) > 1 else [_held(first)]
                return _join([*own, *(self._type(each.value) for each in node.keywords)])
            case ast.Name(id=name):
                same = "long" if first in ("long", "any") else "number"
                rule = _FUNCTIONS.get(name, "any").replace("held", _held(first)).replace("same", same)
                return "long" if rule == "number" and name == "sum" and node in self._in_loop else rule
        return "any"

    def _methods(self, node: ast.expr) -> Mapping[str, str]:
        return _METHODS.get(self._type(node).split(" ")[0], {})


class _Check(_Types):
    """Raises _Fault for what is not allowed."""

    def __init__(self, tree: ast.Module, columns: Mapping[str, Type]) -> None:
        match [each for each in tree.body if not isinstance(each, ast.Import | ast.Expr)]:
            case [ast.FunctionDef(name=name, args=given, decorator_list=[]) as entry] if name == ENTRY:
                names = [each.arg for each in ast.walk(given) if isinstance(each, ast.arg)]
                if ast.unparse(given).count("*") or given.posonlyargs or given.defaults or not {*names} <= {*columns}:
                    _refuse(entry, "an argument other than a plain column")
            case rest:
                _refuse(rest[0] if rest else tree, f"anything but one plain function {ENTRY} and “import math”")
        nodes = list(ast.walk(tree))[1:]
        self._iterated = {node.iter for node in nodes if isinstance(node, ast.For | ast.comprehension)}
        self._harmless = {node.func for node in nodes if isinstance(node, ast.Call)}
        self._steps, self._counters = 0, _counters(nodes) - {*names}
        for node in nodes:
            self._check_syntax(node)
        super().__init__(nodes, {name: _COLUMNS[columns[name]] for name in names})
        for node in nodes:
            self._check_types(node)
        inner = {n for each in nodes if isinstance(each, ast.comprehension) for n in ast.walk(each.target)}
        own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in inner}
        self._count(entry, frozenset({*names, *own}))

    def _check_syntax(self, node: ast.AST) -> None:
        hint = getattr(node, "annotation", None) or getattr(node, "returns", None)
        self._harmless |= {hint} if hint else set()
        if type(node).__name__ not in _SYNTAX or (hint and not (isinstance(hint, ast.Name) and hint.id in _HINTS)):
            _refuse(node, f"{type(hint or node).__name__} like this")
        match node:
            case ast.FunctionDef(name=name) if name != ENTRY or node.col_offset:
                _refuse(node, "another function")
            case ast.Import(names=names) if [each for each in names if each.name != "math" or each.asname]:
                _refuse(node, "an import other than “import math”")
            case ast.Constant(value=value):
                is_short = (isinstance(value, str) and len(value) <= 3 * CELL) or (
                    isinstance(value, int) and value <= CONSTANT
                )
                if not is_short and not isinstance(value, float | None):
                    _refuse(node, "this constant")
            case ast.Name(id=name, ctx=ast.Store()) if name in ("math", ENTRY) or name.startswith("__"):
                _refuse(node, f"the name {name}")
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
                if len(items) > CELL or (isinstance(node, ast.Dict) and None in node.keys):
                    _refuse(node, f"a collection of more than {CELL} items, or with **,")
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.GeneratorExp() as own]):
                self._harmless |= {own} if name in _USE_UP else set()
            case ast.Attribute(value=ast.Name(id="math") as own):
                self._harmless.add(own)

    def _check_types(self, node: ast.AST) -> None:
        match node:
            case ast.BinOp(left=left, op=op, right=right) | ast.AugAssign(target=left, op=op, value=right):
                self._check_arithmetic(node, left, op, right)
            case ast.Call():
                self._check_call(node)
            case ast.GeneratorExp() if node not in self._harmless:
                _refuse(node, "a generator that no function uses up here")
            case ast.Attribute(value=value, attr=name) if node not in self._harmless:
                if name not in _CONSTANTS or ast.unparse(value) != "math":
                    _refuse(node, f"the attribute .{name}")
            case ast.For(iter=own) | ast.comprehension(iter=own):
                if not (isinstance(own, ast.Call) and getattr(own.func, "id", "") in _ITERATORS):
                    self._check_iterable(own)
            case ast.Subscript(value=own) if self._type(own)[:4] not in ("text", "list", "dict"):
                _refuse(node, "a part of what may be no text and no list")
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
                self._check_flat(*items)
            case ast.DictComp(value=item) | ast.ListComp(elt=item) | ast.SetComp(elt=item):
                self._check_flat(item)
                if len(node.generators) > 1 or self._size(node.generators[0].iter) > 3 * CELL:
                    _refuse(node, "a collection as long as a long range, or two cells")

    def _check_iterable(self, *nodes: ast.expr) -> None:
        if strange := [node for node in nodes if self._type(node)[:4] not in ("text", "list")]:
            _refuse(strange[0], "to take the items of what may be no text and no list")

    def _check_flat(self, *items: ast.expr) -> None:
        """Refuse a list of lists, unless it is written out."""
        inner = [item for item in items if self._type(item)[:4] in ("list", "dict", "any")]
        if not all(isinstance(item, ast.Tuple | ast.List) for item in inner):
            _refuse(inner[0], "a list in a list")

    def _check_arithmetic(self, node: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr) -> None:
        if not {self._type(left), self._type(right)} <= {"none", "number", "long"}:
            _refuse(node, "arithmetic with what may be a text or a list")
        parts = [*ast.walk(left), *ast.walk(right)]
        is_again = any(isinstance(each, ast.Name) and "long" in self._types.get(each.id, "") for each in parts)
        if isinstance(op, ast.Pow):
            power = right.value if isinstance(right, ast.Constant) else None
            has_product = any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult | ast.Pow) for each in parts)
            is_small = isinstance(power, int) and power <= EXPONENT and not is_again and not has_product
            if power != 0.5 and not is_small:
                _refuse(node, f"** but with 0.5 or {EXPONENT} at most, and of no product or sum of a loop,")
        is_by_constant = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
        if isinstance(op, ast.Mult) and is_again and (node in self._in_loop or not is_by_constant):
            _refuse(node, "to multiply a product or a sum of a loop again")

    def _check_call(self, node: ast.Call) -> None:
        types, options = [self._type(each) for each in node.args], {each.arg for each in node.keywords}
        match node.func:
            case ast.Name(id=name) if name in _ITERATORS - {*self._types} and node in self._iterated and not options:
                self._check_iterable(*(node.args if name != "range" else ()))
                if len(types) in {"enumerate": (1,), "range": (1, 2, 3), "zip": (2, 3, 4)}[name]:
                    return
            case ast.Name(id=name) if name in _FUNCTIONS and name not in self._types and types:
                if _FUNCTIONS[name][-4:] == "held" and len(types) == 1:
                    self._check_iterable(node.args[0])
                is_text = name == "str" and types[0] not in ("text", "number")
                is_sum = name == "sum" and _held(types[0]) not in ("none", "number", "long")
                is_round = name == "round" and len(types) == 2 and isinstance(node.args[1], ast.Constant)
                n_most = 99 if name in ("max", "min") else 1 + is_round
                if len(types) <= n_most and not is_text and not is_sum and options <= {_OPTIONS.get(name)}:
                    return
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _MATH and not options:
                return
            case ast.Attribute(value=own, attr=name) if name in self._methods(own) and not options:
                written = [e.value for e in node.args if isinstance(e, ast.Constant) and isinstance(e.value, str)]
                if name != "replace" or (len(written) == len(types) == 2 and len(written[1]) <= len(written[0]) > 0):
                    return
            case ast.Name(id=name) if name == QUESTION:
                raise _Fault("it asks the model about a text")
        name = getattr(node.func, "id", "") or f".{getattr(node.func, 'attr', '')}"
        _refuse(node, f"the call of {name} like this")

    def _count(self, node: ast.AST, names: frozenset[str], rounds: int = 1, depth: int = 0) -> None:
        """Check names where they are read, and count loops in each other and steps."""
        self._steps += rounds if isinstance(node, ast.expr | ast.stmt) else 0
        if depth > DEPTH or self._steps > STEPS:
            _refuse(node, f"more than {DEPTH} loops in each other, or {STEPS:,} steps a row ({CELL} rounds a cell),")
        if isinstance(node, ast.Name) and node.id not in names and node not in self._harmless:
            _refuse(node, f"the name {node.id}")
        inner: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.For):
            for each in (node.iter, *node.orelse):
                self._count(each, names, rounds, depth)
            inner, rounds, depth = [*node.body], rounds * self._size(node.iter), depth + 1
        for generator in node.generators if isinstance(node, _Comprehension) else ():
            self._count(generator.iter, names, rounds, depth)
            names |= {each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)}
            rounds, depth = rounds * self._size(generator.iter), depth + 1
        for each in inner:
            self._count(each, names, rounds, depth)

    def _size(self, several: ast.expr) -> int:
        match several:
            case ast.Call(func=ast.Name(id="range"), args=ends):
                return max(1, sum(map(self._end, ends)))
        return CELL

    def _end(self, node: ast.expr) -> int:
        """Largest absolute value of an end of a range."""
        match node:
            case ast.Constant(value=int(value)) if value <= RANGE:
                return value
            case ast.Name() | ast.Call() if ast.unparse(node) in self._counters or ast.unparse(node).startswith("len("):
                return CELL
            case ast.UnaryOp(op=ast.USub(), operand=own):
                return self._end(own)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self._end(left) + self._end(right)
        _refuse(node, "a range without a bound")


def _held(several: str) -> str:
    """The type of an item, or of a dictionary's value."""
    return several if several in ("text", "none") else several.partition(" ")[2] or "any"


def _counters(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that only loops over a range of about a cell assign."""
    names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    loops = [node for node in nodes if isinstance(node, ast.For | ast.comprehension)]
    own = [ast.unparse(node.target) for node in loops if _SHORT_RANGE.fullmatch(ast.unparse(node.iter))]
    return {name for name in own if own.count(name) == names.count(name)}
