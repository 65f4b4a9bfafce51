"""Independent answers: interior-point solutions and enumeration, to judge the solvers by."""

import itertools

import clarabel
import numpy as np
from scipy import sparse


def minimise_qp(P, q, equal=None, below=None):
    """min 1/2 x'Px + q'x with rows (A, b) of A x = b and of A x <= b; returns x and the value."""
    rows, right, cones = [], [], []
    for given, cone in ((equal, clarabel.ZeroConeT), (below, clarabel.NonnegativeConeT)):
        if given is not None:
            rows.append(np.atleast_2d(given[0]))
            right.append(np.atleast_1d(given[1]))
            cones.append(cone(len(right[-1])))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)),
        np.asarray(q, dtype=float),
        sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    answer = solver.solve()
    x = np.array(answer.x)
    return x, float(0.5 * x @ P @ x + q @ x)


def maximise_dual(K, lo, hi, slope, ridge=None, mid=None, high_slope=None):
    """The dual of ``solvers.dual`` with every coordinate split at its kink; returns the best value."""
    n = len(lo)
    Q = K if ridge is None else K + np.diag(ridge)
    mid = hi if mid is None else mid
    high_slope = slope if high_slope is None else high_slope
    start = np.clip(np.zeros(n), lo, hi)
    # a = start + below-part + above-part relative to the kink: a = u + v, lo <= u <= mid, 0 <= v <= hi - mid
    P = np.block([[Q, Q], [Q, Q]])
    q = -np.r_[slope, high_slope]
    eye = np.eye(2 * n)
    upper, lower = np.r_[mid, hi - mid], np.r_[lo, np.zeros(n)]
    bounded = np.isfinite(upper)
    below = (np.vstack([eye[bounded], -eye[np.isfinite(lower)]]), np.r_[upper[bounded], -lower[np.isfinite(lower)]])
    x, value = minimise_qp(P, q, (np.ones((1, 2 * n)), [0.0]), below)
    assert np.isfinite(start).all()
    return x[:n] + x[n:], -value


def machine_value(K, y, cost, mean_rows=None, mean=0.0):
    """min 1/2 a'Ka + cost' hinge(y (K a + b)), with the mean of f over some rows fixed; the primal, slack and all."""
    n = len(y)
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = K + 1e-12 * np.eye(n)
    q = np.r_[np.zeros(n + 1), cost]
    f = np.hstack([K, np.ones((n, 1))])
    below = (
        np.vstack(
            [np.hstack([-y[:, None] * f, -np.eye(n)]), np.hstack([np.zeros((n, n + 1)), -np.eye(n)])],
        ),
        np.r_[-np.ones(n), np.zeros(n)],
    )
    equal = None
    if mean_rows is not None:
        equal = (np.r_[f[mean_rows].mean(axis=0), np.zeros(n)][None, :], [mean])
    return minimise_qp(P, q, equal, below)[1]


def best_labeling(K, signs, cost, mean=None):
    """Enumerate the labels of all rows with sign 0; returns the smallest machine value."""
    unlabeled = np.flatnonzero(signs == 0)
    best = np.inf
    for labels in itertools.product((-1.0, 1.0), repeat=len(unlabeled)):
        y = signs.copy()
        y[unlabeled] = labels
        best = min(best, machine_value(K, y, cost, None if mean is None else unlabeled, mean or 0.0))
    return best


def column_machine(X, y, cost, intercept=True, norm=1, mean=None, pull=None):
    """min ||w||_1 [+ |b|] or 1/2 ||w||^2 [+ 1/2 b^2] + cost' hinge(y (X w + b)), rows of y = 0 left out; w, b, value.

    ``mean`` is (weights, m) with weights'f = m; ``pull`` is added to the objective as pull'(w, b).
    """
    n, d = X.shape
    has = intercept is not False
    A = np.c_[X, np.ones(n)] if has else X
    k = A.shape[1]
    sized = np.r_[np.ones(d), [1.0 * (intercept == "regularised")] * has]
    # variables: theta (k), their sizes (k), slacks (n)
    P = np.zeros((2 * k + n, 2 * k + n))
    q = np.r_[np.zeros(k) if pull is None else pull, sized if norm == 1 else np.zeros(k), cost * (y != 0)]
    if norm == 2:
        P[:k, :k] = np.diag(sized)
    eye, none = np.eye(k), np.zeros((k, n))
    rows = y != 0
    below = (
        np.vstack(
            [
                np.hstack([eye, -eye, none]),
                np.hstack([-eye, -eye, none]),
                np.hstack([-y[:, None] * A, np.zeros((n, k)), -np.eye(n)])[rows],
                np.hstack([np.zeros((n, 2 * k)), -np.eye(n)]),
            ]
        ),
        np.r_[np.zeros(2 * k), -np.ones(rows.sum()), np.zeros(n)],
    )
    if norm == 2:
        q[k : 2 * k] = 1e-12  # sizes are at rest
    equal = None if mean is None else (np.r_[mean[0] @ A, np.zeros(k + n)][None], [mean[1]])
    theta = minimise_qp(P, q, equal, below)[0][:k]
    w, b = (theta[:d], float(theta[d])) if has else (theta, 0.0)
    return w, b, column_value(X, y, cost, w, b, intercept, norm)


def column_value(X, y, cost, w, b, intercept=True, norm=1):
    """The objective of a machine on columns at labels y, in plain numpy."""
    own = np.abs if norm == 1 else lambda v: 0.5 * np.square(v)
    total = own(w).sum() + (own(b) if intercept == "regularised" else 0.0)
    return float(total + cost[y != 0] @ np.maximum(1.0 - y * (X @ w + b), 0.0)[y != 0])
