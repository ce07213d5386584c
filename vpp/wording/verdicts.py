"""Verdicts on diagnostics and their thresholds. A threshold changes words only, never a run."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from statistics import pstdev
from typing import Any, Literal

from vpp.wording.words import EQUAL, counted, fixed, in_words, integer, number, percent, shortest


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Values at which a verdict changes its words. Shares are fractions."""

    one_voice: float = 1.5
    low_acceptance: float = 0.1
    high_acceptance: float = 0.9
    few_judged: int = 10
    well_backed: float = 0.95
    abstained: float = 0.05
    few_rows: int = 30
    follows: float = 0.5
    chance: float = 0.05


DEFAULTS = Thresholds()
NEARLY_ALIKE = 0.95
"""ESS as a share of K from which the weights are called nearly equal."""
FAR_BELOW = 0.5
"""A mean spread below this share of the typical miss comes with advice on tau."""


@dataclass(frozen=True, slots=True)
class Movable:
    """A threshold with the range in which a reader can move it."""

    name: str
    """Name of the field of Thresholds."""
    label: str
    least: float
    """In the unit shown."""
    most: float
    step: float
    why: str
    """Reason for the default."""
    unit: Literal["", "%"] = ""
    """`%`: the field is a fraction, shown in percent."""

    def shown(self, at: Thresholds) -> float:
        value = float(getattr(at, self.name))
        return round(100 * value, 6) if self.unit else value

    def moved(self, at: Thresholds, shown: float) -> Thresholds:
        """Set another value, rounded to the field's steps; NaN and infinity change nothing."""
        if not math.isfinite(shown):
            return at
        steps = round((min(max(shown, self.least), self.most) - self.least) / self.step)
        value = round(self.least + steps * self.step, 6)
        exact = value / 100 if self.unit else round(value) if self.is_whole else value
        changed: dict[str, Any] = {self.name: exact}
        return replace(at, **changed)

    @property
    def is_whole(self) -> bool:
        return isinstance(getattr(DEFAULTS, self.name), int)

    @property
    def default(self) -> str:
        """`95 %`, `1.5`."""
        return percent(getattr(DEFAULTS, self.name)) if self.unit else shortest(float(getattr(DEFAULTS, self.name)))


MOVABLE = (
    Movable("one_voice", "One particle holds all weight: ESS below", 1, 10, 0.1, "an ESS that rounds to one."),
    Movable(
        "low_acceptance", "Low acceptance: below, in %", 0, 50, 1,
        "with fewer than one in ten, the texts hardly change.", "%",
    ),
    Movable(
        "high_acceptance", "High acceptance: above, in %", 50, 100, 1,
        "with more than nine in ten, rejection has little effect.", "%",
    ),
    Movable(
        "few_judged", "Too few proposals: fewer than", 1, 1000, 1,
        "with fewer, one proposal more or less moves the share by over 10 points.",
    ),
    Movable(
        "well_backed", "Weakly backed: weight below, in %", 50, 100, 1,
        "from 95 % on, other answers hold at most one twentieth of the weight.", "%",
    ),
    Movable(
        "abstained", "Many abstentions: share from, in %", 0, 100, 1,
        "one unreadable answer in twenty is enough to look at the raw answers.", "%",
    ),
    Movable(
        "few_rows", "Too few test rows: fewer than", 1, 10000, 1,
        "with 30 rows, a share has an error of up to about 18 points either way.",
    ),
    Movable(
        "follows", "Spread follows error: rank correlation from", 0, 1, 0.05,
        "the usual word for a correlation of 0.5 is strong.",
    ),
    Movable(
        "chance", "Significant difference: p below", 0, 0.5, 0.01,
        "the customary level. By chance, one of twenty comparisons falls below it.",
    ),
)  # fmt: skip


def written(at: Thresholds) -> str:
    """Return the values that are not defaults for an address: `one_voice:2,few_rows:20`."""
    usual = asdict(DEFAULTS)
    return ",".join(f"{name}:{value:g}" for name, value in asdict(at).items() if value != usual[name])


def read(written_values: str) -> Thresholds:
    """Read what `written` returns; unreadable values stay at their default."""
    at, by_name = DEFAULTS, {movable.name: movable for movable in MOVABLE}
    for part in written_values.split(","):
        name, _, value = part.partition(":")
        if name in by_name:
            with suppress(ValueError):
                at = by_name[name].moved(at, float(value) * (100 if by_name[name].unit else 1))
    return at


def defaults_sentence() -> str:
    parts = "; ".join(f"{movable.label[0].lower()}{movable.label[1:]} {movable.default}" for movable in MOVABLE)
    return f"Verdicts use the default thresholds, which you can move in the app: {parts.replace(', in %', '')}."


def _is_below(value: float, threshold: float) -> bool:
    """True if a value is below by more than a rounding error: 7 of 100 are not below 7 %."""
    return value < threshold - EQUAL


# Weights


def ess_sentence(
    ess: float, size: int, threshold: float | None = None, *, n_texts: int = 0, at: Thresholds = DEFAULTS
) -> str:
    """`ESS 5.8 of 10: about six particles carry the weight, with two different sentences.`

    ess: between 1 and `size`, the number of particles. threshold: the fraction of `size` below which the population
    is resampled; None if no resampling follows. n_texts: what `texts_of_weight` returns.
    """
    resampling = threshold is not None and size > 1 and ess < threshold * size
    shown = shortest(round(ess)) if math.isclose(ess, round(ess), abs_tol=EQUAL) else f"{ess:.1f}"
    copies = f", {'all copies of one sentence' if n_texts == 1 else f'with {in_words(n_texts)} different sentences'}"
    words = f"{_carriers(ess, size, at)}{copies if n_texts and not _is_below(ess, at.one_voice) else ''}"
    return f"ESS {shown} of {size}: {words}{'; resampling next' if resampling else ''}."


