"""The genealogy: who descends from whom, and one particle's ancestors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from pages.parts import frame
from vpp.drawing.genealogy import (
    ancestry_html,
    drawing,
    founders_table,
    genealogy_caption,
    genealogy_sentence,
    n_changes,
    outcome_sentence,
)
from vpp.errors import InputError
from vpp.events import INITIAL_STEP
from vpp.inspection.genealogy import Genealogy, Place, genealogy
from vpp.runs.reader import Snapshot
from vpp.wording import markup

KEY = "posterior.genealogy"
MOST_CHANGES = 30
_TREE = st.components.v2.component(
    "vpp_genealogy", js=(frame.ASSETS / "genealogy.js").read_text(), isolate_styles=False
)


class Made(NamedTuple):
    """What the whole steps give, kept until there is one more."""

    of: tuple[object, ...]
    found: Genealogy
    drawing: dict[str, Any]
    seed_text: str
    is_weighted: bool


def tree(data: dict[str, Any], *, key: str, on_opened: Callable[[], None] = lambda: None) -> None:
    """The drawing of `vpp.drawing.genealogy.drawing`; `on_opened`: a reader has chosen a particle."""
    _TREE(data=data, key=key, on_opened_change=on_opened)


def draw(run: frame.OpenRun) -> None:
    """As of the last whole step; the ancestors of the particle that a reader opened, below."""
    made = _made(run, frame.fresh(run))
    if made is None:
        return
    found = made.found
    head = markup.heading("Genealogy", genealogy_caption(found, is_weighted=made.is_weighted))
    st.html(markup.block(head, markup.quiet(genealogy_sentence(found))))
    place = _opened(run, found)
    opened = None if place is None else [place.step - INITIAL_STEP, place.slot]
    tree({**made.drawing, "opened": opened}, key=KEY, on_opened=lambda: _open_clicked(run))
    _choose(run, found, place)
    if place is not None:
        _draw_ancestors(run, made, place)


def _made(run: frame.OpenRun, snapshot: Snapshot) -> Made | None:
    """Made again only where a step has become whole, the final weights were made, or the run's state is another."""
    view, kept = snapshot.view, st.session_state.get(f"{KEY}.made")
    of = (run.directory.id, view.last_step, hash(view.population), view.final is None, snapshot.state)
    if kept and kept.of == of:
        return Made(*kept)
    found = genealogy(view)
    if found is None or view.started is None:
        return None
    seed_text, is_weighted = view.started.seed_text, snapshot.spec.config.is_weighted
    steps = 0 if snapshot.state in ("finished", "stopped") else view.total_steps
    data = {
        **drawing(found, seed_text=seed_text, is_weighted=is_weighted, steps=steps),
        "table": founders_table(found, seed_text=seed_text, is_weighted=is_weighted),
        "made": " ".join(map(str, of)),
        "run": run.directory.id,
    }
    made = Made(of, found, data, seed_text, is_weighted)
    st.session_state[f"{KEY}.made"] = made
    return made


def _opened(run: frame.OpenRun, found: Genealogy) -> Place | None:
    """The particle whose ancestors are shown; None where none is, or a resumed run has taken it back."""
    place: Place | None = st.session_state.get(_key(run))
    if place is None:
        return None
    try:
        found.at(place)
    except InputError:
        st.session_state[_key(run)] = None
        return None
    return place


def _key(run: frame.OpenRun) -> str:
    return f"{KEY}.{run.directory.id}"


def _open_clicked(run: frame.OpenRun) -> None:
    """The particle clicked in the drawing: generation and slot."""
    generation, _, slot = str(st.session_state[KEY].opened).partition(":")
    if generation.isdigit() and slot.isdigit():
        st.session_state[_key(run)] = Place(int(generation) + INITIAL_STEP, int(slot))


def _choose(run: frame.OpenRun, found: Genealogy, place: Place | None) -> None:
    """The same without the drawing, for the particles of now: it shows what is open, and is empty for one of before."""
    key = f"{KEY}.particle.{run.directory.id}"
    is_now = place is not None and place.step == found.last_step
    st.session_state[key] = place.slot if place is not None and is_now else None

    def choose() -> None:
        slot = st.session_state[key]
        st.session_state[_key(run)] = None if slot is None else Place(found.last_step, slot)

    left, _ = st.columns([1, 3])
    with left:
        st.selectbox(
            "Ancestors of particle",
            range(len(found.last)),
            index=None,
            key=key,
            on_change=choose,
            placeholder="Choose a particle of now",
        )


def _draw_ancestors(run: frame.OpenRun, made: Made, place: Place) -> None:
    """What stays as it is, and apart from it what a run that goes on makes of it, so that an open fold stays open."""
    changes = n_changes(made.found, place)
    is_long, label = changes > MOST_CHANGES, f"Show all {changes} changes"
    everything = st.toggle(label, key=f"{KEY}.all.{run.directory.id}") if is_long else True
    st.html(_ancestors(made, place, None if everything else MOST_CHANGES))
    outcome = outcome_sentence(made.found, place)
    if outcome:
        st.html(markup.block(markup.caption(outcome)))


def _ancestors(made: Made, place: Place, most: int | None) -> str:
    """Made again only where another particle is opened or the run has something new."""
    of, kept = (made.of, place, most), st.session_state.get(f"{KEY}.ancestors")
    if kept and kept[0] == of:
        return str(kept[1])
    html = markup.block(
        ancestry_html(made.found, place, seed_text=made.seed_text, is_weighted=made.is_weighted, most=most)
    )
    st.session_state[f"{KEY}.ancestors"] = (of, html)
    return html
