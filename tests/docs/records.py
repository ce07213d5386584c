"""Parts of docs from the code, which `python -m tests.docs.records` writes: a run's records, and the paper's claims."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import vpp.events
import vpp.problem
import vpp.runs.directory
from vpp.bench.tables import claims, inconsistencies
from vpp.show.markup import markdown

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- records begin -->", "<!-- records end -->"
RECORDS: dict[ModuleType, tuple[str, ...]] = {
    vpp.runs.directory: ("Record", "Answer"),
    vpp.problem: ("Prediction", "Translation", "TextAnswer"),
    vpp.events: (),
}
"""Records by module; all frozen ones of a module without a list."""


def lists() -> str:
    """Return a heading, a sentence and a list of fields for each record."""
    return "\n\n".join(
        _record(node)
        for module, names in RECORDS.items()
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and (node.name in names or (not names and _is_frozen(node)))
    )


def _is_frozen(node: ast.ClassDef) -> bool:
    return any("frozen=True" in ast.unparse(each) for each in node.decorator_list)


def tables() -> str:
    return markdown([*claims(), *inconsistencies()])


PARTS = {"files": lists, "claims": tables}
"""The function that writes the generated part of a page, by the page's name."""


def page_part(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def _record(node: ast.ClassDef) -> str:
    head, fields = node.name, []
    for part, following in zip(node.body, [*node.body[1:], None], strict=True):
        match part, following:
            case ast.AnnAssign(target=ast.Name(id="type"), value=ast.Constant(value=tag)), _:
                head = tag
            case ast.AnnAssign(), ast.Expr(value=ast.Constant(value=doc)):
                fields.append(f"- `{_name_of(part)}: {_flat(doc)}")
            case ast.AnnAssign(), _:
                fields.append(f"- `{_name_of(part)}")
    return "\n".join([f"### `{head}`", "", _flat(ast.get_docstring(node) or ""), "", *fields])


def _name_of(field: ast.AnnAssign) -> str:
    """Return a field's name, and its choices in brackets."""
    choices = re.findall(r"'([^']+)'", ast.unparse(field.annotation))
    return f"{ast.unparse(field.target)}`" + (f" ({', '.join(choices)})" if len(choices) > 1 else "")


def _flat(words: str) -> str:
    return " ".join(words.split())


if __name__ == "__main__":
    for page, part in PARTS.items():
        path = DOCS / f"{page}.md"
        path.write_text(path.read_text(encoding="utf-8").replace(page_part(page), part()), encoding="utf-8")
