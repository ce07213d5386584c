"""What is said where a prompt had no room for all that it should show."""

from collections.abc import Iterator, Sequence

from vpp.events import Proposed
from vpp.runs.view import RunView
from vpp.wording.words import counted, integer


def shown_words(proposed: Proposed, n_batch: int | None) -> tuple[str, ...]:
    """Of one proposal; nothing where it was shown everything. n_batch: rows of its batch, where that is known."""
    if proposed.shown is None:
        return ()
    if proposed.shown == n_batch:
        return ("shown its batch without the exchange before it: the context had no room for both",)
    of = f"a batch of {integer(n_batch)}" if n_batch else "its batch"
    return (f"shown {counted(proposed.shown, 'row')} of {of}: the context had no room for more",)


def room_words(view: RunView) -> Iterator[str]:
    """Of a whole run, a sentence or none."""
    proposed = [each for step in view.steps.values() for each in step.proposed.values()]
    short = [each.shown for each in proposed if each.shown is not None]
    if short:
        yield (
            f"{integer(len(short))} of {counted(len(proposed), 'proposal')} were made from a shortened prompt, with "
            f"{_span(short)} of the batch and no earlier exchange: the model's context had no room for more."
        )


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return counted(low, "row") if low == high else f"{integer(low)} to {counted(high, 'row')}"
