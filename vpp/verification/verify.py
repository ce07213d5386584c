"""Verify a run: derive its journal's values again without a model, and compare its exports."""

from collections.abc import Iterator
from dataclasses import dataclass

from vpp.data.dataset import PARTS
from vpp.events import INITIAL_STEP
from vpp.runs.directory import RunDirectory
from vpp.runs.run_prompts import own_templates
from vpp.verification.beginning import check_data, check_drawn, check_first_population, check_started
from vpp.verification.exports import Ways, check_exports
from vpp.verification.inputs import Run, check_evaluations, check_stored, read_run
from vpp.verification.ledger import FILES, At, Fault
from vpp.verification.steps import check_step
from vpp.verification.weights import check_final_weights

BEYOND = (
    "whether models gave these answers, and whether they were parsed correctly: no model is called again",
    "counts, times, temperatures, and when K has to change",
    "lines that a resume discarded",
)
"""Facts that a verification does not derive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Result of a verification."""

    counts: dict[str, tuple[int, int]]
    """(places that hold, places checked) by claim."""
    faults: tuple[Fault, ...]
    """Faults in the order of the journal."""
    unchecked: tuple[tuple[str, int], ...]
    """(reason why something was not checked, count)."""
    lines: int
    """Lines read."""
    steps: int
    """Finished steps, without the initial population."""
    has_ended: bool

    @property
    def holds(self) -> bool:
        """True if there are no faults."""
        return not self.faults


def verify(directory: RunDirectory, exports: Ways | None = None) -> Verification:
    """Verify a run from its files, without a model. Raises RunError if there is no run, or if its rows are unreadable.

    exports: functions that write the run's exports again; without them exports are not compared.
    """
    run = read_run(directory)
    view, ledger = run.view, run.ledger
    check_data(run)
    if view.started:
        check_started(run, view.started)
    elif run.journal.line:
        ledger.compare("lines", At(line=1), "run_started", written=None, follows="first of all")
    _check_steps(run)
    check_stored(run)
    check_evaluations(run)
    _check_end(run, directory)
    check_exports(directory, (exports or {}) if view.has_ended else {}, ledger)
    return Verification(
        counts=ledger.counts(),
        faults=tuple(sorted(ledger.faults, key=lambda fault: fault.at.line)),
        unchecked=tuple(_unchecked(run)),
        lines=run.journal.line,
        steps=0 if view.last_step is None else view.last_step + 1,
        has_ended=view.phase in ("finished", "stopped"),
    )


def _check_steps(run: Run) -> None:
    before = None
    for number, at in run.view.steps.items():
        for event in at.joined.values():
            check_drawn(run, event)
        if number == INITIAL_STEP:
            check_first_population(run, at)
        elif before:
            check_step(run, before, at)
        before = at.finished
    if before:
        check_final_weights(run, before)


def _check_end(run: Run, directory: RunDirectory) -> None:
    """Check that run.json agrees with the journal about the end, and that a finished run is complete."""
    view, status = run.view, directory.status()
    ending = view.phase if view.has_ended else ""
    if status in ("finished", "stopped", "failed"):
        run.ledger.compare("data", FILES, "status", written=status, follows=ending or "not ended")
    elif ending:
        run.ledger.skip("the status in run.json: the run's worker ended before it wrote the final status")
    if view.phase != "finished":
        return
    last = At(line=run.journal.line)
    is_due = run.config.is_rescored and view.last_step is not None and view.last_step >= 0
    splits = {event.split for after, event in view.evaluations if event.step == after}
    for what, written, follows in (
        ("last finished step", view.last_step, run.problem.steps - 1),
        ("final weights", view.final is not None, is_due),
        ("splits evaluated", sorted(splits), sorted(part for part in PARTS if run.dataset.part(part))),
    ):
        run.ledger.compare("lines", last, what, written=written, follows=follows)


def _unchecked(run: Run) -> Iterator[tuple[str, int]]:
    yield from sorted(run.ledger.unchecked.items())
    if None in own_templates(run.spec).values():
        yield "the built-in templates: they may have changed since", 1
    for fact in BEYOND:
        yield fact, 1
