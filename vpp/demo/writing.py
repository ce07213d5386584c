"""Write rules in English, each form in one way, which the reader reads back; explain an answer by its rule."""

import math
import re
from collections.abc import Callable

from vpp.demo import rules
from vpp.demo.reading import LONGEST_TEXT, RESERVED
from vpp.demo.rules import EVEN, ODD, WHOLE, Cell, Compare, Fold, Formula, Is, Joint, Not, Number, Pattern, Tally, Term


class Unsayable(ValueError):
    """The rule cannot be written."""


_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^()\n\"]*\))?")
_PLAIN_LABEL = re.compile(r"\w+")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _plain_or_quoted(text: str, plain: re.Pattern[str]) -> str:
    """Quote a text that could be read as a word of the rule."""
    is_reserved = any(word in RESERVED for word in re.findall(r"\w+", text.lower()))
    return text if plain.fullmatch(text) and not is_reserved else _quoted(text)


def say_name(name: str) -> str:
    return name if name in {"a", "y"} else _plain_or_quoted(name, _PLAIN_NAME)


def _say_outcome(outcome: rules.Outcome) -> str:
    return _plain_or_quoted(outcome, _PLAIN_LABEL) if isinstance(outcome, str) else say_term(outcome)


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number; `inf` for infinity."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def _listed(words: list[str], joint: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_MINUS_BINDS = 3
_PARITIES = {EVEN: "even", ODD: "odd"}


def say_term(term: Term) -> str:
    match term:
        case Number():
            return say_number(term.value)
        case Cell():
            return say_name(term.name)
        case Formula():
            return say_formula(term, say_term)
        case Fold(kind="distinct"):
            return f"the number of distinct numbers{_among(term.items)}"
        case Fold(kind=word, items=items) if word in rules.ORDINALS or (
            word in {"largest", "smallest"} and items == WHOLE
        ):
            return f"the {word} number{_among(items)}"
        case Fold():
            return f"the {term.kind} of {_say_items(term.items)}"
        case Tally():
            return f"the number of {_say_counted(term, 's')}"
        case rules.Distance():
            point = ", ".join(map(say_term, term.point))
            centre = "the origin" if term.centre == (0.0, 0.0) else f"({', '.join(map(say_number, term.centre))})"
            return f"the distance from {centre} to the point ({point})"


def _say_items(items: rules.Items) -> str:
    """Write items: `the numbers`, `a, b and c`, `the first 3 numbers`."""
    if items.names:
        return _listed([say_name(name) for name in items.names])
    if items.stop is not None:
        return f"the first {items.stop} numbers"
    return "the numbers" if items.start is None else f"the last {-items.start} numbers"


def _among(items: rules.Items) -> str:
    return "" if items == WHOLE else f" among {_say_items(items)}"


def _say_counted(tally: Tally, s: str) -> str:
    """Write the counted items, as in `even numbers` or `0s among a and b`; s: ending of the noun, if any."""
    match tally.check:
        case Compare(sign="=", other=Number(value=value)):
            words = say_number(value) + s
        case rules.Multiple() as check if check in _PARITIES:
            words = f"{_PARITIES[check]} number{s}"
        case check:
            words = f"number{s} that {'are' if s else 'is'} {_say_check(check).removeprefix('is ')}"
    return words + _among(tally.items)


def say_formula(term: Formula, leaf: Callable[[Term], str], name: Callable[[str], str] = str) -> str:
    """Write a formula. leaf: writes the terms that are none; name: writes a function or the sign of a power."""

    def say(term: Term) -> str:
        return say_formula(term, leaf, name) if isinstance(term, Formula) else leaf(term)

    def inner(term: Term, binding: int) -> str:
        """Write a part, in brackets if it binds less than its place needs."""
        match term:
            case Formula("-", (Number(0.0), _)) | Formula("*", (Number(-1.0), _)):
                binds = _MINUS_BINDS
            case Formula():
                binds = _BINDS.get(term.name, binding)
            case _:
                binds = _MINUS_BINDS if isinstance(term, Number) and term.value < 0 else binding
        return f"({say(term)})" if binds < binding else say(term)

    match term:
        case Formula("-", (Number(0.0), part)) | Formula("*", (Number(-1.0), part)):
            return f"-{inner(part, _MINUS_BINDS)}"
        case Formula("+", (left, Number(value))) if value < 0:
            return say(Formula("-", (left, Number(-value))))
        case Formula("+", (left, Formula("*", (Number(value), part)))) if value < 0:
            part = part if value == -1 else Formula("*", (Number(-value), part))
            return say(Formula("-", (left, part)))
        case Formula("^", (left, right)):
            return f"{inner(left, _BINDS['^'] + 1)}{name('^')}{inner(right, _BINDS['^'])}"
        case Formula(sign, (left, right)):
            return f"{inner(left, _BINDS[sign])} {sign} {inner(right, _BINDS[sign] + 1)}"
    return f"{name(term.name)}({say(term.terms[0])})"


_COMPARED = {
    ">": "greater than", ">=": "at least", "<": "less than", "<=": "at most", "=": "equal to", "!=": "not equal to",
}  # fmt: skip


def _say_check(check: rules.Check) -> str:
    """Write a check as it follows its subject: `is even`, `is at most 3`, `is not "Biscoe"`."""
    match check:
        case Compare():
            return f"is {_COMPARED[check.sign]} {say_term(check.other)}"
        case rules.Between():
            return f"is between {say_term(check.low)} and {say_term(check.high)}"
        case rules.Multiple():
            return f"is {_PARITIES.get(check, f'divisible by {check.of}')}"
        case rules.OneOf():
            values = [say_number(value) if isinstance(value, float) else _quoted(value) for value in check.values]
            return f"is {'one of ' if len(values) > 1 else ''}{_listed(values, 'or')}"
        case rules.Holds():
            return f"contains the text {_quoted(check.piece)}"
        case rules.Absent():
            return "is missing"
        case rules.Fails():
            text = _say_check(check.check)
            if text.startswith("contains "):
                return f"does not contain {text.removeprefix('contains ')}"
            if text.startswith("is ") and not text.startswith("is not "):
                return f"is not {text[3:]}"
    raise Unsayable


