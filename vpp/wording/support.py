"""Warnings at the head of a run: answers mostly unreadable, no better than a constant, beaten by one hypothesis."""

from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas
from vpp.inspection.summary import Against, collapsed, predicted
from vpp.runs.summary import unread
from vpp.runs.surpassed import Surpassed, surpassed
from vpp.runs.view import RunView
from vpp.wording.markup import state
from vpp.wording.words import EQUAL, ROW_OF, capitalised, counted, integer, number, percent


def support_sentence(view: RunView, dataset: Dataset, ideas: Ideas | None) -> str:
    return " ".join(_sentences(view, dataset, ideas))


def _sentences(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    prediction = predicted(view, dataset)
    if prediction is not None and prediction.is_beaten:
        yield f"No better than always answering {_figures(prediction)}."
    if ideas and (against := collapsed(view, dataset, ideas)) is not None:
        weight = ideas.all[0].weight
        held = "all" if weight > 1 - EQUAL else percent(weight)
        lead = f"Collapsed on one hypothesis, which holds {held} of the weight"
        yield f"{lead} and is no better than always answering {_figures(against)}."
    yield from surpassed_sentences(view, dataset, clear=True)


def surpassed_sentences(view: RunView, dataset: Dataset, *, clear: bool) -> Iterator[str]:
    """Name hypotheses that beat the averaged prediction on training rows; with `clear`, only beyond chance."""
    for each in surpassed(view, dataset):
        if each.is_clear or not clear:
            yield _surpassed(each, is_label=dataset.task == "classification")


def _surpassed(by: Surpassed, *, is_label: bool) -> str:
    which = "a hypothesis that was ruled out" if by.slot is None else f"particle {by.slot} alone"
    rows = counted(by.n, "training row")
    if is_label:
        right, other = (integer(round((1 - loss) * by.n)) for loss in (by.prediction, by.other))
        return f"The vote does worse than {which}: {right} against {other} right, on the same {rows}."
    own, other = number(by.prediction), number(by.other)
    return f"The mean does worse than {which}: mean squared error {own} against {other}, on the same {rows}."


def _figures(against: Against) -> str:
    """`the most frequent training label: 2 against 2 right, on 4 test rows`."""
    own, constant = against.own, against.constant.score
    rows = counted(own.n, ROW_OF[against.split])
    if own.n_correct is None or constant.n_correct is None:
        errors = f"mean squared error {number(own.error)} against {number(constant.error)}"
        return f"the mean of the training targets: {errors}, on {rows}"
    right = f"{integer(own.n_correct)} against {integer(constant.n_correct)} right"
    return f"the most frequent training label: {right}, on {rows}"


# Unreadable answers

LITTLE = "the results below are unreliable"


def unread_sentence(view: RunView) -> str:
    """`777 of 800 answers to rows could not be read: the results below are unreliable.`; empty if enough could."""
    words = _unread(view)
    return f"{words}: {LITTLE}." if words else ""


def unread_html(view: RunView) -> str:
    words = _unread(view)
    where = f"{capitalised(LITTLE)}. Open a card’s answer on Watch to see why."
    return state(words, where, failed=True) if words else ""


def _unread(view: RunView) -> str:
    found = unread(view)
    if found is None:
        return ""
    all_or_some = "all" if found.answers == found.of else f"{integer(found.answers)} of"
    parts = [f"{all_or_some} {integer(found.of)} answers to rows"] if found.answers else []
    parts += [f"all {integer(found.proposals)} proposals"] if found.proposals else []
    refused = " or were refused as no rule" if found.proposals and any(p.refused for p in view.proposals) else ""
    return capitalised(f"{' and '.join(parts)} could not be read{refused}")
