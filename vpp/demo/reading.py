"""Read rules in plain English: tokens, combinators, and the grammar of terms, conditions and sentences."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from vpp.demo import rules
from vpp.demo.rules import WHOLE, Compare, Condition, Fails, Fold, Formula, Is, Items, Not, Number, Pattern, Tally, Term

LONGEST_TEXT = 20_000
"""Characters of a rule that are read; the rest is ignored."""

_MOST_STEPS = 60_000

_TOKEN = re.compile(
    r"""
    (?P<stop>[.!?]+(?=[\s"')”]|$)(?:\s+(?:[-*•]|\d+[.)])\s)?|\n\s*(?:\n|(?:[-*•]|\d+[.)])\s|(?=[A-Z])))
    |(?P<skip>\s+)
    |(?P<number>[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|(?<!\w)'[^'\n]{1,300}'(?!\w))
    |(?P<word>[^\W\d]\w*)
    |(?P<symbol><=|>=|!=|==|\*\*|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_PLAIN = {
    "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "==": "=", "**": "^",
    "plus": "+", "minus": "-", "times": "*", "√": "sqrt",
}  # fmt: skip


class Token(NamedTuple):
    """A token: `kind` is stop, number, string, word or symbol; `plain` is its normalised form."""

    kind: str
    plain: str
    start: int
    end: int


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup or "symbol", match.group()
    if kind == "string":
        plain = re.sub(r"\\(.)", r"\1", text[1:-1])
    else:
        plain = text.replace(",", "") if kind == "number" else _PLAIN.get(text.lower(), text.lower())
    return Token(kind, plain, match.start(), match.end())


@lru_cache(maxsize=4096)
def _phrases(alternatives: str) -> dict[str, list[list[str]]]:
    """Group the phrases of `a b|c` by first word, the longest first."""
    by_first: dict[str, list[list[str]]] = {}
    for phrase in sorted((phrase.split() for phrase in alternatives.split("|")), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return by_first


class Cursor:
    """A position in a rule's text, and what the grammar knows while it reads."""

    def __init__(self, text: str, names: tuple[str, ...], labels: tuple[str, ...], target: str) -> None:
        self.text = text[:LONGEST_TEXT]
        matches = (match for match in _TOKEN.finditer(self.text) if match.lastgroup != "skip")
        self.tokens = (*map(_token, matches), Token("stop", "", len(self.text), len(self.text)))
        self.position = 0
        self.names = sorted((name for name in names if name), key=len, reverse=True)
        self.labels = sorted(labels, key=len, reverse=True)
        self.target = target
        self.subject: Term | None = None
        """Last term that was checked, for `the sum is even and at most 26`."""
        self._steps = 0

    @property
    def here(self) -> Token:
        """Token at the cursor; the last stop at the end."""
        return self.tokens[self.position]

    def take(self, alternatives: str) -> str | None:
        """Step over the longest of the phrases, separated by |, that is at the cursor, and return it."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise RecursionError
        for phrase in _phrases(alternatives).get(self.here.plain, ()):
            ahead = self.tokens[self.position : self.position + len(phrase)]
            if phrase == [token.plain for token in ahead if token.kind != "string"]:
                self.position += len(phrase)
                return " ".join(phrase)
        return None

    def sees(self, alternatives: str) -> bool:
        mark = self.position
        phrase, self.position = self.take(alternatives), mark
        return phrase is not None

    def take_kind(self, kind: str) -> str | None:
        if self.here.kind != kind:
            return None
        self.position += 1
        return self.tokens[self.position - 1].plain

    def take_text(self, wanted: str) -> bool:
        """Step over this text in any case, if it is at the cursor as whole words."""
        start, end = self.here.start, self.here.start + len(wanted)
        if not wanted or self.text[start:end].casefold() != wanted.casefold():
            return False
        if re.match(r"\w\w", wanted[-1] + self.text[end : end + 1]):
            return False
        while self.here.start < end:
            self.position += 1
        return True

    def take_one_of(self, texts: list[str]) -> str | None:
        """Step over one of these texts, in this case if possible, and return it."""
        exact = [text for text in texts if self.text.startswith(text, self.here.start)]
        return next((text for text in (*exact, *texts) if self.take_text(text)), None)

    def attempt(self, read: "Reader") -> Any:
        """Call a reader; move the cursor back if it returns None."""
        mark = self.position
        result = read(self)
        if result is None:
            self.position = mark
        return result


_WORDS = """
    a above add all always among an and answer any are ascending at average be below between but by class contain
    contains decreasing descending different digit digits distance distinct divided divisible does each eight either
    else equal equals even every exactly exp fewer fifth first five for four fourth from greater if in increasing
    input integer integers is label larger largest last leaves length less list log mean missing more multiple
    multiply neighbors neighbours neither nine no none nor not number numbers odd of one or order origin otherwise
    output over palindrome point predict product range remainder repeated return s same say second sequence seven
    seventh sin six sixth smaller smallest sqrt strictly sum ten text than that the then there third three to total
    two under value values when y zero
"""
RESERVED = frozenset(_WORDS.split())
"""Words that a rule may use, in lower case. The writer quotes names that hold one, so a change alters proposals."""


# --- combinators: readers made of smaller readers -----------------------------------------------------------

Reader = Callable[[Cursor], Any]
"""Moves the cursor over one form and returns the form's value; None if it is not there, and `attempt` moves back."""


def seq(*parts: str | Reader, make: Callable[..., Any] = lambda *values: values[0]) -> Reader:
    """Read the parts in turn and make a value of what the readers among them return.

    A text stands for words of which it lists the alternatives, separated by |; with a ? at its end they may be absent.
    """

    def read(cursor: Cursor) -> Any:
        values = []
        for part in parts:
            if isinstance(part, str):
                if cursor.take(part.removesuffix("?")) is None and not part.endswith("?"):
                    return None
            elif (value := cursor.attempt(part)) is not None:
                values.append(value)
            else:
                return None
        return make(*values)

    return read


def first(*readers: Reader) -> Reader:
    """Try the readers in turn; the first that returns a value counts."""

    return lambda cursor: next((value for one in readers if (value := cursor.attempt(one)) is not None), None)


def named(values: Mapping[str, Any]) -> Reader:
    phrases = "|".join(values)
    return lambda cursor: values.get(cursor.take(phrases) or "")


def unless(alternatives: str) -> Reader:
    """Move nowhere; fail if one of the phrases is at the cursor."""
    return lambda cursor: None if cursor.sees(alternatives) else True


def joined(part: Reader, joints: str, make: Callable[[tuple[Any, ...]], Any]) -> Reader:
    def read(cursor: Cursor) -> Any:
        parts: list[Any] = []
        mark = cursor.position
        while (one := cursor.attempt(part)) is not None:
            parts.append(one)
            mark = cursor.position
            if not cursor.take(joints):
                break
        cursor.position = mark
        return make(tuple(parts)) if parts else None

    return read


NOUNS = "integers|integer|numbers|number|digits|digit|values|value"
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_numeral = named({word: value for value, word in enumerate(_NUMERALS)})


def number(cursor: Cursor) -> float | None:
    sign = -1.0 if cursor.take("-") else 1.0
    digits = cursor.take_kind("number") or cursor.attempt(_numeral)
    return None if digits is None else sign * float(digits)


def column_name(cursor: Cursor) -> str | None:
    if (quoted := cursor.take_kind("string")) is not None:
        return quoted if quoted in cursor.names else None
    cursor.take("the")
    return cursor.take_one_of(cursor.names)


_string: Reader = lambda cursor: cursor.take_kind("string")  # noqa: E731
_column = seq(column_name, make=rules.Cell)


def _source(cursor: Cursor) -> Items:
    """Read `in the sequence` or `among a, b and c`; without such words it is the whole sequence."""
    return cursor.attempt(seq("in|of|among", items)) or WHOLE


def _slice(side: str, count: float, _: Items) -> Items | None:
    if not 0 < count < 1000:
        return None
    return Items((), None, int(count)) if side == "first" else Items((), -int(count), None)


items = seq(
    "all of|all?",
    first(
        seq("the?", named({"first": "first", "last": "last"}), number, NOUNS, _source, make=_slice),
        seq("the sequence", make=lambda: WHOLE),
        seq("the?", NOUNS, _source),
        joined(column_name, ", and|, or|,|and|or", Items),
    ),
)
"""Reads `the integers in the sequence`, `the first three integers` or `a, b and c`."""

_MOST_FORMULA_TOKENS = 400


def _chain(part: Reader, signs: str) -> Reader:
    """Read parts joined by signs, of which the left one binds first."""
    step = seq(named({sign: sign for sign in signs}), part, make=lambda sign, right: (sign, right))

    def read(cursor: Cursor) -> Term | None:
        left: Term | None = cursor.attempt(part)
        while left is not None and (pair := cursor.attempt(step)) is not None:
            left = Formula(pair[0], (left, pair[1]))
        return left

    return read


def _signed(cursor: Cursor) -> Term | None:
    inner: Term | None = cursor.attempt(_signed if (is_negative := cursor.take("-")) else _scaled)
    if not is_negative:
        return inner
    return Number(-inner.value) if isinstance(inner, Number) else inner and Formula("-", (Number(0.0), inner))


def _scaled(cursor: Cursor) -> Term | None:
    """Read a power, or a coefficient that touches it, as in 3x or 2(x + 1)."""
    left = cursor.attempt(_power)
    touches = cursor.tokens[cursor.position - 1].end == cursor.here.start and (
        cursor.here.kind == "word" or cursor.here.plain == "("
    )
    right = cursor.attempt(_power) if isinstance(left, Number) and touches else None
    return left if right is None else Formula("*", (left, right))


def _power(cursor: Cursor) -> Term | None:
    base: Term | None = cursor.attempt(_atom)
    exponent = cursor.attempt(_signed) if base is not None and cursor.take("^") else None
    return base if base is None or exponent is None else Formula("^", (base, exponent))


_sum = _chain(_chain(_signed, "*/"), "+-")


def term(cursor: Cursor) -> Term | None:
    start = cursor.position
    result = _sum(cursor)
    if cursor.position - start > _MOST_FORMULA_TOKENS:
        raise RecursionError
    return result  # type: ignore[no-any-return]


_brackets = seq("(", term, ")")

_SIGNS = {
    ">=": ">=", "at least": ">=", "greater than or equal to": ">=",
    "<=": "<=", "at most": "<=", "less than or equal to": "<=", "no more than": "<=",
    ">": ">", "greater than": ">", "more than": ">", "larger than": ">", "above": ">", "over": ">",
    "<": "<", "less than": "<", "smaller than": "<", "below": "<", "under": "<",
    "=": "=", "equal to": "=", "equals": "=", "!=": "!=",
}  # fmt: skip


def _multiple(divisor: float) -> rules.Check | None:
    return rules.Multiple(int(divisor)) if 1 <= divisor < 1e9 and divisor.is_integer() else None


comparison = seq(named(_SIGNS), term, make=Compare)
divisibility = first(
    named({"even": rules.EVEN, "odd": rules.ODD, "an even number": rules.EVEN, "an odd number": rules.ODD}),
    seq("divisible by|a multiple of", number, make=_multiple),
)

_checked = first(divisibility, comparison)
_counted = first(
    seq(named({"even": rules.EVEN, "odd": rules.ODD}), NOUNS),
    seq(number, "s?", unless(NOUNS), make=lambda value, _: Compare("=", Number(value))),
    seq(NOUNS, "that are|that is?", first(seq("not", _checked, make=Fails), _checked)),
)
tally = seq(_counted, _source, make=lambda check, among: Tally(among, check))
"""Reads counted items: `even integers in the sequence`, `0s`, `integers that are greater than 5`."""

_FOLDS = {
    "digit sum": "sum", "sum": "sum", "total": "sum", "product": "product", "mean": "average", "average": "average",
    "range": "range", "length": "length", "largest": "largest", "smallest": "smallest",
}  # fmt: skip


def _bare_fold(cursor: Cursor) -> Term | None:
    """Read `the sum` of the sequence, if no column is called so."""
    has_article = cursor.tokens[cursor.position - 1].plain == "the"
    word = cursor.take("|".join(_FOLDS))
    return None if word is None or not has_article or word in cursor.names else Fold(_FOLDS[word], WHOLE)


def _bracketed(part: Reader) -> Reader:
    return seq("(", joined(part, ",", lambda parts: parts if len(parts) > 1 else None), ")")


_phrase = seq(
    "the?",
    first(
        seq("number of distinct", NOUNS, _source, make=lambda among: Fold("distinct", among)),
        seq("number of", tally),
        seq(
            "distance from", first(seq("the origin", make=lambda: (0.0, 0.0)), _bracketed(number)),
            "to the point|to", _bracketed(_column), make=lambda centre, point: rules.Distance(point, centre),
        ),
        seq(named({word: word for word in (*rules.ORDINALS, "largest", "smallest")}), NOUNS, _source, make=Fold),
        seq(named(_FOLDS), "of", items, make=Fold),
        _bare_fold,
    ),
)  # fmt: skip
_FUNCTIONS = {name: name for name in rules.OPERATIONS if name.isalpha()}
_function = seq(named(_FUNCTIONS), _brackets, make=lambda name, inner: Formula(name, (inner,)))
_atom = first(_brackets, _function, _phrase, seq(number, make=Number), _column)

_COPULA = "is|are"
_VERBS = f"{_COPULA}|contains|does not|{'|'.join(_SIGNS)}"
_ENDS_TEXT = (
    "and|or|nor|neither|both|then|otherwise|else|if|when|unless|because|while|output|predict|answer|return|say|is|are|but"
    "|not|only|the|in|of|to|than|at|by|with|as|that|which|from|about|more|less|fewer|greater|larger|smaller|higher|lower"
)
"""Words that no unquoted category holds, so that a wording which cannot be read is no category."""


def _separate_number(cursor: Cursor) -> float | None:
    value = number(cursor)
    is_part_of_word = cursor.here.kind == "word" and cursor.here.start == cursor.tokens[cursor.position - 1].end
    return None if is_part_of_word else value


def _words(cursor: Cursor) -> str | None:
    """Read the words of a category up to one that belongs to the rule; a column's name is no category."""
    start, end = cursor.here.start, -1
    if cursor.attempt(column_name) is not None:
        return None
    while cursor.here.kind in {"word", "number"} or (cursor.here.plain in {"-", "/", "&"} and end >= 0):
        if cursor.sees(_ENDS_TEXT):
            break
        end = cursor.here.end
        cursor.position += 1
    return None if end < 0 else cursor.text[start:end]


_value = first(_string, _separate_number, _words)


def _choice(joints: str) -> Reader:
    """Read `a, b or c`. joints: pattern of what may join two values; a word, once used, joins all that follow.

    A later value before a verb is not read: it is the next condition's subject.
    """

    def read(cursor: Cursor) -> rules.Check | None:
        values: list[str | float] = []
        mark = cursor.position
        joint: str | None = ","
        while joint is not None:
            value = cursor.attempt(_value)
            if value is None or (values and cursor.sees(_VERBS)):
                break
            values.append(value)
            mark = cursor.position
            joint = cursor.take(joints if joint == "," else joint)
        cursor.position = mark
        if len(values) == 1 and isinstance(values[0], float):
            return Compare("=", Number(values[0]))
        return rules.OneOf(tuple(values)) if values else None

    return read


_no_formula = unless("+|-|*|/|^")
_span = seq(
    "from?", number, "to|-", _separate_number, _no_formula,
    make=lambda low, high, _: rules.Between(Number(low), Number(high)) if low < high else None,
)  # fmt: skip
"""Reads `12 to 30`, `from 12 to 30` or `12-30`; `30-12` and `12-30*x` are formulas."""
_property = first(
    divisibility,
    seq("between", term, "and", term, make=rules.Between),
    _span,
    seq("one of", _choice(", or|, and|,|or|and")),
    seq("missing", make=rules.Absent),
    comparison,
    seq(number, named({"or more": ">=", "or less": "<="}), make=lambda value, sign: Compare(sign, Number(value))),
    seq(_choice(", or|or"), _no_formula),
    seq(term, make=lambda other: Compare("=", other)),
)
"""Reads a check after `is`."""
_denied = seq("not", _property, make=Fails)
_contained = seq("contains the text|contains|contain", _string, make=rules.Holds)
_judgement = first(
    seq("does not", _contained, make=Fails),
    seq(_COPULA, first(_denied, _property)),
    _contained,
    divisibility,
    comparison,
    seq("=|equals|equal to", _value, make=lambda value: rules.OneOf((value,))),
    seq("!=", _value, make=lambda value: Fails(rules.OneOf((value,)))),
)
"""Reads a check after its subject: `is even`, `> 3`, `is not Biscoe`, `does not contain "a"`."""

_ASCENDING, _DESCENDING, _DISTINCT, _EQUAL_NEIGHBOURS, _SPLIT_PAIR, _PALINDROME = rules.PATTERNS
_ORDERS = {
    "in ascending order": _ASCENDING, "in increasing order": _ASCENDING,
    "in descending order": _DESCENDING, "in decreasing order": _DESCENDING,
    "all different": _DISTINCT, "all distinct": _DISTINCT, "a palindrome": _PALINDROME,
}  # fmt: skip
_REPETITIONS = {
    **{f"exactly two identical {noun} that are not adjacent": Pattern(_SPLIT_PAIR) for noun in ("integers", "numbers")},
    **{f"a repeated {noun}": Not(Pattern(_DISTINCT)) for noun in NOUNS.split("|")},
}

_EQUALITIES = {"two": Pattern(_EQUAL_NEIGHBOURS), "no two": Not(Pattern(_EQUAL_NEIGHBOURS))}
_neighbours = seq(named(_EQUALITIES), "neighbours are equal|neighbors are equal")
_order = first(
    seq(items, _COPULA, named(_ORDERS), make=lambda among, sentence: Pattern(sentence, among)),
    seq(items, _COPULA, "not", named(_ORDERS), make=lambda among, sentence: Not(Pattern(sentence, among))),
)

_NONE, _SOME = Compare("=", Number(0.0)), Compare(">=", Number(1.0))
_BOUNDS = {"at least": ">=", "at most": "<=", "more than": ">", "fewer than": "<", "exactly": "="}

_count = first(
    named({"no": _NONE, "none": _NONE, "any": _SOME}),
    seq(named(_BOUNDS), number, make=lambda sign, required: Compare(sign, Number(required))),
)
"""Reads a required number: `at least two`, `no`, `any`, `exactly one`."""
_quantified = first(
    seq(
        "all|every one of|every|each of|each", "of?", items, _judgement,
        make=lambda among, check: Is(Tally(among, Fails(check)), _NONE),
    ),
    seq(_count, "of?", items, _judgement, make=lambda count, among, check: Is(Tally(among, check), count)),
)  # fmt: skip
"""Reads `all integers are even`, `any of a, b and c is 0`, `at least two of the integers are odd`."""
_content = first(
    named(_REPETITIONS),
    seq(_count, tally, make=lambda count, counted: Is(counted, count)),
    seq("a|an?", tally, make=lambda counted: Is(counted, _SOME)),
)
_contains = first(
    seq("the sequence does not contain", _content, make=Not), seq("the sequence contains|there is|there are", _content)
)
"""Reads `the sequence contains at least one 0`, `there is no 0 in the sequence`, `the sequence contains a 0`."""


_term_and_check = seq(term, _judgement, make=Is)


_check = first(divisibility, comparison, _denied)


def _comparison(cursor: Cursor) -> Condition | None:
    """Read a term and its check, or `… and at most 26`: a check of the last subject."""
    result: Is | None = cursor.attempt(_term_and_check)
    if result is None and cursor.subject is not None:
        check = cursor.attempt(_check)
        return None if check is None else Is(cursor.subject, check)
    cursor.subject = result.term if result else cursor.subject
    return result


def _part(cursor: Cursor) -> Any:
    return _any_part(cursor)


def _joint(word: Literal["and", "or"]) -> Callable[[tuple[Condition, ...]], Condition]:
    return lambda parts: parts[0] if len(parts) == 1 else rules.Joint(word, parts)


condition = joined(joined(_part, "and|, and", _joint("and")), ", or|or", _joint("or"))
"""Reads parts joined by `or`; `and` binds closer."""
_any_part = first(
    seq("not", _part, make=Not), seq("(", condition, ")"),
    _neighbours, _order, _quantified, _contains, _comparison,
)  # fmt: skip

# --- sentences and clauses ----------------------------------------------------------------------------------

_SAYS = "output|predict|answer|return|say|the output is|the class label is|the label is|the answer is"
_IF = "if|when"
_ELSE = "otherwise|else"
_SEPARATORS = ", and|, or|; and|and|,|;"
_CONDITIONAL = re.compile(r"\b(if|when|otherwise|else|unless|except|only)\b", re.IGNORECASE)
_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")


class Reading(NamedTuple):
    rule: rules.Rule | None
    """None if no sentence decides anything."""
    start: int
    """Offset of the rule's first sentence in the text; before it stand the seed sentence and the prior."""
    unread: tuple[str, ...]
    """Sentences that seem to belong to the rule and could not be read."""


_Clause = tuple[Condition | None, rules.Outcome]
"""A condition and its outcome; without a condition, the outcome of every other row."""


@lru_cache(maxsize=4096)
def read_rule(text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> Reading:
    match = _TARGET.search(text)
    cursor = Cursor(text, names, labels, match[1].strip() if match else "")
    try:
        return _read(cursor)
    except RecursionError:
        return Reading(None, len(text), (text[:80],))


def _read(cursor: Cursor) -> Reading:
    """Read every sentence; sentences after an unconditional one begin the rule anew, so that the last rule counts."""
    start, clauses, unread = len(cursor.text), list[_Clause](), list[str]()
    while cursor.position < len(cursor.tokens) - 1:
        if cursor.here.kind == "stop":
            cursor.position += 1
            continue
        begin = cursor.here.start
        decided = cursor.attempt(_sentence)
        if decided is None:
            while cursor.here.kind != "stop":
                cursor.position += 1
            sentence = cursor.text[begin : cursor.here.start]
            unread += [sentence] if clauses or _CONDITIONAL.search(sentence) else []
            continue
        if not clauses:
            start = begin
        elif clauses[-1][0] is None:
            start, clauses, unread = begin, [], []
        clauses += decided
    return Reading(_rule(clauses, cursor.labels) if clauses else None, start, tuple(unread))


def _rule(clauses: list[_Clause], labels: list[str]) -> rules.Rule:
    """Build the rule; without an outcome for other rows, it is that of two labels which no case has."""
    cases = tuple(rules.Case(asked, outcome) for asked, outcome in clauses if asked is not None)
    if clauses[-1][0] is None:
        return rules.Rule(cases, clauses[-1][1])
    left = [label for label in labels if label not in {case.outcome for case in cases}]
    return rules.Rule(cases, left[0] if len(labels) == 2 and len(left) == 1 else None)


def _sentence(cursor: Cursor) -> list[_Clause] | None:
    """Read clauses to the end of the sentence; only the last may be without a condition."""
    clauses: list[_Clause] = []
    while cursor.here.kind != "stop":
        clause: _Clause | None = cursor.attempt(_clause)
        if clause is None or (clauses and clauses[-1][0] is None):
            return None
        clauses.append(clause)
        cursor.take(_SEPARATORS)
    return clauses


def _outcome(cursor: Cursor) -> rules.Outcome | None:
    """Read `output 3x + 4`, `TARGET = 3x + 4` or `the class label is 1`."""
    cursor.take("then|always")
    mark = cursor.position
    cursor.take("the")
    if not ((cursor.take_text(cursor.target) or cursor.take("y")) and cursor.take("=|is")):
        cursor.position = mark
        cursor.take(_SAYS)
    return cursor.attempt(_label if cursor.labels else term)  # type: ignore[no-any-return]


def _label(cursor: Cursor) -> rules.Outcome | None:
    if (quoted := cursor.take_kind("string")) is not None:
        return next((label for label in cursor.labels if label.casefold() == quoted.strip().casefold()), None)
    label = cursor.take_one_of(cursor.labels)
    value = cursor.attempt(number) if label is None else None
    return label if value is None else next((one for one in cursor.labels if rules.read_number(one) == value), None)


_always = seq(_outcome, make=lambda outcome: (None, outcome))
_if_clause = seq(_IF, condition, ",?", _outcome, make=lambda *clause: clause)
_clause = first(
    seq(_ELSE, ",?", first(_if_clause, _always)),
    _if_clause,
    seq(_outcome, f"{_ELSE}|for every input", make=lambda outcome: (None, outcome)),
    seq(_outcome, ",?", _IF, condition, make=lambda outcome, asked: (asked, outcome)),
    _always,
)
"""Reads `otherwise, output 0`, `if …, output 1`, `0 otherwise`, `output 1 if …` or `always output 1`."""