_NEGATIONS = {
    "the numbers are all different": "the sequence contains a repeated number",
    "two neighbours are equal": "no two neighbours are equal",
    "the sequence is a palindrome": "the sequence is not a palindrome",
}


def _say_condition(condition: rules.Condition) -> str:
    """Write a condition as a clause that can follow `if`."""
    match condition:
        case Is(term=Tally() as tally, check=Compare(sign=">=", other=Number(value=1.0))) if tally.items == WHOLE:
            return f"the sequence contains at least one {_say_counted(tally, '')}"
        case Is(term=Tally() as tally, check=Compare(sign="=", other=Number(value=0.0))) if tally.items == WHOLE:
            return f"the sequence contains no {_say_counted(tally, 's')}"
        case Is():
            return f"{say_term(condition.term)} {_say_check(condition.check)}"
        case Pattern(items=items) if items == WHOLE:
            return condition.sentence
        case Joint():
            parts = [(part, _say_condition(part)) for part in condition.parts]
            return f" {condition.word} ".join(f"({text})" if isinstance(part, Joint) else text for part, text in parts)
        case Not(part=Pattern(sentence, items)) if items == WHOLE and sentence in _NEGATIONS:
            return _NEGATIONS[sentence]
        case Not():
            return f"not ({_say_condition(condition.part)})"
    raise Unsayable


def say_rule(rule: rules.Rule) -> str:
    """Write the rule in a sentence. Raises Unsayable."""
    clauses = [f"if {_say_condition(case.condition)}, output {_say_outcome(case.outcome)}" for case in rule.cases]
    if rule.otherwise is not None:
        opening = "always output" if isinstance(rule.otherwise, str) and not rule.cases else "output"
        clauses.append(f"{opening} {_say_outcome(rule.otherwise)}")
    text = "; otherwise, ".join(clauses)
    if not text or len(text) > LONGEST_TEXT // 2:
        raise Unsayable
    return text[0].upper() + text[1:] + "."


_MOST_NUMBERS = 12
"""Most numbers of a sequence in an explanation."""


def explain(rule: rules.Rule, row: rules.Row, answer: rules.Value) -> str:
    case, label = rule.deciding(row), answer if isinstance(answer, str) else None
    outcome = rule.otherwise if case is None else case.outcome
    try:
        result = f"the rule gives {label}" if label else _computed(outcome, row)
        reasons = [_fact(one.condition, row) for one in ([case] if case is not None else rule.cases[:3])]
    except Unsayable:
        return "I worked through the rule case by case" + (f"; it gives {label}." if label else ".")
    text = f"{'; '.join(reasons)}, so {result}." if reasons else f"{result}{' for every input' if label else ''}."
    return text[0].upper() + text[1:]


def _computed(outcome: rules.Outcome | None, row: rules.Row) -> str:
    if outcome is None or isinstance(outcome, str):
        return "the rule leaves this open"
    value = outcome.of(row)
    if not isinstance(value, float):
        return f"{say_term(outcome)} cannot be worked out"
    if isinstance(outcome, Number):
        return f"the rule gives {_say_value(value)}"
    known = ", ".join(f"{say_name(name)} = {_say_value(row.cells.get(name))}" for name in sorted(_names(outcome))[:4])
    return f"{say_term(outcome)} = {_say_value(value)}" + (f" for {known}" if known else "")


def _names(term: Term) -> set[str]:
    match term:
        case Cell():
            return {term.name}
        case Formula():
            return set().union(*map(_names, term.terms))
    return set()


def _say_value(value: rules.Value) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_say_value, value[:_MOST_NUMBERS]))
    if isinstance(value, float):
        return say_number(float(f"{value:.6g}"))
    return "missing" if value is None else value[:80]


def _fact(condition: rules.Condition, row: rules.Row) -> str:
    match condition:
        case Is():
            value = condition.term.of(row)
            subject, check = _subject(condition.term, row, value), _say_check(condition.check)
            passes = condition.check.passes(value, row)
            if passes is None:
                return f"{subject}, so it cannot be said whether it {check}"
            return f"{subject}, which {check if passes else _denied(check)}"
        case Joint():
            deciding = [part for part in condition.parts if part.holds(row) is condition.decisive]
            return _fact(deciding[0], row) if deciding else _listed([_fact(part, row) for part in condition.parts[:4]])
        case Not():
            return _fact(condition.part, row)
        case Pattern():
            word = "" if condition.holds(row) else "it is not so that "
            return f"{word}{_say_condition(condition)} in {_say_value(condition.items.of(row))}"


def _denied(check: str) -> str:
    if check.startswith("is not "):
        return f"is {check[7:]}"
    return f"is not {check[3:]}" if check.startswith("is ") else f"does not satisfy `{check}`"


def _subject(term: Term, row: rules.Row, value: rules.Value) -> str:
    if isinstance(term, Fold) and term.kind in {"sum", "product"} and len(term.items.of(row)) <= _MOST_NUMBERS:
        numbers = (" + " if term.kind == "sum" else " × ").join(map(_say_value, term.items.of(row)))
        return f"the {term.kind} {numbers} is {_say_value(value)}"
    return f"{say_term(term)} is {_say_value(value)}"
