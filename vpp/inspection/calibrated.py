"""Calibrated doubt of a run's last population, from its answers to the calibration rows."""

import math
from typing import Any

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.points import Point, points
from vpp.inspection.scores import rows_by_id, rows_of
from vpp.posterior.calibration import Conformal, miss, weight_ahead
from vpp.posterior.disagreement import weighted_interval
from vpp.runs.asking import Answers
from vpp.runs.view import RunView


def calibrated(view: RunView, dataset: Dataset, *, of: Evaluated | Answers | None) -> Conformal | None:
    """Return the conformal prediction; None unless the last population has answered the calibration rows.

    of: the votes that it is for, which must be those of the same step and weights.
    """
    found = view.evaluated.get("calibration")
    if (
        found is None
        or of is None
        or found.step != view.last_step
        or (of.step, of.weights) != (found.step, found.weights)
    ):
        return None
    scores = []
    for row, votes in zip(rows_of(found, dataset), zip(*found.answers, strict=True), strict=True):
        if dataset.task == "classification":
            scores.append(weight_ahead(votes, found.weights, dataset.classes)[str(row.target)])
        else:
            scores.append(miss(weighted_interval(votes, found.weights), float(row.target or 0.0)))
    return Conformal(scores=tuple(scores), classes=dataset.classes)


def possible_labels(point: Point) -> tuple[str, ...]:
    """Return the labels that are possible; empty without a calibration, and for regression."""
    return point.calibrated.labels(point.answers, point.weights) if point.calibrated and point.is_label else ()


def possible_range(point: Point) -> tuple[float, float] | None:
    """Return the range that holds the true number; None without a calibration, and for labels."""
    return None if point.calibrated is None or point.is_label else point.calibrated.interval(point.interval)


def holds_truth(point: Point) -> bool:
    if (ends := possible_range(point)) is not None:
        return ends[0] <= float(point.row.target or 0.0) <= ends[1]
    return point.row.target in possible_labels(point)


def calibration_result(view: RunView, dataset: Dataset) -> dict[str, Any] | None:
    """Return the calibration and how often it holds on the test rows, in JSON types; None without a calibration.

    `threshold` is a text, Infinity, if the rows are too few.
    """
    test = view.evaluated.get("test")
    doubt = calibrated(view, dataset, of=test)
    if doubt is None or test is None:
        return None
    rows = points(test, rows_by_id(dataset), doubt)
    return {
        "level": doubt.level,
        "rows": doubt.n,
        "threshold": doubt.threshold if math.isfinite(doubt.threshold) else "Infinity",
        "test_rows": len(rows),
        "truth_possible": sum(map(holds_truth, rows)),
    }
