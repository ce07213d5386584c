"""The learner: applies a rule to an input and explains the answer, or writes the rule as a function `predict`.

In a program, a condition that depends on a missing cell does not hold, so each test has the tests before it under which
its values are known. A number that cannot be worked out is answered with the learner's guess.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from string import ascii_uppercase
from typing import Literal, NamedTuple, TypeAlias

from vpp.demo import rules
from vpp.demo.prompt import Column, Kind, LearnerQuestion, ProgramQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import Cell, Compare, Fold, Formula, Is, Number, Pattern, Tally, Term, read_row
from vpp.demo.writing import Unsayable, explain, say_formula, say_number

SURE = 0.98
"""Probability of the label that a rule gives."""


class Answer(NamedTuple):
    explanation: str
    output: str
    is_guess: bool = False
    """True if the rule gives nothing for the input."""


def answer(question: LearnerQuestion) -> Answer:
    """Apply the rule to the input; make a constant guess, and say so, if the rule cannot be applied."""
    row = read_row(question.input)
    reading = read_rule(question.rule, tuple(row.cells), question.labels)
    value = None if reading.rule is None else reading.rule.answer(row)
    if reading.rule is None:
        why = "The rule says nothing that I can read"
    elif isinstance(value, float) and not math.isfinite(value):
        why, value = "The rule gives a number beyond all that I can write", None
    else:
        why = explain(reading.rule, row, value) + (" Part of the rule I could not read." if reading.unread else "")
    if isinstance(value, str | float):
        return Answer(why, value if isinstance(value, str) else say_number(float(f"{value:.10g}")))
    output = question.labels[0] if question.labels else "0"
    return Answer(f"{why.removesuffix('.')}, so {output} is only a guess.", output, is_guess=True)


def letter_shares(question: LearnerQuestion) -> dict[str, float]:
    """Return the probability of each label's letter: nearly 1 for what the rule gives, equal ones for a guess."""
    reply = answer(question)
    n = len(question.labels)
    sure, others = (1 / n, 1 / n) if reply.is_guess or n == 1 else (SURE, (1 - SURE) / (n - 1))
    pairs = zip(ascii_uppercase, question.labels, strict=False)
    return {letter: sure if label == reply.output else others for letter, label in pairs}


def respond(question: LearnerQuestion) -> str:
    if question.style == "letter":
        return max((shares := letter_shares(question)), key=lambda letter: shares[letter])
    reply = answer(question)
    if question.style == "json":
        return json.dumps({"explanation": reply.explanation, "output": reply.output}, ensure_ascii=False)
    return f"Explanation: {reply.explanation}\nOutput: {reply.output}"


REFUSAL = "no program"
Word = Literal["and", "or"]
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_DOMAINS = {"log": "> 0", "sqrt": ">= 0", "exp": "<= 709"}
"""Where these functions have a finite value."""
_NAMES = {"abs": "abs", "^": " ** "}
_NEIGHBOURS = "any({0}[{4}] == {0}[{4} + 1] for {4} in range(len({0}) - 1))"
_PATTERNS = dict(zip(rules.PATTERNS, (
    ("{0} {1} sorted({0})",), ("{0} {1} sorted({0}, reverse=True)",), ("len({{x for x in {0}}}) {1} len({0})",),
    ("{2}" + _NEIGHBOURS,), ("len({{x for x in {0}}}) {1} len({0}) - 1", "{3}" + _NEIGHBOURS), ("{0} {1} {0}[::-1]",),
), strict=True))  # fmt: skip
"""Python tests of a list {0}, joined by `and`. {1}: == or !=; {2}: empty or `not`; {3}: `not` or empty; {4}: index."""
_FOLDS = {
    "sum": "sum({0})", "product": "math.prod({0})", "average": "(sum({0}) / len({0}))", "largest": "max({0})",
    "smallest": "min({0})", "range": "(max({0}) - min({0}))", "length": "len({0})",
    "distinct": "len({{x for x in {0}}})", **{word: f"{{0}}[{at}]" for word, at in rules.ORDINALS.items()},
}  # fmt: skip


