"""The licence of every pinned package, from its metadata: `python -m tests.supply.licences` lists them."""

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = (ROOT / "requirements.txt", ROOT / "requirements-dev.txt")
NOT_INSTALLED = "–"
_PIN = re.compile(r"^([a-zA-Z0-9][\w.-]*)(?:\[[^\]]*\])?==", re.MULTILINE)


def licence(name: str) -> str:
    """Return the licence that a package states: its expression, its classifiers, or the first line of its text."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return NOT_INSTALLED
    classifiers = about.get_all("Classifier") or []
    classes = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License :: OSI Approved :: ")]
    first_line = (about.get("License") or "").strip().partition("\n")[0][:60]
    return about.get("License-Expression") or ", ".join(classes) or first_line or "not stated"


def licences() -> dict[str, str]:
    names = {name.lower().replace("_", "-") for path in PINS for name in _PIN.findall(path.read_text(encoding="utf-8"))}
    return {name: licence(name) for name in sorted(names)}


if __name__ == "__main__":
    for package, words in licences().items():
        print(f"{package}: {words}")
