"""The step that Watch shows: the latest, one chosen by hand, or one that a film has reached."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts import opening, pieces
from vpp.drawing.rail import band_html, key_html
from vpp.runs.reader import Snapshot
from vpp.wording.counts import step_name
from vpp.wording.progress import shown_step


@dataclass(frozen=True, slots=True)
class Place:
    """A reader's choice."""

    step: int | None
    """None while the latest step is followed."""
    is_film: bool
    """Whether a film reached the step."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The step that the page shows."""

    step: int | None
    """None for the end, and before the first step is there to see."""
    newest: int | None
    """The last step there is to see."""
    is_live: bool
    chosen: Place

    @property
    def is_end(self) -> bool:
        return self.step is None and self.newest is not None

    @property
    def deck_id(self) -> str:
        """Name of the deck: another one is sorted immediately. A film is one deck, held while it is read."""
        if self.chosen.is_film and not self.is_live:
            return "film"
        if self.step is None:
            return "end" if self.is_end else "initial"
        return "live" if self.step == self.newest and self.is_live else str(self.step)


def shown_of(run: opening.OpenRun, snapshot: Snapshot) -> Shown:
    """Return the latest step, or the one that is replayed. A run that has ended has one place more: its end."""
    chosen, newest = _place(slider_key(run)), shown_step(snapshot.view)
    live = snapshot.state in opening.LIVE
    is_replayed = chosen.step is not None and newest is not None and chosen.step <= newest
    step = chosen.step if is_replayed else newest if live else None
    return Shown(step, newest, live, chosen if is_replayed else Place(None, chosen.is_film))


def slider_key(run: opening.OpenRun) -> str:
    return f"watch.step.{run.key}.slider"


def _place(key: str) -> Place:
    at: dict[str, Any] = st.session_state.get(key, {}).get("at") or {}
    step = at.get("step")
    return Place(None if step is None else int(step), bool(at.get("film")))


def slider(run: opening.OpenRun, snapshot: Snapshot, shown: Shown) -> dict[str, Any] | None:
    """Return the band of steps and its slider for assets/scrubber.js; None before the first step.

    A film goes on once the browser has drawn the step before.
    """
    view = snapshot.view
    if view.last_step is None:
        return None
    newest, has_end = shown.newest or 0, not shown.is_live
    inked = newest if shown.step is None and shown.is_live else shown.step
    band = pieces.drawn(
        run, snapshot, "band", inked, has_end, make=lambda: band_html(view, shown=inked, has_end=has_end)
    )
    return {
        "band": band,
        "key": key_html(snapshot.spec.config),
        "step": shown.chosen.step,
        "newest": newest,
        "called": step_name(view, newest) if shown.newest is not None else "first hypotheses",
        # A run that goes on has no place for its end, and no film.
        "end": view.total_steps if has_end else None,
        "top": view.total_steps if has_end else max(view.total_steps - 1, 1),
    }
