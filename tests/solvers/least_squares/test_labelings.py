"""Moves of labelings against loops that compute every objective from scratch."""

import itertools

import numpy as np
import pytest

from factories import INTERCEPTS, random_costs, random_labels, random_samples
from references import assert_close
from semisvm.solvers.least_squares import labelings as module
from semisvm.solvers.least_squares.dense_form import DenseForm
from semisvm.solvers.least_squares.labelings import DenseLabelings, LowRankLabelings
from semisvm.solvers.least_squares.low_rank_form import LowRankForm
from semisvm.spaces import DesignMatrix

N, N_LABELED, U = 40, 10, 30
SEARCHED = np.arange(N_LABELED, N)
UNLIMITED = (-np.inf, np.inf)
ONES, UNEVEN = np.ones(U), np.random.default_rng(5).uniform(0.5, 2.0, U)
LABELINGS = {"dense": DenseLabelings, "low rank": LowRankLabelings}
both_kinds = pytest.mark.parametrize("kind", list(LABELINGS))
equal_or_not = pytest.mark.parametrize("weights", [ONES, UNEVEN], ids=["equal", "uneven"])


def make_form(kind, Z, cost, intercept=True):
    return DenseForm(Z @ Z.T, cost, intercept) if kind == "dense" else LowRankForm(DesignMatrix(Z), cost, intercept)


