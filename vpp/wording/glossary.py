"""Glossary: each term of glossary.toml with its meaning in a sentence or two, and its place in the paper."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vpp.wording.words import capitalised


@dataclass(frozen=True, slots=True)
class Entry:
    """A term."""

    name: str
    meaning: str
    paper: str = ""
    """Section and equation of the paper; empty if the paper does not use the term."""
    also: Sequence[str] = ()
    """Labels and headings with the same meaning, beside the name itself."""

    @property
    def id(self) -> str:
        return "term-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")

    @property
    def labels(self) -> set[str]:
        return {self.name, capitalised(self.name), *self.also}


GLOSSARY = tuple(
    Entry(name, **fields)
    for name, fields in tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8")).items()
)
"""Ordered from sampling to prediction."""
BY_LABEL = {label: entry for entry in GLOSSARY for label in entry.labels}
