"""README and docs: pictures, places, commands, and what the app calls things."""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.test_pages import ROOT
from tests.pictures.prints import PRINTS
from vpp.cli.parser import build_parser

PICTURES = ROOT / "docs" / "pictures"
PAGES = {page.stem: page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
LABELLED = ("README", "guide")
"""Pages whose bold words are the app's labels."""
MOST_BYTES = 2_500_000
"""Of all pictures: everyone who takes the code takes them too."""
SAYS = ("pages/**/*.py", "vpp/**/*.py", "assets/*.js")


def read(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


def pictures(page: str) -> list[tuple[str, Path]]:
    """(Words that stand for it, its file)."""
    return [(alt, PAGES[page].parent / src) for alt, src in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", read(page))]


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_is_there_and_has_words_for_those_who_do_not_see_it(page: str) -> None:
    assert [path for _, path in pictures(page) if not path.exists()] == []
    assert [path for alt, path in pictures(page) if len(alt.split()) < 5] == []


def test_the_pictures_are_those_that_are_made_and_shown() -> None:
    shown = {path.name for page in PAGES for _, path in pictures(page)}
    there = {path.name for path in PICTURES.iterdir()}
    assert there == shown == {"calibration.svg", *(f"{wanted.name}.png" for wanted in PRINTS)}


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_a_section_leads_to_one(page: str) -> None:
    for target, place in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", read(page)):
        other = (PAGES[page].parent / target if target else PAGES[page]).read_text(encoding="utf-8")
        assert place in {slug(title) for title in re.findall(r"^#+ (.+)$", other, re.M)}, f"{target}#{place}"


def slug(title: str) -> str:
    """Return a heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_a_command_is_one_that_the_program_takes(page: str) -> None:
    commands = re.findall(r"^    python -m vpp (.+)$", read(page).replace("\\\n", " "), re.M)
    for command in commands:
        words = shlex.split(command, comments=True)
        if "--help" not in words:
            build_parser().parse_args(words)


@pytest.mark.parametrize("page", PAGES)
def test_a_make_target_exists(page: str) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"(?:`|^    )make ([\w-]+)", read(page), re.M)) <= set(targets)


@pytest.mark.parametrize("page", LABELLED)
def test_what_the_app_calls_a_thing_is_what_it_calls_it(page: str) -> None:
    said = " ".join(path.read_text(encoding="utf-8") for pattern in SAYS for path in ROOT.glob(pattern))
    bold = " → ".join(re.findall(r"\*\*([^*]+)\*\*", read(page))).replace("\n", " ")
    assert [words for words in bold.split(" → ") if words not in said.replace("\u2002", " ")] == []
