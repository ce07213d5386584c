"""Checks of answers (each hypothesis answers a row once) and of evaluations (Eq. 7 and 8)."""

from collections.abc import Iterable, Iterator, Sequence

from vpp.data.dataset import Row, Value
from vpp.events import Evaluated, Event, RunFinished, RunResumed, Scored, StepFinished, Votes
from vpp.posterior.metric import accuracy, mean_squared_error
from vpp.posterior.prediction import average
from vpp.posterior.weights import normalise
from vpp.randomness import tie_draw
from vpp.verification.inputs import Known, RunInputs, ids
from vpp.verification.ledger import At, Ledger
from vpp.verification.populations import Slots, resized
from vpp.verification.segments import Numbered, Recorded, Segment

Pair = tuple[str, int]
"""Hypothesis id and row id."""


class Memory:
    """Answers recorded so far; a resume discards those after the last finished step."""

    def __init__(self, ledger: Ledger, *, steps: int) -> None:
        self._ledger = ledger
        self._steps = steps
        self._committed: dict[Pair, tuple[Value | None, At]] = {}
        self._pending: dict[Pair, tuple[Value | None, At]] = {}

    @property
    def known(self) -> dict[Pair, Value | None]:
        """All answers, by hypothesis id and row id."""
        return {pair: value for pair, (value, _) in (self._committed | self._pending).items()}

    def go_through(self, lines: Sequence[Numbered]) -> None:
        """Add the answers of a journal; compare repeated ones."""
        for line in lines:
            event = line.record.event
            if isinstance(event, Scored | Evaluated):
                self._add(event, At(line=line.number, step=event.step, slot=getattr(event, "particle", None)))
            elif isinstance(event, StepFinished):
                self._commit()
            elif isinstance(event, RunResumed) and (event.step is None or event.step < self._steps):
                self._pending = {}

        if lines and isinstance(lines[-1].record.event, RunFinished):
            self._commit()

    def _commit(self) -> None:
        self._committed |= self._pending
        self._pending = {}

    def _add(self, event: Scored | Evaluated, at: At) -> None:
        recorded = list(_recorded(event))
        known = [(self._pending.get(pair) or self._committed.get(pair) or (value, at))[0] for pair, value in recorded]
        self._ledger.compare("answers", at, "predictions", written=[value for _, value in recorded], follows=known)
        for pair, value in recorded:
            if pair not in self._committed:
                self._pending.setdefault(pair, (value, at))

    def compare_with(self, stored: Known) -> None:
        """Compare the answers up to the last finished step, or the run's end, with those of answers.jsonl."""
        by_place: dict[At, list[tuple[Pair, Value | None]]] = {}
        for pair, (value, at) in self._committed.items():
            by_place.setdefault(at, []).append((pair, value))
        for at, recorded in by_place.items():
            written = [value for _, value in recorded]
            follows = [stored.get(pair, "not in answers.jsonl") for pair, _ in recorded]
            self._ledger.compare("answers", at, "predictions in answers.jsonl", written=written, follows=follows)


def _recorded(event: Event) -> Iterator[tuple[Pair, Value | None]]:
    match event:
        case Scored():
            yield from _pairs(event.hypothesis, event.rows, event.predictions)
        case Evaluated():
            for hypothesis, votes in zip(event.hypotheses, event.predictions, strict=False):
                yield from _pairs(hypothesis, event.rows, votes)


def _pairs(hypothesis: str, rows: Iterable[int], votes: Votes) -> Iterator[tuple[Pair, Value | None]]:
    for row, value in zip(rows, votes, strict=False):
        yield (hypothesis, row), value


def check_interim(inputs: RunInputs, segment: Segment, slots: Slots | None, ledger: Ledger) -> None:
    """Check that the test rows were evaluated at exactly the configured steps. slots: before K changes."""
    every, step = inputs.config.evaluate_every, segment.step
    is_due = bool(every) and (step + 1) % (every or 1) == 0 and step + 1 < inputs.problem.steps
    if segment.is_finished and (is_due or segment.evaluated):
        follows = ["test"] if is_due else []
        written = [recorded.event.split for recorded in segment.evaluated]
        ledger.compare("lines", segment.at(), "evaluated", written=written, follows=follows)
    if not segment.evaluated or segment.before is None or slots is None:
        return
    after = resized(inputs, segment, slots, segment.before).slots
    weights = normalise([p.log_weight for p in after]).tolist()
    for recorded in segment.evaluated:
        check_evaluated(inputs, recorded, [p.hypothesis for p in after], weights, ledger)


def check_end(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check the evaluations after the last step, under the final weights."""
    before = segment.before
    if before is None:
        return
    hypotheses = [state.hypothesis for state in before.population]
    is_made = inputs.config.is_rescored and segment.reweighted is not None
    log_w = segment.reweighted.event.log_weights if is_made and segment.reweighted else None
    weights = normalise(log_w or [state.log_weight for state in before.population]).tolist()
    for recorded in segment.evaluated:
        at = At(line=recorded.line, step=recorded.event.step)
        ledger.compare("lines", at, "step", written=recorded.event.step, follows=before.step)
        check_evaluated(inputs, recorded, hypotheses, weights, ledger)


def check_evaluated(
    inputs: RunInputs,
    recorded: Recorded[Evaluated],
    hypotheses: Sequence[str],
    weights: Sequence[float],
    ledger: Ledger,
) -> None:
    """Check one evaluation. hypotheses: (K,) ids. weights: (K,) normalised."""
    event, at = recorded.event, At(line=recorded.line, step=recorded.event.step)
    rows = inputs.dataset.test if event.split == "test" else inputs.dataset.train
    ledger.compare("rows", at, f"{event.split} rows", written=event.rows, follows=ids(rows))
    ledger.compare("texts", at, "hypotheses", written=event.hypotheses, follows=tuple(hypotheses))
    ledger.compare("weights", at, "weights", written=event.weights, follows=tuple(weights))
    shape = [len(votes) for votes in event.predictions]
    is_complete = ledger.compare(
        "predictions", at, "answers a particle", written=shape, follows=[len(event.rows)] * len(event.weights)
    )
    known = inputs.rows_of(event.rows)
    if not is_complete or known is None:
        return
    averaged = _averaged(inputs, known, event)
    if event.averaged or not event.rows:
        ledger.compare("predictions", at, "averaged", written=event.averaged, follows=averaged)
    else:
        ledger.skip("averaged predictions: an older version did not record them")
    _check_metric(inputs, event, known, event.averaged or averaged, at, ledger)


def _averaged(inputs: RunInputs, rows: Sequence[Row], event: Evaluated) -> Votes:
    config, is_label = inputs.config, inputs.dataset.task == "classification"
    return tuple(
        average(votes, event.weights, is_label=is_label, draw=tie_draw(config.seed, row.id, ties=config.ties))
        for row, votes in zip(rows, zip(*event.predictions, strict=True), strict=True)
    )


def _check_metric(
    inputs: RunInputs, event: Evaluated, rows: Sequence[Row], averaged: Votes, at: At, ledger: Ledger
) -> None:
    is_label = inputs.dataset.task == "classification"
    ledger.compare("metrics", at, "metric", written=event.metric, follows="accuracy" if is_label else "mse")
    targets: list[Value | None] = [row.target for row in rows]
    if not targets or len(averaged) != len(targets):
        return
    value = (
        accuracy(averaged, targets)
        if is_label
        else mean_squared_error(averaged, targets, abstention_error=inputs.dataset.target_range)
    )
    ledger.compare("metrics", at, "value", written=event.value, follows=value)
