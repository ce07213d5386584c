"""Verdicts on diagnostics, and the thresholds on which they turn. A threshold changes words alone, never a run."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import pstdev
from typing import Any, Literal

from vpp.wording.words import (
    EQUAL,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    number,
    percent,
    shortest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where a verdict changes its words. Shares are fractions."""

    one_voice: float = 1.5
    low_acceptance: float = 0.1
    high_acceptance: float = 0.9
    few_judged: int = 10
    well_backed: float = 0.95
    abstained: float = 0.05
    few_rows: int = 30
    follows: float = 0.5
    follows_little: float = 0.2
    chance: float = 0.05


DEFAULTS = Thresholds()
NEARLY_ALIKE = 0.95
"""ESS, as a share of K, from which all voices are said to count nearly alike."""
FAR_BELOW = 0.5
"""A mean spread below this share of the typical miss is told with its cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movable:
    """A threshold as a reader moves it."""

    name: str
    """Of the field of Thresholds."""
    label: str
    unit: Literal["", "%"] = ""
    """`%`: the field is a fraction and shown a hundredfold."""
    least: float
    """As shown."""
    most: float
    step: float
    why: str
    """The reason for the default."""

    def shown(self, at: Thresholds) -> float:
        """Its value as a reader sees it."""
        value = float(getattr(at, self.name))
        return round(100 * value, 6) if self.unit else value

    def moved(self, at: Thresholds, shown: float) -> Thresholds:
        """With another value, the nearest of the field's steps; what is not a number changes nothing."""
        if not math.isfinite(shown):
            return at
        steps = round((min(max(shown, self.least), self.most) - self.least) / self.step)
        value = round(self.least + steps * self.step, 6)
        exact = value / 100 if self.unit else round(value) if self.is_whole else value
        changed: dict[str, Any] = {self.name: exact}
        return _in_order(replace(at, **changed), self.name)

    @property
    def is_whole(self) -> bool:
        """Whether it counts something."""
        return isinstance(getattr(DEFAULTS, self.name), int)

    @property
    def default(self) -> str:
        """`95 %`, `1.5`."""
        return percent(getattr(DEFAULTS, self.name)) if self.unit else shortest(float(getattr(DEFAULTS, self.name)))


def _in_order(at: Thresholds, moved: str) -> Thresholds:
    """`follows_little` is never above `follows`: the one that is moved past the other takes it along."""
    if at.follows_little <= at.follows:
        return at
    if moved == "follows":
        return replace(at, follows_little=at.follows)
    return replace(at, follows=at.follows_little)


MOVABLE: tuple[Movable, ...] = (
    Movable(
        name="one_voice",
        label="One hypothesis speaks for all: ESS below",
        least=1,
        most=10,
        step=0.1,
        why="an ESS that rounds to one.",
    ),
    Movable(
        name="low_acceptance",
        label="Few proposals survive: accepted below, in %",
        unit="%",
        least=0,
        most=50,
        step=1,
        why="fewer than one in ten, and sentences hardly move.",
    ),
    Movable(
        name="high_acceptance",
        label="The filter hardly filters: accepted above, in %",
        unit="%",
        least=50,
        most=100,
        step=1,
        why="more than nine in ten, and nearly every change passes.",
    ),
    Movable(
        name="few_judged",
        label="Too few proposals to judge by: fewer than",
        least=1,
        most=1000,
        step=1,
        why="with fewer, one proposal more or less moves the share by over 10 points.",
    ),
    Movable(
        name="well_backed",
        label="Weakly backed: weight below, in %",
        unit="%",
        least=50,
        most=100,
        step=1,
        why="from there on, what says otherwise is at most one part in twenty of the weight.",
    ),
    Movable(
        name="abstained",
        label="Many abstentions: share from, in %",
        unit="%",
        least=0,
        most=100,
        step=1,
        why="one unreadable answer in twenty is enough to look at the raw answers.",
    ),
    Movable(
        name="few_rows",
        label="Too few test rows: fewer than",
        least=1,
        most=10000,
        step=1,
        why="with 30 rows, a share is at worst known to about 18 points either way.",
    ),
    Movable(
        name="follows",
        label="Spread follows error: rank correlation from",
        least=0,
        most=1,
        step=0.05,
        why="the usual word for a correlation of 0.5 is strong.",
    ),
    Movable(
        name="follows_little",
        label="Spread follows error a little: from",
        least=0,
        most=1,
        step=0.05,
        why="below 0.2 it is lost in the noise of a hundred rows; that of 60 reaches about 0.26, and the words say so.",
    ),
    Movable(
        name="chance",
        label="More than chance: p below",
        least=0,
        most=0.5,
        step=0.01,
        why="the customary level; among twenty comparisons one falls below it by chance.",
    ),
)


