"""Watch: a run as it goes, or replayed; both are the same page."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, cast

import streamlit as st

from pages.parts import frame, replay, this_run, thresholds, zoom
from pages.parts.steady import steady
from vpp.drawing.band import band_html
from vpp.drawing.cards import Card, CardMaker
from vpp.drawing.deck import deck_html, mark_legend
from vpp.drawing.figures import (
    Figure,
    acceptance_figure,
    error_figure,
    ess_figure,
    evidence_figure,
    size_figure,
    weights_figure,
)
from vpp.events import INITIAL_STEP
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.runs.summary import evidence
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording import markup
from vpp.wording.brief import COMPARABLE
from vpp.wording.happening import happened
from vpp.wording.progress import batch_errors, headline, metrics, phase, shown_step
from vpp.wording.tokens import Mode

FOLLOW, SHOW_END = "Follow latest", "Show the end"


def controls(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The buttons that fit the state."""
    directory, state = run.directory, snapshot.state
    row, here = st.container(horizontal=True, vertical_alignment="center"), {"run": directory.id}
    if state in ("running", "queued", "stalled"):
        if row.button("Pause", key="watch.pause"):
            directory.say("pause")
        if row.button("Stop and keep", key="watch.stop"):
            directory.say("stop")
    elif state == "paused":
        if row.button("Go on", key="watch.go_on", type="primary"):
            directory.say("go on")
        if row.button("Stop and keep", key="watch.stop"):
            directory.say("stop")
    elif state in ("interrupted", "failed", "stopped"):
        if row.button("Resume", key="watch.resume", type="primary"):
            frame.start(directory)
        if not snapshot.spec.endpoint.is_demo:
            frame.ask_keys(snapshot.spec.endpoint)
        if snapshot.view.population:
            row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
    else:
        row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
        row.page_link("pages/report.py", label="Get the report", query_params=here)
    words = heard(directory, snapshot) or phase(snapshot)
    row.html(markup.block(markup.caption(words), label="state of the run"))


def heard(directory: RunDirectory, snapshot: Snapshot) -> str:
    """That a word was left for the worker, until it has obeyed; empty where none waits."""
    said = directory.said()
    if said is None or said[1] < (snapshot.view.obeyed_at or 0.0) or snapshot.state not in frame.LIVE:
        return ""
    if said[0] == "stop":
        return "Stopping: the test rows are asked about what is kept. Stop again does without."
    return "Pausing: calls in flight finish." if said[0] == "pause" and snapshot.state == "running" else ""


class Shown(NamedTuple):
    """Which of a run's steps the page shows."""

    step: int | None
    """None for what came after the last step, and before the first is there to see."""
    newest: int | None
    """The last step there is to see."""
    is_live: bool
    chosen: replay.Place

    @property
    def is_end(self) -> bool:
        """Whether what came after the last step is shown."""
        return self.step is None and self.newest is not None

    @property
    def deck_id(self) -> str:
        """Tells decks apart: another one is sorted at once. A film is one deck, held while it is read."""
        if self.chosen.is_film and not self.is_live:
            return "film"
        if self.step is None:
            return "end" if self.is_end else "initial"
        return "live" if self.step == self.newest and self.is_live else str(self.step)


def shown_of(run: frame.OpenRun, snapshot: Snapshot) -> Shown:
    """The latest, or a step that is replayed. A run that has ended has one place more: its end."""
    chosen, newest = replay.place(slider_key(run)), shown_step(snapshot.view)
    live = snapshot.state in frame.LIVE
    is_replayed = chosen.step is not None and newest is not None and chosen.step <= newest
    step = chosen.step if is_replayed else newest if live else None
    return Shown(step, newest, live, chosen if is_replayed else replay.Place(None, chosen.is_film))


def slider_key(run: frame.OpenRun) -> str:
    """Where a browser session keeps the step shown of this run."""
    return f"watch.step.{run.directory.id}.slider"


def page(run: frame.OpenRun) -> None:
    """All parts are drawn from one reading of the run, so that all tell of the same step."""
    live = run.snapshot.state in frame.LIVE
    frame.head(run, run.snapshot.spec.name)

    @st.fragment(run_every=1.0 if live else None)
    def now() -> None:
        snapshot = run.reader.refresh()
        draw(run, snapshot)
        if snapshot.state != run.snapshot.state:
            # The list of runs shows the state too, and has no timer of its own.
            st.rerun()

    now()


