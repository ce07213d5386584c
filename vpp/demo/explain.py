"""Explain in a sentence why a rule answers a row as it does, with the numbers it used."""

from vpp.demo.rule import All, Any, Case, Condition, Is, Not, Outcome, Pattern, Rule
from vpp.demo.terms import Arithmetic, Cell, Fold, Function, Number, Term
from vpp.demo.values import Row, Value
from vpp.demo.write_rule import Unsayable, listed, say_check, say_condition, say_name, say_number, say_term

_MOST_SHOWN = 12


def explain(rule: Rule, row: Row, answer: Value) -> str:
    case = rule.deciding(row)
    given = answer if isinstance(answer, str) else None
    try:
        text = _because(rule, case, row, given)
    except Unsayable:
        return "I worked through the rule case by case" + (f"; it gives {given}." if given else ".")
    return text[0].upper() + text[1:]


def _because(rule: Rule, case: Case | None, row: Row, given: str | None) -> str:
    outcome = rule.otherwise if case is None else case.outcome
    result = f"the rule gives {given}" if given is not None else _worked_out(outcome, row)
    if not rule.cases:
        return f"{result}{' for every input' if given is not None else ''}."
    reasons = [_fact(one.condition, row) for one in ([case] if case is not None else rule.cases[:3])]
    return f"{'; '.join(reasons)}, so {result}."


def _worked_out(outcome: Outcome | None, row: Row) -> str:
    if outcome is None or isinstance(outcome, str):
        return "the rule leaves this open"
    value = outcome.of(row)
    if not isinstance(value, float):
        return f"{say_term(outcome)} cannot be worked out"
    if isinstance(outcome, Number):
        return f"the rule gives {_short(value)}"
    known = ", ".join(f"{say_name(name)} = {_shown(row.cells.get(name))}" for name in sorted(_names(outcome))[:4])
    return f"{say_term(outcome)} = {_short(value)}" + (f" for {known}" if known else "")


def _names(term: Term) -> set[str]:
    match term:
        case Cell():
            return {term.name}
        case Arithmetic():
            return _names(term.left) | _names(term.right)
        case Function():
            return _names(term.argument)
    return set()


def _short(value: float) -> str:
    return say_number(float(f"{value:.6g}"))


def _shown(value: Value) -> str:
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return " ".join(_short(number) for number in value[:_MOST_SHOWN])
    return _short(value) if isinstance(value, float) else value[:80]


def _fact(condition: Condition, row: Row) -> str:
    match condition:
        case Is():
            return _fact_of_term(condition, row)
        case All() | Any():
            deciding = [part for part in condition.parts if part.holds(row) is isinstance(condition, Any)]
            return _fact(deciding[0], row) if deciding else listed([_fact(part, row) for part in condition.parts[:4]])
        case Not():
            return _fact(condition.part, row)
        case Pattern():
            word = "" if condition.holds(row) else "it is not so that "
            return f"{word}{say_condition(condition)} in {_shown(condition.items.of(row))}"
    raise Unsayable


def _fact_of_term(condition: Is, row: Row) -> str:
    value = condition.term.of(row)
    check = say_check(condition.check)
    passes = condition.check.passes(value, row)
    subject = _subject(condition.term, row, value)
    if passes is None:
        return f"{subject}, so it cannot be said whether it {check}"
    return f"{subject}, which {check if passes else _not(check)}"


def _not(check: str) -> str:
    if check.startswith("is not "):
        return f"is {check[7:]}"
    return f"is not {check[3:]}" if check.startswith("is ") else f"does not satisfy `{check}`"


def _subject(term: Term, row: Row, value: Value) -> str:
    if isinstance(term, Fold) and term.kind in {"sum", "product"} and len(term.items.of(row)) <= _MOST_SHOWN:
        sign = " + " if term.kind == "sum" else " × "
        return f"the {term.kind} {sign.join(_short(number) for number in term.items.of(row))} is {_shown(value)}"
    return f"{say_term(term)} is {_shown(value)}"
