"""The licence of every installed package, from its metadata: `python -m tests.supply.licences` writes the list."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dependencies.md"
PINS = (ROOT / "requirements.txt", ROOT / "requirements-dev.txt")
HEAD = "## Everything that is installed\n"
ABOUT = """
Packages of requirements.txt, and of requirements-dev.txt (marked †), by the licence in their metadata.
`python -m tests.supply.licences` writes this list; – marks packages for other systems.

| licence | packages |
|---|---|
"""
LONGEST = 60
_PIN = re.compile(r"^([a-zA-Z0-9][\w.-]*)(?:\[[^\]]*\])?==", re.MULTILINE)


def pinned(path: Path) -> set[str]:
    """Names of every package that a file pins."""
    return {name.lower().replace("_", "-") for name in _PIN.findall(path.read_text(encoding="utf-8"))}


def licence(name: str) -> str:
    """Return the licence that a package states: its expression, its classifiers, or the first line of its text."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return "–"
    return found.metadata.get("License-Expression") or _classified(found) or _first_line(found) or "not stated"


def _classified(found: Distribution) -> str:
    stated = found.metadata.get_all("Classifier") or []
    return ", ".join(line.rpartition(" :: ")[2] for line in stated if line.startswith("License :: OSI Approved :: "))


def _first_line(found: Distribution) -> str:
    return (found.metadata.get("License") or "").strip().partition("\n")[0][:LONGEST]


def section(known: dict[str, str]) -> str:
    """The list in markdown. known: what was said of packages that are not installed here."""
    app, dev = (pinned(path) for path in PINS)
    said = {name: licence(name) for name in sorted(app | dev)}
    by_licence: dict[str, list[str]] = {}
    for name, words in said.items():
        mark = "" if name in app else "†"
        by_licence.setdefault(words if words != "–" else known.get(name, words), []).append(name + mark)
    return HEAD + ABOUT + "".join(f"| {words} | {', '.join(by_licence[words])} |\n" for words in sorted(by_licence))


def listed(page: str) -> dict[str, str]:
    """Return the licence by package, from the list on the page."""
    _, _, after = page.partition(HEAD)
    rows = re.findall(r"^\| (.+) \| (.+) \|$", after, re.MULTILINE)[1:]
    return {name.rstrip("†"): words for words, names in rows for name in names.split(", ")}


def write() -> None:
    """Replaces the list, which ends the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, _ = page.partition(HEAD)
    PAGE.write_text(before.rstrip("\n") + "\n\n" + section(listed(page)), encoding="utf-8")


if __name__ == "__main__":
    write()
