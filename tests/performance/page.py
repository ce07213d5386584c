"""docs/performance.md: what is measured goes between `<!-- name -->` and the next `<!-- end -->`."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
END = "<!-- end -->"


def put(name: str, content: str, page: Path = PAGE) -> None:
    """Replaces what a section holds. Raises ValueError where the page has no such section."""
    mark = f"<!-- {name} -->"
    before, begin, rest = page.read_text(encoding="utf-8").partition(mark)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for {name}: write {mark} and {END} where it is to stand")
    page.write_text(f"{before}{mark}\n{content}\n{END}{after}", encoding="utf-8")
