"""Conversion between pandas frames and tables, and the frame of a posterior's disagreement."""

import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp.data.dataset import DETECT, ReadAs, Row, Task
from vpp.data.table import MAX_BYTES, Table
from vpp.errors import InputError
from vpp.events import Votes
from vpp.files import read_at_most
from vpp.posterior.conformal import Conformal
from vpp.posterior.disagreement import is_uncertain, vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, vote_shares

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


def disagreement_frame(
    rows: Sequence[Row],
    votes: Sequence[Votes],
    averaged: Votes,
    weights: Sequence[float],
    *,
    task: Task,
    doubt: Conformal | None = None,
) -> "pd.DataFrame":
    """Return one line per row, most divided first, indexed by row id.

    rows: (N,); votes: (N, K); averaged: (N,); weights: (K,). Columns: truth, prediction; for labels share (the
    prediction's weight) and entropy_bits of the vote, for numbers spread (weighted standard deviation) and low to high
    (90 % of the weight); possible, if `doubt`, the run's calibration, is given (the possible labels, or the lowest and
    highest possible number); abstained (a weight), uncertain (Section 5.3), and each particle's answer. Unknown
    values are None or NaN.
    """
    import pandas as pd

    is_label = task == "classification"
    summary = _of_labels if task == "classification" else _of_numbers
    lines = []
    for row, said, answer in zip(rows, votes, averaged, strict=True):
        unsure, summed = summary(said, answer, weights)
        own = {
            "row": row.id,
            "truth": row.target,
            "prediction": answer,
            **summed,
            **({"possible": _possible(said, weights, doubt, is_label=is_label)} if doubt else {}),
            "abstained": math.fsum(w for v, w in zip(said, weights, strict=True) if v is None),
            "uncertain": is_uncertain(said, weights),
            **{f"particle_{slot}": vote for slot, vote in enumerate(said)},
        }
        lines.append((-unsure, row.id, own))
    divided_first = [line for _, _, line in sorted(lines, key=lambda each: each[:2])]
    return pd.DataFrame(divided_first).set_index("row") if divided_first else pd.DataFrame()


def _possible(
    votes: Votes, weights: Sequence[float], doubt: Conformal, *, is_label: bool
) -> tuple[str, ...] | tuple[float, float]:
    return doubt.labels(votes, weights) if is_label else doubt.interval(weighted_interval(votes, weights))


def _of_labels(votes: Votes, answer: Value | None, weights: Sequence[float]) -> tuple[float, dict[str, Any]]:
    """Return the sort key, uncertainty, and its columns."""
    entropy = vote_entropy(votes, weights)
    share = vote_shares(votes, weights).get(answer, 0.0) if answer is not None else 0.0
    return entropy, {"share": share, "entropy_bits": entropy if math.isfinite(entropy) else math.nan}


def _of_numbers(votes: Votes, _answer: Value | None, weights: Sequence[float]) -> tuple[float, dict[str, Any]]:
    spread = weighted_spread(votes, weights)
    low, high = weighted_interval(votes, weights) or (math.nan, math.nan)
    return spread, {"spread": spread if math.isfinite(spread) else math.nan, "low": low, "high": high}
