"""Read rules in plain English: a sentence's clauses, and a clause's parts, each by a phrase's format.

Names, texts in quotes and brackets become tokens, such as X3: a letter and a number. `_SPELLINGS` turn other wordings
into those of the formats in `rules`; `_OTHERS` are formats that say what some phrases of `rules` say together.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.prompt import Column
from vpp.demo.rules import AND, COUNT, IS, NOT, OR, PHRASES, Case, Part, Rule, node, number

LONGEST_TEXT, _MOST_WORDS, _MOST_READ = 4_000, 120, 4_000
"""Characters of a rule that are read; the rest is ignored. Words of a sentence that is read, and parts tried in it."""


class Unreadable(ValueError):
    """A sentence cannot be read."""


def _wordings(*pairs: tuple[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Compile (pattern, words in its place), on words and tokens with a space between any two."""
    return [(re.compile(rf"(?<!\S)(?:{old})(?!\S)"), new) for old, new in pairs]


_CLAUSES = _wordings(
    ("when", "if"), ("else", "otherwise"), ("always", ""),
    ("then|(?:label|answer|output) (?:is|=)|output|predict|answer|return|say", "→"),
    ("(?:the )?(?:class )?→(?:(?: class)? →)*", "→"), (r"(?:[,;] )?(?:and|or) (?:→ )?(\S+) otherwise$", r"otherwise \1"),
)  # fmt: skip
_CLAUSE = re.compile(r"if (.+?)(?: ,)? → (.+)|→ (.+?)(?: ,)? if (.+)|(.+)")
_NUMERALS = "zero one two three four five six seven eight nine ten".split()
_D = r"(\d[\d.]*)"
_SPELLINGS = _wordings(
    ("an|the|both|either|strictly", ""), ("(?:integer|digit|value|number)s?", "number"),
    (r"a(?= (?:palindrome|multiple|repeated|even|odd|number|\d))", ""), ("are|equals|==?", "is"), ("have", "has"),
    ("includes?|contain", "contains"), ("which", "that"), ("mean", "average"), ("total", "sum"), ("number sum", "sum"),
    ("plus", "+"), ("minus|−|–", "-"), ("times|×|·", "*"), ("÷", "/"), (r"\*\*", "^"), ("√", "sqrt"),
    ("greater than or equal to|no less than", "at least"), ("less than or equal to|no more than", "at most"),
    (">=|≥", "is at least"), ("<=|≤", "is at most"), (">", "is greater than"), ("<", "is less than"),
    ("(?:more|larger|higher) than|above|over", "greater than"), ("(?:fewer|smaller|lower) than|below|under", "less than"),
    ("!=|≠", "is not"), ("exactly", "equal to"), ("(?:does|do) not", "not"), ("(is|not) (even|odd) number", r"\1 \2"),
    ("is is", "is"), ("not is", "not"), ("multiple of", "divisible by"),
    ("increasing", "ascending"), ("decreasing", "descending"), ("distinct", "different"),
    ("all of|(?:each|every one) of|each|every", "all"), ("there is", "number contains"), ("contains any", "contains"),
    ("none of|no(?= number is)", "none of"), ("(?:in|of|among) sequence", ""), ("sequence", "number"),
    ("no two neighbo(?:u)?rs is equal", "number not has equal neighbours"), ("neighbors", "neighbours"),
    ("(?:number )?contains repeated(?: number)?", "number is not all different"),
    ("(sum|product|average|range|length)(?= is)", r"\1 of number"),
    ("(largest|smallest) of|(first|last|largest|smallest) number in", r"\1\2 number among"),
    (rf"{_D} or more", r"at least \1"), (rf"{_D} or less", r"at most \1"),
    *((rf"(than|least|most|to|first|last|by|is(?! one of)) {word}", rf"\1 {at}")
      for at, word in enumerate(_NUMERALS)),
    (rf"(is|not) (?:from )?{_D} (?:to|-) {_D}(?! [*/^+-])", r"\1 between \2 and \3"),
    (r"to(?= [BX]\d+ ,)", "to point"), (r"contains(?= S\d)", "contains text"),
)  # fmt: skip


