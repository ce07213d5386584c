"""Watch: a run as it goes, or replayed; both are the same page."""

import time
from collections.abc import Iterator

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import budget, charts, frame, opening, person, pieces, replay, this_run, thresholds
from pages.parts.endpoint import load_html
from pages.parts.replay import Shown
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html, mark_legend
from vpp.events import INITIAL_STEP
from vpp.inspection.scores import balanced_accuracy
from vpp.runs.directory import Command, RunDirectory
from vpp.runs.disk import cache_advice
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.wording import markup
from vpp.wording.counts import steps_done
from vpp.wording.happening import happened
from vpp.wording.listing import MARKS
from vpp.wording.progress import headline, metrics, phase
from vpp.wording.status import faults_sentence, is_key_refused, pending_words, retry_words
from vpp.wording.support import unread_html
from vpp.wording.words import capitalised, counted

DECK = "watch.deck"


def controls(run: opening.OpenRun, snapshot: Snapshot) -> None:
    """Draw the state, and the buttons that fit it."""
    directory, state = run.directory, snapshot.state
    row = st.container(horizontal=True, vertical_alignment="center", key="watch_controls")
    here = {"run": directory.id}
    retry = retry_words(snapshot.view, now=time.time()) if state == "paused" else ""
    words = pending(directory, snapshot) or ". ".join(filter(None, (phase(snapshot), retry)))
    row.html(markup.block(markup.phase(MARKS[state], words), label="state of the run"))
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
        if snapshot.damage:
            if can_continue(snapshot) and row.button(
                "Go on from before the damage", key="watch.before_damage", type="primary"
            ):
                opening.start(directory, from_before_damage=True)
        elif row.button("Resume", key="watch.resume", type="primary"):
            opening.start(directory)
        if not snapshot.spec.endpoint.is_demo:
            person.ask_keys(snapshot.spec.endpoint)
        if snapshot.view.population:
            row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
    else:
        row.page_link("pages/posterior.py", label="Read the posterior", query_params=here)
        row.page_link("pages/report.py", label="Get the report", query_params=here)


def can_continue(snapshot: Snapshot) -> bool:
    """True if a worker may continue from before the damage: not if a newer program wrote the journal."""
    return snapshot.lost is None or not snapshot.lost.is_newer


def say(directory: RunDirectory, command: Command) -> None:
    """Send the worker a command."""
    with opening.refusals():
        directory.send_command(command)


def pending(directory: RunDirectory, snapshot: Snapshot) -> str:
    """Status text of a pending command; empty without one."""
    word = directory.pending_command() if snapshot.state in opening.LIVE else None
    return pending_words(word.command, snapshot.state) if word else ""


def page(run: opening.OpenRun) -> None:
    """Draw all parts from one reading of the run, so that all show the same step."""
    live = run.snapshot.state in opening.LIVE
    pieces.head(run, run.snapshot.spec.name, tells_damage=False)
    # Every place is there whatever the state, so that a part stays itself when the one above it comes or goes.
    top, below, deck = (st.container(key=f"watch_{name}") for name in ("now", "charts", "deck"))

    @st.fragment(run_every=1.0 if live else None)
    def now() -> None:
        snapshot = opening.fresh(run)
        draw(run, snapshot, deck)
        with below:
            charts.draw(run, snapshot.view)
        if snapshot.state != run.snapshot.state:
            # The list of runs shows the state too, and has no timer of its own.
            st.rerun()

    with top:
        now()


def draw(run: opening.OpenRun, snapshot: Snapshot, deck: DeltaGenerator) -> None:
    """Draw the state, the step and the cards; the slider last of all."""
    view, shown = snapshot.view, replay.shown_of(run, snapshot)
    head, band = (st.container(key=f"watch_{name}") for name in ("head", "band"))
    with head:
        draw_head(run, snapshot, shown)
    if view.last_step is not None:
        with band:
            slider = st.container(key="watch_slider")
            draw_numbers(run, snapshot, shown)
    elif snapshot.state in ("running", "stalled", "paused"):
        faults = faults_sentence(snapshot.usage)
        held_back = [markup.caption(faults)] if faults else []
        words = f"Writing the first hypotheses: {len(view.drawn)} of {snapshot.spec.config.size}."
        band.html(markup.block(markup.waiting(words), *held_back, load_html(snapshot)))
    with deck:
        draw_deck(run, snapshot, shown)
    if view.last_step is not None:
        with slider:
            replay.draw(run, snapshot, shown)


