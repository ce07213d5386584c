"""Colours and charts of both themes, shared by the stylesheet, Streamlit's theme and the report.

assets/vpp.css and .streamlit/config.toml cannot import; tests/show/test_theme.py holds their values equal to these.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import plotly.graph_objects as go

Mode = Literal["light", "dark"]


class Token(NamedTuple):
    """A colour in each theme, as #rrggbb."""

    light: str
    dark: str

    def of(self, mode: Mode) -> str:
        return self.light if mode == "light" else self.dark


TOKENS: dict[str, Token] = {
    "paper": Token("#f7f8f6", "#12171c"),
    "sheet": Token("#ffffff", "#181f25"),
    "sunk": Token("#edf0ee", "#0d1115"),
    "ink": Token("#16202a", "#e9ece8"),
    "ink-2": Token("#42505c", "#b7c0c6"),
    "ink-3": Token("#5b6771", "#929da6"),
    "rule": Token("#d9ddda", "#2b343c"),
    "edge": Token("#7f8a92", "#6a7680"),
    "past": Token("#848f97", "#5f6b75"),
    "accept": Token("#0b5fa5", "#74b7f2"),
    "accept-tint": Token("#e4eff9", "#15293b"),
    "reject": Token("#8f1f06", "#ec7a52"),
    "reject-tint": Token("#faeae4", "#341f19"),
    "gone": Token("#4b3358", "#9a86b8"),
    "gone-tint": Token("#f0ebf6", "#272135"),
    "unsure": Token("#7a6200", "#e8c860"),
    "unsure-tint": Token("#fbf1dc", "#2d2614"),
    "l0": Token("#1d6a66", "#6cc0b8"),
    "l1": Token("#80540f", "#dcab62"),
    "l2": Token("#67488f", "#b9a3e0"),
    "l3": Token("#49691f", "#a4c572"),
    "l4": Token("#8f3f68", "#de9bbd"),
    "l5": Token("#435a73", "#9fb6ce"),
}
"""Surfaces (paper, sheet, sunk), ink, lines (rule; edge of a control; past bars), verdicts, tints, labels."""
PRIMARY = Token("#16202a", "#657787")
"""Colour of sliders and ticked boxes. Streamlit writes white on it in both themes, so it cannot be ink in the dark."""


def palette(mode: Mode) -> dict[str, str]:
    return {name: token.of(mode) for name, token in TOKENS.items()}


SANS = "VPP Sans, Fira Sans, sans-serif"


def template(mode: Mode) -> dict[str, Any]:
    """Return the Plotly template: hairlines, no legend, no frame."""
    c = palette(mode)
    axis = {
        "gridcolor": c["rule"],
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "tickfont": {"color": c["ink-3"], "size": 12},
        "fixedrange": False,
        "automargin": True,
    }
    return {
        "layout": {
            "font": {"family": SANS, "size": 13, "color": c["ink-2"]},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": {**axis, "showgrid": False},
            "yaxis": axis,
            "margin": {"l": 34, "r": 12, "t": 8, "b": 28},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {
                "bgcolor": c["sheet"],
                "bordercolor": c["edge"],
                "font": {"family": SANS, "color": c["ink"]},
            },
        }
    }


HEIGHT = 260


def stacked_shares(layers: Mapping[str, Sequence[float]], steps: Sequence[str], mode: Mode) -> "go.Figure":
    """Stack shares of one whole, the first layer at the bottom and darkest. layers: a value a step, by name."""
    import plotly.graph_objects as go  # late: it takes a second

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