class Joined(NamedTuple):
    """Tests joined by `and` or `or`."""

    word: Word
    parts: "tuple[Test, ...]"

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" if isinstance(part, Joined) else part for part in self.parts)


Test: TypeAlias = str | Joined


class Value(NamedTuple):
    """A value in Python, and the tests under which it is known."""

    code: str
    known: tuple[str, ...] = ()
    kind: Kind = "number"
    column: Column | None = None
    """Set for a cell."""
    form: Literal["exact", "rounded", "formula"] = "exact"
    """Whether a number has rounding errors, and is a formula, which needs brackets before a sign."""


def write_program(question: ProgramQuestion) -> str:
    """Write the rule as a program; `no program` if a part of it cannot be read or written."""
    # The line break lets the reader take a dash before the first item of a list for a bullet.
    reading = read_rule(f"\n{question.rule}", tuple(column.name for column in question.columns), question.labels)
    writer = _Writer(question.columns)
    with suppress(Unsayable):
        if reading.rule is not None and not reading.unread:
            body = "\n".join(writer.branches(reading.rule, question.labels))
            used = ", ".join(column.alias for column in question.columns if column.alias in writer.used)
            opening = "import math\n\n\n" if "math." in body else ""
            return f"{opening}def predict({used}):\n{body}"
    return REFUSAL


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _join(word: Word, parts: Sequence[Test]) -> Test:
    """Join tests; one that always or never holds decides or is left out."""
    nested = [part.parts if isinstance(part, Joined) and part.word == word else (part,) for part in parts]
    decisive, neutral = ("False", "True") if word == "and" else ("True", "False")
    flat = [part for part in dict.fromkeys(part for some in nested for part in some) if part != neutral]
    if decisive in flat:
        return decisive
    return Joined(word, tuple(flat)) if len(flat) > 1 else flat[0] if flat else neutral


def _unknown(test: str) -> str:
    """Return the opposite of a test under which a value is known."""
    return "True" if test == "False" else re.sub(" is not None$", " is None", test) if "None" in test else f"not {test}"


def _given(known: Iterable[str], test: str) -> Test:
    """Return the test, with a check that its cells are not None. An equality needs none: None equals no value."""
    spare = {f"{match[1]} is not None" for match in [re.match(r"(\w+) (?:==|in) ", test)] if match}
    return _join("and", [*(one for one in known if one not in spare), test])