def draw_head(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    """Draw the summary, what went wrong, and the controls."""
    of = (shown.step, snapshot.state, snapshot.loading_s is not None)
    summary = pieces.drawn(
        run,
        snapshot,
        "saying",
        *of,
        make=lambda: markup.block(unread_html(snapshot.view), markup.saying(headline(snapshot, shown.step))),
    )
    st.html(summary + trouble_html(run, snapshot))
    controls(run, snapshot)


def draw_numbers(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    """Draw what happened in the step, and its numbers."""
    at = thresholds.chosen()
    events = pieces.drawn(run, snapshot, "happened", shown, make=lambda: happened_html(run, snapshot, shown))
    strip = pieces.drawn(
        run,
        snapshot,
        "strip",
        shown.step,
        snapshot.state,
        snapshot.usage,
        at,
        make=lambda: markup.strip(metrics(snapshot, shown.step, at)),
    )
    pieces.steady(events + strip + load_html(snapshot), key="watch.strip")


def happened_html(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    """Return what a step did; for the end, the results on the test rows."""
    step, view = INITIAL_STEP if shown.newest is None else shown.step, snapshot.view
    balanced = balanced_accuracy(view, run.reader.dataset) if step is None else None
    return markup.happening(happened(view, step, snapshot.spec.config, balanced=balanced))


def trouble_html(run: opening.OpenRun, snapshot: Snapshot) -> str:
    """Return a box that says what stopped, what is saved and how to go on; empty if nothing is wrong."""
    view, whole = snapshot.view, steps_done(snapshot.view)
    kept = f"{counted(whole, 'whole step')} {'is' if whole == 1 else 'are'} saved."
    if snapshot.damage:
        return markup.block(markup.state("The journal is damaged", *damage_words(snapshot), failed=True))
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
        if advice := cache_advice(obstacle or view.detail, run.directory.path, person.cache_dir()):
            in_the_way.append(f"{capitalised(advice)}: This run, at the foot of the page, clears it.")
        return markup.block(markup.state(*words[snapshot.state], *in_the_way, failed=True))
    if snapshot.state == "paused" and view.is_at_cap:
        return markup.block(markup.state("The cap is reached", capitalised(f"{view.detail}.")))
    if snapshot.state == "paused" and view.detail:
        return markup.block(markup.state("The endpoint does not answer", view.detail, kept, failed=True))
    return ""


def damage_words(snapshot: Snapshot) -> Iterator[str]:
    """Yield where the journal is damaged, and what continuing from before the damage keeps."""
    yield snapshot.damage
    if snapshot.state in ("interrupted", "failed", "stopped") and can_continue(snapshot):
        kept = counted(steps_done(snapshot.view), "whole step")
        yield f"Going on from before the damage keeps {kept}; the rest of the file is moved to events.jsonl.damaged."


def draw_deck(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> None:
    """Draw the cards of the step shown."""
    view, config = snapshot.view, snapshot.spec.config
    if view.started is None or not view.drawn:
        st.empty()  # a fragment may write to a place outside it only where its first run did
        return
    order = ", heaviest first" if config.is_weighted else ""
    if shown.newest is None:
        title = "First hypotheses"
    elif not shown.is_end:
        title = f"Hypotheses at step {shown.step}{order}"
    elif snapshot.state in ("finished", "stopped"):
        title = f"Hypotheses at the end{order}"
    else:
        title = f"Hypotheses that are kept{order}"
    bars = "bar length = weight" if config.is_weighted else "no weights: each counts alike"
    head = markup.heading(title, f"{bars} · underlined: added · struck: removed")
    cards = deck_of(run, snapshot, shown)
    pieces.deck(cards, deck_id=shown.deck_id, key=DECK, head=head, foot=mark_legend(config))


def deck_of(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> str:
    """Return the cards as HTML, with the prompts of the slots that a reader has opened."""
    view, config = snapshot.view, snapshot.spec.config
    wanted = pieces.wanted(DECK, most=config.largest_size)

    def make() -> str:
        dataset = run.reader.dataset()
        prompts = PromptMaker(snapshot.spec, dataset, answers=run.reader.read_answers)
        maker = CardMaker(view, config, dataset, prompts, wanted=wanted)
        if shown.newest is None:
            cards = maker.initial()
        else:
            cards = maker.final() if shown.step is None else maker.at(shown.step)
        return deck_html(cards, seed_text=view.started.seed_text if view.started else "")

    return pieces.drawn(run, snapshot, "deck", shown.newest, shown.step, wanted, make=make)


frame.enter()
opened = opening.open_run("Watch", "shows a run as it goes: its sentences, their weights, and what was dropped.")
page(opened)
thresholds.draw_expander()
this_run.draw(opened)
