"""Write rules, conditions, terms and checks in English, each form in one way, which the reader reads back."""

import math
import re

from vpp.demo.lexer import LONGEST_TEXT, RESERVED
from vpp.demo.rule import All, Any, Condition, Is, Not, Outcome, Pattern, Rule
from vpp.demo.terms import (
    EVEN,
    ODD,
    WHOLE,
    Absent,
    Arithmetic,
    Between,
    Cell,
    Check,
    Compare,
    Distance,
    Fails,
    Fold,
    Function,
    Holds,
    Item,
    Items,
    Multiple,
    Number,
    OneOf,
    Tally,
    Term,
)


class Unsayable(ValueError):
    """The rule cannot be written."""


# --- names and numbers --------------------------------------------------------------------------------------

_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^()\n\"]*\))?")
_PLAIN_LABEL = re.compile(r"\w+")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_reserved(text: str) -> bool:
    return any(word in RESERVED for word in re.findall(r"\w+", text.lower()))


def say_name(name: str) -> str:
    """Write a column's name; quote it if it could be read as a word of the rule."""
    plain = _PLAIN_NAME.fullmatch(name) and (name in {"a", "y"} or not _is_reserved(name))
    return name if plain else _quoted(name)


def say_outcome(outcome: Outcome) -> str:
    """Write a label, quoted unless it is one plain word or a whole number, or a formula."""
    if not isinstance(outcome, str):
        return say_term(outcome)
    return outcome if _PLAIN_LABEL.fullmatch(outcome) and not _is_reserved(outcome) else _quoted(outcome)


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number; `inf` for infinity."""
    if not math.isfinite(value):
        return repr(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def listed(words: list[str], joint: str = "and") -> str:
    """Join words, as in `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


# --- terms --------------------------------------------------------------------------------------------------

_ORDINALS = {0: "first", 1: "second", 2: "third", 3: "fourth", 4: "fifth", 5: "sixth", 6: "seventh", -1: "last"}
_FOLDS = {"max": "largest", "min": "smallest", "mean": "average"}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_MINUS_BINDS = 3


def say_term(term: Term) -> str:
    match term:
        case Number():
            return say_number(term.value)
        case Cell():
            return say_name(term.name)
        case Arithmetic():
            return _say_arithmetic(term)
        case Function():
            return f"{term.name}({say_term(term.argument)})"
        case Fold(kind="max" | "min", items=Items() as items) if items == WHOLE:
            return f"the {_FOLDS[term.kind]} number"
        case Fold(kind="distinct"):
            return f"the number of distinct numbers{_among(term.items)}"
        case Fold():
            return f"the {_FOLDS.get(term.kind, term.kind)} of {_say_items(term.items)}"
        case Tally():
            return f"the number of {_say_counted(term, plural=True)}"
        case Item(items=items, index=index) if index in _ORDINALS:
            return f"the {_ORDINALS[index]} number{_among(items)}"
        case Distance():
            point = ", ".join(say_term(one) for one in term.point)
            centre = "the origin" if term.centre == (0.0, 0.0) else f"({', '.join(map(say_number, term.centre))})"
            return f"the distance from {centre} to the point ({point})"
    raise Unsayable


def _say_items(items: Items) -> str:
    """Write items: `the numbers`, `a, b and c`, `the first 3 numbers`."""
    if items.names:
        return listed([say_name(name) for name in items.names])
    if items.stop is not None:
        return f"the first {items.stop} numbers"
    return "the numbers" if items.start is None else f"the last {-items.start} numbers"


def _among(items: Items) -> str:
    return "" if items == WHOLE else f" among {_say_items(items)}"


def _say_counted(tally: Tally, *, plural: bool) -> str:
    """Write the counted items: `even numbers`, `0s`, `numbers that are greater than 5 among a, b and c`."""
    noun = "numbers" if plural else "number"
    match tally.check:
        case Compare(sign="=", other=Number(value=value)):
            words = say_number(value) + ("s" if plural else "")
        case Multiple() as check if check in (EVEN, ODD):
            words = f"{'even' if check == EVEN else 'odd'} {noun}"
        case check:
            words = f"{noun} that {'are' if plural else 'is'} {say_check(check).removeprefix('is ')}"
    return words + _among(tally.items)


def _say_arithmetic(term: Arithmetic) -> str:
    if _is_negation(term):
        return f"-{_inner(term.right, _MINUS_BINDS)}"
    if term.op == "+" and (subtracted := _negated(term.right)) is not None:
        return say_term(Arithmetic("-", term.left, subtracted))
    binds = _BINDS[term.op]
    left, right = (binds + 1, binds) if term.op == "^" else (binds, binds + 1)
    sign = term.op if term.op == "^" else f" {term.op} "
    return f"{_inner(term.left, left)}{sign}{_inner(term.right, right)}"


def _is_negation(term: Arithmetic) -> bool:
    return (term.op, term.left) in (("-", Number(0.0)), ("*", Number(-1.0)))


def _negated(term: Term) -> Term | None:
    match term:
        case Number(value=value) if value < 0:
            return Number(-value)
        case Arithmetic(op="*", left=Number(value=value)) if value < 0:
            return term.right if value == -1 else Arithmetic("*", Number(-value), term.right)
    return None


def _inner(term: Term, binding: int) -> str:
    text = say_term(term)
    if isinstance(term, Arithmetic):
        own = _MINUS_BINDS if _is_negation(term) else _BINDS[term.op]
        return f"({text})" if own < binding else text
    return f"({text})" if isinstance(term, Number) and term.value < 0 and binding > _MINUS_BINDS else text


# --- checks -------------------------------------------------------------------------------------------------

_COMPARED = {
    ">": "is greater than", ">=": "is at least", "<": "is less than", "<=": "is at most",
    "=": "is equal to", "!=": "is not equal to",
}  # fmt: skip


def say_check(check: Check) -> str:
    """Write a check as it follows its subject: `is even`, `is at most 3`, `is not "Biscoe"`."""
    match check:
        case Compare():
            return f"{_COMPARED[check.sign]} {say_term(check.other)}"
        case Between():
            return f"is between {say_term(check.low)} and {say_term(check.high)}"
        case Multiple() if check in (EVEN, ODD):
            return "is even" if check == EVEN else "is odd"
        case Multiple():
            return f"is divisible by {check.of}"
        case OneOf():
            values = [say_number(value) if isinstance(value, float) else _quoted(value) for value in check.values]
            return f"is {'one of ' if len(values) > 1 else ''}{listed(values, 'or')}"
        case Holds():
            return f"contains the text {_quoted(check.piece)}"
        case Absent():
            return "is missing"
        case Fails():
            return _denied(say_check(check.check))
    raise Unsayable


def _denied(text: str) -> str:
    if text.startswith("contains "):
        return f"does not contain {text.removeprefix('contains ')}"
    if text.startswith("is ") and not text.startswith("is not "):
        return f"is not {text[3:]}"
    raise Unsayable


# --- conditions and rules -----------------------------------------------------------------------------------

_PATTERNS = {
    "ascending": ("the numbers are in ascending order", ""),
    "descending": ("the numbers are in descending order", ""),
    "distinct": ("the numbers are all different", "the sequence contains a repeated number"),
    "neighbours equal": ("two neighbours are equal", "no two neighbours are equal"),
    "palindrome": ("the sequence is a palindrome", "the sequence is not a palindrome"),
    "split pair": ("the sequence contains exactly two identical numbers that are not adjacent", ""),
}
"""How each pattern is written, and its negation if that is not `not (…)`."""


def say_condition(condition: Condition) -> str:
    """Write a condition as a clause that can follow `if`."""
    match condition:
        case Is(term=Tally() as tally, check=Compare(sign=">=", other=Number(value=1.0))) if tally.items == WHOLE:
            return f"the sequence contains at least one {_say_counted(tally, plural=False)}"
        case Is(term=Tally() as tally, check=Compare(sign="=", other=Number(value=0.0))) if tally.items == WHOLE:
            return f"the sequence contains no {_say_counted(tally, plural=True)}"
        case Is():
            return f"{say_term(condition.term)} {say_check(condition.check)}"
        case Pattern(items=items) if items == WHOLE:
            return _PATTERNS[condition.kind][0]
        case All() | Any():
            joint = " and " if isinstance(condition, All) else " or "
            return joint.join(_part(part) for part in condition.parts)
        case Not(part=Pattern(kind=kind, items=items)) if items == WHOLE and _PATTERNS[kind][1]:
            return _PATTERNS[kind][1]
        case Not():
            return f"not ({say_condition(condition.part)})"
    raise Unsayable


def _part(part: Condition) -> str:
    text = say_condition(part)
    return f"({text})" if isinstance(part, All | Any) else text


def say_rule(rule: Rule) -> str:
    """Write the rule in a sentence. Raises Unsayable."""
    clauses = [f"if {say_condition(case.condition)}, output {say_outcome(case.outcome)}" for case in rule.cases]
    if rule.otherwise is not None:
        opening = "always output" if isinstance(rule.otherwise, str) and not rule.cases else "output"
        clauses.append(f"{opening} {say_outcome(rule.otherwise)}")
    text = "; otherwise, ".join(clauses)
    if not text or len(text) > LONGEST_TEXT // 2:
        raise Unsayable
    return text[0].upper() + text[1:] + "."
