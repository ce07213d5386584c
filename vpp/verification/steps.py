"""Checks of a step: scores, weights and decisions, and the population that follows from them (Algorithms 1 and 2)."""

from collections.abc import Sequence
from dataclasses import replace

from vpp.events import ParticleState, Proposed, StepFinished, hypothesis_id
from vpp.posterior.tempering import log_mean_weight
from vpp.posterior.weights import accepts, log_acceptance, normalise
from vpp.randomness import rng
from vpp.runs.view import StepView
from vpp.settings import Config
from vpp.verification.beginning import newcomer
from vpp.verification.inputs import Run, ids
from vpp.verification.weights import check_ancestors, check_particle_scores, check_score, check_step_weights

Slots = Sequence[ParticleState]


def check_step(run: Run, before: StepFinished, at: StepView) -> None:
    """Check the events of a step. before: the end of the step before it."""
    config = run.config
    rows = run.problem.scored_rows(config, at.step)
    role = "buffer" if config.is_weighted else "forward"
    check_particle_scores(run, at.scored, before, rows=rows, role=role)
    check_step_weights(run, before, at)
    particles = _selected(_scored(before.population, at), at, config)
    for slot, proposed in at.proposed.items():
        _check_proposal(run, proposed, at, particles[slot], before)
    if at.finished:
        _check_complete(run, at.finished, at, len(before.population))
        slots = _resized(run, at, [_mutated(slot, p, at, config) for slot, p in enumerate(particles)])
        run.check(at.finished, "populations", population=slots)
        _check_carried(run, at.finished, at, before)


def _check_complete(run: Run, event: StepFinished, at: StepView, size: int) -> None:
    """Check that no line of a finished step is missing, and none superfluous."""
    judged = [slot for slot, proposed in at.proposed.items() if proposed.why == "likelihood"]
    for what, written, follows in (
        ("particles scored", sorted(at.scored), list(range(size))),
        ("lines of weights", int(at.reweighted is not None), int(run.config.is_weighted)),
        ("particles rewritten", sorted(at.proposed), [] if run.config.is_weighing else list(range(size))),
        ("proposals scored", sorted(at.proposals_scored), sorted(judged)),
    ):
        run.compare(event, "lines", what, written=written, follows=follows)


def _scored(slots: Slots, at: StepView) -> list[ParticleState]:
    scores = [at.scored.get(slot) for slot in range(len(slots))]
    return [
        replace(state, log_likelihood=score.log_likelihood if score else None)
        for state, score in zip(slots, scores, strict=True)
    ]


def _selected(slots: Slots, at: StepView, config: Config) -> list[ParticleState]:
    """Return the slots after weighing and resampling: text and log-likelihood are the ancestor's."""
    log_w = at.reweighted.log_weights if config.is_weighted and at.reweighted else [p.log_weight for p in slots]
    weighed = [replace(p, parent=slot, log_weight=log_w[slot]) for slot, p in enumerate(slots)]
    return [replace(weighed[a], log_weight=0.0) for a in at.resampled.ancestors] if at.resampled else weighed


def _mutated(slot: int, particle: ParticleState, at: StepView, config: Config) -> ParticleState:
    """Return the particle after its proposal was decided; a chain drops its log-likelihood, which is of one batch."""
    proposed, after = at.proposed.get(slot), particle
    if proposed is not None and proposed.accepted and proposed.proposal is not None:
        after = replace(after, hypothesis=proposed.proposal)
        # VPP-SMC keeps the ancestor's log-likelihood; carried weights belong to the accepted text.
        if config.is_telescoping and slot in at.proposals_scored:
            after = replace(after, log_likelihood=at.proposals_scored[slot].log_likelihood)
    return after if config.is_weighted else replace(after, log_likelihood=None, log_weight=0.0)


def _resized(run: Run, at: StepView, slots: Slots) -> Slots:
    """Return the slots after K changed as recorded; check the ancestors where it fell."""
    log_weights = [p.log_weight for p in slots]
    if at.shrunk:
        u = float(rng(run.config.seed, "resize", at.step).random())
        check_ancestors(run, at.shrunk, normalise(log_weights).tolist(), u=u)
        return [replace(slots[a], log_weight=0.0) for a in at.shrunk.ancestors]
    return [*slots, *(newcomer(event, log_mean_weight(log_weights)) for _, event in sorted(at.joined.items()))]


def _check_carried(run: Run, event: StepFinished, at: StepView, before: StepFinished) -> None:
    """Check the step's batch, and the values that pass from step to step."""
    run.check(event, "rows", batch=ids(run.problem.batch(at.step)))
    if before.tau is not None:
        run.check(event, "tau", tau=before.tau)
    if not run.config.is_telescoping:
        run.check(event, "populations", exponent=0.0, log_evidence=0.0)
    elif at.reweighted:
        run.check(event, "tempering", exponent=1 / at.reweighted.beta)
        gained = log_mean_weight(at.reweighted.log_weights) if at.resampled else 0.0
        run.check(event, "evidence", log_evidence=before.log_evidence + gained)


def _check_proposal(run: Run, event: Proposed, at: StepView, particle: ParticleState, before: StepFinished) -> None:
    """Check a proposal's id and parent, its score, and what was decided."""
    identity = None if event.text is None else hypothesis_id(event.text)
    why = _why(run.config, event, particle)
    run.check(event, "texts", proposal=identity, parent=particle.hypothesis)
    run.check(event, "decisions", why=why)
    score = at.proposals_scored.get(event.particle)
    if score:
        rows = run.problem.scored_rows(run.config, at.step)
        check_score(run, score, hypothesis=event.proposal, rows=rows, tau=before.tau)
    if why == "likelihood":
        _check_decision(run, event, at, particle)
    else:
        run.check(event, "decisions", accepted=why == "taken")


def _why(config: Config, event: Proposed, particle: ParticleState) -> str:
    if event.text is None:
        return "unparsable"
    if hypothesis_id(event.text) == particle.hypothesis:
        return "unchanged"
    return "likelihood" if config.is_filtered else "taken"


def _check_decision(run: Run, event: Proposed, at: StepView, particle: ParticleState) -> None:
    """Check an accept step (Eq. 9)."""
    score, config = at.proposals_scored.get(event.particle), run.config
    proposal = score.log_likelihood if score else None
    log_alpha = _log_alpha(at, config, particle.log_likelihood, proposal)
    u = float(rng(config.seed, "accept", at.step, event.particle).random())
    run.check(
        event,
        "decisions",
        log_likelihood=particle.log_likelihood,
        log_likelihood_proposal=proposal,
        log_alpha=log_alpha,
        u=u,
        accepted=log_alpha is not None and accepts(log_alpha, u=u),
    )


def _log_alpha(at: StepView, config: Config, old: float | None, new: float | None) -> float | None:
    """Return the log acceptance probability; None without both log-likelihoods."""
    if old is None or new is None:
        return None
    exponent = 1.0
    if config.is_telescoping and at.reweighted:
        exponent = at.finished.exponent if at.finished else 1 / at.reweighted.beta
    # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)                 (Eq. 9)
    return log_acceptance(exponent * new, exponent * old)
