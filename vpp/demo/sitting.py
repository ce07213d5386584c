"""One request's material, and the ideas that come of it: what every kind of target shares."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch
from vpp.demo.prompt import OptimizerQuestion
from vpp.demo.read_rule import Reading
from vpp.demo.rule import Rule

F = TypeVar("F")

_HINTED = 12.0
"""How much likelier a form is that the prior hints at."""


@dataclass(frozen=True, slots=True)
class Idea:
    """A rule that might be written next."""

    rule: Rule
    score: float
    """How well it is liked: errors and length count against it."""
    why: str
    """What is said for it, a sentence."""


@dataclass(frozen=True, slots=True)
class Current:
    """The rule that the batch was answered with."""

    rule: Rule
    text: str
    """Its own sentences, without the seed sentence and the prior before them."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """What the optimizer has before it when it writes one proposal."""

    question: OptimizerQuestion
    batch: Batch
    reading: Reading
    temperature: float
    rng: Generator

    @property
    def current(self) -> Current | None:
        """The rule as read; None where it says nothing readable."""
        if self.reading.rule is None:
            return None
        return Current(self.reading.rule, self.question.rule[self.reading.start :].strip())

    def some_of(self, weights: dict[F, float], hints: dict[str, tuple[F, ...]]) -> list[F]:
        """A few families at random, by weight, more of them the hotter; what the prior hints at is likelier."""
        text = self.reading.hints.lower()
        hinted = {family for word, group in hints.items() if word in text for family in group}
        p = np.array([weight * (_HINTED if family in hinted else 1.0) for family, weight in weights.items()])
        families = list(weights)
        count = 1 + int(self.rng.poisson(self.temperature))
        return [families[int(at)] for at in self.rng.choice(len(families), size=count, p=p / p.sum())]
