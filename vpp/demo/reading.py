"""Read rules in plain English: words become tokens, and phrases of tokens become one token, until clauses are left.

A token of a part is a letter and a number, as in `X1 is greater than D2`: the letter is the part's kind, or Y for a
column in quotes. `_STEPS` are made from the formats of the phrases in `rules`. Other wordings are turned into these by
`_SPELLINGS`, before any step, and by `_VARIANTS`, which know parts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.prompt import Column
from vpp.demo.rules import Case, Part, Phrase, Rule, is_plain, node, number

LONGEST_TEXT = 4_000
"""Characters of a rule that are read; the rest is ignored."""
_MOST_STEPS = 200
"""Phrases of a sentence that is read."""


class Unreadable(ValueError):
    """The sentence has more phrases, or other brackets, than the reader follows."""


def _wordings(*pairs: tuple[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Compile (pattern, words in its place), on words and tokens with a space between any two."""
    return [(re.compile(rf"(?<!\S)(?:{old})(?!\S)"), new) for old, new in pairs]


_SPELLINGS = _wordings(
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
)  # fmt: skip

_LIST = r"((?:all )?number|(?:first|last) D\d+ number|[XY]\d+(?:(?: ,)? (?:and|or) [XY]\d+| , [XY]\d+)*)"
_PLACES = "|".join(rules.PLACES)
_COUNTED = r"(D\d+|(?:even|odd) number|number that is (?:not )?K\d+)"
_VARIANTS = _wordings(
    (rf"({_PLACES}|largest|smallest) number(?! among)", r"\1 number among number"),
    (rf"number of (different number|{_COUNTED})(?! among)", r"number of \1 among number"),
    (r"number ((?:not )?K\d+)", r"number that is \1"), (r"(distance from \w+ to) ([VXYD]\d+ ,)", r"\1 point \2"),
    (r"(distance from [VXYD]\d+ , [VXYD]\d+ to) ([VXYD]\d+ ,)", r"\1 point \2"),
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
)  # fmt: skip


def _spelled(text: str) -> str:
    for pattern, new in _SPELLINGS:
        text = " ".join(pattern.sub(new, text).split())
    return text


# --- steps: from phrases to tokens ---------------------------------------------------------------------------

_SLOTS = {"V": r"([VXYD]\d+)", "D": r"(D\d+)", "L": _LIST, "K": r"(K\d+)", "C": r"(C\d+)", "W": r"([SY]\d+)"}
_ENDS_TEXT = (
    "and|or|nor|neither|then|otherwise|else|if|when|unless|because|while|output|is|but|not|only|in|of|to|than|at|by|with|as"
    "|that|from|about|more|less|fewer|greater|larger|smaller|higher|lower|all|contain|has"
)
"""Words that no unquoted category holds, so that a wording which cannot be read is no category."""
_WORD = rf"(?!(?:{_ENDS_TEXT})(?!\S))[^\W_A-Z][^\s,()A-Z]*+"
_ONE = rf"(?:[SYD]\d++|{_WORD}(?: {_WORD})*+)"
_NO_SUBJECT = "(?! is| not| contain| K| otherwise)"
_AFTER_IS = r"(?:(?<=is )|(?<=not ))"
_OPERATIONS = {"*": rules.TIMES, "/": rules.OVER, "+": rules.PLUS, "-": rules.MINUS}


def _steps() -> "Iterator[tuple[re.Pattern[str], Callable[[_Reader, re.Match[str]], str]]]":
    """Yield (pattern, what to put in its place); the first that is found counts."""
    yield re.compile(r"(is|not) (?:from )?(D\d+) (?:-|to) (D\d+)(?! [*/^+-])"), _span
    yield from map(_reading, rules.TERMS)
    for operators in ("*/", "+-"):
        yield re.compile(rf"([VXYD]\d+) ([{operators}]) ([VXYD]\d+)"), _operation
    yield from map(_reading, rules.CHECKS)
    for pattern, words in _VARIANTS:
        yield pattern, lambda _, match, words=words: match.expand(words)  # type: ignore[misc]
    yield from map(_reading, rules.ARRANGEMENTS)
    yield re.compile(rf"{_AFTER_IS}([XV]\d++)(?! is|,)"), lambda _, match: f"equal to {match[1]}"
    yield re.compile(rf"one of ({_ONE}(?: , {_ONE})*+(?:(?: ,)? (?:or|and) {_ONE}{_NO_SUBJECT})*)"), _choice
    yield re.compile(rf"{_AFTER_IS}({_ONE}(?:(?: , {_ONE})*(?: ,)? or {_ONE}{_NO_SUBJECT})*)"), _choice
    yield from map(_reading, (rules.IS, rules.IS_NOT))
    yield re.compile(r"(C\d+)((?: ,)? (?:and|or|but) )((?:not )?K\d+)(?!\S)"), _same_subject
    yield re.compile(r"(?<!\S)not (C\d+)"), partial(_filled, rules.NOT)
    for joint, words in ((rules.AND, "(?:and|but)"), (rules.OR, "or")):
        yield re.compile(rf"(C\d+(?:(?: ,)? {words} C\d+)+)"), partial(_joint, joint)


