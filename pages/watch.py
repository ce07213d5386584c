"""Watch: a run as it goes, or replayed; both are the same page."""

import time

import streamlit as st

from pages.parts import budget, charts, frame, opening, person, pieces, replay, rewording, stage, this_run
from pages.parts.endpoint import load_html
from vpp.runs.directory import Command, RunDirectory
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.counts import steps_done
from vpp.wording.progress import calls_metric, pace
from vpp.wording.status import faults_sentence, is_key_refused, retry_words
from vpp.wording.words import capitalised, counted


def controls(run: opening.OpenRun, snapshot: Snapshot) -> None:
    directory, state = run.directory, snapshot.state
    row = st.container(horizontal=True, vertical_alignment="center", key="watch_controls")
    here = {"run": directory.id}
    retry = retry_words(snapshot.view, now=time.time()) if state == "paused" else ""
    words = retry or pace(snapshot)
    row.html(markup.block(markup.caption(words), label="time") if words else markup.block())
    if state in ("running", "queued", "stalled"):
        if row.button("Pause", key="watch.pause"):
            say(directory, "pause")
        if row.button("Stop and keep", key="watch.stop"):
            say(directory, "stop")
    elif state == "paused" and snapshot.view.is_at_cap:
        if budget.at_cap(directory, snapshot):
            opening.start(directory)
        if snapshot.view.population:
            st.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
    elif state == "paused":
        label = "Try again now" if snapshot.view.paused_for == "endpoint" else "Go on"
        if row.button(label, key="watch.go_on", type="primary"):
            say(directory, "go on")
        if row.button("Stop and keep", key="watch.stop"):
            say(directory, "stop")
    elif state in ("interrupted", "failed", "stopped"):
        if row.button("Resume", key="watch.resume", type="primary"):
            opening.start(directory)
        if not snapshot.spec.endpoint.is_demo:
            person.ask_keys(snapshot.spec.endpoint)
        if snapshot.view.population:
            row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
    else:
        row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
        row.page_link("pages/report.py", label="Get the report", query_params=here)


def say(directory: RunDirectory, command: Command) -> None:
    with opening.refusals():
        directory.send_command(command)


def page(run: opening.OpenRun) -> None:
    live = run.snapshot.state in opening.LIVE
    pieces.head(run, run.snapshot.spec.name)

    @st.fragment(run_every=1.0 if live else None)
    def now() -> None:
        snapshot = opening.fresh(run)
        draw(run, snapshot)
        if snapshot.state != run.snapshot.state:
            # The list of runs shows the state too, and has no timer of its own.
            st.rerun()

    now()


def draw(run: opening.OpenRun, snapshot: Snapshot) -> None:
    # Every place is there whatever the state, so that a part stays itself when the one above it comes or goes.
    with st.container(key="watch_head"):
        st.html(trouble_html(run, snapshot) or markup.block())
        controls(run, snapshot)
    with st.container(key="watch_stage"):
        stage.draw(run, snapshot, replay.shown_of(run, snapshot))
    with st.container(key="watch_whole"):
        pieces.steady(whole_html(snapshot), key="watch.whole")
    with st.container(key="watch_charts"), st.expander("Charts", key="watch.fold", on_change="rerun") as fold:
        if fold.open:
            charts.draw(run, snapshot.view)


def whole_html(snapshot: Snapshot) -> str:
    if snapshot.view.last_step is None:
        faults = faults_sentence(snapshot.usage)
        return "".join((*([markup.caption(faults)] if faults else []), load_html(snapshot)))
    return markup.group("Calls of the whole run") + markup.strip([calls_metric(snapshot)]) + load_html(snapshot)


def trouble_html(run: opening.OpenRun, snapshot: Snapshot) -> str:
    view, whole = snapshot.view, steps_done(snapshot.view)
    kept = f"{counted(whole, 'whole step')} {'is' if whole == 1 else 'are'} saved."
    endpoint = snapshot.spec.endpoint
    asks_key = not (endpoint.is_demo or endpoint.gguf or person.environment().endpoint_fixed)
    anew = " Type another key below: Resume takes it." if asks_key and is_key_refused(view) else ""
    words = {
        "failed": ("The run failed", view.detail, f"{kept}{anew}"),
        "interrupted": ("The run was interrupted", f"Its worker ended early. {kept} Resume goes on from there."),
        "stalled": (
            "The worker is silent",
            f"No sign of life for 30 s. {kept} It may be stopped or the machine asleep.",
        ),
    }
    if snapshot.state in words:
        obstacle = run.directory.obstacle(snapshot.state)
        in_the_way = [f"Nothing can be written now: {obstacle}."] if obstacle else []
        return markup.block(markup.state(*words[snapshot.state], *in_the_way, failed=True))
    if snapshot.state == "paused" and view.is_at_cap:
        return markup.block(markup.state("The cap is reached", capitalised(f"{view.detail}.")))
    if snapshot.state == "paused" and view.detail:
        return markup.block(markup.state("The endpoint does not answer", view.detail, kept, failed=True))
    return ""


frame.enter()
opened = opening.open_run("Watch", "shows a run as it goes: its sentences, their weights, and what was dropped.")
page(opened)
rewording.draw(opened, has_key_field=opened.snapshot.state in ("interrupted", "failed", "stopped"))
this_run.draw(opened)
