"""Time left of a sweep in seconds, from the durations of its finished cells."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from vpp.bench.sweep import CellView, SweepView
from vpp.wording.words import listed, seconds

MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """Time left, as far as the cells left can be timed."""

    seconds: float
    """Time for the cells whose method has a finished cell."""
    unmeasured: tuple[str, ...]
    """Methods without a finished cell; their time comes on top."""

    @property
    def rest(self) -> str:
        """Text for the unmeasured methods: `smc and mh`, or `5 methods not timed yet`; empty without any."""
        n = len(self.unmeasured)
        return listed(self.unmeasured) if n <= MAX_NAMED else f"{n} methods not timed yet"


def eta(until: TimeLeft) -> str:
    """Return `about 7 min left`, or `at least …` if a method has not been measured."""
    if until.rest:
        return f"at least {seconds(until.seconds)} left, plus {until.rest}"
    return f"about {seconds(until.seconds)} left"


def time_left(view: SweepView, left: Iterable[CellView], *, jobs: int) -> TimeLeft | None:
    """Estimate the time left; None until a method in `left` has a finished cell. jobs: cells run at a time."""
    waiting = list(left)
    done = [each for each in view.cells if each.outcome]
    methods = dict.fromkeys(each.cell.method for each in done)
    per_method = {m: mean(each.took_s for each in done if each.cell.method == m) for m in methods}
    known = [each for each in waiting if each.cell.method in per_method]
    if not known:
        return None
    rest = [max(0.0, per_method[each.cell.method] - each.wall_s) for each in known]
    unmeasured = dict.fromkeys(each.cell.method for each in waiting if each.cell.method not in per_method)
    return TimeLeft(seconds=max(max(rest), sum(rest) / max(1, jobs)), unmeasured=tuple(unmeasured))
