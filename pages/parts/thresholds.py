"""Interpretation thresholds: one set a browser session, the same on every page, kept in the address for a reload."""

import streamlit as st

from pages.parts import blocks
from vpp.wording import markup
from vpp.wording.verdicts import DEFAULTS, MOVABLE, Movable, Thresholds, read, written
from vpp.wording.words import counted

IN_SESSION, ADDRESS = "thresholds", "thresholds"
MOVED = "thresholds.moved"
"""Session key: whether a field was just moved, which changes words all over the page."""
ABOUT = (
    "They change the words beside the numbers, never a number and never the run. The share of K below which a run "
    "resamples is an option of the run: it was set before the start, and is not moved here. The report keeps to the "
    "defaults."
)


def chosen() -> Thresholds:
    if IN_SESSION not in st.session_state:
        st.session_state[IN_SESSION] = read(st.query_params.get(ADDRESS, ""))
    at: Thresholds = st.session_state[IN_SESSION]
    text = written(at)
    if text and st.query_params.get(ADDRESS) != text:
        st.query_params[ADDRESS] = text
    if not text and ADDRESS in st.query_params:
        del st.query_params[ADDRESS]
    return at


def draw_expander() -> None:
    @st.fragment
    def part() -> None:
        if st.session_state.pop(MOVED, False):
            st.rerun()
        at = chosen()
        moved = sum(movable.shown(at) != movable.shown(DEFAULTS) for movable in MOVABLE)
        # Its head stays as it is: a fold with another one is another fold, whose fields lose what is typed in them.
        with st.expander("Interpretation thresholds", key="thresholds.fold", on_change="rerun") as opened:
            if opened.open:
                _fields(at, moved=moved)
        if moved:
            blocks.captions(f"{counted(moved, 'threshold')} moved.")

    part()


def _fields(at: Thresholds, *, moved: int) -> None:
    blocks.draw(markup.quiet(ABOUT))
    for column, movable in blocks.in_columns(MOVABLE, 2, gap="large"):
        numbers = (movable.least, movable.most, movable.shown(at), movable.step)
        least, most, now, step = (_typed(movable, value) for value in numbers)
        key = f"thresholds.{movable.name}"
        with column:
            st.number_input(movable.label, least, most, now, step=step, key=key, on_change=_move, args=(movable,))
            blocks.captions(f"Default {movable.default}: {movable.why}")
    st.button("Back to the defaults", on_click=_set, args=(DEFAULTS,), disabled=not moved, key="thresholds.back")


def _typed(movable: Movable, value: float) -> float | int:
    """Return the value as int or float: a field's numbers must be of one type."""
    return round(value) if movable.is_whole or movable.unit else float(value)


def _move(movable: Movable) -> None:
    at = st.session_state.get(IN_SESSION, DEFAULTS)
    _set(movable.moved(at, float(st.session_state[f"thresholds.{movable.name}"])))


def _set(at: Thresholds) -> None:
    """Set the thresholds, and every field: a value is rounded to its step, and may move another."""
    st.session_state[IN_SESSION], st.session_state[MOVED] = at, True
    for movable in MOVABLE:
        st.session_state[f"thresholds.{movable.name}"] = _typed(movable, movable.shown(at))
