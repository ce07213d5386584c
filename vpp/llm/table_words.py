"""The words of a table, and whether a text uses them: names of columns, labels and cells, whatever their case."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.data.dataset import Dataset

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are written without spaces."""
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)*")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]+")
STEM = 4
"""Letters that two words must share at their start to be taken for forms of one word."""


def words(text: str) -> list[str]:
    """The words of `text` in lower case, without punctuation; underscores part words."""
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
"""Words that belong to no table; a column or label of such a name is still known as one."""
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
"""Words for what is worked out from inputs: "the sum of a and b"."""
_INPUTS_BY_PLACE = INPUT_NOUNS | frozenset(words("sum total product point distance radius circle origin"))


def phrase(text: str) -> str:
    """The words between single spaces, with one at each end, so that `in` compares whole words."""
    return f" {' '.join(words(text))} "


def are_alike(one: str, other: str) -> bool:
    """Whether they may be forms of one word: admit and admitted, pos and positive."""
    short, long = sorted((one, other), key=len)
    is_start = len(short) >= STEM - 1 and long.startswith(short)
    return one == other or is_start or (len(short) >= STEM and one[:STEM] == other[:STEM])


def shortened(text: str, limit: int = 60) -> str:
    """`text` in one line of at most so many characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[:limit] + "…"


@dataclass(frozen=True, kw_only=True)
class TableWords:
    """Words of one table, from its training rows: test rows are never shown to a model that writes rules."""

    dataset: Dataset

    @classmethod
    def of(cls, dataset: Dataset) -> "TableWords":
        """The words of this table."""
        return cls(dataset=dataset)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Words of the input columns' names."""
        return frozenset(word for name in self.dataset.inputs for word in words(name))

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
    def has_texts(self) -> bool:
        """Whether a column holds free text."""
        kinds = {column.name: column.kind for column in self.dataset.columns}
        return any(kinds.get(name) == "text" for name in self.dataset.inputs)

    @cached_property
    def has_texts_alone(self) -> bool:
        """Whether every input column holds free text."""
        kinds = {column.name: column.kind for column in self.dataset.columns}
        return all(kinds.get(name) == "text" for name in self.dataset.inputs)

    @cached_property
    def category_columns(self) -> tuple[str, ...]:
        """Names of the input columns that hold categories."""
        kinds = {column.name: column.kind for column in self.dataset.columns}
        return tuple(name for name in self.dataset.inputs if kinds.get(name) == "category")

    @cached_property
    def categories(self) -> frozenset[str]:
        """Training cells of the columns that hold categories, each as a phrase."""
        cells = {
            cell for row in self.dataset.train for name, cell in row.inputs if cell and name in self.category_columns
        }
        return frozenset(phrase(cell) for cell in cells if not FUNCTION_WORDS.issuperset(words(cell)))

    def has_category(self, text: str) -> bool:
        """Whether `text` names a category of a column."""
        whole = phrase(text)
        return any(category in whole for category in self.categories)

    @cached_property
    def are_labels_numbers(self) -> bool:
        """Whether every label is a number, which a rule may compute instead of naming it."""
        return all(label.strip().replace(".", "", 1).lstrip("+-").isdigit() for label in self.dataset.classes)

    @cached_property
    def are_labels_cells(self) -> bool:
        """Whether every label is a value of an input, which a rule may pass on: "answer with the colour"."""
        labels = {label.casefold() for label in self.dataset.classes}
        return labels <= {cell.casefold() for row in self.dataset.train for _, cell in row.inputs if cell}

    def holds(self, mark: str) -> bool:
        """Whether a name, a label or a training cell holds this piece of text, in any case."""
        sought = mark.casefold()
        return any(sought in text.casefold() for text in self._texts())

    def _texts(self) -> Iterator[str]:
        yield from (*self.dataset.inputs, self.dataset.target, *self.dataset.classes)
        yield from (cell for row in self.dataset.train for _, cell in row.inputs if cell)

    def has_column(self, said: Sequence[str]) -> bool:
        """Whether a word may mean an input: one of a column's name, or a common word for inputs in general."""
        return not _INPUTS_BY_PLACE.isdisjoint(said) or _any_alike(said, self.inputs)

    def has_label(self, text: str) -> bool:
        """Whether `text` names a label, a distinctive word of one, or a form of such a word."""
        said = words(text)
        shared = frozenset.intersection(*(frozenset(words(label)) for label in self.dataset.classes))
        own = self.labels - shared
        if _any_alike(said, own):
            return True
        whole = phrase(text)
        plain = (label for label in self.dataset.classes if own.isdisjoint(words(label)))
        return any(phrase(label) in whole if words(label) else label.strip() in text for label in plain)


def _any_alike(said: Iterable[str], known: frozenset[str]) -> bool:
    """Whether a word is among the known ones, or a form of one; words that begin alike are compared alone.

    In scripts without spaces a known word may stand anywhere in a longer run.
    """
    given = set(said)
    if not known.isdisjoint(given):
        return True
    runs = [word for word in given if _IS_UNSPACED.fullmatch(word)]
    if runs and any(word in run for word in known if _IS_UNSPACED.fullmatch(word) for run in runs):
        return True
    by_start: dict[str, list[str]] = {}
    for word in known:
        by_start.setdefault(word[: STEM - 1], []).append(word)
    return any(are_alike(word, other) for word in given for other in by_start.get(word[: STEM - 1], ()))
