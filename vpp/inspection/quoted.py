"""Words that an idea's explanations quote most, in tables with a column of text."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset, Row
from vpp.events import hypothesis_id
from vpp.inspection import evidence
from vpp.inspection.ideas import Idea, Ideas
from vpp.inspection.text_baseline import text_columns
from vpp.problem import Prediction

MOST_WORDS, LONGEST = 4, 40
"""Words and characters of a quote that is counted: a longer one repeats a sentence, which hardly any other row has."""
FEWEST_ROWS = 3
"""Rows in which a quote must occur to be listed."""
MOST_LISTED = 3
"""Quotes listed for an idea."""
Answers = Mapping[tuple[str, int], Prediction]
"""Learner's answers by hypothesis id and row id."""


def with_quotes(ideas: Ideas, answers: Callable[[], Answers], dataset: Dataset) -> Ideas:
    """Return the ideas with the words that they quote most; unchanged for a table without a column of text.

    answers: reads the answers; called only for a table with a column of text. They may grow meanwhile.
    """
    names = text_columns(dataset)
    if not names:
        return ideas
    texts = {row.id: _texts(row, names) for row in dataset.labelled}
    known = answers()
    return replace(ideas, all=tuple(replace(idea, quoted=_most_quoted(idea, known, texts)) for idea in ideas))


def _texts(row: Row, names: Sequence[str]) -> list[str]:
    return [cell for name, cell in row.inputs if name in names and cell]


def _most_quoted(idea: Idea, answers: Answers, texts: Mapping[int, Sequence[str]]) -> tuple[tuple[str, int], ...]:
    hypotheses = [hypothesis_id(wording.text) for wording in idea.wordings]
    rows: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for row, cells in texts.items():
        said = (answers.get((hypothesis, row)) for hypothesis in hypotheses)
        quotes = _short_quotes((answer.explanation for answer in said if answer), cells)
        rows.update(quotes.keys())
        for words, spelled in quotes.items():
            spelling.setdefault(words, spelled)
    most = sorted((-n, words) for words, n in rows.items() if n >= FEWEST_ROWS)[:MOST_LISTED]
    return tuple((spelling[words], -n) for n, words in most)


def _short_quotes(explanations: Iterable[str], cells: Sequence[str]) -> dict[str, str]:
    """Map the short quotes that a cell holds, in lower case, to their spelling."""
    quotes = evidence.quotes(explanations)
    short = [words for words in quotes if len(words) <= LONGEST and len(words.split()) <= MOST_WORDS]
    strange = set(evidence.invented(cells, short))
    return {" ".join(words.casefold().split()): " ".join(words.split()) for words in short if words not in strange}