def _spelled(text: str, wordings: list[tuple[re.Pattern[str], str]] = _SPELLINGS) -> str:
    for pattern, new in wordings:
        text = " ".join(pattern.sub(new, text).split())
    return text


def _counted(check: Part, counted: Part, some: Part) -> Part:
    return node(IS, node(COUNT, counted, some), check)


def _other(check: Part, word: str) -> Part:
    return node(f"numbers that are {word}{{K}}", check)


_NONE, _ANY = node("equal to {V}", 0), node("at least {V}", 1)
_OTHERS: dict[str, dict[str, Callable[..., Part]]] = {
    "N": {"number {K}": lambda check: _other(check, "")},
    "C": {
        "{L} contains {K} {N}": lambda some, check, counted: _counted(check, counted, some),
        "{L} contains no {N}": lambda some, counted: _counted(_NONE, counted, some),
        "{L} not contains {N}": lambda some, counted: _counted(_NONE, counted, some),
        "{L} contains {N}": lambda some, counted: _counted(_ANY, counted, some),
        "all {L} is not {K}": lambda some, check: _counted(_NONE, _other(check, ""), some),
        "all {L} is {K}": lambda some, check: _counted(_NONE, _other(check, "not "), some),
        "none of {L} is {K}": lambda some, check: _counted(_NONE, _other(check, ""), some),
        "any of {L} is {K}": lambda some, check: _counted(_ANY, _other(check, ""), some),
        "{K} of {L} is {K}": lambda count, some, check: _counted(count, _other(check, ""), some),
    },
}


# --- formats -------------------------------------------------------------------------------------------------


def _formats(kind: str) -> Iterator[tuple[list[str], list[str], Callable[..., Part]]]:
    """Yield (words between the slots, kinds of the slots, what makes the part)."""
    every: dict[str, Callable[..., Part]] = {}
    for words, phrase in PHRASES.items():
        if phrase.gives == kind and words not in (AND, OR, NOT):
            every |= {words: lambda *parts, words=words: node(words, *parts)}
            if kind == "C":
                every |= {rules.denial(words): lambda *parts, words=words: node(NOT, node(words, *parts))}
    for words, make in (every | _OTHERS.get(kind, {})).items():
        spelled = re.sub(r"\((\{\w\}(?:, \{\w\})?)\)|(\})s", r"\1\2", words)
        spelled = _spelled(" ".join(re.findall(r"\{\w\}|\w+|[^\w\s]", spelled)))
        yield rules.SLOT.split(spelled)[::2], rules.SLOT.findall(spelled), make


_FORMATS = {kind: list(_formats(kind)) for kind in "VKNC"}


def _splits(between: Sequence[str], text: str) -> Iterator[list[str]]:
    """Yield the texts of a format's slots, in every way that the words between them allow."""
    first, *others = between
    if not others and text == first:
        yield []
    elif others and text.startswith(first):
        rest = text[len(first) :]
        ends = [match.start() for match in re.finditer(re.escape(others[0]), rest)][::-1] if others[0] else [len(rest)]
        for end in filter(None, ends):
            yield from ([rest[:end], *more] for more in _splits(others, rest[end:]))


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
_NO_TEXT = frozenset(
    "and or nor neither otherwise if unless because while is but not only in of to than at by with as that from about "
    "greater less even odd all contains has".split()
)
"""Words that no category without quotes holds, so that a wording which cannot be read is no category."""


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
    reader = _Reader(columns, labels, target[1].strip() if target else "")
    start, cases, unread = len(text), list[Case](), list[str]()
    for match in _SENTENCE.finditer(text):
        sentence = match["text"]
        try:
            more = list(reader.cases(sentence))
        except (Unreadable, RecursionError):
            unread += [sentence] if cases or _CONDITIONAL.search(sentence) else []
            continue
        if cases and cases[-1].condition is None:
            cases, unread = [], []
        start = start if cases else match.start("text")
        cases += more
    # Without an outcome for other rows, it is that of two labels which no case has.
    left = [label for label in labels if label not in {case.outcome.value for case in cases}]
    if cases and cases[-1].condition and len(labels) == 2 and len(left) == 1:
        cases.append(Case(None, rules.label(left[0])))
    return Reading(Rule(columns, tuple(cases)) if cases else None, start, tuple(unread))


