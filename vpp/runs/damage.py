"""What a journal has lost, in one line with the mend; and how a worker goes on from before it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vpp.data.dataset import Dataset
from vpp.errors import DataError, JournalDamaged, RunError
from vpp.events import INITIAL_STEP
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader, set_aside
from vpp.runs.run_files import load_dataset
from vpp.runs.view import RunView

NAMED_STEPS = 6
"""Named one by one."""


def damage_of(directory: RunDirectory, view: RunView) -> str:
    """What is lost, what is not shown for it, and the mend; empty where nothing is lost."""
    if _is_missing(directory):
        return f"{directory.journal} is missing: {_mend(directory.path, 'begin again')}"
    if not view.is_damaged:
        return ""
    lost = view.first_lost
    if lost and lost.is_newer:
        return f"{directory.journal}: line {lost.line} is {lost.reason}: update vpp"
    return f"{directory.journal}: {_lines(view)}{_not_shown(view)}: {_mend(directory.path)}"


def _lines(view: RunView) -> str:
    lost = view.first_lost
    if lost is None:
        return "lines are missing"
    if view.n_lost == 1:
        return f"line {lost.line} cannot be read ({lost.reason})"
    return f"{view.n_lost:,} lines cannot be read, the first is line {lost.line} ({lost.reason})"


def _not_shown(view: RunView) -> str:
    """After a semicolon; nothing where no step lacks anything."""
    lacks = []
    if view.lost_steps:
        lacks.append(_steps(view.lost_steps))
    if view.torn_steps:
        lacks.append(f"the scores and decisions of {_steps(view.torn_steps)}")
    return f"; not shown: {' and '.join(lacks)}" if lacks else ""


def _steps(steps: list[int]) -> str:
    names = ["the first hypotheses" if step == INITIAL_STEP else f"step {step}" for step in steps[:NAMED_STEPS]]
    more = [f"{len(steps) - NAMED_STEPS} more steps"] if len(steps) > NAMED_STEPS else []
    return ", ".join([*names, *more])


def _mend(path: Path, otherwise: str = "go on from before the damage") -> str:
    return f"restore the file from a copy, or {otherwise} with `python -m vpp resume {path} --from-before-damage`"


def _is_missing(directory: RunDirectory) -> bool:
    """Whether there is no journal though a worker has had the run."""
    if directory.journal.exists():
        return False
    with suppress(RunError):
        return directory.status() != "queued"
    return False


def view_to_go_on_from(directory: RunDirectory, *, from_before_damage: bool = False) -> RunView:
    """The run as its journal tells it. Only the run's lock holder may call this.

    from_before_damage: sets aside what stands from the damage on, in a file beside the journal. Raises JournalDamaged
    where lines are lost and stay so, unless the run has finished; what a newer program wrote is never set aside.
    """
    if from_before_damage:
        start = _first_damage(directory)
        if start is not None:
            set_aside(directory.journal, start)
    view = RunView()
    for record in _reader(directory).new_records():
        view.apply(record)
    damage = "" if view.phase == "finished" or (from_before_damage and not view.n_lost) else damage_of(directory, view)
    if damage:
        raise JournalDamaged(damage)
    return view


def _first_damage(directory: RunDirectory) -> int | None:
    """The byte from which on the journal does not hold together; None where it does, or a newer program wrote it."""
    reader, view = _reader(directory), RunView()
    for record in reader.new_records():
        view.apply(record)
        if view.is_damaged:
            return None if view.first_lost and view.first_lost.is_newer else reader.start
    return None


def steps_before_damage(directory: RunDirectory) -> int | None:
    """Whole steps that `--from-before-damage` keeps; None where it has nothing to do."""
    if _is_missing(directory):
        return 0
    view, last = RunView(), INITIAL_STEP
    for record in _reader(directory).new_records():
        view.apply(record)
        if view.is_damaged:
            return None if view.first_lost and view.first_lost.is_newer else last + 1
        last = INITIAL_STEP if view.last_step is None else view.last_step
    return None


def damage_in_short(view: RunView) -> str:
    """Where a damaged journal begins to be, in a few words."""
    lost = view.first_lost
    return f"damaged: line {lost.line}" if lost else "damaged: lines are missing"


def _reader(directory: RunDirectory) -> JournalReader:
    """Judges records by the rows, as every page's does."""
    return JournalReader(
        directory.journal, dataset=lambda: known_rows(lambda: load_dataset(directory, directory.spec()))
    )


def known_rows(dataset: Callable[[], Dataset]) -> Dataset | None:
    """The rows that records are judged by; None where they cannot be read: then no record is judged by them."""
    with suppress(RunError, DataError):
        return dataset()
    return None