def half_positive(n_labelings=6):
    Y = np.tile(np.repeat([-1.0, 1.0], U // 2), (n_labelings, 1))
    return np.random.default_rng(4).permuted(Y, axis=1)


def make_labelings(kind, Y=None, band=UNLIMITED, weights=ONES, intercept=True, sign=1.0):
    """Labelings of the last 30 of 40 samples; all labels times ``sign``."""
    fixed = np.r_[sign * random_labels(N_LABELED), np.zeros(U)]
    form = make_form(kind, random_samples(N), random_costs(N), intercept)
    Y = half_positive() if Y is None else Y
    return LABELINGS[kind](form, fixed, SEARCHED, sign * Y, weights, band)


def middle_band(weights, width=0.2):
    """Half of the weight, and by how much it may differ."""
    return (0.5 - 0.5 * width) * weights.sum(), (0.5 + 0.5 * width) * weights.sum()


def flipped(y, *samples):
    y = y.copy()
    y[list(samples)] *= -1.0
    return y


def gains_of(labelings, y, moves):
    """What flips or swaps of searched samples gain, by objectives computed from scratch; -inf outside of the band."""
    before, gains = labelings.form.value(y), []
    for move in moves:
        after = flipped(y, *SEARCHED[list(move)])
        positive = labelings.weights @ (after[SEARCHED] > 0)
        in_band = labelings.low <= positive <= labelings.high
        gains.append(before - labelings.form.value(after) if in_band else -np.inf)
    return np.array(gains)


FLIPS = [(j,) for j in range(U)]


def swaps_of(labelings, r):
    return list(itertools.product(np.flatnonzero(labelings.Y[r] > 0), np.flatnonzero(labelings.Y[r] < 0)))


def flip_gains(labelings, r):
    return gains_of(labelings, labelings.labels(r), FLIPS)


def swap_gains(labelings, r):
    return gains_of(labelings, labelings.labels(r), swaps_of(labelings, r))


def assert_consistent(labelings):
    """alpha, values and positive weights are those of the labels."""
    for r in range(len(labelings.Y)):
        y = labelings.labels(r)
        np.testing.assert_array_equal(y[:N_LABELED], labelings.fixed[:N_LABELED])
        np.testing.assert_array_equal(y[SEARCHED], labelings.Y[r])
        assert_close(labelings.alpha(r), labelings.form.product(y)[SEARCHED])
        assert labelings.values()[r] == pytest.approx(labelings.form.value(y), rel=1e-9)
    assert_close(labelings.positive, (labelings.Y > 0) @ labelings.weights)


def sweep_until_converged(labelings, order):
    total = 0
    for _ in range(1000):
        n_flips = labelings.sweep(order)
        total += n_flips
        if not n_flips:
            return total
    raise AssertionError("sweeps do not converge")


def naive_sweeps(labelings, r, order):
    """Labels after sweeps by objectives computed from scratch, until no flip has been accepted for a whole round."""
    y, n_rejected = labelings.labels(r), 0
    for j in itertools.cycle(order):
        gain = gains_of(labelings, y, [(j,)])[0]
        n_rejected = 0 if gain > 1e-9 else n_rejected + 1
        y = flipped(y, SEARCHED[j]) if gain > 1e-9 else y
        if n_rejected == U:
            return y[SEARCHED]


@both_kinds
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
def test_moves_change_the_objective_as_the_formula_says(kind, intercept):
    labelings = make_labelings(kind, random_labels((6, U)), weights=UNEVEN, intercept=intercept)
    rng = np.random.default_rng(7)
    for step in range(300):
        r = step % 6
        y, alpha, before = labelings.Y[r].copy(), labelings.alpha(r).copy(), labelings.form.value(labelings.labels(r))
        if step % 3:
            j = int(rng.integers(U))
            change = 2.0 * labelings.diagonal[j] - 2.0 * y[j] * alpha[j]
            labelings.flip(r, np.array([j]))
        else:
            i, j = rng.choice(np.flatnonzero(y > 0)), rng.choice(np.flatnonzero(y < 0))
            S = labelings.form.block(SEARCHED[[i, j]])
            change = sum(2.0 * labelings.diagonal[k] - 2.0 * y[k] * alpha[k] for k in (i, j))
            change += 4.0 * y[i] * y[j] * S[0, 1]
            labelings.flip(r, np.array([i, j]))
        assert labelings.form.value(labelings.labels(r)) - before == pytest.approx(change, abs=1e-9)
    assert_consistent(labelings)


@both_kinds
def test_refreshing_restores_what_is_lost(kind):
    labelings = make_labelings(kind)
    alpha, y = labelings.alpha(1).copy(), labelings.Y[1].copy()
    labelings.flip(1, np.zeros(0, dtype=int))
    np.testing.assert_array_equal(labelings.alpha(1), alpha)
    labelings.flip(1, np.arange(5))
    np.testing.assert_array_equal(labelings.Y[1], np.r_[-y[:5], y[5:]])
    assert_consistent(labelings)
    labelings.Y[0], labelings.Y[2] = -labelings.Y[0], -labelings.Y[2]
    stale = labelings.alpha(2).copy()
    labelings.refresh_one(0)
    assert_close(labelings.alpha(0), labelings.form.product(labelings.labels(0))[SEARCHED])
    np.testing.assert_array_equal(labelings.alpha(2), stale)
    labelings.refresh()
    assert_consistent(labelings)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["low", "high"])
@equal_or_not
@pytest.mark.parametrize("kind", ["dense", "blocks, few flips", "blocks, many flips", "low rank"])
def test_sweeps_are_a_loop_that_computes_every_objective(kind, weights, sign, monkeypatch):
    if "blocks" in kind:
        monkeypatch.setattr(module, "SAMPLE_BY_SAMPLE", 0)
        monkeypatch.setattr(module, "BLOCK_SIZE", 7)
        monkeypatch.setattr(module, "PRODUCT_FLIPS", 0 if "many" in kind else 1e9)
    kind, order = kind.split(",")[0].replace("blocks", "dense"), np.random.default_rng(6).permutation(U)
    for band in (UNLIMITED, middle_band(weights)):
        labelings = make_labelings(kind, band=band, weights=weights, sign=sign)
        expected = [naive_sweeps(labelings, r, order) for r in range(6)]
        before = labelings.values()
        assert sweep_until_converged(labelings, order) > 0
        np.testing.assert_array_equal(labelings.Y, expected)
        assert (labelings.values() < before).all()
        assert_consistent(labelings)
        assert (labelings.n_rejected >= U).all()
        assert max(labelings.flip_gain(r) for r in range(6)) == 0.0
        limits_matter = (labelings.positive < middle_band(weights)[0]) | (labelings.positive > middle_band(weights)[1])
        assert limits_matter.any() == (band is UNLIMITED)


@both_kinds
def test_converged_labelings_are_passed_over(kind):
    labelings, order = make_labelings(kind), np.arange(U)
    labelings.n_rejected[2] = U
    before = labelings.Y.copy()
    sweep_until_converged(labelings, order)
    assert (before != labelings.Y).any(axis=1).tolist() == [True, True, False, True, True, True]
    labelings.n_rejected[2] = 0
    assert sweep_until_converged(labelings, order) > 0
    assert flip_gains(labelings, 2).max() <= 1e-9


@both_kinds
@equal_or_not
def test_descent_takes_the_best_allowed_flip_each_time(kind, weights):
    labelings = make_labelings(kind, band=middle_band(weights), weights=weights)
    for r in range(6):
        y, n_flips = labelings.labels(r), 0
        gains = gains_of(labelings, y, FLIPS)
        assert labelings.flip_gain(r) == pytest.approx(gains.max(), abs=1e-9)
        np.testing.assert_array_equal(labelings.allowed(r), gains > -np.inf)
        while gains.max() > 1e-9:
            y, n_flips = flipped(y, SEARCHED[gains.argmax()]), n_flips + 1
            gains = gains_of(labelings, y, FLIPS)
        assert n_flips > 3
        assert labelings.descend(r) == n_flips
        np.testing.assert_array_equal(labelings.labels(r), y)
        assert labelings.flip_gain(r) == 0.0
    assert_consistent(labelings)


@both_kinds
@equal_or_not
def test_no_swap_gains_after_swapping_and_the_balance_stays(kind, weights):
    band = (15.0, 15.0) if weights is ONES else middle_band(weights)
    labelings = make_labelings(kind, band=band, weights=weights)
    for r in range(6):
        before, best = labelings.values()[r], swap_gains(labelings, r).max()
        assert best > 0.1
        assert labelings.swap_gain(r) == pytest.approx(best, abs=1e-9)
        assert labelings.swap(r) > 0
        assert labelings.values()[r] < before - 0.1
        assert swap_gains(labelings, r).max() <= 1e-9
        assert labelings.swap_gain(r) == labelings.swap(r) == 0
        assert band[0] <= weights @ (labelings.Y[r] > 0) <= band[1]
    assert_consistent(labelings)


def test_all_pairs_are_tried_where_candidates_are_few(monkeypatch):
    monkeypatch.setattr(module, "N_CANDIDATES", 2)
    complete, candidates_only = (make_labelings("dense", None, middle_band(UNEVEN), UNEVEN) for _ in range(2))
    for r in range(6):
        before = complete.Y[r].copy()
        assert 2 * complete.swap(r) >= np.count_nonzero(complete.Y[r] != before) > 0
        assert swap_gains(complete, r).max() <= 1e-9
    assert_consistent(complete)
    monkeypatch.setattr(module, "ALL_PAIRS", 0)
    remaining = []
    for r in range(6):
        candidates_only.swap(r)
        remaining.append(swap_gains(candidates_only, r).max())
        assert candidates_only.swap_gain(r) == 0.0
    assert max(remaining) > 0.01  # two candidates of each class are not enough
    assert_consistent(candidates_only)


def test_candidates_are_the_samples_of_smallest_change(monkeypatch):
    monkeypatch.setattr(module, "N_CANDIDATES", 3)
    change = np.array([5.0, -1.0, 4.0, -3.0, 0.0, -2.0, 9.0])
    np.testing.assert_array_equal(module._smallest(change, np.array([0, 1, 2, 3, 4, 6])), [1, 3, 4])
    np.testing.assert_array_equal(module._smallest(change, np.array([6, 0])), [6, 0])


@both_kinds
def test_labelings_that_differ_by_rounding_alone_do_not_change(kind):
    orthogonal = np.linalg.qr(random_samples(N, N))[0]  # K = I: without an intercept all labels cost the same
    form = make_form(kind, orthogonal, np.full(N, 3.0), False)
    args = np.zeros(N), np.arange(N), random_labels((6, N)), np.ones(N), UNLIMITED
    labelings = LABELINGS[kind](form, *args)
    assert sweep_until_converged(labelings, np.arange(N)) == 0
    for r in range(6):
        assert labelings.descend(r) == labelings.swap(r) == labelings.flip_largest_error(r) == 0
        assert labelings.flip_gain(r) == labelings.swap_gain(r) == 0


@both_kinds
def test_swaps_that_rounding_errors_undo_end(kind, monkeypatch):
    monkeypatch.setattr(module.flips, "steepest_swaps", lambda *_: 1)  # says so, and changes nothing
    assert make_labelings(kind, band=middle_band(ONES)).swap(0) == U


@both_kinds
def test_flips_that_rounding_errors_undo_end(kind, monkeypatch):
    labelings = make_labelings(kind)
    if kind == "dense":
        labelings.S = np.kron(np.eye(U // 2), [[0.0, 1.0], [-1.0, 0.0]])  # some flip always gains
        labelings.A[0] = labelings.Y[0] @ labelings.S
    monkeypatch.setattr(LowRankLabelings, "alpha", lambda labelings, r: 1e17 * labelings.Y[r])
    assert labelings.descend(0) == U


@both_kinds
def test_largest_error_needs_both_classes_where_the_balance_allows_a_swap_alone(kind):
    for sign in (1.0, -1.0):
        labelings = make_labelings(kind, np.full((1, U), sign), (U, U) if sign > 0 else (0, 0))
        assert labelings.flip_largest_error(0) == 0
        np.testing.assert_array_equal(labelings.Y, sign)


def test_largest_error_of_zero_is_no_error():
    labelings = make_labelings("dense", band=(15.0, 15.0))  # swaps alone
    y = labelings.Y[0]
    first, second = np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]
    labelings.A[0] = -y
    labelings.A[0, [first, second]] = 0.0, -100.0  # the swap would gain
    assert labelings.flip_largest_error(0) == 0
    labelings.A[0, first] = 1e-9
    assert labelings.flip_largest_error(0) == 1
