"""The genealogy: who descends from whom, and one particle's ancestors."""

import streamlit as st

from pages.parts import blocks, opening, pieces
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
_TREE = pieces.component("genealogy")


def draw(run: opening.OpenRun, snapshot: Snapshot) -> None:
    view, is_weighted = snapshot.view, snapshot.spec.config.is_weighted
    # The drawing changes with a step, the final weights, or the run's state.
    of = (run.directory.id, view.last_step, hash(view.population), view.final is None, snapshot.state)
    family = pieces.remembered(f"{KEY}.family", of, lambda: genealogy(view))
    if family is None or view.started is None:
        return
    seed_text = view.started.seed_text
    steps = 0 if snapshot.state in ("finished", "stopped") else view.total_steps
    data = pieces.remembered(
        f"{KEY}.drawing",
        of,
        lambda: {
            **drawing(family, seed_text=seed_text, is_weighted=is_weighted, steps=steps),
            "table": founders_table(family, seed_text=seed_text, is_weighted=is_weighted),
            "made": " ".join(map(str, of)),
            "run": run.directory.id,
        },
    )
    how = markup.quiet(genealogy_caption(family, is_weighted=is_weighted))
    blocks.draw(markup.heading("Genealogy", genealogy_sentence(family)), how)
    place = _opened(run, family)
    opened = None if place is None else [place.step - INITIAL_STEP, place.slot]
    _TREE(data={**data, "opened": opened}, key=KEY, on_opened_change=lambda: _open_clicked(run))
    _choose(run, family, place)
    if place is None:
        return
    changes = n_changes(family, place)
    is_long, label = changes > MOST_CHANGES, f"Show all {changes} changes"
    everything = st.toggle(label, key=f"{KEY}.all.{run.directory.id}") if is_long else True
    most = None if everything else MOST_CHANGES
    blocks.draw(ancestry_html(family, place, seed_text=seed_text, is_weighted=is_weighted, most=most))
    # Apart from the ancestors: the later fate changes while a run goes on.
    if outcome := outcome_sentence(family, place):
        blocks.captions(outcome)


def _opened(run: opening.OpenRun, family: Genealogy) -> Place | None:
    place: Place | None = st.session_state.get(_key(run))
    if place is None:
        return None
    try:
        family.at(place)
    except InputError:
        st.session_state[_key(run)] = None
        return None
    return place


def _key(run: opening.OpenRun) -> str:
    return f"{KEY}.{run.directory.id}"


def _open_clicked(run: opening.OpenRun) -> None:
    generation, _, slot = str(st.session_state[KEY].opened).partition(":")
    if generation.isdigit() and slot.isdigit():
        st.session_state[_key(run)] = Place(int(generation) + INITIAL_STEP, int(slot))


def _choose(run: opening.OpenRun, family: Genealogy, place: Place | None) -> None:
    key = f"{KEY}.particle.{run.directory.id}"
    is_now = place is not None and place.step == family.last_step
    st.session_state[key] = place.slot if place is not None and is_now else None

    def choose() -> None:
        slot = st.session_state[key]
        st.session_state[_key(run)] = None if slot is None else Place(family.last_step, slot)

    left, _ = st.columns([1, 3])
    with left:
        st.selectbox(
            "Ancestors of particle",
            range(len(family.last)),
            index=None,
            key=key,
            on_change=choose,
            placeholder="Choose a current particle",
        )
