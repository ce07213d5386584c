"""Counts what a run asks of its models, while it asks."""

from dataclasses import asdict

from vpp.usage import Usage


class Counters:
    """A mutable `Usage`, shared by one run's endpoints and roles (one event loop, so no lock).

    A call is counted when its answer arrives: one that is given up counts as failed, and asked again
    after an outage it counts once.
    """

    def __init__(self) -> None:
        self.restore(Usage())

    def restore(self, usage: Usage) -> None:
        """Goes on from `usage`, as a resumed run does."""
        self._counts = asdict(usage)

    def add(self, **counts: int) -> None:
        """Adds to the named counts. Raises KeyError on a name that `Usage` does not have."""
        for name, count in counts.items():
            self._counts[name] += count

    def snapshot(self) -> Usage:
        """The counts so far."""
        return Usage(**self._counts)
