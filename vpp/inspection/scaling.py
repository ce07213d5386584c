"""Classical scaling: points in the plane whose distances are near given ones, and their alignment to earlier points.

Torgerson (1952) for the points, Schönemann (1966) for the alignment, Kruskal (1964) for the stress.
"""

import numpy as np

from vpp.posterior.weights import Floats

DIGITS = 9
"""Decimals to which coordinates are compared, so that rounding errors decide nothing."""
FLAT = 1e-9
"""Share of the largest singular value below which paired points count as lying on a line."""
ASPECT = 0.45
"""Height of the frame as a share of its width."""
NARROWEST = 0.02
"""Half the width of the smallest frame, as a distance."""
WIDER, NARROWER, EMPTY = 1.25, 0.7, 0.5
"""Factors by which a frame widens until all dots fit, and narrows once they fit into this share of it."""


def classical_scaling(distances: Floats) -> Floats:
    """Points in the plane, centred, the first axis the longer. The coordinate farthest from 0 on each axis is positive.

    distances: (n, n) symmetric, n at least 1. Returns (n, 2).
    """
    n = len(distances)
    centring = np.eye(n) - 1 / n
    # B = -1/2 J D^2 J, whose largest eigenvalues and eigenvectors give the points
    values, vectors = np.linalg.eigh(-0.5 * centring @ np.square(distances) @ centring)
    points = np.zeros((n, 2))
    for axis, value in enumerate(values[::-1][:2]):
        points[:, axis] = vectors[:, n - 1 - axis] * np.sqrt(max(0.0, float(value)))
    farthest = np.abs(points).round(DIGITS).argmax(axis=0)
    return np.asarray(points * np.where(points[farthest, [0, 1]] < 0, -1.0, 1.0), dtype=np.float64)


def aligned(points: Floats, moving: Floats, fixed: Floats) -> Floats:
    """Rotate or reflect, and shift, all points so that `moving` comes closest to `fixed` (least squares, no scaling).

    points: (n, 2). moving, fixed: (m, 2) pairs, m at least 1; pairs on a line are never reflected.
    """
    centre, target = moving.mean(axis=0), fixed.mean(axis=0)
    # R = U V' with U S V' = (X - mean X)' (Y - mean Y)
    u, s, vt = np.linalg.svd((moving - centre).T @ (fixed - target))
    if s[1] <= FLAT * s[0] and np.linalg.det(u @ vt) < 0:
        u[:, 1] *= -1
    return np.asarray((points - centre) @ (u @ vt) + target, dtype=np.float64)


def stress(distances: Floats, points: Floats) -> float:
    """Kruskal's stress-1 of the points: 0 if their distances are those given.

    distances: (n, n). points: (n, 2), not all in one place.
    """
    shown = np.linalg.norm(points[:, None] - points[None], axis=2)
    # sqrt( sum (shown - given)^2 / sum shown^2 )
    return float(np.sqrt(np.square(shown - distances).sum() / np.square(shown).sum()))


def frame(points: Floats, before: tuple[Floats, float] | None) -> tuple[Floats, float]:
    """Middle and half width of a frame around the points: the one before, unless they leave it, or most of it.

    points: (n, 2). before: middle and half width.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    half, reach = (before[1] if before else NARROWEST), np.array([1.0, ASPECT])
    needed = float(((high - low) / 2 / reach).max())
    middle = before[0] if before is not None and needed >= EMPTY * half else (low + high) / 2
    while needed < EMPTY * half and half * NARROWER >= NARROWEST:
        half *= NARROWER
    while needed > half:
        half *= WIDER
    return np.clip(middle, high - half * reach, low + half * reach), half
