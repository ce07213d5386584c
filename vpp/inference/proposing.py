"""Operations on one particle: its score (Eq. 5 and 6), a proposal, and the accept step (Eq. 9). Natural logarithms.

Algorithm 1, lines 5 to 9; Algorithm 2, lines 4 to 6 and 13.
"""

from dataclasses import dataclass, replace
from typing import Literal

from vpp.data.dataset import Row
from vpp.events import Proposed, Scored, hypothesis_id, writing_fields
from vpp.inference.population import Chain, Outcome, Particle
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.weights import accepts, log_acceptance
from vpp.problem import Prediction, Proposal, branches_of, shares_of
from vpp.randomness import call_seed, rng
from vpp.settings import PRIOR_TEMPERATURE

Role = Literal["forward", "proposal", "buffer", "final"]


async def score(chain: Chain, rows: tuple[Row, ...], *, role: Role) -> Outcome:
    """The chain's particle with its predictions y^_m on `rows` and their log-likelihood."""
    # y^_m <- f(x_m; theta)
    predictions = await chain.problem.learner.predict(chain.particle.text, rows)
    log_lik = log_likelihood(chain.likelihood, predictions, rows)
    event = Scored(
        step=chain.step,
        particle=chain.slot,
        hypothesis=chain.particle.id,
        role=role,
        rows=tuple(row.id for row in rows),
        predictions=tuple(p.value for p in predictions),
        log_likelihood=log_lik,
        shares=shares_of(predictions),
        branches=branches_of(predictions),
    )
    scored = replace(chain.particle, predictions=predictions, log_likelihood=log_lik)
    return Outcome(slot=chain.slot, particle=scored, events=(event,))


def log_likelihood(likelihood: Likelihood, predictions: tuple[Prediction, ...], rows: tuple[Row, ...]) -> float:
    """log p(rows | theta) (Eq. 5 or 6). predictions, rows: (M,) in one order."""
    return likelihood.log_likelihood([p.answer for p in predictions], [row.target for row in rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposal theta~ beside the particle theta that it would replace."""

    chain: Chain
    """The chain with theta, the parent."""
    proposal: Proposal
    origin: Literal["refined", "prior"]
    rows: tuple[int, ...] = ()
    """Ids of the rows in the prompt, if they are not the batch's."""

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
            accepted=accepted,
            why=why,
            origin=self.origin,
            rows=self.rows,
            **writing_fields(self.proposal),
        )


async def propose(chain: Chain, *, temperature: float) -> Candidate:
    """theta~ <- f_opt(theta, {x_m, y^_m, y_m}), or a fresh draw from the prior with probability `restart`.

    Both the seed of the call and the choice of a draw depend on step and slot alone, never on the particle; but beyond
    the paper, a particle is drawn afresh too if it has no mistake on its scored rows, or if its last rewrite came back
    unchanged: asked again, three of four come back unchanged again.
    temperature: the optimizer's sampling temperature.
    """
    problem, config, particle = chain.problem, chain.config, chain.particle
    seed = call_seed(problem.seed, "propose", chain.step, chain.slot)
    is_restart = config.is_filtered and rng(config.seed, "restart", chain.step, chain.slot).random() < config.restart
    rows = () if is_restart else await _rows_to_learn_from(chain)
    if not rows:
        drawn = await problem.optimizer.draw(temperature=PRIOR_TEMPERATURE, seed=seed)
        return Candidate(chain=chain, proposal=drawn, origin="prior")
    predictions = await predictions_on(chain, rows)
    proposal = await problem.optimizer.propose(particle.text, rows, predictions, temperature=temperature, seed=seed)
    ids = () if rows == chain.batch else tuple(row.id for row in rows)
    return Candidate(chain=chain, proposal=proposal, origin="refined", rows=ids)


async def _rows_to_learn_from(chain: Chain) -> tuple[Row, ...]:
    """(M,) the batch; beyond the paper (0,) rows if a rewrite has nothing to learn, and a fresh draw is due.

    If only the batch has none, up to half of it makes room for mistakes on other scored rows: more than half would
    show a rule that is nearly right as one that is nearly wrong. Steps and slots begin at different mistakes.
    """
    batch = chain.batch
    if not (chain.config.is_filtered and chain.config.mutate == "filtered"):
        return batch
    if chain.particle.repeats:
        return ()
    given = zip(batch, await predictions_on(chain, batch), strict=True)
    if any(prediction.is_mistake(row) for row, prediction in given):
        return batch
    known = {prediction.row: prediction for prediction in chain.particle.predictions}
    wrong = [row for row in dict.fromkeys(chain.rows) if row.id in known and known[row.id].is_mistake(row)]
    first = (chain.step + chain.slot) % len(wrong) if wrong else 0
    mistakes = (wrong[first:] + wrong[:first])[: -(-len(batch) // 2)]
    return (*mistakes, *batch[len(mistakes) :]) if mistakes else ()


async def predictions_on(chain: Chain, rows: tuple[Row, ...]) -> tuple[Prediction, ...]:
    """(M,) y^_m of the particle on these rows: known if the rows last scored include them, else asked for."""
    known = {prediction.row: prediction for prediction in chain.particle.predictions}
    if all(row.id in known for row in rows):
        return tuple(known[row.id] for row in rows)
    return await chain.problem.learner.predict(chain.particle.text, rows)


async def decide(candidate: Candidate, rows: tuple[Row, ...], *, exponent: float = 1.0) -> Outcome:
    """theta <- theta~ with probability alpha, else theta (Eq. 9; Algorithm 1, lines 7 to 9).

    rows: those on which the parent was scored, else the ratio compares two data sets. exponent: power of
    the likelihood, 1 in the paper; tempered SMC accepts on its tempered posterior.
    """
    chain = candidate.chain
    if candidate.text is None:
        kept = candidate.kept()
        return Outcome(slot=chain.slot, particle=replace(chain.particle, repeats=kept.repeats), events=(kept,))
    log_lik = _known(chain.particle)
    # y^'_m <- f(x_m; theta~)                                                       evaluate the proposal
    new = await score(chain.of(replace(chain.particle, text=candidate.text)), rows, role="proposal")
    log_lik_new = _known(new.particle)
    # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)                   (Eq. 9)
    log_alpha = log_acceptance(exponent * log_lik_new, exponent * log_lik)
    # u ~ U[0, 1)
    u = float(rng(chain.config.seed, "accept", chain.step, chain.slot).random())
    # theta <- theta~ if log u < log alpha
    accepted = accepts(log_alpha, u=u)
    decision = replace(
        candidate.event(accepted=accepted, why="likelihood"),
        log_likelihood=log_lik,
        log_likelihood_proposal=log_lik_new,
        log_alpha=log_alpha,
        u=u,
    )
    theta = replace(new.particle if accepted else chain.particle, repeats=False)
    return Outcome(slot=chain.slot, particle=theta, events=(*new.events, decision))


def _known(particle: Particle) -> float:
    """The log-likelihood of a scored particle. Raises ValueError if it was not scored."""
    if particle.log_likelihood is None:
        raise ValueError("the particle was not scored: score it on the rows of the ratio first")
    return particle.log_likelihood
