"""Labels that a rule gives, and whether the table has them. Doubtful cases pass."""

import re

from vpp.data.answers import match_label
from vpp.llm.table_words import COMPUTED, FUNCTION_WORDS, INPUT_NOUNS, TableWords, are_alike, words

_CLAUSE = r"(?:^|[.;,:\n]|\b(?:then|otherwise|else|always))[ ]?(?:then[ ]|otherwise,?[ ]|else[ ]|always[ ])?"
_OTHERS = r"(?:every|any)(?:thing|one|body)(?:[ ]else)?|(?:the|all)(?:[ ]the)?[ ](?:rest|others?)"
_ACT = (
    r"(?P<act>answer|output|predict|return|respond|say|classify|label|assign)"
    rf"(?:[ ](?:it|them|this|with|as|that|{_OTHERS})\b)*"
)
_IS = r"(?:the[ ])?(?:class[ ]|predicted[ ])?(?:label|output|answer|prediction|class)[ ](?:is|should[ ]be|must[ ]be)"
_NAMED = r"(?:[ ](?:the[ ])?(?:class[ ])?(?:label|class))?(?:[ ](?:is|as))?[ ]?:?[ ]"
_GIVES = re.compile(rf"{_CLAUSE}(?:{_ACT}|{_IS}){_NAMED}(?=\S)", re.IGNORECASE | re.MULTILINE)
_QUOTED = re.compile(
    r"""\"([^\"\n]{1,200})\" | “([^”\n]{1,200})” | '([^'\n]{1,200})'(?!\w) | `([^`\n]{1,200})`
      | \*\*([^*\n]{1,200})\*\*""",
    re.VERBOSE,
)
_BARE = re.compile(r"([\w+-]{1,60})(?=[ ]?(?:[.;,\n)]|\Z|[ ](?:if|when|unless|otherwise|else|for)\b))")
_SENTENCE = re.compile(r"[^.;\n]*")
_CONDITIONAL = re.compile(r"\b(?:if|when|whenever|unless|otherwise|else|then|always|for)\b|->|→|=>", re.IGNORECASE)
_GOES_ON = re.compile(
    r",[ ]?(?!(?:otherwise|else|if|when|unless|and|or|but|then|for|while|because|since|the|it)\b)(?=\S)", re.IGNORECASE
)
_NTH = re.compile(
    r"\b(?:first|second|third|last|other|same|opposite|positive|negative|majority|frequent|common|remaining)"
    r"[ ](?:label|class|category|one)\b",
    re.IGNORECASE,
)
_NOT_LABELS = frozenset(
    words(
        "label labels class output answer prediction opposite same majority accordingly nothing anything one zero "
        "even odd positive negative two three four five six seven eight nine ten"
    )
)


def foreign_label(rule: str, table: TableWords) -> str | None:
    """The first output that the rule gives and that is certainly no label of the table; None where there is none."""
    for gives in _GIVES.finditer(rule):
        if (quoted := _QUOTED.match(rule, gives.end())) is not None:
            given = next(text for text in quoted.groups() if text is not None)
            is_quoted = True
        elif (bare := _BARE.match(rule, gives.end())) is not None:
            if gives["act"] is None and _describes(rule, gives.start(), bare):
                continue
            given, is_quoted = bare[1], False
        else:
            continue
        if not (_may_be_label(given, table, is_quoted=is_quoted) or (not is_quoted and _computes(given, rule, table))):
            return given
    return None


def _describes(rule: str, start: int, given: re.Match[str]) -> bool:
    """Whether "the output is X" describes the output: `The output is binary. If …`, `is determined, mainly, by …`."""
    if _GOES_ON.match(rule, given.end()):
        return True
    begin = max(rule.rfind(mark, 0, start + 1) for mark in ".;\n") + 1
    after = _SENTENCE.match(rule, given.end())
    end = after.end() if after else len(rule)
    is_whole = not words(rule[:begin]) and not words(rule[end:])
    return not is_whole and not _CONDITIONAL.search(rule, begin, end)


def _computes(given: str, rule: str, table: TableWords) -> bool:
    """Whether it stands for a number that the rule works out, where labels are numbers: `Let s = a + b. Output s.`"""
    if not table.are_labels_numbers or given.isdigit():
        return False
    if len(given.strip("+-")) <= 1 or "+" in given or any(c.isdigit() for c in given):
        return True
    name = re.escape(given)
    defined = rf"\b{name}[ ]?=|\b(?:let|call|compute|calculate|find|the|as)[ ]{name}[ ](?:of|be|is|between)\b"
    return given.casefold() in COMPUTED | INPUT_NOUNS or bool(re.search(defined, rule, re.IGNORECASE))


def _may_be_label(given: str, table: TableWords, *, is_quoted: bool) -> bool:
    said = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not said:
        return True
    if any(are_alike(word, label) for word in said for label in table.labels) or _is_name(said, table):
        return True
    if is_quoted or given.isdigit():
        return False
    return given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")


def _is_name(said: list[str], table: TableWords) -> bool:
    """Whether these are words of the columns, whose value may be the output, or of the target."""
    return set(said) <= {*table.inputs, *words(table.dataset.target)}


def names_no_label(rule: str, table: TableWords) -> bool:
    """Whether the rule names none of the labels, though it cannot give one otherwise."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))
