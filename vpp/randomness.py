"""Random numbers addressed by what they are for, so that nothing depends on the order in which calls finish.

A path is (seed, purpose, step, particle); equal paths give equal streams, different paths independent ones.
"""

from typing import Literal

import numpy as np

Purpose = Literal[
    "batches", "draw", "propose", "accept", "resample", "restart", "score", "certify",
    "split", "task", "unlabelled", "candidates", "calibration", "unused",
]  # fmt: skip
NUMBERS: dict[Purpose, int] = {
    "batches": 0, "draw": 1, "propose": 2, "accept": 3, "resample": 4, "restart": 5, "score": 6, "certify": 7,
    "split": 101, "task": 102, "unlabelled": 103, "candidates": 104, "calibration": 106, "unused": 106,
}  # fmt: skip
"""A purpose's place in a path, which never changes; the second line is for the rows of tables."""


def rng(seed: int, purpose: Purpose, *path: int) -> np.random.Generator:
    """The generator at (seed, purpose, *path). Path elements are non-negative: epoch, or step and particle."""
    key = (NUMBERS[purpose], *path)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def call_seed(seed: int, purpose: Purpose, *path: int) -> int:
    """The seed sent along with a model call, in [0, 2^31)."""
    return int(rng(seed, purpose, *path).integers(2**31))
