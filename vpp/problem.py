"""What a sampler is given: the data in batches, and the two roles a model plays.

The protocols here are all that inference/ and llm/ share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vpp.data.dataset import Row, Value


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
