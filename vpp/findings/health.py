"""How a run does while it goes on, in one line: from what is recorded, at no cost."""

import math
from collections import Counter

from vpp.data.dataset import Dataset
from vpp.findings.curves import Accuracy, accuracies
from vpp.findings.identity import Names
from vpp.runs.view import RunView
from vpp.show.words import counted, number

ALL_WEIGHT = 0.99
"""Share from which one hypothesis has all the weight."""
LEAST_STEPS = 2
"""Steps before which there is nothing to say."""
SETTLED = 3
"""Steps in a row with the same best score and the same heaviest hypothesis that count as settled."""
BETTER = 0.01
"""Least gain, as a share of the rows or of the error, that counts as improving."""


def health(view: RunView, dataset: Dataset, names: Names) -> str:
    """Return `Improving`, `Settled for 5 steps`, or what is wrong; empty in the first two steps."""
    scores = accuracies(view, dataset)
    if len(scores) < LEAST_STEPS:
        return ""
    if words := _no_better(scores[-1], dataset):
        return words
    heaviest, share = names.heaviest(scores[-1].step)
    if share > ALL_WEIGHT and len(names.numbers_at(scores[-1].step)) > 1:
        return "One hypothesis has all the weight"
    if (n := _settled(scores, names, heaviest)) >= SETTLED:
        return f"Settled for {counted(n, 'step')}"
    return "Improving" if _improves(scores, dataset) else "Not improving at the moment"


def _no_better(last: Accuracy, dataset: Dataset) -> str:
    """Compare the best hypothesis with the best answer that is the same for every row."""
    targets = [row.target for row in dataset.train if row.id in last.rows and row.target is not None]
    if not targets:
        return ""
    if dataset.task == "classification":
        answer, n = Counter(targets).most_common(1)[0]
        return f"No better than always {answer}" if last.best <= n / len(targets) else ""
    values = [float(target) for target in targets]
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return f"No better than always {number(mean, 3)}" if last.best >= error else ""


def _settled(scores: tuple[Accuracy, ...], names: Names, heaviest: int | None) -> int:
    n = 0
    for score in reversed(scores):
        if score.best != scores[-1].best or names.heaviest(score.step)[0] != heaviest:
            break
        n += 1
    return n


def _improves(scores: tuple[Accuracy, ...], dataset: Dataset) -> bool:
    first, last = scores[max(0, len(scores) - 1 - SETTLED)], scores[-1]
    if dataset.task == "classification":
        return last.mean - first.mean > BETTER or last.best - first.best > BETTER
    return first.mean - last.mean > BETTER * first.mean or first.best - last.best > BETTER * first.best
