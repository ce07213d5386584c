"""Tokens of a rule's text, and a cursor that walks over them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

LONGEST_TEXT = 20_000
"""Characters of a rule that are read."""

_MOST_STEPS = 60_000
_DEEPEST = 25

_TOKEN = re.compile(
    r"""
    (?P<stop>[.!?]+(?=\s|$|["')*”])|\n\s*\n\s*|\n\s*(?:[-*•]\s+|\d+[.)]\s+)|\n\s*(?=[A-Z]|otherwise|else))
    |(?P<skip>\s+|\*\*(?=\S)(?<![^\s*]\*\*)|(?<=\S)\*\*(?=[\s.,:;)]|$)|\$|\\[{},;!]|\\left|\\right)
    |(?P<number>[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{1,300}'(?!\w))
    |(?P<word>i\.e\.|e\.g\.|approx\.|\\?[^\W\d²³](?:(?![²³])\w)*(?:['’](?:t|s)\b)?)
    |(?P<symbol><=|>=|!=|==|->|=>|<-|\*\*|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_PLAIN = {
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*",
    "÷": "/", "√": "sqrt", "==": "=", "**": "^", "⇒": "->", "→": "->", "=>": "->", "{": "(", "}": ")", "[": "(",
    "]": ")", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "neq": "!=", "cdot": "*", "frac": "frac", "π": "pi",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: `kind` is stop, number, string, word or symbol; `plain` is its folded form."""

    kind: str
    plain: str
    start: int
    end: int


def _plain(kind: str, text: str) -> str:
    if kind == "string":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if kind == "number":
        return text.replace(",", "")
    if kind == "word" and text[0] != "\\":
        return text.lower().replace("’", "'")
    text = text.lstrip("\\").lower() if kind == "word" else text
    return _PLAIN.get(text, text)


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of the text, in order, ending with a stop."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        if kind != "skip":
            found.append(Token(kind, _plain(kind, match.group()), match.start(), match.end()))
    return (*found, Token("stop", "", len(text), len(text)))


@lru_cache(maxsize=4096)
def _phrases(alternatives: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """`a b|c` by first word, each word's phrases longest first."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(one.split()) for one in alternatives.split("|")), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(phrases) for first, phrases in by_first.items()}


class TooTangled(Exception):
    """The text nests too deeply, or asks for too many attempts, to be read."""


class Cursor:
    """A place in a text's tokens. Readers move it forward, or leave it where it was and return None."""

    def __init__(self, text: str) -> None:
        self.text = text[:LONGEST_TEXT]
        self.tokens = tokens(self.text)
        self.at = 0
        self._steps = 0
        self._depth = 0

    @property
    def here(self) -> Token:
        """The token at the cursor; the last stop at the end."""
        return self.tokens[self.at]

    def ahead(self, count: int = 1) -> Token:
        """The token so many places on."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def finished(self) -> bool:
        """Whether only the final stop is left."""
        return self.at >= len(self.tokens) - 1

    def take(self, alternatives: str) -> str | None:
        """Steps over the longest of the phrases, set apart by |, that stands here, and returns it."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooTangled
        for phrase in _phrases(alternatives).get(self.here.plain, ()):
            if self._stands(phrase):
                self.at += len(phrase)
                return " ".join(phrase)
        return None

    def _stands(self, phrase: tuple[str, ...]) -> bool:
        return all(
            self.ahead(offset).plain == word and self.ahead(offset).kind in {"word", "symbol", "number"}
            for offset, word in enumerate(phrase)
        )

    def sees(self, alternatives: str) -> bool:
        """Whether one of the phrases stands here."""
        mark = self.at
        found = self.take(alternatives) is not None
        self.at = mark
        return found

    def take_kind(self, kind: str) -> Token | None:
        """Steps over a token of the kind."""
        if self.here.kind != kind or self.finished():
            return None
        self.at += 1
        return self.tokens[self.at - 1]

    def take_text(self, wanted: str, *, any_case: bool = False) -> bool:
        """Steps over this very text, if it stands here as whole words."""
        start, end = self.here.start, self.here.start + len(wanted)
        found = self.text[start:end]
        if not wanted or not (found == wanted or (any_case and found.casefold() == wanted.casefold())):
            return False
        if wanted[-1].isalnum() and (self.text[end : end + 1].isalnum() or self.text[end : end + 1] == "_"):
            return False
        self.jump(end)
        return True

    def jump(self, offset: int) -> None:
        """Moves on to the first token that starts at or after an offset of the text."""
        while not self.finished() and self.here.start < offset:
            self.at += 1

    def attempt(self, reader: Callable[[], T]) -> T | None:
        """What the reader returns; the cursor goes back where that is None."""
        mark = self.at
        self._depth += 1
        try:
            if self._depth > _DEEPEST * 8:
                raise TooTangled
            found = reader()
        finally:
            self._depth -= 1
        if found is None:
            self.at = mark
        return found

    def first(self, *readers: Callable[[], T]) -> T | None:
        """What the first reader that succeeds returns."""
        for reader in readers:
            found = self.attempt(reader)
            if found is not None:
                return found
        return None
