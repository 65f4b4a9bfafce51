"""Quadratic forms of labels against dense inverses, refits and brute force; searches, growing inverses, box QPs."""

import importlib
import itertools
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from judges import minimise_qp
from semisvm.kernels import Kernel
from semisvm.linalg import (
    Dense,
    Growing,
    LowRank,
    Spectrum,
    box_qp,
    dense,
    flips,
    growth,
    labelings,
    lower_bound,
    lowrank,
    shrink,
)
from semisvm.losses import Squared
from semisvm.problem import Problem, objective
from semisvm.spaces import Features, Gram, in_threads

N, RANK = 40, 4
SMALL, FEW = 12, 10  # rows where every row is left out, or unlabeled
LAST = np.arange(FEW, N)  # the unlabeled ones
INTERCEPTS = [True, False, "regularised"]
LOOPS = ["sweep_block", "sweep_low_rank", "descend_dense", "swap_candidates", "best_swap_dense"]
COSTS = np.array([1e-2, 0.3, 1.0, 20.0, 1e3])

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=["free", "none", "regularised"])
every_kind = pytest.mark.parametrize("kind", ["dense", "low rank", "csr"])
both_kinds = pytest.mark.parametrize("kind", ["dense", "low rank"])


def features(n=N, rank=RANK, seed=0):
    return np.random.default_rng(seed).standard_normal((n, rank))


def costs(n=N, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 5.0, n)


def labels(*shape, seed=2):
    return np.random.default_rng(seed).choice([-1.0, 1.0], shape or N)


def full_factor(n=N):
    """As many features as rows, of an RBF kernel."""
    d, U = np.linalg.eigh(Gram(Kernel("rbf", 0.4), features(n)).whole)
    return U * np.sqrt(np.maximum(d, 0.0))


def make(kind, Z, cost, intercept=True):
    if kind == "dense":
        return Dense(Z @ Z.T, cost, intercept)
    return LowRank(sparse.csr_array(Z) if kind == "csr" else Z, cost, intercept)


def bordered(K, cost, intercept):
    """The matrix of the system."""
    M = K + (intercept == "regularised") + np.diag(1.0 / cost)
    if intercept is not True:
        return M
    ones = np.ones((len(M), 1))
    return np.block([[M, ones], [ones.T, np.zeros((1, 1))]])


def true_S(K, cost, intercept):
    return np.linalg.inv(bordered(K, cost, intercept))[: len(K), : len(K)]


def least_squares(Z, cost, y, intercept):
    """w, b and the objective by numpy's least squares of rows and penalties stacked."""
    n, r = Z.shape
    wide = np.hstack([Z, np.full((n, 1), float(intercept is not False))])
    penalty = np.eye(r + 1)
    penalty[r, r] = float(intercept is not True)
    stacked, right = np.vstack([np.sqrt(cost)[:, None] * wide, penalty]), np.r_[np.sqrt(cost) * y, np.zeros(r + 1)]
    theta = np.linalg.lstsq(stacked, right, rcond=None)[0]
    return theta[:r], theta[r], 0.5 * np.sum((stacked @ theta - right) ** 2)


def refit(K, cost, y, intercept, kept):
    """f at all rows of the machine that some rows make."""
    solution = np.linalg.solve(
        bordered(K[np.ix_(kept, kept)], cost[kept], intercept), np.r_[y[kept], [0.0] * (intercept is True)]
    )
    alpha = solution[: len(kept)]
    b = {True: solution[-1], False: 0.0, "regularised": alpha.sum()}[intercept]
    return K[:, kept] @ alpha + b


def assert_close(found, expected, tolerance=1e-10):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1.0))


# ---- forms ----


@every_kind
@every_intercept
@pytest.mark.parametrize("rank", [RANK, N])
def test_the_form_is_the_smallest_objective(kind, intercept, rank):
    Z, cost, y = full_factor() if rank == N else features(), costs(), labels()
    form = make(kind, Z, cost, intercept)
    w, b, smallest = least_squares(Z, cost, y, intercept)
    alpha = form.times(y)
    if kind == "dense":
        space, coef, own = Gram(Kernel("precomputed"), Z @ Z.T), alpha, form.bias(y, alpha)
    else:
        coef, own = form.weights(y)
        space = Features(form.Z)
        assert_close(coef, w)
    assert form.value(y) == pytest.approx(smallest, abs=1e-10)
    assert form.value(y, alpha) == pytest.approx(smallest, abs=1e-10)
    problem = Problem(space, y, cost, Squared(), intercept=intercept)
    assert objective(problem, coef, own) == pytest.approx(smallest, abs=1e-10)
    assert own == pytest.approx(b, abs=1e-10)
    assert form.bias(y, alpha) == pytest.approx(b, abs=1e-10)
    assert_close(form.scores(y, alpha), Z @ w + b)
    assert_close(form.scores(y, alpha), Z @ (Z.T @ alpha) + b)


@every_kind
@every_intercept
@pytest.mark.parametrize("rank", [RANK, N])
def test_a_form_is_the_corner_of_the_bordered_inverse(kind, intercept, rank):
    Z, cost = full_factor() if rank == N else features(), costs()
    K = Z @ Z.T
    S, form = true_S(K, cost, intercept), make(kind, Z, cost, intercept)
    some, others = np.array([7, 0, 31]), np.array([31, 5, 7, 22])
    assert_close(form.times(np.eye(N)), S)
    assert_close(form.times(labels()), S @ labels())
    assert_close(form.diagonal(), S.diagonal())
    assert_close(form.block(some), S[np.ix_(some, some)])
    assert_close(form.block(some, others), S[np.ix_(some, others)])
    assert_close(form.times(np.eye(N)), S)  # by S, now that there is one
    assert_close(form.times(labels()), S @ labels())
    assert form.log_det == pytest.approx(np.linalg.slogdet(bordered(K, cost, intercept))[1], abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130])
