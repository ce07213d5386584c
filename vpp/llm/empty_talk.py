"""Tells a rule from talk about rules: "the current rule is good and fits all values well" says nothing of inputs."""

import re
from collections.abc import Sequence
from itertools import pairwise

from vpp.llm.table_words import COMPUTED, FUNCTION_WORDS, INPUT_NOUNS, TableWords, are_alike, words

WORDS_READ = 400
LABELS_READ = 50
APART = 3
"""Words between two labels that are given to different inputs; "sick or healthy" has one."""

_NUMBERS = frozenset(words("zero one two three four five six seven eight nine ten"))
_OF_ITSELF = frozenset(words("rule rules hypothesis prediction predictions"))
"""Words by which a text speaks of itself."""
_CONDITIONS = frozenset(words("if when whenever unless where whereas otherwise else whose whoever iff"))
_AMOUNTS = frozenset(words("all most many every each any some both almost nearly the these those this such"))
_BEFORE_INPUTS = frozenset(words("for on in with among to"))
_FIGURE = re.compile(
    r"(?:\b(?:above|below|over|under|than|between|least|most|exceeds?|is|outputs?|gives?|predicts?|answers?|adds?|by)"
    r"[ ]|[=<>≤≥+*/%^])[ ]?[-+]?\d++(?![ ]?%)",
    re.IGNORECASE,
)
_ORDER = (
    r"(?:\A|[.;:\n]|\b(?:always|never|to|simply|just)[ ])[ ]?"
    r"(?:answer|output|predict|return|respond|say|give|assign|label)"
)
_ORDERED = re.compile(
    rf"{_ORDER}(?:[ ](?:with|as|it|the|label|class))*[ ](?P<given>[^\s.,;]+)(?![ ]?(?:[,/]|(?:or|and)\b))",
    re.IGNORECASE,
)


def names_nothing(rule: str, said: Sequence[str], table: TableWords) -> bool:
    """Whether the text names neither a column nor an output."""
    if table.has_column(said):
        return False
    if table.dataset.task == "classification":
        return not table.has_label(rule)
    return not any(word in COMPUTED | _NUMBERS or any(c.isdigit() for c in word) for word in said)


def is_talk_of_rules(rule: str, said: Sequence[str], table: TableWords) -> bool:
    """Whether the text speaks of a rule and holds neither an input of the table, a condition nor a computation."""
    if _OF_ITSELF.isdisjoint(said):
        return False
    own = table.inputs - FUNCTION_WORDS - INPUT_NOUNS
    names_input = any(are_alike(word, name) for word in set(said[:WORDS_READ]) for name in own)
    is_computed = not COMPUTED.isdisjoint(said) or _figures(rule, table)
    if names_input or is_computed or not _CONDITIONS.isdisjoint(said):
        return False
    return not (table.has_category(rule) or _gives_one_label(rule, table) or _has_labels_apart(said, table))


def _figures(rule: str, table: TableWords) -> bool:
    """Whether a number is compared or given that is no label."""
    return any(words(found[0])[-1] not in table.labels for found in _FIGURE.finditer(rule))


def _gives_one_label(rule: str, table: TableWords) -> bool:
    """Whether it orders one label: `The rule is to always answer admitted.`"""
    given = (word for found in _ORDERED.finditer(rule) for word in words(found["given"]))
    return any(_label_of(word, table) is not None for word in given)


def _has_labels_apart(said: Sequence[str], table: TableWords) -> bool:
    """Whether two labels stand apart, or one stands before its inputs: `positive for great reviews`."""
    if any(not words(label) for label in table.dataset.classes):
        return True
    places = [(n, at) for n, word in enumerate(said[:WORDS_READ]) if (at := _label_of(word, table)) is not None]
    pairs = pairwise(places)
    if any(one != other and n - before > APART for (before, one), (n, other) in pairs):
        return True
    return any(_is_given(said, n, [place for place, _ in places]) for n, _ in places)


def _is_given(said: Sequence[str], place: int, places: Sequence[int]) -> bool:
    """Whether the label there is alone and stands before inputs that are not just `all rows`."""
    is_alone = not any(0 < place - other <= 2 for other in places)
    after = said[place + 1 : place + 3]
    return is_alone and len(after) == 2 and after[0] in _BEFORE_INPUTS and after[1] not in _AMOUNTS


def _label_of(word: str, table: TableWords) -> int | None:
    """The label that has this word, or another form of it."""
    labels = table.dataset.classes[:LABELS_READ]
    return next((n for n, label in enumerate(labels) if any(are_alike(word, own) for own in words(label))), None)
