"""A damaged journal: what a person reads about it, and how a worker continues from before the damage."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vpp.data.dataset import Dataset
from vpp.errors import DataError, JournalDamaged, RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader, set_aside
from vpp.runs.lines import Lost
from vpp.runs.run_files import load_dataset
from vpp.runs.view import RunView, fold


def damage_of(directory: RunDirectory, lost: Lost | None) -> str:
    """Return where the journal is damaged and how to fix it, in one line; empty if it is sound.

    lost: the line at which reading stopped.
    """
    if not directory.journal.exists() and _has_begun(directory):
        return f"{directory.journal} is missing: {_fix(directory.path, 'begin again')}"
    if lost is None:
        return ""
    if lost.is_newer:
        return f"{directory.journal}: line {lost.line} is {lost.reason}: update vpp"
    shown = "only what comes before it is shown"
    return f"{directory.journal}: line {lost.line} cannot be read ({lost.reason}); {shown}: {_fix(directory.path)}"


def _fix(path: Path, otherwise: str = "continue from before the damage") -> str:
    return f"restore the file from a copy, or {otherwise} with `python -m vpp resume {path} --from-before-damage`"


def _has_begun(directory: RunDirectory) -> bool:
    """True if a worker has had the run."""
    with suppress(RunError):
        return directory.status() != "queued"
    return False


def view_to_go_on_from(directory: RunDirectory, *, from_before_damage: bool = False) -> RunView:
    """Return the view that a worker continues from. Only the run's lock holder may call this.

    from_before_damage: move a damaged journal's rest into a file beside it; never what a newer program wrote.
    Raises JournalDamaged if damage remains.
    """
    reader = journal_reader(directory, lambda: load_dataset(directory, directory.spec()))
    view = fold(reader.new_records())
    if from_before_damage and (reader.lost is None or not reader.lost.is_newer):
        if reader.lost:
            set_aside(directory.journal, reader.lost.start)
    elif damage := damage_of(directory, reader.lost):
        raise JournalDamaged(damage)
    return view


def journal_reader(directory: RunDirectory, dataset: Callable[[], Dataset]) -> JournalReader:
    """Return a reader that checks records against the run's rows, if they can be read."""
    return JournalReader(directory.journal, dataset=lambda: known_rows(dataset))


def known_rows(dataset: Callable[[], Dataset]) -> Dataset | None:
    """Return the run's rows; None if they cannot be read."""
    with suppress(RunError, DataError):
        return dataset()
    return None
