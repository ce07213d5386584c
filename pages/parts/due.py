"""A costly part of a refreshing page: drawn again only when what it is made from is new."""

from collections.abc import Callable, Hashable

import streamlit as st

from pages.parts.frame import ASSETS

_PULSE = st.components.v2.component("vpp_pulse", js=(ASSETS / "pulse.js").read_text(), isolate_styles=False)


class Part:
    """A fragment of its own beside the one that refreshes, which tells the browser when to ask for it.

    draw: draws the part, and gives what it was made from. key: unique on its page.
    """

    def __init__(self, draw: Callable[[], Hashable], *, key: str) -> None:
        self._draw = draw
        self._key = key
        self._drawn: Hashable = None

    def draw(self) -> None:
        """Where it stands on the page; a refresh elsewhere leaves it as it is."""

        @st.fragment(key=self._key)
        def part() -> None:
            self._drawn = self._draw()

        part()

    def refresh(self, made_from: Hashable) -> None:
        """To be called by the fragment that refreshes: asks for the part where it was made from something else."""
        due = None if self._drawn in (None, made_from) else f"{hash(made_from):x}"
        _PULSE(data={"due": due}, key=f"{self._key}.pulse", on_due_change=lambda: st.rerun(self._key))
