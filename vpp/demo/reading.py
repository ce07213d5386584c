"""Reader of rules in plain English: a sentence's clauses, and a clause's parts, each by a phrase's format.

Names, texts in quotes and brackets become tokens, such as X3: a letter and a number. `_SPELLINGS` turn a few other
wordings into those of the formats in `rules`. Whatever else differs from a format is unreadable.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.rules import AND, NOT, OR, PHRASES, WORDS_OF_RULES, Case, Column, Part, Rule, node, number

LONGEST_TEXT, _MOST_WORDS, _MOST_READ = 4_000, 120, 4_000
"""Characters of a rule that are read; the rest is ignored. Words of a sentence that is read, and parts tried in it."""


class Unreadable(ValueError):
    """A sentence cannot be read."""


# --- wordings and formats ------------------------------------------------------------------------------------


def _wordings(*pairs: tuple[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Compile (pattern, words in its place), on words and tokens with a space between any two."""
    return [(re.compile(rf"(?<!\S)(?:{old})(?!\S)"), new) for old, new in pairs]


_CLAUSES = _wordings(
    ("when", "if"), ("else", "otherwise"), ("the|always|then|class(?= label)", ""),
    ("y =|(?:label|answer|output) is|output|predict|answer|return|say", "→"),
    (r"(?:, )?(?:and|or) (?:→ )?(\S+) otherwise$", r"otherwise \1"),
)  # fmt: skip
_CLAUSE = re.compile(r"if (.+?)(?: ,)? → (.+)|(?:→ )?(\S.*?)(?: ,)? if (.+)|(.+)")
_SPELLINGS = _wordings(
    ("the", ""), ("(?:integer|digit|value|number)s?", "number"), ("number in sequence", "number"),
    (">=|≥", "is at least"), ("<=|≤", "is at most"), (">", "is greater than"), ("<", "is less than"),
    ("!=|≠", "is not"), ("are|equals|=", "is"), ("is is", "is"), ("exactly", "equal to"),
    ("(?:more|larger|higher) than|above|over", "greater than"),
    ("(?:fewer|smaller|lower) than|below|under", "less than"),
    ("(sum|product|average|range)(?= is)", r"\1 of number"), (r"(\d\S*) or more", r"at least \1"),
    (r"(is|not) (\d\S*) to (\d\S*)", r"\1 between \2 and \3"),
)  # fmt: skip


def _spelled(text: str, wordings: list[tuple[re.Pattern[str], str]] = _SPELLINGS) -> str:
    for pattern, new in wordings:
        text = " ".join(pattern.sub(new, text).split())
    return text