def _reading(phrase: Phrase) -> "tuple[re.Pattern[str], Callable[[_Reader, re.Match[str]], str]]":
    """Make the expression that reads a phrase from its format, and what makes the part."""
    words = re.sub(r"\((\{\w\}(?:, \{\w\})?)\)|(\})s", r"\1\2", phrase.words)
    words = _spelled(" ".join(re.findall(r"\{\w\}|\w+|[^\w\s]", words)))
    text = "".join(_SLOTS[part] if at % 2 else re.escape(part) for at, part in enumerate(rules.SLOT.split(words)))
    if phrase in (rules.IS, rules.IS_NOT):
        text = text.replace(r"\ is\ ", " (?:is )?")
    # `even number` counts numbers; after a number, a minus sign is no sign.
    before, after = r"(?<!\d )" if phrase == rules.NEGATIVE else "", "(?! number)" if "{" not in phrase.words else ""
    return re.compile(rf"(?<!\S){before}{text}(?!\S){after}"), partial(_filled, phrase)


def _filled(phrase: Phrase, reader: "_Reader", match: re.Match[str]) -> str:
    slots = zip(rules.SLOT.findall(phrase.words), match.groups(), strict=True)
    parts = [reader.slot(slot, text) for slot, text in slots]
    if phrase == rules.NEGATIVE and parts[0].kind == "D":
        return reader.token(number(-parts[0].value))
    # Python would work out 9^9^9^9 to the end.
    if phrase == rules.POWER and (parts[0].kind == "D" or parts[1].value not in range(10)):
        raise Unreadable
    return reader.token(node(phrase, *parts))


def _operation(reader: "_Reader", match: re.Match[str]) -> str:
    return reader.token(node(_OPERATIONS[match[2]], reader.part(match[1]), reader.part(match[3])))


def _span(reader: "_Reader", match: re.Match[str]) -> str:
    """Read `is 3-5` as a span, and `is 9-5` as a difference."""
    word, low, high = match.groups()
    if reader.part(low).value > reader.part(high).value:
        return f"{word} {reader.token(node(rules.MINUS, reader.part(low), reader.part(high)))}"
    return f"{word} between {low} and {high}"


def _choice(reader: "_Reader", match: re.Match[str]) -> str:
    """Read a list of categories: quoted texts, numbers, or words up to a comma or a joint."""
    words = [one for one in re.split(r"(?: ,)? (?:or|and) | , ", match[1]) if one]
    parts = [reader.part(one) if re.fullmatch(r"[SYD]\d+", one) else rules.label(one) for one in words]
    values = [part.value.name if part.kind == "X" else part.value for part in parts]
    return reader.token(node(rules.ONE_OF, rules.choice(*values)))


def _joint(phrase: Phrase, reader: "_Reader", match: re.Match[str]) -> str:
    return reader.token(rules.joined(phrase, [reader.part(token) for token in re.findall(r"C\d+", match[1])]))


def _same_subject(reader: "_Reader", match: re.Match[str]) -> str:
    """Complete `C1 and K2`, as in `the sum is even and at most 26`: the check is about the last subject."""
    last = rules.leaves(reader.part(match[1]))[-1]
    if last.phrase not in (rules.IS, rules.IS_NOT):
        raise Unreadable
    return f"{match[1]}{match[2]}{reader.token(last.parts[0], 'V')} is {match[3]}"


_STEPS = list(_steps())

