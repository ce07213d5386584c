"""The charts of Watch, and notes on what its numbers leave out."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from pages.parts import blocks, opening, pieces
from vpp.drawing.figures import (
    Figure,
    acceptance_figure,
    error_figure,
    ess_figure,
    evidence_figure,
    size_figure,
    weights_figure,
)
from vpp.inspection.summary import evidence
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.brief import COMPARABLE
from vpp.wording.progress import batch_errors, final_rows, shown_step
from vpp.wording.theme import Mode


class Chart(NamedTuple):
    """A chart of the page and its title."""

    make: Callable[[Mode], Figure]
    title: str
    caption: str
    key: str


def charts_of(run: opening.OpenRun, view: RunView) -> Iterator[Chart]:
    config = run.snapshot.spec.config
    if config.is_weighted:
        yield Chart(lambda mode: ess_figure(view, mode), "Effective sample size", "by step", "watch.ess")
        caption = "one row a particle, more ink is heavier"
        yield Chart(lambda mode: weights_figure(view, mode), "Weight by step", caption, "watch.weights")
    if config.is_filtered:
        yield Chart(lambda mode: acceptance_figure(view, mode), "Proposals accepted", "by step", "watch.acc")
    if config.is_telescoping and not config.is_weighing:
        yield Chart(lambda mode: evidence_figure(view, mode), "Log evidence", "nominal, by step", "watch.evidence")
    if config.particles_max:
        yield Chart(lambda mode: size_figure(view, mode), "Particles K", "after each step", "watch.size")
    if not config.is_weighted or is_odd(config):
        caption = "mean of the hypotheses" if config.size > 1 else "of the one hypothesis"
        yield Chart(
            lambda mode: error_figure(view, mode, batch_errors(view, config, run.reader.dataset())),
            "Error on the batch",
            caption,
            "watch.error",
        )


def is_odd(config: Config) -> bool:
    has_evidence = config.is_telescoping and not config.is_weighing
    return (config.is_filtered + has_evidence + (config.particles_max > 0)) % 2 == 1


def made_from(view: RunView) -> Hashable:
    """Return a key of what the charts show: it changes when a step is weighed or finished."""
    shown = shown_step(view)
    weighed = None if shown is None else view.steps[shown].reweighted
    is_final = view.has_ended, view.final is not None
    return view.began_at, shown, hash(weighed), len(view.finished_steps), hash(view.population), *is_final


def draw(run: opening.OpenRun, view: RunView) -> None:
    if view.last_step is None:
        blocks.captions("Charts begin with the first step.")
        return
    charts = list(charts_of(run, view))
    for first in range(0, len(charts), 2):
        columns = st.columns(2, gap="large")
        for column, chart in zip(columns, charts[first : first + 2], strict=False):
            with column:
                make, most = shared(run, view, chart), view.total_steps
                pieces.figure(make, title=chart.title, caption=chart.caption, key=chart.key, most_rows=most)
    pieces.listen(zoom_key(run))


def shared(run: opening.OpenRun, view: RunView, chart: Chart) -> Callable[[Mode], Figure]:
    """Return a function that gives the chart in a theme: drawn once for all readers, with this reader's zoom."""

    def make(mode: Mode) -> Figure:
        made = pieces.shared_figure(run, chart.key, mode, made_from(view), make=lambda: chart.make(mode))
        return replace(made, chart=pieces.zoomed(made.chart, chart.key, zoom_key(run)))

    return make


def zoom_key(run: opening.OpenRun) -> str:
    return f"watch.zoom.{run.key}"


def notes(run: opening.OpenRun, view: RunView) -> Iterator[str]:
    config, found = run.snapshot.spec.config, evidence(run.snapshot.spec, view)
    if found and found["because"]:
        yield f"The log evidence is nominal: {'; '.join(found['because'])}. {COMPARABLE}"
    if config.is_rescored:
        yield f"After the last step its texts are weighed once more, on {final_rows(config)}: that is the end’s weight."
    if not (config.is_filtered or config.is_weighing):
        yield "Every proposal is taken, so none is accepted or rejected."
    if not config.is_weighted:
        yield "There are no weights, so there is no effective sample size."
