"""The averaged predictions of an evaluation, also for journals that do not tell them."""

from vpp.events import Evaluated, Votes
from vpp.posterior.prediction import average


def averages(evaluated: Evaluated) -> Votes:
    """(N,) the averaged predictions as the run made them; made anew for journals that do not tell them."""
    if evaluated.averaged:
        return evaluated.averaged
    is_label = evaluated.metric == "accuracy"
    by_row = zip(*evaluated.predictions, strict=True)
    return tuple(average(votes, evaluated.weights, is_label=is_label) for votes in by_row)