def written(at: Thresholds) -> str:
    """What is not a default, as `one_voice:2,few_rows:20`, for an address."""
    usual = asdict(DEFAULTS)
    return ",".join(f"{name}:{value:g}" for name, value in asdict(at).items() if value != usual[name])


def read(told: str) -> Thresholds:
    """The reverse of `written`; what cannot be read is left at its default."""
    at, by_name = DEFAULTS, {movable.name: movable for movable in MOVABLE}
    for part in told.split(","):
        name, _, value = part.partition(":")
        if name in by_name and _is_number(value):
            at = by_name[name].moved(at, float(value) * (100 if by_name[name].unit else 1))
    return at


def _is_number(told: str) -> bool:
    try:
        return math.isfinite(float(told))
    except ValueError:
        return False


def defaults_sentence() -> str:
    """On which thresholds the verdicts of a report turn."""
    parts = "; ".join(f"{movable.label[0].lower()}{movable.label[1:]} {movable.default}" for movable in MOVABLE)
    return f"Verdicts turn on default thresholds, which the app lets a reader move: {parts.replace(', in %', '')}."


def _is_below(value: float, threshold: float) -> bool:
    """Whether it is, by more than floating point adds: 7 of 100 are not below 7 %."""
    return value < threshold - EQUAL


# Weights


def ess_sentence(ess: float, size: int, threshold: float | None = None, *, at: Thresholds = DEFAULTS) -> str:
    """`ESS 5.8 of 10: about six voices carry the posterior.`

    ess: between 1 and `size`, the number of particles. threshold: the fraction of `size` below which the population
    is resampled; leave it out where no resampling follows.
    """
    resampling = threshold is not None and size > 1 and ess < threshold * size
    return f"ESS {_ess_text(ess)} of {size}: {_voices(ess, size, at)}{'; resampling next' if resampling else ''}."


def voices_sentence(ess: float, size: int, *, at: Thresholds = DEFAULTS) -> str:
    """`About six voices carry the posterior.`, to stand beside the number itself."""
    return f"{capitalised(_voices(ess, size, at))}."


def _ess_text(ess: float) -> str:
    return shortest(round(ess)) if math.isclose(ess, round(ess), abs_tol=EQUAL) else f"{ess:.1f}"


def _voices(ess: float, size: int, at: Thresholds) -> str:
    if size == 1:
        return "there is one particle only"
    if _is_below(ess, at.one_voice):
        return "one hypothesis speaks for all"
    if not _is_below(ess, NEARLY_ALIKE * size):
        equal = math.isclose(ess, size, abs_tol=1e-6)
        every = "both" if size == 2 else f"all {in_words(size)}"
        return f"{every} voices count {'alike' if equal else 'nearly alike'}"
    return f"about {in_words(max(2, round(ess)))} voices carry the posterior"


def tau_cure(tau: float | None, *, ess: float, at: Thresholds = DEFAULTS) -> str:
    """What lets more than one hypothesis count; empty where they do, and where there is no tau."""
    return _larger(tau) if tau is not None and _is_below(ess, at.one_voice) else ""


def _larger(tau: float) -> str:
    return f"A larger τ than {number(tau, 3)} would let more hypotheses count (--tau; under More options)."


# Proposals


def acceptance_sentence(accepted: int, judged: int) -> str:
    """`75 % accepted: six of eight changes survived the filter.`"""
    if judged == 0:
        return "No change has been judged yet."
    return (
        f"{percent(accepted / judged)} accepted: "
        f"{in_words(accepted) if accepted else 'none'} of {_changes(judged)} survived the filter."
    )


def acceptance_verdict(accepted: int, judged: int, *, at: Thresholds = DEFAULTS) -> str:
    """`Few survive: the sentences hardly move.`; empty where the share is neither low nor high."""
    if judged < at.few_judged:
        return "Too few to judge the filter by."
    if _is_below(accepted / judged, at.low_acceptance):
        return "Few survive: the sentences hardly move."
    if _is_below(at.high_acceptance, accepted / judged):
        return "Nearly all survive: the filter hardly filters."
    return ""


