"""Reader of checks: `even`, `at most 26`, `between 2 and 5`, `Biscoe or Dream`; and of counted items."""

from abc import abstractmethod
from functools import partial

from vpp.demo.read_items import NOUNS, ItemReader
from vpp.demo.terms import (
    EVEN,
    ODD,
    WHOLE,
    Absent,
    Between,
    Both,
    Check,
    Compare,
    Fails,
    Holds,
    Items,
    Multiple,
    Number,
    OneOf,
    Term,
)

_PLURALS = {"zeros": 0.0, "zeroes": 0.0, "ones": 1.0, "twos": 2.0, "threes": 3.0, "fours": 4.0, "fives": 5.0,
            "sixes": 6.0, "sevens": 7.0, "eights": 8.0, "nines": 9.0}  # fmt: skip
_ADJECTIVES: dict[str, Check] = {
    "even": EVEN,
    "evens": EVEN,
    "odd": ODD,
    "odds": ODD,
    "positive": Compare(">", Number(0.0)),
    "negative": Compare("<", Number(0.0)),
    "nonzero": Compare("!=", Number(0.0)),
    "non-zero": Compare("!=", Number(0.0)),
    "non - zero": Compare("!=", Number(0.0)),
}
_ENDS_TEXT = (
    "and|or|then|otherwise|else|if|when|output|predict|answer|return|is|are|but|while|class|label|unless|because|so"
    "|with|,|;|:|(|)|->|=|.|?|!|the|in|of|to|a|an|than|as|that|which|at|not|no|only|both|greater|less|more|even|odd|by"
)
_SUBJECT_OF = "otherwise|if|when|else|is|are|<|>|<=|>=|=|!=|equals|exceeds|contains|has|does|doesn't"
_SIGNS: tuple[tuple[str, str], ...] = (
    ("greater than or equal to|more than or equal to|larger than or equal to|at least|no less than|not less than"
     "|no fewer than|no smaller than|not below|equal to or greater than|>=|at or above|not under|a minimum of"
     "|equal to or above|or more than", ">="),
    ("less than or equal to|smaller than or equal to|at most|no more than|not more than|no greater than"
     "|not greater than|no larger than|not above|equal to or less than|<=|up to|at or below|not over|not exceeding"
     "|lower than or equal to|a maximum of|equal to or below", "<="),
    ("strictly greater than|greater than|more than|strictly more than|larger than|bigger than|higher than|above"
     "|over|exceeds|exceeding|exceed|strictly above|longer than|>|beyond|farther than|further than"
     "|strictly exceeds", ">"),
    ("strictly less than|less than|strictly smaller than|smaller than|fewer than|lower than|below|under|<"
     "|strictly below|shorter than|closer than|nearer than", "<"),
    ("not equal to|different from|other than|!=|does not equal|doesn't equal|unequal to", "!="),
    ("equal to|equals|equal|exactly equal to|=|the same as|identical to|exactly", "="),
)  # fmt: skip


