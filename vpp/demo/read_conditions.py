"""Reader of conditions: `the sum is even and at most 26`, `the sequence contains no 0`, `x < 3 or y is missing`."""

from collections.abc import Callable

from vpp.demo.read_items import NOUNS
from vpp.demo.read_terms import TermReader
from vpp.demo.rule import All, Any, Condition, Every, Is, Not, Pattern
from vpp.demo.terms import WHOLE, Check, Compare, Distance, Fails, Holds, Multiple, Number, Tally, Term

_COPULA = "is|are|was|were|be|lies|falls|has a value|stays|is always|comes out|must be|happens to be|turns out"
_SEQUENCE = "the sequence|the input|the input sequence|the list|it|sequence|there|this sequence|the row|the set"
_CONTAINS = (
    "contains|contain|has|have|includes|include|containing|with|consists of|there is|there are|there exists|exists"
    "|is|are|features"
)
_ORDERS = {
    "strictly increasing": "increasing", "strictly decreasing": "decreasing", "increasing": "ascending",
    "in strictly increasing order": "increasing", "in strictly decreasing order": "decreasing",
    "in strictly ascending order": "increasing", "strictly ascending": "increasing",
    "strictly descending": "decreasing", "in strictly descending order": "decreasing",
    "in increasing order": "ascending", "in ascending order": "ascending", "sorted": "ascending",
    "sorted in ascending order": "ascending", "sorted in increasing order": "ascending", "ascending": "ascending",
    "sorted from smallest to largest": "ascending", "non - decreasing": "ascending", "nondecreasing": "ascending",
    "in non - decreasing order": "ascending", "never decreasing": "ascending", "decreasing": "descending",
    "in decreasing order": "descending", "in descending order": "descending", "descending": "descending",
    "sorted in descending order": "descending", "sorted in decreasing order": "descending",
    "non - increasing": "descending", "nonincreasing": "descending", "in non - increasing order": "descending",
    "a palindrome": "palindrome", "the same forwards and backwards": "palindrome",
    "all distinct": "distinct", "all different": "distinct", "distinct": "distinct", "all unique": "distinct",
    "pairwise distinct": "distinct", "unique": "distinct", "different": "distinct", "all different from one another":
    "distinct", "all the same": "identical", "all equal": "identical", "all identical": "identical",
    "the same": "identical", "identical": "identical",
}  # fmt: skip
_NEIGHBOURS = (
    "neighbours|neighbors|neighboring integers|neighbouring integers|adjacent integers|consecutive integers"
    "|adjacent numbers|consecutive numbers|adjacent elements|consecutive elements|adjacent values|consecutive values"
    "|adjacent digits|consecutive digits|neighboring numbers|neighbouring numbers|adjacent entries"
)
_ALIKE = "are equal|are the same|are identical|are alike|being equal|that are equal|that are the same"
_AGAIN = (
    "a repeated integer|repeated integers|a repeated number|repeated numbers|a repeated value|a repeated digit"
    "|a duplicate|duplicates|repeats|any duplicates|any repeated integers|any repeated numbers|repeated digits"
    "|repeated values"
)
_EQUAL_PAIR = (
    "two equal neighbours|two equal neighbors|two adjacent equal integers|two equal adjacent integers"
    "|a pair of equal neighbours|a pair of equal neighbors"
)
_SPLIT_PAIR = (
    "exactly two identical integers that are not adjacent|exactly two identical numbers that are not adjacent"
    "|exactly two equal integers that are not adjacent"
)
_SEPARATED = (
    "and are separated by at least one different integer|and separated by at least one different integer"
    "|and are separated by at least one other integer"
)