def taken_sentence(taken: int) -> str:
    """For methods that judge no proposal: `No filter: all eight changes were taken.`"""
    if taken == 0:
        return "No filter: no change has been taken yet."
    return f"No filter: {'the one change was' if taken == 1 else f'all {in_words(taken)} changes were'} taken."


def _changes(n: int) -> str:
    return f"{in_words(n)} {'change' if n == 1 else 'changes'}"


# Answers


def abstention_verdict(silent: int, asked: int, *, at: Thresholds = DEFAULTS) -> str:
    """Whether unreadable answers are many. asked: at least 1."""
    if not silent:
        return "Every answer could be read."
    share = percent(silent / asked)
    if not _is_below(silent / asked, at.abstained):
        return f"{share} could not be read: read the raw answers before you trust the rest."
    return f"{share} could not be read; without a vote, and without a share in a mean."


def too_few_words(n: int, *, at: Thresholds = DEFAULTS) -> str:
    """That little can be concluded from n test rows; empty where there are enough."""
    few = f"{counted(n, 'test row')} {'is' if n == 1 else 'are'} too few to judge by: fewer than"
    return f"{few} {integer(at.few_rows)}." if n < at.few_rows else ""


def entropy_verdict(bits: float) -> str:
    """The vote between two answers that is as divided: `As divided as a vote of 0.99 to 0.01.`"""
    if bits == 0:
        return "Unanimous: no row is divided."
    if bits > 1 - EQUAL:
        how = "More divided than" if bits > 1 + EQUAL else "As divided as"
        return f"{how} an even split in two."
    lighter = _share_of_entropy(bits)
    if lighter < 0.0005:
        return "Less divided than a vote of 0.999 to 0.001."
    return f"As divided, on average, as a vote of {fixed(1 - lighter, 3)} to {fixed(lighter, 3)}."


def _share_of_entropy(bits: float) -> float:
    """The lighter of two shares whose entropy this is, by bisection. bits: between 0 and 1."""
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        entropy = -middle * math.log2(middle) - (1 - middle) * math.log2(1 - middle)
        low, high = (middle, high) if entropy < bits else (low, middle)
    return high


# Numbers


def miss_verdict(mse: float, truths: Sequence[float]) -> str:
    """A typical miss beside how far the truths lie apart. truths: at least one."""
    miss, apart = math.sqrt(mse), pstdev(truths)
    own, other = number(miss, 3), number(apart, 3)
    if own == other:
        return f"A typical miss is {own}; the best single number for every row misses by as much."
    always = "the same number for every row would miss by" if miss < apart else "the best single number misses by only"
    return f"A typical miss is {own}; {always} {other}."


def spread_verdict(spread: float, mse: float, tau: float | None = None) -> str:
    """Whether the particles differ by more or less than their mean is off, and where by far less, the cure.

    tau: where it decides weights.
    """
    miss = math.sqrt(mse)
    if spread == miss == 0:
        return "No spread and no miss: they agree, and they are right."
    if spread < miss:
        cure = f" {_larger(tau)}" if tau is not None and _is_below(spread, FAR_BELOW * miss) else ""
        below = f"Below a typical miss, {number(miss, 3)}"
        return f"{below}: they agree more than they are right, or the rest is noise.{cure}"
    return f"Not below a typical miss, {number(miss, 3)}: they disagree at least as much as they are wrong."


def follows_verdict(rho: float, n: int, *, at: Thresholds = DEFAULTS) -> str:
    """Whether a wide spread goes with a large error, as far as n rows, at least one, can tell."""
    # Under no link rho has a standard deviation of nearly 1 / sqrt(n).
    noise = 2 / math.sqrt(n)
    if _is_below(abs(rho), noise) and _is_below(at.follows_little, noise):
        return f"Too few rows to tell: chance alone can reach {fixed(min(noise, 1))} on {integer(n)}."
    if not _is_below(rho, at.follows):
        return "Where the answers spread, the mean is further off."
    if not _is_below(rho, at.follows_little):
        return "Where the answers spread, the mean is a little further off."
    return "The spread does not tell where the mean is far off."


# Two runs


def chance_verdict(p: float, *, at: Thresholds = DEFAULTS) -> str:
    """Whether a difference is more than an even coin would make."""
    return "more than chance on these rows" if _is_below(p, at.chance) else "no more than chance on these rows"
