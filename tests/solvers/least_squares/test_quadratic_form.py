"""Dense and low-rank forms of labels against dense inverses, stacked least squares, refits and Gaussian densities."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from factories import CONTAINERS, INTERCEPTS, random_costs, random_labels, random_samples
from references import assert_close, kernel_matrix, label_form, least_squares_matrix, least_squares_svm
from semisvm.losses import Squared
from semisvm.problem import Problem, objective
from semisvm.solvers.least_squares import dense_form, low_rank_form
from semisvm.solvers.least_squares.dense_form import DenseForm
from semisvm.solvers.least_squares.low_rank_form import LowRankForm
from semisvm.spaces import DesignMatrix, Features, Gram, Kernel

N = 40
COSTS = [1e-2, 0.3, 1.0, 20.0, 1e3]
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_kind = pytest.mark.parametrize("kind", ["dense", "low rank", "csr"])
few_or_many_features = pytest.mark.parametrize("rank", [4, N])


def features(rank=4, n=N):
    """Random features, or as many as there are samples, those of an rbf kernel."""
    if rank < n:
        return random_samples(n, rank)
    d, U = np.linalg.eigh(kernel_matrix(Kernel("rbf", 0.4), random_samples(n)))
    return U * np.sqrt(np.maximum(d, 0.0))


def make_form(kind, Z, cost, intercept=True):
    if kind == "dense":
        return DenseForm(Z @ Z.T, cost, intercept)
    return LowRankForm(DesignMatrix(sparse.csr_array(Z) if kind == "csr" else Z), cost, intercept)


def stacked_least_squares(Z, cost, y, intercept):
    """w, b and the objective, by least squares of the samples and the penalties stacked."""
    n, r = Z.shape
    wide = np.hstack([Z, np.full((n, 1), float(intercept is not False))])
    penalty = np.diag(np.r_[np.ones(r), float(intercept is not True)])
    stacked, right = np.vstack([np.sqrt(cost)[:, None] * wide, penalty]), np.r_[np.sqrt(cost) * y, np.zeros(r + 1)]
    theta = np.linalg.lstsq(stacked, right, rcond=None)[0]
    return theta[:r], theta[r], 0.5 * np.sum((stacked @ theta - right) ** 2)


@every_kind
@every_intercept
@few_or_many_features
def test_value_is_the_smallest_objective_and_scores_are_those_of_its_model(kind, intercept, rank):
    Z, cost, y = features(rank), random_costs(N), random_labels(N)
    form = make_form(kind, Z, cost, intercept)
    w, b, smallest = stacked_least_squares(Z, cost, y, intercept)
    alpha = form.product(y)
    assert form.value(y) == pytest.approx(smallest, abs=1e-10)
    assert form.value(y, alpha) == pytest.approx(smallest, abs=1e-10)
    assert_close(form.scores(y, alpha), Z @ w + b)
    assert_close(Z.T @ alpha, w)
    if kind == "dense":
        space, coef, own_b = Gram(Kernel("precomputed"), Z @ Z.T), alpha, form.intercept_for(y, alpha)
    else:
        space, (coef, own_b) = Features(form.Z.X), form.primal_solution(y)
        assert_close(coef, w)
    assert own_b == pytest.approx(b, abs=1e-10)
    problem = Problem(space, y, cost, Squared(), intercept=intercept)
    assert objective(problem, coef, b) == pytest.approx(smallest, abs=1e-10)


@every_kind
@every_intercept
@few_or_many_features
def test_form_is_the_corner_of_the_bordered_inverse(kind, intercept, rank):
    Z, cost, y = features(rank), random_costs(N), random_labels((N, 3))
    K = Z @ Z.T
    S, form = label_form(K, cost, intercept), make_form(kind, Z, cost, intercept)
    some, others = np.array([7, 0, 31]), np.array([31, 5, 7, 22])
    mostly_zero = np.where(np.isin(np.arange(N), some), y[:, 0], 0.0)
    for _ in range(2):  # by the factor, then by S, which the others compute
        assert_close(form.product(y), S @ y)
        assert_close(form.product(y[:, 0]), S @ y[:, 0])
        assert_close(form.diagonal(), S.diagonal())
        assert_close(form.block(some), S[np.ix_(some, some)])
        assert_close(form.block(some, others), S[np.ix_(some, others)])
        assert_close(form.sparse_product(mostly_zero), S @ mostly_zero)
    assert form.log_det == pytest.approx(np.linalg.slogdet(least_squares_matrix(K, cost, intercept))[1], abs=1e-9)


@every_intercept
def test_slope_of_the_determinant_is_the_diagonal(intercept):
    Z, cost, step = features(), random_costs(N), 1e-5
    for kind in ("dense", "low rank"):
        up, down = (make_form(kind, Z, cost + side * step * (np.arange(N) == 3), intercept) for side in (1, -1))
        slope = (up.log_det - down.log_det) / (2.0 * step)
        diagonal = make_form(kind, Z, cost, intercept).diagonal()
        assert slope == pytest.approx(-diagonal[3] / cost[3] ** 2, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130])
def test_S_is_symmetric_whatever_the_tiles(n):
    K, cost = random_samples(n) @ random_samples(n).T, random_costs(n)
    S = DenseForm(K, cost, False).compute_S()
    np.testing.assert_array_equal(S, S.T)
    assert_close(S, label_form(K, cost, False))
    lower = np.tril(random_samples(n, n))
    mirrored, in_python = lower.copy(), lower.copy()
    dense_form._mirror(mirrored)
    dense_form._mirror.py_func(in_python)
    np.testing.assert_array_equal(mirrored, lower + np.tril(lower, -1).T)
    np.testing.assert_array_equal(in_python, mirrored)


def test_kernel_matrix_is_overwritten_only_where_allowed():
    Z, cost = features(N), random_costs(N)
    K = Z @ Z.T
    before, single = K.copy(), K.astype(np.float32)
    S = DenseForm(K, cost).compute_S()
    np.testing.assert_array_equal(K, before)
    assert_close(DenseForm(single, cost, overwrite=True).compute_S(), S, 1e-5)
    np.testing.assert_array_equal(single, before.astype(np.float32))
    assert_close(DenseForm(K, cost, overwrite=True).compute_S(), S, 1e-14)


@every_intercept
@pytest.mark.parametrize("container", CONTAINERS)
def test_features_in_blocks_of_rows_and_new_samples(container, intercept, monkeypatch):
    monkeypatch.setattr(low_rank_form, "BLOCK_ROWS", 7)
    contain, new, cost, y = CONTAINERS[container], random_samples(17, seed=10), random_costs(N), random_labels(N)
    for rank in (4, N):
        Z = features(rank)
        form = LowRankForm(DesignMatrix(contain(Z)), cost, intercept)
        assert_close(form.block(np.arange(N)), label_form(Z @ Z.T, cost, intercept))
        assert_close(form.compute_Q(), np.sqrt(cost)[:, None] * form.whiten(contain(Z)))
    Z = features()
    w, b, _ = stacked_least_squares(Z, cost, y, intercept)
    form = LowRankForm(DesignMatrix(contain(Z)), cost, intercept)
    assert_close(form.whiten(contain(new)) @ (form.compute_Q().T @ (form.sqrt_cost * y)), new @ w + b)


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_conditionally_definite_kernel_needs_a_free_intercept(coef0):
    K, cost = kernel_matrix(Kernel("multiquadric", 1.0, coef0), random_samples(N)), random_costs(N)
    y = random_labels(N)
    assert np.linalg.eigvalsh(K + np.diag(1.0 / cost))[0] < -1.0
    form, S = DenseForm(K, cost), label_form(K, cost)
    alpha = form.product(y)
    assert_close(alpha, S @ y)
    assert_close(form.scores(y, alpha), K @ alpha + form.intercept_for(y, alpha))
    assert_close(form.compute_S(), S)
    assert form.log_det == pytest.approx(np.linalg.slogdet(least_squares_matrix(K, cost))[1], abs=1e-9)
    for intercept in (False, "regularized"):
        with pytest.raises(ValueError, match="not positive definite"):
            DenseForm(K, cost, intercept)


@every_intercept
def test_indefinite_and_infinite_matrices_are_refused(intercept):
    Z, y, cost = features(), random_labels(N), random_costs(N)
    with pytest.raises(ValueError, match=r"not positive definite.*use another kernel"):
        DenseForm(Z @ Z.T - 20.0 * np.outer(y, y), cost, intercept)
    K = np.eye(N)
    K[3, 20] = K[20, 3] = np.nan
    with pytest.raises(ValueError, match="not positive definite"):
        DenseForm(K, cost, intercept)
    Z[3, 1] = 1e200  # its square is infinite
    with pytest.raises(ValueError, match=r"features up to 1e\+200 .* too large for least squares"):
        LowRankForm(DesignMatrix(Z), cost, intercept)


def test_S_may_be_computed_while_another_thread_multiplies(monkeypatch):
    form, y = DenseForm(features() @ features().T, random_costs(N)), random_labels(N)
    expected, others, lapack = form.product(y), [], dense_form.lapack

    def solve_late(*given, **options):
        """As if the other thread came between the reading of the factor and its use."""
        others.append(threading.Thread(target=form.compute_S))
        others[0].start()
        others[0].join(0.3)
        return lapack.dpotrs(*given, **options)

    monkeypatch.setattr(dense_form, "lapack", SimpleNamespace(dpotri=lapack.dpotri, dpotrs=solve_late))
    found = form.product(y)
    others[0].join()
    assert_close(found, expected)
    assert_close(form.product(y), expected)


@pytest.mark.parametrize("kind", ["dense", "low rank"])
def test_threads_that_call_together_compute_once(kind):
    form, together, seen = make_form(kind, features(), random_costs(N)), threading.Barrier(4), []

    def compute():
        together.wait()
        seen.append(form.compute_S() if kind == "dense" else form.compute_Q())

    threads = [threading.Thread(target=compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all(array is seen[0] for array in seen)


@every_kind
@every_intercept
def test_left_out_samples_are_scored_by_a_model_without_them(kind, intercept):
    n = 12
    Z, cost, y = random_samples(n), random_costs(n), random_labels(n)
    K, form = Z @ Z.T, make_form(kind, Z, cost, intercept)

    def without(group):
        return least_squares_svm(K, cost, y, intercept, np.delete(np.arange(n), group))[2][group]

    alpha = form.product(y)
    alone = np.array([without(j) for j in range(n)])
    assert_close(form.leave_one_out(y, alpha), alone)
    gains = 2.0 * (y * alpha - form.diagonal()) > 0
    np.testing.assert_array_equal(gains, y * alone < 0)  # a flip gains where the left-out score disagrees
    groups, expected = [np.array([3, 0, 7]), np.array([5]), np.array([2, 11])], alone.copy()
    for group in groups:
        expected[group] = without(group)
    assert np.abs(expected - alone).max() > 0.01
    assert_close(form.leave_one_out(y, alpha, groups), expected)


def test_held_out_groups_without_digits_are_refused_in_a_sentence():
    """Squares of 2^80 beside 1: S of the first two samples is singular in float64, though not in exact numbers."""
    X = 2.0**40 * np.array([[1.0], [1.0], [-1.0], [-1.0]])
    form = LowRankForm(DesignMatrix(X), np.full(4, 2.0**-6))
    y = np.array([1.0, 1.0, -1.0, -1.0])
    with pytest.raises(ValueError, match="too large for held-out scores"):
        form.leave_one_out(y, form.product(y), [np.arange(2)])


def largest_density(M, y, wide=0.0):
    """Largest over mu of the log density of y under covariance M / mu + wide^2 11'."""

    def negative(log_mu):
        return -stats.multivariate_normal(None, M * np.exp(-log_mu) + wide**2).logpdf(y)

    return -optimize.minimize_scalar(negative, bracket=(-1.0, 1.0), tol=1e-12).fun


@every_intercept
@pytest.mark.parametrize("seed", [2, 3])
def test_evidence_is_a_gaussian_density_at_its_best_scale(intercept, seed):
    """That of a flat prior on a free intercept is the limit of wide ones, divided by their height."""
    n = 12
    Z, ratio, y = features(n, n), random_costs(n), random_labels(n, seed)
    K, wide, border = Z @ Z.T, 1e3 if intercept is True else 0.0, intercept if intercept is not True else False
    expected = [largest_density(least_squares_matrix(K, C * ratio, border), y, wide) for C in COSTS]
    if intercept is True:
        expected += np.log(wide * np.sqrt(2.0 * np.pi))
    assert np.ptp(expected) > 0.5
    for kind in ("dense", "low rank"):
        found = [make_form(kind, Z, C * ratio, intercept).evidence(y)[0] for C in COSTS]
        assert_close(found, expected, 1e-5 if intercept is True else 1e-8)
