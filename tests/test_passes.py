"""Passes over a table: products with it, its transpose and a Hessian, dense or CSR, in one thread or several."""

import numpy as np
import pytest
from scipy import sparse

from semisvm import passes
from semisvm.passes import Table
from semisvm.spaces import Features

WIDTHS = [None, 1, 2, 3, 4, 5, 8, 10]  # None is a single column without an axis of its own
KINDS = ["dense64", "dense32", "csr64", "csr32", "int64"]
N, D = 61, 7

every_kind = pytest.mark.parametrize("kind", KINDS)
every_width = pytest.mark.parametrize("width", WIDTHS, ids=str)


def numbers(n=N, d=D, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[np.abs(X) < 0.6] = 0.0
    X[::9] = 0.0
    return X


def table_of(X, kind):
    """The table and the same numbers as a dense one of float64."""
    X = X.astype(np.float32 if kind.endswith("32") else np.float64)
    if kind.startswith("dense"):
        return Table(X), X.astype(np.float64)
    thin = sparse.csr_array(X)
    if kind == "int64":
        thin = sparse.csr_array((thin.data, thin.indices.astype(np.int64), thin.indptr.astype(np.int64)), thin.shape)
        thin.indices, thin.indptr = thin.indices.astype(np.int64), thin.indptr.astype(np.int64)
        assert thin.indices.dtype == thin.indptr.dtype == np.int64
    return Table(thin), X.astype(np.float64)


def columns(length, width, seed):
    return np.random.default_rng(seed).standard_normal(length if width is None else (length, width))


def bends(width, seed=3):
    """Curvatures: none at some rows, and none in some columns of others."""
    H = np.abs(columns(N, width, seed)) * (np.random.default_rng(seed + 1).random((N, width or 1)) < 0.5).reshape(
        (N,) if width is None else (N, width)
    )
    H[5:12] = 0.0
    return H


def in_parts(monkeypatch, count=3):
    """Blocks as if the table were large: some for threads, and within these some that fit a cache."""
    monkeypatch.setattr(passes, "SMALL", 0)
    monkeypatch.setattr(passes, "CACHED", 0)
    monkeypatch.setattr(passes, "threads", lambda: count)


def same(found, wanted, rtol=1e-12):
    assert found.dtype == np.float64
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def check_all(table, X, width, rtol=1e-12):
    """Every pass against numpy."""
    V, P, H = columns(X.shape[1], width, 1), columns(X.shape[0], width, 2), bends(width)[: X.shape[0]]
    shift = 0.4 if width is None else np.linspace(-1.0, 2.0, width)
    same(table.product(V), X @ V, rtol)
    same(table.adjoint(P), X.T @ P, rtol)
    out, totals = table.curved(V, shift, H)
    same(out, X.T @ (H * (X @ V + shift)), rtol)
    same(np.asarray(totals), np.asarray((H * (X @ V + shift)).sum(axis=0)), rtol)
    short = 1e-6 if table.X.dtype == np.float32 else rtol  # squares are taken in the table's own numbers
    same(table.squares(H), (X**2).T @ H, short)


@every_kind
@every_width
def test_passes_are_those_of_numpy(kind, width):
    table, X = table_of(numbers(), kind)
    check_all(table, X, width)


@every_kind
@every_width
def test_passes_of_several_threads_are_those_of_numpy(kind, width, monkeypatch):
    in_parts(monkeypatch)
    table, X = table_of(numbers(), kind)
    assert len(table._parts(width or 1)) == 3
    check_all(table, X, width)


@every_kind
@pytest.mark.parametrize("count", [2, 5, 100])
def test_threads_take_every_row_once_and_like_numbers_of_entries(kind, count, monkeypatch):
    in_parts(monkeypatch, count)
    table, X = table_of(numbers(), kind)
    parts = table._parts(1)
    taken = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    np.testing.assert_array_equal(taken, np.arange(N))
    filled = np.count_nonzero(X, axis=1) if table.sparse else np.full(N, D)
    most = max(filled[part].sum() for part in parts)
    assert most <= filled.sum() / len(parts) + 2 * D
    check_all(table, X, 5)


def test_a_small_table_is_left_to_one_thread(monkeypatch):
    monkeypatch.setattr(passes, "threads", lambda: 3)
    for kind in ("dense64", "csr64"):
        table, _ = table_of(numbers(), kind)
        assert table._parts(10) == [slice(0, N)]
        size = np.count_nonzero(numbers()) if table.sparse else N * D
        monkeypatch.setattr(passes, "SMALL", 4 * size)
        assert len(table._parts(4)) == 1
        assert len(table._parts(5)) == 3
        monkeypatch.undo()
        monkeypatch.setattr(passes, "threads", lambda: 3)


@every_kind
@pytest.mark.parametrize("parts", [False, True])
def test_one_shift_serves_all_columns(kind, parts, monkeypatch):
    if parts:
        in_parts(monkeypatch)
    table, X = table_of(numbers(), kind)
    V, H = columns(D, 5, 1), bends(5)
    for shift in (0.0, -1.7):
        out, totals = table.curved(V, shift, H)
        same(out, X.T @ (H * (X @ V + shift)))
        same(totals, (H * (X @ V + shift)).sum(axis=0))


@every_kind
def test_rows_without_curvature_or_pull_have_no_say(kind):
    table, X = table_of(numbers(), kind)
    V = columns(D, 5, 1)
    out, totals = table.curved(V, 3.0, np.zeros((N, 5)))
    assert not out.any()
    assert not totals.any()
    for column in range(5):  # one column alone, among the four that go together and beside them
        H = np.zeros((N, 5))
        H[:, column] = 1.0 + np.arange(N)
        out, totals = table.curved(V, 3.0, H)
        same(out, X.T @ (H * (X @ V + 3.0)))
        same(totals, (H * (X @ V + 3.0)).sum(axis=0))
        same(table.adjoint(H), X.T @ H)
        same(table.squares(H), (X**2).T @ H, 1e-6 if kind.endswith("32") else 1e-12)


@every_kind
@pytest.mark.parametrize("shape", [(1, D), (N, 1), (1, 1)])
@pytest.mark.parametrize("parts", [False, True])
def test_tables_of_one_row_or_column(kind, shape, parts, monkeypatch):
    if parts:
        in_parts(monkeypatch)
    X = numbers()[1 : shape[0] + 1, : shape[1]] if shape[0] == 1 else numbers()[:, : shape[1]]
    table, dense = table_of(X, kind)
    for width in (None, 1, 4, 5):
        check_all(table, dense, width)


@every_kind
@pytest.mark.parametrize("parts", [False, True])
def test_an_empty_table_gives_zeros(kind, parts, monkeypatch):
    if parts:
        in_parts(monkeypatch)
    table, X = table_of(np.zeros((4, 3)), kind)
    check_all(table, X, 5)
    assert table.longest == 0.0


@every_kind
@pytest.mark.parametrize("parts", [False, True])
def test_columns_may_lie_in_memory_as_they_like(kind, parts, monkeypatch):
    if parts:
        in_parts(monkeypatch)
    table, X = table_of(numbers(), kind)
    V, P, H = np.asfortranarray(columns(D, 10, 1)), np.asfortranarray(columns(N, 10, 2)), np.asfortranarray(bends(10))
    for part in (slice(None), slice(0, 5), slice(1, None, 2), slice(None, None, -1)):
        v, p, h = V[:, part], P[:, part], H[:, part]
        same(table.product(v), X @ v)
        same(table.adjoint(p), X.T @ p)
        same(table.curved(v, 0.5, h)[0], X.T @ (h * (X @ v + 0.5)))
        same(table.squares(h), (X**2).T @ h, 1e-6 if kind.endswith("32") else 1e-12)
    same(table.product(V[:, 3]), X @ V[:, 3])
    same(table.adjoint(P[::1, 3]), X.T @ P[:, 3])
    same(table.curved(V[:, 3], 0.5, H[:, 3])[0], X.T @ (H[:, 3] * (X @ V[:, 3] + 0.5)))


@every_kind
def test_passes_leave_their_arguments_as_they_are(kind):
    table, _ = table_of(numbers(), kind)
    V, P, H = columns(D, 5, 1), columns(N, 5, 2), bends(5)
    before = [part.copy() for part in (V, P, H)]
    table.product(V), table.adjoint(P), table.curved(V, 0.5, H), table.squares(H)
    for now, then in zip((V, P, H), before):
        np.testing.assert_array_equal(now, then)


@every_kind
def test_lengths_of_rows(kind):
    table, X = table_of(numbers(), kind)
    lengths = table.row_norms2()
    assert lengths.shape == (N,)
    np.testing.assert_allclose(lengths, (X**2).sum(axis=1), rtol=1e-6 if kind.endswith("32") else 1e-12)
    assert isinstance(table.longest, float)
    assert table.longest == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-6)


@every_kind
def test_threads_change_nothing_but_the_last_digits(kind, monkeypatch):
    table, _ = table_of(numbers(400, 9), kind)
    V, P = columns(9, 6, 1), columns(400, 6, 2)
    H = np.abs(columns(400, 6, 3)) * (columns(400, 6, 4) > 0)

    def everything():
        return [table.product(V), table.adjoint(P), *table.curved(V, 0.3, H), table.squares(H)]

    alone = everything()
    in_parts(monkeypatch)
    for one, several in zip(alone, everything()):
        np.testing.assert_allclose(several, one, rtol=1e-11, atol=1e-11)


def test_problems_in_one_space_share_its_table():
    space, other = Features(numbers()), Features(numbers())
    assert passes.table_of(space) is passes.table_of(space)
    assert passes.table_of(space) is not passes.table_of(other)
