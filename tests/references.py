"""Independent reference solutions: interior-point methods and enumeration."""

import itertools

import clarabel
import numpy as np
from scipy import sparse

from factories import dense_samples
from semisvm.balance import Count
from semisvm.losses import SquaredHinge
from semisvm.spaces import Features


def minimize_qp(P, q, equal=None, below=None):
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


def maximize_dual(K, lower, upper, slope, ridge=None, kink=None, slope_above=None):
    """The dual of ``solvers.dual`` with every coordinate split at its kink; returns a and the best value."""
    n = len(lower)
    Q = K if ridge is None else K + np.diag(ridge)
    kink = upper if kink is None else kink
    slope_above = slope if slope_above is None else slope_above
    # a = u + v with lower <= u <= kink and 0 <= v <= upper - kink
    P = np.block([[Q, Q], [Q, Q]])
    q = -np.r_[slope, slope_above]
    eye = np.eye(2 * n)
    top, bottom = np.r_[kink, upper - kink], np.r_[lower, np.zeros(n)]
    bounded = np.isfinite(top)
    below = (np.vstack([eye[bounded], -eye[np.isfinite(bottom)]]), np.r_[top[bounded], -bottom[np.isfinite(bottom)]])
    x, value = minimize_qp(P, q, (np.ones((1, 2 * n)), [0.0]), below)
    return x[:n] + x[n:], -value


def svm_value(K, y, cost, mean_samples=None, mean=0.0):
    """min 1/2 a'Ka + cost' hinge(y (K a + b)), with the mean of f over some samples fixed; in the primal."""
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
    if mean_samples is not None:
        equal = (np.r_[f[mean_samples].mean(axis=0), np.zeros(n)][None, :], [mean])
    return minimize_qp(P, q, equal, below)[1]


def best_labeling(K, signs, cost, mean=None):
    """Enumerate the labels of all samples with sign 0; returns the smallest objective."""
    unlabeled = np.flatnonzero(signs == 0)
    best = np.inf
    for labels in itertools.product((-1.0, 1.0), repeat=len(unlabeled)):
        y = signs.copy()
        y[unlabeled] = labels
        best = min(best, svm_value(K, y, cost, None if mean is None else unlabeled, mean or 0.0))
    return best


def linear_svm(X, y, cost, intercept=True, norm=1, mean=None, linear_term=None):
    """min ||w||_1 [+ |b|] or 1/2 ||w||^2 [+ 1/2 b^2] + cost' hinge(y (X w + b)), without samples of y = 0; w, b, value.

    ``mean`` is (weights, m) with weights'f = m; ``linear_term`` is added to the objective as linear_term'(w, b).
    """
    n, d = X.shape
    has = intercept is not False
    A = np.c_[X, np.ones(n)] if has else X
    k = A.shape[1]
    sized = np.r_[np.ones(d), [1.0 * (intercept == "regularized")] * has]
    # variables: theta (k), their absolute values (k), slacks (n)
    P = np.zeros((2 * k + n, 2 * k + n))
    q = np.r_[np.zeros(k) if linear_term is None else linear_term, sized if norm == 1 else np.zeros(k), cost * (y != 0)]
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
        q[k : 2 * k] = 1e-12  # the absolute values are not used
    equal = None if mean is None else (np.r_[mean[0] @ A, np.zeros(k + n)][None], [mean[1]])
    theta = minimize_qp(P, q, equal, below)[0][:k]
    w, b = (theta[:d], float(theta[d])) if has else (theta, 0.0)
    return w, b, linear_svm_value(X, y, cost, w, b, intercept, norm)


def linear_svm_value(X, y, cost, w, b, intercept=True, norm=1):
    """The objective of a linear SVM at labels y, in plain numpy."""
    own = np.abs if norm == 1 else lambda v: 0.5 * np.square(v)
    total = own(w).sum() + (own(b) if intercept == "regularized" else 0.0)
    return float(total + cost[y != 0] @ np.maximum(1.0 - y * (X @ w + b), 0.0)[y != 0])


