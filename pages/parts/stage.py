"""The stage of Watch: one step, latest, chosen or reached by a film, as one message to the browser."""

import json
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts import blocks, opening
from pages.parts.opening import OpenRun
from vpp.events import INITIAL_STEP
from vpp.findings.hypotheses import deck, hypotheses_of
from vpp.findings.programs import program_folds
from vpp.findings.progress import asking_words, flight_words, nothing_yet
from vpp.findings.step import Cards, Names, accuracy_curve, ess_curve, happened, phases, shown_step, step_title
from vpp.runs.directory import Snapshot
from vpp.runs.store import EXAMPLES
from vpp.runs.view import StepView
from vpp.show import markup
from vpp.show.blocks import Card, Deck
from vpp.show.markup import skeletons_html

_STAGE = blocks.component("stage", "patch", "scrubber", "deck", "glide")
ANIMATED = 16  # most cards whose phases are sent one by one: more do not move
LIGHT = 0.01  # share of the heaviest hypothesis's weight below which one is not shown at the end


def draw(run: OpenRun, snapshot: Snapshot, cards: Cards, status: str, *, now: float, stops: bool) -> None:
    """Draw the stage under the run's state. now: Unix time. stops: whether a stop waits for the worker."""
    stage = Stage(run, snapshot, cards)
    # A stop drops the step that it cuts short: what was in view stays until there is the end.
    before: Stage = st.session_state.get(f"watch.stage.{run.key}", stage)
    if stops and (before.newest or 0) > (stage.newest or 0):
        before.choice, stage = stage.choice, before
    st.session_state[f"watch.stage.{run.key}"] = stage
    parts = {
        # Times and calls stand apart: they change without a step.
        "status": status + (markup.caption(words) if (words := flight_words(snapshot, now=now)) else ""),
        "said": stage.happened_html(),
        "rail": stage.rail_html(),
    }
    header = {"parts": [*parts], **stage.header()}
    message = "\n".join((json.dumps(header), "\0".join((*parts.values(), *stage.decks())))).encode(errors="replace")
    _STAGE(data=message, key=slider_key(run), default={"at": None}, on_at_change=lambda: None)


def slider_key(run: OpenRun) -> str:
    return f"watch.step.{run.key}.slider"


class Stage:
    """The latest step, or the one that is replayed."""

    def __init__(self, run: OpenRun, snapshot: Snapshot, cards: Cards) -> None:
        self.run, self.snapshot, self.cards = run, snapshot, cards
        self.view, self.config = snapshot.view, snapshot.spec.config
        self.names, self.newest = Names(snapshot.view), shown_step(snapshot.view)
        at: dict[str, Any] = st.session_state.get(slider_key(run), {}).get("at") or {}
        place = at.get("step")
        self.choice: int | None = None  # the latest step is followed, unless the reader chose one
        if place is not None and self.newest is not None and int(place) - 1 <= self.newest:
            self.choice = int(place) - 1

    @property
    def is_live(self) -> bool:
        return self.snapshot.state in opening.LIVE

    @property
    def step(self) -> int | None:
        """The step in view; None for the end of a run, and before the first step is there to see."""
        if self.choice is not None:
            return self.choice
        return self.newest if self.is_live else None

    def header(self) -> dict[str, Any]:
        at = self.view.steps.get(self.step) if self.step is not None else None
        end = self.view.total_steps + 1
        place = INITIAL_STEP + 1 if self.newest is None else end if self.step is None else self.step + 1
        rewriting = ["weigh", "copy", "rewrite"] if self.config.is_weighted else ["rewrite"]
        # While a deck is read its order is held; another deck is sorted immediately, as each step of a film.
        deck = "latest" if self.choice is None else str(self.choice)
        return {
            "at": self.slider(end),
            "newest": self.newest,
            "place": place,
            "deck": deck,
            "title": step_title(self.view, self.step),
            "phases": [] if self.config.is_weighing else rewriting,
            "begun": phases(at) if at else [],
            "foot": self.foot_words(),
        }

    def slider(self, end: int) -> dict[str, Any] | None:
        """Return the slider's places for assets/scrubber.js, counted from 1; None without steps to choose from."""
        if self.newest is None or self.config.is_weighing:
            return None
        return {
            "step": None if self.choice is None else self.choice + 1,
            "newest": self.newest + 1,
            "total": self.view.total_steps,
            # A run that goes on has no place for its end, and no film.
            "end": None if self.is_live else end,
            "plays": not self.is_live and self.run.id in EXAMPLES,
        }

    def foot_words(self) -> str:
        if self.newest is None:
            return ""
        if self.step is None:
            little = "Bar: weight. Hypotheses of little weight are on Posterior."
            return little if self.config.is_weighted else "Bar: share of the chains."
        bars = "Bar: weight." if self.config.is_weighted else "Number: log-likelihood. Bar: likelihood a row."
        return bars if self.config.is_weighing else f"{bars} Underlined: added. Struck: removed."

    def happened_html(self) -> str:
        words = asking_words(self.snapshot) if self.is_live else nothing_yet(self.snapshot.state)
        if self.view.last_step is not None:
            words = happened(self.view, INITIAL_STEP if self.newest is None else self.step, self.config, self.names)
        return f'<p class="happened" title="{markup.text(words)}">{markup.text(words)}</p>'

    def rail_html(self) -> str:
        if self.newest is None or self.config.is_weighing:
            return ""
        curve = accuracy_curve(self.view, self.run.reader.dataset(), at=self.step)
        return markup.html([curve, *([ess_curve(self.view, at=self.step)] if self.config.is_weighted else [])])

    def decks(self) -> list[str]:
        """Return the deck in each phase that the step has begun; the last is the one that stays."""
        view, size, dataset = self.view, self.config.size, self.run.reader.dataset()
        if view.start is None:
            return [skeletons_html(size)]
        if self.newest is None:
            waiting = 0 if view.has_ended else size - len(view.draws)
            return [markup.html([Deck(self.cards.first(self.names))]) + skeletons_html(waiting)]
        if self.step is None:
            every = hypotheses_of(view, dataset)
            heavy = [each for each in every if each.weight >= LIGHT * every[0].weight]
            readings = opening.readings(self.run, self.snapshot, {each.id for each in heavy})
            return [markup.html([deck(heavy, view, self.config, readings, self.names.end(every))])]
        begun = phases(view.steps.get(self.step, StepView(step=self.step)))
        every_phase = begun if size <= ANIMATED else begun[-1:]
        return [self.deck(self.cards.at(self.names, self.step, phase)) for phase in every_phase]

    def deck(self, cards: list[Card]) -> str:
        readings = opening.readings(self.run, self.snapshot, {card.id for card in cards})
        folds = (program_folds(readings.get(card.id)) for card in cards)
        return markup.html(
            [Deck([replace(card, folds=(*card.folds, *more)) for card, more in zip(cards, folds, strict=True)])]
        )
