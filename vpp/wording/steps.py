"""How steps are said: a step is named by its number, from 0 as in the journal; what is counted is whole steps.

The two never stand in one phrase: step 7 is the eighth, so "step 7 of 8" would be read as not the last.
"""

from vpp.runs.view import RunView
from vpp.wording.words import counted, integer


def steps_done(view: RunView) -> int:
    """Whole steps; the first population is none."""
    return 0 if view.last_step is None else view.last_step + 1


def steps_text(view: RunView) -> str:
    """`8 of 20 steps`."""
    return f"{integer(steps_done(view))} of {counted(view.total_steps, 'step')}"


def step_name(view: RunView, step: int) -> str:
    """`step 8`, and that it is under way where it is not whole."""
    return f"step {step}" + ("" if step < steps_done(view) else ", under way")
