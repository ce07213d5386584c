"""Reader of hypotheses: sentences that decide, sentences that name something, and mere descriptions."""

import re
from dataclasses import dataclass
from functools import lru_cache

from vpp.demo.lexer import TooTangled
from vpp.demo.read_conditions import ConditionReader
from vpp.demo.rule import Case, Condition, Outcome, Rule
from vpp.demo.terms import Fold, Tally, Term
from vpp.demo.values import read_number

_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")

_SAYS = (
    "output|predict|answer|return|give|assign|choose|say|classify it as|classify as|classify the input as|report"
    "|label it|label it as|the output is|the class label is|the class is|the label is|the prediction is|the answer is"
    "|the output should be|the output will be|the target is|output label|it is|it is class|it belongs to|assign it to"
    "|the input belongs to|the category is|the result is|predict that it is|the output equals|the value is"
    "|the output =|output =|output :|label :|class :|label =|class =|the class label is :|then|the predicted class is"
    "|the predicted label is|the predicted value is|which is|is|outputs|the output must be|respond with"
    "|give the answer|put it in|call it|the predicted value equals|the target equals|estimate|the estimate is|use"
    "|the point belongs to|the point is|it gives|gives|the correct label is|output the|the class label should be"
)
_RESULT = "y|f ( x )|output|prediction|target|result|estimate|label|class"
_LABEL_NOUNS = (
    "class|label|the class|the label|class label|the class label|value|the value|category|the category|a|an|as|the"
    "|:|the integer|type|the number|to be|output|a value of|number"
)
_ASKS = (
    "if|when|whenever|where|for inputs where|in case|exactly when|if and only if|only if|only when"
    "|provided that|for cases where|precisely when|as long as|given that|just when"
)
_ELSE = (
    "otherwise|else|in all other cases|in any other case|if not|in every other case|for all other inputs|elsewhere"
    "|for everything else|for anything else|in other cases|in all remaining cases|failing that|by default"
    "|for all other cases|for the rest|if none of these holds|or else|for every other input"
)
_ALWAYS = (
    "for every input|always|in every case|in all cases|for all inputs|regardless of the input"
    "|whatever the input|no matter what"
)
_OPENERS = (
    "you|the model|the input|this model|the inputs|input|inputs|the task|this is|the goal|your task|the function"
    "|given|we|to decide|the data|the rule|rule|new rule|the output|consider|look|the class|the label|the features"
    "|each|note"
    "|here|the classification|the learner|it|the target|check|use|to classify|labels|compute|classify|there are"
)
_CONDITIONAL = frozenset(["if", "unless", "when", "whenever", "except", "otherwise", "else", "only", "where"])
_CIRCLES = (
    "the decision boundary is a circle|the boundary is a circle|the boundary between the classes is a circle"
    "|draw a circle|consider a circle|imagine a circle|the decision boundary is circular"
)
_AFTER_BULLET = frozenset(["if", "otherwise", "else", "output", "predict", "when", "always", "the", "add", "count"])
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


