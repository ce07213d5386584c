"""How long a sweep has still to go, from the pace of its own finished cells. Seconds."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, median

from vpp.bench.sweep import CellView, SweepView
from vpp.wording.words import listed, seconds

AROUND_AT_MOST_S = 15.0
"""More than this around a run is time in which nothing ran."""
NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """What can be said of it."""

    seconds: float
    """Of the cells whose method has a finished cell."""
    unmeasured: tuple[str, ...]
    """Methods among the cells left that have none: their time comes on top."""

    @property
    def rest(self) -> str:
        """The unmeasured in words: `smc and mh`, or `5 methods not timed yet`; empty where there are none."""
        n = len(self.unmeasured)
        return listed(self.unmeasured) if n <= NAMED_AT_MOST else f"{n} methods not timed yet"


def eta(until: TimeLeft) -> str:
    """`about 7 min left`; at least so much where some methods have not been measured."""
    if until.rest:
        return f"at least {seconds(until.seconds)} left, and what {until.rest} will take"
    return f"about {seconds(until.seconds)} left"


def time_left(view: SweepView, left: Iterable[CellView], *, jobs: int) -> TimeLeft | None:
    """None before a cell of one of the methods left is finished. jobs: cells at a time."""
    waiting = list(left)
    per_method = _paces(view)
    known = [each for each in waiting if each.cell.method in per_method]
    if not known:
        return None
    rest = [max(0.0, per_method[each.cell.method] - each.wall_s) for each in known]
    unmeasured = dict.fromkeys(each.cell.method for each in waiting if each.cell.method not in per_method)
    return TimeLeft(seconds=max(max(rest), sum(rest) / max(1, jobs)), unmeasured=tuple(unmeasured))


def _paces(view: SweepView) -> dict[str, float]:
    """Mean seconds a cell by method: the run itself, and what a cell takes around its run."""
    done = [each for each in view.cells if each.outcome]
    around = _around_s(done)
    methods = dict.fromkeys(each.cell.method for each in done)
    return {m: around + mean(each.wall_s for each in done if each.cell.method == m) for m in methods}


def _around_s(done: Iterable[CellView]) -> float:
    """Of the cells that were not interrupted: a stopped sweep's pause is no cell's time."""
    measured = [each.around_s for each in done if each.around_s is not None]
    return min(AROUND_AT_MOST_S, median(measured)) if measured else 0.0
