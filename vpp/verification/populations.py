"""Populations derived from the recorded events, phase by phase; changes of K; checks of a step's end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vpp.events import ParticleState, StepFinished, Votes
from vpp.inference.plan import PATIENCE, affordable_size
from vpp.posterior.tempering import log_mean_weight
from vpp.posterior.weights import ess, normalise
from vpp.randomness import rng
from vpp.settings import Config
from vpp.verification.inputs import RunInputs, check_drawn, ids, temperatures
from vpp.verification.ledger import At, Ledger
from vpp.verification.segments import Segment
from vpp.verification.weights import check_resampled, exponent_of, log_likelihoods


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One particle, as derived from the recorded events."""

    hypothesis: str
    parent: int
    log_likelihood: float | None = None
    log_weight: float = 0.0
    exchange: tuple[int, int] | None = None
    rows: tuple[int, ...] = ()
    """Ids of the rows that it was last scored on."""
    answers: Votes | None = None
    """Its answers to them; None if not recorded."""

    @property
    def state(self) -> ParticleState:
        """State that step_finished records."""
        return ParticleState(
            hypothesis=self.hypothesis,
            parent=self.parent,
            log_likelihood=self.log_likelihood,
            log_weight=self.log_weight,
            exchange=self.exchange,
        )


Slots = tuple[Slot, ...]


def initial_slots(states: Sequence[ParticleState]) -> Slots:
    """Slots at the beginning of a step, from the population of the step before."""
    return tuple(
        Slot(
            hypothesis=state.hypothesis,
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
            exchange=state.exchange,
        )
        for state in states
    )


def scored(slots: Slots, segment: Segment) -> Slots:
    """Slots after scoring; a particle without a recorded score has no log-likelihood."""

    def with_score(slot: int, particle: Slot) -> Slot:
        recorded = segment.scored.get(slot)
        if recorded is None:
            return replace(particle, log_likelihood=None)
        event = recorded.event
        return replace(particle, log_likelihood=event.log_likelihood, rows=event.rows, answers=event.predictions)

    return tuple(with_score(k, particle) for k, particle in enumerate(slots))


def selected(slots: Slots, segment: Segment, config: Config) -> Slots:
    """Slots after weighing and resampling: text, answers and log-likelihood are the ancestor's."""
    if not config.is_weighted:
        return tuple(replace(particle, parent=k) for k, particle in enumerate(slots))
    log_w = segment.reweighted.event.log_weights if segment.reweighted else ()
    weighed = tuple(
        replace(particle, parent=k, log_weight=log_w[k] if k < len(log_w) else particle.log_weight)
        for k, particle in enumerate(slots)
    )
    if segment.resampled is None:
        return weighed
    ancestors = [a for a in segment.resampled.event.ancestors if 0 <= a < len(weighed)]
    return tuple(replace(weighed[a], parent=a, log_weight=0.0) for a in ancestors)


def mutated(slots: Slots, segment: Segment, config: Config) -> Slots:
    """Slots after mutation."""
    return tuple(_mutated(k, particle, segment, config) for k, particle in enumerate(slots))


def _mutated(slot: int, particle: Slot, segment: Segment, config: Config) -> Slot:
    recorded = segment.proposed.get(slot)
    if recorded is None:
        return particle if config.is_weighted else _without_score(particle)
    event = recorded.event
    # The exchange is the optimizer's memory of the particle's last refinement.
    refined = event.origin == "refined"
    remembers = config.history > 0 and refined and event.text is not None
    exchange = (segment.step, slot) if remembers else particle.exchange if refined else None
    after = replace(particle, exchange=exchange or particle.exchange)
    if event.accepted and event.proposal is not None:
        after = replace(particle, hypothesis=event.proposal, exchange=exchange)
        score = segment.proposal_scores.get(slot)
        if event.why == "likelihood" and score is not None:
            # VPP-SMC keeps the ancestor's log-likelihood; carried weights belong to the accepted text.
            log_lik = score.event.log_likelihood if config.is_telescoping else particle.log_likelihood
            after = replace(after, log_likelihood=log_lik, rows=score.event.rows, answers=score.event.predictions)
    return after if config.is_weighted else _without_score(after)


def _without_score(particle: Slot) -> Slot:
    """Drop the log-likelihood: a chain's belongs to one batch."""
    return replace(particle, log_likelihood=None, log_weight=0.0)


