"""A costly part of a refreshing page: drawn again only when what it is made from is new."""

from collections.abc import Callable, Hashable

import streamlit as st

from pages.parts.frame import ASSETS

_PULSE = st.components.v2.component("vpp_pulse", js=(ASSETS / "pulse.js").read_text(), isolate_styles=False)
_BELL = st.components.v2.component("vpp_bell", js=(ASSETS / "bell.js").read_text(), isolate_styles=False)


class Part:
    """A fragment of its own beside the one that refreshes, which tells the browser when to ask for it.

    The part asks for itself. A callback of the refreshing fragment that asked for it by its key would take the place
    of whatever was clicked at the same moment.

    draw: draws the part, and gives what it was made from. key: unique on its page.
    """

    def __init__(self, draw: Callable[[], Hashable], *, key: str) -> None:
        self._draw = draw
        self._key = key
        self._drawn: Hashable = None

    def draw(self) -> None:
        """Where it stands on the page; a refresh elsewhere leaves it as it is."""

        @st.fragment
        def part() -> None:
            self._drawn = self._draw()
            _BELL(data={"part": self._key}, key=f"{self._key}.bell", on_due_change=lambda: None)

        part()

    def refresh(self, made_from: Hashable) -> None:
        """To be called last by the fragment that refreshes: the part is due where it was made from something else."""
        if self._drawn not in (None, made_from):
            _PULSE(data={"part": self._key, "due": f"{hash(made_from):x}"}, key=f"{self._key}.pulse")
