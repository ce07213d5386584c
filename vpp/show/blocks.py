"""Blocks of a finding: what it says, without markup. vpp/show/markup.py draws them.

A finding is a function of vpp/findings that returns a sequence of blocks. All strings are plain text; a renderer
escapes them. A kind of block that only one page needs has its own module, which registers its renderers there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["acc", "rej", "new", "copy", "gone", "uns", "abs", "same", "live", "done", ""]
"""Shape of a badge; empty for none."""


@dataclass(frozen=True, slots=True)
class Say:
    words: str


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    caption: str = ""
    place: str = ""
    """Id for links to the section."""


@dataclass(frozen=True, slots=True)
class Note:
    words: str


@dataclass(frozen=True, slots=True)
class Alert:
    head: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    name: str
    value: str
    scale: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Four numbers at most stand beside one another on a page."""

    items: tuple[Metric, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    """Indices of the right-aligned columns."""
    name: str = ""
    """Needed if another table of the page has the same heads."""
    fold: str = ""
    """Words of the fold that holds it; empty if it is open."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A hypothesis, or another text of a model or a person, with facts on it."""

    words: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A text as it is: a program, a prompt, an answer."""

    words: str
    is_program: bool = False
    """True if keywords, literals and comments of Python are marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Blocks behind a title. On a card, an open fold stays open over a refresh by its name."""

    title: str
    blocks: tuple[object, ...]
    name: str = ""
    mark: Mark = ""


Block = Say | Heading | Note | Alert | Metrics | Table | Quote | Code | Fold
