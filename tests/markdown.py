"""Tables in markdown, and the places of the documentation that measurements are written into."""

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
END = "<!-- end -->"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    return [_row(head), rule, *map(_row, rows)]


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def put(page: Path, name: str, lines: Sequence[str]) -> None:
    """Replace what stands between `<!-- name -->` and the next `<!-- end -->`. Raises ValueError without the marks."""
    mark = f"<!-- {name} -->"
    before, begin, rest = page.read_text(encoding="utf-8").partition(mark)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for {name}: write {mark} and {END} where it belongs")
    page.write_text("\n".join([f"{before}{mark}", *lines, f"{END}{after}"]), encoding="utf-8")
