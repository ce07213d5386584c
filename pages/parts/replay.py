"""The step band over its slider: which step Watch shows, chosen by hand, by following the latest, or by a film."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.frame import ASSETS

_SCRUBBER = st.components.v2.component("vpp_scrubber", js=(ASSETS / "scrubber.js").read_text(), isolate_styles=False)


@dataclass(frozen=True, slots=True)
class Place:
    """What a reader chose."""

    step: int | None
    """None while the latest is followed."""
    is_film: bool
    """Whether a film came there by itself."""


def place(key: str) -> Place:
    """As the slider last said it."""
    at: dict[str, Any] = st.session_state.get(key, {}).get("at") or {}
    step = at.get("step")
    return Place(None if step is None else int(step), bool(at.get("film")))


def draw(
    band: str, *, shown: Place, newest: int, called: str, end: int | None, top: int, follow: str, key: str
) -> None:
    """The band and its slider, from step 0 to `top`.

    newest: the last step there is to see. called: what that place is called. end: the place of what came after the
    last step; None while a run goes on, which has no film either. follow: what following the latest is called. To be
    drawn last: the film goes on once the slider confirms the step before, and then all of that step is drawn.
    """
    data = {
        "band": band,
        "newest": newest,
        "called": called,
        "end": end,
        "top": top,
        "follow": follow,
        "step": shown.step,
    }
    _SCRUBBER(data=data, key=key, default={"at": None}, on_at_change=lambda: None)
