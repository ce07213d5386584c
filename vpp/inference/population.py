"""The particles between two steps."""

from dataclasses import dataclass

import numpy as np

from vpp.events import Event, ParticleState, StepFinished
from vpp.hypothesis import hypothesis_id
from vpp.posterior.weights import Floats, normalise
from vpp.problem import Prediction


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

    @property
    def id(self) -> str:
        """The hypothesis' id."""
        return hypothesis_id(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """K particles after a step; -1 is the initial population."""

    step: int
    particles: tuple[Particle, ...]
    tau: float | None
    """Regression's tau, frozen for the run; None for classification."""

    @property
    def weights(self) -> Floats:
        """(K,) normalised."""
        return normalise([p.log_weight for p in self.particles])

    def finished(self, batch: tuple[int, ...]) -> StepFinished:
        """The event that keeps this population."""
        states = tuple(
            ParticleState(
                hypothesis=p.id, parent=p.parent, log_likelihood=p.log_likelihood, log_weight=float(p.log_weight)
            )
            for p in self.particles
        )
        return StepFinished(step=self.step, population=states, batch=batch, tau=self.tau)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one slot in one phase, with the events that tell it."""

    slot: int
    particle: Particle
    events: tuple[Event, ...]


def in_order(outcomes: dict[int, Outcome]) -> tuple[Particle, ...]:
    """The particles by slot, whatever the order in which they were done."""
    return tuple(outcomes[slot].particle for slot in sorted(outcomes))


def log_likelihoods(particles: tuple[Particle, ...]) -> Floats:
    """(K,) of particles that were all scored."""
    return np.array([p.log_likelihood for p in particles], dtype=np.float64)
