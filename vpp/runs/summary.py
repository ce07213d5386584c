"""summary.json: a run's line in a list of runs, so that a list reads no journal.

Its worker writes it at each step and at each change of phase. One that is missing, or that a killed worker left behind
its journal, is made again by whoever lists the run.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import TypeAdapter
from pydantic_core import to_json

from vpp import files
from vpp.data.dataset import Dataset
from vpp.errors import DataError, RunError
from vpp.posterior.metric import label_figures
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.journal import JournalReader, write_atomically
from vpp.runs.view import Phase, RunView, StepView


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a list says of a run beyond its run.json."""

    journal: int = 0
    """Size of the journal in bytes when this was written."""
    phase: Phase = "queued"
    is_at_cap: bool = False
    """True if it has paused because its cap is reached."""
    last_step: int | None = None
    """The last finished step; -1 for the initial population, None before it."""
    total_steps: int = 0
    metric: Literal["accuracy", "mse"] | None = None
    """None before the rows are evaluated."""
    train: float | None = None
    test: float | None = None
    balanced_accuracy: float | None = None
    """Of the test rows, from 0 to 1."""
    is_unread: bool = False
    """True if most answers, or all proposals, could not be read."""
    sent: int = 0
    """Requests sent."""
    cost: float = 0.0

    @property
    def has_ended(self) -> bool:
        """True if no more events are expected without a resume."""
        return self.phase in ("finished", "stopped", "failed")


_SUMMARY: TypeAdapter[Summary] = TypeAdapter(Summary)


def read_summary(directory: RunDirectory) -> Summary:
    """Return the run's summary; made from the journal if the written one is missing or out of date.

    Raises RunError if the journal is read and cannot be.
    """
    size, written = directory.journal_bytes(), _written(directory)
    if written and (written.journal == size or directory.is_held()):
        return written
    directory.check_journal()
    if not size:
        return Summary()
    try:
        view = JournalReader(directory.journal).read()
    except OSError as error:
        raise RunError(f"{directory.path} cannot be read ({error.strerror}): look at its disk") from None
    return write_summary(directory, view, lambda: load_dataset(directory, directory.spec()), journal=size)


def _written(directory: RunDirectory) -> Summary | None:
    with suppress(OSError, ValueError):
        return _SUMMARY.validate_python(files.read_json(directory.summary))
    return None


def write_summary(directory: RunDirectory, view: RunView, rows: Callable[[], Dataset], *, journal: int) -> Summary:
    """Write the run's summary, and return it; a disk that refuses it is ignored, as the next reader makes it again.

    journal: size of the journal in bytes, as far as the view goes.
    """
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    either = test or train
    summary = Summary(
        journal=journal,
        phase=view.phase,
        is_at_cap=view.is_at_cap,
        last_step=view.last_step,
        total_steps=view.total_steps,
        metric=either.metric if either else None,
        train=train.value if train else None,
        test=test.value if test else None,
        balanced_accuracy=balanced_accuracy(view, rows),
        is_unread=unread(view) is not None,
        sent=view.usage.sent,
        cost=view.usage.cost,
    )
    with suppress(OSError):
        write_atomically(directory.summary, to_json(summary, inf_nan_mode="strings"), sync=False)
    return summary


def balanced_accuracy(view: RunView, rows: Callable[[], Dataset]) -> float | None:
    """Balanced accuracy of the averaged prediction on the test rows, from 0 to 1.

    None for regression, before the rows are evaluated, and if they are no longer readable.
    """
    test = view.evaluated.get("test")
    if test is None or test.metric != "accuracy":
        return None
    with suppress(RunError, DataError, LookupError):
        targets = {row.id: row.target for row in rows().labelled}
        due = [target for row in test.rows if (target := targets[row]) is not None]
        return label_figures(test.averaged, due).balanced.value
    return None


# Unreadable answers

LEAST = 5
"""Fewest answers, or proposals, for a warning."""
MOSTLY = 0.5
"""Share of unreadable answers from which a run is warned of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Counts of a run that could hardly be read."""

    answers: int
    """Unreadable answers to rows; 0 if enough could be read."""
    of: int
    """Answers to rows."""
    proposals: int
    """Proposals, if none of them could be read; else 0."""


def unread(view: RunView) -> Unread | None:
    """Return the counts of a run whose answers, or proposals, mostly could not be read; None if enough could."""
    if not (view.usage.unparsable or view.usage.refused):
        return None
    counts = [*(at.once("unread", partial(_of_step, at)) for at in view.steps.values()), _count(_at_end(view))]
    silent, n = sum(count[0] for count in counts), sum(count[1] for count in counts)
    is_silent = n >= LEAST and silent >= MOSTLY * n
    proposals = view.proposals
    is_garbled = len(proposals) >= LEAST and all(proposed.why == "unparsable" for proposed in proposals)
    if not (is_silent or is_garbled):
        return None
    return Unread(answers=silent if is_silent else 0, of=n, proposals=len(proposals) if is_garbled else 0)


def _of_step(at: StepView) -> tuple[int, int]:
    return _count(scored.predictions for scored in (*at.scored.values(), *at.proposals_scored.values()))


def _at_end(view: RunView) -> Iterator[tuple[object, ...]]:
    """Yield the answers given after the last step, and those to rows that no step asks about."""
    for scored in view.final_scored.values():
        yield scored.predictions
    for _, evaluated in view.evaluations:
        yield from evaluated.predictions


def _count(answers: Iterable[tuple[object, ...]]) -> tuple[int, int]:
    """Return how many answers could not be read, and how many there are."""
    counts = [(each.count(None), len(each)) for each in answers]
    return sum(silent for silent, _ in counts), sum(n for _, n in counts)
