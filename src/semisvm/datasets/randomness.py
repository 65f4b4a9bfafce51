"""Random numbers of the generators."""

from __future__ import annotations

import numpy as np

from .._validation import Integer, Options, check_value


def random_generator(random_state: int | None) -> np.random.Generator:
    """A generator of random numbers, from a seed."""
    return np.random.default_rng(check_value("random_state", random_state, [Integer(0), Options([None])]))


def draw_classes(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Classes 1 and 2 with equal probability, independently."""
    return 1 + (rng.random(n_samples) < 0.5).astype(int)