class RuleReader(ConditionReader):
    """Cursor that reads a hypothesis for given columns and labels; without labels the answer is a number."""

    def __init__(self, text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> None:
        super().__init__(text, names)
        self.labels = sorted(labels, key=len, reverse=True)
        match = _TARGET.search(self.text)
        self.target = match[1].strip() if match else ""
        self.draft = _Draft(0, [])
        self.drafts: list[_Draft] = []

    def read(self) -> Reading:
        """Read every sentence; the last complete rule counts."""
        while not self.finished():
            self._sentence()
        self._close()
        last = self.drafts[-1] if self.drafts else None
        if last is None:
            return Reading(None, len(self.text), self.draft.unread, self.text, self.target)
        rule = Rule(tuple(last.cases), self._complete(last))
        return Reading(rule, last.start, last.unread, self.text[: last.start], self.target)

    def _complete(self, draft: _Draft) -> Outcome | None:
        """Return the outcome of all other rows: with two labels, the one that no case has."""
        named = {case.outcome for case in draft.cases}
        if draft.otherwise is None and len(self.labels) == 2 and len(named) == 1:
            return next(label for label in self.labels if label not in named)
        return draft.otherwise

    def _close(self) -> None:
        if self.draft.has_decided:
            self.drafts.append(self.draft)

    # --- sentences ------------------------------------------------------------------------------------------

    def _sentence(self) -> None:
        if self.sees("-|*|•") and self.ahead().plain in _AFTER_BULLET:
            self.at += 1
        begin = self.at
        end = next((at for at in range(begin, len(self.tokens)) if self.tokens[at].kind == "stop"), begin)
        decides = self._decides(begin) or self._names(begin) or self._decides_later(begin, end)
        if not decides:
            self.at = begin
            self._pass_over(begin, end)
        self.at = max(self.at, begin)
        while self.here.kind == "stop" and not self.finished():
            self.at += 1

    def _pass_over(self, begin: int, end: int) -> None:
        """Skip a sentence; record it as unread if it seems to decide something."""
        words = {token.plain for token in self.tokens[begin:end]}
        opening = self.take(_OPENERS) is not None
        self.at = end
        if words & _CONDITIONAL or not (opening or begin == end):
            sentence = self.text[self.tokens[begin].start : self.tokens[max(begin, end - 1)].end]
            self.draft.unread = (*self.draft.unread, sentence)
        if not self.draft.has_decided:
            self.draft.start = max(self.draft.start, self.tokens[min(end + 1, len(self.tokens) - 1)].start)

    def _decides(self, begin: int) -> bool:
        """Read clauses to the end of the sentence: all of them, or none."""
        self.at = begin
        clauses: list[tuple[Condition | None, Outcome, bool]] = []
        while self.here.kind != "stop":
            clause = self.attempt(self._clause)
            if clause is None:
                return False
            clauses.append(clause)
            while self.here.kind != "stop" and self.take(_SEPARATORS):
                pass
        for condition, outcome, fallback in clauses:
            self._enter(begin, condition, outcome, fallback)
        return bool(clauses)

    def _enter(self, begin: int, condition: Condition | None, outcome: Outcome, fallback: bool) -> None:
        if self.draft.otherwise is not None or (condition is None and not fallback and self.draft.cases):
            self._close()
            self.draft = _Draft(self.tokens[begin].start, [])
        if condition is None:
            self.draft.otherwise = outcome
        else:
            self.draft.cases.append(Case(condition, outcome))

    def _decides_later(self, begin: int, end: int) -> bool:
        """Read `The model takes … and outputs a label: 1 if …`, skipping the description."""
        self.at = begin
        if not self.sees(_OPENERS) or self.sees("you are designed"):
            return False
        for at in range(begin + 1, end):
            plain = self.tokens[at - 1].plain
            if plain in _CONDITIONAL:
                return False
            if plain in {":", ",", ";", "which", "and"} and self._decides(at):
                return True
        return False

    def _names(self, begin: int) -> bool:
        """Read a sentence that names something: a circle, `the total`, `Let s be …`."""
        self.at = begin
        named = self.first(self._circle, self._works_out, self._lets)
        if named is None or self.here.kind != "stop":
            return False
        if self.draft.otherwise is not None:
            self._close()
            self.draft = _Draft(self.tokens[begin].start, [])
        if named == "hint" and not self.draft.has_decided:
            self.draft.start = self.ahead().start
        return True

    def _circle(self) -> str | None:
        if not self.take(_CIRCLES):
            return None
        return "named" if self.circle_details() else "hint"

    def _works_out(self) -> str | None:
        """`Add the four integers.`, `Count the odd integers in the sequence.`, `Compute the distance …`."""
        self.take("first|first ,|start by|begin by|then|next")
        term = self.first(self._adds, self._counts, self._computes)
        if term is None:
            return None
        self.antecedent = term
        return "named"

    def _adds(self) -> Term | None:
        if not self.take("add|add up|sum|sum up|total|adding|take the sum of|find the sum of"):
            return None
        items = self.attempt(self.items)
        if items is None:
            return None
        self.take("together|up")
        return Fold("sum", items)

    def _counts(self) -> Term | None:
        if not self.take("count|count up|counting"):
            return None
        self.take("the|all|how many|the number of|all the")
        counted = self.attempt(self.filtered)
        if counted is None:
            return None
        return Fold("length", counted[1]) if counted[0] is None else Tally(counted[1], counted[0])

    def _computes(self) -> Term | None:
        if not self.take("compute|calculate|find|work out|take|determine|measure|look at|consider"):
            return None
        term = self.attempt(self.term)
        if term is not None and self.take("as|=|and call it|called"):
            self._name_it(term)
        return term

    def _name_it(self, term: Term) -> None:
        if self.here.kind == "word":
            self.called[self.here.plain] = term
            self.at += 1

    def _lets(self) -> str | None:
        """Read `Let s be the sum of a and b.` or `r = √(x² + y²)`."""
        self.take("let")
        token = self.take_kind("word")
        if token is None or self.text[token.start : token.end] == self.target or token.plain in _RESULT.split("|"):
            return None
        term = self.attempt(self.term) if self.take("be|=|denote|: =") else None
        if term is None:
            return None
        self.called[token.plain] = self.antecedent = term
        return "named"

    # --- clauses --------------------------------------------------------------------------------------------

    def _clause(self) -> tuple[Condition | None, Outcome, bool] | None:
        """Read a condition and its outcome in either order, or an outcome for all other rows."""
        return self.first(self._else_clause, self._if_clause, self._outcome_clause)

    def _else_clause(self) -> tuple[Condition | None, Outcome, bool] | None:
        if not self.take(_ELSE):
            return None
        self.take(",|:|->|-")
        nested = self.attempt(self._if_clause)
        if nested is not None:
            return nested
        outcome = self.attempt(self._outcome)
        return None if outcome is None else (None, outcome, True)

    def _if_clause(self) -> tuple[Condition | None, Outcome, bool] | None:
        if not self.take("if|when|whenever|where|in case|for inputs where|elif|else if|provided that"):
            return None
        condition = self.attempt(self.condition)
        if condition is None:
            return None
        self.take(",")
        self.take(":|->|then|-|;")
        self.take(",|:")
        outcome = self.attempt(self._outcome)
        return None if outcome is None else (condition, outcome, False)

    def _outcome_clause(self) -> tuple[Condition | None, Outcome, bool] | None:
        self.take("always|simply|just|please")
        outcome = self.attempt(self._outcome)
        if outcome is None:
            return None
        if self.take(_ELSE):
            return None, outcome, True
        self.take(",")
        if self.take(_ASKS):
            condition = self.attempt(self.condition)
            return None if condition is None else (condition, outcome, False)
        self.take(_ALWAYS)
        return None, outcome, False

    def _outcome(self) -> Outcome | None:
        self._announced()
        while (outcome := self.attempt(self._bare_outcome)) is None:
            if not self.take(_LABEL_NOUNS) and not self.attempt(self._target_as):
                return None
        return outcome

    def _bare_outcome(self) -> Outcome | None:
        return self._label() if self.labels else self._formula()

    def _announced(self) -> None:
        """Step over `output the class label`, `TARGET =`, `you should predict`."""
        self.take("you should|please|we|you|then|simply|always|the model should|must|should")
        if not self.attempt(self._target_is):
            self.take(_SAYS)
            self.attempt(self._target_as)

    def _target_is(self) -> bool | None:
        self.take("predict|estimate|the|output|compute|calculate")
        named = (self.target and self.take_text(self.target, any_case=True)) or self.take(_RESULT)
        return True if named and self.take("=|is|as|:|equals|is given by|is approximately") else None

    def _target_as(self) -> bool | None:
        return True if self.target and self.take_text(self.target) and self.take("as|=|to be|is") else None

    def _label(self) -> Outcome | None:
        if self.here.kind == "string":
            wanted = self.here.plain.strip()
            label = next((label for label in self.labels if label.casefold() == wanted.casefold()), None)
            self.at += 1
            return label
        for any_case in (False, True):
            for label in self.labels:
                if self.take_text(label, any_case=any_case):
                    return label
        return self._numeric_label()

    def _numeric_label(self) -> Outcome | None:
        value = self.attempt(self.number)
        return None if value is None else next((one for one in self.labels if read_number(one) == value), None)

    def _formula(self) -> Outcome | None:
        return self.first(self._steps_of_working, self.term)

    def _steps_of_working(self) -> Term | None:
        """Read `multiply x by 3.1 and add 4.2`."""
        result = self.first(self._first_step, self._start_from)
        while result is not None:
            mark = self.at
            self.take(", then|and then|, and then|, and|and|,|then")
            step = self._next_step(result)
            if step is None:
                self.at = mark
                break
            result = step
        return result

    def _first_step(self) -> Term | None:
        if not self.take("multiply|multiplying|divide|take"):
            return None
        divided = self.tokens[self.at - 1].plain == "divide"
        left = self.attempt(self.term)
        if left is None or not self.take("by"):
            return left if self.tokens[self.at - 1].plain != "take" and left is not None else None
        right = self.attempt(self.term)
        return None if right is None else self.joined("/" if divided else "*", left, right)

    def _start_from(self) -> Term | None:
        return self.attempt(self.term) if self.take("start from|start with|begin with|begin from") else None

    def _next_step(self, so_far: Term) -> Term | None:
        verb = self.take(
            "add|subtract|multiply by|multiply it by|multiply the result by|divide by|divide it by|divide the result by"
        )
        other = self.attempt(self._first_step) or self.attempt(self.term) if verb else None
        if verb is None or other is None:
            return None
        if self.take("from it|from the result|from that"):
            return self.joined("-", so_far, other)
        if self.take("for every unit of|for each unit of|times"):
            unit = self.attempt(self.term)
            other = None if unit is None else self.joined("*", other, unit)
        sign = {"a": "+", "s": "-", "m": "*", "d": "/"}[verb[0]]
        return None if other is None else self.joined(sign, so_far, other)


@lru_cache(maxsize=4096)
def read_rule(text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> Reading:
    """Read a hypothesis for inputs with these columns; labels are empty if the target is a number."""
    reader = RuleReader(text, names, labels)
    try:
        return reader.read()
    except (TooTangled, RecursionError):
        return Reading(None, len(text), (text[:80],), text, "")