def draw(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The state, the step, the charts and the cards; the slider last of all."""
    view, shown = snapshot.view, shown_of(run, snapshot)
    # Every place is there whatever the state, so that a part stays itself when the one above it comes or goes.
    head, band, charts, deck = (st.container(key=f"watch_{name}") for name in ("head", "band", "charts", "deck"))
    with head:
        draw_head(run, snapshot, shown)
    if view.last_step is not None:
        with band:
            slider = st.container(key="watch_slider")
            draw_numbers(snapshot, shown)
        with charts:
            draw_charts(run, view)
    elif shown.is_live:
        band.html(markup.block(markup.waiting(waiting_for(snapshot))))
    with deck:
        draw_deck(run, snapshot, shown)
    if view.last_step is not None:
        with slider:
            draw_slider(run, view, shown)


def draw_head(run: frame.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    """What the page shows, what went wrong, and what one can do."""
    st.html(markup.block(markup.saying(headline(snapshot, shown.step))))
    wrong, buttons = st.container(), st.container()
    with wrong:
        trouble(snapshot)
    with buttons:
        controls(run, snapshot)


def draw_numbers(snapshot: Snapshot, shown: Shown) -> None:
    """What happened in the step, its numbers, and where their verdicts turn."""
    step = INITIAL_STEP if shown.newest is None else shown.step
    told = markup.happening(happened(snapshot.view, step, snapshot.spec.config))
    steady(told + markup.strip(metrics(snapshot, shown.step, thresholds.chosen())), key="watch.strip")
    thresholds.fold()


def draw_slider(run: frame.OpenRun, view: RunView, shown: Shown) -> None:
    """Where one is, and the way to other steps."""
    newest = shown.newest or 0
    replay.draw(
        band_html(
            view, shown=newest if shown.step is None and shown.is_live else shown.step, has_end=not shown.is_live
        ),
        shown=shown.chosen,
        newest=newest,
        end=None if shown.is_live else view.total_steps,
        top=max(view.total_steps - 1, 1) if shown.is_live else view.total_steps,
        follow=FOLLOW if shown.is_live else SHOW_END,
        key=slider_key(run),
    )


def waiting_for(snapshot: Snapshot) -> str:
    """What is awaited before the first population is whole."""
    if snapshot.state == "queued":
        return "Starting the worker, or waiting for another run to give way."
    k = snapshot.spec.config.size
    return f"Writing the first hypotheses: {len(snapshot.view.drawn)} of {k}."


def trouble(snapshot: Snapshot) -> None:
    """What stopped, what is kept, and the mend."""
    view = snapshot.view
    kept = f"{max(0, (view.last_step if view.last_step is not None else -1) + 1)} whole steps are saved."
    words = {
        "failed": ("The run failed", view.detail),
        "interrupted": ("The run was interrupted", f"Its worker ended early. {kept} Resume goes on from there."),
        "stalled": (
            "The worker is silent",
            f"No sign of life for 30 s. {kept} It may be stopped or the machine asleep.",
        ),
    }
    if snapshot.state in words:
        st.html(markup.block(markup.state(*words[snapshot.state], failed=True)))
    elif snapshot.state == "paused" and view.detail:
        st.html(markup.block(markup.state("The endpoint does not answer", view.detail, kept, failed=True)))


class Chart(NamedTuple):
    """A chart of the page and its head."""

    make: Callable[[Mode], Figure]
    title: str
    caption: str
    key: str


def charts_of(run: frame.OpenRun, view: RunView) -> Iterator[Chart]:
    """The charts that mean something for the run's options."""
    config = run.snapshot.spec.config
    if config.is_weighted:
        yield Chart(lambda mode: ess_figure(view, mode), "Effective sample size", "by step", "watch.ess")
        caption = "one row a particle, more ink is heavier"
        yield Chart(lambda mode: weights_figure(view, mode), "Weight by step", caption, "watch.weights")
    if config.is_filtered:
        yield Chart(lambda mode: acceptance_figure(view, mode), "Proposals accepted", "by step", "watch.acc")
    if config.is_telescoping:
        yield Chart(lambda mode: evidence_figure(view, mode), "Log evidence", "nominal, by step", "watch.evidence")
    if config.particles_max:
        yield Chart(lambda mode: size_figure(view, mode), "Particles K", "after each step", "watch.size")
    if not config.is_weighted or is_odd(config):
        errors = batch_errors(view, config, run.reader.dataset())
        caption = "mean of the hypotheses" if config.size > 1 else "of the one hypothesis"
        yield Chart(
            lambda mode: error_figure(view, mode, errors.by_step, name=errors.name, top=errors.top),
            "Error on the batch",
            caption,
            "watch.error",
        )


def is_odd(config: Config) -> bool:
    """Whether the other charts leave a place empty."""
    return (config.is_filtered + config.is_telescoping + (config.particles_max > 0)) % 2 == 1


def draw_charts(run: frame.OpenRun, view: RunView) -> None:
    """Two beside each other, and what one should know to read them in the place that is left."""
    if view.last_step is None:
        return
    charts, place = list(charts_of(run, view)), st.container()
    for first in range(0, len(charts), 2):
        columns = st.columns(2, gap="large")
        for column, chart in zip(columns, charts[first : first + 2], strict=False):
            with column:
                frame.figure(kept(run, view, chart), title=chart.title, caption=chart.caption, key=chart.key)
        place = columns[1] if first + 1 == len(charts) else st.container()
    with place:
        st.html(markup.block(*map(markup.caption, notes(run, view))))
        zoom.listen(zoom_key(run))


def kept(run: frame.OpenRun, view: RunView, chart: Chart) -> Callable[[Mode], Figure]:
    """Makes the chart anew only where a step has got on: in a film it stays as it is. It keeps a reader's zoom."""
    newest = view.steps[max(view.steps)]
    of = (run.directory.id, newest.step, len(newest.scored), len(newest.proposed), newest.finished is None)

    def make(mode: Mode) -> Figure:
        at, found = st.session_state.get(f"{chart.key}.made", (None, None))
        if at != (of, mode):
            found = chart.make(mode)
            st.session_state[f"{chart.key}.made"] = ((of, mode), found)
        made = cast(Figure, found)
        return replace(made, chart=zoom.zoomed(made.chart, chart.key, zoom_key(run)))

    return make


def zoom_key(run: frame.OpenRun) -> str:
    """Where a browser session keeps how far this run's charts are zoomed."""
    return f"watch.zoom.{run.directory.id}"


def notes(run: frame.OpenRun, view: RunView) -> Iterator[str]:
    """What the charts leave out."""
    config, found = run.snapshot.spec.config, evidence(run.snapshot.spec, view)
    if found:
        yield f"The log evidence is nominal: {'; '.join(found['because'])}. {COMPARABLE}"
    if not config.is_filtered:
        yield "Every proposal is taken, so none is accepted or rejected."
    if not config.is_weighted:
        yield "There are no weights, so there is no effective sample size."


def by_weight(snapshot: Snapshot) -> str:
    """In which order cards stand."""
    return ", heaviest first" if snapshot.spec.config.is_weighted else ""


def ended(snapshot: Snapshot) -> str:
    """What the last cards of a run are called."""
    if snapshot.state in ("finished", "stopped"):
        return f"Hypotheses at the end{by_weight(snapshot)}"
    return f"Hypotheses that are kept{by_weight(snapshot)}"


def draw_deck(run: frame.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    """The cards of the step shown."""
    view, config = snapshot.view, snapshot.spec.config
    if view.started is None or not view.drawn:
        return
    if shown.newest is None:
        title = "First hypotheses"
    elif shown.is_end:
        title = ended(snapshot)
    else:
        title = f"Hypotheses at step {shown.step}{by_weight(snapshot)}"
    bars = "bar length = weight" if config.is_weighted else "no weights: each counts alike"
    st.html(markup.block(markup.heading(title, f"{bars} · underlined: added · struck: removed")))
    frame.deck(deck_of(run, snapshot, shown), deck_id=shown.deck_id, key="watch.deck")
    st.html(markup.block(mark_legend(config)))


def deck_of(run: frame.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    """The cards as HTML, made again only where the run has something new."""
    view, place = snapshot.view, (shown.newest, shown.step)
    made_from = (run.directory.id, view.last_at, place)
    kept = st.session_state.get("watch.made")
    if kept and kept[0] == made_from:
        return str(kept[1])
    html = deck_html(cards_of(run, snapshot, shown), seed_text=view.started.seed_text if view.started else "")
    st.session_state["watch.made"] = (made_from, html)
    return html


def cards_of(run: frame.OpenRun, snapshot: Snapshot, shown: Shown) -> list[Card]:
    """The first hypotheses, those of a step, or the last."""
    dataset = run.reader.dataset()
    prompts = PromptMaker(snapshot.spec, dataset, answers=run.reader.read_answers)
    maker = CardMaker(snapshot.view, snapshot.spec.config, dataset, prompts)
    if shown.newest is None:
        return maker.initial()
    return maker.final() if shown.step is None else maker.at(shown.step)


frame.enter()
opened = frame.open_run("Watch", "shows a run as it goes: its sentences, their weights, and what was dropped.")
page(opened)
this_run.draw(opened)
