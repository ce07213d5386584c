"""What a sampler is given: the data in batches, and the two roles a model plays.

The protocols here are all that inference/ and llm/ share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vpp.data.dataset import Dataset, Row, Value
from vpp.posterior.likelihood import GaussianLikelihood, Likelihood, ZeroOneLikelihood
from vpp.randomness import rng


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What f(x; theta) gave for one row."""

    row: int
    """The row's id."""
    value: Value | None
    """A label or a finite number; None is an abstention: no answer could be read, after every re-ask."""
    explanation: str = ""
    raw: str | None = None
    """The raw answer, kept where it could not be read."""
    reason: str | None = None
    """Why it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the optimizer wrote for one particle."""

    text: str | None
    """The whole hypothesis, seed sentence included; None where no answer could be read, after every re-ask."""
    raw: str
    """The last raw answer."""
    temperature: float
    seed: int
    reason: str | None = None
    """Why it could not be read."""


class Learner(Protocol):
    """f(x; theta), memoised by (hypothesis, row): the same question is asked once."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """One prediction a row, in the order of `rows`. Raises EndpointError."""
        ...


class Optimizer(Protocol):
    """f_opt(theta, batch): writes the next hypothesis."""

    async def propose(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        *,
        temperature: float,
        seed: int,
    ) -> Proposal:
        """A revised hypothesis. Raises EndpointError."""
        ...


def batch_length(step: int, *, n_train: int, batch_size: int) -> int:
    """Rows of a step's batch: the last of an epoch may be short (choice 11)."""
    index = step % -(-n_train // batch_size)
    return min(batch_size, n_train - index * batch_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a sampler is given: rows, roles, and the order in which rows come."""

    dataset: Dataset
    learner: Learner
    optimizer: Optimizer
    seed_text: str
    """The sentence every hypothesis begins with, the user's prior included."""
    batch_size: int
    epochs: int
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass; a last short batch counts (choice 11)."""
        return -(-len(self.dataset.train) // self.batch_size)

    @property
    def steps(self) -> int:
        """T, the number of steps of the whole run (choice 1)."""
        return self.epochs * self.steps_per_epoch

    def batch(self, step: int) -> tuple[Row, ...]:
        """The step's rows: a seeded shuffle of the training rows each epoch, cut in order."""
        epoch, index = divmod(step, self.steps_per_epoch)
        order = rng(self.seed, "batches", epoch).permutation(len(self.dataset.train))
        first = index * self.batch_size
        return tuple(self.dataset.train[i] for i in order[first : first + self.batch_size])

    def buffer(self, step: int, *, size: int) -> tuple[Row, ...]:
        """The last `size` rows seen up to and including the step's batch; repeats of a later epoch stay (choice 8)."""
        rows: list[Row] = []
        for earlier in range(step, -1, -1):
            rows[:0] = self.batch(earlier)
            if len(rows) >= size:
                break
        return tuple(rows[-size:])

    def likelihood(self, *, epsilon: float, tau: float | None) -> Likelihood:
        """Eq. 5 or 6, as the target's task asks. tau is None only for classification."""
        if self.dataset.task == "classification":
            return ZeroOneLikelihood(epsilon=epsilon)
        if tau is None:
            raise ValueError("regression needs tau")
        return GaussianLikelihood(tau=tau, abstention_error=self.target_range)

    @property
    def target_range(self) -> float:
        """Range of the training targets, in their unit: what an abstention is off by (choice 12)."""
        targets = [float(row.target) for row in self.dataset.train if row.target is not None]
        return max(targets) - min(targets)