class _Reader:
    """Reads sentences about a table."""

    def __init__(self, columns: tuple[Column, ...], labels: Sequence[str], target: str) -> None:
        self._columns, self._labels = columns, labels
        cells = {one.name: rules.cell(one) for one in columns}
        self._cells = {name.casefold(): one for name, one in cells.items()} | cells
        self._tokens = list[Part | str]()
        """By their numbers; the words in brackets are text."""
        self._parts = dict[tuple[str, str], Part | None]()
        """Parts of the sentence by kind and words."""
        name = _any_of(filter(rules.is_plain, cells))
        result = _any_of(word for word in (target, "y") if word and word.casefold() not in self._cells)
        self._word = re.compile(
            rf"(?P<string>{_STRING})|(?P<target>{result} (?:=|is)(?!\S))"
            rf"|(?P<name>{name}(?!\w)(?! (?:even|odd|multiple|palindrome|repeated|(?:number|integer|digit)|\d)))"
            rf"|(?P<number>{_NUMBER})(?:s\b|(?!\w| ?\()|(?=(?P<factor>{name}(?!\w)|\()))"
            r"|(?P<word>\w+(?:[-/&]\w+)*)|(?P<symbol><=|>=|!=|==|\*\*|\S)",
            re.IGNORECASE,
        )

    def cases(self, sentence: str) -> Iterator[Case]:
        """Read clauses to the end of the sentence; only the last may be without a condition. Raises Unreadable."""
        self._tokens.clear()
        self._parts.clear()
        words = _spelled(" ".join(self._words(sentence)), _CLAUSES)
        if words.count(" ") > _MOST_WORDS:
            raise Unreadable
        clauses = re.split(r"(?:^| )(?:[,;] )?otherwise(?: ,)?(?: |$)| [,;] (?=if )", words.strip(",; "))
        for at, clause in enumerate(clauses):
            if match := _CLAUSE.fullmatch(clause):
                condition, outcome, other, given, rest = match.groups()
                if rest and not (at == len(clauses) - 1 and (at or rest.startswith("→ "))):
                    raise Unreadable
                part = None if rest else self._read("C", self._outside(condition or given))
                if not rest and part is None:
                    raise Unreadable
                yield Case(part, self._outcome((outcome or other or rest).strip("→,; ")))

    def _outcome(self, words: str) -> Part:
        """Return a label, in any case or as an equal number, or a term. Raises Unreadable."""
        if not self._labels and (part := self._read("V", self._outside(words))):
            return part
        text = self._text(words)
        for label in self._labels:
            is_equal = rules.read_number(label) == (rules.read_number(text) or label)
            if is_equal or "".join(label.split()).casefold() == "".join(text.split()).casefold():
                return rules.label(label)
        raise Unreadable

    def _words(self, text: str) -> Iterator[str]:
        """Yield the text's words in lower case, with tokens in place of names and quoted texts."""
        for match in self._word.finditer(text):
            word, kind = match[0], match.lastgroup
            if kind == "string":
                said = re.sub(r"\\(.)", r"\1", word[1:-1])
                yield self._token("S", self._cells.get(said) or self._cells.get(said.casefold()) or rules.label(said))
            elif kind == "name":
                yield self._token("X", self._cells.get(word) or self._cells[word.casefold()])
            elif match["number"]:
                yield match["number"].replace(",", "") + (" *" if match["factor"] else "")
            else:
                yield "→" if kind == "target" else word.lower()

    def _token(self, letter: str, part: Part | str) -> str:
        self._tokens.append(part)
        return f"{letter}{len(self._tokens) - 1}"

    def _outside(self, text: str) -> str:
        """Return a clause's words with tokens in place of brackets, but not round points."""
        while inner := re.search(r"\( ([^()]*) \)", text):
            token = inner[1] if " , " in inner[1] else self._token("B", _spelled(inner[1]))
            text = text[: inner.start()] + token + text[inner.end() :]
        return _spelled(text)

    def _text(self, words: str) -> str:
        """Return words with the texts of their tokens."""

        def said(match: re.Match[str]) -> str:
            part = self._tokens[int(match[0][1:])]
            return part if isinstance(part, str) else str(part.value.name if part.kind == "X" else part.value)

        return re.sub(r"\b[A-Z]\d+\b", said, words)

    def _read(self, kind: str, text: str) -> Part | None:
        """Return the part of a kind that the words say, None if they say none. Raises Unreadable after many tries."""
        if (kind, text) not in self._parts:
            if len(self._parts) > _MOST_READ:
                raise Unreadable
            self._parts[kind, text] = None
            self._parts[kind, text] = self._part(kind, text)
        return self._parts[kind, text]

    def _part(self, kind: str, text: str) -> Part | None:
        token = self._tokens[int(text[1:])] if re.fullmatch(r"[A-Z]\d+", text) else None
        if isinstance(token, str):
            return self._read(kind, token)
        kinds = {"V": ("number", "unknown"), "T": ("text", "unknown")}
        if token and token.kind == "X" and kind in "VTXA":
            return token if token.value.kind in kinds.get(kind, token.value.kind) else None
        match kind:
            case "D" | "V" if (value := rules.read_number(text.replace("- ", "-"))) is not None:
                return number(value)
            case "L":
                return self._items(text)
            case "W":
                return self._choice(text)
        for between, slots, make in _FORMATS.get(kind, ()):
            is_short = between[0].endswith(" among ") or " among " in between
            for texts in _splits(between, f"{text} among number" if is_short and " among " not in text else text):
                parts = [self._read(slot, each.strip()) for slot, each in zip(slots, texts, strict=True)]
                if all(parts) and (part := make(*parts)):
                    return part
        if kind == "A":
            return self._read("V", text)
        if kind == "K":
            value = self._read("V", text)
            return node("equal to {V}", value) if value else None
        return self._joint(text) if kind == "C" else None

    def _joint(self, text: str) -> Part | None:
        """Read conditions with `and` or `or` between them. `The sum is even and at most 26` has one subject."""
        for joint, words in ((OR, "or"), (AND, "and|but")):
            for match in re.finditer(rf"(?: ,)? (?:{words}) ", text):
                if left := self._read("C", text[: match.start()]):
                    rest = text[match.end() :]
                    subject, is_denied = rules.leaves(left)[-1].parts[0], rest.startswith("not ")
                    right, check = self._read("C", rest), self._read("K", rest.removeprefix("not "))
                    if right is None and check and subject.kind in "VX":
                        right = node(NOT, node(IS, subject, check)) if is_denied else node(IS, subject, check)
                    if right:
                        return rules.joined(joint, [left, right])
        inner = self._read("C", text.removeprefix("not ")) if text.startswith("not ") else None
        return node(NOT, inner) if inner else None

    def _choice(self, text: str) -> Part | None:
        """Read a list of categories: quoted texts, numbers, or words up to a comma or a joint."""
        joints = r"(?: ,)? (?:or|and) | , " if text.startswith("one of ") else "(?: ,)? or | , "
        words = re.split(joints, text.removeprefix("one of "))
        if any(not one or re.match(r"B\d", one) or _NO_TEXT & set(one.split()) for one in words):
            return None
        values = [rules.read_number(one) for one in words]
        return rules.choice(
            *(self._text(one) if value is None else value for one, value in zip(words, values, strict=True))
        )

    def _items(self, text: str) -> Part | None:
        """Read a list of numbers: all of a row, the first or last of them, or some columns."""
        if text in ("number", "all number", ""):
            return rules.items(self._columns)
        if match := re.fullmatch(r"(first|last) ([1-9]\d?) number", text):
            return rules.items(self._columns, (), *((0, int(match[2])) if match[1] == "first" else (-int(match[2]), 0)))
        cells = [self._read("X", one) for one in re.split(r"(?: ,)? (?:and|or) | , ", text)]
        return rules.items(self._columns, [one.value.name for one in cells if one]) if all(cells) else None


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; without any, one that never matches."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True))) or '(?!)'})"
