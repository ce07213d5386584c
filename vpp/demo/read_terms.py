"""Reader of terms in words: sums, counts, distances, items of a sequence; and of circles."""

from vpp.demo.read_formulas import FormulaReader
from vpp.demo.read_items import NOUNS
from vpp.demo.terms import WHOLE, Arithmetic, Distance, Fold, Function, Input, Item, Tally, Term

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "eighth": 7,
             "last": -1, "final": -1}  # fmt: skip
_FOLDS = {
    "digit sum": "sum", "sum": "sum", "sum total": "sum", "total": "sum", "total sum": "sum", "product": "product",
    "mean": "mean", "average": "mean", "arithmetic mean": "mean", "maximum": "max", "largest": "max",
    "biggest": "max", "greatest": "max", "highest": "max", "max": "max", "minimum": "min", "smallest": "min",
    "lowest": "min", "least": "min", "min": "min", "range": "range", "spread": "range", "length": "length",
}  # fmt: skip
_POINTS = "the input point|the point to classify|the input|the given point|it|the point|point|a point|this point"


class TermReader(FormulaReader):
    """Cursor that reads every term."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__(text, names)
        self.point: tuple[Term, ...] = (Input(0), Input(1))
        """Point whose coordinates are the inputs."""
        self.centre: tuple[float, ...] = (0.0, 0.0)
        """Centre of the described circle."""

    def phrase(self) -> Term | None:
        self.take("calculate|compute")
        self.take("the|its|their|a")
        return self.first(
            self._tally, self._distinct, self._difference, self._distance, self._item, self._sum_of_terms, self._fold,
        )  # fmt: skip

    def _tally(self) -> Term | None:
        if not self.take("number of|count of|how many|amount of"):
            return None
        self.take("the|all")
        counted = self.attempt(self.filtered)
        if counted is None:
            return None
        check, items = counted
        return Fold("length", items) if check is None else Tally(items, check)

    def _distinct(self) -> Term | None:
        if not self.take("number of|count of|how many"):
            return None
        if self.take("distinct|different|unique") and self.take(NOUNS):
            return Fold("distinct", self.source() or WHOLE)
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
        return Distance((points or [self.point])[0], (centres or [self.centre])[0])

    def _how_calculated(self) -> None:
        """Step over `, calculated as √(x² + y²),`, which repeats the definition of the distance."""
        mark = self.at
        self.take(",")
        if self.take("calculated as|computed as|given by|measured as|i.e.") and self.attempt(self.term) is not None:
            self.take(",")
            return
        self.at = mark

    def place(self) -> tuple[Term, ...] | tuple[float, ...] | None:
        """Read an end of a distance: a fixed point, or the terms of the input's point."""
        if self.take("the point of origin|the origin|origin"):
            self.attempt(self.constants)
            return (0.0, 0.0)
        if self.take("the center|the centre|its center|its centre|this center|this centre|center|centre"):
            self.take("of the circle|of this circle")
            return self.attempt(self.constants) or self.centre
        named = self.take(_POINTS)
        return self.attempt(self.constants) or self.attempt(self.pair) or (self.point if named else None)

    def circle_details(self) -> bool:
        """Read `centred at the origin (0, 0) with a radius of about 0.6`; return whether anything was read."""
        start = self.at
        while True:
            mark = self.at
            self.take(",|and|that is|which is|with")
            if self.take(
                "centered|centred|with center|with centre|with its center|center|centre|whose center is|whose centre is"
            ):
                self.take("at|on|around|in")
                place = self.attempt(self.place)
                self._centred(place)
            elif self.take("a radius|radius|whose radius is|of radius|with radius|the radius|its radius|has a radius"):
                self.take("of|is|=|r =|equal to")
                self.radius = self.attempt(self.term)
            else:
                self.at = mark
                return self.at > start

    def _centred(self, place: tuple[Term, ...] | tuple[float, ...] | None) -> None:
        if place is not None and all(isinstance(number, float) for number in place):
            self.centre = place  # type: ignore[assignment]

    def constants(self) -> tuple[float, ...] | None:
        """Read a fixed point: (0.5, -1)."""
        if not self.take("("):
            return None
        values = [self.attempt(self.number)]
        while self.take(","):
            values.append(self.attempt(self.number))
        numbers = tuple(number for number in values if number is not None)
        return numbers if self.take(")") and len(numbers) == len(values) and len(values) > 1 else None

    def pair(self) -> tuple[Term, ...] | None:
        """Read a point of columns: (x, y)."""
        if not self.take("("):
            return None
        terms = [self.attempt(self.column)]
        while self.take(","):
            terms.append(self.attempt(self.column))
        point = tuple(term for term in terms if term is not None)
        return point if self.take(")") and len(point) == len(terms) and len(terms) > 1 else None

    def _item(self) -> Term | None:
        if self.take("second to last|second last|penultimate|last but one|next to last"):
            index: int | None = -2
        else:
            word = self.take("|".join(_ORDINALS))
            index = None if word is None else _ORDINALS[word]
        if index is None or not self.take(NOUNS + "|one"):
            return None
        return Item(self.source() or WHOLE, index)

    def _sum_of_terms(self) -> Term | None:
        """Read a sum of terms: the sum of 2x and y."""
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
        """Whether `the sum` refers to the sum of an earlier sentence."""
        return isinstance(self.antecedent, Fold) and self.antecedent.kind == kind
