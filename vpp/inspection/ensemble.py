"""What five VML runs come to: together, the best on test that nobody could have picked, the best on train."""

from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.inspection.scores import Score, averaged_score, particle_scores
from vpp.runs.view import RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """One of the runs, and its test rows."""

    slot: int
    test: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """Three ways to read independent runs, each on the test rows."""

    together: Score
    """The unweighted vote or mean: the run's metric."""
    oracle: Pick
    """Best on the test rows themselves."""
    best_on_train: Pick
    """Best on the training rows, the lowest number where several are; what a user could pick."""
    size: int


def ensemble(view: RunView, dataset: Dataset) -> Ensemble | None:
    """None before both splits are evaluated."""
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    if test is None or train is None:
        return None
    on_test, on_train = particle_scores(test, dataset), particle_scores(train, dataset)
    return Ensemble(
        together=averaged_score(test, dataset),
        oracle=_picked(on_test, on_test),
        best_on_train=_picked(on_train, on_test),
        size=len(on_test),
    )


def _picked(by: tuple[Score, ...], on_test: tuple[Score, ...]) -> Pick:
    slot = min(range(len(by)), key=lambda k: by[k].error)
    return Pick(slot=slot, test=on_test[slot])
