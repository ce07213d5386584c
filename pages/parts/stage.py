"""The stage of Watch: one step, latest, chosen or reached by a film, as one message to the browser."""

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts import opening, pieces
from vpp.events import INITIAL_STEP
from vpp.findings.curves import accuracy_curve, ess_bars
from vpp.findings.identity import Names, phases
from vpp.findings.programs import program_folds
from vpp.findings.progress import asking_words, flight_words, health, nothing_yet
from vpp.findings.step import Cards, happened, shown_step, step_title
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.runs.store import EXAMPLES
from vpp.runs.view import StepView
from vpp.settings import Config
from vpp.show import markup, page
from vpp.show.deck import SQUARES, Card, deck_html, skeletons_html

_STAGE = pieces.component("stage", "patch", "scrubber", "deck", "glide")
ANIMATED = 16  # most cards whose phases are sent one by one: more do not move


@dataclass(frozen=True, slots=True)
class Moment:
    """The step that the page shows."""

    step: int | None
    """None for the end, and before the first step is there to see."""
    newest: int | None
    """The last step there is to see."""
    is_live: bool
    choice: int | None = None
    """The reader's choice; None while the latest step is followed."""
    is_film: bool = False
    """Whether a film reached the step."""

    @property
    def deck_id(self) -> str:
        """Name of the deck: while one is read its order is held, another one is sorted immediately."""
        return "latest" if self.choice is None or self.is_film else str(self.choice)


def moment_of(run: opening.OpenRun, snapshot: Snapshot) -> Moment:
    """Return the latest step, or the one that is replayed. A run that has ended has one place more: its end."""
    at: dict[str, Any] = st.session_state.get(slider_key(run), {}).get("at") or {}
    choice, newest = at.get("step"), shown_step(snapshot.view)
    live = snapshot.state in opening.LIVE
    if choice is None or newest is None or int(choice) - 1 > newest:
        return Moment(newest if live else None, newest, live)
    return Moment(int(choice) - 1, newest, live, choice=int(choice), is_film=bool(at.get("film")))


def slider_key(run: opening.OpenRun) -> str:
    return f"watch.step.{run.key}.slider"


def slider(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> dict[str, Any] | None:
    """Return the slider's places for assets/scrubber.js, counted from 1; None without steps to choose from."""
    view, config = snapshot.view, snapshot.spec.config
    if moment.newest is None or config.is_weighing:
        return None
    has_end = not moment.is_live
    return {
        "step": moment.choice,
        "newest": moment.newest + 1,
        "total": view.total_steps,
        # A run that goes on has no place for its end, and no film.
        "end": view.total_steps + 1 if has_end else None,
        "plays": has_end and run.directory.id in EXAMPLES,
    }


def draw(run: opening.OpenRun, snapshot: Snapshot, status: str, *, now: float) -> None:
    """Draw the stage under the run's state. now: Unix time."""
    moment, names = moment_of(run, snapshot), Names(snapshot.view)
    at = snapshot.view.steps.get(moment.step) if moment.step is not None else None
    parts = {
        # Times and calls stand apart: they change without a step.
        "status": status + health_html(run, snapshot, names, now=now),
        "said": said_html(run, snapshot, moment, names),
        "rail": rail_html(run, snapshot, moment),
    }
    decks = decks_html(run, snapshot, moment, names)
    is_weighing = snapshot.spec.config.is_weighing
    header = {
        "parts": [*parts],
        "at": slider(run, snapshot, moment),
        "newest": moment.newest,
        "place": place(snapshot, moment),
        "deck": moment.deck_id,
        "title": step_title(snapshot.view, moment.step),
        "phases": [] if is_weighing else phase_names(snapshot.spec.config),
        "begun": phases(at) if at else [],
        "foot": foot_words(snapshot, moment),
    }
    heard = dict.fromkeys(("on_at_change", "on_wanted_change"), lambda: None)
    message = "\n".join((json.dumps(header), "\0".join((*parts.values(), *decks)))).encode(errors="replace")
    _STAGE(data=message, key=slider_key(run), default={"at": None}, **heard)


def place(snapshot: Snapshot, moment: Moment) -> int:
    """Number the moments in order: a step by its number from 1."""
    if moment.newest is None:
        return INITIAL_STEP + 1
    return snapshot.view.total_steps + 1 if moment.step is None else moment.step + 1


def phase_names(config: Config) -> list[str]:
    return ["weigh", "copy", "rewrite"] if config.is_weighted else ["rewrite"]


def foot_words(snapshot: Snapshot, moment: Moment) -> str:
    """Return the key to the cards, with what they show alone."""
    config, is_label = snapshot.spec.config, snapshot.spec.dataset["task"] == "classification"
    bars = "Bar: weight." if config.is_weighted else "Number: log-likelihood. Bar: likelihood a row."
    words = [bars] if moment.newest is not None else []
    if moment.step is not None and not config.is_weighing:
        words += ["Underlined: added. Struck: removed.", SQUARES if is_label and config.scored_on != "train" else ""]
    return " ".join(words)


def health_html(run: opening.OpenRun, snapshot: Snapshot, names: Names, *, now: float) -> str:
    """Return how a run does, or what a slow server is asked, in one line."""
    if snapshot.state != "running":
        return ""
    words = flight_words(snapshot, now=now) or health(snapshot.view, run.reader.dataset(), names)
    return markup.caption(words)


def said_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment, names: Names) -> str:
    view, config = snapshot.view, snapshot.spec.config
    step = INITIAL_STEP if moment.newest is None else moment.step
    words = happened(view, step, config, names) if view.last_step is not None else ""
    if not words:
        words = asking_words(snapshot) if snapshot.state in opening.LIVE else nothing_yet(snapshot.state)
    return f'<p class="happened" title="{markup.text(words)}">{markup.text(words)}</p>'


def decks_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment, names: Names) -> list[str]:
    """Return the deck in each phase that the step has begun; the last is the one that stays."""
    view, config = snapshot.view, snapshot.spec.config
    if view.started is None:
        return [skeletons_html(config.size)]
    dataset = run.reader.dataset()
    prompts = PromptMaker(snapshot.spec, dataset, answers=run.reader.read_answers)
    wanted = pieces.wanted(slider_key(run), most=config.size)
    maker = Cards(view, config, dataset, prompts, names=names, wanted=wanted)
    if moment.newest is None:
        waiting = 0 if view.has_ended else config.size - len(view.drawn)
        return [deck_html(maker.first()) + skeletons_html(waiting)]
    if moment.step is None:
        decks = [maker.end()]
    else:
        begun = phases(view.steps.get(moment.step, StepView(step=moment.step)))
        decks = [maker.at(moment.step, phase) for phase in (begun if config.size <= ANIMATED else begun[-1:])]
    return [deck_html(cards, extra=programs(run, snapshot, cards)) for cards in decks]


def programs(run: opening.OpenRun, snapshot: Snapshot, cards: list[Card]) -> dict[int, str]:
    """Return the fold with each card's program, or why it has none."""
    readings = pieces.readings(run, snapshot, {card.id for card in cards})
    return {card.number: page.html(program_folds(readings.get(card.id))) for card in cards}


def rail_html(run: opening.OpenRun, snapshot: Snapshot, moment: Moment) -> str:
    """Return the figures beside the cards."""
    view, config = snapshot.view, snapshot.spec.config
    if moment.newest is None or config.is_weighing:
        return ""
    curve = accuracy_curve(view, run.reader.dataset(), at=moment.step)
    return page.html([curve, *([ess_bars(view, at=moment.step)] if config.is_weighted else [])])
