"""Random numbers addressed by what they are for, so that nothing depends on the order in which calls finish.

A path is (seed, purpose, step, particle); equal paths give equal streams, different paths independent ones.
"""

from typing import Literal, get_args

import numpy as np

Purpose = Literal["batches", "draw", "propose", "accept", "resample", "restart", "score", "certify"]
"""In an order that never changes: a purpose is addressed by its place."""


def rng(seed: int, purpose: Purpose, *path: int) -> np.random.Generator:
    """The generator at (seed, purpose, *path). Path elements are non-negative: epoch, or step and particle."""
    key = (get_args(Purpose).index(purpose), *path)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def call_seed(seed: int, purpose: Purpose, *path: int) -> int:
    """The seed sent along with a model call, in [0, 2^31)."""
    return int(rng(seed, purpose, *path).integers(2**31))
