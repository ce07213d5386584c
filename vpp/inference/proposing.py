"""Asking the optimizer for a particle's next text."""

from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Row
from vpp.events import Proposed
from vpp.hypothesis import hypothesis_id
from vpp.inference.population import Particle
from vpp.problem import Exchange, Prediction, Problem, Proposal
from vpp.randomness import call_seed, rng
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposal beside the particle it would replace."""

    step: int
    slot: int
    parent: Particle
    proposal: Proposal
    origin: Literal["refined", "prior"]
    exchange: Exchange | None
    """What the optimizer is reminded of next time, where it refined."""

    @property
    def text(self) -> str | None:
        """The new text; None where there is none, or where it is the parent's."""
        return None if self.proposal.text == self.parent.text else self.proposal.text

    def kept(self) -> Proposed:
        """The event where there is no new text to decide on."""
        return self.event(accepted=False, why="unparsable" if self.proposal.text is None else "unchanged")

    def event(
        self,
        *,
        accepted: bool,
        why: Literal["likelihood", "taken", "unchanged", "unparsable"],
        log_likelihood: float | None = None,
        log_likelihood_proposal: float | None = None,
        log_alpha: float | None = None,
        u: float | None = None,
        unanswered: int = 0,
        log_likelihood_bound: float | None = None,
    ) -> Proposed:
        """What was decided, with the arithmetic where there was any."""
        text = self.proposal.text
        return Proposed(
            step=self.step,
            particle=self.slot,
            parent=self.parent.id,
            proposal=None if text is None else hypothesis_id(text),
            text=text,
            raw=self.proposal.raw,
            temperature=self.proposal.temperature,
            accepted=accepted,
            why=why,
            reason=self.proposal.reason,
            log_likelihood=log_likelihood,
            log_likelihood_proposal=log_likelihood_proposal,
            log_alpha=log_alpha,
            u=u,
            unanswered=unanswered,
            log_likelihood_bound=log_likelihood_bound,
            origin=self.origin,
            shown=self.proposal.shown,
            thoughts=self.proposal.thoughts,
            refused=self.proposal.refused,
        )


async def propose(
    problem: Problem,
    config: Config,
    slot: int,
    particle: Particle,
    batch: tuple[Row, ...],
    *,
    step: int,
    temperature: float,
) -> Candidate:
    """theta~ <- f_opt(theta, {x_m, y^_m, y_m}), or afresh from the prior; the seed is addressed by step and slot.

    Whether it is drawn afresh depends on the address alone, never on the particle.
    """
    seed = call_seed(problem.seed, "propose", step, slot)
    if config.is_filtered and rng(config.seed, "restart", step, slot).random() < config.restart:
        drawn = await problem.optimizer.draw(temperature=config.prior_temperature, seed=seed)
        return Candidate(step=step, slot=slot, parent=particle, proposal=drawn, origin="prior", exchange=None)
    predictions = await predictions_on(problem, particle, batch)
    proposal = await problem.optimizer.propose(
        particle.text,
        batch,
        predictions,
        temperature=temperature,
        seed=seed,
        history=(particle.exchange,) if particle.exchange else (),
    )
    exchange = particle.exchange
    if config.history and proposal.text is not None:
        exchange = Exchange(
            step=step,
            slot=slot,
            hypothesis=particle.text,
            rows=batch[: proposal.shown],
            predictions=predictions[: proposal.shown],
            raw=proposal.raw,
        )
    return Candidate(step=step, slot=slot, parent=particle, proposal=proposal, origin="refined", exchange=exchange)


async def predictions_on(problem: Problem, particle: Particle, batch: tuple[Row, ...]) -> tuple[Prediction, ...]:
    """The particle's answers to the batch: known where the rows last scored hold it, else asked for."""
    known = {prediction.row: prediction for prediction in particle.predictions}
    if all(row.id in known for row in batch):
        return tuple(known[row.id] for row in batch)
    return await problem.learner.predict(particle.text, batch)