def texts_of_weight(texts: Sequence[str], weights: Sequence[float], ess: float) -> int:
    """Count the distinct texts of the ESS heaviest particles; 0 if none of these repeats another's.

    texts, weights: (K,) by slot, K at least 1.
    """
    n = max(1, round(ess))
    least = sorted(weights, reverse=True)[n - 1]
    distinct = len({text for text, weight in zip(texts, weights, strict=True) if weight >= least})
    return distinct if distinct < n else 0


def _carriers(ess: float, size: int, at: Thresholds) -> str:
    if size == 1:
        return "there is only one particle"
    if _is_below(ess, at.one_voice):
        return "one particle holds nearly all weight"
    if not _is_below(ess, NEARLY_ALIKE * size):
        equal = math.isclose(ess, size, abs_tol=1e-6)
        every = "both" if size == 2 else f"all {in_words(size)}"
        return f"{every} particles have {'' if equal else 'nearly '}equal weight"
    return f"about {in_words(max(2, round(ess)))} particles carry the weight"


def tau_advice(tau: float | None, *, ess: float, at: Thresholds = DEFAULTS) -> str:
    """Advise a larger tau if one particle holds nearly all weight; else empty. tau: None if the run has none."""
    return _larger(tau) if tau is not None and _is_below(ess, at.one_voice) else ""


def _larger(tau: float) -> str:
    return f"A larger τ than {number(tau, 3)} would let more hypotheses count (--tau; under More options)."


# Proposals


def acceptance_sentence(accepted: int, judged: int) -> str:
    """`75 % accepted: six of eight proposals.`"""
    if judged == 0:
        return "No proposal has been judged yet."
    n_accepted = in_words(accepted) if accepted else "none"
    proposals = "proposal" if judged == 1 else "proposals"
    return f"{percent(accepted / judged)} accepted: {n_accepted} of {in_words(judged)} {proposals}."


def acceptance_verdict(accepted: int, judged: int, *, at: Thresholds = DEFAULTS) -> str:
    """`Low acceptance: the texts hardly change.`; empty if the share is neither low nor high."""
    if judged < at.few_judged:
        return "Too few proposals for a verdict."
    if _is_below(accepted / judged, at.low_acceptance):
        return "Low acceptance: the texts hardly change."
    if _is_below(at.high_acceptance, accepted / judged):
        return f"Acceptance near {percent(1)}: rejection has little effect."
    return ""


# Answers


def abstention_verdict(silent: int, asked: int, *, at: Thresholds = DEFAULTS) -> str:
    """Judge the share of unreadable answers. asked: at least 1."""
    if not silent:
        return "Every answer could be read."
    share = percent(silent / asked)
    if not _is_below(silent / asked, at.abstained):
        return f"{share} could not be read: look at the raw answers before you trust the rest."
    return f"{share} could not be read; these have no vote and no share in a mean."


def too_few_words(n: int, *, at: Thresholds = DEFAULTS) -> str:
    few = f"{counted(n, 'test row')} {'is' if n == 1 else 'are'} too few for a verdict: fewer than"
    return f"{few} {integer(at.few_rows)}." if n < at.few_rows else ""


def entropy_verdict(bits: float) -> str:
    """Compare with a vote between two answers: `As divided, on average, as a vote of 0.990 to 0.010.`"""
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
    """Find the smaller of two shares with this entropy, by bisection. bits: between 0 and 1."""
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        entropy = -middle * math.log2(middle) - (1 - middle) * math.log2(1 - middle)
        low, high = (middle, high) if entropy < bits else (low, middle)
    return high


# Numbers


def miss_verdict(mse: float, truths: Sequence[float]) -> str:
    """Compare a typical miss with the spread of the truths. truths: at least one."""
    miss, apart = math.sqrt(mse), pstdev(truths)
    own, other = number(miss, 3), number(apart, 3)
    if own == other:
        return f"A typical miss is {own}; the best single number for every row misses by as much."
    always = "the same number for every row would miss by" if miss < apart else "the best single number misses by only"
    return f"A typical miss is {own}; {always} {other}."


def spread_verdict(spread: float, mse: float, tau: float | None = None) -> str:
    """Compare the particles' spread with their mean's error, with advice if it is far smaller.

    tau: None if it does not decide weights.
    """
    miss = math.sqrt(mse)
    if spread == miss == 0:
        return "No spread and no miss: they agree, and they are right."
    if spread < miss:
        cure = f" {_larger(tau)}" if tau is not None and _is_below(spread, FAR_BELOW * miss) else ""
        below = f"Below a typical miss, {number(miss, 3)}"
        return f"{below}: the particles agree more than they are right, or the rest is noise.{cure}"
    return f"Not below a typical miss, {number(miss, 3)}: the particles disagree at least as much as they are wrong."


def follows_verdict(rho: float, n: int, *, at: Thresholds = DEFAULTS) -> str:
    """Judge whether a wide spread goes with a large error. n: rows, at least one."""
    # Under no link rho has a standard deviation of nearly 1 / sqrt(n).
    noise = 2 / math.sqrt(n)
    if _is_below(abs(rho), noise):
        return f"No clear link: chance alone can reach {fixed(min(noise, 1))} on {counted(n, 'row')}."
    if _is_below(rho, at.follows):
        return "The spread hardly predicts the error."
    return "The error is larger where answers spread more."


# Two runs


def chance_verdict(p: float, *, at: Thresholds = DEFAULTS) -> str:
    return "significant on these rows" if _is_below(p, at.chance) else "not significant on these rows"