def _formats(kind: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield (expression that matches a phrase as `_spelled` leaves it, a group a slot; the phrase's format)."""
    for words in (words for words in PHRASES[kind] if words not in (AND, OR, NOT)):
        # Brackets round a slot are tokens, its plural is spelled away.
        text = re.sub(r"\((\{\w\}(?:, \{\w\})?)\)|(\})s", r"\1\2", words)
        text = re.escape(_spelled(" ".join(re.findall(r"\{\w\}|\w+|[^\w\s]", text))))
        text = re.sub(r"\\\{\w\\\}", "(.+)", text)
        if sign := re.fullmatch(r"\{V\} ([-+*/]) \{V\}", words):  # the last of a sum's signs is worked out last
            text = text.removesuffix("(.+)") + rf"((?:(?! [{'-+' if sign[1] in '-+' else '*/'}] ).)+)"
        # Without `among …`, the list is every number of the row.
        for each in dict.fromkeys((text, text.replace(r"\ among\ (.+)", "()"))):
            yield re.compile(each), words


_FORMATS = {kind: list(_formats(kind)) for kind in "VKNC"}

# --- sentences and clauses -----------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|(?<!\w)\'[^\'\n]{1,300}\'(?!\w)'
_STOP = r"[.!?]{1,9}(?:[\s\"')”]|$)|\n\s*(?:\n|[A-Z])"
_SENTENCE = re.compile(rf"\s*(?P<text>(?:{_STRING}|(?!{_STOP}).)+)[.!?]*", re.DOTALL)
_CONDITIONAL = re.compile(r"\b(if|when|otherwise|else|unless|except|only)\b", re.IGNORECASE)
_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"

_CATEGORY = re.compile(r"[^\W\dB]\S*|\d{1,3}(?:st|nd|rd|th)")
"""A token, but of brackets, or a word that is a category without quotes."""


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
    text, reader = text[:LONGEST_TEXT], _Reader(columns, labels)
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

    def __init__(self, columns: tuple[Column, ...], labels: Sequence[str]) -> None:
        self._columns, self._labels = columns, labels
        cells = {one.name: rules.cell(one) for one in columns}
        self._cells = {name.casefold(): one for name, one in cells.items()} | cells
        self._tokens = list[tuple[Part | None, str]]()
        """Names and texts in quotes with what they say, and words in brackets, by their numbers."""
        self._parts = dict[tuple[str, str], Part | None]()
        """Parts of the sentence by kind and words."""
        names = sorted(filter(rules.is_plain, cells), key=len, reverse=True)
        self._word = re.compile(
            rf"(?P<string>{_STRING})|(?P<name>(?:{'|'.join(map(re.escape, names)) or '(?!)'})(?!\w)(?! palindrome))"
            rf"|(?P<number>{_NUMBER})(?:s\b|(?![-,]?\w))|(?P<word>\w+(?:[-/&,]\w+)*)|(?P<symbol><=|>=|!=|\S)",
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
        text = self._text(words)
        value = rules.read_number(text)
        for label in self._labels:
            is_equal = value is not None and rules.read_number(label) == value
            if is_equal or "".join(label.split()).casefold() == "".join(text.split()).casefold():
                return rules.label(label)
        raise Unreadable

    def _words(self, text: str) -> Iterator[str]:
        """Yield the text's words in lower case, with tokens in place of names and quoted texts."""
        for match in self._word.finditer(text):
            word = re.sub(r"\\(.)", r"\1", match[0][1:-1]) if match["string"] else match[0]
            if match["string"] or match["name"]:
                cell = self._cells.get(word) or self._cells.get(word.casefold())
                yield self._token("S" if match["string"] else "X", cell.value.name if cell else word, cell)
            else:
                yield match["number"] or word.lower()

    def _token(self, letter: str, text: str, cell: Part | None = None) -> str:
        self._tokens.append((cell, text))
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
            if cell and kind in "VTX":
                kinds = {"V": ("number", "unknown"), "T": ("text", "unknown")}
                return cell if cell.value.kind in kinds.get(kind, cell.value.kind) else None
        match kind:
            case "D" | "V" if (value := rules.read_number(text.replace("- ", "-"))) is not None:
                return number(value)
            case "L":
                return self._items(text)
            case "W":
                return self._choice(text)
        for pattern, words in _FORMATS.get(kind, ()):
            if match := pattern.fullmatch(text):
                slots = zip(rules.SLOT.findall(words), match.groups(""), strict=True)
                parts = [part for slot, each in slots if (part := self._read(slot, each))]
                if len(parts) == len(match.groups()):
                    return node(words, *parts)
        if kind == "K" and (term := self._read("V", text)):
            return node("equal to {V}", term)
        return self._joint(text) if kind == "C" else None

    def _joint(self, text: str) -> Part | None:
        """Read conditions with `and` or `or` between them, or the opposite of a condition."""
        for joint, word in ((OR, "or"), (AND, "and")):
            for match in re.finditer(rf"(?: ,)? {word} ", text):
                left = self._read("C", text[: match.start()])
                if right := left and self._read("C", text[match.end() :]):
                    return rules.joined(joint, [left, right])
        if opposite := re.fullmatch(r"(?:(.* is) )?not (.*)", text):
            inner = self._read("C", " ".join(filter(None, opposite.groups())))
            return node(NOT, inner) if inner else None
        return None

    def _choice(self, text: str) -> Part | None:
        """Read a list of categories: quoted texts, or numbers, or single words that are not of rules."""
        words = re.split(r"(?: ,)? or | , ", text.removeprefix("one of "))
        numbers = [number for number in map(rules.read_number, words) if number is not None]
        if numbers:
            return rules.choice(*numbers) if len(numbers) == len(words) else None
        is_list = all(_CATEGORY.fullmatch(word) and word not in WORDS_OF_RULES - {"a"} for word in words)
        return rules.choice(*map(self._text, words)) if is_list else None

    def _items(self, text: str) -> Part | None:
        """Read a list of numbers: all of a row, the first or last of them, or some columns."""
        end, cells = re.fullmatch(r"(first|last) ([1-9]\d?) number", text), list[Part]()
        if not end and text not in ("number", ""):
            words = re.split(r"(?: ,)? (?:and|or) | , ", text)
            cells = [cell for word in words if (cell := self._read("X", word))]
            if len(cells) < len(words):
                return None
        if not any(column.kind in ("number", "numbers") for column in [cell.value for cell in cells] or self._columns):
            return None
        return rules.items(self._columns, cells, *((end[1], int(end[2])) if end else ()))
