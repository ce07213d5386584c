"""Checks that a rule says which inputs give which output, and gives labels of its table. Doubtful cases pass."""

import re
from collections.abc import Sequence

from vpp.data.answers import match_label
from vpp.llm.table_words import COMPUTED, FUNCTION_WORDS, INPUT_NOUNS, TableWords, are_alike, words

_CLAUSE = r"(?:^|[.;,:\n]|\b(?:then|otherwise|else|always))[ ]?(?:then[ ]|otherwise,?[ ]|else[ ]|always[ ])?"
_OTHERS = r"(?:every|any)(?:thing|one|body)(?:[ ]else)?|(?:the|all)(?:[ ]the)?[ ](?:rest|others?)"
_ACT = (
    r"(?:answer|output|predict|return|respond|say|classify|label|assign)"
    rf"(?:[ ](?:it|them|this|with|as|that|{_OTHERS})\b)*"
)
_NAMED = r"(?:[ ](?:the[ ])?(?:class[ ])?(?:label|class))?(?:[ ](?:is|as))?[ ]?:?[ ]"
_GIVES = re.compile(rf"{_CLAUSE}{_ACT}{_NAMED}(?=\S)", re.IGNORECASE | re.MULTILINE)
_QUOTED = re.compile(
    r"""\"([^\"\n]{1,200})\" | “([^”\n]{1,200})” | '([^'\n]{1,200})'(?!\w) | `([^`\n]{1,200})`
      | \*\*([^*\n]{1,200})\*\*""",
    re.VERBOSE,
)
_BARE = re.compile(r"([\w+-]{1,60})(?=[ ]?(?:[.;,\n)]|\Z|[ ](?:if|when|unless|otherwise|else|for)\b))")
_NTH = re.compile(
    r"\b(?:first|second|third|last|other|same|opposite|positive|negative|majority|frequent|common|remaining)"
    r"[ ](?:label|class|category|one)\b",
    re.IGNORECASE,
)
_NUMBERS = frozenset(words("zero one two three four five six seven eight nine ten"))
_NOT_LABELS = frozenset(
    words(
        "label labels class output answer prediction opposite same majority accordingly nothing anything one zero "
        "even odd positive negative two three four five six seven eight nine ten"
    )
)


def foreign_label(rule: str, table: TableWords) -> str | None:
    """Return the first output of the rule that is certainly no label of the table, or None."""
    for gives in _GIVES.finditer(rule):
        quoted, bare = _QUOTED.match(rule, gives.end()), _BARE.match(rule, gives.end())
        given = next(filter(None, quoted.groups())) if quoted else bare[1] if bare else None
        if given and not _may_be_label(given, rule, table, is_quoted=quoted is not None):
            return given
    return None


def _is_computed(given: str, rule: str) -> bool:
    """Return whether it names a number that the rule computes: `Let s = a + b. Output s.`"""
    if len(given.strip("+-")) <= 1 or "+" in given or any(c.isdigit() for c in given):
        return True
    name = re.escape(given)
    defined = rf"\b{name}[ ]?=|\b(?:let|call|compute|calculate|find|the|as)[ ]{name}[ ](?:of|be|is|between)\b"
    return given.casefold() in COMPUTED | INPUT_NOUNS or bool(re.search(defined, rule, re.IGNORECASE))


def _may_be_label(given: str, rule: str, table: TableWords, *, is_quoted: bool) -> bool:
    tokens = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not tokens:
        return True
    if any(are_alike(word, label) for word in tokens for label in table.labels) or _is_name(tokens, table):
        return True
    if is_quoted or given.isdigit():
        return False
    if table.are_labels_numbers and _is_computed(given, rule):
        return True
    return given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")


def _is_name(tokens: list[str], table: TableWords) -> bool:
    """Return whether these are words of the columns, any of which may hold the output, or of the target."""
    return set(tokens) <= {*table.inputs, *words(table.dataset.target)}


def names_no_label(rule: str, table: TableWords) -> bool:
    """Return whether the rule names no label, although this table's labels can only be given by name."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))


def names_nothing(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text names neither a column nor an output."""
    if table.has_column(tokens):
        return False
    if table.dataset.task == "classification":
        return not table.has_label(rule)
    return not any(word in COMPUTED | _NUMBERS or any(c.isdigit() for c in word) for word in tokens)
