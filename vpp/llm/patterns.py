"""Patterns of answers, each written twice: as a regular expression (vLLM) and in GBNF, llama.cpp's grammar notation."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")


@dataclass(frozen=True, slots=True)
class Pattern:
    """The same set of texts in both notations."""

    regex: str
    gbnf: str

    @property
    def grammar(self) -> str:
        """A whole GBNF grammar whose root is this pattern."""
        return f"root ::= {self.gbnf}"


NUMBER = Pattern(
    regex=r"-?[0-9]{1,15}(\.[0-9]{1,12})?(e-?([12]?[0-9]{1,2}|30[0-8]))?",
    gbnf='"-"? [0-9]{1,15} ("." [0-9]{1,12})? ("e" "-"? ([12]? [0-9]{1,2} | "30" [0-8]))?',
)
EXPLANATION = Pattern(regex=r"[^ \t\n\r][^\n\r]{0,399}", gbnf=r"[^ \t\n\r] [^\n\r]{0,399}")
"""One line of 1 to 400 characters that does not begin with a blank."""
QUOTED = Pattern(regex=r'[^ \t"\\\n\r][^"\\\n\r]{0,399}', gbnf=r'[^ \t"\\\n\r] [^"\\\n\r]{0,399}')
"""The same within the quotes of a JSON string, without escapes."""


def literal(text: str) -> Pattern:
    """Match exactly this text."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return Pattern(regex=_SPECIAL.sub(r"\\\1", text).replace("\n", "\\n"), gbnf=f'"{quoted}"')


def one_of(texts: Iterable[str]) -> Pattern:
    """Match exactly one of these texts."""
    each = [literal(text) for text in texts]
    return Pattern(regex=f"({'|'.join(one.regex for one in each)})", gbnf=f"({' | '.join(one.gbnf for one in each)})")


def sequence(parts: Sequence[Pattern | str]) -> Pattern:
    """Match the parts one after another; a text stands for itself."""
    each = [literal(part) if isinstance(part, str) else part for part in parts]
    return Pattern(regex="".join(one.regex for one in each), gbnf=" ".join(one.gbnf for one in each))