class ConditionReader(TermReader):
    """Cursor that reads conditions on a row."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text, names)
        self.subject: Term | None = None

    def condition(self) -> Condition | None:
        """Read parts joined by `or`; `and` binds closer."""
        self.take("either|both")
        return self._joined(self._conjunction, ", or|or|, or else|or if", Any)

    def _conjunction(self) -> Condition | None:
        return self._joined(self._part_of_conjunction, "and|, and|but|and if|and also|& &|, but|&", All)

    def _joined(
        self, part: Callable[[], Condition | None], joints: str, whole: Callable[[tuple[Condition, ...]], Condition]
    ) -> Condition | None:
        first = self.attempt(part)
        parts = [first] if first is not None else []
        while parts:
            mark = self.at
            more = self.attempt(part) if self.take(joints) else None
            if more is None:
                self.at = mark
                break
            parts.append(more)
        return None if not parts else parts[0] if len(parts) == 1 else whole(tuple(parts))

    def _part_of_conjunction(self) -> Condition | None:
        self.take("also")
        if self.take("not|it is not the case that|it is not true that"):
            inner = self.attempt(self._part_of_conjunction)
            return None if inner is None else Not(inner)
        condition = self.first(
            self._bracketed, self._pattern, self._inside, self._quantified, self._contains, self._appears,
            self._compared, self._elided,
        )  # fmt: skip
        if condition is not None:
            self._aside()
        return condition

    def _aside(self) -> None:
        """Step over an aside in brackets, as in `even (0, 2 or 4)`."""
        mark = self.at
        if not self.take("("):
            return
        for _ in range(20):
            if self.take(")"):
                return
            if self.finished() or self.here.kind == "stop" or self.sees("if|otherwise|unless|except|("):
                break
            self.at += 1
        self.at = mark

    def _bracketed(self) -> Condition | None:
        inner = self.attempt(self.condition) if self.take("(") else None
        return inner if inner is not None and self.take(")") else None

    # --- comparisons ----------------------------------------------------------------------------------------

    def _compared(self) -> Condition | None:
        """Read a term and its check. `the number of integers > 5` is a subject only if a check follows."""
        for greedy in (True, False):
            self.greedy = greedy
            condition = self.attempt(self._subject_and_check)
            self.greedy = True
            if condition is not None:
                return condition
        return None

    def _subject_and_check(self) -> Condition | None:
        term = self.attempt(self.term)
        if term is None:
            return None
        condition = self.attempt(lambda: self._chained(term)) or self.attempt(lambda: self._judged(term))
        if condition is not None and not isinstance(term, Number):
            self.subject = term
        return condition

    def _chained(self, low: Term) -> Condition | None:
        """Read a chain: 2 < x <= 5."""
        first = self.take("<|<=")
        middle = self.attempt(self.term) if first else None
        second = self.take("<|<=") if middle is not None else None
        high = self.attempt(self.term) if second else None
        if first is None or second is None or middle is None or high is None:
            return None
        self.subject = middle
        return All((Is(middle, Compare(_MIRRORED[first], low)), Is(middle, Compare(second, high))))

    def _judged(self, term: Term) -> Condition | None:
        self.take(",")
        self.attempt(self._how_again)
        if self.take("does not|doesn't|do not"):
            check = self.attempt(self._verbal)
            return None if check is None else Is(term, Fails(check))
        copula = self.take(_COPULA + "|isn't|aren't")
        denied = copula in {"isn't", "aren't"} or self.take("not") is not None
        self.take("either|also|a value|itself|strictly a") if copula else None
        check = self.attempt(self.plain_check)
        if check is None and copula is not None:
            check = self.first(self.value_check, self.equality)
        return None if check is None else Is(term, Fails(check) if denied else check)

    def _how_again(self) -> bool | None:
        """Step over `calculated as √(x² + y²),` after a subject."""
        if not self.take("calculated as|computed as|given by|measured as"):
            return None
        return True if self.attempt(self.term) is not None and self.take(",") else None

    def _verbal(self) -> Check | None:
        if self.take("equal"):
            return self.first(self.value_check, self.equality)
        if self.take("contain|include"):
            token = self.take_kind("string")
            return None if token is None else Holds(token.plain)
        return self.attempt(self.plain_check)

    def _elided(self) -> Condition | None:
        """Read `… and at most 26`: a check of the last subject."""
        if self.subject is None:
            return None
        denied = False
        if self.take("is|are"):
            denied = self.take("not") is not None
        check = self.attempt(self.plain_check)
        if check is None and self.tokens[self.at - 1].plain in {"is", "are", "not"}:
            check = self.attempt(self.value_check)
        return None if check is None else Is(self.subject, Fails(check) if denied else check)

    def _inside(self) -> Condition | None:
        """Read `the point lies inside the circle`: the described circle, or one described here."""
        point = self.point
        if self.take("the point|the input point|it|the input|point|this point|that point|the given point") or self.sees(
            "("
        ):
            pair = self.attempt(self.pair)
            point = self.point if pair is None else pair
        self.take(_COPULA)
        denied = self.take("not") is not None
        word = self.take(
            "inside or on|on or inside|inside|within|in|outside or on|outside|outside of|on or outside|beyond"
        )
        if word is None or not self.take(
            "the circle|a circle|this circle|that circle|the boundary|the circular boundary|it"
        ):
            return None
        self.circle_details()
        if self.radius is None:
            return None
        sign = _INSIDE[
            "outside" in word or word == "beyond", "on" in word.split() or word in {"inside", "within", "in"}
        ]
        condition = Is(Distance(point, self.centre), Compare(sign, self.radius))
        return Not(condition) if denied else condition

    # --- sequences ------------------------------------------------------------------------------------------

    def _pattern(self) -> Condition | None:
        if self.take("no two"):
            if self.take(_NEIGHBOURS) and self.take(_ALIKE):
                return Not(Pattern("neighbours equal", WHOLE))
            return Pattern("distinct", WHOLE) if self.take(NOUNS) and self.take(_ALIKE) else None
        if self.take("two|any two|at least two|some two") and self.take(_NEIGHBOURS) and self.take(_ALIKE):
            return Pattern("neighbours equal", WHOLE)
        return self.first(self._ordered, self._repeated)

    def _ordered(self) -> Condition | None:
        items = self.attempt(self.items)
        if items is None:
            return None
        everything = self.tokens[self.at - 1].plain != "all" and self.take("is|are|reads|is not|are not")
        kind = self.take("|".join(_ORDERS)) if everything else None
        if kind is None or not everything:
            return None
        pattern = Pattern(_ORDERS[kind], items)
        return Not(pattern) if "not" in everything else pattern

    def _repeated(self) -> Condition | None:
        self.take(_SEQUENCE)
        denied = self.take("does not|do not|doesn't|don't") is not None
        if not self.take("contains|contain|has|have|are|is|includes|there are|there is|include"):
            return None
        denied = self.take("no|not") is not None or denied
        if self.take(_SPLIT_PAIR):
            self.take(_SEPARATED)
            condition: Condition = Pattern("split pair", WHOLE)
        elif self.take(_EQUAL_PAIR):
            condition = Pattern("neighbours equal", WHOLE)
        elif self.take(_AGAIN):
            condition = Not(Pattern("distinct", WHOLE))
        else:
            return None
        self.take("in the sequence|among them|in the input")
        return Not(condition) if denied else condition

    def _quantified(self) -> Condition | None:
        """Read `all integers are even`, `any of a, b and c is 0`, `at least two of the integers are odd`."""
        every = self.take("all|every|each|every one of|each of|all of")
        count = None if every else self.attempt(self._count)
        if every is None and count is None:
            return None
        self.take("single")
        self.take("of")
        items = self.attempt(self.items)
        if items is None:
            return None
        denied = self.take("is not|are not|isn't|aren't") is not None
        if not denied and not self.take("is|are|equals|has a value|exceeds"):
            return None
        if self.tokens[self.at - 1].plain in {"equals", "exceeds"}:
            self.at -= 1
        check = self.attempt(self.plain_check) or self.first(self.value_check, self.equality)
        if check is None:
            return None
        check = Fails(check) if denied else check
        if every is not None or count is None:
            return Every(items, check)
        return Is(Tally(items, check), count)

    def _count(self) -> Check | None:
        """Read a required number: `at least two`, `no`, `any`, `exactly one`."""
        if self.take("no|none|not any|zero|neither|not a single"):
            return Compare("=", Number(0.0))
        if self.take("at least a|any|some|a|an|at least a single|one or more|at least one"):
            return Compare(">=", Number(1.0))
        exact = self.take("exactly|precisely|only") is not None
        if not exact and (check := self.attempt(self._bounded)) is not None:
            return check
        number = self.attempt(self.number)
        if number is None or number < 0 or number % 1:
            return None
        return Compare("=" if exact else ">=", Number(number))

    def _bounded(self) -> Check | None:
        if self.take("an even number of"):
            return Multiple(2, 0)
        if self.take("an odd number of"):
            return Multiple(2, 1)
        for phrase, sign in _BOUNDS.items():
            if self.take(phrase):
                number = self.attempt(self.number)
                return None if number is None else Compare(sign, Number(number))
        return self._or_more()

    def _contains(self) -> Condition | None:
        """Read `the sequence contains at least one 0`, `there are exactly two even integers`, `a contains a 0`."""
        holder = WHOLE
        if not self.take(_SEQUENCE):
            named = self.attempt(self.items)
            holder = WHOLE if named is None else named
        denied = self.take("does not|doesn't|do not|don't") is not None
        verb = self.take(_CONTAINS)
        if verb is None:
            return None
        denied = self.take("not") is not None or denied
        count = self.attempt(self._count) if not (self.here.kind == "number" and self._is_value()) else None
        self.take("instance of|occurrence of|occurrences of|copies of|copy of|instances of|or more")
        counted = self.attempt(self.filtered)
        if (
            counted is None
            or (counted[0] is None and verb in {"is", "are"})
            or (verb in {"is", "are"} and count is None)
        ):
            return None
        check, items = counted
        items = holder if items == WHOLE else items
        if check is None:
            return None
        condition = Is(Tally(items, check), count or Compare(">=", Number(1.0)))
        return Not(condition) if denied else condition

    def _is_value(self) -> bool:
        """Whether the number at the cursor is the counted value and not a count: no noun or value follows."""
        mark = self.at
        self.at += 1
        counts = self.sees(
            NOUNS + "|even|odd|distinct|or more|positive|negative|evens|odds|zeros|zeroes|s|'s|different"
        )
        counts = counts or self.here.kind == "number"
        self.at = mark
        return not counts

    def _appears(self) -> Condition | None:
        """Read `a 0 appears in the sequence`, `0 occurs at least twice`."""
        self.take("a|an|the digit|the number|digit|the integer|the value|any|at least one")
        counted = self.attempt(self._counted_value)
        if counted is None:
            return None
        denied = self.take("does not|doesn't|do not|is not|isn't") is not None
        if not self.take(
            "appears|appear|occurs|occur|is present|present|is in|is among|is contained|is found|is included"
        ):
            return None
        if self.tokens[self.at - 1].plain in {"in", "among"}:
            self.at -= 1
        items = self.source() or WHOLE
        count = self.attempt(self._times) or Compare(">=", Number(1.0))
        items = items if items != WHOLE else self.source() or WHOLE
        self.take("anywhere|somewhere")
        condition = Is(Tally(items, Compare("=", counted)), count)
        return Not(condition) if denied else condition

    def _times(self) -> Check | None:
        bound = self.take("at least|exactly|at most|more than|fewer than|less than")
        word = self.take("once|twice|thrice")
        if word is not None:
            number: float | None = {"once": 1.0, "twice": 2.0, "thrice": 3.0}[word]
        else:
            number = self.attempt(self.number)
            if not self.take("times|time"):
                return None
        return None if number is None else Compare(_TIMES[bound or "at least"], Number(number))


_MIRRORED = {"<": ">", "<=": ">="}
_INSIDE = {(False, True): "<=", (False, False): "<", (True, True): ">=", (True, False): ">"}
_BOUNDS = {
    "at least": ">=", "no fewer than": ">=", "not less than": ">=", "at most": "<=", "no more than": "<=",
    "not more than": "<=", "more than": ">", "fewer than": "<", "less than": "<", "up to": "<=",
}  # fmt: skip
_TIMES = {"at least": ">=", "exactly": "=", "at most": "<=", "more than": ">", "fewer than": "<", "less than": "<"}
