"""Asking the optimizer for a particle's next text."""

from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Row
from vpp.events import Proposed
from vpp.hypothesis import hypothesis_id
from vpp.inference.population import Particle
from vpp.problem import Prediction, Problem, Proposal
from vpp.randomness import call_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposal beside the particle it would replace."""

    step: int
    slot: int
    parent: Particle
    proposal: Proposal

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
        )


async def propose(
    problem: Problem,
    slot: int,
    particle: Particle,
    batch: tuple[Row, ...],
    predictions: tuple[Prediction, ...],
    *,
    step: int,
    temperature: float,
) -> Candidate:
    """theta~ <- f_opt(theta, {x_m, y^_m, y_m}); the call's seed is addressed by step and slot."""
    seed = call_seed(problem.seed, "propose", step, slot)
    proposal = await problem.optimizer.propose(particle.text, batch, predictions, temperature=temperature, seed=seed)
    return Candidate(step=step, slot=slot, parent=particle, proposal=proposal)
