"""Answers: a hypothesis answers a row once, so alike wherever it is told, and as answers.jsonl has it."""

from collections.abc import Iterable, Iterator, Sequence

from vpp.data.dataset import Value
from vpp.events import Evaluated, Event, RunFinished, RunResumed, Scored, StepFinished, Votes
from vpp.verification.beginning import Known
from vpp.verification.journal import Numbered
from vpp.verification.ledger import At, Ledger

Pair = tuple[str, int]
"""Hypothesis id and row id."""


class Memory:
    """What has been told so far; a resume forgets what came after the last whole step."""

    def __init__(self, ledger: Ledger, *, steps: int) -> None:
        self._ledger = ledger
        self._steps = steps
        self._kept: dict[Pair, tuple[Value | None, At]] = {}
        self._fresh: dict[Pair, tuple[Value | None, At]] = {}

    @property
    def known(self) -> dict[Pair, Value | None]:
        """The answers that count."""
        return {pair: value for pair, (value, _) in (self._kept | self._fresh).items()}

    def go_through(self, lines: Sequence[Numbered]) -> None:
        """Takes in a whole journal."""
        for line in lines:
            event = line.record.event
            if isinstance(event, Scored | Evaluated):
                self._hear(event, At(line=line.number, step=event.step, slot=getattr(event, "particle", None)))
            elif isinstance(event, StepFinished):
                self._keep()
            elif isinstance(event, RunResumed) and (event.step is None or event.step < self._steps):
                self._fresh = {}

        if lines and isinstance(lines[-1].record.event, RunFinished):
            self._keep()

    def _keep(self) -> None:
        self._kept |= self._fresh
        self._fresh = {}

    def _hear(self, event: Scored | Evaluated, at: At) -> None:
        told = list(_told(event))
        known = [(self._fresh.get(pair) or self._kept.get(pair) or (value, at))[0] for pair, value in told]
        self._ledger.compare("answers", at, "predictions", written=[value for _, value in told], follows=known)
        for pair, value in told:
            if pair not in self._kept:
                self._fresh.setdefault(pair, (value, at))

    def compare_with(self, said: Known) -> None:
        """Answers up to the last whole step, and to the run's end, with those of answers.jsonl."""
        by_place: dict[At, list[tuple[Pair, Value | None]]] = {}
        for pair, (value, at) in self._kept.items():
            by_place.setdefault(at, []).append((pair, value))
        for at, told in by_place.items():
            written = [value for _, value in told]
            follows = [said.get(pair, "not in answers.jsonl") for pair, _ in told]
            self._ledger.compare(
                "answers", at, "predictions, as answers.jsonl has them", written=written, follows=follows
            )


def _told(event: Event) -> Iterator[tuple[Pair, Value | None]]:
    match event:
        case Scored():
            yield from _pairs(event.hypothesis, event.rows, event.predictions)
        case Evaluated():
            for hypothesis, votes in zip(event.hypotheses, event.predictions, strict=False):
                yield from _pairs(hypothesis, event.rows, votes)


def _pairs(hypothesis: str, rows: Iterable[int], votes: Votes) -> Iterator[tuple[Pair, Value | None]]:
    for row, value in zip(rows, votes, strict=False):
        yield (hypothesis, row), value
