"""No regular expression of the product takes long on any text: each is tried on texts made to hold it up."""

import ast
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "pages").rglob("*.py"), *(ROOT / "vpp").rglob("*.py")])
WAYS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")
LENGTH = 5_000
"""Characters; the square of it shows."""
SINGLE = " \t\nxX0.,-_*/\\\"'`<>()[]{}|:=%$#é\u00a0"
ATOMS = (*SINGLE, "a ", " \n", "0,", "0.", "a,", "x=", "- ", "e0", "<x", "](", "''", "\n\n", "a:")
LIMIT_S = 0.05
"""Of the processor's time; a linear one takes a hundredth of it."""
BOUNDED = {
    r"[+\-−]?[\d.,]*\d[\d.,]*\s*[^\d\s].{0,60}": "a value of an answer, cut at 2,100 characters",
    r"\S*\*{3}\S*|\bsk-\S+": "a server's words, cut at 4,000 characters",
    r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))([,\n])': "data.csv as the app wrote it, every line of which has its end",
}
"""Patterns that take the square of the length, each with why no text holds them up."""
PASSED_ON = {r"[+-]?\d+,\d+": "fullmatch", r"\d{3,}(-\d{3,})+": "fullmatch"}
"""Uses of patterns that get another name first."""


@dataclass(frozen=True)
class Use:
    """A regular expression and how it is used."""

    place: str
    pattern: str
    flags: int
    way: str


def uses() -> Iterator[Use]:
    """Yield every regular expression in the sources."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {target.id: node.value for node in ast.walk(tree) for target in _targets(node)}
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            way = _way(node)
            pattern = _text(node.args[0], named) if way else None
            if pattern is not None:
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                ways = {PASSED_ON.get(pattern, "")} - {""} or _ways_of(node, tree)
                for used in ways if way == "compile" else {way}:
                    yield Use(place, pattern, _flags(node), used)


def _targets(node: ast.AST) -> list[Any]:
    return [each for each in node.targets if isinstance(each, ast.Name)] if isinstance(node, ast.Assign) else []


def _way(node: ast.Call) -> str:
    """Name of the called function of `re`, such as `compile`; empty for other calls."""
    match node.func:
        case ast.Attribute(attr=way, value=ast.Name(id="re")) if way in (*WAYS, "compile"):
            return way
    return ""


def _text(node: ast.expr, named: dict[str, ast.expr]) -> str | None:
    """Text of the pattern, joined from named parts; a part known only at run time counts as `word`."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value, named) or "word" for value in values)
        case ast.FormattedValue(value=value):
            return _text(value, named)
        case ast.Name(id=name) if name in named:
            return _text(named[name], named)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_text(left, named) or "word") + (_text(right, named) or "word")
    return None


def _flags(node: ast.Call) -> int:
    stated = [*node.args[1:], *(word.value for word in node.keywords if word.arg == "flags")]
    names = {name.attr for each in stated for name in ast.walk(each) if isinstance(name, ast.Attribute)}
    return sum(int(getattr(re, name)) for name in names if name.isupper() and hasattr(re, name))


def _ways_of(compiled: ast.Call, tree: ast.AST) -> set[str]:
    """Methods called on a compiled pattern's name in its file, else on any other name; `search` without any."""
    names = {target.id for node in ast.walk(tree) for target in _targets(node) if node.value is compiled}  # type: ignore[attr-defined]
    used = [
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in WAYS
    ]
    by_name = {way for owner, way in used if owner in names}
    return by_name or {way for owner, way in used if owner != "re"} or {"search"}


def texts() -> list[str]:
    """Texts that repeat one piece, with and without another at the end."""
    return [atom * (LENGTH // len(atom)) + end for atom in ATOMS for end in ("", "!")]


def slow(use: Use, tried: list[str]) -> str:
    """Shortened first text that takes too long three times, since a machine may be slow once; empty without any."""
    way: Any = getattr(re.compile(use.pattern, use.flags), use.way)

    def seconds(text: str) -> float:
        started = time.process_time()
        found = way("", text) if use.way.startswith("sub") else way(text)
        deque(found if use.way == "finditer" else (), maxlen=0)
        return time.process_time() - started

    for text in tried:
        with suppress(TimeoutError):
            if any(seconds(text) <= LIMIT_S for _ in range(3)):
                continue
        return repr(f"{text[:4]}…{text[-2:]}")
    return ""


@pytest.fixture
def limit() -> Iterator[None]:
    """Stop a match that never ends: Python's matcher looks for signals."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 60)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def test_every_regular_expression_is_fast_on_any_text(limit: None) -> None:
    found, tried = list(uses()), texts()
    assert len(found) > 80
    held_up = {f"{use.place} {use.way} {use.pattern}": slow(use, tried) for use in found if use.pattern not in BOUNDED}
    assert {use: text for use, text in held_up.items() if text} == {}


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a+)+b", r"x*x*y", r"(\w+\s?)*!!"])
def test_a_slow_one_is_found(pattern: str, limit: None) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0.5)
    assert slow(Use("planted", pattern, 0, "search"), [atom * LENGTH + "?" for atom in " axw"])
