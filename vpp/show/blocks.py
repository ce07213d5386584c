"""Blocks of a finding: what it says, without markup. vpp/show/markup.py draws them.

A finding is a function of vpp/findings that returns a sequence of blocks. All strings are plain text; a renderer
escapes them. Figures, and rows with their votes, are drawings: they render themselves.
"""

from abc import ABC, abstractmethod
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
    """True if keywords and literals of Python are marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Blocks behind a title. On a card, an open fold stays open over a refresh by its name."""

    title: str
    blocks: tuple[object, ...]
    name: str = ""
    mark: Mark = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A hypothesis with three numbers at most: one card for all copies, and for other texts with the same answers."""

    key: int
    """Identifies it in its deck: the number that it has in the run, or its place in a report."""
    name: str = ""
    """`hypothesis 27`; empty in a report."""
    id: str = ""
    words: str
    """Without the seed sentence, which all share."""
    whole: str = ""
    """For the clipboard, with the seed sentence; empty if there is nothing to copy."""
    measure: Literal["weight", "log-likelihood", ""] = "weight"
    """Name of the value; empty for a count of chains or copies."""
    value: str = ""
    bar: float = 0.0
    """Length of its bar, from 0 to 1."""
    copies: int = 1
    facts: tuple[str, ...] = ()
    title: str = ""
    marks: tuple[tuple[Mark, str], ...] = ()
    folds: tuple[Fold, ...] = ()
    before: str = ""
    """The text that it was rewritten from in this step."""
    origins: tuple[int, ...] = ()
    """Keys of the cards from which it came in this phase."""


@dataclass(frozen=True, slots=True)
class Deck:
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    when: str
    after: str
    before: str = ""
    """Empty for a text that was not rewritten from another."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a text, oldest first: removed words are struck, added ones underlined."""

    items: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A text on one line, and why; it opens to the whole text and to blocks."""

    key: int
    mark: Mark
    status: str
    words: str
    reason: str
    details: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    items: tuple[Line, ...]


class Drawing(ABC):
    """A block that renders itself; in Markdown it is a table, or there is none of it."""

    @abstractmethod
    def html(self) -> str: ...

    def table(self) -> Table:
        raise TypeError(f"no Markdown for {type(self).__name__}")


Block = Say | Heading | Note | Alert | Metrics | Table | Quote | Code | Fold
