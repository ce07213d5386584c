"""Finds columns of a template's worked examples in a rule for another table.

The examples use everyday words, so a word alone is no leak. A column counts as the subject of a condition, as a term of
a sum or product, or in a rule that names no column of the table. Rules for texts quote running text, so they may use
any of these words.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from vpp.llm.table_words import FUNCTION_WORDS, TableWords, are_alike, phrase, words

PHRASE_LIMIT = 3
"""Maximum words of a column's name or a value in an example; longer ones are sentences."""
_PAIR = re.compile(
    r"(?:^|(?<=[,;]))[ \t]{0,4}([^\W\d_][^\n,;:.>]{0,60}):[ \t]{1,4}([^\s,;:][^\n,;:]{0,60}?)[ \t]{0,4}(?=[,;]|->|$)",
    re.MULTILINE,
)
_QUOTE = r"[(\[{\"'`“”‘’*]{0,3}"
_SUBJECT = (
    rf"(?:^|[.;,(\n]|\b(?:if|when|whenever|where|unless|and|or|but|with|whose|for|while))[ ]{{0,2}}{_QUOTE}"
    rf"(?:(?:the|a)[ ])?(?:(?:value|column)[ ](?:(?:of|in)[ ])?(?:the[ ])?)?{_QUOTE}"
)
_COMPARED = (
    rf"{_QUOTE}(?:[ ]?(?:[=<>≤≥]|!=)|[ ](?:is|are|was|were|has|have|equals?|exceeds?|contains?|below|above|under|over"
    r"|at[ ](?:least|most)|less|more|greater|fewer|between)\b)"
)


@dataclass(frozen=True, kw_only=True)
class ExampleColumns:
    """Columns of the examples that the table does not have, as words with single spaces in lower case."""

    table: TableWords
    names: frozenset[str]

    @classmethod
    def of(cls, examples: str, *, table: TableWords, instructions: str) -> "ExampleColumns":
        """Read the rows of the examples: `town: Oslo, cats: 4 -> loud`. Words of the instructions are left out."""
        pairs = [(words(name), words(value)) for name, value in _PAIR.findall(examples)]
        names = {" ".join(name) for name, value in pairs if max(len(name), len(value)) <= PHRASE_LIMIT}
        known = _known({word for name in names for word in name.split()}, table)
        known |= FUNCTION_WORDS | set(words(instructions))
        return cls(table=table, names=frozenset(name for name in names if not known.issuperset(name.split())))

    def leak(self, rule: str, *, parent: str) -> str | None:
        """Return the first leaked column of the rule that its parent does not have, or None."""
        if not self.names or self.table.text_columns:
            return None
        own = phrase(parent)
        leaks = (" ".join(words(match["leak"])) for pattern in self._patterns(rule) for match in pattern.finditer(rule))
        return next((leak for leak in leaks if phrase(leak) not in own), None)

    def _patterns(self, rule: str) -> tuple[re.Pattern[str], ...]:
        return self._used if self.table.has_column(words(rule)) else (*self._used, self._named)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return _compiled(self._column)

    @cached_property
    def _used(self) -> tuple[re.Pattern[str], ...]:
        """Patterns of `3 * depth`, `depth + 1` and `if the depth is above 2`."""
        return (
            _compiled(rf"(?:[*+^×·]|\b(?:times|plus|minus)[ ])[ ]?{self._column}"),
            _compiled(rf"{self._column}[ ]?(?:[*+^×·]|\b(?:times|plus|minus)\b)"),
            _compiled(rf"{_SUBJECT}{self._column}{_COMPARED}"),
        )

    @property
    def _column(self) -> str:
        """Pattern of any of the names as whole words, and not of a function such as `floor(x)`."""
        spelt = (r"[\W_]{1,3}".join(map(re.escape, name.split())) for name in self.names)
        return rf"(?<![^\W_])(?P<leak>{'|'.join(sorted(spelt, key=len, reverse=True))})(?![^\W_])(?![ ]?\()"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _known(words_of_examples: set[str], table: TableWords) -> set[str]:
    """Return the words that the table has, in the same or another form."""
    return {word for own in table.words for word in words_of_examples if word[:3] == own[:3] and are_alike(word, own)}
