"""Grammar of hypotheses: sentences that decide, and descriptions before them."""

from dataclasses import dataclass
from functools import lru_cache

from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.read_conditions import condition
from vpp.demo.read_items import number
from vpp.demo.read_terms import fixed_point, term
from vpp.demo.rule import Case, Condition, Outcome, Rule
from vpp.demo.terms import Arithmetic, Term
from vpp.demo.values import read_number

_SAYS = (
    "output|predict|answer|return|give|say|choose|the output is|the class label is|the label is|the class is"
    "|the prediction is|the answer is|then|is|:"
)
_LABEL_NOUNS = "the class label|the label|the class|class label|label|class|:"
_RESULT = "y|output|prediction"
_ASKS = "if and only if|if|when|whenever"
_IF = "if|when|whenever|elif|else if"
_ELSE = "otherwise|else|in all other cases|in every other case"
_ALWAYS = "for every input|in all cases"
_OPENERS = (
    "you|the model|the input|this model|the inputs|input|inputs|the task|this is|the goal|your task|the function"
    "|given|we|to decide|the data|the rule|rule|new rule|the output|consider|look|the class|the label|the features"
    "|each|note|here|the classification|the learner|it|the target|check|use|to classify|labels|compute|classify"
    "|there are|the decision boundary"
)
_CONDITIONAL = frozenset(["if", "unless", "when", "whenever", "except", "otherwise", "else", "only", "where"])
_AFTER_BULLET = frozenset(["if", "otherwise", "else", "output", "predict", "when", "always", "the"])
_SEPARATORS = "and|,|;|:|but|.|while|or|, and|, or|; and"


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading a text."""

    rule: Rule | None
    """None if no sentence decides anything."""
    start: int
    """Offset of the rule's first sentence in the text."""
    unread: tuple[str, ...]
    """Sentences of the rule that seem to decide something and could not be read."""
    hints: str
    """Text before the rule: seed sentence and prior."""
    target: str
    """Name of the target in the seed sentence; else empty."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """An outcome and its condition; without one, the outcome of all other rows or of every row."""

    outcome: Outcome
    condition: Condition | None = None
    is_fallback: bool = False


@dataclass(slots=True)
class _Draft:
    """A rule while it is read."""

    start: int
    cases: list[Case]
    otherwise: Outcome | None = None
    unread: tuple[str, ...] = ()

    @property
    def has_decided(self) -> bool:
        """Whether a sentence has decided anything."""
        return bool(self.cases) or self.otherwise is not None


@lru_cache(maxsize=4096)
def read_rule(text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> Reading:
    """Read a hypothesis for inputs with these columns; labels are empty if the target is a number."""
    try:
        return _Hypothesis(Cursor(text, names, labels)).read()
    except (TooTangled, RecursionError):
        return Reading(None, len(text), (text[:80],), text, "")


class _Hypothesis:
    """Reader of a hypothesis, sentence by sentence."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.draft = _Draft(0, [])
        self.last: _Draft | None = None
        """Last complete rule."""

    def read(self) -> Reading:
        """Read every sentence; the last complete rule counts."""
        cursor = self.cursor
        while not cursor.finished():
            self._sentence()
        self._begin(cursor.position)
        last = self.last
        if last is None:
            return Reading(None, len(cursor.text), self.draft.unread, cursor.text, cursor.target)
        rule = Rule(tuple(last.cases), self._otherwise(last))
        return Reading(rule, last.start, last.unread, cursor.text[: last.start], cursor.target)

    def _otherwise(self, draft: _Draft) -> Outcome | None:
        """Return the outcome of all other rows: with two labels, the one that no case has."""
        labels, named = self.cursor.labels, {case.outcome for case in draft.cases}
        if draft.otherwise is None and len(labels) == 2 and len(named) == 1:
            return next(label for label in labels if label not in named)
        return draft.otherwise

    def _begin(self, position: int) -> None:
        """Complete the draft and begin another at a token; a draft that decides nothing goes on."""
        if self.draft.has_decided:
            self.last = self.draft
            self.draft = _Draft(self.cursor.tokens[position].start, [])

    def _sentence(self) -> None:
        cursor = self.cursor
        if cursor.sees("-|*|•") and cursor.ahead().plain in _AFTER_BULLET:
            cursor.position += 1
        begin = cursor.position
        end = next((at for at in range(begin, len(cursor.tokens)) if cursor.tokens[at].kind == "stop"), begin)
        if not (self._decides(begin) or self._describes_circle(begin) or self._decides_later(begin, end)):
            self._pass_over(begin, end)
        while cursor.here.kind == "stop" and not cursor.finished():
            cursor.position += 1

    def _decides(self, begin: int) -> bool:
        """Read clauses to the end of the sentence: all of them, or none."""
        cursor = self.cursor
        cursor.position = begin
        clauses: list[_Clause] = []
        while cursor.here.kind != "stop":
            clause = cursor.attempt(_clause)
            if clause is None:
                return False
            clauses.append(clause)
            while cursor.here.kind != "stop" and cursor.take(_SEPARATORS):
                pass
        for clause in clauses:
            self._enter(begin, clause)
        return bool(clauses)

    def _enter(self, begin: int, clause: _Clause) -> None:
        is_another_rule = clause.condition is None and not clause.is_fallback and bool(self.draft.cases)
        if self.draft.otherwise is not None or is_another_rule:
            self._begin(begin)
        if clause.condition is None:
            self.draft.otherwise = clause.outcome
        else:
            self.draft.cases.append(Case(clause.condition, clause.outcome))

    def _describes_circle(self, begin: int) -> bool:
        """Read a sentence that gives `the radius` a value."""
        self.cursor.position = begin
        radius = self.cursor.attempt(_circle)
        if radius is None or self.cursor.here.kind != "stop":
            return False
        self.cursor.radius = radius
        if self.draft.otherwise is not None:
            self._begin(begin)
        return True

    def _decides_later(self, begin: int, end: int) -> bool:
        """Read `The model takes … and outputs a class label: 1 if …`, without the description."""
        cursor = self.cursor
        cursor.position = begin
        if not cursor.sees(_OPENERS) or cursor.sees("you are designed"):
            return False
        for at in range(begin + 1, end):
            plain = cursor.tokens[at - 1].plain
            if plain in _CONDITIONAL:
                return False
            if plain in {":", ",", ";"} and self._decides(at):
                return True
        return False

    def _pass_over(self, begin: int, end: int) -> None:
        """Skip a sentence; record it as unread if it seems to decide something."""
        cursor, draft = self.cursor, self.draft
        cursor.position = begin
        is_description = begin == end or cursor.take(_OPENERS) is not None
        cursor.position = end
        if not is_description or any(token.plain in _CONDITIONAL for token in cursor.tokens[begin:end]):
            sentence = cursor.text[cursor.tokens[begin].start : cursor.tokens[max(begin, end - 1)].end]
            draft.unread = (*draft.unread, sentence)
        if not draft.has_decided:
            draft.start = max(draft.start, cursor.tokens[min(end + 1, len(cursor.tokens) - 1)].start)


