"""What the demo model and the samplers reach together through the command line; `make bench-demo` prints all of it.

The runs are deterministic, seeds 0 to 2 of the bench's five: a failure is a change of behaviour, not of luck.
"""

from tests.performance.demo import Outcome

SEEDS = 3


def reached_by(outcomes: list[Outcome], name: str, method: str) -> list[float]:
    """Accuracy on the test rows, one a seed."""
    found = [o.test for o in outcomes if (o.name, o.method) == (name, method)]
    assert len(found) == SEEDS
    return found
