"""Installed packages are pinned with hashes, and their licences allow what we do with them."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.supply.licences import NOT_INSTALLED, PINS, ROOT, licences

SOURCES = ROOT / ".ci" / "pins"
ALLOWED = r"(3-Clause |ISC|PSF|MIT|MPL-2.0|Apache|BSD|Mozilla Public|Python Software Foundation)"
FOR_OTHER_SYSTEMS = {"appnope", "colorama", "httpx2-jsfetch"}
FILES = (*PINS, SOURCES / "tools.txt", ROOT / "requirements-ray.txt", ROOT / "requirements-local.txt")


def straight(path: Path) -> dict[str, str]:
    """Version by package, of a list that people write."""
    lines = (line for line in path.read_text(encoding="utf-8").splitlines() if "==" in line)
    return {re.sub(r"\[.*", "", line.partition("==")[0]): line.partition("==")[2] for line in lines}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_package_is_pinned_to_files_by_their_hashes(path: Path) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", path.read_text(encoding="utf-8"))[1:]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9.\[\]-]+==\S+", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]
    assert "://" not in path.read_text(encoding="utf-8"), "an address is no place to install from"


@pytest.mark.parametrize(
    ("source", "path"), list(zip(("app.in", "dev.in", "tools.in", "ray.in", "local.in"), FILES, strict=True))
)
def test_what_people_pin_is_what_is_installed(source: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wanted = straight(SOURCES / source)
    assert wanted
    for package, version in wanted.items():
        assert re.search(rf"^{re.escape(package)}(\[\w+\])?=={re.escape(version)} ", text, re.MULTILINE), "make pins"


def test_tests_run_on_the_versions_of_the_app_whose_every_range_is_pinned_as_is_the_local_extra() -> None:
    app, dev = (set(re.findall(r"^\S+==\S+", path.read_text(encoding="utf-8"), re.MULTILINE)) for path in PINS)
    assert {pin.replace("[aiohttp]", "") for pin in app} <= {pin.replace("[aiohttp]", "") for pin in dev}

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", each).group() for each in project["dependencies"]}  # type: ignore[union-attr]
    assert names == set(straight(SOURCES / "app.in"))
    assert project["optional-dependencies"]["local"] == [
        f"{name}=={version}" for name, version in straight(SOURCES / "local.in").items()
    ]


def test_every_installed_package_has_a_permissive_licence_or_the_mpl() -> None:
    known = licences()
    other = {name: words for name, words in known.items() if not re.match(ALLOWED, words)}
    assert {name for name, words in other.items() if words == NOT_INSTALLED} <= FOR_OTHER_SYSTEMS
    assert {name: words for name, words in other.items() if words != NOT_INSTALLED} == {}
