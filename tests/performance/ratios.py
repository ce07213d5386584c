"""One line of the bench: a ratio, what it divides, and its limit; and the table of docs/performance.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- bench -->", "<!-- end -->"


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A measured ratio, or another figure that no machine's speed decides."""

    name: str
    value: float
    most: float
    """The limit."""
    parts: str = ""
    """Numerator and denominator, with units."""

    @property
    def holds(self) -> bool:
        return self.value <= self.most

    @property
    def line(self) -> str:
        missed = "" if self.holds else " (missed)"
        return f"| {self.name} | {self.value:.2f} | {self.most:g}{missed} |"


def ratio(name: str, a: float, b: float, *, unit: str, most: float) -> Ratio:
    return Ratio(name=name, value=a / b, most=most, parts=f"{a:,.3g} / {b:,.3g} {unit}")


def put(page: Path, about: str, ratios: Sequence[Ratio]) -> None:
    """Replace what stands between the marks of the page. Raises ValueError without them."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    lines = ["", about, "", "| ratio | measured | at most |", "|---|---:|---:|"]
    body = "\n".join([BEGIN, *lines, *(ratio.line for ratio in ratios), END])
    page.write_text(f"{before}{body}{after}", encoding="utf-8")
