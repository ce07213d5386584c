"""Reader of formulas: `3.1x + 4`, `2 * sin(0.9x - 0.3) + 1`, `twice the square of x`."""

import re
from abc import abstractmethod
from collections.abc import Callable

from vpp.demo.lexer import TooTangled
from vpp.demo.read_checks import CheckReader
from vpp.demo.read_items import HEDGES, NUMERALS
from vpp.demo.terms import Arithmetic, Cell, Function, Input, Number, Term

_FUNCTIONS = {
    "sin": "sin", "sine": "sin", "cos": "cos", "cosine": "cos", "tan": "tan", "tangent": "tan", "sqrt": "sqrt",
    "square root": "sqrt", "abs": "abs", "absolute value": "abs", "exp": "exp", "exponential": "exp", "ln": "log",
    "log": "log", "natural logarithm": "log",
}  # fmt: skip
_FACTORS = {"twice": 2.0, "double": 2.0, "thrice": 3.0, "triple": 3.0, "half": 0.5, "half of": 0.5, "a third of": 1 / 3}
_ANTECEDENTS = (
    "it|this|that|this sum|that sum|the count|this count|that count|the result|this result|that result|the value"
    "|this value|that value|this total|that total|this number|that number|the number|the answer|this distance"
    "|that distance|the outcome|the total|the sum|the distance|this difference|that difference|the difference"
    "|the product|this product|that product"
)
_LONGEST_FORMULA = 200
_COORDINATE = re.compile(r"(?:x|input|feature)_?\(?(\d)\)?|([xyz])")


class FormulaReader(CheckReader):
    """Cursor that reads formulas; a subclass reads phrases such as `the sum of`."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text, names)
        self.antecedent: Term | None = None
        """Term that `it` or `that count` refers to."""
        self.radius: Term | None = None
        """Radius of the described circle."""
        self.called: dict[str, Term] = {}
        """Terms by the names that the text gives them."""
        self._built = 0

    @abstractmethod
    def phrase(self) -> Term | None:
        """Read a term in words."""

    def joined(self, op: str, left: Term, right: Term) -> Arithmetic:
        """Join two terms. Raises TooTangled for a formula of too many parts."""
        self._built += 1
        if self._built > _LONGEST_FORMULA:
            raise TooTangled
        return Arithmetic(op, left, right)  # type: ignore[arg-type]

    def term(self) -> Term | None:
        """Read a sum of products."""
        return self._chain(self._product, "+|-|plus|minus", {"plus": "+", "minus": "-"})

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

    def _product(self) -> Term | None:
        left = self._chain(
            self._signed, "*|/|times|multiplied by|divided by", {"times": "*", "multiplied by": "*", "divided by": "/"}
        )
        while left is not None and self.touching():
            right = self.attempt(self._power)
            if right is None:
                break
            left = self.joined("*", left, right)
        return left

    def touching(self) -> bool:
        """Whether a factor follows its coefficient without a sign, as in 3x or 2(x + 1)."""
        before = self.tokens[self.at - 1]
        close = before.end == self.here.start and (before.kind == "number" or before.plain == ")")
        factor = self.here.kind in {"word", "string"} or self.here.plain == "("
        return (close and factor and self.here.plain != "s") or (
            before.kind == "number" and self.here.plain in {"sin", "cos", "sqrt"}
        )

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

    def _atom(self) -> Term | None:
        self.take(HEDGES)
        return self.first(
            self._constant,
            self._own_name,
            self._brackets,
            self._worded,
            self.phrase,
            self.column,
            self._antecedent,
            self._numeral,
        )

    def _worded(self) -> Term | None:
        self.take("the|a")
        return self.first(self._function, self._square, self._factor)

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

    def _own_name(self) -> Term | None:
        """Read a column, unless the words begin a phrase such as `the sum of`."""
        column = self.column()
        return None if self.sees("of|between|from|among|(") else column

    def column(self) -> Term | None:
        """Read a column by its name, quoted or not, or by a name that the rule gave."""
        self.take("the value of|value of|the column|column|the feature|feature|the input|variable|the variable")
        name = self.column_name()
        if name is not None:
            return Cell(name)
        token = self.here
        if token.kind == "word" and token.plain in self.called:
            self.at += 1
            return self.called[token.plain]
        return self._coordinate()

    def _coordinate(self) -> Term | None:
        """Read x, y, z, x1 or x_2 as a numeric input by position, if no column has that name."""
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

    def _function(self) -> Term | None:
        name = self.take("|".join(_FUNCTIONS))
        if name is None:
            return None
        self.take("of")
        argument = self.first(self._brackets, self._product)
        return None if argument is None else Function(_FUNCTIONS[name], argument)

    def _square(self) -> Term | None:
        kind = self.take("square of|cube of")
        base = self.attempt(self._atom) if kind else None
        return None if base is None else self.joined("^", base, Number(2.0 if kind == "square of" else 3.0))

    def _factor(self) -> Term | None:
        kind = self.take("|".join(_FACTORS))
        base = self.attempt(self._power) if kind else None
        return None if base is None or kind is None else self.joined("*", Number(_FACTORS[kind]), base)
