"""What a reader zoomed the charts of Watch to: a chart whose numbers change is drawn anew, and forgets it by itself."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.parts.frame import ASSETS

_ZOOM = st.components.v2.component("vpp_zoom", js=(ASSETS / "zoom.js").read_text(), isolate_styles=False)


def listen(key: str) -> None:
    """Hears how far charts are zoomed; to be drawn once beside them."""
    _ZOOM(data={"ranges": _ranges(key)}, key=key, default={"ranges": {}}, on_ranges_change=lambda: None)


def zoomed(chart: go.Figure, name: str, key: str) -> go.Figure:
    """The chart with the axes' ends that were chosen for the one whose key is `name`; itself where none were."""
    ends = _ranges(key).get(f"st-key-{name.replace('.', '-')}")
    if not ends:
        return chart
    chosen = go.Figure(chart)
    for axis in ("xaxis", "yaxis"):
        low, high = ends.get(f"{axis}.range[0]"), ends.get(f"{axis}.range[1]")
        if low is not None and high is not None:
            chosen.layout[axis].range = [float(low), float(high)]
    return chosen


def _ranges(key: str) -> dict[str, Any]:
    found: dict[str, Any] = st.session_state.get(key, {}).get("ranges") or {}
    return found