class _Writer:
    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = {column.name: column for column in columns}
        self.used: set[str] = set()
        aliases = {column.alias for column in columns}
        self.item, self.index = (next(one for one in (*some, "x_") if one not in aliases) for some in ("xnv", "ikm"))
        """Variables of a comprehension."""

    def branches(self, rule: rules.Rule, labels: Sequence[str]) -> Iterator[str]:
        """Yield the lines of the body, a return a branch; the last has no condition."""
        guess = _quoted(labels[0]) if labels else "0"
        known: set[str] = set()
        for condition, outcome in [*((case.condition, case.outcome) for case in rule.cases), (None, rule.otherwise)]:
            test: Test = "True" if condition is None else self.when(condition, True)
            if outcome is None or isinstance(outcome, str):
                pairs = [(test, guess if outcome is None else _quoted(outcome))]
            else:
                value = self.value(outcome)
                needed = [one for one in value.known if one not in known]
                pairs = [(_join("and", [test, *needed]), value.code), *([(test, guess)] if needed else [])]
            for test, code in pairs:
                if test != "False":
                    yield f"    return {code}" if test == "True" else f"    if {test}:\n        return {code}"
                if test == "True":
                    return
            if isinstance(test, str) and test.endswith(" is None"):
                known.add(test.replace(" is None", " is not None"))

    def when(self, condition: rules.Condition, wanted: bool) -> Test:
        """Return the test that the condition holds, or that it fails; neither passes if a value is missing."""
        match condition:
            case rules.Not():
                return self.when(condition.part, not wanted)
            case rules.Joint():
                word: Word = "or" if condition.decisive is wanted else "and"
                return _join(word, [self.when(part, wanted) for part in condition.parts])
            case Pattern():
                items, words = self.items(condition.items)[0], ("==", "", "not ") if wanted else ("!=", "not ", "")
                tests = [test.format(items, *words, self.index) for test in _PATTERNS[condition.sentence]]
                return _join("and" if wanted else "or", tests)
            case Is(Tally() as tally, Compare("=", Number(0.0)) | Compare(">=", Number(1.0)) as check):
                value = self._counted(tally, "any")
                return _given(value.known, f"{'' if wanted is (check.sign == '>=') else 'not '}{value.code}")
            case Is():
                return self.test(self.value(condition.term), condition.check, wanted)

    def test(self, value: Value, check: rules.Check, wanted: bool) -> Test:
        """Return the test that the value passes the check, or that it fails."""
        no, code, others = "" if wanted else "not ", "False", list[Value]()
        match check:
            case rules.Fails():
                return self.test(value, check.check, not wanted)
            case rules.Absent():
                return _join("or", [*map(_unknown, value.known)]) if wanted else _join("and", value.known)
            case rules.OneOf(values):
                return _among(value, values, wanted)
            case Compare("=" | "!=" as sign, Number(number)) if value.kind == "text":
                return _among(value, (number,), wanted is (sign == "="))
            case Compare(sign, other):
                others = [self.value(other)]
                code = _compared(value, sign, others[0], wanted)
            case rules.Holds(piece) if value.kind == "text":
                code = f"{_quoted(piece.casefold())} {no}in {value.code}.casefold()"
            case rules.Between(low, high):
                others = [self.value(low), self.value(high)]
                if value.kind == others[0].kind == others[1].kind == "number":
                    code = f"{no}{others[0].code} <= {value.code} <= {others[1].code}"
            case rules.Multiple() if value.kind == "number":
                left = f"({value.code})" if value.form == "formula" else value.code
                code = f"{left} % {check.of} {'==' if wanted else '!='} {check.remainder}"
        return _given([one for each in (value, *others) for one in each.known], code)

    def value(self, term: Term) -> Value:
        match term:
            case Number():
                return Value(say_number(term.value))
            case Cell():
                column = self.columns[term.name]
                self.used.add(column.alias)
                known = (f"{column.alias} is not None",) if column.may_miss else ()
                return Value(column.alias, known, column.kind, column)
            case Formula():
                code = say_formula(
                    term, lambda leaf: self.value(leaf).code, lambda name: _NAMES.get(name, f"math.{name}")
                )
                return Value(code, tuple(self._known(term)), form="formula")
            case Fold():
                return self._folded(term)
            case Tally():
                return self._counted(term, "sum")
            case rules.Distance():
                point = [self.value(part) for part in term.point]
                places = ", ".join(part.code for part in point), ", ".join(map(say_number, term.centre))
                known = (*_numbers(point), *(() if len(point) == len(term.centre) else ("False",)))
                return Value(f"math.dist([{places[0]}], [{places[1]}])", known, form="rounded")

    def _known(self, term: Formula) -> Iterator[str]:
        """Yield the tests under which a formula gives a real number."""
        values = [self.value(part) for part in term.terms]
        yield from _numbers(values)
        match term.name, values[0].code, term.terms[-1]:
            case "/", _, Number(0.0):
                yield "False"
            case "/", _, other if not isinstance(other, Number):
                yield f"{values[1].code} != 0"
            case "^", base, Number(power):
                sign = "" if power == int(power) >= 0 else "!=" if power == int(power) else ">" if power < 0 else ">="
                yield from [f"{base} {sign} 0"] if sign else []
            case "^", _, _:
                raise Unsayable
            case "log" | "sqrt" | "exp" as name, code, _:
                yield f"{code} {_DOMAINS[name]}"

    def items(self, items: rules.Items) -> tuple[str, int]:
        """Return a list of numbers in Python, and the fewest that it has. Raises Unsayable for several lists."""
        columns = [self.columns[name] for name in items.names] or list(self.columns.values())
        lists = [column for column in columns if column.kind == "numbers"][: None if items.names else 1]
        if lists and items.names and len(columns) > 1:
            raise Unsayable
        numbers = [column for column in columns if column.kind == "number"]
        if lists and not lists[0].may_miss:
            numbers = []
        self.used |= {column.alias for column in (*lists, *numbers)}
        code, least = f"[{', '.join(column.alias for column in numbers)}]", sum(not one.may_miss for one in numbers)
        if least < len(numbers):
            code = f"[{self.item} for {self.item} in {code} if {self.item} is not None]"
        if lists:
            code, least = (f"({lists[0].alias} or {code})", 0) if lists[0].may_miss else (lists[0].alias, 1)
        if items.start is None and items.stop is None:
            return code, least
        return f"{code}[{items.start or ''}:{items.stop or ''}]", min(least, abs(items.stop or items.start or 0))

    def _folded(self, term: Fold) -> Value:
        others, at = set(self.used), rules.ORDINALS.get(term.kind)
        code, least = self.items(term.items)
        plain = re.fullmatch(r"\[(\w+(?:, \w+)*)\]", code)
        if at is not None and plain and at < least:
            alias = plain[1].split(", ")[at]
            self.used = others | {alias}
            return Value(alias)
        needed = 0 if term.kind in {"sum", "length", "distinct"} else max(at or 0, 0) + 1
        known = () if least >= needed else (f"len({code}) >= {needed}",)
        is_rounded = term.kind in {"sum", "product", "average", "range"}
        return Value(_FOLDS[term.kind].format(code), known, form="rounded" if is_rounded else "exact")

    def _counted(self, tally: Tally, function: str) -> Value:
        test = self.test(Value(self.item), tally.check, True)
        known = self.value(tally.check.other).known if isinstance(tally.check, Compare) else ()
        return Value(f"{function}({test} for {self.item} in {self.items(tally.items)[0]})", known)


