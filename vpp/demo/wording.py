"""Puts rules into words, in one of several styles; the reader reads every one of them back."""

import math
import re
from dataclasses import dataclass

from vpp.demo.lexer import LONGEST_TEXT
from vpp.demo.rule import (
    EVEN,
    ODD,
    WHOLE,
    Absent,
    All,
    Any,
    Arithmetic,
    Between,
    Case,
    Cell,
    Check,
    Compare,
    Condition,
    Distance,
    Every,
    Fails,
    Fold,
    Function,
    Holds,
    Input,
    Is,
    Item,
    Items,
    Multiple,
    Not,
    Number,
    OneOf,
    Outcome,
    Pattern,
    Rule,
    Tally,
    Term,
)
from vpp.demo.vocabulary import RESERVED


class Unsayable(ValueError):
    """There are no words here for this rule."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a writer likes to put things."""

    frame: int = 0
    """Which sentence pattern; taken modulo the number there are."""
    signs: bool = False
    """Signs as in `x > 3` in place of words."""
    noun: str = "integer"
    """What the members of a sequence are called."""
    synonym: int = 0
    """Which of several phrases of one meaning; taken modulo the number there are."""
    target: str = ""
    """The target's name, where the writer likes to use it."""
    names: tuple[str, ...] = ()
    """The columns: a category's name that could be taken for one of them is written in quotes."""


_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^()\n\"]*\))?")
_PLAIN_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?: [A-Za-z][A-Za-z0-9_]*)*")
_PLAIN_LABEL = re.compile(r"\w+")
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_ORDINALS = {0: "first", 1: "second", 2: "third", 3: "fourth", 4: "fifth", 5: "sixth", 6: "seventh", -1: "last"}


def quoted(text: str) -> str:
    """The text in double quotes, with a backslash before what needs one."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _reserved(text: str) -> bool:
    return any(word in RESERVED for word in re.findall(r"\w+", text.lower()))


def say_name(name: str) -> str:
    """A column's name: bare where it cannot be taken for a word of the rule, else in quotes."""
    plain = _PLAIN_NAME.fullmatch(name) and (name == "a" or not _reserved(name))
    return name if plain else quoted(name)


def say_value(value: str | float, style: Style) -> str:
    """A category's name or a number."""
    if isinstance(value, float):
        return say_number(value)
    taken = {name.casefold() for name in style.names}.intersection([value.casefold(), *value.casefold().split()])
    return value if _PLAIN_VALUE.fullmatch(value) and not _reserved(value) and not taken else quoted(value)


def say_label(label: str) -> str:
    """A label, in quotes unless it is one plain word or a whole number."""
    return label if _PLAIN_LABEL.fullmatch(label) and not _reserved(label) else quoted(label)


