"""Pages of docs/ that must say what the code says."""

import re
from pathlib import Path

from tests.docs import records
from vpp.cli.parser import build_parser

ROOT = Path(__file__).parents[2]


def test_the_page_of_files_has_every_record_and_field_of_the_code() -> None:
    assert records.written() == records.lists(), "run: python -m tests.docs.records"


def test_every_record_field_has_a_meaning() -> None:
    bare = set(re.findall(r"^- `(\w+)`$", records.lists(), re.MULTILINE))
    assert bare <= SPEAK_FOR_THEMSELVES


SPEAK_FOR_THEMSELVES = {"step", "particle", "row", "prediction", "explanation", "question", "attempts",
                        "prompt_tokens", "completion_tokens"}  # fmt: skip


def test_every_dependency_is_pinned_and_earns_a_line() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name in (".ci/pins/app.in", ".ci/pins/dev.in", ".ci/pins/tools.in"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if line.startswith(("-r", "-c", "#")):
                continue
            package, _, version = line.partition("==")
            assert version, f"{name}: {line} is not pinned"
            assert f"| {package.partition('[')[0]} |" in page, f"docs/dependencies.md lacks {package}"


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    actions = build_parser()._subparsers._group_actions  # type: ignore[union-attr]
    for command in actions[0].choices:  # type: ignore[union-attr]
        assert f"`{command}`" in readme, f"README.md does not name {command}"


def test_the_version_is_one() -> None:
    import vpp

    assert f"## [{vpp.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {vpp.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_files_that_the_readme_links_to_exist() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    links = [(page, to) for page in pages for to in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text("utf-8"))]
    assert len(links) > len(pages)
    assert [f"{page.name} links to {to}" for page, to in links if not (page.parent / to).exists()] == []
