"""The words of a table (names of columns, labels and cells), and whether a text uses them; case is ignored."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from vpp.data.dataset import Dataset

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are written without spaces."""
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)*")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]+")
STEM = 4
"""Letters that two forms of one word share at their start."""


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without punctuation; underscores separate words."""
    return _WORD.findall(text.casefold())


FUNCTION_WORDS = frozenset(
    words(
        "a an the and or but nor not no none if when whenever where unless because while whether than then else "
        "otherwise which who that this these those it its is are was were be been being has have had do does did "
        "of to at by for from with without in on off over under above below between into as per so such any all "
        "every each both one other i you we they he she there here what how will would can could should must may "
        "might only also"
    )
)
"""Words that say nothing about a table; a column or label may still have such a name."""
INPUT_NOUNS = frozenset(
    words(
        "integer integers digit digits number numbers sequence value values item items column coordinate coordinates "
        "text review sentence"
    )
)
"""Words for inputs without their names: "the first of the integers"."""
COMPUTED = frozenset(
    words(
        "sum total product point distance radius circle origin half twice double triple mean average median constant "
        "parity remainder quotient modulo mod difference ratio maximum minimum max min larger smaller largest smallest"
    )
)
"""Words for values computed from inputs: "the sum of a and b"."""
_INPUTS_BY_PLACE = INPUT_NOUNS | frozenset(words("sum total product point distance radius circle origin"))


def phrase(text: str) -> str:
    """Return the words between single spaces, with one at each end, so that `in` compares whole words."""
    return f" {' '.join(words(text))} "


def spelt(text: str) -> str:
    """Return a pattern of the text's words, with any separators between them."""
    return r"[\W_]{1,3}".join(map(re.escape, words(text)))


def any_of(patterns: Iterable[str], most: int | None = None) -> str:
    """Return a pattern of any of the `most` longest patterns, all by default; without patterns it matches nothing."""
    return "|".join(sorted(filter(None, patterns), key=len, reverse=True)[:most]) or r"(?!)"


def are_alike(one: str, other: str) -> bool:
    """Return whether they may be forms of one word: admit and admitted, pos and positive."""
    short, long = sorted((one, other), key=len)
    is_start = len(short) >= STEM - 1 and long.startswith(short)
    return one == other or is_start or (len(short) >= STEM and one[:STEM] == other[:STEM])


def shortened(text: str, limit: int = 60) -> str:
    """Return `text` in one line of at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


@dataclass(frozen=True, kw_only=True)
class TableWords:
    """Words of one table, from its training rows: test rows are never shown to a model that writes rules."""

    dataset: Dataset

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Words of the input columns' names, and words of their descriptions that say something about a table."""
        meanings = (text for name, text in self.dataset.descriptions.columns if name in self.dataset.inputs)
        said = {word for text in meanings for word in words(text)} - FUNCTION_WORDS - INPUT_NOUNS
        return frozenset(said.union(*map(words, self.dataset.inputs)))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Words of the labels."""
        return frozenset(word for label in self.dataset.classes for word in words(label))

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of all names, labels and training cells."""
        cells = {cell for row in self.dataset.train for _, cell in row.inputs if cell}
        of_cells = (word for cell in cells for word in words(cell))
        return frozenset((*self.inputs, *self.labels, *words(self.dataset.target), *of_cells))

    @cached_property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the input columns that hold free text."""
        return self._inputs_of_kind("text")

    @cached_property
    def category_columns(self) -> tuple[str, ...]:
        """Names of the input columns that hold categories."""
        return self._inputs_of_kind("category")

    def _inputs_of_kind(self, kind: str) -> tuple[str, ...]:
        names = {column.name for column in self.dataset.columns if column.kind == kind}
        return tuple(name for name in self.dataset.inputs if name in names)

    @cached_property
    def categories(self) -> frozenset[str]:
        """Training cells of the category columns, as phrases."""
        cells = {
            cell for row in self.dataset.train for name, cell in row.inputs if cell and name in self.category_columns
        }
        return frozenset(phrase(cell) for cell in cells if not FUNCTION_WORDS.issuperset(words(cell)))

    def has_category(self, text: str) -> bool:
        """Return whether `text` names a category of a column."""
        whole = phrase(text)
        return any(category in whole for category in self.categories)

    @cached_property
    def are_labels_numbers(self) -> bool:
        """Return whether every label is a number, which a rule may compute instead of naming it."""
        return all(label.strip().replace(".", "", 1).lstrip("+-").isdigit() for label in self.dataset.classes)

    @cached_property
    def are_labels_cells(self) -> bool:
        """Return whether every label is a value of an input, which a rule may pass on: "answer with the colour"."""
        labels = {label.casefold() for label in self.dataset.classes}
        return labels <= {cell.casefold() for row in self.dataset.train for _, cell in row.inputs if cell}

    def holds(self, mark: str) -> bool:
        """Return whether a name, a label or a training cell contains this text, in any case."""
        sought = mark.casefold()
        names = (*self.dataset.inputs, self.dataset.target, *self.dataset.classes)
        cells = (cell for row in self.dataset.train for _, cell in row.inputs if cell)
        return any(sought in text.casefold() for text in chain(names, cells))

    def has_column(self, tokens: Sequence[str]) -> bool:
        """Return whether a word may mean an input: a word of a column's name, or a common word for inputs."""
        return not _INPUTS_BY_PLACE.isdisjoint(tokens) or _any_alike(tokens, self.inputs)

    def has_label(self, text: str) -> bool:
        """Return whether `text` names a label, a distinctive word of one, or a form of such a word but its adverb."""
        shared = frozenset.intersection(*(frozenset(words(label)) for label in self.dataset.classes))
        own = self.labels - shared
        tokens = [word for word in words(text) if word in own or not word.endswith("ly")]
        if _any_alike(tokens, own):
            return True
        whole = phrase(text)
        plain = (label for label in self.dataset.classes if own.isdisjoint(words(label)))
        return any(phrase(label) in whole if words(label) else label.strip() in text for label in plain)


def _any_alike(tokens: Iterable[str], known: frozenset[str]) -> bool:
    """Return whether one of the words is a known word or a form of one.

    In scripts without spaces, a known word may be anywhere in a longer run.
    """
    given = set(tokens)
    if not known.isdisjoint(given):
        return True
    runs = [word for word in given if _IS_UNSPACED.fullmatch(word)]
    if runs and any(word in run for word in known if _IS_UNSPACED.fullmatch(word) for run in runs):
        return True
    by_start: dict[str, list[str]] = {}
    for word in known:
        by_start.setdefault(word[: STEM - 1], []).append(word)
    return any(are_alike(word, other) for word in given for other in by_start.get(word[: STEM - 1], ()))
