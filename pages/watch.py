"""Watch: a run as it goes, or replayed; both are the same page."""

import time
from functools import partial

import streamlit as st

from pages.parts import blocks, frame, opening, person, stage
from pages.parts.opening import OpenRun
from vpp.findings.progress import calls_metric, pace, phase, stopping_words
from vpp.findings.status import (
    MARKS,
    is_key_refused,
    pending_words,
    retry_words,
    server_sentences,
    steps_done,
    withheld_sentences,
)
from vpp.findings.step import Cards
from vpp.llm.limits import Cap
from vpp.runs import store
from vpp.runs.budget import distinct_rows
from vpp.runs.directory import Command, RunDirectory, Snapshot
from vpp.show import markup
from vpp.show.blocks import Metrics
from vpp.show.words import capitalised, counted

FIELD_PX = 280
COMMANDS: dict[str, Command] = {  # by the key of the button
    "watch.pause": "pause",
    "watch.go_on": "go on",
    "watch.stop": "stop",
    "watch.skip": "stop",
}


def obey(run: OpenRun) -> Command | None:
    """Send the command of the button that was pressed; return the command that waits for the worker."""
    with opening.refusals():
        is_stopping = run.directory.command() == "stop"
        for key, command in COMMANDS.items():
            # A quick second press on Stop must not skip the test rows: only the button Skip does.
            if st.session_state.get(key) and (key == "watch.skip" or not is_stopping):
                run.directory.send_command(command)
    return run.directory.command()


def controls(run: OpenRun, snapshot: Snapshot, waiting: Command | None, *, now: float) -> None:
    directory, state, view = run.directory, snapshot.state, snapshot.view
    row = st.container(horizontal=True, vertical_alignment="center", key="watch_controls")
    here = {"run": run.id}
    rows = blocks.remembered(f"watch.rows.{run.key}", 0, lambda: distinct_rows(run.reader.dataset()))
    words = retry_words(view, now=now) if state == "paused" else ""
    words = words or pace(snapshot, now=now, rows=rows)
    row.html(markup.block(markup.caption(words), label="time") if words else markup.block())
    if state == "paused" and view.is_at_cap:
        raise_cap(directory, snapshot.spec.cap)
        row = st.container()
    elif state in opening.LIVE:
        if waiting == "stop":
            if view.last_step is not None:
                row.button("Skip the test rows", key="watch.skip")
        elif state == "paused":
            label = "Try again now" if view.paused_for == "endpoint" else "Go on"
            row.button(label, key="watch.go_on", type="primary", disabled=waiting == "go on")
        else:
            row.button("Pause", key="watch.pause", disabled=waiting == "pause" or state == "queued")
        row.button("Stopping…" if waiting == "stop" else "Stop here", key="watch.stop", disabled=waiting == "stop")
        return
    elif state in ("interrupted", "failed", "stopped"):
        if row.button("Resume", key="watch.resume", type="primary"):
            opening.start(directory)
        if not snapshot.spec.endpoint.is_demo:
            person.ask_keys(snapshot.spec.endpoint)
    if view.population:
        row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
    if state in ("finished", "stopped") and view.population:
        row.page_link("pages/report.py", label="Get the report", query_params=here)


def status_html(run: OpenRun, snapshot: Snapshot, waiting: Command | None) -> str:
    words = pending_words(waiting, snapshot.state) if waiting and snapshot.state in opening.LIVE else ""
    if waiting == "stop" and snapshot.state == "running":
        words = stopping_words(snapshot, distinct_rows(run.reader.dataset()))
    badge = markup.badge(MARKS[snapshot.state], words or phase(snapshot))
    return f'<p class="cap phase{" live" if snapshot.state in opening.LIVE else ""}">{badge}</p>'


def draw(run: OpenRun, cards: Cards, snapshot: Snapshot) -> None:
    # The list of runs shows the state too and has no timer: it may have been drawn before the run began.
    if snapshot.state == "running" and st.session_state.pop("frame.queued", False):
        st.rerun()
    now, waiting = time.time(), obey(run)
    # Every place is there whatever the state, so that a part stays itself when the one above it comes or goes.
    with st.container(key="watch_head"):
        st.html(trouble_html(run, snapshot) or markup.block())
        controls(run, snapshot, waiting, now=now)
    with st.container(key="watch_stage"):
        stage.draw(run, snapshot, cards, status_html(run, snapshot, waiting), now=now, stops=waiting == "stop")
    with st.container(key="watch_whole"):
        if snapshot.view.last_step is None:
            words = "".join(map(markup.caption, server_sentences(snapshot.usage)))
        else:
            words = markup.group("Calls of the whole run") + markup.html([Metrics((calls_metric(snapshot),))])
        if snapshot.usage.faults:
            words += "".join(map(markup.caption, withheld_sentences(run.reader.read_answers())))
        blocks.steady(words, key="watch.whole")


