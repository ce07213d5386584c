"""Glossary: each term of glossary.toml with its meaning in a sentence or two, and its place in the paper.

Pages show the meaning next to a label; the report lists the terms that a run uses.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vpp.data.dataset import Task
from vpp.settings import Config
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


def terms(config: Config, task: Task) -> Iterator[str]:
    yield from ("hypothesis", "particle")
    if config.size > 1:
        yield "idea"
    if config.is_weighted:
        yield from ("weight", "ESS")
        yield from ("φ", "log evidence") if config.is_telescoping else ("β",)
        yield from () if config.is_weighing else ("resampling", "explanation")
    yield "log-likelihood"
    if config.is_filtered:
        yield from ("log α, log u", "acceptance")
    yield "abstention"
    if config.size == 1:
        return
    if task == "classification":
        yield from ("uncertain point", "entropy of the vote", "area under the risk curve")
        yield from ("calibration error", "Brier score", "log score", "oracle")
    else:
        yield from ("spread", "90 % range", "area under the risk curve", "rank correlation", "oracle")
