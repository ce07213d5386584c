"""A Plotly figure that is written down, not built: Plotly looks at each property of its own figures as it is set."""

from base64 import b64encode
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray


class Chart(go.Figure):  # type: ignore[misc]
    """Traces and a layout in JSON's terms, sent as they are. `data` and `layout` are Plotly's own objects, built anew.

    Names of properties are nested, never joined by `_`. Nobody changes it any more once it was drawn.
    """

    def __init__(self, data: list[dict[str, Any]] | None = None, layout: dict[str, Any] | None = None) -> None:
        self._told: dict[str, Any] = {"data": data or [], "layout": layout or {}}

    def to_dict(self) -> dict[str, Any]:
        """As Plotly's own."""
        return self._told

    to_plotly_json = to_dict

    @property
    def data(self) -> Any:
        """The traces. Raises ValueError where Plotly knows no such property."""
        return go.Figure(self._told).data

    @property
    def layout(self) -> Any:
        """The same of the layout."""
        return go.Figure(self._told).layout

    def axis(self, name: str) -> dict[str, Any]:
        """What was set of `xaxis` or `yaxis`."""
        return cast(dict[str, Any], self._told["layout"].setdefault(name, {}))

    def update_xaxes(self, **properties: Any) -> None:
        """None takes one away."""
        self._set("xaxis", properties)

    def update_yaxes(self, **properties: Any) -> None:
        """The same."""
        self._set("yaxis", properties)

    def add_scatter(self, **properties: Any) -> None:
        """A line, or points."""
        self._told["data"].append({"type": "scatter", **properties})

    def add_heatmap(self, *, z: NDArray[np.float32], **properties: Any) -> None:
        """z: (rows, columns), sent as its bytes; nan is an empty cell."""
        self._told["data"].append({"type": "heatmap", "z": _bytes(z), **properties})

    def add_annotation(self, **properties: Any) -> None:
        """Words at a place."""
        self._told["layout"].setdefault("annotations", []).append(properties)

    def within(self, ranges: dict[str, list[float]]) -> "Chart":
        """The same chart with other ends of its axes, by their names."""
        layout = self._told["layout"]
        cut = {name: {**layout.get(name, {}), "range": ends} for name, ends in ranges.items()}
        return Chart(self._told["data"], {**layout, **cut})

    def _set(self, name: str, properties: dict[str, Any]) -> None:
        axis = {**self.axis(name), **properties}
        self._told["layout"][name] = {key: value for key, value in axis.items() if value is not None}


def _bytes(z: NDArray[np.float32]) -> dict[str, str]:
    """An array as Plotly sends its own: a fifth of the bytes, and no cell is looked at."""
    told = b64encode(np.ascontiguousarray(z, dtype="<f4").tobytes()).decode()
    return {"dtype": "f4", "bdata": told, "shape": f"{z.shape[0]}, {z.shape[1]}"}