def trouble_html(run: OpenRun, snapshot: Snapshot) -> str:
    view, whole = snapshot.view, steps_done(snapshot.view)
    kept = f"{counted(whole, 'whole step')} {'is' if whole == 1 else 'are'} saved."
    endpoint = snapshot.spec.endpoint
    asks_key = is_key_refused(view) and not (endpoint.is_demo or person.environment().endpoint_fixed)
    anew = " Type another key below: Resume takes it." if asks_key else ""
    silent = f"No sign of life for 30 s. {kept} It may be stopped or the machine asleep."
    words = {
        "failed": ("The run failed", view.detail, f"{kept}{anew}"),
        "interrupted": ("The run was interrupted", f"Its worker ended early. {kept} Resume goes on from there."),
        "stalled": ("The worker is silent", silent),
    }
    if snapshot.state in words:
        return markup.block(markup.state(*words[snapshot.state], failed=True))
    if snapshot.state == "paused" and view.is_at_cap:
        return markup.block(markup.state("The cap is reached", capitalised(f"{view.detail}.")))
    if snapshot.state == "paused" and view.detail:
        return markup.block(markup.state("The endpoint does not answer", view.detail, kept, failed=True))
    return ""


def raise_cap(directory: RunDirectory, cap: Cap) -> None:
    name = f"watch.cap.{directory.id}"
    with st.form(name, border=False, enter_to_submit=True), st.container(horizontal=True, vertical_alignment="bottom"):
        label, calls, cost = "Calls at most, 0 for no cap", 2 * cap.calls, cap.cost
        calls = int(st.number_input(label, 0, value=calls, key=f"{name}.calls", width=FIELD_PX))
        if cost:
            label = "Money at most, 0 for no cap"
            cost = float(st.number_input(label, 0.0, value=2 * cost, step=0.1, key=f"{name}.cost", width=FIELD_PX))
        is_pressed = st.form_submit_button("Raise the cap and go on", type="primary")
    with opening.refusals():
        if is_pressed:
            directory.amend(cap=Cap(calls=calls, cost=cost))
            opening.start(directory)


# Actions on the run: rename, start again with changes, delete


def manage(run: OpenRun) -> None:
    title = "This run: rename it, start it again, delete it"
    with st.expander(title, key="this_run", on_change="rerun") as fold:
        if fold.open:
            rename(run)
            start_again(run)
            delete(run)


def rename(run: OpenRun) -> None:
    with st.form("this_run.rename", border=False, enter_to_submit=True):
        left, right = st.columns([2.6, 1], vertical_alignment="bottom")
        name = left.text_input("Name", run.snapshot.spec.name, max_chars=120, key=f"this_run.name.{run.id}")
        is_pressed = right.form_submit_button("Rename the run", width="stretch")
    with opening.refusals("The run keeps its name"):
        if is_pressed:
            store.rename(run.directory, name)
            st.rerun()


def start_again(run: OpenRun) -> None:
    words = "A new run on the same rows, from these settings: change what you like before it starts. This one stays."
    if blocks.beside(words).button("Start again with changes", key="this_run.again", width="stretch"):
        # Late: the form needs pandas, and Watch should not wait for it.
        from pages.parts import form

        form.fill(run.id, run.snapshot.spec)
        st.switch_page("pages/new_run.py")


def delete(run: OpenRun) -> None:
    # A run that has paused at its cap may have no worker: then nothing goes on.
    live = run.is_live and (run.snapshot.state != "paused" or run.directory.is_held())
    words = "A run that is going on is not deleted: stop it first." if live else "Deleting removes its folder for good."
    with blocks.beside(words).popover("Delete this run", key="this_run.delete", width="stretch", disabled=live):
        about = f"Run {run.id}: its hypotheses, answers and report cannot be brought back."
        blocks.draw(markup.state(f"Delete {run.snapshot.spec.name}?", about))
        if st.button("Delete it for good", type="primary", key="this_run.delete_now"):
            with opening.refusals("The run was not deleted"):
                store.delete(run.directory)
                del st.session_state["run"]
                st.session_state[opening.DELETED] = run.id
                st.query_params.pop("run", None)
                st.rerun()


frame.enter()
opened = opening.open_run("Watch", "shows a run as it goes: its sentences, their weights, and what was dropped.")
opening.head(opened, opened.snapshot.spec.name)
cards = Cards(opened.reader.dataset(), opened.snapshot.spec.config)  # the same for the whole run
opening.follow(opened, partial(draw, opened, cards), every_s=1.0)
manage(opened)
