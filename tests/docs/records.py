"""The lists of records in docs/files.md, from the code's docstrings: `python -m tests.docs.records` writes them."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import vpp.events
import vpp.problem
import vpp.runs.journal

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
BEGIN, END = "<!-- records begin -->", "<!-- records end -->"
RECORDS: dict[ModuleType, tuple[str, ...]] = {
    vpp.runs.journal: ("Record", "Answer"),
    vpp.problem: ("Prediction", "Translation", "TextAnswer"),
    vpp.events: (),
}
"""Records by module; all of a module without a list."""


def lists() -> str:
    """Return a heading, a sentence and a list of fields for each record."""
    return "\n\n".join(
        _record(node)
        for module, names in RECORDS.items()
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and (node.name in names or not (names or node.name.startswith("_")))
    )


def written() -> str:
    """Return the lists on the page."""
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def write() -> None:
    """Put the lists of the code on the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{lists()}\n\n{END}{after}", encoding="utf-8")


def _record(node: ast.ClassDef) -> str:
    fields = (f"- `{name}`{choices}: {doc}".removesuffix(": ") for name, choices, doc in _fields(node))
    return "\n".join([f"### `{_tag(node) or node.name}`", "", _flat(ast.get_docstring(node) or ""), "", *fields])


def _tag(node: ast.ClassDef) -> str | None:
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == "type" and part.value is not None:
            return str(ast.literal_eval(part.value))
    return None


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Yield name, choices in brackets, and meaning."""
    for part, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(part, ast.AnnAssign) and (name := ast.unparse(part.target)) != "type":
            choices = re.findall(r"'([^']+)'", ast.unparse(part.annotation))
            yield name, f" ({', '.join(choices)})" if len(choices) > 1 else "", _flat(_doc(following))


def _doc(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return ""


def _flat(words: str) -> str:
    return " ".join(words.split())


if __name__ == "__main__":
    write()
