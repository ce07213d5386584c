"""Read rules in plain English: a sentence's clauses, and a clause's parts, each by a phrase's format.

Names, texts in quotes and brackets become tokens, such as X3: a letter and a number. `_SPELLINGS` turn other wordings
into those of the formats in `rules`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.rules import AND, IS, NOT, OR, PHRASES, Case, Column, Part, Rule, node, number

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
    ("(?:the )?(?:class )?→(?:(?: class)? →)*", "→"),
    (r"(?:[,;] )?(?:and|or) (?:→ )?(\S+) otherwise$", r"otherwise \1"),
)  # fmt: skip
_CLAUSE = re.compile(r"if (.+?)(?: ,)? → (.+)|(?:→ )?(\S.*?)(?: ,)? if (.+)|(.+)")
_NUMERALS = re.findall(r"\w+", "zero one two three four five six seven eight nine ten")
_D, _REST = r"(\d[\d.]*)", r"((?:(?!and |or |, )\S+ ?)+)"
_LIST = r"(number|(?:X\d+(?: , | and | or )?)+)"
_MANY = rf"((?:at least|at most|equal to|(?:greater|less) than) {_D})"
_SPELLINGS = _wordings(
    ("an|the|both|either|strictly", ""), ("(?:integer|digit|value|number)s?", "number"),
    (r"a(?= (?:palindrome|multiple|repeated|even|odd|number|\d))", ""), ("are|equals|==?", "is"), ("have", "has"),
    ("includes?|contain", "contains"), ("which", "that"), ("mean", "average"), ("total", "sum"), ("number sum", "sum"),
    ("plus", "+"), ("minus|−|–", "-"), ("times|×|·", "*"), ("÷", "/"), (r"\*\*", "^"), ("√", "sqrt"),
    ("greater than or equal to|no less than", "at least"), ("less than or equal to|no more than", "at most"),
    (">=|≥", "is at least"), ("<=|≤", "is at most"), (">", "is greater than"), ("<", "is less than"),
    ("(?:more|larger|higher) than|above|over", "greater than"),
    ("(?:fewer|smaller|lower) than|below|under", "less than"),
    ("!=|≠", "is not"), ("exactly", "equal to"), ("(?:does|do) not", "not"), ("(is|not) (even|odd) number", r"\1 \2"),
    ("is is", "is"), ("not is", "not"), ("multiple of", "divisible by"),
    ("increasing", "ascending"), ("decreasing", "descending"), ("distinct", "different"),
    ("(?:each|every one|all) of|each|every", "all"), ("there is", "number contains"),
    ("contains any", "contains"), ("(?:in|of|among) sequence", ""), ("sequence", "number"),
    ("no two neighbou?rs is equal", "number not has equal neighbours"),
    ("(?:number )?contains repeated(?: number)?", "number is not all different"),
    ("(sum|product|average|range|length)(?= is)", r"\1 of number"), ("of all number", "of number"),
    ("(largest|smallest) of|(first|last|largest|smallest) number in", r"\1\2 number among"),
    (rf"{_D} or more", r"at least \1"), (rf"{_D} or less", r"at most \1"),
    *((rf"(than|least|most|to|first|last|by|is(?! one of)) {word}", rf"\1 {n}") for n, word in enumerate(_NUMERALS)),
    (rf"(is|not) (?:from )?{_D} (?:to|-) {_D}(?! [*/^+-])", r"\1 between \2 and \3"),
    ("origin", "0 , 0"), (r"to(?= [BX]\d+ ,)", "to point"), (r"contains(?= S\d)", "contains text"),
    ("(?<=number of )number(?= (?:greater|less|at|equal|divisible|between))", "number that is"),
    (rf"number (?:not contains|contains no) {_REST}", r"number of \1 is 0"),
    (rf"number contains {_MANY} {_REST}", r"number of \3 is \1"),
    (rf"number contains {_REST}", r"number of \1 is at least 1"),
    (rf"all {_LIST} is not {_REST}", r"number of number that is \2 among \1 is 0"),
    (rf"(?:no|none of) {_LIST} is {_REST}", r"number of number that is \2 among \1 is 0"),
    (rf"all {_LIST} is {_REST}", r"number of number that is not \2 among \1 is 0"),
    (rf"any of {_LIST} is {_REST}", r"number of number that is \2 among \1 is at least 1"),
    (rf"{_MANY} of {_LIST} is {_REST}", r"number of number that is \4 among \3 is \1"),
)  # fmt: skip


def _spelled(text: str, wordings: list[tuple[re.Pattern[str], str]] = _SPELLINGS) -> str:
    for pattern, new in wordings:
        text = " ".join(pattern.sub(new, text).split())
    return text


def _formats(kind: str) -> Iterator[tuple[re.Pattern[str], str, bool]]:
    """Yield (expression made from a phrase's format, the format, whether the words deny it)."""
    every = [words for words, phrase in PHRASES.items() if phrase.gives == kind and words not in (AND, OR, NOT)]
    for words, is_denied in product(every, (False, True) if kind == "C" else (False,)):
        text = re.sub(r"\((\{\w\}(?:, \{\w\})?)\)|(\})s", r"\1\2", rules.denial(words) if is_denied else words)
        text = re.escape(_spelled(" ".join(re.findall(r"\{\w\}|\w+|[^\w\s]", text))))
        text = re.sub(r"\\\{\w\\\}", "(.+)", text)
        if sign := re.fullmatch(r"\{V\} ([-+*/]) \{V\}", words):  # the last of a sum's signs is worked out last
            text = text.removesuffix("(.+)") + rf"((?:(?! [{'-+' if sign[1] in '-+' else '*/'}] ).)+)"
        for each in dict.fromkeys((text, text.replace(r"\ among\ (.+)", "()"))):
            yield re.compile(each), words, is_denied


_FORMATS = {kind: list(_formats(kind)) for kind in "VKNC"}

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
_NO_TEXT = re.compile(
    r"(?:^|\s)(?:B\d+|and|or|nor|neither|otherwise|if|unless|because|while|is|but|not|only|in|of|to|than|at|by|with|as|that"
    r"|from|about|greater|less|even|odd|all|contains|has|palindrome)(?!\S)"
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
    if cases and cases[-1].condition and (len(labels), len(left)) == (2, 1):
        cases.append(Case(None, rules.label(left[0])))
    return Reading(Rule(columns, tuple(cases)) if cases else None, start, tuple(unread))


class _Reader:
    """Reads sentences about a table."""

    def __init__(self, columns: tuple[Column, ...], labels: Sequence[str], target: str) -> None:
        self._columns, self._labels = columns, labels
        cells = {one.name: rules.cell(one) for one in columns}
        self._cells = {name.casefold(): one for name, one in cells.items()} | cells
        self._tokens = list[tuple[Part | None, str]]()
        """Names and texts in quotes with what they say, and words in brackets, by their numbers."""
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
                part = None if rest else self._read("C", self._outside(condition or given))
                is_rest = rest and at == len(clauses) - 1 and (at or rest.startswith("→ "))
                if not part and not is_rest:
                    raise Unreadable
                yield Case(part, self._outcome((outcome or other or rest).strip("→,; ")))

    def _outcome(self, words: str) -> Part:
        """Return a label, in any case or as an equal number, or a term. Raises Unreadable."""
        if not self._labels and (part := self._read("V", self._outside(words))):
            return part
        text, value = self._text(words), rules.read_number(self._text(words))
        for label in self._labels:
            is_equal = value is not None and rules.read_number(label) == value
            if is_equal or "".join(label.split()).casefold() == "".join(text.split()).casefold():
                return rules.label(label)
        raise Unreadable

    def _words(self, text: str) -> Iterator[str]:
        """Yield the text's words in lower case, with tokens in place of names and quoted texts."""
        for match in self._word.finditer(text):
            word, kind = match[0], match.lastgroup
            if kind == "string":
                said = re.sub(r"\\(.)", r"\1", word[1:-1])
                yield self._token("S", said, self._cells.get(said) or self._cells.get(said.casefold()))
            elif kind == "name":
                yield self._token("X", word, self._cells.get(word) or self._cells[word.casefold()])
            elif match["number"]:
                yield match["number"].replace(",", "") + (" *" if match["factor"] else "")
            else:
                yield "→" if kind == "target" else word.lower()

    def _token(self, letter: str, text: str, cell: Part | None = None) -> str:
        self._tokens.append((cell, cell.value.name if cell else text))
        return f"{letter}{len(self._tokens) - 1}"

    def _outside(self, text: str) -> str:
        """Return a clause's words with tokens in place of brackets, but not round points."""
        while inner := re.search(r"\( ([^()]*) \)", text):
            token = inner[1] if " , " in inner[1] else self._token("B", _spelled(inner[1]))
            text = text[: inner.start()] + token + text[inner.end() :]
        return _spelled(text)

    def _text(self, words: str) -> str:
        """Return words with the texts of their tokens."""
        return re.sub(r"\b[A-Z]\d+\b", lambda match: self._tokens[int(match[0][1:])][1], words)

    def _read(self, kind: str, text: str) -> Part | None:
        """Return the part of a kind that the words say, None if they say none. Raises Unreadable after many tries."""
        if (kind, text) not in self._parts:
            if len(self._parts) > _MOST_READ:
                raise Unreadable
            self._parts[kind, text] = None
            self._parts[kind, text] = self._part(kind, text)
        return self._parts[kind, text]

    def _part(self, kind: str, text: str) -> Part | None:
        if re.fullmatch(r"[A-Z]\d+", text):
            cell, inner = self._tokens[int(text[1:])]
            if text[0] == "B":
                return self._read(kind, inner)
            if cell and kind in "VTXA":
                kinds = {"V": ("number", "unknown"), "T": ("text", "unknown")}
                return cell if cell.value.kind in kinds.get(kind, cell.value.kind) else None
        match kind:
            case "D" | "V" if (value := rules.read_number(text.replace("- ", "-"))) is not None:
                return number(value)
            case "L":
                return self._items(text)
            case "W":
                return self._choice(text)
        for pattern, words, is_denied in _FORMATS.get(kind, ()):
            if match := pattern.fullmatch(text):
                slots = zip(rules.SLOT.findall(words), match.groups(""), strict=True)
                parts = [part for slot, each in slots if (part := self._read(slot, each))]
                if len(parts) == len(match.groups()):
                    return node(NOT, node(words, *parts)) if is_denied else node(words, *parts)
        term = self._read("V", text) if kind in "AK" else None
        if term and kind == "K":
            return node("equal to {V}", term)
        return self._joint(text) if kind == "C" else term

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
        if any(not one or _NO_TEXT.search(one) for one in words):
            return None
        numbers = map(rules.read_number, words)
        return rules.choice(*(self._text(one) if n is None else n for one, n in zip(words, numbers, strict=True)))

    def _items(self, text: str) -> Part | None:
        """Read a list of numbers: all of a row, the first or last of them, or some columns."""
        if text in ("number", ""):
            return rules.items(self._columns)
        if match := re.fullmatch(r"(first|last) ([1-9]\d?) number", text):
            return rules.items(self._columns, (), *((0, int(match[2])) if match[1] == "first" else (-int(match[2]), 0)))
        cells = [self._read("X", one) for one in re.split(r"(?: ,)? (?:and|or) | , ", text)]
        return rules.items(self._columns, [one.value.name for one in cells if one]) if all(cells) else None


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of any of the texts, the longest first; without any, one that never matches."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True))) or '(?!)'})"