def _circle(cursor: Cursor) -> Term | None:
    """Read `The decision boundary is a circle centered at the origin with a radius of 0.6`; return the radius."""
    if not cursor.take("the decision boundary is a circle"):
        return None
    if cursor.take("centered at|centred at") and cursor.attempt(fixed_point) is None:
        return None
    return cursor.attempt(term) if cursor.take("with a radius of") else None


# --- clauses ------------------------------------------------------------------------------------------------


def _clause(cursor: Cursor) -> _Clause | None:
    """Read a condition and its outcome in either order, or an outcome for all other rows."""
    return cursor.first(_fallback, _if_clause, _outcome_first)


def _fallback(cursor: Cursor) -> _Clause | None:
    if not cursor.take(_ELSE):
        return None
    cursor.take(",|:|->")
    nested = cursor.attempt(_if_clause)
    outcome = cursor.attempt(_outcome) if nested is None else None
    return nested if outcome is None else _Clause(outcome, is_fallback=True)


def _if_clause(cursor: Cursor) -> _Clause | None:
    asked = cursor.attempt(condition) if cursor.take(_IF) else None
    if asked is None:
        return None
    cursor.take(",")
    cursor.take(":|->|then")
    cursor.take(",")
    outcome = cursor.attempt(_outcome)
    return None if outcome is None else _Clause(outcome, asked)


def _outcome_first(cursor: Cursor) -> _Clause | None:
    outcome = cursor.attempt(_outcome)
    if outcome is None:
        return None
    if cursor.take(_ELSE):
        return _Clause(outcome, is_fallback=True)
    cursor.take(",")
    if cursor.take(_ASKS):
        asked = cursor.attempt(condition)
        return None if asked is None else _Clause(outcome, asked)
    cursor.take(_ALWAYS)
    return _Clause(outcome)


def _outcome(cursor: Cursor) -> Outcome | None:
    """Read `output 3x + 4`, `TARGET = 3x + 4` or `the class label is 1`."""
    cursor.take("you should|please|then|always")
    if not cursor.attempt(_target_is):
        cursor.take(_SAYS)
    outcome = cursor.attempt(_answer)
    return cursor.attempt(_answer) if outcome is None and cursor.take(_LABEL_NOUNS) else outcome


def _target_is(cursor: Cursor) -> bool | None:
    cursor.take("predict|the")
    is_named = (cursor.target and cursor.take_text(cursor.target, any_case=True)) or cursor.take(_RESULT)
    return True if is_named and cursor.take("=|is|as|:") else None


def _answer(cursor: Cursor) -> Outcome | None:
    return _label(cursor) if cursor.labels else cursor.first(_working, term)


def _label(cursor: Cursor) -> Outcome | None:
    if cursor.here.kind == "string":
        wanted = cursor.here.plain.strip()
        cursor.position += 1
        return next((label for label in cursor.labels if label.casefold() == wanted.casefold()), None)
    for any_case in (False, True):
        for label in cursor.labels:
            if cursor.take_text(label, any_case=any_case):
                return label
    value = cursor.attempt(number)
    return None if value is None else next((label for label in cursor.labels if read_number(label) == value), None)


def _working(cursor: Cursor) -> Term | None:
    """Read `multiply x by 3.1 and add 4.2`."""
    left = cursor.attempt(term) if cursor.take("multiply") else None
    factor = cursor.attempt(term) if left is not None and cursor.take("by") else None
    base = cursor.attempt(term) if factor is not None and cursor.take("and add") else None
    if left is None or factor is None or base is None:
        return None
    return Arithmetic("+", Arithmetic("*", left, factor), base)
