"""One line of the bench: a ratio, what it divides, and its limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.markdown import table


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A measured ratio, or another figure that no machine's speed decides."""

    name: str
    value: float
    most: float | None = None
    """The limit; None: nothing is asked of it."""
    parts: str = ""
    """Numerator and denominator, with units."""

    @property
    def holds(self) -> bool:
        return self.most is None or self.value <= self.most

    @property
    def limit(self) -> str:
        if self.most is None:
            return "–"
        return f"{self.most:g}" if self.holds else f"{self.most:g} (missed)"


def divided(name: str, a: float, b: float, *, unit: str, most: float | None = None) -> Ratio:
    """Return a / b."""
    return Ratio(name=name, value=a / b, most=most, parts=f"{a:,.3g} / {b:,.3g} {unit}")


def lines(ratios: Sequence[Ratio]) -> list[str]:
    """Return a table in Markdown."""
    rows = [(each.name, f"{each.value:.2f}", each.limit, each.parts) for each in ratios]
    return table(["ratio", "measured", "at most", "parts"], rows)
