"""Words of a row that the learner quoted as its reason, found again in the row's text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

LONG = 80
"""Characters from which a cell counts as a text that is read, not looked up."""
MOST_QUOTES = 40
"""Most quotes that are looked for in a row."""
SHORTEST = 2
"""Fewest letters or digits of a quote: a lone sign or letter is found anywhere."""

_QUOTED = re.compile(
    r"""" (?P<straight> [^"\n]{1,400} ) " | “ (?P<curly> [^”\n]{1,400} ) ” | „ (?P<low> [^“”\n]{1,400} ) [“”]
      | « (?P<angled> [^»\n]{1,400} ) »
      | (?<!\w) ['‘] (?=\S) (?P<single> (?: [^'’\n] | (?<=\w)['’](?=\w) ){1,400} ) (?<=\S) ['’] (?!\w)""",
    re.VERBOSE,
)
"""An apostrophe between two letters, as in `guest's`, neither begins nor ends a quote."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a cell."""

    text: str
    is_quoted: bool


def quotes(explanations: Iterable[str]) -> list[str]:
    """Return the different texts in quotes, in order of appearance, `MOST_QUOTES` at most."""
    found = (match[match.lastgroup or 0] for words in explanations for match in _QUOTED.finditer(words))
    different = {" ".join(words.casefold().split()): words.strip(" .,;:!?…") for words in found}
    return [words for words in different.values() if sum(map(str.isalnum, words)) >= SHORTEST][:MOST_QUOTES]


def runs(cell: str, quoted: Iterable[str]) -> list[Run]:
    """Split a cell where it is quoted; case and white space are ignored, overlapping quotes are one run."""
    marked = bytearray(len(cell))
    for start, end in _places(cell, quoted):
        marked[start:end] = b"\x01" * (end - start)
    turns = [at for at in range(1, len(cell)) if marked[at] != marked[at - 1]]
    return [Run(cell[start:end], bool(marked[start])) for start, end in pairwise((0, *turns, len(cell))) if cell]


def invented(cells: Iterable[str], quoted: Iterable[str]) -> list[str]:
    """Return the quotes that no cell holds: words that the learner made up or took from the rule."""
    texts = list(cells)
    return [words for words in quoted if not any(next(_places(cell, [words]), None) for cell in texts)]


def _places(cell: str, quoted: Iterable[str]) -> Iterator[tuple[int, int]]:
    for words in quoted:
        pattern = r"\s+".join(map(re.escape, words.split()))
        yield from (match.span() for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", cell, re.IGNORECASE))
