"""Reads terms, items and tests of one value: `the sum of a, b and c`, `3.1x + 4`, `is even and at most 26`."""

import re
from collections.abc import Callable

from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.rule import (
    EVEN,
    ODD,
    WHOLE,
    Absent,
    Arithmetic,
    Between,
    Both,
    Cell,
    Compare,
    Distance,
    Fails,
    Fold,
    Function,
    Holds,
    Input,
    Item,
    Items,
    Multiple,
    Number,
    OneOf,
    Tally,
    Term,
    Test,
)

NUMERALS = {
    word: float(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_PLURALS = {"zeros": 0.0, "zeroes": 0.0, "ones": 1.0, "twos": 2.0, "threes": 3.0, "fours": 4.0, "fives": 5.0,
            "sixes": 6.0, "sevens": 7.0, "eights": 8.0, "nines": 9.0}  # fmt: skip
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "eighth": 7,
             "last": -1, "final": -1}  # fmt: skip
_FOLDS = {
    "digit sum": "sum", "sum": "sum", "sum total": "sum", "total": "sum", "total sum": "sum", "product": "product",
    "mean": "mean", "average": "mean", "arithmetic mean": "mean", "maximum": "max", "largest": "max",
    "biggest": "max", "greatest": "max", "highest": "max", "max": "max", "minimum": "min", "smallest": "min",
    "lowest": "min", "least": "min", "min": "min", "range": "range", "spread": "range", "length": "length",
}  # fmt: skip
_FUNCTIONS = {
    "sin": "sin", "sine": "sin", "cos": "cos", "cosine": "cos", "tan": "tan", "tangent": "tan", "sqrt": "sqrt",
    "square root": "sqrt", "abs": "abs", "absolute value": "abs", "exp": "exp", "exponential": "exp", "ln": "log",
    "log": "log", "natural logarithm": "log",
}  # fmt: skip
_FACTORS = {"twice": 2.0, "double": 2.0, "thrice": 3.0, "triple": 3.0, "half": 0.5, "half of": 0.5, "a third of": 1 / 3}

NOUNS = (
    "integers|integer|numbers|number|digits|digit|values|value|elements|element|entries|entry|items|item|inputs|input"
    "|terms|term|columns|column|features|feature|coordinates|coordinate|members|member"
)
_HOLDERS = "sequence|input|list|input sequence|row|tuple|set|input list|given sequence|array|series"
_ANTECEDENTS = (
    "it|this|that|this sum|that sum|the count|this count|that count|the result|this result|that result|the value"
    "|this value|that value|this total|that total|this number|that number|the number|the answer|this distance"
    "|that distance|the outcome|the total|the sum|the distance|this difference|that difference|the difference"
    "|the product|this product|that product"
)
_HEDGES = "approximately|about|roughly|around|approx.|nearly|a value of|exactly"
_LONGEST_FORMULA = 200
_POINTS = "the input point|the point to classify|the input|the given point|it|the point|point|a point|this point"
_COORDINATE = re.compile(r"(?:x|input|feature)_?\(?(\d)\)?|([xyz])")
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
     "|over|exceeds|exceeding|exceed|strictly above|longer than|>|beyond|farther than|further than|strictly exceeds", ">"),
    ("strictly less than|less than|strictly smaller than|smaller than|fewer than|lower than|below|under|<"
     "|strictly below|shorter than|closer than|nearer than", "<"),
    ("not equal to|different from|other than|!=|does not equal|doesn't equal|unequal to", "!="),
    ("equal to|equals|equal|exactly equal to|=|the same as|identical to|exactly", "="),
)  # fmt: skip


