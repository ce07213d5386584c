"""A measured figure: its values, its target, and whether the target holds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from tests.markdown import table

Sense = Literal["at most", "under", "at least"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the bench."""

    name: str
    values: tuple[float, ...] = ()
    """One a measurement; none where it could not be measured."""
    unit: str = ""
    target: float | None = None
    """None: nothing is asked of it."""
    ideal: float | None = None
    """Value on a machine without limit of speed. None: a target that does not depend on the machine."""
    sense: Sense = "at most"
    command: str = ""
    """What measures it, to be run by hand."""
    note: str = ""
    """What the figure is and is not, in a few words."""
    fault: str = ""
    """Why it could not be measured."""

    @property
    def middle(self) -> float:
        """The median. Raises StatisticsError where nothing was measured."""
        return median(self.values)

    @property
    def holds(self) -> bool | None:
        """Whether the median meets the target; what was not measured does not. None: there is no target."""
        if self.fault or not self.values:
            return False
        if self.target is None:
            return None
        if self.sense == "at least":
            return self.middle >= self.target
        return self.middle < self.target if self.sense == "under" else self.middle <= self.target

    def on(self, slowness: float) -> "Figure":
        """Return it with its target for a slower machine: what is allowed beyond the ideal grows in proportion.

        slowness: processor time of some work here, over that on the machine for which targets are set.
        """
        if self.target is None or self.ideal is None:
            return self
        return replace(self, target=self.ideal + (self.target - self.ideal) * max(1.0, slowness))

    @property
    def value(self) -> str:
        """The median with its unit."""
        if self.fault or not self.values:
            return f"not measured: {self.fault or 'no value'}"
        return f"{shown(self.middle)} {self.unit}".rstrip()

    @property
    def ranged(self) -> str:
        """The median, with the smallest and largest in brackets where there are several."""
        spread = f" ({shown(min(self.values))}–{shown(max(self.values))})" if len(self.values) > 1 else ""
        return f"{self.value}{spread}"

    @property
    def asked(self) -> str:
        """The target in words; empty for none."""
        return "" if self.target is None else f"{self.sense} {shown(self.target)}"

    @property
    def goal(self) -> str:
        """The target, marked where it is missed."""
        return f"{self.asked} (missed)" if self.asked and not self.holds else self.asked or "–"


def shown(value: float) -> str:
    """Three digits that count, or a whole number with its thousands apart."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = 2 if abs(value) >= 1 else 3
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.0f}"


def unmeasured(name: str, fault: str, **more: Any) -> Figure:
    """A figure that could not be measured; its fault in one line."""
    return Figure(name=name, fault=" ".join(fault.split())[:300] or "unknown", **more)


def measure(name: str, values: Callable[[], Iterable[float]], **more: Any) -> Figure:
    """Measure a figure; whatever fails is its fault."""
    try:
        return Figure(name=name, values=tuple(values()), **more)
    except Exception as failure:
        return unmeasured(name, str(failure), **more)


def section(figures: Sequence[Figure]) -> list[str]:
    """Markdown: the command, a row a figure, each note once."""
    commands = [f"`{command}`" for command in dict.fromkeys(f.command for f in figures if f.command)]
    rows = table(["figure", "median (range)", "target"], [(f.name, f.ranged, f.goal) for f in figures])
    notes = [f"- {note[0].upper()}{note[1:]}." for note in dict.fromkeys(f.note for f in figures if f.note)]
    return [line for part in (commands, rows, notes) if part for line in (*part, "")][:-1]
