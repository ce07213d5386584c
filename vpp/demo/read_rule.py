"""Grammar of hypotheses: sentences that decide, and descriptions before them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from vpp.demo.combine import first, seq
from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.read_conditions import condition
from vpp.demo.read_terms import number, term
from vpp.demo.rule import Case, Condition, Outcome, Rule
from vpp.demo.terms import Arithmetic
from vpp.demo.values import read_number

_SAYS = "output|predict|answer|return|say|the output is|the class label is|the label is|the answer is"
_IF = "if|when"
_ELSE = "otherwise|else"
_SEPARATORS = ", and|, or|; and|and|,|;"
_CONDITIONAL = re.compile(r"\b(if|when|otherwise|else|unless|except|only)\b", re.IGNORECASE)
_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading a text."""

    rule: Rule | None
    """None if no sentence decides anything."""
    start: int
    """Offset of the rule's first sentence in the text."""
    unread: tuple[str, ...]
    """Sentences that seem to belong to the rule and could not be read."""
    hints: str
    """Text before the rule: seed sentence and prior."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """An outcome and its condition; without one, the outcome of every other row."""

    outcome: Outcome
    condition: Condition | None = None


@lru_cache(maxsize=4096)
def read_rule(text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> Reading:
    match = _TARGET.search(text)
    cursor = Cursor(text, names, labels, match[1].strip() if match else "")
    try:
        return _read(cursor)
    except (TooTangled, RecursionError):
        return Reading(None, len(text), (text[:80],), text)


def _read(cursor: Cursor) -> Reading:
    """Read every sentence; sentences after an unconditional one begin the rule anew, so that the last rule counts."""
    start, clauses, unread = 0, list[_Clause](), list[str]()
    while not cursor.finished():
        if cursor.here.kind == "stop":
            cursor.position += 1
            continue
        begin = cursor.here.start
        decided = cursor.attempt(_sentence)
        if decided is None:
            sentence = _passed_over(cursor)
            unread += [sentence] if clauses or _CONDITIONAL.search(sentence) else []
            continue
        if not clauses or clauses[-1].condition is None:
            unread = [] if clauses else unread
            start, clauses = begin, []
        clauses += decided
    if not clauses:
        return Reading(None, len(cursor.text), tuple(unread), cursor.text)
    return Reading(_rule(clauses, cursor.labels), start, tuple(unread), cursor.text[:start])


def _passed_over(cursor: Cursor) -> str:
    """Step to the end of the sentence, and return its text."""
    start = cursor.here.start
    while cursor.here.kind != "stop":
        cursor.position += 1
    return cursor.text[start : cursor.here.start]


def _rule(clauses: list[_Clause], labels: list[str]) -> Rule:
    """Build the rule; without an outcome for other rows, it is that of two labels which no case has."""
    cases = tuple(Case(one.condition, one.outcome) for one in clauses if one.condition is not None)
    otherwise = clauses[-1].outcome if clauses[-1].condition is None else None
    left = [label for label in labels if label not in {case.outcome for case in cases}]
    if otherwise is None and len(labels) == 2 and len(left) == 1:
        otherwise = left[0]
    return Rule(cases, otherwise)


# --- clauses ------------------------------------------------------------------------------------------------


def _sentence(cursor: Cursor) -> list[_Clause] | None:
    """Read clauses to the end of the sentence; only the last may be without a condition."""
    clauses: list[_Clause] = []
    while cursor.here.kind != "stop":
        clause: _Clause | None = cursor.attempt(_clause)
        if clause is None or (clauses and clauses[-1].condition is None):
            return None
        clauses.append(clause)
        cursor.take(_SEPARATORS)
    return clauses


def _outcome(cursor: Cursor) -> Outcome | None:
    """Read `output 3x + 4`, `TARGET = 3x + 4` or `the class label is 1`."""
    cursor.take("then|always")
    if not cursor.attempt(_target_is):
        cursor.take(_SAYS)
    if cursor.labels:
        return cursor.attempt(_label)
    return cursor.first(_working, term)


def _target_is(cursor: Cursor) -> bool | None:
    cursor.take("the")
    is_named = cursor.take_text(cursor.target) or cursor.take("y")
    return True if is_named and cursor.take("=|is") else None


def _label(cursor: Cursor) -> Outcome | None:
    quoted = cursor.take_kind("string")
    if quoted is not None:
        wanted = quoted.plain.strip().casefold()
        return next((label for label in cursor.labels if label.casefold() == wanted), None)
    label = cursor.take_one_of(cursor.labels)
    value = cursor.attempt(number) if label is None else None
    return label if value is None else next((one for one in cursor.labels if read_number(one) == value), None)


_working = seq(
    "multiply", term, "by", term, "and add", term,
    make=lambda left, factor, base: Arithmetic("+", Arithmetic("*", left, factor), base),
)  # fmt: skip
_always = seq(_outcome, make=_Clause)
_if_clause = seq(_IF, condition, ",?", _outcome, make=lambda asked, outcome: _Clause(outcome, asked))
_clause = first(
    seq(_ELSE, ",?", first(_if_clause, _always)),
    _if_clause,
    seq(_outcome, f"{_ELSE}|for every input", make=_Clause),
    seq(_outcome, ",?", _IF, condition, make=_Clause),
    _always,
)
"""Reads `otherwise, output 0`, `if …, output 1`, `0 otherwise`, `output 1 if …` or `always output 1`."""
