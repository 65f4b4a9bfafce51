"""Inverses that gain and lose rows and columns against numpy's inverse of the whole matrix."""

import numpy as np
import pytest

from factories import random_costs, random_labels, random_samples
from references import assert_close, least_squares_matrix
from semisvm._threads import run_in_threads
from semisvm.solvers.least_squares import growing_inverse
from semisvm.solvers.least_squares.growing_inverse import GrowingInverse, remove_from_inverse

with_or_without_border = pytest.mark.parametrize("border", [False, True], ids=["plain", "bordered"])


def symmetric_matrix(n, border=False, seed=0):
    """The matrix of least squares; a border, which alone has no inverse, comes first."""
    Z = random_samples(n, 5, seed)
    A = least_squares_matrix(Z @ Z.T, random_costs(n), border)
    return np.roll(A, int(border), axis=(0, 1))


def add_block(inverse, A, size):
    start, end = inverse.size, inverse.size + size
    return inverse.add(A[:start, start:end], A[start:end, start:end])


def whole(inverse):
    return inverse.product(np.eye(inverse.size))


def in_reverse_order(task, items):
    for item in reversed(items):
        task(item)


@with_or_without_border
@pytest.mark.parametrize("tile, max_pending", [(1, 5), (7, 1), (8, 5), (1000, 5)])
@pytest.mark.parametrize("run", [in_reverse_order, run_in_threads])
def test_blocks_of_any_size(border, tile, max_pending, run, monkeypatch):
    """Smaller and larger than a tile and than what is kept beside the inverse; tiles in any order."""
    monkeypatch.setattr(growing_inverse, "TILE", tile)
    monkeypatch.setattr(growing_inverse, "MAX_PENDING", max_pending)
    monkeypatch.setattr(growing_inverse, "run_in_threads", run)
    sizes = [3, 1, 1, 9, 5, 2, 3, 6, 1, 4, 4, 7, 1, 8]
    A = symmetric_matrix(sum(sizes) - border, border)
    inverse, right = GrowingInverse(len(A)), np.random.default_rng(3).standard_normal((len(A), 4))
    for size in sizes:
        add_block(inverse, A, size)
        expected, part = np.linalg.inv(A[: inverse.size, : inverse.size]), right[: inverse.size]
        assert_close(inverse.product(part), expected @ part)
        assert_close(inverse.diagonal(), expected.diagonal())


@with_or_without_border
def test_hundreds_of_additions(border):
    A, rng = symmetric_matrix(300, border), np.random.default_rng(9)
    inverse, n_added = GrowingInverse(len(A)), 0
    add_block(inverse, A, 3)
    while inverse.size < len(A):
        add_block(inverse, A, min(int(rng.integers(1, 3)), len(A) - inverse.size))
        n_added += 1
        if n_added % 70 == 0:
            expected = np.linalg.inv(A[: inverse.size, : inverse.size])
            assert_close(inverse.diagonal(), expected.diagonal())
            assert_close(whole(inverse), expected)
    assert n_added > growing_inverse.MAX_PENDING
    assert_close(whole(inverse) @ A, np.eye(len(A)))


@with_or_without_border
def test_solutions_are_updated_by_what_an_addition_returns(border):
    A, right = symmetric_matrix(48 - border, border), random_labels((48, 3))
    inverse, x = GrowingInverse(len(A)), np.zeros((0, 3))
    for size in (3, 1, 10, 4, 30):
        start, end = inverse.size, inverse.size + size
        B, D, before = A[:start, start:end], A[start:end, start:end], np.linalg.inv(A[:start, :start])
        V, T = inverse.add(B, D)
        assert_close(V, before @ B)
        assert_close(T, np.linalg.inv(D - B.T @ before @ B))
        np.testing.assert_array_equal(T, T.T)
        d = T @ (right[start:end] - B.T @ x)
        x = np.vstack([x - V @ d, d])
        assert_close(x, np.linalg.solve(A[:end, :end], right[:end]))


@pytest.mark.parametrize("max_pending", [1, 100])
def test_a_cleared_inverse_grows_again(max_pending, monkeypatch):
    monkeypatch.setattr(growing_inverse, "MAX_PENDING", max_pending)
    first, second = symmetric_matrix(50), symmetric_matrix(45, seed=4)
    inverse = GrowingInverse(50)
    for size in (20, 10, 20):
        add_block(inverse, first, size)
    inverse.clear()
    assert inverse.size == 0
    for size in (2, 30, 5, 8):
        add_block(inverse, second, size)
        expected = np.linalg.inv(second[: inverse.size, : inverse.size])
        assert_close(whole(inverse), expected)
        assert_close(inverse.diagonal(), expected.diagonal())


@with_or_without_border
def test_removed_rows_and_columns(border):
    A, rng = symmetric_matrix(60, border), np.random.default_rng(9)
    kept, inverse = np.arange(len(A)), np.linalg.inv(A)
    while len(kept) > 10:
        removed = 1 + rng.permutation(len(kept) - 1)[: rng.integers(1, 5)]  # a border stays
        before = inverse.copy()
        smaller = remove_from_inverse(inverse, removed)
        np.testing.assert_array_equal(inverse, before)
        inverse, kept = smaller, np.delete(kept, removed)
        assert_close(inverse, np.linalg.inv(A[np.ix_(kept, kept)]))
