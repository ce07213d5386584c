"""The averaged predictions of an evaluation, and the constant answer that they have to beat."""

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Votes
from vpp.posterior.prediction import Value, average


def averages(evaluated: Evaluated) -> Votes:
    """Return (N,) the averaged predictions; computed anew for journals that do not record them."""
    if evaluated.averaged:
        return evaluated.averaged
    is_label = evaluated.metric == "accuracy"
    by_row = zip(*evaluated.predictions, strict=True)
    return tuple(average(votes, evaluated.weights, is_label=is_label) for votes in by_row)


def constant_answer(dataset: Dataset) -> Value:
    """The most frequent training label, the lowest in sort order where several tie; or the training targets' mean.

    Raises ValueError where no training row has a target.
    """
    targets = [row.target for row in dataset.train if row.target is not None]
    answer = average(targets, [1.0] * len(targets), is_label=dataset.task == "classification")
    if answer is None:
        raise ValueError("no training row has a target")
    return answer
