"""No regular expression of the product takes long on any text: each is tried on texts made to hold it up."""

import ast
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "pages" / "parts").rglob("*.py"), *(ROOT / "vpp").rglob("*.py")])
WAYS = "search|match|fullmatch|findall|finditer|split|subn?"
LENGTH = 3_000
"""Characters; the square of it shows."""
SINGLE = " \t\nxX0.,-_*/\\\"'`<>()[]{}|:=%$#é\u00a0"
ATOMS = (*SINGLE, "a ", " \n", "0,", "0.", "a,", "x=", "- ", "e0", "<x", "](", "''", "\n\n", "a:")
TEXTS = [atom * (LENGTH // len(atom)) + end for atom in ATOMS for end in ("", "!")]
"""Texts that repeat one piece, with and without another at the end."""
LIMIT_S = 0.02
"""Of the processor's time; a linear one takes a hundredth of it."""
BOUNDED = {
    r"[+\-−]?[\d.,]*\d[\d.,]*\s*[^\d\s].{0,60}": "a value of an answer, cut at 2,100 characters",
    r"\S*\*{3}\S*|\bsk-\S+": "a server's words, cut at 4,000 characters",
    r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))([,\n])': "data.csv as the app wrote it, every line of which has its end",
}
"""Patterns that take the square of the length, each with why no text holds them up."""
PASSED_ON = {r"[+-]?\d+,\d+": "fullmatch", r"\d{3,}(-\d{3,})+": "fullmatch"}
"""Uses of patterns that get another name first."""


def uses() -> dict[tuple[re.Pattern[str], str], str]:
    """Return the first place of every regular expression and method in the sources. Any scan counts as `finditer`."""
    found: dict[tuple[re.Pattern[str], str], str] = {}
    for path in SOURCES:
        text, place = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        if "re." not in text:
            continue
        names, nodes = vars(import_module(".".join(place.with_suffix("").parts))), list(ast.walk(ast.parse(text)))
        owners = {id(node.value): ast.unparse(node.targets[0]) for node in nodes if isinstance(node, ast.Assign)}
        for node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(attr=way, value=ast.Name(id="re")), args=[first, *rest]):
                    flags = [*(rest if way == "compile" else []), *(k.value for k in node.keywords if k.arg == "flags")]
                    if way == "compile" or re.fullmatch(WAYS, way):
                        with suppress(AttributeError, NameError):  # one of another, or of names at run time
                            compiled = re.compile(*(eval(ast.unparse(each), names) for each in (first, *flags)))
                            for used in ways(compiled, owners.get(id(node)), text) if way == "compile" else {way}:
                                method = used if "match" in used else "finditer"
                                found.setdefault((compiled, method), f"{place}:{node.lineno}")
    return found


def ways(compiled: re.Pattern[str], name: str | None, text: str) -> set[str]:
    """Return the methods called on a compiled pattern's name in its file, else on any other name; else `search`."""
    if compiled.pattern in PASSED_ON:
        return {PASSED_ON[compiled.pattern]}
    by_name = re.findall(rf"\b{name}\.({WAYS})\b", text) if name else []
    return set(by_name or re.findall(rf"\b(?!re\.)\w+\.({WAYS})\b", text)) or {"search"}


def slow(pattern: re.Pattern[str], way: str, texts: list[str]) -> str:
    """Shortened first text that takes too long three times, since a machine may be slow once; empty without any."""
    call: Any = getattr(pattern, way)
    is_text = isinstance(pattern.pattern, str)

    def seconds(text: str) -> float:
        started = time.process_time()
        found = call(text if is_text else text.encode())
        deque(found if way == "finditer" else (), maxlen=0)
        return time.process_time() - started

    for text in texts:
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
    found = uses()
    assert len(found) > 80
    held_up = {
        f"{place} {way} {pattern.pattern!r}": text
        for (pattern, way), place in found.items()
        if pattern.pattern not in BOUNDED and (text := slow(pattern, way, TEXTS))
    }
    assert held_up == {}


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a+)+b", r"x*x*y", r"(\w+\s?)*!!"])
def test_a_slow_one_is_found(pattern: str, limit: None) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0.1)
    found = slow(re.compile(pattern), "finditer", [atom * LENGTH + "?" for atom in " axw"])
    signal.setitimer(signal.ITIMER_PROF, 0)  # else it may end while pytest writes its report
    assert found
