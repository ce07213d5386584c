"""Which rows a step scored each particle on, and which of them are its batch."""

from vpp.events import Scored
from vpp.problem import batch_length
from vpp.runs.view import StepView
from vpp.settings import Config


def batch_places(view: StepView, scored: Scored, config: Config, *, n_train: int) -> list[int]:
    """Places, among the rows scored, of the step's batch: each of its rows once, where it stands last.

    While the step goes on its batch is not told yet: it is what a buffer ends with, and unknown among all rows.
    """
    last = {row: i for i, row in enumerate(scored.rows)}
    if view.finished:
        return [last[row] for row in view.finished.batch if row in last]
    if scored_rows(config) == "training rows":
        return []
    length = batch_length(view.step, n_train=n_train, batch_size=config.batch_size)
    return list(range(len(scored.rows)))[-length:]


def scored_rows(config: Config) -> str:
    """The rows on which a step scores each particle."""
    if config.is_telescoping or (config.method == "mh" and config.mh_rows == "train"):
        return "training rows"
    is_buffered = config.method == "smc" or (config.method == "mh" and config.mh_rows == "buffer")
    return "rows of the buffer" if is_buffered else "batch rows"
