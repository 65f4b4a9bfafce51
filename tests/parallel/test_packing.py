"""Vectors over samples arrive with the bits that they were sent with, in fewer bytes where they have few values."""

import numpy as np
import pytest

from semisvm.parallel.packing import SMALL, Packed, pack, unpack

N = 20_000


def few_values(seed=0):
    """Curvatures of unlabeled samples on one side of a corner or the other, with costs of their own at a few."""
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 0.3, 1e-5], N)
    values[rng.choice(N, 50, replace=False)] = rng.random(50)
    return values


def mostly_zero(seed=0):
    """A change of the slopes at some samples."""
    values = np.zeros(N)
    values[np.random.default_rng(seed).choice(N, N // 50, replace=False)] = 2.0
    return values


@pytest.mark.parametrize(
    ("values", "share"),
    [
        (few_values(), 0.2),
        (mostly_zero(), 0.05),
        (np.column_stack([few_values(1), mostly_zero(1)]), 0.2),
        (np.asfortranarray(np.column_stack([few_values(2), few_values(3)])), 0.2),
        (np.full(N, -0.0), 1e-3),
        (np.where(np.arange(N) % 3 > 0, np.nan, 1.0), 0.2),
        (few_values()[::2], 0.2),
    ],
)
def test_few_values_take_few_bytes_and_keep_their_bits(values, share):
    packed = pack(values)
    assert isinstance(packed, Packed)
    assert packed.nbytes <= share * values.nbytes
    found = unpack(packed)
    assert (found.shape, found.dtype) == (values.shape, values.dtype)
    assert found.tobytes() == np.ascontiguousarray(values).tobytes()


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).random(N),
        np.zeros(SMALL),
        np.zeros(N, dtype=np.float32),
        np.where(np.arange(N) % 2 > 0, np.random.default_rng(0).random(N), 0.0),
        [0.0] * N,
        None,
    ],
)
def test_what_is_not_worth_it_is_sent_as_it_is(values):
    assert pack(values) is values
    assert unpack(values) is values