def _numbers(values: Sequence[Value]) -> Iterator[str]:
    """Yield the tests under which the values are known numbers."""
    for value in values:
        yield from value.known if value.kind == "number" else ("False",)


def _compared(value: Value, sign: str, other: Value, wanted: bool) -> str:
    is_equal = wanted is (sign == "=")
    if sign not in {"=", "!="}:
        signs = f"{value.code} {sign if wanted else _OPPOSITES[sign]} {other.code}"
        return signs if value.kind == other.kind == "number" else "False"
    if value.kind != other.kind:
        return str(not is_equal)
    if value.kind == "number" and not value.form == other.form == "exact":
        return f"{'' if is_equal else 'not '}math.isclose({value.code}, {other.code}, rel_tol=1e-9, abs_tol=1e-9)"
    fold = ".casefold()" if value.kind == "text" else ""
    return f"{value.code}{fold} {'==' if is_equal else '!='} {other.code}{fold}"


def _among(value: Value, values: Sequence[str | float], wanted: bool) -> Test:
    """Return the test that a value is one of some; texts in any case, as they are spelled if that is stated."""
    code = value.code
    if value.kind == "text" and value.column:
        stated = value.column.values
        spelled = [[one for one in stated if rules.same(rules.read_value(one), each)] for each in values]
        if not all(spelled):
            code = f"{code}.casefold()"
            spelled = [[each.casefold() if isinstance(each, str) else say_number(each)] for each in values]
        listed = [_quoted(one) for some in spelled for one in some]
    else:
        listed = [say_number(each) for each in values if isinstance(each, float) and value.kind == "number"]
    if not listed:
        return _given(value.known, str(not wanted))
    several = f"{'in' if wanted else 'not in'} ({', '.join(listed)})"
    alone = f"{'==' if wanted else '!='} {listed[0]}"
    return _given(value.known, f"{code} {several if len(listed) > 1 else alone}")
