"""Words of a row that the learner quoted as its reason, and those that an idea's explanations quote most."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from vpp.data.dataset import Dataset
from vpp.events import hypothesis_id
from vpp.inspection.ideas import Idea, Ideas
from vpp.problem import Prediction

LONG = 80
"""Characters from which a cell counts as a text that is read, not looked up."""
MOST_QUOTES = 40
"""Most quotes that are looked for in a row."""
SHORTEST = 2
"""Fewest letters or digits of a quote: a lone sign or letter is found anywhere."""
MOST_WORDS, LONGEST = 4, 40
"""Words and characters of a quote that is counted: a longer one repeats a sentence, which hardly any other row has."""
FEWEST_ROWS = 3
"""Rows in which a quote must occur to be listed."""
MOST_LISTED = 3
"""Quotes listed for an idea."""
Answers = Mapping[tuple[str, int], Prediction]
"""Learner's answers by hypothesis id and row id."""

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


def with_quotes(ideas: Ideas, answers: Callable[[], Answers], dataset: Dataset) -> Ideas:
    """Return the ideas with the words that they quote most; unchanged for a table without a column of text.

    answers: reads the answers; called only for a table with a column of text. They may grow meanwhile.
    """
    if not dataset.has_text:
        return ideas
    names, known = {column.name for column in dataset.columns if column.kind == "text"}, answers()
    texts = {row.id: [cell for name, cell in row.inputs if name in names and cell] for row in dataset.labelled}
    return replace(ideas, all=tuple(replace(idea, quoted=_most_quoted(idea, known, texts)) for idea in ideas))


def _most_quoted(idea: Idea, answers: Answers, texts: Mapping[int, Sequence[str]]) -> tuple[tuple[str, int], ...]:
    hypotheses = [hypothesis_id(wording.text) for wording in idea.wordings]
    rows: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for row, cells in texts.items():
        said = (answers.get((hypothesis, row)) for hypothesis in hypotheses)
        found = quotes(answer.explanation for answer in said if answer)
        short = [words for words in found if len(words) <= LONGEST and len(words.split()) <= MOST_WORDS]
        strange = invented(cells, short)
        held = {" ".join(words.casefold().split()): " ".join(words.split()) for words in short if words not in strange}
        rows.update(held.keys())
        spelling = held | spelling
    most = sorted((-n, words) for words, n in rows.items() if n >= FEWEST_ROWS)[:MOST_LISTED]
    return tuple((spelling[words], -n) for n, words in most)
