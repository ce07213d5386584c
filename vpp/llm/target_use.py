"""Patterns of rules that need the target to be known: `if the species is`, `use the species column`."""

import re
from collections.abc import Iterable, Iterator

from vpp.data.answers import shown_label
from vpp.llm.asserted import is_truth_word
from vpp.llm.table_words import FUNCTION_WORDS, TableWords, any_of, spelt, words

LISTED = 100
"""Maximum names, categories or labels in a pattern."""

_MARK = r"[\"'`“”‘’*]{0,3}"
_WHEN = r"\b(?:if|when|whenever|where|unless|provided[ ]that|given[ ]that)"
_VERB = (
    rf"{_MARK}[ ]?(?:(?:column|value)[ ])?"
    r"(?:(?:is|are|was|were|has|equals|contains|exists)\b|[=<>≤≥])"
)
_GIVE = r"\b(?:then|answer|output|predict|return|respond|say|classify|label|assign|give)\b"
_NO_ANSWER_YET = rf"(?:(?!{_GIVE}|\b(?:otherwise|else)\b)(?:[^.,;:\n]|\.(?=\d))){{1,160}}?"
_OBJECT = r"(?:(?!\b(?:if|when|whenever|where|unless|otherwise|else|for|in|on|by)\b)(?:[^.,;:\n]|\.(?=\d))){0,40}?"
_END = rf"(?=[.,;:]|\s*\Z|[ ]{_GIVE}|[ ]?(?:->|→|=>))"
_THEN = rf"(?=,?[ ]{_GIVE})"
_READ = (
    r"\b(?:us(?:e|es|ing)|look(?:s|ing)?[ ]at|checks?|checking|reads?|reading|consults?|considers?|copy|copies|takes?"
    r"|inspects?|see|according[ ]to|based[ ]on|depending[ ]on|from|by)"
)

_AMOUNT = r"(?:more|most|fewer|fewest|less|least|higher|lower|many)"
_COMPARED = re.compile(rf"\b{_AMOUNT} ([^\W\d_]{{2,40}}s)\b")
"""What is counted, in the plural: `more clicks`."""
_DESCRIBING = frozenset(
    words(
        "good bad low medium high positive negative late early cheap expensive poor rich safe risky normal abnormal "
        "small large young old short long strong weak"
    )
)
"""Labels that may also describe an input."""


