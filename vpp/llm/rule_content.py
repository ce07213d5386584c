"""Checks that a rule says which inputs give which output, and gives labels of its table. Doubtful cases pass."""

import re
from collections.abc import Sequence
from itertools import pairwise

from vpp.data.answers import match_label
from vpp.llm.table_words import COMPUTED, FUNCTION_WORDS, INPUT_NOUNS, TableWords, are_alike, words

# --- labels that a rule gives ---------------------------------------------------------------------------------------

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
    """Return the first output of the rule that is certainly no label of the table, or None."""
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
    """Return whether "the output is X" only describes it: `The output is binary. If …`, `is determined by …`."""
    if _GOES_ON.match(rule, given.end()):
        return True
    begin = max(rule.rfind(mark, 0, start + 1) for mark in ".;\n") + 1
    after = _SENTENCE.match(rule, given.end())
    end = after.end() if after else len(rule)
    is_whole = not words(rule[:begin]) and not words(rule[end:])
    return not is_whole and not _CONDITIONAL.search(rule, begin, end)


def _computes(given: str, rule: str, table: TableWords) -> bool:
    """Return whether it names a number that the rule computes, if labels are numbers: `Let s = a + b. Output s.`"""
    if not table.are_labels_numbers or given.isdigit():
        return False
    if len(given.strip("+-")) <= 1 or "+" in given or any(c.isdigit() for c in given):
        return True
    name = re.escape(given)
    defined = rf"\b{name}[ ]?=|\b(?:let|call|compute|calculate|find|the|as)[ ]{name}[ ](?:of|be|is|between)\b"
    return given.casefold() in COMPUTED | INPUT_NOUNS or bool(re.search(defined, rule, re.IGNORECASE))


def _may_be_label(given: str, table: TableWords, *, is_quoted: bool) -> bool:
    tokens = words(given)
    if match_label(given.replace("\\", ""), table.dataset.classes) or not tokens:
        return True
    names = {*table.inputs, *words(table.dataset.target)}  # any of these columns may hold the output
    if names.issuperset(tokens) or any(are_alike(word, label) for word in tokens for label in table.labels):
        return True
    if is_quoted or given.isdigit():
        return False
    return given.casefold() in FUNCTION_WORDS | _NOT_LABELS or given.casefold().endswith("ly")


def names_no_label(rule: str, table: TableWords) -> bool:
    """Return whether the rule names no label, although this table's labels can only be given by name."""
    if table.are_labels_numbers or table.are_labels_cells:
        return False
    return not (table.has_label(rule) or _NTH.search(rule))


# --- talk about rules: "the current rule is good and fits all values well" ------------------------------------------

WORDS_READ = 400
LABELS_READ = 50
APART = 3
"""Minimum words between two labels given to different inputs; "sick or healthy" has one."""

_NUMBERS = frozenset(words("zero one two three four five six seven eight nine ten"))
_OF_ITSELF = frozenset(words("rule rules hypothesis prediction predictions"))
"""Words that a text uses for itself."""
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
"""Order of a single label: `The rule is to always answer admitted.`"""


def names_nothing(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text names neither a column nor an output."""
    if table.has_column(tokens):
        return False
    if table.dataset.task == "classification":
        return not table.has_label(rule)
    return not any(word in COMPUTED | _NUMBERS or any(c.isdigit() for c in word) for word in tokens)


def is_talk_of_rules(rule: str, tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether the text speaks of a rule and has no input of the table, no condition and no computation."""
    if _OF_ITSELF.isdisjoint(tokens):
        return False
    own = table.inputs - FUNCTION_WORDS - INPUT_NOUNS
    names_input = any(are_alike(word, name) for word in set(tokens[:WORDS_READ]) for name in own)
    has_number = any(words(figure[0])[-1] not in table.labels for figure in _FIGURE.finditer(rule))
    if names_input or has_number or not (COMPUTED | _CONDITIONS).isdisjoint(tokens):
        return False
    ordered = (word for order in _ORDERED.finditer(rule) for word in words(order["given"]))
    orders_label = any(_label_of(word, table) is not None for word in ordered)
    return not (table.has_category(rule) or orders_label or _has_labels_apart(tokens, table))


def _has_labels_apart(tokens: Sequence[str], table: TableWords) -> bool:
    """Return whether two labels stand apart, or one stands before its inputs: `positive for great reviews`."""
    if any(not words(label) for label in table.dataset.classes):
        return True
    places = [(n, at) for n, word in enumerate(tokens[:WORDS_READ]) if (at := _label_of(word, table)) is not None]
    pairs = pairwise(places)
    if any(one != other and n - before > APART for (before, one), (n, other) in pairs):
        return True
    return any(_is_given(tokens, n, [place for place, _ in places]) for n, _ in places)


def _is_given(tokens: Sequence[str], place: int, places: Sequence[int]) -> bool:
    """Return whether a single label stands there, before inputs that are not just `all rows`."""
    is_alone = not any(0 < place - other <= 2 for other in places)
    after = tokens[place + 1 : place + 3]
    return is_alone and len(after) == 2 and after[0] in _BEFORE_INPUTS and after[1] not in _AMOUNTS


def _label_of(word: str, table: TableWords) -> int | None:
    """Return the index of the label that has this word or another form of it."""
    labels = table.dataset.classes[:LABELS_READ]
    return next((n for n, label in enumerate(labels) if any(are_alike(word, own) for own in words(label))), None)
