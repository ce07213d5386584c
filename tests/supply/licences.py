"""The licence of every pinned package, from its metadata: `python -m tests.supply.licences` lists them."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = (ROOT / "requirements.txt", ROOT / "requirements-dev.txt")
LONGEST = 60
NOT_INSTALLED = "–"
_PIN = re.compile(r"^([a-zA-Z0-9][\w.-]*)(?:\[[^\]]*\])?==", re.MULTILINE)


def pinned(path: Path) -> set[str]:
    """Names of every package that a file pins."""
    return {name.lower().replace("_", "-") for name in _PIN.findall(path.read_text(encoding="utf-8"))}


def licence(name: str) -> str:
    """Return the licence that a package states: its expression, its classifiers, or the first line of its text."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return NOT_INSTALLED
    return found.metadata.get("License-Expression") or _classified(found) or _first_line(found) or "not stated"


def _classified(found: Distribution) -> str:
    stated = found.metadata.get_all("Classifier") or []
    return ", ".join(line.rpartition(" :: ")[2] for line in stated if line.startswith("License :: OSI Approved :: "))


def _first_line(found: Distribution) -> str:
    return (found.metadata.get("License") or "").strip().partition("\n")[0][:LONGEST]


def licences() -> dict[str, str]:
    """Return the licence by package."""
    return {name: licence(name) for name in sorted(set.union(*map(pinned, PINS)))}


if __name__ == "__main__":
    for package, words in licences().items():
        print(f"{package}: {words}")
