"""Labels that a rule gives, and whether the table has them. Doubtful cases pass."""

import re

from vpp.data.labels import match_label
from vpp.llm.table_words import FUNCTION_WORDS, TableWords, are_alike, words

_CLAUSE = r"(?:^|[.;,:\n]|\b(?:then|otherwise|else|always))[ ]?(?:then[ ]|otherwise,?[ ]|else[ ]|always[ ])?"
_ACT = r"(?P<act>answer|output|predict|return|respond|say|classify|label|assign)(?:[ ](?:it|them|this|with|as|that))*"
_IS = r"(?:the[ ])?(?:class[ ]|predicted[ ])?(?:label|output|answer|prediction|class)[ ](?:is|should[ ]be|must[ ]be)"
_NAMED = r"(?:[ ](?:the[ ])?(?:class[ ])?(?:label|class))?(?:[ ](?:is|as))?[ ]?:?[ ]"
_GIVES = re.compile(rf"{_CLAUSE}(?:{_ACT}|{_IS}){_NAMED}(?=\S)", re.IGNORECASE | re.MULTILINE)
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
_NOT_LABELS = frozenset(
    words(
        "label labels class output answer prediction opposite same majority accordingly nothing anything one zero "
        "even odd positive negative"
    )
)


def foreign_label(rule: str, table: TableWords) -> str | None:
    """The first output that the rule gives and that is certainly no label of the table; None where there is none."""
    for gives in _GIVES.finditer(rule):
        if (quoted := _QUOTED.match(rule, gives.end())) is not None:
            given = next(text for text in quoted.groups() if text is not None)
            is_quoted = True
        elif (bare := _BARE.match(rule, gives.end())) is not None:
            given, is_quoted = bare[1], False
        else:
            continue
        if not _may_be_label(given, table, is_quoted=is_quoted):
            return given
    return None


def _may_be_label(given: str, table: TableWords, *, is_quoted: bool) -> bool:
    said = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not said:
        return True
    if any(are_alike(word, label) for word in said for label in table.labels) or _is_name(said, table):
        return True
    if is_quoted or given.isdigit():
        return False
    is_plain = given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")
    return is_plain or table.are_labels_numbers


def _is_name(said: list[str], table: TableWords) -> bool:
    """Whether these are words of the columns, whose value may be the output, or of the target."""
    return set(said) <= {*table.inputs, *words(table.dataset.target)}


def names_no_label(rule: str, table: TableWords) -> bool:
    """Whether the rule names none of the labels, though it cannot give one otherwise."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))
