"""What five VML runs come to: together, the best on test that nobody could have picked, the best on train."""

from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.reporting.markup import Metric
from vpp.reporting.scores import Score, averaged_score, particle_scores, score_text
from vpp.reporting.words import in_words
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


def ensemble_metrics(five: Ensemble) -> list[Metric]:
    """The three, for a page: what was reported first, what one could have picked, what nobody could."""
    is_label = five.together.n_correct is not None
    metric = "Test accuracy" if is_label else "Test mean squared error"
    n = in_words(five.size)
    return [
        Metric(
            name=f"{metric}, all {n} together",
            value=score_text(five.together),
            words=f"The unweighted {'vote' if is_label else 'mean'}: the run’s metric.",
        ),
        Metric(
            name=f"Best of {n} on train",
            value=score_text(five.best_on_train.test),
            scale="on test",
            words=f"Hypothesis {five.best_on_train.slot}, the best on the training rows: what one could have picked.",
        ),
        Metric(
            name=f"Best of {n} on test (oracle)",
            value=score_text(five.oracle.test),
            scale="on test",
            words=f"Hypothesis {five.oracle.slot}, chosen after seeing the test rows: nobody could have picked it.",
        ),
    ]