# --- sentences and clauses -----------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|(?<!\w)\'[^\'\n]{1,300}\'(?!\w)'
_BULLET = r"(?:[-*•]|\d+[.)])\s"
_STOP = r"[.!?]{1,9}(?:[\s\"')”]|$)"
_SENTENCE = re.compile(
    rf"\s*(?:{_BULLET})?\s*(?P<text>(?:{_STRING}|(?!{_STOP}|\n\s*(?:\n|{_BULLET}|[A-Z])).)+)[.!?]*", re.DOTALL
)
_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")
_CONDITIONAL = re.compile(r"\b(if|when|otherwise|else|unless|except|only)\b", re.IGNORECASE)
_NUMBER = r"[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
_NUMERALS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_BEFORE_NUMERALS = frozenset(["is", "are", "=", "equals", "than", "least", "most", "exactly", "first", "last", "by"])
_BEFORE_LABELS = "|".join(
    rf"(?<=\b{word}{gap})"
    for word in ["output", "predict", "answer", "return", "say", "is", "then", "always", "otherwise", "else"]
    for gap in (" ", ", ")
)

_OUTCOME = r"[SXYVD]\d+"
_CLAUSE = re.compile(rf"(?:if C\d+ {_OUTCOME}|{_OUTCOME} if C\d+|{_OUTCOME}(?=$))(?: |$)")
"""Reads `if …, output 1`, `output 1 if …` and at last `otherwise, output 0`, without commas and such words."""


class Reading(NamedTuple):
    rule: Rule | None
    """None if no sentence decides anything."""
    start: int
    """Offset of the rule's first sentence in the text; before it stand the seed sentence and the prior."""
    unread: tuple[str, ...]
    """Sentences that seem to belong to the rule and could not be read."""


@lru_cache(maxsize=4096)
def read_rule(text: str, columns: tuple[Column, ...], labels: tuple[str, ...]) -> Reading:
    """Read every sentence; those after an unconditional one begin the rule anew, so that the last rule counts."""
    text, target = text[:LONGEST_TEXT], _TARGET.search(text)
    about = columns, labels, target[1].strip() if target else ""
    reading = _Reader(*about, is_bold=False).read(text)
    if (reading.rule is None or reading.unread) and not all(map(is_plain, (*(one.name for one in columns), *labels))):
        again = _Reader(*about, is_bold=True).read(text)
        return reading if again.rule is None or again.unread else again
    return reading


