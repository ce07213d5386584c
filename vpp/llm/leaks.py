"""Finds columns, values and labels of a template's worked examples in a rule for another table.

The examples use everyday words, so a word alone is no leak. A column of the examples counts as the subject of a
condition, as a term of a sum or product, together with another leaked word, or in a rule that names no column of the
table. A value counts as the object of a condition, and a label as an output. Rules for texts may use more of these
words, since they quote running text; there a column counts if the examples compare its values or it holds their texts.
A name with an underscore is no everyday word and always counts, and so does a sentence of the examples' rules that
only gives other labels.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from vpp.data.columns import is_number
from vpp.llm.table_words import FUNCTION_WORDS, TableWords, any_of, are_alike, phrase, spelt, words

PHRASE_LIMIT = 3
"""Maximum words of a column's name, a value or a label in an example; longer ones are sentences."""


@dataclass(frozen=True, kw_only=True)
class ExampleWords:
    """Names of the examples that the table does not have, as words with single spaces in lower case."""

    table: TableWords
    columns: frozenset[str]
    texts: frozenset[str]
    """Columns whose values are sentences: `slogan_a` as `slogan a` and `slogan`."""
    identifiers: frozenset[str]
    """Names of columns with an underscore, as they are written."""
    values: frozenset[str]
    names: frozenset[str]
    """Values with an initial capital: names of places or people."""
    labels: frozenset[str]
    sentences: frozenset[str]
    """Sentences of the examples' rules that name no column of the table, with `_ANY_LABEL` for each label."""

    @classmethod
    def of(cls, examples: str, *, table: TableWords, instructions: str) -> "ExampleWords":
        """Read the rows of the examples: `town: Oslo, cats: 4 -> loud`. Words of the instructions are left out."""
        pairs = _PAIR.findall(examples)
        short = [pair for pair in pairs if len(words(pair[1])) <= PHRASE_LIMIT]
        long_names = [name for name, value in pairs if len(words(value)) > PHRASE_LIMIT]
        columns = _phrases(name for name, _ in short)
        stems = (" ".join(word for word in words(name) if len(word) > 1) for name in long_names)
        texts = _phrases((*long_names, *stems))
        values = _phrases(value for _, value in short)
        names = _phrases(value for _, value in short if value.istitle())
        labels = _phrases(_LABEL.findall(examples))
        known = _known(columns | texts | values | labels, table) | FUNCTION_WORDS | set(words(instructions))

        def unknown(texts: frozenset[str]) -> frozenset[str]:
            return frozenset(text for text in texts if not known.issuperset(text.split()))

        return cls(
            table=table,
            columns=unknown(columns | texts),
            texts=unknown(texts),
            identifiers=frozenset(name for name, _ in pairs if "_" in name and not table.holds(name)),
            values=unknown(values),
            names=unknown(names),
            labels=unknown(labels),
            sentences=frozenset(
                sentence
                for rule in _RULE.findall(examples)
                for sentence in _sentences(rule, labels)
                if table.inputs.isdisjoint(sentence.split())
            ),
        )

    def leak(self, rule: str, *, parent: str) -> str | None:
        """Return the first leaked word of the rule that its parent does not have, or None."""
        if not (self.columns or self.values or self.labels):
            return None
        own = phrase(parent)
        leaks = (" ".join(words(text)) for text in self._leaks(rule))
        return next((text for text in leaks if phrase(text) not in own), None)

    def copies(self, rule: str, *, parent: str) -> bool:
        """Return whether a sentence of the rule is one of the examples with other labels, and not its parent's."""
        if not self.sentences:
            return False
        labels = self.table.dataset.classes
        return not self.sentences.isdisjoint({*_sentences(rule, labels)} - {*_sentences(parent, labels)})

    def _leaks(self, rule: str) -> Iterator[str]:
        for pattern in self._patterns:
            yield from (match["leak"] for match in pattern.finditer(rule))
        if not self.table.text_columns:
            yield from self._strangers(rule)

    def _strangers(self, rule: str) -> Iterator[str]:
        """Yield columns of the examples next to another leaked word, or in a rule that names no column of the table."""
        if not self.table.has_column(words(rule)):
            yield from (match["leak"] for match in self._column.finditer(rule))
        for clause in _CLAUSE_END.split(rule):
            columns = [match["leak"] for match in self._column.finditer(clause)]
            if columns and len({text.casefold() for text in (*columns, *self._value.findall(clause))}) > 1:
                yield columns[0]

    # --- uses of a word that make it a leak -------------------------------------------------------------------------

    @cached_property
    def _column(self) -> re.Pattern[str]:
        return _compiled(_one_of(self.columns) + r"(?![ ]?\()")

    @cached_property
    def _value(self) -> re.Pattern[str]:
        return _compiled(_one_of(self.values))

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(_compiled, (*self._columns_used(), *self._values_compared(), *self._labels_given())))

    def _columns_used(self) -> Iterator[str]:
        """Yield `if the depth is above 2` and `3 * depth`; with texts `if town is Oslo` and `if the slogan asks`."""
        column = _one_of(self.columns)
        yield rf"(?<!\w)(?P<leak>{any_of(map(re.escape, self.identifiers))})(?!\w)"
        yield rf"(?:[*+^×·]|\b(?:times|plus|minus)[ ])[ ]?{column}(?![ ]?\()"
        yield rf"{column}[ ]?(?:[*+^×·]|\b(?:times|plus|minus)\b)"
        if self.table.text_columns:
            shown = any_of(map(spelt, self.values))
            yield rf"{_LEAD}{column}{_COMPARED}[^,.;\n]{{0,20}}?[ ]{_OPENING}(?:[-+]?\d|(?:{shown})\b)"
            yield rf"{_WHEN_THE}{_OPENING}{_one_of(self.texts)}{_CLOSING}(?:[ ]?[=<>≤≥]|{_VERB})"
        else:
            yield rf"{_LEAD}(?:(?:the|a)[ ])?{_VALUE_OF}{column}{_COMPARED}"

    def _values_compared(self) -> Iterator[str]:
        """Yield a value after a category column, `if city is plum`, and a name after any word, `people from Oslo`."""
        category_column = _word(any_of(map(spelt, self.table.category_columns)))
        yield rf"{category_column}{_EQUALS}{_LISTED}{_one_of(self.values)}{_END}"
        if not self.table.text_columns:
            yield rf"(?:=|\b(?:is|are|was|were|equals?|in|from|at|not)\b){_LISTED}{_one_of(self.names)}"

    def _labels_given(self) -> Iterator[str]:
        """Yield `answer lush` and `if math is A, lush`."""
        label = _one_of(self.labels)
        yield rf"{_GIVING}{label}{_END}"
        yield rf"(?:^|[.;\n][ ]?)(?:if|when)\b[^,.;\n]{{1,200}},[ ]{label}(?=[.;]|\s*\Z)"


