"""The charts of a report: which a run has, and beside which section each stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.drawing.calibration_figures import risk_figure
from vpp.drawing.figures import (
    Figure,
    acceptance_figure,
    error_figure,
    ess_figure,
    evidence_figure,
    size_figure,
    weights_figure,
)
from vpp.drawing.trust import why_not_judged
from vpp.inspection.points import points
from vpp.inspection.reliability import spread_reliability, vote_reliability
from vpp.inspection.scores import rows_by_id
from vpp.runs.reader import Snapshot
from vpp.wording.progress import batch_errors
from vpp.wording.theme import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFigure:
    """A chart and its place."""

    section: str
    """Title of the section that it stands beside."""
    draw: Callable[[Mode], Figure]


def report_figures(snapshot: Snapshot, dataset: Dataset) -> tuple[ReportFigure, ...]:
    """The charts that mean something for the run's options, in the order of their sections; none without numbers."""
    found = (*_in_brief(snapshot), *_doubt(snapshot, dataset), *_by_step(snapshot, dataset))
    return tuple(figure for figure in found if figure.draw("light").rows)


def _in_brief(snapshot: Snapshot) -> Iterator[ReportFigure]:
    view = snapshot.view
    if snapshot.spec.config.is_weighted:
        yield ReportFigure(section="In brief", draw=lambda mode: ess_figure(view, mode))
        yield ReportFigure(section="In brief", draw=lambda mode: weights_figure(view, mode))


def _doubt(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    test = snapshot.view.evaluated.get("test")
    if test is None or why_not_judged(len(test.weights)):
        return
    found, is_label = points(test, rows_by_id(dataset)), dataset.task == "classification"
    judged = vote_reliability(found) if is_label else spread_reliability(found, dataset)
    if judged.is_equally_sure:
        return
    curve = judged.curve
    yield ReportFigure(
        section="Does uncertainty mean error?", draw=lambda mode: risk_figure(curve, mode, is_label=is_label)
    )


def _by_step(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    view, config, section = snapshot.view, snapshot.spec.config, "Step by step"
    if config.is_filtered:
        yield ReportFigure(section=section, draw=lambda mode: acceptance_figure(view, mode))
    if config.is_telescoping:
        yield ReportFigure(section=section, draw=lambda mode: evidence_figure(view, mode))
    if config.particles_max:
        yield ReportFigure(section=section, draw=lambda mode: size_figure(view, mode))
    errors = batch_errors(view, config, dataset)
    yield ReportFigure(
        section=section, draw=lambda mode: error_figure(view, mode, errors.by_step, name=errors.name, top=errors.top)
    )
