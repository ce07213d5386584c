"""What a reader zoomed the charts of Watch to: a chart whose numbers change is drawn anew, and forgets it by itself."""

from typing import Any

import streamlit as st

from pages.parts.frame import ASSETS
from vpp.drawing.chart import Chart

_ZOOM = st.components.v2.component("vpp_zoom", js=(ASSETS / "zoom.js").read_text(), isolate_styles=False)


def listen(key: str) -> None:
    """Hears how far charts are zoomed; to be drawn once beside them."""
    _ZOOM(data={"ranges": _ranges(key)}, key=key, default={"ranges": {}}, on_ranges_change=lambda: None)


def zoomed(chart: Chart, name: str, key: str) -> Chart:
    """The chart with the axes' ends that were chosen for the one whose key is `name`; itself where none were."""
    told, chosen = _ranges(key).get(f"st-key-{name.replace('.', '-')}"), {}
    for axis in ("xaxis", "yaxis") if told else ():
        low, high = told.get(f"{axis}.range[0]"), told.get(f"{axis}.range[1]")
        if low is not None and high is not None:
            chosen[axis] = [float(low), float(high)]
    return chart.within(chosen) if chosen else chart


def _ranges(key: str) -> dict[str, Any]:
    found: dict[str, Any] = st.session_state.get(key, {}).get("ranges") or {}
    return found
