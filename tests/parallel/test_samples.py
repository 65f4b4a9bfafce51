"""Rows and products of samples in blocks are those of the array."""

import numpy as np
import pytest
from scipy import sparse

from parallel.data import gaussians, mapped, sparse_samples
from semisvm.parallel.design_matrix import BlockedDesign
from semisvm.parallel.fitting import blocked_samples
from semisvm.spaces import DesignMatrix

TABLES = {
    "float64": lambda: gaussians()[0],
    "float32": lambda: gaussians()[0].astype(np.float32),
    "sparse": lambda: sparse_samples()[0],
    "zeros": lambda: np.zeros((30, 3)),
    "one row": lambda: np.ones((1, 2)),
}
every_table = pytest.mark.parametrize("name", TABLES)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@every_table
@pytest.mark.parametrize("width", [(), (1,), (5,)])
def test_products_are_those_of_the_array(name, width):
    X, rng = TABLES[name](), np.random.default_rng(0)
    n, d = X.shape
    V, P = rng.normal(size=(d, *width)), rng.normal(size=(n, *width))
    H, wanted = np.maximum(P, 0.0), P > 0.3
    shift = rng.normal(size=width) if width else 0.7
    with blocked_samples(X) as samples:
        ours, plain = BlockedDesign(samples), DesignMatrix(X)
        tolerance = {"rtol": 1e-4 if X.dtype == np.float32 else 1e-10, "atol": 1e-4 if X.dtype == np.float32 else 1e-10}
        np.testing.assert_allclose(ours.product(V), dense(X) @ V, **tolerance)
        np.testing.assert_allclose(ours.adjoint(P), dense(X).T @ P, **tolerance)
        np.testing.assert_allclose(ours.weighted_squares(H), (dense(X) ** 2).T @ H, **tolerance)
        mask = wanted.reshape(n, -1).any(axis=1)
        found = ours.partial_product(V, wanted)
        np.testing.assert_allclose(found[mask], (dense(X) @ V)[mask], **tolerance)
        expected = dense(X) @ V + shift
        for is_first in (True, False):
            image, total, scores = ours.hessian_product(V, shift, H)
            known = np.isfinite(scores)
            assert known.all() if is_first else known[H > 0.0].all()
            np.testing.assert_allclose(scores[known], expected[known], **tolerance)
            np.testing.assert_allclose(image, dense(X).T @ (H * expected), **tolerance)
            np.testing.assert_allclose(total, (H * expected).sum(axis=0), **tolerance)
        np.testing.assert_allclose(ours.squared_norms(), plain.squared_norms(), rtol=1e-5)
        assert ours.unit == plain.unit
        assert ours.max_norm == pytest.approx(plain.max_norm, rel=1e-5)


@every_table
def test_rows_by_positions(name):
    X = TABLES[name]()
    n = X.shape[0]
    choices = [np.array([n - 1, 0, n // 2, 0]), np.arange(n) % 3 == 0, slice(0, n, 2), np.array([], dtype=int)]
    with blocked_samples(X) as samples:
        for chosen in choices:
            np.testing.assert_array_equal(dense(samples[chosen]), dense(X[chosen]))
        samples.keep_rows(choices[0])
        n_passes = samples.n_passes
        np.testing.assert_array_equal(dense(samples[choices[0]]), dense(X[choices[0]]))
        assert samples.n_passes == n_passes
        assert samples.shape == X.shape
        assert samples.dtype == X.dtype


def test_sums_do_not_depend_on_the_blocks(monkeypatch, tmp_path):
    """Up to rounding, whatever the size of a block, a tile and the number of groups."""
    X, _ = gaussians()
    P = np.random.default_rng(0).normal(size=len(X))
    for n_bytes, n_rows in ((100, 1), (1000, 7), (2**30, 10**6)):
        monkeypatch.setattr("semisvm.parallel.reading.BLOCK_BYTES", n_bytes)
        monkeypatch.setattr("semisvm.parallel.tasks.TILE_ROWS", n_rows)
        with blocked_samples(mapped(tmp_path, X)) as samples:
            np.testing.assert_allclose(BlockedDesign(samples).adjoint(P), X.T @ P, rtol=1e-12, atol=1e-12)


def test_mapped_rows_are_computed_once_and_removed_at_the_end(tmp_path):
    X, _ = gaussians()
    with blocked_samples(mapped(tmp_path, X)) as samples:
        doubled = samples.map(_double)
        folder = doubled.executor.folder
        design = BlockedDesign(doubled)
        V = np.ones(2 * X.shape[1])
        first = design.product(V)
        files = sorted(path.stat().st_mtime_ns for path in folder_files(folder))
        np.testing.assert_array_equal(design.product(V), first)
        assert files == sorted(path.stat().st_mtime_ns for path in folder_files(folder))
        np.testing.assert_allclose(first, 2.0 * X.sum(axis=1), rtol=1e-9, atol=1e-9)
    assert not folder_files(folder)


def _double(X):
    return np.hstack([X, X])


def folder_files(folder):
    from pathlib import Path

    return list(Path(folder).rglob("*.npy"))
