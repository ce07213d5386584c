"""`python -m tests.torture.broken …`: the command line with a resume that is broken on purpose, as BROKEN names.

The campaign must catch each. Nothing of the product reads BROKEN: the fault is put in here, before the command runs.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import vpp.runs.worker as worker
from vpp.events import Event, RunResumed
from vpp.inference import drawing, proposing, resizing, sequential_monte_carlo
from vpp.llm.counters import Counters
from vpp.runs.answers import AnswerLog
from vpp.runs.recorder import Recorder
from vpp.runs.view import RunView


def from_the_step_before() -> None:
    """Goes on from the last whole step but one, and says so to nobody."""
    right = worker.population_of

    def wrong(view: RunView, *args: Any, **options: Any) -> Any:
        steps = view.finished_steps
        earlier = replace(view, steps={step.step: step for step in steps[:-1]}) if len(steps) > 1 else view
        return right(earlier, *args, **options)

    worker.population_of = wrong


def torn_tail_kept() -> None:
    """Writes on behind half a line."""
    worker.cut_torn_tail = lambda path: None


def weights_forgotten() -> None:
    """Takes up the particles as if they had just been resampled."""
    right = worker.population_of

    def wrong(*args: Any, **options: Any) -> Any:
        found = right(*args, **options)
        if found is None:
            return None
        return replace(found, particles=tuple(replace(p, log_weight=0.0, log_likelihood=None) for p in found.particles))

    worker.population_of = wrong


def unfinished_step_counted() -> None:
    """Does not void what the unfinished step had recorded."""
    right = Recorder.record

    def wrong(self: Recorder, event: Event) -> None:
        if not isinstance(event, RunResumed):
            right(self, event)

    Recorder.record = wrong


def other_numbers() -> None:
    """Draws other random numbers than the run would have drawn: a generator's state, lost."""
    for module in (drawing, proposing, resizing, sequential_monte_carlo):
        for name in ("rng", "call_seed"):
            if hasattr(module, name):
                setattr(module, name, _shifted(getattr(module, name)))


def _shifted(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seed, *path: right(seed + 1, *path)


def counts_not_taken_back() -> None:
    """Counts the unfinished step's calls, which are asked again, twice."""
    Counters.restore = lambda self, usage: None


def answers_not_taken_back() -> None:
    """Keeps what was said after the last whole step, so that it stands twice."""
    AnswerLog.keep_only = lambda self, lines: None


BREAKAGES = {
    breakage.__name__: breakage
    for breakage in (
        from_the_step_before,
        torn_tail_kept,
        weights_forgotten,
        unfinished_step_counted,
        other_numbers,
        counts_not_taken_back,
        answers_not_taken_back,
    )
}

if __name__ == "__main__":
    from vpp.__main__ import main

    BREAKAGES[os.environ["BROKEN"]]()
    sys.exit(main(sys.argv[1:]))