def say_number(value: float) -> str:
    """The shortest decimal that reads back as the number; `inf` for one beyond all."""
    if not math.isfinite(value):
        return repr(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def listed(words: list[str], joint: str = "and") -> str:
    """a, b and c"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


# --- terms --------------------------------------------------------------------------------------------------


def say_items(items: Items, style: Style) -> str:
    """`the integers in the sequence`, `a, b and c`, `the first three integers`."""
    if items.names:
        if items.start is not None or items.stop is not None:
            raise Unsayable
        return listed([say_name(name) for name in items.names])
    if items.stop is not None:
        return f"the first {_counted(items.stop)} {style.noun}s"
    if items.start is not None:
        return f"the last {_counted(-items.start)} {style.noun}s"
    return (f"the {style.noun}s in the sequence", f"the {style.noun}s", f"all the {style.noun}s")[style.synonym % 3]


def _counted(count: int) -> str:
    if count < 1:
        raise Unsayable
    return _COUNTS.get(count, str(count))


def say_term(term: Term, style: Style) -> str:
    """A term in words, formulas with the signs + - * / ^."""
    match term:
        case Number():
            return say_number(term.value)
        case Cell():
            return say_name(term.name)
        case Input():
            return f"x{term.position + 1}"
        case Arithmetic():
            return _say_arithmetic(term, style)
        case Function():
            return f"{term.name}({say_term(term.argument, style)})"
        case Fold():
            return _say_fold(term, style)
        case Tally():
            return f"the number of {_say_filtered(term, style, plural=True)}"
        case Item():
            return _say_item(term, style)
        case Distance():
            return _say_distance(term, style)
    raise Unsayable


def _say_fold(fold: Fold, style: Style) -> str:
    items = say_items(fold.items, style)
    if fold.kind in {"max", "min"}:
        word = "largest" if fold.kind == "max" else "smallest"
        return f"the {word} {style.noun}" if fold.items == WHOLE else f"the {word} of {items}"
    if fold.kind == "distinct":
        tail = "" if fold.items == WHOLE else f" in {items}"
        return f"the number of distinct {style.noun}s{tail}"
    if fold.kind == "length":
        return f"the length of {'the sequence' if fold.items == WHOLE else items}"
    word = {"sum": ("sum", "total", "digit sum")[style.synonym % (3 if style.noun == "digit" else 2)],
            "mean": "average", "product": "product", "range": "range"}[fold.kind]  # fmt: skip
    return f"the {word} of {items}"


def _say_item(item: Item, style: Style) -> str:
    if item.index not in _ORDINALS or item.items != WHOLE:
        raise Unsayable
    return f"the {_ORDINALS[item.index]} {style.noun}"


def _say_distance(distance: Distance, style: Style) -> str:
    point = ", ".join(say_term(term, style) for term in distance.point)
    centre = ", ".join(say_number(number) for number in distance.centre)
    place = "the origin" if not any(distance.centre) and len(distance.centre) == 2 else f"({centre})"
    return f"the distance from {place} to the point ({point})"


_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}


def _say_arithmetic(term: Arithmetic, style: Style) -> str:
    if term.op == "-" and term.left == Number(0.0):
        return f"-{_inner(term.right, 3, style)}"
    if term.op == "+" and isinstance(term.right, Number) and term.right.value < 0:
        return f"{_inner(term.left, 1, style)} - {say_number(-term.right.value)}"
    if term.op == "*" and isinstance(term.left, Number) and _touches(term.right):
        return f"{say_term(term.left, style)}{say_term(term.right, style)}"
    right = _BINDS[term.op] + (1 if term.op in {"+", "*", "-", "/"} else 0)
    left = _BINDS[term.op] + (1 if term.op == "^" else 0)
    sign = term.op if term.op == "^" else f" {term.op} "
    return f"{_inner(term.left, left, style)}{sign}{_inner(term.right, right, style)}"


def _touches(term: Term) -> bool:
    """Whether a coefficient may be written right before the term, as in 3x."""
    base = term.left if isinstance(term, Arithmetic) and term.op == "^" else term
    return isinstance(base, Cell) and len(base.name) == 1 and base.name.isalpha() and base.name not in "aeEs"


def _inner(term: Term, binding: int, style: Style) -> str:
    said = say_term(term, style)
    if isinstance(term, Arithmetic):
        own = 3 if term.op == "-" and term.left == Number(0.0) else _BINDS[term.op]
        return f"({said})" if own < binding else said
    return f"({said})" if isinstance(term, Number) and term.value < 0 and binding > 1 else said


# --- checks -------------------------------------------------------------------------------------------------

_COMPARED: dict[str, tuple[str, ...]] = {
    ">": ("is greater than", "is above", "is more than"),
    ">=": ("is at least", "is greater than or equal to", "is at least"),
    "<": ("is less than", "is below", "is under"),
    "<=": ("is at most", "is less than or equal to", "is no more than"),
}


def say_check(check: Check, style: Style) -> str:
    """A check as the words that follow its subject: `is even`, `> 3`, `is not Biscoe`."""
    match check:
        case Compare(sign="=" | "!="):
            return _say_equality(check, style)
        case Compare():
            words = check.sign if style.signs else _COMPARED[check.sign][style.synonym % 3]
            return f"{words} {say_term(check.other, style)}"
        case Between():
            kind = "between" if check.inclusive else "strictly between"
            return f"is {kind} {say_term(check.low, style)} and {say_term(check.high, style)}"
        case Multiple():
            return _say_multiple(check, style)
        case OneOf():
            return _say_one_of(check, style)
        case Holds():
            return f"contains the text {quoted(check.piece)}"
        case Absent():
            return "is missing"
        case Fails():
            return _denied(say_check(check.check, style))
    raise Unsayable


def _say_equality(check: Compare, style: Style) -> str:
    other = say_term(check.other, style)
    if style.signs:
        return f"{check.sign} {other}"
    return f"is equal to {other}" if check.sign == "=" else f"is not equal to {other}"


def _say_multiple(check: Multiple, style: Style) -> str:
    if check in (EVEN, ODD):
        word = "even" if check == EVEN else "odd"
        return f"is an {word} number" if style.synonym % 3 == 2 else f"is {word}"
    if check.remainder == 0:
        return f"is {('divisible by', 'a multiple of')[style.synonym % 2]} {check.of}"
    return f"leaves a remainder of {check.remainder} when divided by {check.of}"


def _say_one_of(check: OneOf, style: Style) -> str:
    values = [say_value(value, style) for value in check.values]
    return f"is {values[0]}" if len(values) == 1 else f"is one of {listed(values, 'or')}"


def _denied(said: str) -> str:
    if said.startswith("is ") and not said.startswith("is not "):
        return f"is not {said[3:]}"
    raise Unsayable


# --- conditions ---------------------------------------------------------------------------------------------

_PATTERNS = {
    "increasing": "the {n}s are in strictly increasing order",
    "decreasing": "the {n}s are in strictly decreasing order",
    "ascending": "the {n}s are in ascending order",
    "descending": "the {n}s are in descending order",
    "distinct": "the {n}s are all different",
    "identical": "the {n}s are all the same",
    "neighbours equal": "two neighbours are equal",
    "palindrome": "the sequence is a palindrome",
    "split pair": "the sequence contains exactly two identical integers that are not adjacent",
}
_NO_PATTERNS = {
    "distinct": "the sequence contains a repeated {n}",
    "neighbours equal": "no two neighbours are equal",
    "palindrome": "the sequence is not a palindrome",
    "split pair": "the sequence does not contain exactly two identical integers that are not adjacent",
}


def say_condition(condition: Condition, style: Style) -> str:
    """A condition as a clause that can follow `if`."""
    match condition:
        case Is(term=Tally(), check=Compare()):
            return _say_count(condition, style)
        case Is():
            return f"{say_term(condition.term, style)} {say_check(condition.check, style)}"
        case Every():
            return f"every one of {say_items(condition.items, style)} {say_check(condition.check, style)}"
        case Pattern():
            return _say_pattern(condition, style, _PATTERNS)
        case All():
            return " and ".join(_part(part, style, Any) for part in condition.parts)
        case Any():
            return " or ".join(_part(part, style, Any) for part in condition.parts)
        case Not():
            return _say_not(condition.part, style)
    raise Unsayable


def _part(part: Condition, style: Style, loose: type) -> str:
    said = say_condition(part, style)
    return f"({said})" if isinstance(part, loose) else said


def _say_not(part: Condition, style: Style) -> str:
    if isinstance(part, Pattern) and part.kind in _NO_PATTERNS:
        return _say_pattern(part, style, _NO_PATTERNS)
    return f"not ({say_condition(part, style)})"


def _say_pattern(pattern: Pattern, style: Style, words: dict[str, str]) -> str:
    if pattern.items != WHOLE:
        raise Unsayable
    return words[pattern.kind].format(n=style.noun)


def _say_filtered(tally: Tally, style: Style, *, plural: bool) -> str:
    """`even integers`, `0s`, `integers greater than 5`, and where they are looked for."""
    noun = style.noun + ("s" if plural else "")
    match tally.check:
        case Compare(sign="=", other=Number(value=value)):
            words = say_number(value) + ("s" if plural else "")
        case Multiple() as check if check in (EVEN, ODD):
            words = f"{'even' if check == EVEN else 'odd'} {noun}"
        case Compare() as check if check.sign != "=":
            words = f"{noun} that {'are' if plural else 'is'} {_bare(say_check(check, Style(synonym=style.synonym)))}"
        case Multiple() as check if check.remainder == 0:
            words = f"{noun} divisible by {check.of}"
        case _:
            raise Unsayable
    return words if tally.items == WHOLE else f"{words} among {say_items(tally.items, style)}"


def _bare(said: str) -> str:
    return said.removeprefix("is ")


def _say_count(condition: Is, style: Style) -> str:
    """`the sequence contains at least one 0`, or the count as a number."""
    tally, check = condition.term, condition.check
    if not (isinstance(tally, Tally) and isinstance(check, Compare)):
        raise Unsayable
    count = check.other.value if isinstance(check.other, Number) else None
    if tally.items != WHOLE or count is None:
        return f"{say_term(tally, style)} {say_check(check, style)}"
    if count == 1 and check.sign == ">=":
        one = _say_filtered(tally, style, plural=False)
        return (f"the sequence contains at least one {one}", f"there is at least one {one} in the sequence")[
            style.synonym % 2
        ]
    if count == 0 and check.sign == "=":
        return f"the sequence contains no {_say_filtered(tally, style, plural=True)}"
    exact = {">=": "at least", "=": "exactly"}.get(check.sign)
    if exact and count in _COUNTS and style.synonym % 2 == 0 and not isinstance(tally.check, Compare):
        return f"the sequence contains {exact} {_COUNTS[int(count)]} {_say_filtered(tally, style, plural=True)}"
    return f"{say_term(tally, style)} {say_check(check, style)}"


# --- rules --------------------------------------------------------------------------------------------------


def say_outcome(outcome: Outcome, style: Style) -> str:
    """A label or a formula."""
    return say_label(outcome) if isinstance(outcome, str) else say_term(outcome, style)


def say_rule(rule: Rule, style: Style) -> str:
    """The rule in one or a few sentences. Raises Unsayable."""
    if not rule.cases:
        said = _say_always(rule, style)
    elif len(rule.cases) == 1 and rule.otherwise is not None and style.frame % 4 != 0:
        said = _say_either(rule.cases[0], rule.otherwise, style)
    else:
        said = _say_list(rule, style)
    if len(said) > LONGEST_TEXT // 2:
        raise Unsayable
    return said


def _say_always(rule: Rule, style: Style) -> str:
    if rule.otherwise is None:
        raise Unsayable
    said = say_outcome(rule.otherwise, style)
    if isinstance(rule.otherwise, str):
        return (f"Always output {said}.", f"Output {said} for every input.")[style.frame % 2]
    return _say_formula(rule.otherwise, said, style)


def _say_formula(term: Term, said: str, style: Style) -> str:
    if style.frame % 4 == 1 and style.target and _PLAIN_NAME.fullmatch(style.target) and not _reserved(style.target):
        return f"{style.target} = {said}."
    worked = _worked(term, style) if style.frame % 4 == 2 else None
    return worked or (f"Output {said}.", f"The output is {said}.", f"Predict {said}.")[style.synonym % 3]


def _worked(term: Term, style: Style) -> str | None:
    """`Multiply x by 3 and add 4.`, for a line."""
    match term:
        case Arithmetic(
            op="+", left=Arithmetic(op="*", left=Number() as slope, right=Cell() as cell), right=Number() as base
        ):
            return f"Multiply {say_name(cell.name)} by {say_number(slope.value)} and add {say_number(base.value)}."
    return None


def _say_either(case: Case, otherwise: Outcome, style: Style) -> str:
    condition = say_condition(case.condition, style)
    yes, no = say_outcome(case.outcome, style), say_outcome(otherwise, style)
    subject = "class label" if isinstance(otherwise, str) else "output"
    return (
        f"The {subject} is {yes} if {condition}, and {no} otherwise.",
        f"Output {yes} when {condition}; otherwise output {no}.",
        f"Predict {yes} if {condition}. Otherwise, predict {no}.",
    )[style.frame % 4 - 1]


def _say_list(rule: Rule, style: Style) -> str:
    clauses = [
        f"if {say_condition(case.condition, style)}, output {say_outcome(case.outcome, style)}" for case in rule.cases
    ]
    if rule.otherwise is not None:
        clauses.append(f"output {say_outcome(rule.otherwise, style)}")
    joint = ("; otherwise, ", ". Otherwise, ")[style.synonym % 2]
    said = joint.join(clauses)
    return said[0].upper() + said[1:] + "."