def squared_hinge_value(X, positive, negative, w, b, intercept=True):
    """1/2 ||w||^2 [+ 1/2 b^2] + positive'(1 - f)_+^2 + negative'(1 + f)_+^2, in plain numpy."""
    f = X @ w + b
    losses = positive @ np.maximum(1.0 - f, 0.0) ** 2 + negative @ np.maximum(1.0 + f, 0.0) ** 2
    return float(0.5 * w @ w + (0.5 * b * b if intercept == "regularized" else 0.0) + losses)


def squared_hinge_svm(X, positive, negative, intercept=True, mean=None):
    """w and b of the smallest ``squared_hinge_value``; ``mean`` is (weights, m) with weights'f = m."""
    d = X.shape[1]
    sides = np.r_[np.ones(np.count_nonzero(positive)), -np.ones(np.count_nonzero(negative))]
    A = sides[:, None] * np.c_[np.vstack([X[positive > 0], X[negative > 0]]), np.ones(len(sides))]
    norm = np.r_[np.ones(d), 1.0 if intercept == "regularized" else 0.0]
    P = np.diag(np.r_[norm, 2.0 * positive[positive > 0], 2.0 * negative[negative > 0]])
    below = (np.hstack([-A, -np.eye(len(sides))]), -np.ones(len(sides)))
    equal = None
    if mean is not None:
        equal = (np.r_[mean[0] @ X, 1.0, np.zeros(len(sides))], mean[1])
    elif intercept is False:
        equal = (np.r_[np.zeros(d), 1.0, np.zeros(len(sides))], 0.0)
    x, _ = minimize_qp(P, np.zeros(len(P)), equal, below)
    return x[:d], x[d]


def squared_hinge_gradient(X, positive, negative, w, b, intercept=True, mean=None):
    """The gradient by w and b, by w alone, or by w with b such that weights'f stays m (``mean`` = (weights, m))."""
    f = X @ w + b
    by_f = 2.0 * (negative * np.maximum(1.0 + f, 0.0) - positive * np.maximum(1.0 - f, 0.0))
    by_w, by_b = w + X.T @ by_f, by_f.sum() + (b if intercept == "regularized" else 0.0)
    if mean is not None:
        return by_w - (mean[0] @ X) * by_b
    return by_w if intercept is False else np.append(by_w, by_b)


def squared_hinge_violation(X, positive, negative, w, b, intercept=True, mean=None):
    """The norm of that gradient, relative to that of the losses at w = 0 plus the norm of the point.

    The intercept is measured in units of the size of the samples: a power of two.
    """
    start = 0.0 if mean is None else mean[1]
    at_zero = squared_hinge_gradient(X, positive, negative, 0.0 * w, start, intercept and True, mean)
    gradient, point = squared_hinge_gradient(X, positive, negative, w, b, intercept, mean), w
    if intercept is not False and mean is None:
        unit = 2.0 ** np.round(np.log2(np.sqrt(np.square(X).sum() / len(X))))
        point = np.append(w, b / unit)
        gradient[-1] *= unit
        at_zero[-1] *= unit
    return float(np.linalg.norm(gradient) / (np.linalg.norm(at_zero) + np.linalg.norm(point)))


def numpy_objective(problem, solution, labels=None):
    """The objective of a solution at labels of all samples (its own unless given), in plain numpy."""
    y = solution.labels if labels is None else labels
    if isinstance(problem.space, Features):
        w, X = solution.coef, dense_samples(problem)
        f, norm1, norm2 = X @ w, np.abs(w).sum(), w @ w
    else:
        f = np.asarray(problem.space.compute()) @ solution.coef
        norm1, norm2 = np.nan, solution.coef @ f
    b, slack = solution.intercept, np.maximum(1.0 - y * (f + solution.intercept), 0.0)
    total = norm1 + abs(b) * (problem.intercept == "regularized")
    if problem.norm == 2:
        total = 0.5 * norm2 + 0.5 * b**2 * (problem.intercept == "regularized")
    return float(total + problem.cost @ (slack**2 if isinstance(problem.labeled, SquaredHinge) else slack))


