"""Conversion between pandas frames and tables, and the frame of a posterior's disagreement."""

import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp.data.dataset import DETECT, ReadAs, Value
from vpp.data.table import MAX_BYTES, Table
from vpp.errors import InputError
from vpp.files import read_at_most
from vpp.inspection.points import Point, possible_labels, possible_range

if TYPE_CHECKING:
    import pandas as pd


AS_WRITTEN = ReadAs(encoding="utf-8", delimiter=",", header=True, skip_lines=0)
"""Format of the CSV that a frame is converted to, so that nothing is detected."""


def table_of(data: "Table | str | Path | pd.DataFrame", *, read_as: ReadAs = DETECT) -> Table:
    """Return a file, a frame or a Table as a Table. read_as: how to read a file.

    Raises InputError for an unreadable path, and for a frame's row without any value: a CSV would drop that line and
    shift the rows after it.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        path = Path(data)
        try:
            return Table.read(read_at_most(path, MAX_BYTES + 1), name=path.name, read_as=read_as)
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): check the path") from None
    if not hasattr(data, "itertuples"):
        raise InputError(f"data is a {type(data).__name__}: give a path, a pandas DataFrame or a Table")
    empty = [place for place, line in enumerate(data.itertuples(index=False)) if not any(map(_has_value, line))]
    if empty:
        raise InputError(f"row {empty[0]} of the frame has no value in any column: use frame.dropna(how='all')")
    return replace(Table.read(_csv(data), name="frame", read_as=AS_WRITTEN), read_as=DETECT)


def _csv(frame: "pd.DataFrame") -> bytes:
    """Return the frame as CSV. Raises InputError if a cell is not Unicode text."""
    text = StringIO()
    frame.to_csv(text, index=False, lineterminator="\r\n")  # a carriage return in a cell is quoted only with this end
    try:
        return text.getvalue().encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the frame holds a lone surrogate ({error.object[error.start]!r}): replace it") from None


def _has_value(cell: object) -> bool:
    """Return whether a cell holds something that a CSV keeps."""
    import pandas as pd

    is_missing = pd.api.types.is_scalar(cell) and bool(pd.isna(cell))
    return not is_missing and bool(str(cell).strip())


def disagreement_frame(points: Sequence[Point]) -> "pd.DataFrame":
    """Return one line per row, most divided first, indexed by row id. points: (N,) of K particles.

    Columns: truth, prediction; for labels share (the prediction's weight) and entropy_bits of the vote, for numbers
    spread (weighted standard deviation) and low to high (90 % of the weight); possible, if the run is calibrated (the
    possible labels, or the lowest and highest possible number); abstained (a weight), uncertain (Section 5.3), and
    each particle's answer. Unknown values are None or NaN.
    """
    import pandas as pd

    divided_first = [_line(point) for point in sorted(points, key=lambda point: (-point.doubt, point.row.id))]
    return pd.DataFrame(divided_first).set_index("row") if divided_first else pd.DataFrame()


def _line(point: Point) -> dict[str, Any]:
    return {
        "row": point.row.id,
        "truth": point.row.target,
        "prediction": point.prediction,
        **(_of_label(point) if point.is_label else _of_number(point)),
        **({"possible": possible_range(point) or possible_labels(point)} if point.calibrated else {}),
        "abstained": point.abstained,
        "uncertain": point.is_uncertain,
        **{f"particle_{slot}": vote for slot, vote in enumerate(point.votes)},
    }


def _of_label(point: Point) -> dict[str, Any]:
    share = dict[Value, float](point.shares).get(point.prediction, 0.0) if point.prediction is not None else 0.0
    return {"share": share, "entropy_bits": point.doubt if math.isfinite(point.doubt) else math.nan}


def _of_number(point: Point) -> dict[str, Any]:
    low, high = point.interval or (math.nan, math.nan)
    return {"spread": point.doubt if math.isfinite(point.doubt) else math.nan, "low": low, "high": high}
