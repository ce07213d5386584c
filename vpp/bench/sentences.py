"""Reads true rules that a suite gives as sentences, as HypoBench does, into cases of conditions.

`Students with an A in Math will be admitted, otherwise rejected`; several sentences are alternatives. A reading is
used only if it fits the table's rows: `fit`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from vpp.bench.true_rule import Case, Condition, TrueRule
from vpp.data.columns import is_number

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COMPARISONS = (
    (r"(?:greater|more|less|fewer) than or equal to", {"g": ">=", "m": ">=", "l": "<=", "f": "<="}),
    (r"(?:greater|more) than|above|over", {"": ">"}),
    (r"(?:less|fewer) than|below|under", {"": "<"}),
    (r"at least", {"": ">="}),
    (r"at most", {"": "<="}),
)
STEM = 5
"""Letters that words of one stem share."""
NO_NAME = {"num", "number", "of", "the", "to", "a", "student", "students", "s", "grade", "in", "status", "is", "has"}
_AND = re.compile(r",? and ", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?")
_NOT = re.compile(r"\b(?:not|no|without|other than|never)\b", re.IGNORECASE)
Values = Mapping[str, Sequence[str]]
"""Distinct cells by column."""


def stems(text: str) -> set[str]:
    """Return the stems of the words that can name a column."""
    words = (word.lower() for word in _WORD.findall(text.replace("_", " ")))
    return {
        (word[:-1] if word.endswith("s") and len(word) > 3 else word)[:STEM] for word in words if word not in NO_NAME
    }


def nearest(text: str, columns: Iterable[str]) -> str | None:
    """Return the column whose name shares most stems with a text; None if none does, or several do alike."""
    scores = {column: len(stems(column) & stems(text)) for column in columns}
    return _best(scores)


def _best(scores: Mapping[str, float]) -> str | None:
    top = max(scores.values(), default=0)
    best = [name for name, score in scores.items() if score == top]
    return best[0] if top > 0 and len(best) == 1 else None


def read_sentences(sentences: Sequence[str], values: Values, labels: Sequence[str]) -> TrueRule | None:
    """Return the rule of alternative sentences; None if one of them is not understood.

    values: of the input columns. labels: of the target; only rules about one of two labels are read.
    """
    read = [_read(sentence, values, labels) for sentence in sentences]
    cases = [case for case in read if case is not None]
    answers = {case.label for case in cases}
    others = [label for label in labels if label not in answers]
    if not cases or len(cases) < len(read) or len(answers) != 1 or len(others) != 1:
        return None
    return TrueRule(cases=tuple(cases), otherwise=Case(conditions=(), label=others[0]))


def _read(sentence: str, values: Values, labels: Sequence[str]) -> Case | None:
    before, word, after = " ".join(sentence.split()).rstrip(". ").partition(" if ")
    if word:
        said, asked = before, after
    else:
        asked, _, said = before.partition(" will ")
    said = said.partition("otherwise")[0]
    label = next((label for label in labels if re.search(rf"\b{re.escape(label)}\b", said, re.IGNORECASE)), None)
    conditions = [_condition(clause, values) for clause in _AND.split(asked)]
    known = tuple(condition for condition in conditions if condition is not None)
    if label is None or len(known) < len(conditions):
        return None
    return Case(conditions=known, label=label)


def _condition(clause: str, values: Values) -> Condition | None:
    """Read a clause about one column; None if no column, or no value of it, is named."""
    found = {column: _named_values(clause, cells) for column, cells in values.items()}
    scores = {column: len(stems(column) & stems(clause)) + 0.9 * len(found[column]) for column in values}
    column = _best(scores)
    if column is None:
        return None
    cells, is_negative = values[column], bool(_NOT.search(clause))
    if all(is_number(cell) for cell in cells):
        return _about_number(clause, column)
    if {cell.lower() for cell in cells} <= {"true", "false"}:
        return Condition(column=column, op="=", value=str(not is_negative))
    if {cell.lower() for cell in cells} <= {"yes", "no"}:
        return Condition(column=column, op="=", value="no" if is_negative else "yes")
    if not found[column]:
        return None
    return Condition(column=column, op="not in" if is_negative else "in", value=tuple(found[column]))


def _named_values(clause: str, cells: Sequence[str]) -> list[str]:
    """List the categories that a clause names, in the table's own case."""
    if all(is_number(cell) for cell in cells):
        return []
    return [cell for cell in cells if re.search(rf"\b{re.escape(cell)}\b", clause)]


def _about_number(clause: str, column: str) -> Condition | None:
    text = clause.lower()
    for number, word in enumerate(NUMBERS):
        text = re.sub(rf"\b{word}\b", str(number), text)
    for pattern, operations in COMPARISONS:
        match = re.search(rf"\b({pattern})\s+(\d+(?:\.\d+)?)", text)
        if match:
            op = operations.get(match[1][0]) or operations[""]
            return Condition(column=column, op=op, value=float(match[2]))
    plain = re.search(r"\b(\d+(?:\.\d+)?)\b", text)
    if plain or _NOT.search(text):
        return Condition(column=column, op="=", value=float(plain[1]) if plain else 0.0)
    return None
