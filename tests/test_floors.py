"""The floors of docs/architecture.md: a module imports only from lower floors or its own."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
FROM_THE_LOWEST = (
    *("errors posterior randomness runtime data.numbers", "answers", "data environment events settings"),
    *("problem programs", "inference llm"),
    *("runs", "show verification", "findings", "trials", "reporting", "bench", "cli", "library", "__main__ __init__"),
)
FLOORS = {room: floor for floor, rooms in enumerate(FROM_THE_LOWEST) for room in rooms.split()}
STRANGERS = {("inference", "llm"), ("llm", "inference")}
NO_IO = ("posterior", "answers", "data", "events", "problem", "errors", "randomness")


def room_of(name: str) -> str:
    """Room of a dotted name: its package of vpp, or a module with a floor of its own."""
    _, *parts = name.split(".")
    return own if (own := ".".join(parts[:2])) in FLOORS else parts[0]


def modules() -> Iterator[tuple[str, str, Path]]:
    """(Room, dotted name, path) of every module of vpp but the demo model."""
    for path in sorted((ROOT / "vpp").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if room_of(name) != "demo":
            yield room_of(name), name, path


@cache
def imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def rooms_imported(path: Path) -> set[str]:
    return {room_of(name) for name in imports(path) if name.startswith("vpp.") and room_of(name) in FLOORS}


def test_every_room_has_a_floor() -> None:
    assert {room for room, _, _ in modules()} == set(FLOORS)


def test_imports_point_downward() -> None:
    climbing = [
        f"{name} imports {other}"
        for room, name, path in modules()
        for other in rooms_imported(path)
        if other != room and FLOORS[other] >= FLOORS[room] and room != "__init__"
    ]
    assert climbing == []


def test_inference_and_llm_do_not_know_each_other_and_only_the_client_knows_openai_nobody_streamlit() -> None:
    met = [(room, other) for room, _, path in modules() for other in rooms_imported(path) if (room, other) in STRANGERS]
    assert met == []
    outside = {(other.split(".")[0], name) for _, name, path in modules() for other in imports(path)}
    assert {(package, name) for package, name in outside if package in ("openai", "streamlit")} == {
        ("openai", "vpp.llm.client")
    }


def test_the_demo_model_stands_apart() -> None:
    inside = list((ROOT / "vpp" / "demo").rglob("*.py"))
    assert inside
    for path in inside:
        assert [n for n in imports(path) if n.startswith("vpp.") and not n.startswith("vpp.demo")] == []
    knowing = {name for _, name, path in modules() for other in imports(path) if other.startswith("vpp.demo")}
    assert knowing == {"vpp.runs.asking", "vpp.trials"}  # its version; its reader of plain rules


def test_the_lowest_floors_do_no_input_or_output() -> None:
    assert {room for room, _, _ in modules()} >= set(NO_IO)
    for room, name, path in modules():
        if room in NO_IO:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert calls.isdisjoint({"open", "print", "input"}), f"{name} does I/O"
            assert not {n.split(".")[0] for n in imports(path)} & {"os", "pathlib", "socket", "subprocess"}, name


def test_reading_a_run_imports_no_model_access() -> None:
    code = "import sys, vpp.runs.directory; print(*sys.modules)"
    words = [sys.executable, "-c", code]
    loaded = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not {"vpp.llm.cache", "vpp.llm.endpoint", "vpp.llm.client", "vpp.runs.asking", "openai"} & set(loaded)
