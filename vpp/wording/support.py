"""Sentences for a run that found nothing, collapsed on an unsupported text, or votes worse than one hypothesis."""

from collections.abc import Iterator

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas
from vpp.inspection.support import Against, Collapse, collapse, predicted
from vpp.runs.surpassed import Surpassed, surpassed
from vpp.runs.view import RunView
from vpp.wording.words import counted, integer, number, percent

_ROWS = {"test": "test row", "train": "training row"}


def support_sentence(view: RunView, dataset: Dataset, ideas: Ideas | None) -> str:
    """What the headline of such a run begins with, with both figures; empty for every other run."""
    return " ".join(_sentences(view, dataset, ideas))


def _sentences(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    whole = predicted(view, dataset)
    if whole is not None and whole.is_beaten:
        yield _no_better(whole)
    if (found := collapse(view, dataset, ideas)) is not None:
        yield _collapsed(found)
    yield from surpassed_sentences(view, dataset, clear=True)


def surpassed_sentences(view: RunView, dataset: Dataset, *, clear: bool) -> Iterator[str]:
    """What does better than the averaged prediction on training rows; with `clear`, only beyond luck."""
    for found in surpassed(view, dataset):
        if found.is_clear or not clear:
            yield _surpassed(found, is_label=dataset.task == "classification")


def _surpassed(found: Surpassed, *, is_label: bool) -> str:
    which = "a hypothesis that was ruled out" if found.slot is None else f"particle {found.slot} alone"
    rows = counted(found.n, "training row")
    if is_label:
        right, other = (integer(round((1 - loss) * found.n)) for loss in (found.prediction, found.other))
        return f"The vote does worse than {which}: of the same {rows}, it gets {right} right and that one {other}."
    own, other = number(found.prediction), number(found.other)
    return f"The mean does worse than {which}: its mean squared error on the same {rows} is {own}, that one's {other}."


def _no_better(against: Against) -> str:
    own, constant = against.own, against.constant
    rows = counted(own.n, _ROWS[against.split])
    if own.n_correct is not None and constant.n_correct is not None:
        figures = (
            f"the prediction gets {integer(own.n_correct)} of {rows} right, that label {integer(constant.n_correct)}"
        )
        return f"No better than always answering the most frequent training label: {figures}."
    figures = f"mean squared error on {rows}: {number(own.error)}; that mean gives {number(constant.error)}"
    return f"No better than always predicting the mean of the training targets: {figures}."


def _collapsed(found: Collapse) -> str:
    own, constant = found.against.own, found.against.constant
    held = "all" if found.weight > 1 - 1e-9 else percent(found.weight)
    said = f"Collapsed on a hypothesis no better than a constant answer: it holds {held} of the weight"
    rows = counted(own.n, _ROWS[found.against.split])
    if own.n_correct is not None and constant.n_correct is not None:
        right = f"gets {integer(own.n_correct)} of {rows} right"
        constantly = f"always answering the most frequent training label gets {integer(constant.n_correct)}"
        return f"{said} and {right}; {constantly}."
    return (
        f"{said}. Its mean squared error on {rows} is {number(own.error)}; always predicting their mean gives "
        f"{number(constant.error)}."
    )
