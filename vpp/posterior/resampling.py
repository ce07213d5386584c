"""Systematic resampling (Section 3.3; Algorithm 2, line 9): K equally spaced pointers on the cumulative weights."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def systematic_resample(weights: npt.ArrayLike, *, u: float, size: int | None = None) -> Ints:
    """Ancestors of the new population, in ascending order; particle k gets floor or ceil of size w_k copies.

    weights: (K,) non-negative, normalised here; a negative, NaN or zero total raises ValueError.
    u: uniform number in [0, 1), the offset of all pointers. size: number of new particles, by default K.
    Returns (size,) indices into the old population.
    """
    w = np.asarray(weights, dtype=np.float64)
    total = w.sum()
    if not (np.isfinite(total) and total > 0) or (w < 0).any():
        raise ValueError("weights must be finite, non-negative and not all zero")
    cumulative = np.cumsum(w / total)
    # A cumulative sum can end below 1, and a pointer can round up to 1: the last particle with weight takes the rest.
    cumulative[np.flatnonzero(w)[-1] :] = np.inf
    n = w.size if size is None else size
    pointers = (np.arange(n) + u) / n
    return np.searchsorted(cumulative, pointers, side="right").astype(np.int64)
