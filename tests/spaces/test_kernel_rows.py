"""Rows of a kernel matrix: gathered, added up and cached."""

import numpy as np

from factories import random_samples
from semisvm.spaces import kernel_rows
from semisvm.spaces.kernel_rows import RowCache, add_rows, submatrix

K = random_samples(100, 100)


def test_submatrix_is_that_of_numpy():
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, 100, 600), rng.permutation(100)[:17]  # more rows than a tile has
    for dtype in (np.float64, np.float32):
        found = submatrix(K.astype(dtype), rows, columns)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, K.astype(dtype)[np.ix_(rows, columns)])
    assert submatrix(K, rows[:0], columns).shape == (0, 17)


def test_rows_are_added_with_their_weights_to_a_part():
    wide, out, expected = np.tile(K, (1, 50)), np.ones(5000), np.ones(5000)  # wider than a strip
    index, weights = np.array([3, 99, 0]), np.array([0.5, -2.0, 3.0])
    add_rows(wide, index, weights, 40, 4990, out)
    expected[40:4990] += (weights @ wide[index])[40:4990]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_cached_rows_stay_right_while_others_replace_those_used_least_recently(monkeypatch):
    monkeypatch.setattr(kernel_rows, "CHUNK", 4)
    rng, computed, last_use = np.random.default_rng(2), [], np.full(100, -1)

    def compute(index, out):
        computed.extend(index)
        out[:] = K[index]

    cache = RowCache(100, 30, np.float64, compute)
    for step, size in enumerate((20, 30, 5, 25, 17, 30, 12, 3)):
        index = rng.permutation(100)[:size]
        before = set(np.flatnonzero(cache.slot >= 0))
        computed.clear()
        np.testing.assert_array_equal(cache.values[cache.slots(index)], K[index])
        assert set(computed) == set(index) - before  # those that are there are not computed again
        last_use[index] = step
        now = np.flatnonzero(cache.slot >= 0)
        assert len(now) == min(30, len(before) + len(computed))
        np.testing.assert_array_equal(cache.values[cache.slot[now]], K[now])
        replaced = list(before - set(now))
        assert last_use[replaced].max(initial=-1) <= last_use[now].min()
