"""Whether so much of a run could not be read that the rest says little: one rule for every place that tells it."""

from collections.abc import Iterable, Iterator
from functools import partial

from vpp.runs.view import RunView, StepView
from vpp.wording.markup import state
from vpp.wording.words import capitalised, integer

LEAST = 5
"""Answers or proposals before they are judged."""
MOSTLY = 0.5
"""Share of the learner's answers from which on little is left."""
LITTLE = "what follows says little"


def unread_sentence(view: RunView) -> str:
    """`777 of 800 answers to rows could not be read: what follows says little.`; empty where enough could."""
    said = _unread(view)
    return f"{said}: {LITTLE}." if said else ""


def unread_html(view: RunView) -> str:
    """The same on top of a page, with where to look; empty where enough could be read."""
    said = _unread(view)
    where = f"{capitalised(LITTLE)}. Open a card’s answer on Watch to see why."
    return state(said, where, failed=True) if said else ""


def _unread(view: RunView) -> str:
    if not (view.usage.unparsable or view.usage.refused):
        return ""
    answers, proposals = tuple(_answers(view)), tuple(_proposals(view))
    refused = " or were refused as no rule" if proposals and any(p.refused for p in view.proposals) else ""
    parts = [*answers, *proposals]
    return capitalised(f"{' and '.join(parts)} could not be read{refused}") if parts else ""


def _answers(view: RunView) -> Iterator[str]:
    counts = [*(at.once("unread", partial(_of_step, at)) for at in view.steps.values()), _count(_at_end(view))]
    silent, given = sum(count[0] for count in counts), sum(count[1] for count in counts)
    if given >= LEAST and silent >= MOSTLY * given:
        yield f"{'all' if silent == given else f'{integer(silent)} of'} {integer(given)} answers to rows"


def _of_step(at: StepView) -> tuple[int, int]:
    return _count(scored.predictions for scored in (*at.scored.values(), *at.proposals_scored.values()))


def _at_end(view: RunView) -> Iterator[tuple[object, ...]]:
    """What the learner answered after the last step, and of rows that steps do not ask about."""
    for scored in view.final_scored.values():
        yield scored.predictions
    for _, evaluated in view.evaluations:
        yield from evaluated.predictions


def _count(given: Iterable[tuple[object, ...]]) -> tuple[int, int]:
    """How many answers could not be read, and how many there are."""
    counts = [(answers.count(None), len(answers)) for answers in given]
    return sum(silent for silent, _ in counts), sum(n for _, n in counts)


def _proposals(view: RunView) -> Iterator[str]:
    counts = [at.once("unread proposals", partial(_proposals_of, at)) for at in view.steps.values()]
    silent, made = sum(count[0] for count in counts), sum(count[1] for count in counts)
    if made >= LEAST and silent == made:
        yield f"all {integer(made)} proposals"


def _proposals_of(at: StepView) -> tuple[int, int]:
    """How many of a step's could not be read, and how many there are."""
    return sum(proposed.why == "unparsable" for proposed in at.proposed.values()), len(at.proposed)
