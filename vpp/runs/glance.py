"""A run with a large journal as a list shows it: the first line and the last ones, read in bounded time."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from vpp.errors import RunError
from vpp.events import Evaluated, RunFailed, RunFinished, RunPaused, RunResumed, RunStarted, StepFinished
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Record, decode
from vpp.runs.reader import Snapshot
from vpp.runs.run_files import load_dataset
from vpp.runs.soundness import check_evaluation, domain_of
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
"""Fields of `summary.result` that follow from the last records."""
_OF_PHASE = (RunStarted, RunPaused, RunResumed, RunFinished, RunFailed)


def is_large(directory: RunDirectory) -> bool:
    """True if a list reads the ends of the run's journal instead of all of it."""
    return _mark(directory.journal)[0] > LARGE_BYTES


def glance(directory: RunDirectory) -> Snapshot:
    """Return the run according to both ends of its journal; its view has only the last step. Raises RunError."""
    spec = directory.spec()
    try:
        view, is_damaged = _view(directory.path, _mark(directory.journal))
        state = directory.state(view)
    except OSError as error:
        raise RunError(f"{directory.path} cannot be read ({error.strerror}): look at its disk") from None
    damage = f"{directory.journal}: one of its first or last lines cannot be read: see `python -m vpp verify`"
    return Snapshot(spec=spec, state=state, view=view, usage=view.usage, damage=damage if is_damaged else "")


def _mark(path: Path) -> tuple[int, int, int]:
    """Return size, time of the last change and inode; zeros if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ino


@lru_cache(maxsize=32)
def _view(path: Path, _: tuple[int, int, int]) -> tuple[RunView, bool]:
    """Return the view, and whether a line cannot be read. The second argument changes with the journal."""
    directory = RunDirectory(path)
    domain = domain_of(lambda: load_dataset(directory, directory.spec()))
    view = RunView(phase="running")
    with suppress(ValueError):
        for line in _ends(directory.journal):
            record = decode(line)
            if isinstance(record.event, Evaluated):
                check_evaluation(record.event, domain)
            _take_in(view, record)
        return view, False
    return view, True


def _ends(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = file.readline(END_BYTES)
        file.seek(-END_BYTES, os.SEEK_END)
        last = file.read(END_BYTES).split(b"\n")[1:-1]
    yield from (first, *last)


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
