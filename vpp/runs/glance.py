"""A run with a large journal as a list shows it: the first line and the last ones, read in bounded time."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from vpp.errors import RunError
from vpp.events import Evaluated, RunFailed, RunFinished, RunPaused, RunResumed, RunStarted, StepFinished
from vpp.runs.damage import known_rows
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Record, decoded
from vpp.runs.lines import Line, Lost
from vpp.runs.reader import Snapshot
from vpp.runs.run_files import load_dataset
from vpp.runs.soundness import Soundness
from vpp.runs.view import RunView, StepView

LARGE_BYTES = 8 * 2**20
"""A journal of at most this size is read completely."""
END_BYTES = 4 * 2**20
"""Read from the beginning of a larger one, for its first line, and from its end."""
FROM_ENDS = frozenset(
    {
        *("run", "dir", "status", "method", "structured", "metric", "scores", "baseline", "beats_baseline"),
        *("spent", "tokens", "uncertain"),
    }
)
"""Fields of `summary.result` that the last records tell."""
_OF_PHASE = (RunStarted, RunPaused, RunResumed, RunFinished, RunFailed)


def is_large(directory: RunDirectory) -> bool:
    """Whether a list reads the ends of the run's journal instead of all of it."""
    return _mark(directory.journal)[0] > LARGE_BYTES


def glance(directory: RunDirectory) -> Snapshot:
    """Return the run as both ends of its journal tell it; only the last step is in the view. Raises RunError."""
    spec = directory.spec()
    try:
        view, n_lost = _view(directory.path, _mark(directory.journal))
        state = directory.state(view)
    except OSError as error:
        raise RunError(f"{directory.path} cannot be read ({error.strerror}): look at its disk") from None
    damage = f"{directory.journal}: {n_lost} of its first and last lines cannot be read: see `python -m vpp verify`"
    return Snapshot(spec=spec, state=state, view=view, usage=view.usage, damage=damage if n_lost else "")


def _mark(path: Path) -> tuple[int, int, int]:
    """Size, time of the last change and inode; zeros where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ino


@lru_cache(maxsize=32)
def _view(path: Path, _: tuple[int, int, int]) -> tuple[RunView, int]:
    """The view, and how many lines could not be read. The second argument changes with the journal."""
    directory = RunDirectory(path)
    soundness = Soundness(lambda: known_rows(lambda: load_dataset(directory, directory.spec())))
    view, n_lost = RunView(phase="running"), 0
    for record in _ends(directory.journal):
        soundness.lose()  # the lines between the ends are not known
        if isinstance(record, Lost) or soundness.fault(record.event, record.usage, record.answers):
            n_lost += 1
        else:
            _take_in(view, record)
    return view, n_lost


def _ends(path: Path) -> Iterator[Record | Lost]:
    with path.open("rb") as file:
        first = file.readline(END_BYTES)
        file.seek(-END_BYTES, os.SEEK_END)
        last = file.read(END_BYTES).split(b"\n")[1:-1]
    for content in (first.removesuffix(b"\n"), *last):
        yield from decoded(Line(number=0, start=0, content=content))


def _take_in(view: RunView, record: Record) -> None:
    """Apply what a list shows: phase, usage, last step and evaluations."""
    match record.event:
        case StepFinished(step=step) as event:
            view.steps = {step: StepView(step=step, finished=event)}
        case Evaluated(step=step) as event:
            view.evaluations.append((step, event))
        case event if isinstance(event, _OF_PHASE):
            view.apply(record)
    view.usage, view.last_at = record.usage, record.at
