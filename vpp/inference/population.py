"""The particles between two steps."""

from dataclasses import dataclass

import numpy as np

from vpp.events import INITIAL_STEP, Event, ParticleState, StepFinished
from vpp.hypothesis import hypothesis_id
from vpp.posterior.weights import Floats, normalise
from vpp.problem import Exchange, Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Particle:
    """One slot: a hypothesis and what is known of it. The parts travel together through resampling."""

    text: str
    parent: int
    """Slot it came from at the previous step."""
    log_likelihood: float | None = None
    """Of the ancestor on the rows that made the weights."""
    log_weight: float = 0.0
    predictions: tuple[Prediction, ...] = ()
    """On the rows last scored."""
    exchange: Exchange | None = None
    """What the optimizer is reminded of."""

    @property
    def id(self) -> str:
        """The hypothesis' id."""
        return hypothesis_id(self.text)

    def settled(self, slot: int) -> "Particle":
        """As a chain carries it from step to step: its log-likelihood was of one batch."""
        return Particle(text=self.text, parent=slot, predictions=self.predictions, exchange=self.exchange)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """K particles after a step; -1 is the initial population."""

    step: int
    particles: tuple[Particle, ...]
    tau: float | None
    """Regression's tau, frozen for the run; None for classification."""
    exponent: float = 0.0
    """Of the tempered posterior that carried weights stand for."""
    log_evidence: float = 0.0
    """Up to the last time that carried weights were made equal."""
    few_for: int = 0
    """Steps in a row with few distinct texts or a low ESS."""
    agreed_for: int = 0
    """Steps in a row in which all particles gave the same answers."""

    @property
    def size(self) -> int:
        """K."""
        return len(self.particles)

    @property
    def weights(self) -> Floats:
        """(K,) normalised."""
        return normalise([p.log_weight for p in self.particles])

    def finished(self, batch: tuple[int, ...]) -> StepFinished:
        """The event that keeps this population."""
        return StepFinished(
            step=self.step,
            population=tuple(map(_state, self.particles)),
            batch=batch,
            tau=self.tau,
            exponent=self.exponent,
            log_evidence=self.log_evidence,
            few_for=self.few_for,
            agreed_for=self.agreed_for,
        )


NOBODY = Population(step=INITIAL_STEP - 1, particles=(), tau=None)
"""Before the first particle is drawn."""


def _state(particle: Particle) -> ParticleState:
    exchange = particle.exchange
    return ParticleState(
        hypothesis=particle.id,
        parent=particle.parent,
        log_likelihood=particle.log_likelihood,
        log_weight=float(particle.log_weight),
        exchange=None if exchange is None else (exchange.step, exchange.slot),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one slot in one phase, with the events that tell it."""

    slot: int
    particle: Particle
    events: tuple[Event, ...]


Told = Event | Population
"""What a phase yields: events as they happen, and at its end the population it leaves."""


def in_order(outcomes: dict[int, Outcome]) -> tuple[Particle, ...]:
    """The particles by slot, whatever the order in which they were done."""
    return tuple(outcomes[slot].particle for slot in sorted(outcomes))


def log_likelihoods(particles: tuple[Particle, ...]) -> Floats:
    """(K,) of particles that were all scored."""
    return np.array([p.log_likelihood for p in particles], dtype=np.float64)