def keeps_balance(problem, Y):
    """Which vectors of labels keep a Count: a share within the slack or, at equal weights, as near as can be."""
    if not isinstance(problem.balance, Count):
        return np.ones(len(Y), dtype=bool)
    searched = (problem.signs == 0) & (problem.cost > 0)
    weights = np.ones(searched.sum()) if problem.weights is None else problem.weights[searched]
    u, (r, slack) = len(weights), problem.balance
    if np.all(weights == weights[0]):
        slack = max(slack, np.abs(np.arange(u + 1) / u - r).min())
    return np.abs((Y[:, searched] > 0) @ weights / weights.sum() - r) <= slack + 1e-9


def label_vectors(problem):
    """All vectors of labels that hold the given ones and keep the balance; 0 at samples that are not searched."""
    searched = np.flatnonzero((problem.signs == 0) & (problem.cost > 0))
    Y = np.tile(problem.signs, (2 ** len(searched), 1))
    Y[:, searched] = list(itertools.product((-1.0, 1.0), repeat=len(searched)))
    return Y[keeps_balance(problem, Y)]


def svm_values(problem, Y, smallest_only=False):
    """Objectives of the SVMs of many vectors of labels; with ``smallest_only`` larger ones may be left out."""
    if problem.norm == 1 or (problem.intercept is True and not isinstance(problem.labeled, SquaredHinge)):
        if not isinstance(problem.space, Features):
            return np.array([kernel_svm_value(problem, y) for y in Y])
        X = dense_samples(problem)
        return np.array([linear_svm(X, y, problem.cost, problem.intercept, problem.norm)[2] for y in Y])
    used = problem.cost > 0
    K = np.asarray(problem.space.gram().compute(), dtype=float) + 1.0 * (problem.intercept == "regularized")
    K, Y, cost = K[np.ix_(used, used)], Y[:, used], problem.cost[used]
    if isinstance(problem.labeled, SquaredHinge):
        return _squared_hinge_values(K, Y, cost, problem.intercept is True)
    return _hinge_values(K, Y, cost, smallest_only)


def kernel_svm_value(problem, y, cost=None):
    """The objective of the SVM of hinges or squared hinges with labels y, samples with y = 0 left out; in the dual."""
    cost = problem.cost if cost is None else cost
    used = (y != 0) & (cost > 0)
    y, cost, n = y[used], cost[used], np.count_nonzero(used)
    squared = isinstance(problem.labeled, SquaredHinge)
    K = np.asarray(problem.space.gram().compute())[np.ix_(used, used)] + 1.0 * (problem.intercept == "regularized")
    P = K + np.diag(0.5 / cost) if squared else K
    scale = y * cost  # of multipliers in [0, 1]
    lower, upper = (-np.eye(n), np.zeros(n)), (np.eye(n), np.ones(n))
    below = lower if squared else (np.vstack([lower[0], upper[0]]), np.r_[lower[1], upper[1]])
    equal = (scale[None], [0.0]) if problem.intercept is True else None
    return -minimize_qp(scale[:, None] * P * scale, -cost, equal, below)[1]


def smallest_objective(problem):
    """The smallest objective over all labels that keep the balance; infinite if none do."""
    Y = label_vectors(problem)
    return svm_values(problem, Y, smallest_only=True).min() if len(Y) else np.inf


def _hinge_values(K, Y, cost, smallest_only):
    """Dual values, each next to its objective, by coordinate ascent at all vectors of labels at once."""
    a, F = np.zeros_like(Y), np.zeros_like(Y)
    for number in range(100_000):
        for i in range(len(K)):
            new = np.clip(a[:, i] + (1.0 - Y[:, i] * F[:, i]) / K[i, i], 0.0, cost[i])
            F += ((new - a[:, i]) * Y[:, i])[:, None] * K[i]
            a[:, i] = new
        if number % 20 == 19:
            norm2 = (a * Y * F).sum(axis=1)
            dual, primal = a.sum(axis=1) - 0.5 * norm2, 0.5 * norm2 + np.maximum(1.0 - Y * F, 0.0) @ cost
            if smallest_only:
                kept = dual <= primal.min() * (1.0 + 1e-9)
                Y, a, F, dual, primal = Y[kept], a[kept], F[kept], dual[kept], primal[kept]
            if (primal - dual <= 1e-7 * primal).all():
                return dual
    raise AssertionError("coordinate ascent did not converge")


