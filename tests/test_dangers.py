"""What the product's code never does, whoever asks: no pickle is loaded, no text is run, no shell is asked."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "vpp").rglob("*.py")])
LOADERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "lxml"}
RUNNERS = {"eval", "exec", "compile", "__import__"}
METHODS = {
    "read_pickle",
    "to_pickle",
    "read_hdf",
    "system",
    "popen",
    "mktemp",
    "create_subprocess_shell",
    "load_module",
}
ONLY_IN = {
    "diskcache": ("vpp/llm/cache.py",),
    "runpy": ("pages/parts/frame.py", "vpp/bench/dies_with_parent.py"),
    "xml": ("vpp/data/binary.py",),
}
"""Modules that these files alone may import, since they know how to keep them harmless."""


def flaws(source: str, place: str) -> Iterator[str]:
    """What a file does that none may do."""
    for node in ast.walk(ast.parse(source)):
        for module in _imported(node):
            if module in LOADERS or place not in ONLY_IN.get(module, (place,)):
                yield f"{place}:{node.lineno} imports {module}"  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and (name := _flawed_call(node)):
            yield f"{place}:{node.lineno} calls {name}"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").partition(".")[0]]
    return []


def _flawed_call(node: ast.Call) -> str:
    """Its name; empty where it is in order. `load` is in order as json's; numpy's reads pickles."""
    keywords = {word.arg for word in node.keywords if not _is(word.value, False)}
    if keywords & {"shell", "allow_pickle"}:
        return f"something with {keywords & {'shell', 'allow_pickle'}}"
    match node.func:
        case ast.Name(id=name) if name in RUNNERS:
            return name
        case ast.Attribute(attr=name) if name in METHODS:
            return name
        case ast.Attribute(attr="load", value=ast.Name(id=owner)) if owner in ("np", "numpy", "torch", "joblib"):
            return f"{owner}.load"
    return ""


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def test_no_source_loads_a_pickle_or_runs_a_text() -> None:
    found = [flaw for path in SOURCES for flaw in flaws(path.read_text("utf-8"), str(path.relative_to(ROOT)))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import xml.etree.ElementTree",
        "eval(text)",
        "np.load(path)",
        "pandas.read_pickle(path)",
        "numpy.fromfile(x, allow_pickle=True)",
        "subprocess.run(words, shell=True)",
        "os.system(words)",
        "import diskcache",
    ],
)
def test_the_search_finds_what_is_planted(source: str) -> None:
    assert list(flaws(source, "vpp/planted.py"))
