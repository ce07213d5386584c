"""The Plotly template in light and dark."""

from typing import Any

from vpp.wording.tokens import Mode, palette

SANS = "VPP Sans, Fira Sans, sans-serif"
INK: dict[Mode, dict[str, str]] = {"light": palette("light"), "dark": palette("dark")}


def template(mode: Mode) -> dict[str, Any]:
    """A lean layout template: hairlines, no legend, no frame."""
    c = INK[mode]
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