class TermReader(Cursor):
    """A cursor that reads terms over the named columns."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text)
        self.names = sorted((name for name in names if name), key=len, reverse=True)
        self.antecedent: Term | None = None
        self.point: tuple[Term, ...] = (Input(0), Input(1))
        self.centre: tuple[float, ...] = (0.0, 0.0)
        self.radius: Term | None = None
        self.called: dict[str, Term] = {}
        self.greedy = True
        self._built = 0

    def joined(self, op: str, left: Term, right: Term) -> Arithmetic:
        """Two terms joined; a formula of too many parts is not read."""
        self._built += 1
        if self._built > _LONGEST_FORMULA:
            raise TooTangled
        return Arithmetic(op, left, right)  # type: ignore[arg-type]

    # --- arithmetic ---------------------------------------------------------------------------------------------

    def term(self) -> Term | None:
        """A sum of products."""
        return self._chain(self._product, "+|-|plus|minus", {"plus": "+", "minus": "-"})

    def _product(self) -> Term | None:
        left = self._chain(
            self._signed, "*|/|times|multiplied by|divided by", {"times": "*", "multiplied by": "*", "divided by": "/"}
        )
        while left is not None and self._touching():
            right = self.attempt(self._power)
            if right is None:
                break
            left = self.joined("*", left, right)
        return left

    def _touching(self) -> bool:
        """Whether a factor follows its coefficient with no sign between, as in 3x or 2(x + 1)."""
        before = self.tokens[self.at - 1]
        close = before.end == self.here.start and (before.kind == "number" or before.plain == ")")
        return (close and self.here.plain not in {"s", ")"}) or (
            before.kind == "number" and self.here.plain in {"sin", "cos", "sqrt"}
        )

    def _chain(self, part: Callable[[], Term | None], signs: str, plain: dict[str, str]) -> Term | None:
        left = self.attempt(part)
        while left is not None:
            mark = self.at
            sign = self.take(signs)
            right = self.attempt(part) if sign else None
            if sign is None or right is None:
                self.at = mark
                break
            left = self.joined(plain.get(sign, sign), left, right)
        return left

    def _signed(self) -> Term | None:
        if self.take("-|minus|negative"):
            inner = self.attempt(self._signed)
            if isinstance(inner, Number):
                return Number(-inner.value)
            return inner and self.joined("-", Number(0.0), inner)
        self.take("+")
        return self.attempt(self._power)

    def _power(self) -> Term | None:
        base = self.attempt(self._atom)
        while base is not None:
            if self.take("squared|²"):
                base = self.joined("^", base, Number(2.0))
            elif self.take("cubed|³"):
                base = self.joined("^", base, Number(3.0))
            elif self.sees("^|to the power of|to the power") and (raised := self.attempt(self._exponent)):
                base = self.joined("^", base, raised)
            else:
                break
        return base

    def _exponent(self) -> Term | None:
        self.take("^|to the power of|to the power")
        return self.attempt(self._signed)

    def number(self) -> float | None:
        """A constant, in digits or as a word, with its sign."""
        self.take(_HEDGES)
        sign = -1.0 if self.take("-|minus|negative") else 1.0
        token = self.take_kind("number")
        if token is not None:
            return sign * float(token.plain)
        word = self.take("|".join(NUMERALS))
        return None if word is None else sign * NUMERALS[word]

    def _atom(self) -> Term | None:
        self.take(_HEDGES)
        return self.first(
            self._constant, self._own_name, self._brackets, self._phrase, self.column, self._antecedent, self._numeral
        )

    def _constant(self) -> Term | None:
        token = self.take_kind("number")
        if token is not None:
            return Number(float(token.plain))
        return Number(3.141592653589793) if self.take("pi") else None

    def _numeral(self) -> Term | None:
        word = self.take("|".join(NUMERALS))
        return Number(NUMERALS[word]) if word else None

    def _brackets(self) -> Term | None:
        inner = self.attempt(self.term) if self.take("(") else None
        return inner if inner is not None and self.take(")") else None

    # --- names --------------------------------------------------------------------------------------------------

    def _own_name(self) -> Term | None:
        """A column, unless the same words open a phrase, as in `the sum of`."""
        found = self.column()
        return None if self.sees("of|between|from|among|(") else found

    def column(self) -> Term | None:
        """A column by its name, quoted or bare, or a name the rule itself gave."""
        self.take("the value of|value of|the column|column|the feature|feature|the input|variable|the variable")
        name = self.column_name()
        if name is not None:
            return Cell(name)
        token = self.here
        if token.kind == "word" and token.plain in self.called:
            self.at += 1
            return self.called[token.plain]
        return self._coordinate()

    def column_name(self) -> str | None:
        """The name of a column, which the cursor steps over."""
        if self.here.kind == "string" and self.here.plain in self.names:
            self.at += 1
            return self.tokens[self.at - 1].plain
        article = self.take("the") is not None
        exact = next((name for name in self.names if self.take_text(name)), None)
        if exact is not None:
            return exact
        loose = (name for name in self.names if name.casefold() != "a" and self.take_text(name, any_case=True))
        found = next(loose, None)
        if found is None and article:
            self.at -= 1
        return found

    def _coordinate(self) -> Term | None:
        """x, y, z, x1, x_2: the numeric inputs by position, where no column bears the name."""
        match = _COORDINATE.fullmatch(self.here.plain) if self.here.kind == "word" else None
        if match is None:
            return None
        position = int(match[1]) - 1 if match[1] else "xyz".index(match[2])
        self.at += 1
        return Input(position) if position >= 0 else None

    def _antecedent(self) -> Term | None:
        if self.radius is not None and self.take("the radius|this radius|that radius|radius"):
            return self.radius
        return self.antecedent if self.antecedent is not None and self.take(_ANTECEDENTS) else None

    # --- phrases ------------------------------------------------------------------------------------------------

    def _phrase(self) -> Term | None:
        self.take("calculate|compute")
        self.take("the|its|their|a")
        return self.first(
            self._tally, self._distinct, self._difference, self._distance, self._function, self._square,
            self._factor, self._item, self._sum_of_terms, self._fold,
        )  # fmt: skip

    def _tally(self) -> Term | None:
        if not self.take("number of|count of|how many|amount of"):
            return None
        self.take("the|all")
        found = self.attempt(self.filtered)
        if found is None:
            return None
        test, items = found
        return Fold("length", items) if test is None else Tally(items, test)

    def _distinct(self) -> Term | None:
        if not self.take("number of|count of|how many"):
            return None
        if self.take("distinct|different|unique") and self.take(NOUNS):
            return Fold("distinct", self._source() or WHOLE)
        return None

    def _difference(self) -> Term | None:
        kind = self.take("absolute difference between|difference between|absolute difference of|difference of")
        left = self.attempt(self.term) if kind else None
        right = self.attempt(self.term) if left is not None and self.take("and") else None
        if kind is None or left is None or right is None:
            return None
        gap = self.joined("-", left, right)
        return Function("abs", gap) if kind.startswith("absolute") else gap

    def _distance(self) -> Term | None:
        if not self.take("distance|euclidean distance|straight - line distance"):
            return None
        ends = [self.attempt(self.place)] if self.take("of") else []
        while self.take("from|to|between|and"):
            ends.append(self.attempt(self.place))
        self._how_calculated()
        centres = [end for end in ends if isinstance(end, tuple) and isinstance(end[0], float)]
        points = [end for end in ends if isinstance(end, tuple) and isinstance(end[0], Term)]
        if None in ends or len(centres) > 1 or len(points) > 1:
            return None
        return Distance((points or [self.point])[0], (centres or [self.centre])[0])  # type: ignore[arg-type]

    def _how_calculated(self) -> None:
        """Steps over `, calculated as √(x² + y²),`, which says again what a distance is."""
        mark = self.at
        self.take(",")
        if self.take("calculated as|computed as|given by|measured as|i.e.") and self.attempt(self.term) is not None:
            self.take(",")
            return
        self.at = mark

    def place(self) -> tuple[Term, ...] | tuple[float, ...] | None:
        """An end of a distance: a fixed point, or the terms that make the input's point."""
        if self.take("the point of origin|the origin|origin"):
            self.attempt(self.constants)
            return (0.0, 0.0)
        if self.take("the center|the centre|its center|its centre|this center|this centre|center|centre"):
            self.take("of the circle|of this circle")
            return self.attempt(self.constants) or self.centre
        named = self.take(_POINTS)
        return self.attempt(self.constants) or self.attempt(self.pair) or (self.point if named else None)

    def constants(self) -> tuple[float, ...] | None:
        """(0.5, -1)"""
        if not self.take("("):
            return None
        found = [self.attempt(self.number)]
        while self.take(","):
            found.append(self.attempt(self.number))
        numbers = tuple(number for number in found if number is not None)
        return numbers if self.take(")") and len(numbers) == len(found) and len(found) > 1 else None

    def pair(self) -> tuple[Term, ...] | None:
        """(x, y): the columns that make a point."""
        if not self.take("("):
            return None
        found = [self.attempt(self.column)]
        while self.take(","):
            found.append(self.attempt(self.column))
        point = tuple(term for term in found if term is not None)
        return point if self.take(")") and len(point) == len(found) and len(found) > 1 else None

    def _function(self) -> Term | None:
        name = self.take("|".join(_FUNCTIONS))
        if name is None:
            return None
        self.take("of")
        argument = self.attempt(self._brackets) or self.attempt(self._factor_of_argument)
        return None if argument is None else Function(_FUNCTIONS[name], argument)

    def _factor_of_argument(self) -> Term | None:
        """sin x, sin 2x, the sine of 2 times x."""
        return self._product()

    def _square(self) -> Term | None:
        kind = self.take("square of|cube of")
        base = self.attempt(self._atom) if kind else None
        return None if base is None else self.joined("^", base, Number(2.0 if kind == "square of" else 3.0))

    def _factor(self) -> Term | None:
        kind = self.take("|".join(_FACTORS))
        base = self.attempt(self._power) if kind else None
        return None if base is None or kind is None else self.joined("*", Number(_FACTORS[kind]), base)

    def _item(self) -> Term | None:
        if self.take("second to last|second last|penultimate|last but one|next to last"):
            index: int | None = -2
        else:
            word = self.take("|".join(_ORDINALS))
            index = None if word is None else _ORDINALS[word]
        if index is None or not self.take(NOUNS + "|one"):
            return None
        return Item(self._source() or WHOLE, index)

    def _sum_of_terms(self) -> Term | None:
        """the sum of 2x and y: of terms that are no plain items."""
        if self.take("sum of|total of|sum") is None:
            return None
        self.take("the")
        if self.attempt(self.items) is not None:
            return None
        left = self.attempt(self.term)
        while left is not None and self.take("and|,"):
            right = self.attempt(self.term)
            if right is None:
                return None
            left = self.joined("+", left, right)
        return left if isinstance(left, Arithmetic) else None

    def _fold(self) -> Term | None:
        word = self.take("|".join(_FOLDS))
        if word is None:
            return None
        kind = _FOLDS[word]
        if kind in {"max", "min"}:
            self.take(NOUNS + "|one|of them")
        if self.take("of all|of|among|in|over"):
            items = self.attempt(self.items)
            return None if items is None else Fold(kind, items)
        bracketed = self.attempt(self._bracketed_items)
        if bracketed is not None:
            return Fold(kind, bracketed)
        return self.antecedent if self._speaks_of(kind) else Fold(kind, WHOLE)

    def _speaks_of(self, kind: str) -> bool:
        """Whether `the sum` is the one that an earlier sentence worked out."""
        return isinstance(self.antecedent, Fold) and self.antecedent.kind == kind

    # --- items --------------------------------------------------------------------------------------------------

    def _bracketed_items(self) -> Items | None:
        found = self.attempt(self.items) if self.take("(") else None
        return found if found is not None and self.take(")") else None

    def items(self) -> Items | None:
        """The sequence or a part of it, or a list of columns."""
        self.take("all of|all|both")
        return self.first(self._listed, self._bracketed_items, self._part, self._whole)

    def _listed(self) -> Items | None:
        names = [self.column_name()]
        while names[-1] is not None:
            mark = self.at
            joined = self.take(", and|, or|,|and|or|&")
            name = self.column_name() if joined else None
            if name is None:
                self.at = mark
                break
            names.append(name)
        found = tuple(name for name in names if name is not None)
        return Items(found) if found else None

    def _part(self) -> Items | None:
        self.take("the|its")
        side = self.take("first|last|initial|final")
        count = self.attempt(self.number) if side else None
        if side is None or count is None or not 0 < count < 1000 or not self.take(NOUNS):
            return None
        self._source()
        first = side in {"first", "initial"}
        return Items((), None, int(count)) if first else Items((), -int(count), None)

    def _whole(self) -> Items | None:
        self.take("the|its|these|their|those|of the|of its")
        self.take("given|input")
        self.attempt(self.number)
        if not self.take(NOUNS):
            return WHOLE if self.take(_HOLDERS + "|them") else None
        return self._source() or WHOLE

    def _source(self) -> Items | None:
        """`in the sequence`, `of a, b and c`; None, and no step, where nothing of the kind follows."""
        return self.attempt(self._source_phrase)

    def _source_phrase(self) -> Items | None:
        if not self.take("in|of|among|from|within"):
            return None
        self.take("the|this|its")
        self.take("given|whole|entire")
        if self.take(_HOLDERS):
            return WHOLE
        return self.attempt(self.items)

    def filtered(self) -> tuple[Test | None, Items] | None:
        """`even integers in the sequence`, `0s`, `integers greater than 5`: what is counted, and among what."""
        test = self.attempt(self._adjective)
        value = None if test is not None else self.attempt(self._counted_value)
        if value is not None:
            return Compare("=", value), self._source() or WHOLE
        if not self.take(NOUNS) and test is None:
            return None
        items = self._source()
        self.take("that are|which are|that is|which is|being|that|who are")
        after = self.attempt(self.plain_test) if self.greedy else None
        items = items or self._source() or WHOLE
        return (test and after and Both(test, after)) or test or after, items

    def _adjective(self) -> Test | None:
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

    # --- tests --------------------------------------------------------------------------------------------------

    def plain_test(self) -> Test | None:
        """A test that shows itself by its words: a bare value is none."""
        if self.take("not|neither"):
            inner = self.attempt(self.plain_test) or self.attempt(self.value_test)
            return None if inner is None else Fails(inner)
        return self.first(
            self._parity, self._remainder, self._between, self._one_of, self._missing, self._holds,
            self._signed_test, self._or_more,
        )  # fmt: skip

    def value_test(self) -> Test | None:
        """Equality with a bare value or with one of several: `3`, `3 or 4`, `"Biscoe"`, `Biscoe or Dream`."""
        values = self._choices(", or|or")
        if not values or self.sees("+|-|*|/|plus|times|minus|^"):
            return None
        return OneOf(values) if len(values) > 1 or isinstance(values[0], str) else Compare("=", Number(values[0]))

    def equality(self) -> Test | None:
        """Equality with a term: `x is y + 1`."""
        other = self.attempt(self.term)
        return None if other is None else Compare("=", other)

    def _literal(self) -> str | float | None:
        token = self.take_kind("string")
        return self.attempt(self._bare_number) if token is None else token.plain

    def _bare_number(self) -> float | None:
        found = self.number()
        return found if found is None or not self._touching() else None

    def _parity(self) -> Test | None:
        word = self.take("an even number|an even integer|even number|even|an odd number|an odd integer|odd number|odd")
        if word is not None:
            return EVEN if "even" in word else ODD
        word = self.take("positive|negative|nonzero|non-zero|non - zero")
        return None if word is None else _ADJECTIVES[word]

    def _remainder(self) -> Test | None:
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

    def _between(self) -> Test | None:
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

    def _one_of(self) -> Test | None:
        if not self.take("one of|either|any of|in the set|in|among"):
            return None
        self.take("the values|the set|the numbers")
        bracket = self.take("(")
        values = self._choices(", or|, and|,|or|and")
        return OneOf(values) if values and (not bracket or self.take(")")) else None

    def _choices(self, joints: str) -> tuple[str | float, ...]:
        """Values up to one that turns out to be the subject of something else."""
        values: list[str | float] = []
        mark = self.at
        while (value := self.attempt(self._choice)) is not None and not (values and self.sees(_SUBJECT_OF)):
            values.append(value)
            mark = self.at
            if not self.take(joints):
                break
        self.at = mark
        return tuple(values)

    def _choice(self) -> str | float | None:
        found: str | float | None = self.attempt(self._literal)
        return self.attempt(self._words) if found is None else found

    def _words(self) -> str | None:
        """Unquoted words, up to one that cannot belong to a category's name."""
        start, end = self.here.start, -1
        if self._at_name():
            return None
        while self.here.kind in {"word", "number"} or (self.here.plain in {"-", "/", "&", "_"} and end >= 0):
            if self.sees(_ENDS_TEXT):
                break
            end = self.here.end
            self.at += 1
        return None if end < 0 else self.text[start:end]

    def _at_name(self) -> bool:
        """Whether a column's name stands here."""
        mark = self.at
        found = self.column_name()
        self.at = mark
        return found is not None

    def _missing(self) -> Test | None:
        return Absent() if self.take("missing|absent|not given|unknown|not known|empty|not available|blank") else None

    def _holds(self) -> Test | None:
        if not self.take("contains the text|contains|containing|includes|contains the word"):
            return None
        token = self.take_kind("string")
        return None if token is None else Holds(token.plain)

    def _signed_test(self) -> Test | None:
        for phrases, sign in _SIGNS:
            mark = self.at
            if self.take(phrases):
                self.take("or equal to")
                other = self.attempt(self._operand)
                if other is not None:
                    return other if isinstance(other, OneOf) else Compare(sign, other)
                self.at = mark
        return None

    def _operand(self) -> Term | OneOf | None:
        """What a sign compares with; a quoted text stands for itself."""
        token = self.here
        if token.kind == "string" and token.plain not in self.names:
            self.at += 1
            return OneOf((token.plain,))
        return self.attempt(self.term)

    def _or_more(self) -> Test | None:
        value = self.attempt(self.number)
        if value is None:
            return None
        if self.take("or more|or greater|or above|or higher|or larger|or over"):
            return Compare(">=", Number(value))
        if self.take("or less|or fewer|or below|or lower|or smaller|or under"):
            return Compare("<=", Number(value))
        return None


_ADJECTIVES: dict[str, Test] = {
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