def target_uses(table: TableWords) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of such rules; the target's name is left out if an input's name contains it."""
    target = words(table.dataset.target)
    is_of_input = any(set(target) <= set(words(name)) for name in table.dataset.inputs)
    patterns = [*_labels_of_categories(table), *_amounts_of_labels(table)]
    if target and not is_of_input and not set(target) <= FUNCTION_WORDS:
        name = rf"{_MARK}(?<![^\W_]){spelt(table.dataset.target)}(?![^\W_])"
        patterns += (*_readings(name), *_conditions(name, table))
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _labels_of_categories(table: TableWords) -> Iterator[str]:
    """Yield patterns of a label used as a category or a column: `if math is not rejected`, `if math is A and rejected`.

    There are none if a label is also a category. Labels that may describe an input do not count: "if the history is
    good".
    """
    labels = [label for label in map(shown_label, table.dataset.classes) if not is_truth_word(label)]
    asked = [label for label in labels if re.search(r"[^\W\d_]", label) and not _DESCRIBING.issuperset(words(label))]
    if not asked or not table.category_columns or any(map(table.has_category, labels)):
        return
    thing = rf"(?:{_any_of(map(spelt, table.category_columns))}|{_any_of(map(spelt, table.categories))})"
    things = rf"(?:(?:the|an?|any|other|all|every|each|both)[ ]){{0,2}}{thing}(?:[ ](?:(?:and|or|a)\b|{thing})){{0,8}}+"
    verb = r"(?:is|are|was|were|being|=)[ ](?:(?:not|both|all|also|only|always|never)[ ])?"
    label = rf"{_MARK}{_any_of(map(spelt, asked))}{_MARK}"
    when, further = r"\b(?:if|when|whenever|unless)[ ]", rf"{_NO_ANSWER_YET}[ ](?:and|or)[ ]"
    or_label = rf"(?:{_MARK}{thing}{_MARK}[ ]or[ ]){{0,3}}+{label}(?:{_END}|[ ](?:and|or)\b)"
    yield rf"{when}(?:{further})?{_MARK}{things}{_MARK}[ ]{verb}{or_label}"
    if not table.text_columns:
        yield rf"{when}{further}{label}(?:[ ](?:is|are|was|were)\b|{_THEN})"


def _amounts_of_labels(table: TableWords) -> Iterator[str]:
    """Yield `if it has more clicks` and `if the click count is`, where every label says which input has more clicks."""
    spoken = [{match[1] for match in _COMPARED.finditer(label.casefold())} for label in table.dataset.classes]
    things = frozenset.intersection(*map(frozenset, spoken)) - table.inputs if spoken else ()
    known = rf"(?P<known>{any_of(re.escape(word.removesuffix('s')) + 's?' for word in things)})"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}\b(?:{_AMOUNT}|(?:number|amount|count)s?[ ]of)[ ](?:the[ ])?{known}\b"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}\b{known}[ ](?:count|number|rate)s?\b"


def _any_of(patterns: Iterable[str]) -> str:
    """Return a pattern of any of these as a whole word, limited to the longest."""
    return rf"(?:{any_of(patterns, LISTED)})(?!\w)"


def _readings(name: str) -> Iterator[str]:
    """Yield `use the status column`, `copy the status`, `its own price`, `equals the price in the row`."""
    column = rf"(?:{name}{_MARK}[ ](?:column|field|feature|attribute)\b|column[ ]{name})"
    yield rf"{_READ}[ ](?:only[ ])?(?:the[ ])?(?:values?[ ](?:of|in)[ ])?(?:the[ ])?{column}"
    yield rf"\b(?:copy|repeat)[ ](?:the[ ])?{name}"
    yield rf"\bown[ ]{name}"
    place = r"(?:given[ ])?in[ ](?:the|its|this|that)[ ](?:same[ ])?(?:row|input|table)\b"
    yield rf"(?:\b(?:is|equals?|as)[ ]|=[ ]?)(?:the[ ])?{name}{_MARK}[ ]{place}"


def _conditions(name: str, table: TableWords) -> Iterator[str]:
    """Yield `if status is sick`, `if age is above 40 and the patient's status is sick`.

    A rule for texts may ask for what a text says: "if the sentiment is favourable". So if the table has texts, a label
    must follow the verb. If all inputs are texts, even that is allowed, unless the labels are numbers.
    """
    if (
        len(table.text_columns) == len(table.dataset.inputs)
        and table.dataset.task == "classification"
        and not table.are_labels_numbers
    ):
        return
    verb = _VERB + (_label_of(table) if table.text_columns else "")
    of_whom = rf"{_MARK}(?:[ ]of[ ](?:the|a|this|each)[ ]{_not_text(table)}[^\W_]{{1,40}})?"
    asked = rf"{_lead(table)}{name}{of_whom}{verb}"
    yield rf"{_WHEN}[ ]{asked}"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET}[ ](?:and|or)[ ]{asked}{_OBJECT}{_END}"
    yield rf"{_WHEN}[ ]{_NO_ANSWER_YET},[ ](?:and|or)[ ]{asked}{_OBJECT}{_THEN}"
    if not table.text_columns:
        yield rf"\b(?:based[ ]on|depending[ ]on)[ ]{_lead(table)}{name}"


def _lead(table: TableWords) -> str:
    """Match the words before the name: `the value of the`, `the patient's`."""
    owner = rf"(?:{_not_text(table)}[^\W_]{{1,40}}['’]s?[ ])?"
    return rf"(?:(?:the|a|an|its|their|his|her|this)[ ])?{owner}(?:(?:value|column)[ ](?:of[ ]|in[ ])?)?(?:the[ ])?"


def _not_text(table: TableWords) -> str:
    """Keep "the sentiment of the review" out: a text has a sentiment of its own."""
    texts = {word for name in table.text_columns for word in words(name)}
    return rf"(?!(?:{'|'.join(map(re.escape, sorted({*texts, 'text', 'review', 'sentence'})))})\b)"


def _label_of(table: TableWords) -> str:
    shown = _any_of(map(re.escape, map(shown_label, table.dataset.classes)))
    return rf"[=]{{0,2}}[ ]?(?:(?:not|equal[ ]to)[ ])?{_MARK}(?:{shown}|(?:above|below|over|under)?[ ]?[-+]?\d)"