def _squared_hinge_values(K, Y, cost, free_intercept):
    """Objectives, each next to its dual value, by Newton steps on the sets of margins below 1."""
    (m, n), border = Y.shape, int(free_intercept)
    active, values = np.ones((m, n), dtype=bool), np.full(m, np.nan)
    for _ in range(30):
        A = np.ones((m, n + border, n + border))
        A[:, :n, :n] = np.where(active[:, :, None], K, 0.0) + np.where(active, 0.5 / cost, 1.0)[:, :, None] * np.eye(n)
        A[:, :n, n:], A[:, n:, n:] = active[:, :, None], 0.0
        right = np.c_[np.where(active, Y, 0.0), np.zeros((m, border))]
        x = np.linalg.solve(A, right[:, :, None])[:, :, 0]
        a, f = x[:, :n], x[:, :n] @ K + x[:, n:].sum(axis=1, keepdims=True)
        norm2 = np.einsum("ij,jk,ik->i", a, K, a)
        primal = 0.5 * norm2 + np.maximum(1.0 - Y * f, 0.0) ** 2 @ cost
        dual = (Y * a).sum(axis=1) - 0.5 * norm2 - a**2 @ (0.25 / cost)
        done = (np.abs(primal - dual) <= 1e-9 * primal) & (Y * a >= -1e-9).all(axis=1)
        values[done] = primal[done]
        active = Y * f < 1.0
        active[~active.any(axis=1)] = True
        if not np.isnan(values).any():
            return values
    for row in np.flatnonzero(np.isnan(values)):  # the few whose sets change in a cycle
        values[row] = kernel_squared_hinge_value(K, Y[row], cost, free_intercept)
    return values


def kernel_squared_hinge_value(K, y, cost, free_intercept=True):
    """min 1/2 a'Ka + cost' hinge(y (K a + b))^2 over the samples with a label, in the primal."""
    used = y != 0.0
    K, y, cost, n = K[np.ix_(used, used)], y[used], cost[used], int(used.sum())
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = K + 1e-12 * np.eye(n)
    P[n + 1 :, n + 1 :] = np.diag(2.0 * cost)
    below = (np.hstack([-y[:, None] * np.c_[K, np.ones(n)], -np.eye(n)]), -np.ones(n))
    no_intercept = None if free_intercept else (np.eye(2 * n + 1)[n], 0.0)
    return minimize_qp(P, np.zeros(2 * n + 1), no_intercept, below)[1]


def hinge_losses(problem, t):
    """Hinges or squared hinges at margins t, as the problem has them at its labels."""
    return np.maximum(1.0 - t, 0.0) ** (2 if isinstance(problem.labeled, SquaredHinge) else 1)


def label_changes(problem, y):
    """The vectors of labels that keep the balance and differ from y by a flip or by a swap of opposite labels."""
    searched = np.flatnonzero((problem.signs == 0) & (problem.cost > 0))
    flips = [[j] for j in searched]
    swaps = [[i, j] for i in searched for j in searched if y[i] > 0 > y[j]]
    Y = np.tile(y, (len(flips) + len(swaps), 1))
    for row, changed in zip(Y, flips + swaps):
        row[changed] *= -1.0
    return Y[keeps_balance(problem, Y)]


def largest_label_gain(problem, f, y):
    """By how much the losses at scores f decrease at most with a flip or a swap that keeps the balance."""
    Y = label_changes(problem, y)
    gains = (hinge_losses(problem, y * f) - hinge_losses(problem, Y * f)) @ problem.cost
    return float(gains.max(initial=0.0))