def derived_slots(inputs: RunInputs, segment: Segment) -> Slots | None:
    """Derive the step's particles before K changes; None if the population before the step is not recorded."""
    if segment.before is None:
        return None
    config = inputs.config
    return mutated(
        selected(scored(initial_slots(segment.before.population), segment), segment, config), segment, config
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """Particles at a step's end, and the lengths of the current streaks of signs."""

    slots: Slots
    few_for: int = 0
    """Steps in a row with too few distinct texts or a low ESS."""
    agreed_for: int = 0
    """Steps in a row in which all texts agreed."""


def resized(inputs: RunInputs, segment: Segment, slots: Slots, before: StepFinished) -> Resized:
    """Derive the particles after K grew or shrank, from the recorded events."""
    if not inputs.config.particles_max:
        return Resized(slots=slots, few_for=before.few_for, agreed_for=before.agreed_for)
    signs = _signs(inputs, slots, before)
    action = _action(inputs, segment.step, signs)
    if segment.shrunk:
        ancestors = [a for a in segment.shrunk.event.ancestors if 0 <= a < len(slots)]
        return replace(signs, slots=tuple(replace(slots[a], log_weight=0.0) for a in ancestors), agreed_for=0)
    if segment.drawn:
        slots = (*slots, *_newcomers(segment, slots))
    return replace(signs, slots=slots, few_for=0 if action == "grow" else signs.few_for)


def check_size(inputs: RunInputs, segment: Segment, slots: Slots, ledger: Ledger) -> None:
    """Check that K changed exactly when and as it had to. slots: before the change."""
    config, before = inputs.config, segment.before
    if before is None:
        return
    signs = _signs(inputs, slots, before) if config.particles_max else Resized(slots=slots)
    action = _action(inputs, segment.step, signs) if config.particles_max else ""
    shrunk_size = max(config.particles_min, math.ceil(len(slots) / 2))
    is_shrinking = action == "shrink" and shrunk_size < len(slots)
    is_growing = action == "grow" and _grown_size(inputs, len(slots)) > len(slots)
    if segment.shrunk or (is_shrinking and segment.is_finished):
        at = At(line=segment.shrunk.line, step=segment.step) if segment.shrunk else segment.at()
        ledger.compare("size", at, "K shrinks", written=bool(segment.shrunk), follows=is_shrinking)
    if segment.shrunk and is_shrinking:
        u = float(rng(config.seed, "resize", segment.step).random())
        weights = tuple(normalise([p.log_weight for p in slots]).tolist())
        check_resampled(segment.shrunk, weights, u=u, size=shrunk_size, ledger=ledger)
    if segment.is_finished and config.particles_max:
        newcomers = range(len(slots), _grown_size(inputs, len(slots)) if is_growing else len(slots))
        ledger.compare("size", segment.at(), "newcomers", written=sorted(segment.drawn), follows=list(newcomers))
    _check_newcomers(inputs, segment, ledger)


def _check_newcomers(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    drawn = [segment.drawn[k] for k in sorted(segment.drawn)]
    for recorded, temperature in zip(drawn, temperatures(inputs.config, len(drawn)), strict=True):
        check_drawn(inputs, recorded, temperature, ledger)


def _newcomers(segment: Segment, slots: Slots) -> Slots:
    """Newcomers, with the average weight until they are weighed."""
    average = log_mean_weight([p.log_weight for p in slots])
    drawn = sorted(segment.drawn.items())
    return tuple(Slot(hypothesis=recorded.event.hypothesis, parent=k, log_weight=average) for k, recorded in drawn)


def _signs(inputs: RunInputs, slots: Slots, before: StepFinished) -> Resized:
    """Update the streaks of signs by this step."""
    copied = any(p.parent != k for k, p in enumerate(slots))  # copies agree trivially
    agreed = not copied and _agree(inputs, slots, before.tau)
    few = not agreed and _is_few(inputs, slots, copied=copied)
    return Resized(
        slots=slots,
        few_for=before.few_for + 1 if few else 0,
        agreed_for=before.agreed_for + 1 if agreed else 0,
    )


def _agree(inputs: RunInputs, slots: Slots, tau: float | None) -> bool:
    """True if all answers to the rows last scored are equal, with errors within the likelihood's noise."""
    if len({p.answers for p in slots}) != 1 or not slots[0].answers:
        return False
    rows = inputs.rows_of(slots[0].rows)
    if rows is None:
        return False
    likelihood = inputs.likelihood(tau)
    terms = likelihood.terms(slots[0].answers, [row.target for row in rows])
    return float(np.mean(terms)) >= likelihood.usual_term


def _is_few(inputs: RunInputs, slots: Slots, *, copied: bool) -> bool:
    config = inputs.config
    n_unique = len({p.hypothesis for p in slots})
    weights = normalise([p.log_weight for p in slots])
    low = config.is_weighted and (copied or ess(weights) < config.ess_threshold * len(slots))
    return 2 * n_unique <= len(slots) or low


def _action(inputs: RunInputs, step: int, signs: Resized) -> str:
    """Change of K that the streaks require: grow, shrink or none; the last step never changes K."""
    if step + 1 >= inputs.problem.steps:
        return ""
    if signs.agreed_for >= PATIENCE:
        return "shrink"
    return "grow" if signs.few_for >= PATIENCE else ""


def _grown_size(inputs: RunInputs, size: int) -> int:
    """Twice the size, within the largest K and the run's growth budget."""
    config = inputs.config
    wanted = min(2 * size, config.particles_max)
    if not config.growth_budget:
        return max(size, wanted)
    n_train, n_test = len(inputs.dataset.train), len(inputs.dataset.test)
    return max(size, affordable_size(config, wanted, n_train=n_train, n_test=n_test))


def check_first_population(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check the initial population against the drawn hypotheses."""
    recorded = segment.finished
    if recorded is None:
        return
    at = At(line=recorded.line, step=segment.step)
    slots = tuple(Slot(hypothesis=draw.event.hypothesis, parent=k) for k, draw in sorted(segment.drawn.items()))
    _check_slots(recorded.event, slots, recorded.line, ledger)
    ledger.compare("rows", at, "batch", written=recorded.event.batch, follows=())
    _check_carried(inputs, recorded.event, ledger, at, exponent=0.0, log_evidence=0.0)
    _check_signs(inputs, recorded.event, ledger, at, few_for=0, agreed_for=0)


def check_population(inputs: RunInputs, segment: Segment, slots: Slots | None, ledger: Ledger) -> None:
    """Check the population at a step's end. slots: before K changes; None if they cannot be derived."""
    recorded, before = segment.finished, segment.before
    if recorded is None:
        return
    at = At(line=recorded.line, step=segment.step)
    ledger.compare("rows", at, "batch", written=recorded.event.batch, follows=ids(inputs.problem.batch(segment.step)))
    if before is None or slots is None:
        ledger.skip("the population of a step: the one before it is not recorded")
        return
    after = resized(inputs, segment, slots, before)
    _check_slots(recorded.event, after.slots, recorded.line, ledger)
    is_counted = before.tau is not None
    ledger.compare("tau", at, "tau", written=recorded.event.tau, follows=before.tau, is_counted=is_counted)
    exponent, log_evidence = _carried(inputs, segment, before)
    _check_carried(inputs, recorded.event, ledger, at, exponent=exponent, log_evidence=log_evidence)
    _check_signs(inputs, recorded.event, ledger, at, few_for=after.few_for, agreed_for=after.agreed_for)


def _check_slots(event: StepFinished, slots: Slots, line: int, ledger: Ledger) -> None:
    at = At(line=line, step=event.step)
    ledger.compare("populations", at, "K", written=len(event.population), follows=len(slots))
    for k, (state, slot) in enumerate(zip(event.population, slots, strict=False)):
        follows, here = slot.state, At(line=line, step=event.step, slot=k)
        for name in ("hypothesis", "parent", "log_likelihood", "log_weight", "exchange"):
            written = getattr(state, name)
            ledger.compare("populations", here, name, written=written, follows=getattr(follows, name))


def _carried(inputs: RunInputs, segment: Segment, before: StepFinished) -> tuple[float, float]:
    """(exponent, log evidence up to the last resampling)."""
    reweighted = segment.reweighted
    if not inputs.config.is_telescoping or reweighted is None:
        return before.exponent, before.log_evidence
    log_lik = log_likelihoods(segment)
    exponent = 1 / reweighted.event.beta if log_lik is None else exponent_of(inputs, before, log_lik, step=segment.step)
    gained = log_mean_weight(reweighted.event.log_weights) if segment.resampled else 0.0
    return exponent, before.log_evidence + gained


def _check_carried(
    inputs: RunInputs, event: StepFinished, ledger: Ledger, at: At, *, exponent: float, log_evidence: float
) -> None:
    is_counted = inputs.config.is_telescoping
    ledger.compare("tempering", at, "exponent", written=event.exponent, follows=exponent, is_counted=is_counted)
    written = event.log_evidence
    ledger.compare("evidence", at, "log_evidence", written=written, follows=log_evidence, is_counted=is_counted)


def _check_signs(
    inputs: RunInputs, event: StepFinished, ledger: Ledger, at: At, *, few_for: int, agreed_for: int
) -> None:
    is_counted = inputs.config.particles_max > 0
    ledger.compare("size", at, "few_for", written=event.few_for, follows=few_for, is_counted=is_counted)
    ledger.compare("size", at, "agreed_for", written=event.agreed_for, follows=agreed_for, is_counted=is_counted)
