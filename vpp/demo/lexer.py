"""Tokens of a rule's text, a cursor over them, and the words that names are quoted for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from vpp.demo.terms import Term

T = TypeVar("T")

LONGEST_TEXT = 20_000
"""Characters of a rule that are read; the rest is ignored."""

_MOST_STEPS = 60_000
_DEEPEST = 200

_TOKEN = re.compile(
    r"""
    (?P<stop>[.!?]+(?=[\s"')”]|$)(?:\s+(?:[-*•]|\d+[.)])\s)?|\n\s*(?:\n|(?:[-*•]|\d+[.)])\s|(?=[A-Z])))
    |(?P<skip>\s+)
    |(?P<number>[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|(?<!\w)'[^'\n]{1,300}'(?!\w))
    |(?P<word>[^\W\d]\w*)
    |(?P<symbol><=|>=|!=|==|\*\*|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_PLAIN = {
    "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "==": "=", "**": "^",
    "plus": "+", "minus": "-", "times": "*", "√": "sqrt",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `kind` is stop, number, string, word or symbol; `plain` is its normalised form."""

    kind: str
    plain: str
    start: int
    end: int


def _plain(kind: str, text: str) -> str:
    if kind == "string":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if kind == "number":
        return text.replace(",", "")
    return _PLAIN.get(text.lower(), text.lower())


def tokens(text: str) -> tuple[Token, ...]:
    result = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        if kind != "skip":
            result.append(Token(kind, _plain(kind, match.group()), match.start(), match.end()))
    return (*result, Token("stop", "", len(text), len(text)))


@lru_cache(maxsize=4096)
def _phrases(alternatives: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Group the phrases of `a b|c` by first word, the longest first."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(one.split()) for one in alternatives.split("|")), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(phrases) for first, phrases in by_first.items()}


class TooTangled(Exception):
    """The text is nested too deeply or takes too many steps to read."""


class Cursor:
    """A position in a rule's text, and what the grammar knows while it reads.

    A grammar function takes the cursor and moves it forward, or returns None; `attempt` then moves it back.
    """

    def __init__(self, text: str, names: tuple[str, ...], labels: tuple[str, ...], target: str = "") -> None:
        self.text = text[:LONGEST_TEXT]
        self.tokens = tokens(self.text)
        self.position = 0
        self.names = sorted((name for name in names if name), key=len, reverse=True)
        """Columns, the longest name first."""
        self.labels = sorted(labels, key=len, reverse=True)
        """Labels, the longest first; empty if the answer is a number."""
        self.target = target
        """Name of the target, if the text gives it; else empty."""
        self.subject: Term | None = None
        """Last term that was checked, for `the sum is even and at most 26`."""
        self._steps = 0
        self._depth = 0

    @property
    def here(self) -> Token:
        """Token at the cursor; the last stop at the end."""
        return self.tokens[self.position]

    @property
    def before(self) -> Token:
        return self.tokens[self.position - 1]

    def finished(self) -> bool:
        return self.position >= len(self.tokens) - 1

    def take(self, alternatives: str) -> str | None:
        """Step over the longest of the phrases, separated by |, that is at the cursor, and return it."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooTangled
        for phrase in _phrases(alternatives).get(self.here.plain, ()):
            ahead = self.tokens[self.position : self.position + len(phrase)]
            if tuple(token.plain for token in ahead) == phrase and all(token.kind != "string" for token in ahead):
                self.position += len(phrase)
                return " ".join(phrase)
        return None

    def sees(self, alternatives: str) -> bool:
        mark = self.position
        is_here = self.take(alternatives) is not None
        self.position = mark
        return is_here

    def take_kind(self, kind: str) -> Token | None:
        if self.here.kind != kind or self.finished():
            return None
        self.position += 1
        return self.before

    def take_text(self, wanted: str) -> bool:
        """Step over this text in any case, if it is at the cursor as whole words."""
        start, end = self.here.start, self.here.start + len(wanted)
        if not wanted or self.text[start:end].casefold() != wanted.casefold():
            return False
        if re.match(r"\w\w", wanted[-1] + self.text[end : end + 1]):
            return False
        while not self.finished() and self.here.start < end:
            self.position += 1
        return True

    def take_one_of(self, texts: Sequence[str]) -> str | None:
        """Step over one of these texts, in this case if possible, and return it."""
        exact = [text for text in texts if self.text.startswith(text, self.here.start)]
        return next((text for text in (*exact, *texts) if self.take_text(text)), None)

    def attempt(self, read: "Callable[[Cursor], T]") -> T | None:
        """Call a grammar function; move the cursor back if it returns None."""
        mark = self.position
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise TooTangled
            result = read(self)
        finally:
            self._depth -= 1
        if result is None:
            self.position = mark
        return result

    def first(self, *readers: "Callable[[Cursor], T]") -> T | None:
        """Call grammar functions in turn; return the first result."""
        for read in readers:
            result = self.attempt(read)
            if result is not None:
                return result
        return None


_WORDS = """
    a above add all always among an and answer any are ascending at average be below between but by class contain
    contains decreasing descending different digit digits distance distinct divided divisible does each eight either
    else equal equals even every exactly exp fewer fifth first five for four fourth from greater if in increasing
    input integer integers is label larger largest last leaves length less list log mean missing more multiple
    multiply neighbors neighbours neither nine no none nor not number numbers odd of one or order origin otherwise
    output over palindrome point predict product range remainder repeated return s same say second sequence seven
    seventh sin six sixth smaller smallest sqrt strictly sum ten text than that the then there third three to total
    two under value values when y zero
"""

RESERVED = frozenset(_WORDS.split())
"""Words that a rule may use, in lower case. The writer quotes names that hold one, so a change alters proposals."""
