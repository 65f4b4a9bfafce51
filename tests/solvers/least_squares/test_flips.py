"""Compiled loops over labels against objectives computed from scratch, enumeration, and the same loops in Python."""

import itertools

import numba
import numpy as np
import pytest

from factories import random_costs, random_labels, random_samples
from references import assert_close, label_form, labeling_values
from semisvm.solvers.least_squares import flips
from semisvm.solvers.least_squares.low_rank_form import LowRankForm
from semisvm.spaces import DesignMatrix

N, N_LABELED = 40, 10
SEARCHED = np.arange(N_LABELED, N)
BAND = (13.0, 17.0)
LOOPS = [
    "sweep",
    "sweep_block",
    "add_changes",
    "sweep_low_rank",
    "sweep_rows",
    "steepest_flips",
    "steepest_swaps",
    "best_swap",
    "enumerate_labels",
]


def form_and_labelings():
    """S of all samples, labels of the labeled ones, and six labelings of the others of which half are positive."""
    Z = random_samples(N)
    Y = np.random.default_rng(4).permuted(np.tile(np.repeat([-1.0, 1.0], 15), (6, 1)), axis=1)
    return label_form(Z @ Z.T, random_costs(N)), random_labels(N_LABELED), Y


def arguments_of(loop):
    """Arguments of a loop, made anew: they are changed in place."""
    S, y, Y = form_and_labelings()
    A = Y @ S[N_LABELED:, N_LABELED:] + S[N_LABELED:, :N_LABELED] @ y
    S = np.ascontiguousarray(S[N_LABELED:, N_LABELED:])
    order, weights = np.random.default_rng(8).permutation(len(S)), np.ones(len(S))
    few, rejected, positive = order[:9], np.zeros(len(Y), dtype=np.int64), (Y > 0) @ weights
    form = LowRankForm(DesignMatrix(random_samples(N)), random_costs(N))
    sqrt_cost, Q = form.sqrt_cost[SEARCHED], form.compute_Q()
    P = (form.sqrt_cost * np.c_[np.tile(y, (len(Y), 1)), Y]) @ Q
    all_labelings, first = (weights, positive, *BAND, rejected), (weights, positive[0], *BAND)
    Z = np.c_[random_samples(N), np.ones(N)]
    cost, inverse, B = form.cost, form.inverse, (form.cost * np.c_[np.tile(y, (len(Y), 1)), Y]) @ Z
    step_of = np.where(np.arange(len(S)) % 3 == 0, np.arange(len(S)), -1)
    labels = np.ascontiguousarray(Y.T.astype(np.int8))
    searched = Z[SEARCHED], order, form.leverages[SEARCHED], cost[SEARCHED], inverse, Z[SEARCHED] @ inverse, step_of
    few_alone = np.ascontiguousarray(A[:, few])
    return {
        "sweep": (S, order, Y, A, *all_labelings),
        "sweep_block": (S[np.ix_(few, few)], few, Y, few_alone, *all_labelings, np.zeros((len(Y), len(few)))),
        "add_changes": (S[few], random_labels((len(Y), len(few))) + 1.0, A),
        "sweep_low_rank": (Q, SEARCHED, sqrt_cost, S.diagonal().copy(), order, Y, P, *all_labelings),
        "sweep_rows": (*searched, labels, B @ inverse, B, *all_labelings, len(order)),
        "steepest_flips": (S, Y[0], A[0], *first),
        "steepest_swaps": (S, Y[0], A[0], *first),
        "best_swap": (S, Y[0], A[0], *first),
        "enumerate_labels": (S[:7, :7].copy(), Y[0, :7], A[0, :7], weights[:7], 2.0, 2.0, 5.0),
    }[loop]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("loop", LOOPS)
def test_compiled_loops_do_the_same_in_python(loop):
    function = getattr(flips, loop)
    before, compiled, in_python = (arguments_of(loop) for _ in range(3))
    found, expected = function(*compiled), function.py_func(*in_python)
    if found is not None:
        assert_close(found, expected, 1e-12)
    for one, other in zip(compiled, in_python):
        assert_close(one, other, 1e-12)
    changed = any(not np.array_equal(old, new) for old, new in zip(before, compiled))
    assert changed is (loop != "best_swap")


def test_sweep_by_features_makes_the_flips_of_the_form_and_keeps_its_sums():
    by_entries, by_rows = arguments_of("sweep_low_rank"), arguments_of("sweep_rows")
    assert flips.sweep_rows(*by_rows) == flips.sweep_low_rank(*by_entries) > 10
    Y, (labels, W, B) = by_entries[5], by_rows[7:10]
    np.testing.assert_array_equal(labels.T, Y)
    before, Z = arguments_of("sweep_rows"), by_rows[0]
    assert_close(B, before[9] + (by_rows[3] * (Y - before[7].T)) @ Z)
    assert_close(W, B @ by_rows[4])


@pytest.mark.parametrize("loop", ["steepest_flips", "steepest_swaps"])
def test_moves_update_alpha_and_keep_the_balance(loop):
    S, y, alpha, *balance = arguments_of(loop)
    start, found = y.copy(), getattr(flips, loop)(S, y, alpha, *balance)
    positive = (y > 0).sum()
    assert found > 2 if loop == "steepest_swaps" else found[0] > 2
    assert positive == ((start > 0).sum() if loop == "steepest_swaps" else found[1])
    assert BAND[0] <= positive <= BAND[1]
    assert_close(alpha, arguments_of(loop)[2] + S @ (y - start))


def test_moves_end_where_alpha_loses_what_they_change():
    one_pair = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0]), np.full(2, 1e17)
    assert flips.steepest_swaps(*one_pair, np.ones(2), 1.0, 1.0, 1.0) == 2
    S, y = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones(2)  # some flip always gains
    assert flips.steepest_flips(S, y, y @ S, np.ones(2), 2.0, -np.inf, np.inf)[0] == 2


def test_best_swap_is_the_best_of_all_pairs():
    S, labeled, Y = form_and_labelings()
    full = np.r_[labeled, Y[0]]
    pairs = list(itertools.product(np.flatnonzero(Y[0] > 0), np.flatnonzero(Y[0] < 0)))
    swapped = np.tile(full, (len(pairs), 1))
    for row, pair in zip(swapped, pairs):
        row[N_LABELED + np.array(pair)] *= -1.0
    changes = labeling_values(S, swapped) - labeling_values(S, full[None])
    change, *pair = flips.best_swap(*arguments_of("best_swap"))
    assert change == pytest.approx(changes.min(), abs=1e-10)
    assert tuple(pair) == pairs[changes.argmin()]


@pytest.mark.parametrize("band", [(-np.inf, np.inf), (3.0, 5.0)], ids=["free", "band"])
def test_enumeration_finds_the_best_of_all_labels(band):
    S = random_samples(6, 6) @ random_samples(6, 6).T
    weights = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    Y = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
    positive = (Y > 0) @ weights
    smallest = labeling_values(S, Y[(band[0] <= positive) & (positive <= band[1])]).min()
    for y in random_labels((5, 6)):
        found = flips.enumerate_labels(S, y.copy(), S @ y, weights, weights @ (y > 0), *band)
        expected = min(smallest, 0.5 * y @ S @ y)  # the start is kept unless there is a better one
        assert 0.5 * found @ S @ found == pytest.approx(expected)


def test_enumeration_keeps_the_start_where_no_labels_are_better():
    y = random_labels(5)
    found = flips.enumerate_labels(np.eye(5), y.copy(), y.copy(), np.ones(5), float((y > 0).sum()), -np.inf, np.inf)
    np.testing.assert_array_equal(found, y)
