"""What is drawn of a run, made once for all who look at it."""

import sys
from collections.abc import Callable

from pages.parts.frame import OpenRun
from vpp.drawing.cache import DrawingCache
from vpp.drawing.figures import Figure
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView

MOST_BYTES = 32 * 2**20
"""Of all drawings of all runs; a run of 50 particles has about 0.5 MB of them at a step."""
_KEPT = DrawingCache(MOST_BYTES)


def drawn(run: OpenRun, snapshot: Snapshot, part: str, *of: object, make: Callable[[], str]) -> str:
    """HTML of a part of the run as of the snapshot. of: what else it is made from, of which equals are printed alike.

    The key begins with the run's path, which lies in its user's folder: nobody is given what is another's.
    """
    made_from = (str(run.directory.path), snapshot.edition, part, *map(repr, of))
    return _KEPT.get(made_from, make, size=sys.getsizeof)


def figure(run: OpenRun, part: str, *of: object, make: Callable[[], Figure]) -> Figure:
    """A chart of the run, whatever else is new in it. of: all that it is made from; equals are printed alike."""

    return _KEPT.get((str(run.directory.path), part, *map(repr, of)), make, size=_bytes)


class Prompts:
    """What the optimizer was asked; each prompt is rebuilt once."""

    def __init__(self, run: OpenRun, snapshot: Snapshot) -> None:
        self._run = run
        self._maker = PromptMaker(snapshot.spec, run.reader.dataset(), answers=run.reader.read_answers)

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """What a slot's proposal at a step was asked; None where that is not known (yet)."""
        proposed = hash(view.steps[step].proposed.get(slot))
        made_from = (str(self._run.directory.path), "prompt", view.began_at, step, slot, proposed)
        return _KEPT.get(made_from, lambda: self._maker.proposal(view, step, slot), size=sys.getsizeof)


def _bytes(made: Figure) -> int:
    """About: its numbers stand in the chart, in its JSON's terms and, as words, in its table."""
    return 100 * len(made.rows) * len(made.head) * 3