# --- patterns ---------------------------------------------------------------------------------------------------------

_PAIR = re.compile(
    r"(?:^|(?<=[,;]))[ \t]{0,4}([^\W\d_][^\n,;:.>]{0,60}):[ \t]{1,4}([^\s,;:][^\n,;:]{0,60}?)[ \t]{0,4}(?=[,;]|->|$)",
    re.MULTILINE,
)
_RULE = re.compile(r"^.{0,12}\brule:[ ]*(.+)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"(?:->|\banswer\b)[ \t]{0,4}[\"'“‘]?([^\W\d_][^\n,;:.\"'”’>()-]{0,60})")
_CLAUSE_END = re.compile(r"[,.;:\n]|\b(?:then|otherwise|else)\b", re.IGNORECASE)
_OPENING = r"[(\[{\"'`“‘*]{0,3}"
_CLOSING = r"[)\]}\"'`”’*]{0,3}"
_LEAD = rf"(?:^|[.;,(\n]|\b(?:if|when|whenever|where|unless|and|or|but|with|whose|for|while))[ ]{{0,2}}{_OPENING}"
_VALUE_OF = rf"(?:(?:value|column)[ ](?:(?:of|in)[ ])?(?:the[ ])?)?{_OPENING}"
_COMPARED = (
    rf"{_CLOSING}(?:[ ]?(?:[=<>≤≥]|!=)|[ ](?:is|are|was|were|has|have|equals?|exceeds?|contains?|below|above|under|over"
    r"|at[ ](?:least|most)|less|more|greater|fewer|between)\b)"
)
_WHEN_THE = r"\b(?:if|when|whenever|where|unless|the)[ ]"
_VERB = r"[ ](?:only[ ])?(?!this\b)(?:is|has|[^\W\d_]{3,20}s)\b"
"""A verb in the third person: `asks`."""
_EQUALS = rf"{_CLOSING}(?:[ ]?!?={{1,3}}|[ ](?:is|are|was|were|equals?|contains?|in)\b)"
_LISTED = (
    r"(?:[ ](?:not|in|either|one|of|a|an|the)\b){0,3}"
    rf"(?:[ ]?{_OPENING}[\w-]{{1,40}}{_CLOSING}(?:,[ ]or|,|[ ]or)){{0,4}}[ ]?{_OPENING}"
)
_END = (
    rf"(?={_CLOSING}(?:[ ]?(?:[,.;:\n]|->|→|=>)|\s*\Z"
    r"|[ ](?:and|or|then|answer|output|predict|return|give|if|when|unless|otherwise|else|for)\b))"
)
_GIVING = (
    r"(?:\b(?:answer|output|predict|return|respond|say|classify|label|assign|then|otherwise|else)\b|->|→|=>)"
    rf"(?:[ ,:]{{1,2}}(?:it|them|as|with|is|answer|output|the|label|class)\b){{0,3}}[ ,:]{{0,2}}{_OPENING}"
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _word(pattern: str) -> str:
    """Return a pattern that matches complete words only."""
    return rf"(?<![^\W_])(?:{pattern})(?![^\W_])"


def _one_of(texts: Iterable[str]) -> str:
    return _word(rf"(?P<leak>{any_of(map(spelt, texts))})")


# --- words ------------------------------------------------------------------------------------------------------------


def _phrases(texts: Iterable[str]) -> frozenset[str]:
    """Return short texts as words, without numbers and single letters."""
    split = (words(text) for text in texts if any(len(word) > 1 and not is_number(word) for word in words(text)))
    return frozenset(" ".join(tokens) for tokens in split if len(tokens) <= PHRASE_LIMIT)


_ANY_LABEL = "0label"
SENTENCE = 5
"""Fewest words of a sentence that is compared with those of the examples."""


def _sentences(rule: str, labels: Iterable[str]) -> Iterator[str]:
    """Yield the sentences that give a label, as words in lower case, with `_ANY_LABEL` for each label."""
    marked = re.sub(_word(any_of(map(spelt, labels))), f" {_ANY_LABEL} ", rule, flags=re.IGNORECASE)
    for tokens in map(words, re.split(r"[.;\n]", marked)):
        if _ANY_LABEL in tokens and len(tokens) >= SENTENCE:
            yield " ".join(tokens)


def _known(texts: Iterable[str], table: TableWords) -> set[str]:
    """Return the words of these texts that the table has, in the same or another form."""
    by_start: dict[str, list[str]] = {}
    for word in {word for text in texts for word in text.split()}:
        by_start.setdefault(word[:3], []).append(word)
    return {word for own in table.words - FUNCTION_WORDS for word in by_start.get(own[:3], ()) if are_alike(word, own)}