class _Reader:
    """Reads sentences about a table."""

    def __init__(self, columns: tuple[Column, ...], labels: Sequence[str], target: str, *, is_bold: bool) -> None:
        """is_bold: know a name or a label that is a word of rules, such as `length`, without quotes."""
        self._columns, self._labels = columns, labels
        cells = {one.name: rules.cell(one) for one in columns}
        self._cells = {name.casefold(): one for name, one in cells.items()} | cells
        self._parts = [number(0), number(1)]
        """By the number in their tokens."""
        self._steps_left = 0

        def known(texts: Iterable[str]) -> str:
            worded = [text for text in texts if re.search(r"\w", text) and rules.read_number(text) is None]
            return _any_of(text for text in worded if is_bold or is_plain(text))

        label, name = known(labels), known(cells)
        result = _any_of(word for word in (target, "y") if word and word.casefold() not in self._cells)
        outcome = rf"(?:{_BEFORE_LABELS}){label}(?!\w)|{label}(?=,? (?:if|when|otherwise|else)\b)"
        self._token = re.compile(
            rf"(?P<string>{_STRING})|(?P<label>{outcome})"
            rf"|(?P<target>{result} (?:=|is)(?!\S))"
            rf"|(?P<name>{name}(?!\w)(?! (?:even|odd|multiple|palindrome|repeated|number|\d)))"
            rf"|(?P<number>{_NUMBER})(?:s\b|(?!\w| ?\()|(?=(?P<factor>{name}(?!\w)|\()))"
            rf"|(?P<numeral>(?!(?:(?<=is )|(?<=are ))one of){_any_of(_NUMERALS)}\b)"
            r"|(?P<word>\w+(?:[-/&]\w+)*)|(?P<symbol><=|>=|!=|==|\*\*|\S)",
            re.IGNORECASE,
        )

    def read(self, text: str) -> Reading:
        start, cases, unread = len(text), list[Case](), list[str]()
        for match in _SENTENCE.finditer(text):
            sentence = match["text"]
            try:
                more = list(self._cases(sentence))
            except (Unreadable, RecursionError):
                unread += [sentence] if cases or _CONDITIONAL.search(sentence) else []
                continue
            if cases and cases[-1].condition is None:
                cases, unread = [], []
            start = start if cases else match.start("text")
            cases += more
        # Without an outcome for other rows, it is that of two labels which no case has.
        left = [label for label in self._labels if label not in {case.outcome.value for case in cases}]
        if cases and cases[-1].condition and len(self._labels) == 2 and len(left) == 1:
            cases.append(Case(None, rules.label(left[0])))
        return Reading(Rule(self._columns, tuple(cases)) if cases else None, start, tuple(unread))

    def _cases(self, text: str) -> Iterator[Case]:
        """Read clauses to the end of the sentence; only the last may be without a condition. Raises Unreadable."""
        self._steps_left = _MOST_STEPS
        words = self._reduced(_spelled(" ".join(self._tokens(text))))
        plain = " ".join(word for word in words.split() if word not in ("output", "otherwise", "and", ",", ";"))
        clauses = [re.findall(r"[A-Z]\d+", clause[0]) for clause in _CLAUSE.finditer(plain)]
        if _CLAUSE.sub("", plain) or not re.search(r"(?<!\S)(?:output|otherwise|if)(?!\S)", words):
            raise Unreadable
        for tokens in clauses:
            *conditions, outcome = sorted(tokens, key=lambda token: token[0] != "C")
            yield Case(self.part(conditions[0]) if conditions else None, self._outcome(outcome))

    def _outcome(self, token: str) -> Part:
        """Return a label, in any case or as an equal number, or a term. Raises Unreadable."""
        part, text = self.part(token), self._text(token).strip()
        if not self._labels and token[0] not in "SY":
            return part
        alike = [label for label in self._labels if label.casefold() == text.casefold()]
        equal = [label for label in self._labels if part.kind == "D" and rules.read_number(label) == part.value]
        if not alike + equal:
            raise Unreadable
        return rules.label((alike + equal)[0])

    def _tokens(self, text: str) -> Iterator[str]:
        """Yield the text's words in lower case, with tokens in place of names, numbers, labels and quoted texts."""
        last = ""
        for match in self._token.finditer(text):
            word, kind = match[0], match.lastgroup
            if kind == "string":
                said = re.sub(r"\\(.)", r"\1", word[1:-1])
                cell = self._cells.get(said) or self._cells.get(said.casefold())
                last = self.token(cell, "Y") if cell else self.token(rules.label(said))
            elif kind == "name":
                last = self.token(self._cells.get(word) or self._cells[word.casefold()])
            elif match["number"]:
                value = rules.read_number(match["number"].replace(",", ""))
                if value is None:
                    raise Unreadable
                last = self.token(number(value)) + (" *" if match["factor"] else "")
            elif kind == "numeral" and last in _BEFORE_NUMERALS:
                last = self.token(number(_NUMERALS.index(word.lower())))
            elif kind == "label":
                last = self.token(rules.label(word))
            else:
                last = "output" if kind == "target" else word.lower()
            yield last

    def _reduced(self, text: str) -> str:
        """Replace phrases by tokens, those in brackets first, until none is left."""
        while inner := re.search(r"\( ([^()]*) \)", text):
            part = self._reduced(inner[1])
            if not re.fullmatch(r"[A-Z]\d+|[VXYD]\d+ , [VXYD]\d+", part):
                raise Unreadable
            text = text[: inner.start()] + part + text[inner.end() :]
        while (shorter := self._step(text)) is not None:
            text = " ".join(shorter.split())
            self._steps_left -= 1
            if self._steps_left < 0:
                raise Unreadable
        return text

    def _step(self, text: str) -> str | None:
        for pattern, make in _STEPS:
            if match := pattern.search(text):
                return text[: match.start()] + make(self, match) + text[match.end() :]
        return None

    def part(self, token: str) -> Part:
        return self._parts[int(token[1:])]

    def token(self, part: Part, letter: str = "") -> str:
        self._parts.append(part)
        return f"{letter or part.kind}{len(self._parts) - 1}"

    def slot(self, slot: str, text: str) -> Part:
        """Return the part that a slot of a phrase holds."""
        if slot == "W":
            return rules.choice(self._text(text))
        if slot != "L":
            return self.part(text)
        if not (count := re.fullmatch(r"(first|last) (D\d+) number", text)):
            return rules.items(self._columns, [self._text(token) for token in re.findall(r"[XY]\d+", text)])
        size = int(self.part(count[2]).value)
        if not 1 <= size < 1000:
            raise Unreadable
        return rules.items(self._columns, (), *((0, size) if count[1] == "first" else (-size, 0)))

    def _text(self, token: str) -> str:
        part = self.part(token)
        return part.value.name if part.kind == "X" else part.value if part.kind == "S" else part.words


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; without any, one that never matches."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True))) or '(?!)'})"