def assert_svm_of_labels(problem, solution):
    """What is reported are the scores and the objective of the labels, which hold the given ones and the balance."""
    K, known = np.asarray(problem.space.gram().compute()), problem.signs != 0
    np.testing.assert_allclose(solution.scores, K @ solution.dual + solution.intercept, atol=1e-9)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[known], problem.signs[known])
    np.testing.assert_allclose(solution.objective, numpy_objective(problem, solution), rtol=1e-9)
    assert keeps_balance(problem, solution.labels[None]).all()


def assert_gap_is_true(problem, solution, smallest, rel=1e-6):
    """The claims of a solution with a gap, however it ended, against the smallest objective of all labels."""
    known, certificate = problem.signs != 0, solution.certificate
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[known], problem.signs[known])
    assert keeps_balance(problem, solution.labels[None]).all()
    np.testing.assert_allclose(solution.objective, numpy_objective(problem, solution), rtol=1e-9)
    assert certificate.kind == "gap"
    assert certificate.gap == certificate.value >= 0.0
    np.testing.assert_allclose(certificate.gap, solution.objective - certificate.lower_bound, atol=1e-12)
    assert certificate.lower_bound <= smallest * (1.0 + rel)
    assert smallest <= solution.objective * (1.0 + rel)


def relaxation_optimum(problem):
    """The semidefinite relaxation of the labels as De Bie and Cristianini state it, by an interior-point method.

    Half of the smallest t with H positive semidefinite of unit diagonal, nu, delta >= 0, the matrix
    [[K o E H E', 1 + nu - delta], [., t - 2 cost'delta]] positive semidefinite, and the balance on the first row of H.
    """
    K = np.asarray(problem.space.gram().compute(), dtype=float) + 1.0 * (problem.intercept == "regularized")
    known, searched, n = np.flatnonzero(problem.signs), problem.searched, len(K)
    m = 1 + len(searched)
    E = np.zeros((n, m))
    E[known, 0], E[searched, np.arange(1, m)] = problem.signs[known], 1.0
    pairs = list(itertools.combinations(range(m), 2))
    units = [np.outer(np.eye(m)[i], np.eye(m)[j]) for i, j in pairs]
    H_parts = [unit + unit.T for unit in units] + [np.zeros((m, m))] * (2 * n + 1)  # one per variable: H, nu, delta, t
    parts = [_bordered(K * (E @ H @ E.T), np.zeros(n), 0.0) for H in H_parts[: len(pairs)]]
    parts += [_bordered(np.zeros((n, n)), side, 0.0) for side in np.eye(n)]
    parts += [_bordered(np.zeros((n, n)), -side, -2.0 * problem.cost @ side) for side in np.eye(n)]
    parts += [_bordered(np.zeros((n, n)), np.zeros(n), 1.0)]
    n_variables = len(parts)
    rows, right = [-np.eye(n_variables)[len(pairs) : -1]], [np.zeros(2 * n)]
    cones = [clarabel.NonnegativeConeT(2 * n)]
    if isinstance(problem.balance, Count):
        weights = problem.weights_of(searched)
        label_sum = np.zeros(n_variables)
        label_sum[: m - 1] = weights  # the pairs (0, j) come first
        r, slack = problem.balance
        sums = (2.0 * np.array([r - slack, r + slack]) - 1.0) * weights.sum()
        if problem.weights is None:
            sums = label_vectors(problem)[:, searched].sum(axis=1)
        rows.append(np.array([label_sum, -label_sum]))
        right.append(np.array([sums.max(), -sums.min()]))
        cones.append(clarabel.NonnegativeConeT(2))
    for coefficients, constant in ((H_parts, np.eye(m)), (parts, _bordered(K * (E @ E.T), np.ones(n), 0.0))):
        rows.append(-np.column_stack([_upper_triangle(part) for part in coefficients]))
        right.append(_upper_triangle(constant))
        cones.append(clarabel.PSDTriangleConeT(len(constant)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A, b, none = sparse.csc_matrix(np.vstack(rows)), np.concatenate(right), sparse.csc_matrix((n_variables,) * 2)
    answer = clarabel.DefaultSolver(none, np.eye(n_variables)[-1], A, b, cones, settings).solve()
    assert "Solved" in str(answer.status)
    return 0.5 * answer.obj_val


def _bordered(A, side, corner):
    return np.block([[A, side[:, None]], [side[None], np.array([[corner]])]])


def _upper_triangle(A):
    """Columns of the upper triangle, with the factors of Clarabel."""
    j, i = np.tril_indices(len(A))
    return np.where(i == j, 1.0, np.sqrt(2.0)) * A[i, j]


def kernel_matrix(kernel, A, B=None):
    """k(a, b) of all samples, dense or sparse, from the formula."""
    A, B = (X.toarray() if sparse.issparse(X) else X for X in (A, A if B is None else B))
    product, r = A @ B.T, np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))
    gamma, coef0, width = kernel.gamma, kernel.coef0, kernel.gamma if kernel.sigma is None else kernel.sigma**2
    formulas = {
        "linear": lambda: product,
        "poly": lambda: (gamma * product + coef0) ** kernel.degree,
        "rbf": lambda: np.exp(-gamma * r**2),
        "laplacian": lambda: np.exp(-gamma * r + coef0),
        "multiquadric": lambda: -np.sqrt(gamma * r + coef0),
        "inverse_multiquadric": lambda: 1.0 / np.sqrt(gamma * r + coef0),
        "kmod": lambda: np.expm1(gamma / (r**2 + width)) / np.expm1(gamma / width),
    }
    return kernel.name(A, B) if callable(kernel.name) else formulas[kernel.name]()


