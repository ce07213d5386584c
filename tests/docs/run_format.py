"""The tables of docs/run-format.md, read from the code's docstrings.

`python -m tests.docs.run_format` writes them.
"""

import ast
import inspect
from pathlib import Path

import vpp.events
import vpp.runs.journal

PAGE = Path(__file__).parents[2] / "docs" / "run-format.md"
BEGIN, END = "<!-- tables begin -->", "<!-- tables end -->"
MODULES = (vpp.runs.journal, vpp.events)
NOT_RECORDS = {"Journal", "JournalReader", "LineReader", "AnswerLog", "AnswerReader"}


def tables() -> str:
    """Return a heading, a sentence and a table for each record."""
    parts = []
    for module in MODULES:
        tree = ast.parse(inspect.getsource(module))
        parts += [
            _record(node)
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name not in NOT_RECORDS and not node.name.startswith("_")
        ]
    return "\n\n".join(parts)


def written() -> str:
    """Return the tables on the page."""
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def write() -> None:
    """Put the tables of the code on the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}", encoding="utf-8")


def _record(node: ast.ClassDef) -> str:
    tag = _tag(node)
    title = f"### `{tag}`" if tag else f"### {node.name}"
    rows = [f"| `{field}` | {doc} |" for field, doc in _fields(node)]
    return "\n".join([title, "", _flat(ast.get_docstring(node) or ""), "", "| field | meaning |", "|---|---|", *rows])


def _tag(node: ast.ClassDef) -> str | None:
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == "type" and part.value is not None:
            return str(ast.literal_eval(part.value))
    return None


def _fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    fields = []
    for part, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(part, ast.AnnAssign):
            continue
        name = ast.unparse(part.target)
        if name != "type":
            fields.append((f"{name}: {ast.unparse(part.annotation)}".replace("|", "\\|"), _flat(_doc(following))))
    return fields


def _doc(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return ""


def _flat(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")


if __name__ == "__main__":
    write()
