"""The stage of Watch: one step, latest, chosen or reached by a film, as one message to the browser."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts import opening, pieces
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import SQUARES, deck_html, skeletons_html
from vpp.drawing.rail import band_html, bars_html, key_html
from vpp.events import INITIAL_STEP
from vpp.findings.listing import MARKS
from vpp.findings.programs import ProgramReading
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot, balanced_accuracy
from vpp.show import markup
from vpp.wording.brief import unread_html
from vpp.wording.counts import step_name
from vpp.wording.progress import happened, headline, phase, shown_step
from vpp.wording.status import asking_words, pending_words

_STAGE = pieces.component("stage", "steady", "scrubber", "deck", "glide")


@dataclass(frozen=True, slots=True)
class Moment:
    """The step that the page shows."""

    step: int | None
    """None for the end, and before the first step is there to see."""
    newest: int | None
    """The last step there is to see."""
    is_live: bool
    choice: int | None
    """The reader's choice; None while the latest step is followed."""
    is_film: bool
    """Whether a film reached the step."""

    @property
    def is_end(self) -> bool:
        return self.step is None and self.newest is not None

    @property
    def deck_id(self) -> str:
        """Name of the deck: another one is sorted immediately. A film is one deck, held while it is read."""
        if self.is_film and not self.is_live:
            return "film"
        if self.step is None:
            return "end" if self.is_end else "initial"
        return "live" if self.step == self.newest and self.is_live else str(self.step)


def moment_of(run: opening.OpenRun, snapshot: Snapshot) -> Moment:
    """Return the latest step, or the one that is replayed. A run that has ended has one place more: its end."""
    at: dict[str, Any] = st.session_state.get(slider_key(run), {}).get("at") or {}
    choice, newest = at.get("step"), shown_step(snapshot.view)
    live = snapshot.state in opening.LIVE
    if choice is None or newest is None or int(choice) > newest:
        return Moment(newest if live else None, newest, live, None, bool(at.get("film")))
    return Moment(int(choice), newest, live, int(choice), bool(at.get("film")))


def slider_key(run: opening.OpenRun) -> str:
    return f"watch.step.{run.key}.slider"