def test_S_is_whole_and_symmetric_whatever_the_tiles(n):
    K, cost = features(n) @ features(n).T, costs(n)
    form = Dense(K, cost, False)
    np.testing.assert_array_equal(form.S, form.S.T)
    assert_close(form.S, true_S(K, cost, False))


def test_a_kernel_matrix_is_used_up_only_where_allowed():
    K = full_factor() @ full_factor().T
    kept, single = K.copy(), K.astype(np.float32)
    S = Dense(K, costs()).S
    np.testing.assert_array_equal(K, kept)
    assert_close(Dense(single, costs(), overwrite=True).S, S, tolerance=1e-5)
    np.testing.assert_array_equal(single, kept.astype(np.float32))
    assert_close(Dense(K, costs(), overwrite=True).S, S, tolerance=1e-14)


def test_features_are_multiplied_part_by_part(monkeypatch):
    monkeypatch.setattr(lowrank, "PART", 7)  # five parts, then one of five rows
    cost = costs()
    for Z, table in itertools.product([features(), full_factor()], [np.asarray, sparse.csr_array, sparse.csr_matrix]):
        form = LowRank(table(Z), cost)
        assert_close(form.block(np.arange(N)), true_S(Z @ Z.T, cost, True))


@every_intercept
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_lifted_rows_multiply_to_the_scores_of_new_rows(intercept, table, monkeypatch):
    monkeypatch.setattr(lowrank, "PART", 7)
    Z, new, cost, y = features(), features(17, seed=10), costs(), labels()
    form = LowRank(table(Z), cost, intercept)
    w, b, _ = least_squares(Z, cost, y, intercept)
    assert_close(form.lift(table(new)) @ (form.Q.T @ (form.root * y)), new @ w + b)
    assert_close(form.Q, form.root[:, None] * form.lift(table(Z)))


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_a_conditionally_definite_kernel_works_with_a_free_intercept(coef0):
    K, cost, y = Gram(Kernel("multiquadric", 1.0, coef0), features()).whole, costs(), labels()
    assert np.linalg.eigvalsh(K + np.diag(1.0 / cost))[0] < -1.0
    form, S = Dense(K, cost), true_S(K, cost, True)
    alpha = form.times(y)
    assert_close(alpha, S @ y)
    assert_close(form.scores(y, alpha), K @ alpha + form.bias(y, alpha))
    assert_close(form.S, S)
    assert form.log_det == pytest.approx(np.linalg.slogdet(bordered(K, cost, True))[1], abs=1e-9)
    assert_close(Spectrum(K, cost).S(1.0), S)
    for intercept in (False, "regularised"):
        with pytest.raises(ValueError, match="not positive definite"):
            Dense(K, cost, intercept)


@every_intercept
def test_a_matrix_that_is_not_definite_is_refused(intercept):
    K = features() @ features().T
    K -= 20.0 * np.outer(labels(), labels())
    with pytest.raises(ValueError, match=r"not positive definite.*use another kernel"):
        Dense(K, costs(), intercept)


@every_intercept
def test_numbers_that_are_not_finite_are_refused(intercept):
    K = np.eye(N)
    K[3, 20] = K[20, 3] = np.nan
    with pytest.raises(ValueError):
        Dense(K, costs(), intercept)
    Z = features()
    Z[3, 1] = 1e200  # its square is infinite
    with pytest.raises(ValueError, match="not finite or too large"):
        LowRank(Z, costs(), intercept)


def test_S_may_be_asked_for_while_another_thread_multiplies(monkeypatch):
    form, y = Dense(features() @ features().T, costs()), labels()
    expected, asked = form.times(y), []

    def solve_late(*given, **options):
        """As if the other thread came between the taking of the factor and its use."""
        asked.append(threading.Thread(target=lambda: form.S))
        asked[0].start()
        asked[0].join(0.3)
        return lapack.dpotrs(*given, **options)

    lapack = dense.lapack
    monkeypatch.setattr(dense, "lapack", SimpleNamespace(dpotri=lapack.dpotri, dpotrs=solve_late))
    found = form.times(y)
    asked[0].join()
    assert_close(found, expected)
    assert_close(form.times(y), expected)


