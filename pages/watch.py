"""Watch: a run as it goes, or replayed; both are the same page."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import streamlit as st

from pages.parts import frame
from vpp.drawing.band import band_html
from vpp.drawing.cards import CardMaker
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
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.runs.summary import evidence
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording import markup
from vpp.wording.brief import COMPARABLE
from vpp.wording.progress import batch_errors, headline, metrics, phase, shown_step
from vpp.wording.theme import Mode

FOLLOW, SHOW_END = "Follow latest", "Show the end"


def controls(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The buttons that fit the state."""
    directory, state = run.directory, snapshot.state
    left, right, rest = st.columns([1, 1, 3])
    if state in ("running", "queued", "stalled"):
        if left.button("Pause", key="watch.pause", width="stretch"):
            directory.say("pause")
        if right.button("Stop and keep", key="watch.stop", width="stretch"):
            directory.say("stop")
    elif state == "paused":
        if left.button("Go on", key="watch.go_on", type="primary", width="stretch"):
            directory.say("go on")
        if right.button("Stop and keep", key="watch.stop", width="stretch"):
            directory.say("stop")
    elif state in ("interrupted", "failed", "stopped"):
        if left.button("Resume", key="watch.resume", type="primary", width="stretch"):
            frame.start(directory)
        if not snapshot.spec.endpoint.is_demo:
            frame.ask_keys(snapshot.spec.endpoint)
        if snapshot.view.population:
            right.page_link("pages/posterior.py", label="Read the posterior", query_params={"run": directory.id})
    else:
        left.page_link("pages/posterior.py", label="Read the posterior", query_params={"run": directory.id})
        right.page_link("pages/report.py", label="Get the report", query_params={"run": directory.id})
    with rest:
        words = heard(directory, snapshot) or phase(snapshot)
        st.html(markup.block(markup.caption(words), label="state of the run"))


def heard(directory: RunDirectory, snapshot: Snapshot) -> str:
    """That a word was left for the worker, until it has obeyed; empty where none waits."""
    said = directory.said()
    if said is None or said[1] < (snapshot.view.obeyed_at or 0.0) or snapshot.state not in frame.LIVE:
        return ""
    if said[0] == "stop":
        return "Stopping: the test rows are asked about what is kept. Stop again does without."
    return "Pausing: calls in flight finish." if said[0] == "pause" and snapshot.state == "running" else ""


def choose_step(run: frame.OpenRun, view: RunView, *, live: bool) -> int:
    """The step shown: the latest one, or one that is replayed. What ended has one place more, for its end."""
    newest = shown_step(view) or 0
    latest = newest if live else newest + 1
    slider = f"{_key(run)}.slider"
    replayed = st.session_state.get(slider, {}).get("step")
    shown = latest if replayed is None else min(int(replayed), latest)
    band = band_html(view, shown=min(shown, newest))
    top = max(view.total_steps - 1, 1) if live else latest
    end = view.total_steps if live else latest
    follow = FOLLOW if live else SHOW_END
    chosen = frame.scrubber(band, latest=latest, top=top, end=end, follow=follow, key=slider)
    step = latest if chosen is None else min(chosen, latest)
    st.session_state[_key(run)] = step
    return step


def _key(run: frame.OpenRun) -> str:
    """Where a browser session keeps the step shown of this run."""
    return f"watch.step.{run.directory.id}"


def page(run: frame.OpenRun) -> None:
    """The page: what refreshes each second, then the slower charts."""
    live = run.snapshot.state in frame.LIVE
    frame.head(run, run.snapshot.spec.name)

    @st.fragment(run_every=1.0 if live else None)
    def now() -> None:
        snapshot = run.reader.refresh()
        before = st.session_state.get(_key(run))
        draw_now(run, snapshot)
        moved = before is not None and before != st.session_state.get(_key(run))
        # Another state: the list of runs shows it too, and has no timer of its own.
        if snapshot.state != run.snapshot.state or (moved and not live):
            st.rerun()

    @st.fragment(run_every=3.0 if live else None)
    def charts() -> None:
        draw_charts(run, run.reader.refresh().view)

    @st.fragment(run_every=1.0 if live else None)
    def cards() -> None:
        draw_deck(run, run.reader.refresh())

    # Every place is there before a fragment draws into it, so that a late refresh never meets a page without it.
    above, middle, below = st.container(), st.container(), st.container()
    with above:
        now()
    with middle:
        charts()
    with below:
        cards()


def draw_now(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """State, controls, the band and the numbers."""
    view, live = snapshot.view, snapshot.state in frame.LIVE
    top = st.container()
    trouble(snapshot)
    controls(run, snapshot)
    if view.last_step is None:
        top.html(markup.block(markup.saying(headline(snapshot))))
        if live:
            st.html(markup.block(markup.waiting(waiting_for(snapshot))))
        return
    step = choose_step(run, view, live=live)
    shown = step if step in view.steps else None
    top.html(markup.block(markup.saying(headline(snapshot, shown))))
    st.html(markup.block(markup.strip(metrics(snapshot, shown)), *replayed(step, shown, live=live)))


def replayed(step: int, shown: int | None, *, live: bool) -> list[str]:
    """How to come back from a step of a run that has ended."""
    if live or shown is None:
        return []
    return [markup.caption(f"Headline, numbers and sentences are of step {step}; “{SHOW_END}” returns there.")]


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
                frame.figure(chart.make, title=chart.title, caption=chart.caption, key=chart.key)
        place = columns[1] if first + 1 == len(charts) else st.container()
    with place:
        st.html(markup.block(*map(markup.caption, notes(run, view))))


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


def draw_deck(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The cards of the step shown."""
    view, config = snapshot.view, snapshot.spec.config
    if view.started is None:
        return
    step, newest = st.session_state.get(_key(run)), shown_step(view)
    if newest is None or step is None:
        title, deck_id = "First hypotheses", "initial"
    elif step > newest:
        title, deck_id = ended(snapshot), "end"
    else:
        title = f"Hypotheses at step {step}{by_weight(snapshot)}"
        deck_id = "live" if step == newest and snapshot.state in frame.LIVE else str(step)
    if not view.drawn:
        return
    bars = "bar length = weight" if config.is_weighted else "no weights: each counts alike"
    st.html(markup.block(markup.heading(title, f"{bars} · underlined: added · struck: removed")))
    frame.deck(deck_of(run, snapshot, deck_id, step), deck_id=deck_id, key="watch.deck")
    st.html(markup.block(mark_legend(config)))


def deck_of(run: frame.OpenRun, snapshot: Snapshot, deck_id: str, step: int | None) -> str:
    """The cards as HTML, made again only where the run has something new."""
    view = snapshot.view
    made_from = (run.directory.id, view.last_at, deck_id, step)
    kept = st.session_state.get("watch.made")
    if kept and kept[0] == made_from:
        return str(kept[1])
    dataset = run.reader.dataset()
    maker = CardMaker(view, snapshot.spec.config, dataset, PromptMaker(snapshot.spec, dataset))
    cards = {"initial": maker.initial, "end": maker.final}.get(deck_id, lambda: maker.at(step or 0))()
    html = deck_html(cards, seed_text=view.started.seed_text if view.started else "")
    st.session_state["watch.made"] = (made_from, html)
    return html


frame.enter()
page(frame.open_run("Watch shows a run as it goes: its sentences, their weights, and what was dropped."))