def slider(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> dict[str, Any] | None:
    """Return the band of steps and its slider for assets/scrubber.js; None before the first step.

    A film goes on once the browser has drawn the step before.
    """
    view = snapshot.view
    if view.last_step is None:
        return None
    newest, has_end = moment.newest or 0, not moment.is_live
    inked = newest if moment.step is None and moment.is_live else moment.step
    return {
        "band": pieces.drawn(
            run, snapshot, "band", inked, has_end, make=lambda: band_html(view, shown=inked, has_end=has_end)
        ),
        "key": key_html(snapshot.spec.config),
        "step": moment.choice,
        "newest": newest,
        "called": step_name(view, newest) if moment.newest is not None else "first hypotheses",
        # A run that goes on has no place for its end, and no film.
        "end": view.total_steps if has_end else None,
        "top": view.total_steps if has_end else max(view.total_steps - 1, 1),
    }


def draw(run: opening.OpenRun, snapshot: Snapshot) -> None:
    moment = moment_of(run, snapshot)
    waiting = run.directory.pending_command() if snapshot.state in opening.LIVE else None
    pending = pending_words(waiting.command, snapshot.state) if waiting else ""
    parts = {
        # Times and calls stand apart: they change without a step.
        "status": markup.phase(MARKS[snapshot.state], pending or phase(snapshot)),
        "said": said_html(run, snapshot, moment),
        "deck": cards_html(run, snapshot, moment),
        "rail": rail_html(run, snapshot, moment),
    }
    place = INITIAL_STEP if moment.newest is None else moment.step
    header = {
        "parts": [*parts],
        "at": slider(run, snapshot, moment),
        "place": snapshot.view.total_steps if place is None else place,
        "deck": moment.deck_id,
        "head": heading(snapshot, moment),
        "foot": markup.caption(SQUARES) if snapshot.spec.dataset["task"] == "classification" else "",
    }
    heard = dict.fromkeys(("on_at_change", "on_wanted_change"), lambda: None)
    message = "\n".join((json.dumps(header), "\0".join(parts.values()))).encode(errors="replace")
    _STAGE(data=message, key=slider_key(run), default={"at": None}, **heard)


def said_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> str:
    view = snapshot.view

    def make() -> str:
        if view.last_step is None and snapshot.state in opening.LIVE:
            return f'<div class="lead">{markup.saying(asking_words(snapshot.spec))}</div>'
        lead = f'<div class="lead">{unread_html(view)}{markup.saying(headline(snapshot, moment.step))}</div>'
        if view.last_step is None:
            return lead
        step = INITIAL_STEP if moment.newest is None else moment.step
        balanced = balanced_accuracy(view, run.reader.dataset) if step is None else None
        return lead + markup.happening(happened(view, step, snapshot.spec.config, balanced=balanced))

    return pieces.drawn(run, snapshot, "said", moment, snapshot.state, snapshot.loading_s is not None, make=make)


def heading(snapshot: Snapshot, moment: Moment) -> str:
    config = snapshot.spec.config
    order = ", heaviest first" if config.is_weighted else ", likeliest first" if config.is_filtered else ""
    title = "Hypotheses at the end" if snapshot.state in ("finished", "stopped") else "Hypotheses that are kept"
    if moment.newest is None:
        title, order = "First hypotheses", ""
    elif not moment.is_end:
        title = f"Hypotheses at step {moment.step}"
    rows = {"batch": "batch", "buffer": "buffer", "train": "training rows"}[config.scored_on]
    bars = "bar = weight" if config.is_weighted else f"bar = likelihood per row of the {rows}"
    return markup.heading(f"{title}{order}", f"{bars} · underlined: added · struck: removed")


def cards_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> str:
    view, config = snapshot.view, snapshot.spec.config
    wanted = pieces.wanted(slider_key(run), most=config.size)

    def make() -> str:
        if view.started is None:
            return skeletons_html(range(config.size))
        dataset = run.reader.dataset()
        prompts = PromptMaker(snapshot.spec, dataset, answers=run.reader.read_answers)
        maker = CardMaker(view, config, dataset, prompts, wanted=wanted, readings=readings(run, snapshot, moment.step))
        if moment.newest is None:
            waiting = () if view.has_ended else (slot for slot in range(config.size) if slot not in view.drawn)
            return deck_html(maker.initial(), seed_text=view.started.seed_text) + skeletons_html(waiting)
        cards = maker.final() if moment.step is None else maker.at(moment.step)
        return deck_html(cards, seed_text=view.started.seed_text)

    return pieces.drawn(run, snapshot, "deck", moment.newest, moment.step, wanted, make=make)


def readings(run: opening.OpenRun, snapshot: Snapshot, step: int | None) -> Mapping[str, ProgramReading]:
    """Return how the texts on the cards of a step are read, by hypothesis id; None is the end."""
    at = snapshot.view.steps.get(step) if step is not None else None
    scored = (*at.scored.values(), *at.proposals_scored.values()) if at else snapshot.view.population
    return pieces.readings(run, snapshot, {each.hypothesis for each in scored})


def rail_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> str:
    """Return the figure beside the cards: a bar a step."""
    view, config = snapshot.view, snapshot.spec.config
    if view.last_step is None:
        return ""

    def make() -> str:
        step = INITIAL_STEP if moment.newest is None else moment.step
        title = "Proposals accepted" if config.is_filtered else "Error on the batch"
        title = "Effective sample size" if config.is_weighted else title
        bars = bars_html(view, config, run.reader.dataset(), step)
        return f'<section><h3 class="group">{markup.term(title)}</h3>{bars}</section>'

    return pieces.drawn(run, snapshot, "rail", moment.newest, moment.step, make=make)
