"""The Plotly template in light and dark, from the same tokens as assets/vpp.css."""

from typing import Any, Literal

Mode = Literal["light", "dark"]
SANS = "VPP Sans, Fira Sans, sans-serif"
INK: dict[Mode, dict[str, str]] = {
    "light": {
        "ink": "#16202a",
        "ink2": "#42505c",
        "ink3": "#5b6771",
        "paper": "#f7f8f6",
        "sheet": "#ffffff",
        "sunk": "#edf0ee",
        "rule": "#d9ddda",
        "edge": "#7f8a92",
        "accept": "#0b5fa5",
        "reject": "#8f1f06",
        "gone": "#4b3358",
    },
    "dark": {
        "ink": "#e9ece8",
        "ink2": "#b7c0c6",
        "ink3": "#929da6",
        "paper": "#12171c",
        "sheet": "#181f25",
        "sunk": "#0d1115",
        "rule": "#2b343c",
        "edge": "#6a7680",
        "accept": "#74b7f2",
        "reject": "#ec7a52",
        "gone": "#9a86b8",
    },
}


def template(mode: Mode) -> dict[str, Any]:
    """A lean layout template: hairlines, no legend, no frame."""
    c = INK[mode]
    axis = {
        "gridcolor": c["rule"],
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "tickfont": {"color": c["ink3"], "size": 12},
        "fixedrange": False,
        "automargin": True,
    }
    return {
        "layout": {
            "font": {"family": SANS, "size": 13, "color": c["ink2"]},
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
