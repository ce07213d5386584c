"""Plotly figures. Plotly is imported where a figure is made: most of its import is not needed for a first page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vpp.show.theme import Mode, palette, template

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 260
"""In pixels."""


def stacked_shares(layers: Mapping[str, Sequence[float]], steps: Sequence[str], mode: Mode) -> "go.Figure":
    """Stack shares of one whole, the first layer at the bottom and darkest. layers: a value a step, by name."""
    import plotly.graph_objects as go

    c = palette(mode)
    inks = (c["ink"], c["past"], c["ink-2"], c["edge"], c["ink-3"])
    areas: list[Any] = [
        go.Scatter(
            x=list(steps),
            y=list(shares),
            name=name,
            mode="lines",
            stackgroup="whole",
            line={"width": 1, "color": c["paper"]},
            fillcolor=inks[place % len(inks)],
            hovertemplate=f"{name}: %{{y:.0%}}<extra></extra>",
        )
        for place, (name, shares) in enumerate(layers.items())
    ]
    axes = {"xaxis_title": "step", "yaxis_title": "weight", "yaxis_tickformat": ".0%", "yaxis_range": [0, 1]}
    layout = {"hovermode": "x unified", "xaxis_type": "category", "height": HEIGHT, "template": template(mode)}
    return go.Figure(areas).update_layout(**axes, **layout)
