"""Watch: a run as it goes, or replayed; both are the same page."""

import streamlit as st

from pages.parts import frame
from vpp.reporting import markup
from vpp.reporting.band import band_html
from vpp.reporting.cards import CardMaker
from vpp.reporting.deck import deck_html, mark_legend
from vpp.reporting.figures import acceptance_figure, error_figure, ess_figure, weights_figure
from vpp.reporting.progress import batch_errors, headline, metrics, phase, shown_step
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView


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
    chosen = frame.scrubber(band, latest=latest, top=top, end=view.total_steps if live else latest, key=slider)
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
        if live != (snapshot.state in frame.LIVE) or (moved and not live):
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
    view = snapshot.view
    st.html(markup.block(markup.saying(headline(snapshot))))
    trouble(snapshot)
    controls(run, snapshot)
    if view.last_step is None:
        if snapshot.state in frame.LIVE:
            st.html(markup.block(markup.waiting(waiting_for(snapshot))))
        return
    step = choose_step(run, view, live=snapshot.state in frame.LIVE)
    st.html(markup.block(markup.strip(metrics(snapshot, step if step in view.steps else None))))


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


def draw_charts(run: frame.OpenRun, view: RunView) -> None:
    """ESS and weights, or acceptance; and the batch error."""
    if view.last_step is None:
        return
    left, right = st.columns(2, gap="large")
    smc = run.snapshot.spec.config.method == "smc"
    with left:
        if smc:
            frame.figure(
                lambda mode: ess_figure(view, mode), title="Effective sample size", caption="by step", key="watch.ess"
            )
        elif run.snapshot.spec.config.method == "mh":
            frame.figure(
                lambda mode: acceptance_figure(view, mode),
                title="Proposals accepted",
                caption="by step",
                key="watch.acc",
            )
        else:
            st.html(
                markup.block(markup.heading("Proposals"), markup.caption("Every proposal is taken, so none is judged."))
            )
    with right:
        if smc:
            frame.figure(
                lambda mode: weights_figure(view, mode),
                title="Weight by step",
                caption="one row a particle, more ink is heavier",
                key="watch.weights",
            )
        else:
            errors = batch_errors(view, run.reader.dataset())
            frame.figure(
                lambda mode: error_figure(view, mode, errors.by_step, name=errors.name, top=errors.top),
                title="Error on the batch",
                caption="mean of the particles",
                key="watch.error",
            )


def ended(snapshot: Snapshot) -> str:
    """What the last cards of a run are called."""
    if snapshot.state in ("finished", "stopped"):
        return "Hypotheses at the end, heaviest first"
    return "Hypotheses that are kept, heaviest first"


def draw_deck(run: frame.OpenRun, snapshot: Snapshot) -> None:
    """The cards of the step shown."""
    view = snapshot.view
    if view.started is None:
        return
    step, newest = st.session_state.get(_key(run)), shown_step(view)
    if newest is None or step is None:
        title, deck_id = "First hypotheses", "initial"
    elif step > newest:
        title, deck_id = ended(snapshot), "end"
    else:
        title = f"Hypotheses at step {step}, heaviest first"
        deck_id = "live" if step == newest and snapshot.state in frame.LIVE else str(step)
    if not view.drawn:
        return
    st.html(markup.block(markup.heading(title, "bar length = weight · underlined: added · struck: removed")))
    frame.deck(deck_of(run, snapshot, deck_id, step), deck_id=deck_id, key="watch.deck")
    st.html(markup.block(mark_legend()))


def deck_of(run: frame.OpenRun, snapshot: Snapshot, deck_id: str, step: int | None) -> str:
    """The cards as HTML, made again only where the run has something new."""
    view = snapshot.view
    made_from = (run.directory.id, view.last_at, deck_id, step)
    kept = st.session_state.get("watch.made")
    if kept and kept[0] == made_from:
        return str(kept[1])
    dataset = run.reader.dataset()
    maker = CardMaker(view, dataset, PromptMaker(snapshot.spec, dataset))
    cards = {"initial": maker.initial, "end": maker.final}.get(deck_id, lambda: maker.at(step or 0))()
    html = deck_html(cards, seed_text=view.started.seed_text if view.started else "")
    st.session_state["watch.made"] = (made_from, html)
    return html


frame.enter()
page(frame.open_run("Watch shows a run as it goes: its sentences, their weights, and what was dropped."))