def test_threads_that_ask_together_compute_S_once():
    for form, name in ((Dense(np.eye(N), costs()), "S"), (LowRank(features(), costs()), "Q")):
        together, seen = threading.Barrier(4), []

        def ask(form=form, name=name, together=together, seen=seen):
            together.wait()
            seen.append(getattr(form, name))

        asking = [threading.Thread(target=ask) for _ in range(4)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert len(seen) == 4
        assert all(one is seen[0] for one in seen)


# ---- rows left out ----


@every_kind
@every_intercept
def test_left_out_rows_score_as_a_machine_without_them(kind, intercept):
    Z, cost, y = features(SMALL), costs(SMALL), labels(SMALL)
    K, form = Z @ Z.T, make(kind, Z, cost, intercept)
    everyone = np.arange(SMALL)
    alone = [refit(K, cost, y, intercept, np.delete(everyone, j))[j] for j in everyone]
    assert_close(form.left_out(y, form.times(y)), alone, tolerance=1e-9)
    groups = [np.array([3, 0, 7]), np.array([5]), np.array([2, 11])]
    expected = np.array(alone)
    for group in groups:
        expected[group] = refit(K, cost, y, intercept, np.delete(everyone, group))[group]
    assert np.abs(expected - alone).max() > 0.01
    assert_close(form.left_out(y, form.times(y), groups), expected, tolerance=1e-9)


@every_intercept
@pytest.mark.parametrize("C", [0.3, 20.0])
def test_left_out_rows_of_a_spectrum_too(intercept, C):
    Z, ratio, y = full_factor(SMALL), costs(SMALL), labels(SMALL)
    K, everyone = Z @ Z.T, np.arange(SMALL)
    alone = [refit(K, C * ratio, y, intercept, np.delete(everyone, j))[j] for j in everyone]
    assert_close(Spectrum(K, ratio, intercept).left_out(y, C), alone, tolerance=1e-9)


def test_a_flip_gains_where_the_left_out_score_disagrees():
    y = labels()
    form = Dense(features() @ features().T, costs())
    alpha = form.times(y)
    gains = 2.0 * (form.diagonal() - y * alpha) < 0
    assert 0 < gains.sum() < N
    np.testing.assert_array_equal(gains, y * form.left_out(y, alpha) < 0)


# ---- every C at once ----


@every_intercept
def test_a_spectrum_equals_the_form_of_every_C(intercept):
    Z, ratio, y = features(), costs(), labels(N, 3)
    K = Z @ Z.T
    spectrum = Spectrum(K, ratio, intercept)
    forms = [Dense(K, C * ratio, intercept) for C in COSTS]
    assert_close(spectrum.values(y[:, 0], COSTS), [form.value(y[:, 0]) for form in forms], tolerance=1e-9)
    assert_close(spectrum.log_dets(COSTS), [form.log_det for form in forms], tolerance=1e-9)
    assert_close(spectrum.evidences(y[:, 0], COSTS), [form.evidence(y[:, 0]) for form in forms], tolerance=1e-9)
    for C, form in zip(COSTS, forms):
        S = true_S(K, C * ratio, intercept)
        assert_close(spectrum.S(C), S, tolerance=1e-9)
        assert_close(spectrum.diagonal(C), S.diagonal(), tolerance=1e-9)
        assert_close(spectrum.times(y[:, 0], C), S @ y[:, 0], tolerance=1e-9)
        assert_close(spectrum.times(y, C), S @ y, tolerance=1e-9)
        assert_close(form.S, S, tolerance=1e-9)


def best_density(M, y, wide=0.0):
    """Largest over mu of the log density of y under covariance M / mu + wide^2 11'."""

    def lost(log_mu):
        return -stats.multivariate_normal(None, M * np.exp(-log_mu) + wide**2, allow_singular=False).logpdf(y)

    return -optimize.minimize_scalar(lost, bracket=(-1.0, 1.0), tol=1e-12).fun


@pytest.mark.parametrize("intercept", [False, "regularised"])
@pytest.mark.parametrize("seed", [2, 3])
def test_the_evidence_is_a_gaussian_density_at_its_best_scale(intercept, seed):
    Z, ratio, y = full_factor(SMALL), costs(SMALL), labels(SMALL, seed=seed)
    K = Z @ Z.T
    expected = [best_density(bordered(K, C * ratio, intercept), y) for C in COSTS]
    assert np.ptp(expected) > 0.5
    assert_close([Dense(K, C * ratio, intercept).evidence(y) for C in COSTS], expected, tolerance=1e-8)
    assert_close([LowRank(Z, C * ratio, intercept).evidence(y) for C in COSTS], expected, tolerance=1e-8)
    assert_close(Spectrum(K, ratio, intercept).evidences(y, COSTS), expected, tolerance=1e-8)


@pytest.mark.parametrize("seed", [2, 3])
def test_the_evidence_with_a_free_intercept_is_the_limit_of_a_wide_prior(seed):
    Z, ratio, y, wide = full_factor(SMALL), costs(SMALL), labels(SMALL, seed=seed), 1e3
    K = Z @ Z.T
    densities = [best_density(bordered(K, C * ratio, False), y, wide) for C in COSTS]
    expected = np.array(densities) + np.log(wide * np.sqrt(2.0 * np.pi))  # the height of the prior, then flat
    assert np.ptp(expected) > 0.5
    assert_close([Dense(K, C * ratio).evidence(y) for C in COSTS], expected, tolerance=1e-5)
    assert_close([LowRank(Z, C * ratio).evidence(y) for C in COSTS], expected, tolerance=1e-5)
    assert_close(Spectrum(K, ratio).evidences(y, COSTS), expected, tolerance=1e-5)


@every_intercept
def test_the_slope_of_log_det_is_what_the_diagonal_says(intercept):
    Z, cost, step = features(), costs(), 1e-5
    for kind in ("dense", "low rank"):
        j = 3
        up, down = (make(kind, Z, cost + sign * step * (np.arange(N) == j), intercept) for sign in (1, -1))
        slope = (up.log_det - down.log_det) / (2.0 * step)
        assert slope == pytest.approx(-make(kind, Z, cost, intercept).diagonal()[j] / cost[j] ** 2, abs=1e-7)


# ---- flips ----


def searched(kind="dense", Y=None, low=-np.inf, high=np.inf, weight=None, intercept=True, sign=1.0):
    """The last 30 of 40 rows are to be labeled, in 6 labelings; the low-rank form is the dense one by its features."""
    Z, fixed = features(), np.zeros(N)
    fixed[:FEW] = sign * labels(FEW)
    Y = labels(6, len(LAST), seed=3) if Y is None else Y
    weight = np.ones(len(LAST)) if weight is None else weight
    return labelings(make(kind, Z, costs(), intercept), fixed, LAST, sign * Y, weight, low, high)


def half_positive(count=6):
    Y = np.tile(np.repeat([-1.0, 1.0], len(LAST) // 2), (count, 1))
    return np.random.default_rng(4).permuted(Y, axis=1)


def uneven():
    return np.random.default_rng(5).uniform(0.5, 2.0, len(LAST))


def to_rest(part, seed=6):
    order = np.random.default_rng(seed).permutation(len(part.free))
    total = 0
    for _ in range(1000):
        made = part.sweep(order)
        total += made
        if not made:
            return total
    raise AssertionError("never at rest")


def flipped(y, *rows):
    y = y.copy()
    y[list(rows)] *= -1.0
    return y


def flip_gains(part, r):
    """What each flip gains, by fresh values."""
    y = part.full(r)
    before = part.form.value(y)
    return np.array([before - part.form.value(flipped(y, j)) for j in part.free])


def swap_gains(part, r):
    """What each allowed swap of opposite labels gains, by fresh values."""
    y = part.full(r)
    before, inside = part.form.value(y), part.weight @ (part.Y[r] > 0)
    gains = []
    for i, j in itertools.product(np.flatnonzero(part.Y[r] > 0), np.flatnonzero(part.Y[r] < 0)):
        if part.low <= inside - part.weight[i] + part.weight[j] <= part.high:
            gains.append(before - part.form.value(flipped(y, part.free[i], part.free[j])))
    return np.array(gains)


def may_flip(part, r):
    moved = part.weight @ (part.Y[r] > 0) - part.Y[r] * part.weight
    return (moved >= part.low) & (moved <= part.high)


def assert_up_to_date(part):
    for r in range(len(part.Y)):
        y = part.full(r)
        np.testing.assert_array_equal(y[:FEW], part.fixed[:FEW])
        np.testing.assert_array_equal(y[LAST], part.Y[r])
        assert_close(part.alpha(r), part.form.times(y)[LAST], tolerance=1e-9)
    assert_close(part.values(), [part.form.value(part.full(r)) for r in range(len(part.Y))], tolerance=1e-9)
    assert_close(part.positive, (part.Y > 0) @ part.weight)


@both_kinds
@every_intercept
def test_flips_and_swaps_over_a_long_walk_change_the_form_as_the_formula_says(kind, intercept):
    part, rng = searched(kind, weight=uneven(), intercept=intercept), np.random.default_rng(7)
    for step in range(300):
        r = step % len(part.Y)
        y, alpha, before = part.Y[r].copy(), part.alpha(r).copy(), part.form.value(part.full(r))
        if step % 3:
            j = rng.integers(len(LAST))
            delta = -2.0 * y[j] * alpha[j] + 2.0 * part.diagonal[j]
            part._relabel_one(r, j)
        else:
            i, j = rng.choice(np.flatnonzero(y > 0)), rng.choice(np.flatnonzero(y < 0))
            S = part.form.block(LAST[[i, j]])
            delta = sum(-2.0 * y[k] * alpha[k] + 2.0 * part.diagonal[k] for k in (i, j)) + 4.0 * y[i] * y[j] * S[0, 1]
            part.positive[r] += part.weight[j] - part.weight[i]
            part._relabel(r, np.array([i, j]), np.array([-1.0, 1.0]))
        assert part.form.value(part.full(r)) - before == pytest.approx(delta, abs=1e-9)
    assert_up_to_date(part)
    kept = part.alpha(0).copy()
    part.refresh()
    assert_close(kept, part.alpha(0))
    if kind == "low rank":
        assert_close(part.P, [part.form.Q.T @ (part.form.root * part.full(r)) for r in range(len(part.Y))])


@both_kinds
def test_rows_that_keep_their_label_are_relabeled_without_effect(kind):
    part = searched(kind)
    alpha, rows = part.alpha(1).copy(), np.arange(5)
    part._relabel(1, rows, part.Y[1, rows].copy())
    np.testing.assert_array_equal(part.alpha(1), alpha)
    assert 0 < (part.Y[1, rows] > 0).sum() < 5
    part._relabel(1, rows, np.ones(5))
    assert_close(part.alpha(1), part.form.times(part.full(1))[LAST])


@both_kinds
@every_intercept
def test_no_flip_improves_labelings_at_rest(kind, intercept):
    part = searched(kind, intercept=intercept)
    before = part.values()
    assert max(flip_gains(part, r).max() for r in range(6)) > 0.1
    assert to_rest(part) > 0
    assert (part.values() < before).all()
    assert_up_to_date(part)
    for r in range(6):
        assert flip_gains(part, r).max() <= 1e-9
        assert part.flip_left(r) == 0.0
    assert (part.idle >= len(LAST)).all()


@both_kinds
def test_what_a_flip_would_gain_is_the_best_of_all(kind):
    part = searched(kind, half_positive(), 15.0, 16.0)
    for r in range(6):
        assert part.flip_left(r) == pytest.approx(flip_gains(part, r)[may_flip(part, r)].max(), abs=1e-9)
        np.testing.assert_array_equal(part.allowed(r), part.Y[r] < 0)


@both_kinds
@pytest.mark.parametrize("weights", ["unit", "uneven"])
@pytest.mark.parametrize("move", ["sweep", "descend", "swap"])
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["low", "high"])
def test_the_weight_of_positive_rows_stays_within_its_limits(kind, weights, move, sign):
    weight = np.ones(len(LAST)) if weights == "unit" else uneven()
    low, high = 0.4 * weight.sum(), 0.6 * weight.sum()
    free = searched(kind, half_positive(), weight=weight, sign=sign)
    to_rest(free)
    assert (free.positive < low if sign > 0 else free.positive > high).any()  # where a search without limits goes
    part = searched(kind, half_positive(), low, high, weight, sign=sign)
    before = part.values()
    if move == "sweep":
        assert to_rest(part) > 0
    else:
        assert all(getattr(part, move)(r) > 0 for r in range(6))
    assert (part.values() < before).all()
    assert_up_to_date(part)
    inside = (part.Y > 0) @ weight
    assert (inside >= low - 1e-9).all()
    assert (inside <= high + 1e-9).all()
    if move != "swap":
        assert max(flip_gains(part, r)[may_flip(part, r)].max(initial=0.0) for r in range(6)) <= 1e-9
    assert max(flip_gains(part, r).max() for r in range(6)) > 0.01  # some flip is barred


@both_kinds
def test_labelings_side_by_side_end_as_each_alone(kind):
    Y = half_positive(7)
    together = searched(kind, Y.copy(), 12.0, 18.0)
    to_rest(together)
    for r in range(7):
        alone = searched(kind, Y[r : r + 1].copy(), 12.0, 18.0)
        to_rest(alone)
        np.testing.assert_array_equal(alone.Y[0], together.Y[r])
        assert_close(alone.alpha(0), together.alpha(r), tolerance=1e-12)
    assert len(np.unique(together.Y, axis=0)) > 1


@pytest.mark.parametrize("move", ["sweep", "descend", "swap"])
def test_both_kinds_of_form_are_searched_alike(move):
    both = [searched(kind, half_positive(), 12.0, 18.0, uneven()) for kind in ("dense", "low rank")]
    both[1].positive[:] = both[0].positive
    made = [to_rest(part) if move == "sweep" else [getattr(part, move)(r) for r in range(6)] for part in both]
    assert np.sum(made[0]) > 0
    assert made[0] == made[1]
    np.testing.assert_array_equal(both[0].Y, both[1].Y)
    assert_close(both[0].values(), both[1].values())
    assert_close(both[0].positive, both[1].positive)


@both_kinds
def test_labelings_at_rest_are_left_alone(kind):
    part = searched(kind)
    part.idle[2] = len(LAST)
    before = part.Y.copy()
    to_rest(part)
    np.testing.assert_array_equal(part.Y[2], before[2])
    assert (before != part.Y).any(axis=1).sum() == 5
    part.idle[2] = 0
    assert to_rest(part) > 0
    assert flip_gains(part, 2).max() <= 1e-9


@both_kinds
def test_a_descent_takes_the_best_allowed_flip_each_time(kind):
    part = searched(kind, half_positive(), 13.0, 17.0)
    for r in range(6):
        y, taken = part.Y[r].copy(), 0
        while True:
            inside = np.array([13 <= np.sum(flipped(y, j) > 0) <= 17 for j in range(len(LAST))])
            full = np.r_[part.fixed[:FEW], y]
            before = part.form.value(full)
            gains = np.array([before - part.form.value(flipped(full, j)) for j in LAST])
            if gains[inside].max() <= 1e-9:
                break
            y = flipped(y, np.where(inside, gains, -np.inf).argmax())
            taken += 1
        assert taken > 3
        assert part.descend(r) == taken
        np.testing.assert_array_equal(part.Y[r], y)
    assert_up_to_date(part)


@both_kinds
@pytest.mark.parametrize("weights", ["unit", "uneven"])
def test_no_swap_improves_after_swapping(kind, weights):
    weight = np.ones(len(LAST)) if weights == "unit" else uneven()
    middle, slack = (15.0, 0.0) if weights == "unit" else (0.5 * weight.sum(), 2.5)
    part = searched(kind, half_positive(), middle - slack, middle + slack, weight)
    for r in range(6):
        if not part.low <= part.positive[r] <= part.high:
            continue
        before, best = part.values()[r], swap_gains(part, r).max()
        assert best > 0.1
        if kind == "dense":
            assert part.swap_left(r) == pytest.approx(best, abs=1e-9)
        made = part.swap(r)
        assert made > 0
        assert part.values()[r] < before - 0.1
        assert swap_gains(part, r).max() <= 1e-9
        assert part.swap_left(r) == 0.0
        assert part.swap(r) == 0
    assert_up_to_date(part)
    if weights == "unit":
        np.testing.assert_array_equal((part.Y > 0).sum(axis=1), 15)


def test_every_pair_is_looked_at_where_few_are_promising(monkeypatch):
    module = importlib.import_module("semisvm.linalg.labelings")
    monkeypatch.setattr(module, "CANDIDATES", 2)
    weight = uneven()
    band = 0.4 * weight.sum(), 0.6 * weight.sum(), weight
    part, greedy = (searched("dense", half_positive(), *band) for _ in range(2))
    for r in range(6):
        part.swap(r)
        assert swap_gains(part, r).max() <= 1e-9
    assert_up_to_date(part)
    monkeypatch.setattr(module, "PAIRS", 0)
    left = []
    for r in range(6):
        greedy.swap(r)
        left.append(swap_gains(greedy, r).max())
        assert greedy.swap_left(r) == 0.0
    assert max(left) > 0.01  # the promising two of each class are not enough
    assert_up_to_date(greedy)


@both_kinds
def test_labelings_that_differ_by_rounding_alone_do_not_flip_for_ever(kind):
    turned = np.linalg.qr(features(N, N))[0]  # K = I: without an intercept all labelings cost the same
    form = make(kind, turned, np.full(N, 3.0), False)
    part = labelings(form, np.zeros(N), np.arange(N), labels(6, N), np.ones(N), -np.inf, np.inf)
    assert to_rest(part) == 0
    assert all(part.descend(r) == part.swap(r) == part.flip_left(r) == part.swap_left(r) == 0 for r in range(6))


def test_the_promising_rows_of_a_class_are_those_of_smallest_gain(monkeypatch):
    module = importlib.import_module("semisvm.linalg.labelings")
    monkeypatch.setattr(module, "CANDIDATES", 3)
    gain = np.array([5.0, -1.0, 4.0, -3.0, 0.0, -2.0, 9.0])
    np.testing.assert_array_equal(module._smallest(gain, np.array([0, 1, 2, 3, 4, 6])), [1, 3, 4])
    np.testing.assert_array_equal(module._smallest(gain, np.array([6, 0])), [6, 0])


def loop_arguments(limit):
    """Arguments of every compiled loop, made anew: they are changed in place."""
    whole, low = (searched(kind, half_positive(), 13.0, 17.0) for kind in ("dense", "low rank"))
    order, weight, idle = np.random.default_rng(8).permutation(len(LAST)), whole.weight, whole.idle
    one, band = (whole.Y[0], whole.A[0]), (weight, whole.positive[0], 13.0, 17.0)
    many = weight, whole.positive, 13.0, 17.0, idle
    few, made = order[:9], np.zeros((len(whole.Y), 9))
    return {
        flips.sweep_block: (whole.S[np.ix_(few, few)], few, whole.Y, whole.A[:, few], *many, made),
        flips.add_changes: (whole.S[few], labels(len(whole.Y), 9) + 1.0, whole.A),
        flips.sweep_rows: (whole.S, order, whole.Y, whole.A, *many),
        flips.enumerate_labels: (whole.S[:7, :7].copy(), whole.Y[0, :7], whole.A[0, :7], weight[:7], 3.0, 2.0, 5.0),
        flips.sweep_low_rank: (low.form.Q, LAST, low.root, low.diagonal, order, low.Y, low.P, *many),
        flips.descend_dense: (whole.S, *one, *band, limit),
        flips.swap_candidates: (whole.S, *one, whole.diagonal, *band, limit),
        flips.best_swap_dense: (whole.S, *one, *band),
    }


@pytest.mark.parametrize("limit", [2, 1000])
@pytest.mark.parametrize(
    "name",
    [
        "sweep_rows",
        "sweep_block",
        "add_changes",
        "enumerate_labels",
        "sweep_low_rank",
        "descend_dense",
        "swap_candidates",
        "best_swap_dense",
    ],
)
def test_compiled_loops_do_what_they_say_in_python(name, limit):
    loop = getattr(flips, name)
    before, fast, slow = (loop_arguments(limit)[loop] for _ in range(3))
    told = loop(*fast)
    plain = loop.py_func(*slow)
    if told is not None:
        assert_close(told, plain, tolerance=1e-12)
    for one, other in zip(fast, slow):
        assert_close(one, other, tolerance=1e-12)
    if name in ("descend_dense", "swap_candidates"):
        assert told[0] == 2 if limit == 2 else told[0] > 2
    changed = any(not np.array_equal(one, other) for one, other in zip(before, fast))
    assert changed is (name != "best_swap_dense")


@pytest.mark.parametrize(("block", "many"), [(3, 0), (3, 1e9), (64, 0), (64, 1e9)])
def test_a_sweep_is_the_same_in_blocks_of_any_size_and_with_either_update(block, many, monkeypatch):
    module = importlib.import_module("semisvm.linalg.labelings")
    order = np.random.default_rng(8).permutation(len(LAST))
    expected = searched("dense", half_positive(), 13.0, 17.0)
    monkeypatch.setattr(module, "BLOCK", 1)
    monkeypatch.setattr(module, "FEW", 1000)  # row by row
    while expected.sweep(order):
        pass
    monkeypatch.setattr(module, "FEW", 0)
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "MANY", many)
    part = searched("dense", half_positive(), 13.0, 17.0)
    while part.sweep(order):
        pass
    np.testing.assert_array_equal(part.Y, expected.Y)
    np.testing.assert_array_equal(part.positive, expected.positive)
    assert_up_to_date(part)


def test_all_labels_are_tried():
    S = features(6, 6)
    S = S @ S.T
    weight = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    for low, high in ((-np.inf, np.inf), (3.0, 5.0)):
        for y in labels(5, 6):
            positive = weight @ (y > 0)
            tried = [np.array(other) for other in itertools.product((-1.0, 1.0), repeat=6)]
            fit = [other for other in tried if low <= weight @ (other > 0) <= high]
            found = flips.enumerate_labels(S, y.copy(), S @ y, weight, positive, low, high)
            best = min([*fit, y], key=lambda other: other @ S @ other)
            assert found @ S @ found == pytest.approx(best @ S @ best)


def test_tiles_are_mirrored_in_python_too():
    lower = np.tril(features(130, 130))
    compiled, plain = lower.copy(), lower.copy()
    dense._mirror(compiled)
    dense._mirror.py_func(plain)
    np.testing.assert_array_equal(compiled, np.tril(lower, -1).T + lower)
    np.testing.assert_array_equal(plain, compiled)


# ---- inverses that grow and shrink ----


with_or_without_border = pytest.mark.parametrize("with_border", [False, True], ids=["plain", "bordered"])


def growable(n, with_border, rank=5, seed=0):
    """A matrix to grow into, its border first."""
    A = bordered(features(n, rank, seed) @ features(n, rank, seed).T, costs(n), with_border)
    order = np.r_[n, :n] if with_border else np.arange(n)
    return A[np.ix_(order, order)]


def add_block(growing, A, size):
    here, end = growing.size, growing.size + size
    return growing.add(A[:here, here:end], A[here:end, here:end])


@with_or_without_border
def test_an_inverse_follows_hundreds_of_rows_that_come(with_border):
    rng, A = np.random.default_rng(9), growable(650, with_border)
    growing, added = Growing(len(A)), 0
    add_block(growing, A, 3)  # the border is no matrix of its own
    while growing.size < len(A):
        add_block(growing, A, min(int(rng.integers(1, 4)), len(A) - growing.size))
        added += 1
        if added % 100 == 0:
            assert_close(growing.inverse, np.linalg.inv(A[: growing.size, : growing.size]), tolerance=1e-9)
    assert added > 300
    assert growing.size == len(A)
    assert_close(growing.inverse, np.linalg.inv(A), tolerance=1e-9)
    assert_close(growing.inverse @ A, np.eye(len(A)), tolerance=1e-9)


@with_or_without_border
def test_an_inverse_follows_rows_that_go(with_border):
    rng, A = np.random.default_rng(9), growable(80, with_border)
    inside, inverse = np.arange(len(A)), np.linalg.inv(A)
    while len(inside) > 10:
        gone = 1 + rng.permutation(len(inside) - 1)[: rng.integers(1, 5)]  # a border is never let go
        inverse, inside = shrink(inverse, gone), np.delete(inside, gone)
        assert_close(inverse, np.linalg.inv(A[np.ix_(inside, inside)]), tolerance=1e-9)


def backwards(task, items):
    for item in reversed(items):
        task(item)


@with_or_without_border
@pytest.mark.parametrize("tile", [1, 7, 8, 1000])
@pytest.mark.parametrize("waiting", [1, 5])
@pytest.mark.parametrize("spread", [None, backwards, in_threads])
def test_blocks_of_any_size_cross_the_tiles_and_those_that_wait(with_border, tile, waiting, spread, monkeypatch):
    monkeypatch.setattr(growth, "TILE", tile)
    monkeypatch.setattr(growth, "WAITING", waiting)
    sizes = [3, 1, 1, 9, 5, 2, 3, 6, 1, 4, 4, 7, 1, 8, 1, 5, 5, 1]
    A = growable(sum(sizes) - with_border, with_border)
    growing, right = Growing(len(A), spread), np.random.default_rng(3).standard_normal((len(A), 4))
    for number, size in enumerate(sizes):
        add_block(growing, A, size)
        here = growing.size
        expected = np.linalg.inv(A[:here, :here])
        assert_close(growing.times(right[:here]), expected @ right[:here], tolerance=1e-9)
        assert_close(growing.diagonal(), expected.diagonal(), tolerance=1e-9)
        if number % 4 == 3:  # which puts in what waits
            assert_close(growing.inverse, expected, tolerance=1e-9)
            assert_close(growing.times(right[:here]), expected @ right[:here], tolerance=1e-9)
            assert_close(growing.diagonal(), expected.diagonal(), tolerance=1e-9)


@with_or_without_border
def test_products_and_the_diagonal_are_right_before_anything_is_settled(with_border):
    A, right = growable(40, with_border), labels(41, 3)
    growing = Growing(60)
    for size in (4, 1, 20, 7):
        add_block(growing, A, size)
        right_here = right[: growing.size]
        expected = np.linalg.inv(A[: growing.size, : growing.size])
        assert_close(growing.times(right_here), expected @ right_here, tolerance=1e-10)
        assert_close(growing.diagonal(), expected.diagonal(), tolerance=1e-10)
        assert not growing._buffer[4:].any()
    settled = growing.inverse
    assert growing._buffer[4 : growing.size, 0].all()
    assert_close(settled, expected, tolerance=1e-10)
    assert_close(growing.times(right_here), settled @ right_here, tolerance=1e-12)
    assert_close(growing.diagonal(), settled.diagonal(), tolerance=1e-12)


def test_a_block_larger_than_all_that_may_wait():
    A = growable(300, False)
    growing, spread = Growing(300, lambda task, items: spread.append(items) or backwards(task, items)), []
    for size in (5, growth.WAITING + 1, 2, growth.WAITING, 300 - 2 * growth.WAITING - 8):
        add_block(growing, A, size)
        expected = np.linalg.inv(A[: growing.size, : growing.size])
        assert_close(growing.times(np.eye(growing.size)), expected, tolerance=1e-10)
        assert_close(growing.diagonal(), expected.diagonal(), tolerance=1e-10)
    assert growing.size == 300
    assert_close(growing.inverse, expected, tolerance=1e-10)
    assert spread[-1][-1].stop == 300


@with_or_without_border
def test_solutions_follow_a_growth(with_border):
    A, right = growable(60, with_border), labels(61, 3)
    growing = Growing(len(A))
    x = np.zeros((0, 3))
    for size in (3, 1, 10, 4, 30):
        here, end = growing.size, growing.size + size
        B, D = A[:here, here:end], A[here:end, here:end]
        before = np.linalg.inv(A[:here, :here])
        V, T = growing.add(B, D)
        assert_close(V, before @ B)
        assert_close(T, np.linalg.inv(D - B.T @ before @ B))
        np.testing.assert_array_equal(T, T.T)
        d = T @ (right[here:end] - B.T @ x)
        x = np.vstack([x - V @ d, d])
        assert_close(x, np.linalg.solve(A[:end, :end], right[:end]))


@pytest.mark.parametrize("settled", [False, True])
def test_a_cleared_inverse_grows_again(settled):
    first, second = growable(50, False), growable(45, False, rank=3, seed=4)
    growing = Growing(50)
    for size in (20, 10, 20):
        add_block(growing, first, size)
    assert not settled or growing.inverse.any()
    growing.clear()
    assert growing.size == 0
    assert growing.inverse.shape == (0, 0)
    for size in (2, 30, 5, 8):
        add_block(growing, second, size)
        expected = np.linalg.inv(second[: growing.size, : growing.size])
        assert_close(growing.times(np.eye(growing.size)), expected)
        assert_close(growing.diagonal(), expected.diagonal())
    assert_close(growing.inverse, np.linalg.inv(second))


def test_an_inverse_grows_from_nothing_and_is_left_as_it_was():
    A = growable(6, False)
    growing = Growing(6)
    add_block(growing, A, 2)
    first = growing.inverse
    kept = first.copy()
    add_block(growing, A, 4)
    grown = growing.inverse
    assert_close(grown, np.linalg.inv(A))
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(grown, grown.T)
    whole = grown.copy()
    assert_close(shrink(grown, np.array([4, 2, 3, 5])), first)
    np.testing.assert_array_equal(grown, whole)
    grown[:] = 0.0
    assert_close(growing.inverse, whole)


# ---- box QPs ----


def random_qp(seed):
    """Ranks from 0 to full, linear parts of many sizes, boxes from a hair to wide, starts inside and at corners."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 25))
    B = rng.standard_normal((m, m + 3 if seed % 2 else rng.integers(0, m + 1)))
    P, q = B @ B.T, 10.0 ** rng.integers(-2, 3) * rng.standard_normal(m)
    low, high = [(-1.0, 1.0), (0.3, 0.3 + 10.0 ** rng.integers(-4, 2)), (-1e-3, 50.0)][seed % 3]
    x = rng.uniform(low, high, m) if rng.random() < 0.5 else rng.choice([low, high], m)
    return P, q, x, low, high


def value_of(P, q, x):
    return 0.5 * x @ P @ x + q @ x


@pytest.mark.parametrize("definite", [True, False], ids=["definite", "singular"])
def test_a_box_qp_is_solved_as_an_interior_point_method_does(definite):
    for seed in range(1 if definite else 0, 120, 2):
        P, q, x, low, high = random_qp(seed)
        given, eye = (P.copy(), q.copy(), x.copy()), np.eye(len(q))
        expected = minimise_qp(P, q, below=(np.vstack([eye, -eye]), np.r_[[high] * len(q), [-low] * len(q)]))[1]
        found = box_qp(P, q, x, low, high)
        assert ((found >= low) & (found <= high)).all()
        scale = max(1.0, abs(expected), np.abs(P).max(), np.abs(q).max())
        assert value_of(P, q, found) <= expected + 1e-7 * scale, f"seed {seed}"
        assert lower_bound(value_of(P, q, found), P @ found + q, found, low, high) == pytest.approx(
            value_of(P, q, found), abs=1e-9 * scale
        ), f"seed {seed}"
        for before, after in zip(given, (P, q, x)):
            np.testing.assert_array_equal(before, after)


def test_a_box_qp_without_curvature_ends_in_a_corner():
    np.testing.assert_array_equal(box_qp(np.zeros((3, 3)), np.array([1.0, -2.0, 3.0]), np.zeros(3)), [-1.0, 1.0, -1.0])
    b = np.random.default_rng(0).standard_normal(150)
    P, q = np.outer(b, b), np.random.default_rng(1).standard_normal(150)
    x = box_qp(P, q, np.zeros(150))
    assert lower_bound(value_of(P, q, x), P @ x + q, x) == pytest.approx(value_of(P, q, x), abs=1e-8)


def test_a_box_qp_starts_inside_the_box_and_ends_at_once_at_the_optimum():
    P, q = np.diag([1.0, 2.0]), np.array([-0.5, -10.0])
    assert_close(box_qp(P, q, np.array([30.0, -30.0])), [0.5, 1.0])
    np.testing.assert_array_equal(box_qp(P, q, np.array([0.5, 1.0])), [0.5, 1.0])


def test_a_tangent_bounds_the_optimum_from_below():
    for seed in range(1, 60, 2):
        P, q, x, low, high = random_qp(seed)
        best = box_qp(P, q, x, low, high)
        optimum, rng = value_of(P, q, best), np.random.default_rng(seed)
        scale = max(1.0, abs(optimum), np.abs(P).max(), np.abs(q).max())
        for point in rng.uniform(low, high, (10, len(q))):
            assert lower_bound(value_of(P, q, point), P @ point + q, point, low, high) <= optimum + 1e-9 * scale
        assert lower_bound(optimum, P @ best + q, best, low, high) == pytest.approx(optimum, abs=1e-9 * scale)
