"""Tokens of a rule's text, a cursor over them, and the words that names are quoted for."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from vpp.demo.terms import Term

T = TypeVar("T")

LONGEST_TEXT = 20_000
"""Characters of a rule that are read; the rest is ignored."""

_MOST_STEPS = 60_000
_DEEPEST = 200

_TOKEN = re.compile(
    r"""
    (?P<stop>[.!?]+(?=\s|$|["')*”])|\n\s*\n\s*|\n\s*(?:[-*•]\s+|\d+[.)]\s+)|\n\s*(?=[A-Z]|otherwise|else))
    |(?P<skip>\s+|\*\*(?=\S)(?<![^\s*]\*\*)|(?<=\S)\*\*(?=[\s.,:;)]|$)|\$|\\[{},;!]|\\left|\\right)
    |(?P<number>[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{1,300}'(?!\w))
    |(?P<word>i\.e\.|e\.g\.|approx\.|\\?[^\W\d²³](?:(?![²³])\w)*(?:['’](?:t|s)\b)?)
    |(?P<symbol><=|>=|!=|==|->|=>|<-|\*\*|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_TARGET = re.compile(r"\bpredict ([^\n]{1,200}?)\.(?:\s|$)")

_PLAIN = {
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*",
    "÷": "/", "√": "sqrt", "==": "=", "**": "^", "⇒": "->", "→": "->", "=>": "->", "{": "(", "}": ")", "[": "(",
    "]": ")", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "neq": "!=", "cdot": "*", "frac": "frac", "π": "pi",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `kind` is stop, number, string, word or symbol; `plain` is its normalised form."""

    kind: str
    plain: str
    start: int
    end: int


def _plain(kind: str, text: str) -> str:
    if kind == "string":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if kind == "number":
        return text.replace(",", "")
    if kind == "word" and text[0] != "\\":
        return text.lower().replace("’", "'")
    text = text.lstrip("\\").lower() if kind == "word" else text
    return _PLAIN.get(text, text)


def tokens(text: str) -> tuple[Token, ...]:
    """Split the text into tokens; the last is a stop."""
    result = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        if kind != "skip":
            result.append(Token(kind, _plain(kind, match.group()), match.start(), match.end()))
    return (*result, Token("stop", "", len(text), len(text)))


@lru_cache(maxsize=4096)
def _phrases(alternatives: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Group the phrases of `a b|c` by first word, the longest first."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(one.split()) for one in alternatives.split("|")), key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(phrases) for first, phrases in by_first.items()}


class TooTangled(Exception):
    """The text is nested too deeply or takes too many steps to read."""


class Cursor:
    """A position in a rule's text, and what the grammar knows while it reads.

    A grammar function takes the cursor and moves it forward, or returns None; `attempt` then moves it back.
    """

    def __init__(self, text: str, names: tuple[str, ...], labels: tuple[str, ...]) -> None:
        self.text = text[:LONGEST_TEXT]
        self.tokens = tokens(self.text)
        self.position = 0
        self.names = sorted((name for name in names if name), key=len, reverse=True)
        """Columns, the longest name first."""
        self.labels = sorted(labels, key=len, reverse=True)
        """Labels, the longest first; empty if the answer is a number."""
        match = _TARGET.search(self.text)
        self.target = match[1].strip() if match else ""
        """Name of the target in the seed sentence; else empty."""
        self.subject: Term | None = None
        """Last term that was checked, for `the sum is even and at most 26`."""
        self.radius: Term | None = None
        """Radius of the circle that the rule describes."""
        self._steps = 0
        self._depth = 0

    @property
    def here(self) -> Token:
        """Token at the cursor; the last stop at the end."""
        return self.tokens[self.position]

    @property
    def before(self) -> Token:
        """Token before the cursor."""
        return self.tokens[self.position - 1]

    def ahead(self, count: int = 1) -> Token:
        """Return the token `count` places ahead."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def finished(self) -> bool:
        """Whether the cursor is at the last stop."""
        return self.position >= len(self.tokens) - 1

    def take(self, alternatives: str) -> str | None:
        """Step over the longest of the phrases, separated by |, that is at the cursor, and return it."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooTangled
        for phrase in _phrases(alternatives).get(self.here.plain, ()):
            if self._matches(phrase):
                self.position += len(phrase)
                return " ".join(phrase)
        return None

    def _matches(self, phrase: tuple[str, ...]) -> bool:
        return all(
            self.ahead(offset).plain == word and self.ahead(offset).kind in {"word", "symbol", "number"}
            for offset, word in enumerate(phrase)
        )

    def sees(self, alternatives: str) -> bool:
        """Whether one of the phrases is at the cursor."""
        mark = self.position
        is_here = self.take(alternatives) is not None
        self.position = mark
        return is_here

    def take_kind(self, kind: str) -> Token | None:
        """Step over a token of the kind, and return it."""
        if self.here.kind != kind or self.finished():
            return None
        self.position += 1
        return self.before

    def take_text(self, wanted: str, *, any_case: bool = False) -> bool:
        """Step over this exact text, if it is at the cursor as whole words."""
        start, end = self.here.start, self.here.start + len(wanted)
        text = self.text[start:end]
        if not wanted or not (text == wanted or (any_case and text.casefold() == wanted.casefold())):
            return False
        if wanted[-1].isalnum() and (self.text[end : end + 1].isalnum() or self.text[end : end + 1] == "_"):
            return False
        while not self.finished() and self.here.start < end:
            self.position += 1
        return True

    def attempt(self, read: "Callable[[Cursor], T]") -> T | None:
        """Call a grammar function; move the cursor back if it returns None."""
        mark = self.position
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise TooTangled
            result = read(self)
        finally:
            self._depth -= 1
        if result is None:
            self.position = mark
        return result

    def first(self, *readers: "Callable[[Cursor], T]") -> T | None:
        """Call grammar functions in turn; return the first result."""
        for read in readers:
            result = self.attempt(read)
            if result is not None:
                return result
        return None


_WORDS = """
    a about above abs absent absolute add adding adjacent after alike all also always among amount an and
    another answer any anything anywhere appear appears approx approximately are aren arithmetic around array as
    ascending ask assign at available average backwards be because before begin being belongs below between
    beyond bigger biggest blank both boundary bpredict but by calculate calculated call called case cases
    category center centered centre centred characters check choose circle circular class classes classification
    classify closer column columns comes comparison compute computed condition congruent consecutive consider
    consists contain contained containing contains coordinate coordinates copies copy correct cos cosine could
    count counting cube cubed data decide decides decision decreasing default denote descending described
    designed determine difference different digit digits distance distinct divide divided divisible division do
    does doesn don double draw duplicate duplicates each ee eight eighth eights either element elements eleven
    elif else elsewhere empty entire entries entry equal equals estimate euclidean even evenly evens every
    everything exactly exceed exceeding exceeds except excl excluded exclusive exclusively exists exp
    exponential factor failing falls farther feature features fewer fifth final find first five fives for
    forwards found four fours fourth from function further gave ge get give given gives goal greater greatest
    half happens has have here higher highest hint holds how identical if imagine in include included includes
    inclusive inclusively increasing initial input inputs inside instance instances integer integers interval is
    isn it item items its itself just known label labels larger largest last lays le learner least leaves left
    length less let lies line list ln log logarithm long longer look low lower lowest make many matter max
    maximum mean means measure measured member members min minimum minus missing mod model modulo more most
    multiple multiples multiplied multiply multiplying must name named names natural nearer nearly negative
    neighbor neighboring neighbors neighbour neighbouring neighbours neither never new next nine nines ninth no
    non nondecreasing none nonincreasing nonzero not note noun number numbers occur occurrence occurrences
    occurs odd odds of on once one ones only open or order origin other otherwise out outcome output outputs
    outside over pair pairwise palindrome part penultimate pi please plus point positive power precisely predict
    predicted prediction present prior product provided put radius raised range read reads regardless remainder
    remaining repeat repeated repeats report respond rest result return reversed right root roughly row rule s
    same say second seed seem sentence sentences separated sequence series set seven sevens seventh shorter
    should simply sin since sine single six sixes sixth skip smaller smallest so some something somewhere sorted
    speaks split spread sqrt square squared start stays stop straight strictly string subtract sum symbol t take
    tan tangent target task ten term terms text than that the their them then there these they third this those
    three threes thrice time times to together total triple true tuple turns twelve twice two twos type under
    unequal unique unit unknown unless until up upon use value values variable was we were what whatever when
    whenever where whether which while who whole whose will with within word work xyz you your zero zeroes zeros
"""

RESERVED = frozenset(_WORDS.split())
"""Words that a rule may use, in lower case. The writer quotes names that hold one, so the list never shrinks."""
