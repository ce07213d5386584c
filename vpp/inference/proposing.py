"""Proposals: the optimizer rewrites a hypothesis (Algorithm 1, line 6; Algorithm 2, line 13)."""

from dataclasses import dataclass
from typing import Literal

from vpp.events import Proposed, hypothesis_id
from vpp.inference.population import Chain
from vpp.problem import Exchange, Prediction, Proposal
from vpp.randomness import call_seed, rng


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposal theta~ beside the particle theta that it would replace."""

    chain: Chain
    """The chain with theta, the parent."""
    proposal: Proposal
    origin: Literal["refined", "prior"]
    exchange: Exchange | None
    """The exchange that the optimizer is shown next time; None after a draw from the prior."""

    @property
    def text(self) -> str | None:
        """The new text; None if the answer could not be read or repeats the parent's text."""
        return None if self.proposal.text == self.chain.particle.text else self.proposal.text

    def kept(self) -> Proposed:
        """The event of a proposal without a new text: the parent stays."""
        return self.event(accepted=False, why="unparsable" if self.proposal.text is None else "unchanged")

    def taken(self) -> Proposed:
        """The event of a method without an accept step: a new text replaces the parent's."""
        return self.kept() if self.text is None else self.event(accepted=True, why="taken")

    def event(self, *, accepted: bool, why: Literal["likelihood", "taken", "unchanged", "unparsable"]) -> Proposed:
        """The decision, without the numbers of an accept step."""
        text = self.proposal.text
        return Proposed(
            step=self.chain.step,
            particle=self.chain.slot,
            parent=self.chain.particle.id,
            proposal=None if text is None else hypothesis_id(text),
            text=text,
            raw=self.proposal.raw,
            temperature=self.proposal.temperature,
            accepted=accepted,
            why=why,
            reason=self.proposal.reason,
            origin=self.origin,
            shown=self.proposal.shown,
            thoughts=self.proposal.thoughts,
            refused=self.proposal.refused,
        )


async def propose(chain: Chain, *, temperature: float) -> Candidate:
    """theta~ <- f_opt(theta, {x_m, y^_m, y_m}), or a fresh draw from the prior with probability `restart`.

    Both the seed of the call and the choice of a draw depend on step and slot alone, never on the particle.
    temperature: the optimizer's sampling temperature.
    """
    problem, config, particle, batch = chain.problem, chain.config, chain.particle, chain.batch
    seed = call_seed(problem.seed, "propose", chain.step, chain.slot)
    if config.is_filtered and rng(config.seed, "restart", chain.step, chain.slot).random() < config.restart:
        drawn = await problem.optimizer.draw(temperature=config.prior_temperature, seed=seed)
        return Candidate(chain=chain, proposal=drawn, origin="prior", exchange=None)
    predictions = await predictions_on(chain)
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
            step=chain.step,
            slot=chain.slot,
            hypothesis=particle.text,
            rows=batch[: proposal.shown],
            predictions=predictions[: proposal.shown],
            raw=proposal.raw,
        )
    return Candidate(chain=chain, proposal=proposal, origin="refined", exchange=exchange)


async def predictions_on(chain: Chain) -> tuple[Prediction, ...]:
    """(M,) y^_m of the particle on the batch: known if the rows last scored include the batch, else asked for."""
    known = {prediction.row: prediction for prediction in chain.particle.predictions}
    if all(row.id in known for row in chain.batch):
        return tuple(known[row.id] for row in chain.batch)
    return await chain.problem.learner.predict(chain.particle.text, chain.batch)