class CheckReader(ItemReader):
    """Cursor that reads checks; a subclass reads the terms that they compare with."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text, names)
        self.greedy = True
        """Whether a comparison after a noun qualifies the noun, as in `the number of integers > 5`."""

    @abstractmethod
    def term(self) -> Term | None:
        """Read a term."""

    @abstractmethod
    def touching(self) -> bool:
        """Whether a factor follows its coefficient without a sign."""

    def plain_check(self) -> Check | None:
        """Read a check with words of its own, not a bare value."""
        if self.take("not|neither"):
            inner = self.attempt(self.plain_check) or self.attempt(self.value_check)
            return None if inner is None else Fails(inner)
        return self.first(
            self._parity, self._remainder, self._between, self._one_of, self._missing, self._holds,
            self._signed_check, self._or_more,
        )  # fmt: skip

    def value_check(self) -> Check | None:
        """Read equality with one or several values: `3`, `3 or 4`, `"Biscoe"`, `Biscoe or Dream`."""
        values = self._choices(", or|or")
        if not values or self.sees("+|-|*|/|plus|times|minus|^"):
            return None
        return OneOf(values) if len(values) > 1 or isinstance(values[0], str) else Compare("=", Number(values[0]))

    def equality(self) -> Check | None:
        """Read equality with a term: `x is y + 1`."""
        other = self.attempt(self.term)
        return None if other is None else Compare("=", other)

    def _literal(self) -> str | float | None:
        token = self.take_kind("string")
        return self.attempt(self._bare_number) if token is None else token.plain

    def _bare_number(self) -> float | None:
        value = self.number()
        return value if value is None or not self.touching() else None

    def _choices(self, closing: str) -> tuple[str | float, ...]:
        """Read values separated by commas; a value after a closing word is the last.

        A value that is the subject of the next clause is left to that clause.
        """
        values: list[str | float] = []
        count, mark = 0, self.at
        joint: str | None = closing
        while joint is not None and (value := self.attempt(self._choice)) is not None:
            if values and self.sees(_SUBJECT_OF):
                break
            values.append(value)
            if joint != "," or "," in closing.split("|"):
                count, mark = len(values), self.at
            joint = self.take(f"{closing}|,")
        self.at = mark
        return tuple(values[:count])

    def _choice(self) -> str | float | None:
        literal: str | float | None = self.attempt(self._literal)
        return self.attempt(self._words) if literal is None else literal

    def _words(self) -> str | None:
        """Read unquoted words up to one that cannot be part of a category's name."""
        start, end = self.here.start, -1
        if self.here.kind != "word" or self.at_name():
            return None
        while self.here.kind in {"word", "number"} or (self.here.plain in {"-", "/", "&", "_"} and end >= 0):
            if self.sees(_ENDS_TEXT):
                break
            end = self.here.end
            self.at += 1
        return None if end < 0 else self.text[start:end]

    def _parity(self) -> Check | None:
        word = self.take("an even number|an even integer|even number|even|an odd number|an odd integer|odd number|odd")
        if word is not None:
            return EVEN if "even" in word else ODD
        word = self.take("positive|negative|nonzero|non-zero|non - zero")
        return None if word is None else _ADJECTIVES[word]

    def _remainder(self) -> Check | None:
        if self.take("divisible by|evenly divisible by|exactly divisible by|a multiple of|multiple of|multiples of"):
            remainder: float | None = 0.0
            divisor = self.attempt(self.number)
        elif self.take("leaves a remainder of|leaves remainder|has remainder|has a remainder of|leaves"):
            remainder = self.attempt(self.number)
            divisor = self.attempt(self.number) if self.take("when divided by|modulo|on division by") else None
        elif self.take("congruent to"):
            remainder = self.attempt(self.number)
            divisor = self.attempt(self.number) if self.take("modulo|mod") else None
        else:
            return None
        if divisor is None or remainder is None or not 1 <= divisor < 1e9:
            return None
        return Multiple(int(divisor), int(remainder)) if divisor == int(divisor) else None

    def _between(self) -> Check | None:
        opening = self.take("strictly between|between|in the range|within the range|from|in the interval")
        if opening is None:
            return None
        bracket = self.take("(|from")
        low = self.attempt(self.term)
        high = self.attempt(self.term) if low is not None and self.take("and|to|,|-") else None
        if low is None or high is None or (bracket == "(" and not self.take(")")):
            return None
        inclusive = not opening.startswith("strictly")
        if self.attempt(self._exclusively):
            inclusive = False
        return Between(low, high, inclusive)

    def _exclusively(self) -> bool | None:
        self.take(",|(")
        kind = self.take("inclusive|inclusively|both included|included|exclusive|exclusively|excluded|both excluded")
        self.take(")")
        return None if kind is None else kind.startswith("excl") or kind.endswith("excluded")

    def _one_of(self) -> Check | None:
        if not self.take("one of|either|any of|in the set|in|among"):
            return None
        self.take("the values|the set|the numbers")
        bracket = self.take("(")
        values = self._choices(", or|, and|,|or|and")
        return OneOf(values) if values and (not bracket or self.take(")")) else None

    def _missing(self) -> Check | None:
        return Absent() if self.take("missing|absent|not given|unknown|not known|empty|not available|blank") else None

    def _holds(self) -> Check | None:
        if not self.take("contains the text|contains|containing|includes|contains the word"):
            return None
        token = self.take_kind("string")
        return None if token is None else Holds(token.plain)

    def _signed_check(self) -> Check | None:
        for phrases, sign in _SIGNS:
            mark = self.at
            if self.take(phrases):
                self.take("or equal to")
                check = self.first(partial(self._compared_term, sign), partial(self._compared_text, sign))
                if check is not None:
                    return check
                self.at = mark
        return None

    def _compared_text(self, sign: str) -> Check | None:
        """Read equality with a category whose name is not a column's."""
        if sign not in {"=", "!="} or self.here.plain in self.names:
            return None
        token = self.take_kind("string")
        text = self.attempt(self._words) if token is None else token.plain
        if text is None or self.sees("+|-|*|/|("):
            return None
        return OneOf((text,)) if sign == "=" else Fails(OneOf((text,)))

    def _compared_term(self, sign: str) -> Check | None:
        other = self.attempt(self.term)
        return None if other is None else Compare(sign, other)

    def _or_more(self) -> Check | None:
        value = self.attempt(self.number)
        if value is None:
            return None
        if self.take("or more|or greater|or above|or higher|or larger|or over"):
            return Compare(">=", Number(value))
        if self.take("or less|or fewer|or below|or lower|or smaller|or under"):
            return Compare("<=", Number(value))
        return None

    def filtered(self) -> tuple[Check | None, Items] | None:
        """Read counted items as (check, items): `even integers in the sequence`, `0s`, `integers greater than 5`."""
        check = self.attempt(self._adjective)
        value = None if check is not None else self.attempt(self._counted_value)
        if value is not None:
            return Compare("=", value), self.source() or WHOLE
        if not self.take(NOUNS) and check is None:
            return None
        items = self.source()
        self.take("that are|which are|that is|which is|being|that|who are")
        after = self.attempt(self.plain_check) if self.greedy else None
        items = items or self.source() or WHOLE
        return (check and after and Both(check, after)) or check or after, items

    def _adjective(self) -> Check | None:
        word = self.take("even|odd|evens|odds|positive|negative|nonzero|non-zero|non - zero")
        return None if word is None else _ADJECTIVES[word]

    def _counted_value(self) -> Number | None:
        self.take("digit|number|integer|value|the digit|the number|the integer|the value")
        word = self.take("|".join(_PLURALS))
        if word is not None:
            return Number(_PLURALS[word])
        value = self.attempt(self.number)
        if value is None:
            return None
        self.take("'s|'|s|' s")
        return None if self.sees(NOUNS) else Number(value)
