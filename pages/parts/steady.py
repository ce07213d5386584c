"""HTML that is patched in place, so that what a reader has focused, selected or scrolled stays so over a refresh."""

from collections.abc import Callable

import streamlit as st

from pages.parts.frame import ASSETS

_STEADY = st.components.v2.component("vpp_steady", js=(ASSETS / "steady.js").read_text(), isolate_styles=False)


def steady(html: str, *, key: str) -> None:
    """A part of a page. A wide table that `markup.CUE` stands before says how much of it is in view."""
    _STEADY(data={"html": html}, key=key, on_row_change=lambda: None)


def rows_to_open(html: str, *, key: str, on_open: Callable[[int], None]) -> None:
    """The same with a table whose rows are opened; `on_open` is told a row's id before the page is drawn again."""

    def told() -> None:
        row = st.session_state[key].get("row")
        if row is not None:
            on_open(int(row))

    _STEADY(data={"html": html}, key=key, on_row_change=told)
