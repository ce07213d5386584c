"""Whether so much of a run could not be read that the rest says little: one rule for every place that tells it."""

from collections.abc import Iterator

from vpp.runs.view import RunView
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
    if not view.usage.unparsable:
        return ""
    parts = [*_answers(view), *_proposals(view)]
    return capitalised(f"{' and '.join(parts)} could not be read") if parts else ""


def _answers(view: RunView) -> Iterator[str]:
    silent, given = 0, 0
    for answers in _given(view):
        silent, given = silent + answers.count(None), given + len(answers)
    if given >= LEAST and silent >= MOSTLY * given:
        yield f"{'all' if silent == given else f'{integer(silent)} of'} {integer(given)} answers to rows"


def _given(view: RunView) -> Iterator[tuple[object, ...]]:
    """What the learner answered in the steps that count."""
    for step in view.steps.values():
        for scored in (*step.scored.values(), *step.proposals_scored.values()):
            yield scored.predictions
    for scored in view.final_scored.values():
        yield scored.predictions
    for _, evaluated in view.evaluations:
        yield from evaluated.predictions


def _proposals(view: RunView) -> Iterator[str]:
    proposals = view.proposals
    if len(proposals) >= LEAST and all(proposed.why == "unparsable" for proposed in proposals):
        yield f"all {integer(len(proposals))} proposals"
