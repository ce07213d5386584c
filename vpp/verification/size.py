"""K: whether it grows or shrinks where the signs have lasted, and who comes or stays."""

import math
from dataclasses import dataclass, replace

import numpy as np

from vpp.events import StepFinished
from vpp.inference.plan import PATIENCE, affordable_size
from vpp.posterior.tempering import log_mean_weight
from vpp.posterior.weights import ess, normalise
from vpp.randomness import rng
from vpp.verification.beginning import check_drawn, temperatures
from vpp.verification.chapters import Chapter
from vpp.verification.ground import Ground
from vpp.verification.ledger import At, Ledger
from vpp.verification.slots import Slot, Slots
from vpp.verification.weighing import check_resampled


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """The particles at a step's end, and how long the signs have lasted."""

    slots: Slots
    few_for: int = 0
    agreed_for: int = 0


def resized(ground: Ground, chapter: Chapter, slots: Slots, before: StepFinished) -> Resized:
    """As what is told leaves them."""
    if not ground.config.particles_max:
        return Resized(slots=slots, few_for=before.few_for, agreed_for=before.agreed_for)
    signs = _signs(ground, slots, before)
    action = _action(ground, chapter.step, signs)
    if chapter.shrunk:
        kept = [a for a in chapter.shrunk.event.ancestors if 0 <= a < len(slots)]
        return replace(signs, slots=tuple(replace(slots[a], log_weight=0.0) for a in kept), agreed_for=0)
    if chapter.drawn:
        slots = (*slots, *_newcomers(chapter, slots))
    return replace(signs, slots=slots, few_for=0 if action == "grow" else signs.few_for)


def check_size(ground: Ground, chapter: Chapter, slots: Slots, ledger: Ledger) -> None:
    """That K changed where it had to, as it had to, and nowhere else. slots: before."""
    config, before = ground.config, chapter.before
    if before is None:
        return
    signs = _signs(ground, slots, before) if config.particles_max else Resized(slots=slots)
    action = _action(ground, chapter.step, signs) if config.particles_max else ""
    shrunk_size = max(config.particles_min, math.ceil(len(slots) / 2))
    is_shrinking = action == "shrink" and shrunk_size < len(slots)
    is_growing = action == "grow" and _grown_size(ground, len(slots)) > len(slots)
    if chapter.shrunk or (is_shrinking and chapter.is_whole):
        at = At(line=chapter.shrunk.line, step=chapter.step) if chapter.shrunk else chapter.at()
        ledger.compare("size", at, "K shrinks", written=bool(chapter.shrunk), follows=is_shrinking)
    if chapter.shrunk and is_shrinking:
        u = float(rng(config.seed, "resize", chapter.step).random())
        weights = tuple(normalise([p.log_weight for p in slots]).tolist())
        check_resampled(chapter.shrunk, weights, u=u, size=shrunk_size, ledger=ledger)
    if chapter.is_whole and config.particles_max:
        newcomers = range(len(slots), _grown_size(ground, len(slots)) if is_growing else len(slots))
        ledger.compare("size", chapter.at(), "newcomers", written=sorted(chapter.drawn), follows=list(newcomers))
    _check_newcomers(ground, chapter, ledger)


def _check_newcomers(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    drawn = [chapter.drawn[k] for k in sorted(chapter.drawn)]
    for told, temperature in zip(drawn, temperatures(ground.config, len(drawn)), strict=True):
        check_drawn(ground, told, temperature, ledger)


def _newcomers(chapter: Chapter, slots: Slots) -> Slots:
    """They count as the average particle until they are weighed."""
    average = log_mean_weight([p.log_weight for p in slots])
    drawn = sorted(chapter.drawn.items())
    return tuple(Slot(hypothesis=told.event.hypothesis, parent=k, log_weight=average) for k, told in drawn)


def _signs(ground: Ground, slots: Slots, before: StepFinished) -> Resized:
    """How many steps in a row all agree, or texts or ESS are few, this one included."""
    copied = any(p.parent != k for k, p in enumerate(slots))  # copies agree without saying so
    agreed = not copied and _agree(ground, slots, before.tau)
    few = not agreed and _is_few(ground, slots, copied=copied)
    return Resized(
        slots=slots,
        few_for=before.few_for + 1 if few else 0,
        agreed_for=before.agreed_for + 1 if agreed else 0,
    )


def _agree(ground: Ground, slots: Slots, tau: float | None) -> bool:
    """Whether all answered the rows last scored alike, and err no more than the likelihood's own noise allows."""
    if len({p.said for p in slots}) != 1 or not slots[0].said:
        return False
    rows = ground.rows_of(slots[0].rows)
    if rows is None:
        return False
    likelihood = ground.likelihood(tau)
    terms = likelihood.terms(slots[0].said, [row.target for row in rows])
    return float(np.mean(terms)) >= likelihood.usual_term


def _is_few(ground: Ground, slots: Slots, *, copied: bool) -> bool:
    config = ground.config
    n_unique = len({p.hypothesis for p in slots})
    weights = normalise([p.log_weight for p in slots])
    low = config.is_weighted and (copied or ess(weights) < config.ess_threshold * len(slots))
    return 2 * n_unique <= len(slots) or low


def _action(ground: Ground, step: int, signs: Resized) -> str:
    """What the signs ask for; the last step leaves K alone."""
    if step + 1 >= ground.problem.steps:
        return ""
    if signs.agreed_for >= PATIENCE:
        return "shrink"
    return "grow" if signs.few_for >= PATIENCE else ""


def _grown_size(ground: Ground, size: int) -> int:
    """Twice as many, within the largest K and the budget of calls for a whole run."""
    config = ground.config
    wanted = min(2 * size, config.particles_max)
    if not config.growth_budget:
        return max(size, wanted)
    n_train, n_test = len(ground.dataset.train), len(ground.dataset.test)
    return max(size, affordable_size(config, wanted, n_train=n_train, n_test=n_test))
