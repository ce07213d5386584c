"""Write conditions and rules in English, in one of several styles."""

from vpp.demo.lexer import LONGEST_TEXT
from vpp.demo.rule import All, Any, Case, Condition, Every, Is, Not, Outcome, Pattern, Rule
from vpp.demo.terms import WHOLE, Arithmetic, Cell, Compare, Number, Tally, Term
from vpp.demo.write_terms import (
    COUNTS,
    PLAIN_NAME,
    Style,
    Unsayable,
    is_reserved,
    say_check,
    say_filtered,
    say_items,
    say_label,
    say_name,
    say_number,
    say_term,
)  # fmt: skip

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
    """Write a condition as a clause that can follow `if`."""
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
    text = say_condition(part, style)
    return f"({text})" if isinstance(part, loose) else text


def _say_not(part: Condition, style: Style) -> str:
    if isinstance(part, Pattern) and part.kind in _NO_PATTERNS:
        return _say_pattern(part, style, _NO_PATTERNS)
    return f"not ({say_condition(part, style)})"


def _say_pattern(pattern: Pattern, style: Style, words: dict[str, str]) -> str:
    if pattern.items != WHOLE:
        raise Unsayable
    return words[pattern.kind].format(n=style.noun)


def _say_count(condition: Is, style: Style) -> str:
    """Write a count: `the sequence contains at least one 0`, or a comparison of the number."""
    tally, check = condition.term, condition.check
    if not (isinstance(tally, Tally) and isinstance(check, Compare)):
        raise Unsayable
    count = check.other.value if isinstance(check.other, Number) else None
    if tally.items != WHOLE or count is None:
        return f"{say_term(tally, style)} {say_check(check, style)}"
    if count == 1 and check.sign == ">=":
        one = say_filtered(tally, style, plural=False)
        return (f"the sequence contains at least one {one}", f"there is at least one {one} in the sequence")[
            style.synonym % 2
        ]
    if count == 0 and check.sign == "=":
        return f"the sequence contains no {say_filtered(tally, style, plural=True)}"
    exact = {">=": "at least", "=": "exactly"}.get(check.sign)
    if exact and count in COUNTS and style.synonym % 2 == 0 and not isinstance(tally.check, Compare):
        return f"the sequence contains {exact} {COUNTS[int(count)]} {say_filtered(tally, style, plural=True)}"
    return f"{say_term(tally, style)} {say_check(check, style)}"


# --- rules --------------------------------------------------------------------------------------------------


def say_outcome(outcome: Outcome, style: Style) -> str:
    """Write a label or a formula."""
    return say_label(outcome) if isinstance(outcome, str) else say_term(outcome, style)


def say_rule(rule: Rule, style: Style) -> str:
    """Write the rule in one or a few sentences. Raises Unsayable."""
    if not rule.cases:
        text = _say_always(rule, style)
    elif len(rule.cases) == 1 and rule.otherwise is not None and style.frame % 4 != 0:
        text = _say_either(rule.cases[0], rule.otherwise, style)
    else:
        text = _say_list(rule, style)
    if len(text) > LONGEST_TEXT // 2:
        raise Unsayable
    return text


def _say_always(rule: Rule, style: Style) -> str:
    if rule.otherwise is None:
        raise Unsayable
    text = say_outcome(rule.otherwise, style)
    if isinstance(rule.otherwise, str):
        return (f"Always output {text}.", f"Output {text} for every input.")[style.frame % 2]
    return _say_formula(rule.otherwise, text, style)


def _say_formula(term: Term, text: str, style: Style) -> str:
    if style.frame % 4 == 1 and style.target and PLAIN_NAME.fullmatch(style.target) and not is_reserved(style.target):
        return f"{style.target} = {text}."
    worked = _worked(term, style) if style.frame % 4 == 2 else None
    return worked or (f"Output {text}.", f"The output is {text}.", f"Predict {text}.")[style.synonym % 3]


def _worked(term: Term, style: Style) -> str | None:
    """Write a line as `Multiply x by 3 and add 4.`; None for other terms."""
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
    text = joint.join(clauses)
    return text[0].upper() + text[1:] + "."
