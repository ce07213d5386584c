"""Read rules in plain English: words become tokens, and phrases of tokens become one token, until clauses are left.

A token of a part is a letter and a number, as in `X1 is greater than D2`: V value, X column, Y column in quotes, D
number, S text in quotes, P point, K check, C condition. `_STEPS` are made from the formats of the phrases in `rules`.
Other wordings are turned into these by `_SPELLINGS`, before any step, and by `_VARIANTS`, which know parts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.rules import WORDS_OF_RULES, Case, Cell, Choice, Items, Node, Number, Part, Phrase, Rule, node

LONGEST_TEXT = 4_000
"""Characters of a rule that are read; the rest is ignored."""
_MOST_STEPS = 200
"""Phrases of a sentence that is read."""


class Unreadable(ValueError):
    """The sentence has more phrases, or other brackets, than the reader follows."""


# --- other wordings ------------------------------------------------------------------------------------------

_SPELLINGS = [
    (re.compile(rf"(?<!\S)(?:{old})(?!\S)"), new)
    for old, new in (
        ("an|the|then|always|both|either|strictly", ""),
        ("(?:integer|digit|value|number)s?", "number"),
        ("a(?= (?:palindrome|multiple|repeated|even|odd|number|D))", ""),
        ("are|equals|==?", "is"), ("have", "has"), ("contains|includes?", "contain"), ("which", "that"),
        ("when", "if"), ("else", "otherwise"), ("mean", "average"), ("total", "sum"), ("number sum", "sum"),
        ("(?:class )?label is|(?:answer|output) is|predict|answer|return|say", "output"), ("class output", "output"),
        ("plus", "+"), ("minus|−|–", "-"), ("times|×|·", "*"), ("÷", "/"), (r"\*\*", "^"), ("√", "sqrt"),
        ("greater than or equal to|no less than|>=|≥", "at least"),
        ("less than or equal to|no more than|<=|≤", "at most"),
        ("(?:more|larger|higher) than|above|over|>", "greater than"),
        ("(?:fewer|smaller|lower) than|below|under|<", "less than"),
        ("!=|≠", "is not"), ("exactly", "equal to"), ("does not", "not"), ("(is|not) (even|odd) number", r"\1 \2"),
        ("multiple of", "divisible by"), ("increasing", "ascending"), ("decreasing", "descending"),
        ("distinct", "different"), ("all of|(?:each|every one) of|each|every", "all"), ("there is", "number contain"),
        ("(?:in|of|among) sequence", ""), ("sequence", "number"), ("neighbors", "neighbours"),
        ("two neighbours is equal", "number has equal neighbours"), ("no number has", "not number has"),
        ("contain repeated number", "contain repeated"), ("number contain repeated", "not number is all different"),
        ("(sum|product|average|range|length)(?= (?:is|greater|less|at))", r"\1 of number"),
        ("(largest|smallest) of|(first|last|largest|smallest) number in", r"\1\2 number among"),
    )
]  # fmt: skip
"""(pattern, words in its place), on words and tokens with a space between any two."""

_LIST = r"((?:all )?number|(?:first|last) D\d+ number|[XY]\d+(?:(?: ,)? (?:and|or) [XY]\d+| , [XY]\d+)*)"
_PLACES = "|".join(rules.PLACES)
_COUNTED = r"(D\d+|(?:even|odd) number|number that is (?:not )?K\d+)"
_VARIANTS = [
    (re.compile(rf"(?<!\S)(?:{old})(?!\S)"), new)
    for old, new in (
        (rf"({_PLACES}|largest|smallest) number(?! among)", r"\1 number among number"),
        (rf"number of (different number|{_COUNTED})(?! among)", r"number of \1 among number"),
        (r"number ((?:not )?K\d+)", r"number that is \1"), (r"(distance from \w+ to) (P\d+)", r"\1 point \2"),
        (r"contain ([SY]\d+)", r"contain text \1"), (r"(D\d+) or more", r"at least \1"),
        (r"(D\d+) or less", r"at most \1"),
        (rf"number (not )?contain (?:any )?{_COUNTED}", r"\1number of \2 is at least D1"),
        (rf"number (not )?contain no {_COUNTED}", r"\1number of \2 is D0"),
        (rf"number (not )?contain (K\d+) {_COUNTED}", r"\1number of \3 is \2"),
        (rf"{_LIST} is not (?=in|all|palindrome)(\w+)", r"not \1 is \2"),
        (rf"all {_LIST} is not (K\d+)", r"number of number that is \2 among \1 is D0"),
        (rf"all {_LIST} is (K\d+)", r"number of number that is not \2 among \1 is D0"),
        (rf"(?:no|none of) {_LIST} is (K\d+)", r"number of number that is \2 among \1 is D0"),
        (rf"any of {_LIST} is ((?:not )?K\d+)", r"number of number that is \2 among \1 is at least D1"),
        (rf"(K\d+)(?: of)? {_LIST} is ((?:not )?K\d+)", r"number of number that is \3 among \2 is \1"),
    )
]  # fmt: skip

# --- steps: from phrases to tokens ---------------------------------------------------------------------------

_ENDS_TEXT = (
    "and|or|nor|neither|then|otherwise|else|if|when|unless|because|while|output|is|but|not|only|in|of|to|than|at|by|with|as"
    "|that|from|about|more|less|fewer|greater|larger|smaller|higher|lower|all|contain|has"
)
"""Words that no unquoted category holds, so that a wording which cannot be read is no category."""
_WORD = rf"(?!(?:{_ENDS_TEXT})(?!\S))[^\W_A-Z][^\s,()A-Z]*+"
_ONE = rf"(?:[SYD]\d++|{_WORD}(?: {_WORD})*+)"
_SLOTS = {
    "V": r"([VXYD]\d+)", "D": r"(D\d+)", "L": _LIST, "K": r"(K\d+)", "P": r"(P\d+)", "C": r"(C\d+)", "W": r"([SY]\d+)",
}  # fmt: skip
_CHAIN = r"(C\d+(?:(?: ,)? {0} C\d+)+)"


def _words(text: str) -> str:
    for pattern, new in _SPELLINGS:
        text = " ".join(pattern.sub(new, text).split())
    return text


def _pattern(phrase: Phrase) -> re.Pattern[str]:
    """Make the expression that reads a phrase from its format."""
    words = re.sub(r"\((\{\w\})\)|(\})s", r"\1\2", phrase.words)
    words = _words(" ".join(re.findall(r"\{\w\}|\w+|[^\w\s]", words)))
    text = "".join(_SLOTS[part] if at % 2 else re.escape(part) for at, part in enumerate(rules.SLOT.split(words)))
    if phrase in (rules.IS, rules.IS_NOT):
        text = text.replace(r"\ is\ ", " (?:is )?")
    # `even number` counts numbers; after a number, a minus sign is no sign.
    before, after = r"(?<!\d )" if phrase == rules.NEGATIVE else "", "(?! number)" if "{" not in phrase.words else ""
    return re.compile(rf"(?<!\S){before}{text}(?!\S){after}")


class _Sentence:
    """The parts of a sentence, and its text with tokens in their place."""

    def __init__(self) -> None:
        self.parts: list[Part | str] = [Number(0.0), Number(1.0)]
        """By the number in their tokens; a text is a quoted one."""
        self._steps = 0

    def token(self, letter: str, part: Part | str) -> str:
        self.parts.append(part)
        return f"{'D' if isinstance(part, Number) else letter}{len(self.parts) - 1}"

    def reduced(self, text: str) -> str:
        """Replace phrases by tokens, those in brackets first, until none is left."""
        while inner := re.search(r"\( ([^()]*) \)", text):
            part = self.reduced(inner[1])
            if point := re.fullmatch(rf"{_SLOTS['V']} , {_SLOTS['V']}", part):
                part = self.token("P", node(rules.POINT, *(self.part("V", one) for one in point.groups())))
            elif not re.fullmatch(r"[A-Z]\d+", part):
                raise Unreadable
            text = text[: inner.start()] + part + text[inner.end() :]
        while (shorter := self._step(text)) is not None:
            text = " ".join(shorter.split())
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise Unreadable
        return text

    def _step(self, text: str) -> str | None:
        for pattern, make in _STEPS:
            if match := pattern.search(text):
                new = match.expand(make) if isinstance(make, str) else make(self, match)
                return text[: match.start()] + new + text[match.end() :]
        return None

    def part(self, slot: str, text: str) -> Part:
        """Return the part that a slot of a phrase holds."""
        if slot == "L":
            count = re.fullmatch(r"(first|last) (D\d+) number", text)
            size = self.parts[int(count[2][1:])] if count else None
            if not isinstance(size, Number):
                return Items(tuple(self.text(token) for token in re.findall(r"[XY]\d+", text)))
            if not 1 <= size.value < 1000:
                raise Unreadable
            return Items(start=-int(size.value)) if text.startswith("last") else Items(stop=int(size.value))
        part = self.parts[int(text[1:])]
        return Choice((self.text(text),)) if slot == "W" or isinstance(part, str) else part

    def text(self, token: str) -> str:
        part = self.parts[int(token[1:])]
        return part.name if isinstance(part, Cell) else str(part)

    def category(self, word: str) -> str | float:
        """Return a quoted text, a number, or else the word itself."""
        part = self.parts[int(word[1:])] if re.fullmatch(r"[SYD]\d+", word) else word
        return part.value if isinstance(part, Number) else self.text(word) if part is not word else word


_EXPONENTS: tuple[Part, ...] = tuple(Number(float(at)) for at in range(10))


def _filling(phrase: Phrase) -> Callable[[_Sentence, re.Match[str]], str]:
    slots = rules.SLOT.findall(phrase.words)

    def make(sentence: _Sentence, match: re.Match[str]) -> str:
        parts = tuple(sentence.part(slot, text) for slot, text in zip(slots, match.groups(), strict=True))
        if phrase == rules.NEGATIVE and isinstance(parts[0], Number):
            return sentence.token("D", Number(-parts[0].value))
        # Python would work out 9^9^9^9 to the end.
        if phrase == rules.POWER and (isinstance(parts[0], Number) or parts[1] not in _EXPONENTS):
            raise Unreadable
        return sentence.token(phrase.gives, Node(phrase, parts))

    return make


def _reading(phrase: Phrase) -> "_Step":
    return _pattern(phrase), _filling(phrase)


def _operation(sentence: _Sentence, match: re.Match[str]) -> str:
    phrase = {"*": rules.TIMES, "/": rules.OVER, "+": rules.PLUS, "-": rules.MINUS}[match[2]]
    return sentence.token("V", node(phrase, sentence.part("V", match[1]), sentence.part("V", match[3])))


def _equality(sentence: _Sentence, match: re.Match[str]) -> str:
    return sentence.token("K", node(rules.EQUAL, sentence.part("V", match[1])))


def _choice(sentence: _Sentence, match: re.Match[str]) -> str:
    """Read a list of categories: quoted texts, numbers, or words up to a comma or a joint."""
    words = [one for one in re.split(r"(?: ,)? (?:or|and) | , ", match[1]) if one]
    return sentence.token("K", node(rules.ONE_OF, Choice(tuple(map(sentence.category, words)))))


def _joint(phrase: Phrase) -> Callable[[_Sentence, re.Match[str]], str]:
    def make(sentence: _Sentence, match: re.Match[str]) -> str:
        parts = [sentence.parts[int(number)] for number in re.findall(r"C(\d+)", match[1])]
        return sentence.token("C", rules.joined(phrase, [part for part in parts if isinstance(part, Node)]))

    return make


def _same_subject(sentence: _Sentence, match: re.Match[str]) -> str:
    """Complete `C1 and K2`, as in `the sum is even and at most 26`: the check is about the last subject."""
    *_, last = rules.conditions_in(sentence.part("C", match[1]))
    if last.phrase not in (rules.IS, rules.IS_NOT):
        raise Unreadable
    return f"{match[1]}{match[2]}{sentence.token('V', last.parts[0])} is {match[3]}"


_Step = tuple[re.Pattern[str], str | Callable[[_Sentence, re.Match[str]], str]]
_NO_SUBJECT = "(?! is| not| contain| K| otherwise)"
_AFTER_IS = r"(?:(?<=is )|(?<=not ))"
_STEPS: list[_Step] = [
    *map(_reading, (*rules.TERMS, *rules.TALLIES, rules.POWER, rules.NEGATIVE)),
    (re.compile(r"([VXYD]\d+) ([*/]) ([VXYD]\d+)"), _operation),
    (re.compile(r"([VXYD]\d+) ([+-]) ([VXYD]\d+)"), _operation),
    *map(_reading, rules.CHECKS),
    *_VARIANTS,
    *map(_reading, rules.ARRANGEMENTS),
    (re.compile(rf"{_AFTER_IS}([XV]\d++)(?! is|,)"), _equality),
    (re.compile(rf"one of ({_ONE}(?: , {_ONE})*+(?:(?: ,)? (?:or|and) {_ONE}{_NO_SUBJECT})*)"), _choice),
    (re.compile(rf"{_AFTER_IS}({_ONE}(?:(?: , {_ONE})*(?: ,)? or {_ONE}{_NO_SUBJECT})*)"), _choice),
    *map(_reading, (rules.IS, rules.IS_NOT)),
    (re.compile(r"(C\d+)((?: ,)? (?:and|or|but) )((?:not )?K\d+)(?!\S)"), _same_subject),
    (re.compile(r"(?<!\S)not (C\d+)"), _filling(rules.NOT)),
    (re.compile(_CHAIN.format("(?:and|but)")), _joint(rules.AND)),
    (re.compile(_CHAIN.format("or")), _joint(rules.OR)),
]  # fmt: skip
"""(pattern, what to put in its place); the first that is found counts."""

# --- sentences and clauses -----------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|(?<!\w)\'[^\'\n]{1,300}\'(?!\w)'
_SENTENCES = re.compile(
    rf"{_STRING}"
    r"""|(?P<stop>[.!?]+(?=[\s"')”]|$)(?:\s+(?:[-*•]|\d+[.)])\s)?|\n\s*(?:\n|(?:[-*•]|\d+[.)])\s|(?=[A-Z])))"""
)
_BULLET = re.compile(r"\s*(?:(?:[-*•]|\d+[.)])\s)?\s*")
_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")
_CONDITIONAL = re.compile(r"\b(if|when|otherwise|else|unless|except|only)\b", re.IGNORECASE)
_SPAN = re.compile(
    r"\b(is|are|not) (?:from )?(\d+(?:\.\d+)?) ?(?:-|–|to) ?(\d+(?:\.\d+)?)(?![\w.]*\w| ?[*/^+(-])", re.IGNORECASE
)
_NUMBER = r"[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
_NUMERALS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_BEFORE_NUMERALS = frozenset(["is", "are", "=", "equals", "than", "least", "most", "exactly", "first", "last", "by"])
_BEFORE_LABELS = (
    "output ", "predict ", "answer ", "return ", "say ", "label is ", "output is ", "answer is ", "then ", "always ",
    "else ", "else, ", "otherwise ", "otherwise, ",
)  # fmt: skip

_OUTCOME = r"[SXYVD]\d+"
_CLAUSE = re.compile(
    rf"(?:otherwise(?: ,)? )?if C\d+(?: ,)?(?: output)? {_OUTCOME}|otherwise(?: ,)?(?: output)? {_OUTCOME}"
    rf"|(?:output )?{_OUTCOME}(?: ,)? if C\d+|(?:output )?{_OUTCOME} otherwise|output {_OUTCOME}"
)
"""Reads `otherwise, output 0`, `if …, output 1`, `0 otherwise`, `output 1 if …` or `always output 1`."""
_SEPARATOR = re.compile(r"(?: [,;])?(?: and)? |$")
_Clause = tuple[Node | None, rules.Outcome]
"""A condition and its outcome; without a condition, the outcome of every other row."""


class Reading(NamedTuple):
    rule: Rule | None
    """None if no sentence decides anything."""
    start: int
    """Offset of the rule's first sentence in the text; before it stand the seed sentence and the prior."""
    unread: tuple[str, ...]
    """Sentences that seem to belong to the rule and could not be read."""


@lru_cache(maxsize=4096)
def read_rule(text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> Reading:
    """Read every sentence; those after an unconditional one begin the rule anew, so that the last rule counts."""
    text, target = text[:LONGEST_TEXT], _TARGET.search(text)
    about = names, labels, target[1].strip() if target else ""
    reading = _Reader(*about, is_bold=False).read(text)
    if (reading.rule is None or reading.unread) and not all(map(_is_plain, (*names, *labels))):
        again = _Reader(*about, is_bold=True).read(text)
        return reading if again.rule is None or again.unread else again
    return reading


class _Reader:
    """Reads sentences about a table."""

    def __init__(self, names: Sequence[str], labels: Sequence[str], target: str, *, is_bold: bool) -> None:
        """is_bold: know a name or a label that is a word of rules, such as `length`, without quotes."""
        self._names = {name.casefold(): name for name in names} | {name: name for name in names}
        self._labels = labels

        def known(texts: Iterable[str]) -> str:
            worded = [text for text in texts if re.search(r"\w", text) and rules.read_number(text) is None]
            return _any_of(text for text in worded if is_bold or _is_plain(text))

        before = "|".join(f"(?<={re.escape(each)})" for each in (*_BEFORE_LABELS, f"{target} is "))
        label, name = known(labels), known(names)
        result = _any_of(word for word in (target, "y") if word and word.casefold() not in self._names)
        self._token = re.compile(
            rf"(?P<string>{_STRING})|(?P<label>(?:{before}){label}(?!\w)|{label}(?=,? (?:if|when|otherwise|else)\b))"
            rf"|(?P<target>{result} (?:=|is)(?!\S))"
            rf"|(?P<name>{name}(?!\w)(?! (?:even|odd|multiple|palindrome|repeated|number|\d)))"
            rf"|(?P<number>{_NUMBER})(?:s\b|(?!\w| ?\()|(?=(?P<factor>{name}(?!\w)|\()))"
            rf"|(?P<numeral>(?!(?:(?<=is )|(?<=are ))one of){_any_of(_NUMERALS)}\b)"
            r"|(?P<word>\w+(?:[-/&]\w+)*)|(?P<symbol><=|>=|!=|==|\*\*|\S)",
            re.IGNORECASE,
        )

    def read(self, text: str) -> Reading:
        start, clauses, unread = len(text), list[_Clause](), list[str]()
        for begin, sentence in _sentences(text):
            decided = self._clauses(sentence)
            if decided is None:
                unread += [sentence] if clauses or _CONDITIONAL.search(sentence) else []
                continue
            if clauses and clauses[-1][0] is None:
                clauses, unread = [], []
            start = start if clauses else begin
            clauses += decided
        return Reading(self._rule(clauses) if clauses else None, start, tuple(unread))

    def _rule(self, clauses: Sequence[_Clause]) -> Rule:
        """Build the rule; without an outcome for other rows, it is that of two labels which no case has."""
        cases = tuple(Case(condition, outcome) for condition, outcome in clauses if condition is not None)
        if clauses[-1][0] is None:
            return Rule(cases, clauses[-1][1])
        left = [label for label in self._labels if label not in {case.outcome for case in cases}]
        return Rule(cases, left[0] if len(self._labels) == 2 and len(left) == 1 else None)

    def _clauses(self, text: str) -> list[_Clause] | None:
        """Read clauses to the end of the sentence; only the last may be without a condition. None if it has others."""
        sentence = _Sentence()
        try:
            words = sentence.reduced(_words(" ".join(self._tokens(sentence, _SPAN.sub(_as_span, text)))))
        except (Unreadable, RecursionError):
            return None
        clauses, at = list[_Clause](), 0
        while at < len(words):
            match = _CLAUSE.match(words, at)
            separator = _SEPARATOR.match(words, match.end()) if match else None
            if match is None or separator is None or (clauses and clauses[-1][0] is None):
                return None
            *conditions, outcome = sorted(re.findall(r"[A-Z]\d+", match[0]), key=lambda token: token[0] != "C")
            said = self._outcome(sentence, outcome)
            if said is None:
                return None
            condition = sentence.part("C", conditions[0]) if conditions else None
            clauses.append((condition if isinstance(condition, Node) else None, said))
            at = separator.end()
        return clauses or None

    def _outcome(self, sentence: _Sentence, token: str) -> rules.Outcome | None:
        part = sentence.parts[int(token[1:])]
        if not self._labels:
            return None if isinstance(part, str) or token[0] == "Y" else part
        text = rules.say_number(part.value) if isinstance(part, Number) else sentence.text(token)
        alike = [label for label in self._labels if label.casefold() == text.strip().casefold()]
        equal = [label for label in self._labels if isinstance(part, Number) and rules.read_number(label) == part.value]
        return next(iter([*alike, *equal]), None)

    def _tokens(self, sentence: _Sentence, text: str) -> Iterator[str]:
        """Yield the text's words in lower case, with tokens in place of names, numbers, labels and quoted texts."""
        last = ""
        for match in self._token.finditer(text):
            word, kind = match[0], match.lastgroup
            if kind == "string":
                said = re.sub(r"\\(.)", r"\1", word[1:-1])
                name = self._names.get(said) or self._names.get(said.casefold())
                last = sentence.token("Y", Cell(name)) if name else sentence.token("S", said)
            elif kind == "name":
                last = sentence.token("X", Cell(self._names.get(word) or self._names[word.casefold()]))
            elif match["number"]:
                last = sentence.token("D", _number(match["number"]))
                last += " *" if match["factor"] else ""
            elif kind == "numeral" and last in _BEFORE_NUMERALS:
                last = sentence.token("D", Number(float(_NUMERALS.index(word.lower()))))
            else:
                last = "output" if kind == "target" else sentence.token("S", word) if kind == "label" else word.lower()
            yield last


def _number(text: str) -> Number:
    value = rules.read_number(text.replace(",", ""))
    if value is None:
        raise Unreadable
    return Number(value)


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; without any, one that never matches."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True))) or '(?!)'})"


def _is_plain(text: str) -> bool:
    """Return whether a name or a label holds no word of rules: the writer quotes the others."""
    return text == "a" or WORDS_OF_RULES.isdisjoint(re.findall(r"\w+", text.lower()))


def _as_span(match: re.Match[str]) -> str:
    """Turn `is 12-30` into `is between 12 and 30`; `is 30-12` is a formula."""
    low, high = float(match[2]), float(match[3])
    return f"{match[1]} between {match[2]} and {match[3]}" if low < high else match[0]


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence after the offset of its first word."""
    begin = 0
    stops = [match.span() for match in _SENTENCES.finditer(text) if match["stop"]]
    for end, after in [*stops, (len(text), len(text))]:
        sentence = text[begin:end]
        skipped = _BULLET.match(sentence)
        first = skipped.end() if skipped else 0
        if sentence[first:].strip():
            yield begin + first, sentence[first:]
        begin = after
