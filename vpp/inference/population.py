"""The particle set {(theta^(k), w_k)}, k = 1..K, between two steps (Section 3.1)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import INITIAL_STEP, Event, ParticleState, Scored, StepFinished, Votes, hypothesis_id
from vpp.posterior.disagreement import NEAR
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.prediction import average
from vpp.posterior.weights import Floats, normalise
from vpp.problem import Prediction, Problem, likelihood_of, similarity_of
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Particle:
    """A hypothesis theta^(k) and its numbers; resampling copies them together."""

    text: str
    parent: int
    """Slot of its ancestor at the previous step."""
    log_likelihood: float | None = None
    """log p(rows | theta) of the ancestor on the rows that made the weights, natural log; None before it is scored."""
    log_weight: float = 0.0
    """Natural log of the unnormalised weight."""
    predictions: tuple[Prediction, ...] = ()
    """y^_m on the rows last scored."""
    repeats: bool = False
    """True if the last rewrite of the text came back unchanged."""

    @property
    def id(self) -> str:
        return hypothesis_id(self.text)

    def settled(self, slot: int) -> "Particle":
        """The particle for the next step of a chain: without the log-likelihood, which is of one step's rows."""
        return Particle(text=self.text, parent=slot, predictions=self.predictions, repeats=self.repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """K particles after a step; step -1 is the initial population."""

    step: int
    particles: tuple[Particle, ...]
    exponent: float = 0.0
    """phi_t of the tempered posterior that carried weights target; 0 is the prior."""
    log_evidence: float = 0.0
    """Log-evidence up to the last resampling, natural log; the carried weights hold the rest."""
    n_candidates: int = 0
    """Distinct texts that were written up to this step."""

    @property
    def size(self) -> int:
        return len(self.particles)

    @property
    def weights(self) -> Floats:
        """(K,) w_k, normalised."""
        return normalise([p.log_weight for p in self.particles])

    def finished(self, batch: tuple[int, ...]) -> StepFinished:
        """The event that records this population. batch: ids of the step's rows."""
        return StepFinished(
            step=self.step,
            population=tuple(
                ParticleState(
                    hypothesis=p.id, parent=p.parent, log_likelihood=p.log_likelihood, log_weight=float(p.log_weight)
                )
                for p in self.particles
            ),
            batch=batch,
            exponent=self.exponent,
            log_evidence=self.log_evidence,
        )


NOBODY = Population(step=INITIAL_STEP - 1, particles=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of one operation on one particle: the particle after it, and the events that record it."""

    slot: int
    particle: Particle
    events: tuple[Event, ...]


Yielded = Event | Population
"""What a phase yields: events as they happen, and last the population after it."""


def in_order(outcomes: dict[int, Outcome]) -> tuple[Particle, ...]:
    """(K,) particles in the order of their slots. outcomes: by slot, in any order."""
    return tuple(outcomes[slot].particle for slot in sorted(outcomes))


def log_likelihoods(particles: tuple[Particle, ...]) -> Floats:
    """(K,) natural logs, of particles that were all scored."""
    return np.array([p.log_likelihood for p in particles], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Input of every operation on one particle: score, propose, decide, mutate."""

    problem: Problem
    config: Config
    likelihood: Likelihood
    """Eq. 5 or 6."""
    step: int
    """t, from 0."""
    slot: int
    """k, from 0."""
    particle: Particle
    """theta_{t-1}^(k), with what the step knows of it so far."""

    @property
    def batch(self) -> tuple[Row, ...]:
        """(M,) the step's mini-batch {(x_m, y_m)}; the last of an epoch may be shorter."""
        return self.problem.batch(self.step)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows on which the step scores the particle: its batch, the rolling buffer, or all training rows."""
        return self.problem.scored_rows(self.config, self.step)

    def of(self, particle: Particle) -> "Chain":
        return replace(self, particle=particle)


def chains(problem: Problem, config: Config, population: Population, *, step: int) -> list[Chain]:
    """(K,) the population's particles at the step."""
    likelihood = likelihood_of(problem.dataset, config)
    return [
        Chain(problem=problem, config=config, likelihood=likelihood, step=step, slot=k, particle=particle)
        for k, particle in enumerate(population.particles)
    ]


SAME_VOTE = 0.99
"""Similarity from which two votes on numbers are the same; votes on labels must be equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """The rule when a run is settled, after a step: how many steps in a row have changed nothing.

    A step changes nothing if every hypothesis before and after it is alike with one on the other side on 95 % of the
    rows, and the weighted vote is the same. Rows are those that both steps scored, at least half of a step's.
    """

    n: int = 0
    rows: tuple[int, ...] = ()
    """(N,) empty unless the step scored all of its texts, and was not tempered."""
    answers: tuple[Votes, ...] = ()
    """(n, N) of its distinct texts."""
    vote: Votes = ()

    def after(self, events: Iterable[Event], dataset: Dataset) -> "Settling":
        """The rule one step later. events: those of the step."""
        known: dict[str, Scored] = {}
        shares: dict[str, float] = {}
        for event in events:
            if isinstance(event, Scored):
                known[event.hypothesis] = event
            elif isinstance(event, StepFinished) and not 0 < event.exponent < 1:
                weights = normalise([state.log_weight for state in event.population])
                for state, weight in zip(event.population, weights.tolist(), strict=True):
                    shares[state.hypothesis] = shares.get(state.hypothesis, 0.0) + weight
        if not shares or not shares.keys() <= known.keys():
            return Settling()
        answers, weights_of = tuple(known[text].predictions for text in shares), tuple(shares.values())
        vote = tuple(average(each, weights_of, is_label=bool(dataset.classes)) for each in zip(*answers, strict=True))
        now = Settling(rows=next(known[text].rows for text in shares), answers=answers, vote=vote)
        return replace(now, n=self.n + 1) if now._is_like(self, dataset) else now

    def _is_like(self, before: "Settling", dataset: Dataset) -> bool:
        places = {row: at for at, row in enumerate(before.rows)}
        common = [(at, places[row]) for at, row in enumerate(self.rows) if row in places]
        if 2 * len(common) < len(self.rows) or not common:
            return False
        own = [tuple(votes[at] for at, _ in common) for votes in (self.vote, *self.answers)]
        others = [tuple(votes[at] for _, at in common) for votes in (before.vote, *before.answers)]
        similarity = similarity_of(dataset, [*own, *others])[: len(own), len(own) :]
        near = similarity[1:, 1:] >= NEAR
        same = similarity[0, 0] >= (1 if dataset.classes else SAME_VOTE)
        return bool(same and near.any(axis=0).all() and near.any(axis=1).all())


UNSETTLED = Settling()