def assert_close(found, expected, tolerance=1e-9):
    """Equal up to a tolerance relative to the largest number."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1.0))


def least_squares_matrix(K, cost, intercept=True):
    """K + diag(1/c), with 1 added to K for a regularized intercept, with a border of ones for a free one."""
    M = K + 1.0 * (intercept == "regularized") + np.diag(1.0 / cost)
    return _bordered(M, np.ones(len(M)), 0.0) if intercept is True else M


def label_form(K, cost, intercept=True):
    """S of the smallest least-squares objective of labels, 1/2 y'Sy, by inversion."""
    return np.linalg.inv(least_squares_matrix(K, cost, intercept))[: len(K), : len(K)]


def least_squares_svm(K, cost, y, intercept=True, samples=None):
    """alpha and b of the least-squares SVM of some samples (all unless given), and f at all; y may have columns."""
    samples = np.arange(len(K)) if samples is None else np.asarray(samples)
    right = np.concatenate([y[samples], np.zeros((int(intercept is True), *y.shape[1:]))])
    solved = np.linalg.solve(least_squares_matrix(K[np.ix_(samples, samples)], cost[samples], intercept), right)
    alpha = solved[: len(samples)]
    b = {True: solved[-1], False: 0.0 * solved[-1], "regularized": alpha.sum(axis=0)}[intercept]
    return alpha, b, K[:, samples] @ alpha + b


def labeling_values(S, Y):
    """1/2 y'Sy of many vectors of labels."""
    return 0.5 * np.einsum("ri,ij,rj->r", Y, S, Y)


def problem_form(problem):
    """S of all samples of a problem, whose costs are positive."""
    return label_form(np.asarray(problem.space.gram().compute()), problem.cost, problem.intercept)


def assert_least_squares_of_labels(problem, solution):
    """All that is reported follows from the labels, which hold the given ones and the balance; costs are positive."""
    y, known = solution.labels, problem.signs != 0
    np.testing.assert_array_equal(np.abs(y), 1.0)
    np.testing.assert_array_equal(y[known], problem.signs[known])
    assert keeps_balance(problem, y[None]).all()
    K = np.asarray(problem.space.gram().compute())
    alpha, b, f = least_squares_svm(K, problem.cost, y, problem.intercept)
    assert_close(solution.dual, alpha)
    assert_close(solution.scores, f)
    np.testing.assert_allclose(solution.intercept, b, atol=1e-8)
    np.testing.assert_allclose(solution.objective, 0.5 * y @ alpha, rtol=1e-9)
