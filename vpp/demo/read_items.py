"""Reader of columns, constants and items: `petal width`, `three`, `the first two integers`, `a, b and c`."""

from vpp.demo.lexer import RESERVED, Cursor
from vpp.demo.terms import WHOLE, Items

NUMERALS = {
    word: float(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}

NOUNS = (
    "integers|integer|numbers|number|digits|digit|values|value|elements|element|entries|entry|items|item|inputs|input"
    "|terms|term|columns|column|features|feature|coordinates|coordinate|members|member"
)
_HOLDERS = "sequence|input|list|input sequence|row|tuple|set|input list|given sequence|array|series"
HEDGES = "approximately|about|roughly|around|approx.|nearly|a value of|exactly"


def _is_phrase(name: str) -> bool:
    """Whether a name of several words is a phrase of the rule language, so that it is read only in quotes."""
    words = name.lower().split()
    return len(words) > 1 and all(word in RESERVED for word in words)


class ItemReader(Cursor):
    """Cursor that reads columns, constants and items."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text)
        self.names = sorted((name for name in names if name), key=len, reverse=True)
        self.bare_names = [name for name in self.names if not _is_phrase(name)]

    def number(self) -> float | None:
        """Read a constant, in digits or as a word, with its sign."""
        self.take(HEDGES)
        sign = -1.0 if self.take("-|minus|negative") else 1.0
        token = self.take_kind("number")
        if token is not None:
            return sign * float(token.plain)
        word = self.take("|".join(NUMERALS))
        return None if word is None else sign * NUMERALS[word]

    def column_name(self) -> str | None:
        """Read a column's name."""
        if self.here.kind == "string" and self.here.plain in self.names:
            self.at += 1
            return self.tokens[self.at - 1].plain
        mark = self.at
        self.take("the")
        exact = next((name for name in self.bare_names if self.take_text(name)), None)
        loose = (name for name in self.bare_names if name.casefold() != "a" and self.take_text(name, any_case=True))
        column = exact or next(loose, None)
        if column is None or (column.casefold() in RESERVED and self.sees(NOUNS)):  # `the first integer`: no column
            self.at = mark
            return None
        return column

    def at_name(self) -> bool:
        """Whether a column's name is at the cursor."""
        mark = self.at
        name = self.column_name()
        self.at = mark
        return name is not None

    def items(self) -> Items | None:
        """Read the sequence, a part of it, or a list of columns."""
        self.take("all of|all|both")
        return self.first(self.listed, self._bracketed_items, self._part, self._whole)

    def _bracketed_items(self) -> Items | None:
        items = self.attempt(self.items) if self.take("(") else None
        return items if items is not None and self.take(")") else None

    def listed(self) -> Items | None:
        names = [self.column_name()]
        while names[-1] is not None:
            mark = self.at
            joined = self.take(", and|, or|,|and|or|&")
            name = self.column_name() if joined else None
            if name is None:
                self.at = mark
                break
            names.append(name)
        listed = tuple(name for name in names if name is not None)
        of_sequence = len(listed) == 1 and self.sees("in|of|from|among|within")
        return Items(listed) if listed and not of_sequence else None

    def _part(self) -> Items | None:
        self.take("the|its")
        side = self.take("first|last|initial|final")
        count = self.attempt(self.number) if side else None
        if side is None or count is None or not 0 < count < 1000 or not self.take(NOUNS):
            return None
        self.source()
        first = side in {"first", "initial"}
        return Items((), None, int(count)) if first else Items((), -int(count), None)

    def _whole(self) -> Items | None:
        self.take("the|its|these|their|those|of the|of its")
        self.take("given|input")
        self.attempt(self.number)
        if not self.take(NOUNS):
            return WHOLE if self.take(_HOLDERS + "|them") else None
        return self.source() or WHOLE

    def source(self) -> Items | None:
        """Read `in the sequence` or `of a, b and c`."""
        return self.attempt(self._source_phrase)

    def _source_phrase(self) -> Items | None:
        if not self.take("in|of|among|from|within"):
            return None
        self.take("the|this|its")
        self.take("given|whole|entire")
        if self.take(_HOLDERS):
            return WHOLE
        return self.attempt(self.items)
