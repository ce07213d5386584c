"""The journal of a run as verification reads it: events that count, by step, with the line of each."""

import os
from dataclasses import dataclass
from pathlib import Path

from vpp.errors import RunError
from vpp.events import Event, RunFailed, RunFinished, RunResumed, StepFinished
from vpp.runs.damage import journal_reader
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Lost
from vpp.runs.view import RunView, StepView
from vpp.verification.ledger import At


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Events up to the first unreadable line; those that a resume discarded are left out."""

    view: RunView
    line_of: dict[int, int]
    """Line number by `id` of an event: two equal events may stand on different lines."""
