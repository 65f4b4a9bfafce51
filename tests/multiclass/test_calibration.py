"""The slope is the maximum of its likelihood, and held-out samples are held out."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from semisvm.model_selection.splits import folds_of_distinct_samples
from semisvm.multiclass import fit_slope

CLASSES = pytest.mark.parametrize("k", [2, 3, 5])


def columns(f):
    """Binary scores as ``fit_slope`` takes them."""
    return np.column_stack([-0.5 * f, 0.5 * f])


def simulated(k, slope, n=2000, seed=0):
    """Scores, and classes drawn with the probabilities of a softmax with this slope."""
    rng = np.random.default_rng(seed)
    scores = columns(rng.standard_normal(n)) if k == 2 else rng.standard_normal((n, k))
    p = np.exp(slope * scores)
    p /= p.sum(axis=1, keepdims=True)
    return scores, (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(max=k - 1), p


def likelihood(slope, scores, truth, weights):
    """As the module's docstring writes it, sample by sample."""
    k, e, total = scores.shape[1], 1.0 / (weights.sum() + 2.0), 0.0
    for row, true, w in zip(scores, truth, weights):
        log_p = slope * row - np.log(np.exp(slope * row).sum())
        others = sum(log_p[c] for c in range(k) if c != true)
        total += w * ((1.0 - e) * log_p[true] + e / (k - 1) * others)
    return total


@CLASSES
@pytest.mark.parametrize("slope", [0.2, 1.0, 6.0])
def test_no_other_slope_is_more_likely(k, slope):
    scores, truth, _ = simulated(k, slope, n=60)
    weights = np.random.default_rng(1).random(60) + 0.1
    found = fit_slope(scores, truth, weights)
    best = minimize_scalar(
        lambda s: -likelihood(s, scores, truth, weights), bounds=(1e-6, 40.0), method="bounded", options={"xatol": 1e-9}
    )
    assert found == pytest.approx(best.x, rel=1e-5)
    for other in np.r_[1e-6, np.linspace(0.01, 20.0, 50), found * 0.999, found * 1.001]:
        assert likelihood(found, scores, truth, weights) >= likelihood(other, scores, truth, weights)


@CLASSES
@pytest.mark.parametrize("slope", [0.3, 1.0, 4.0])
def test_the_slope_that_made_the_data_is_found(k, slope):
    scores, truth, p = simulated(k, slope)
    information = (p * scores**2).sum() - ((p * scores).sum(axis=1) ** 2).sum()
    # the softening pulls confident samples back by about e, so a little is allowed beside the sampling error
    assert abs(fit_slope(scores, truth, np.ones(len(truth))) - slope) < 3.5 / np.sqrt(information) + 0.01 * slope


@CLASSES
@pytest.mark.parametrize("n", [4, 40, 4000])
def test_scores_that_separate_everything_give_a_finite_slope(k, n):
    truth = np.arange(n) % k
    scores = np.eye(k)[truth] - 1.0 / k
    slope = fit_slope(scores, truth, np.ones(n))
    # all gaps are one, so the most likely slope makes the probability of the true class 1 - e
    e = 1.0 / (n + 2.0)
    assert slope == pytest.approx(np.log((1.0 - e) * (k - 1) / e), rel=1e-9)
    np.testing.assert_allclose(softmax(slope * scores, axis=1)[np.arange(n), truth], 1.0 - e)


@CLASSES
def test_useless_scores_give_a_slope_near_zero(k):
    scores, truth, p = simulated(k, 0.0)
    information = (p * scores**2).sum() - ((p * scores).sum(axis=1) ** 2).sum()
    assert 0.0 < fit_slope(scores, truth, np.ones(len(truth))) < 3.5 / np.sqrt(information)
    assert 0.0 < fit_slope(-np.eye(k)[truth], truth, np.ones(len(truth))) < 1e-5  # worse than useless


def test_scores_of_zero_give_a_slope_of_one():
    assert fit_slope(np.zeros((4, 3)), np.array([0, 1, 2, 0]), np.ones(4)) == 1.0


@CLASSES
def test_whole_weights_are_repeated_samples(k):
    scores, truth, _ = simulated(k, 1.5, n=50)
    times = np.arange(50) % 4
    repeated = np.repeat(np.arange(50), times)
    weighted = fit_slope(scores, truth, times.astype(float))
    assert weighted == pytest.approx(fit_slope(scores[repeated], truth[repeated], np.ones(len(repeated))), rel=1e-10)


@CLASSES
@pytest.mark.parametrize("factor", [1e-8, 0.01, 7.0, 1e8])
def test_larger_scores_have_a_smaller_slope(k, factor):
    scores, truth, _ = simulated(k, 1.0, n=100)
    slope = fit_slope(scores, truth, np.ones(100))
    assert fit_slope(factor * scores, truth, np.ones(100)) == pytest.approx(slope / factor, rel=1e-9)


# ---------------------------------------------------------------- folds


def table(n=60, seed=0):
    """Rows with zeros in them, and the codes of three classes and of none."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 4)) < 0.5, 0.0, rng.standard_normal((n, 4)))
    X[:, 0] = rng.standard_normal(n)
    return X, rng.integers(-1, 3, n)


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("n_splits", [1, 2, 5])
def test_folds_are_dealt_evenly_within_each_class(make, n_splits):
    X, codes = table()
    folds = folds_of_distinct_samples(make(X), codes, n_splits)
    assert (folds[codes < 0] == -1).all()
    for code in range(3):
        counts = np.bincount(folds[codes == code], minlength=n_splits)
        assert len(counts) == n_splits
        assert counts.max() - counts.min() <= 1


def test_equal_samples_share_a_fold():
    X, codes = table()
    twice, again = np.r_[X, X, X[:7]], np.r_[codes, codes, codes[:7]]
    folds = folds_of_distinct_samples(twice, again, 5)
    np.testing.assert_array_equal(folds, np.r_[folds[:60], folds[:60], folds[:7]])
    np.testing.assert_array_equal(folds[:60], folds_of_distinct_samples(X, codes, 5))  # repeats change nothing
    signed = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [2.0, -0.0]])
    folds = folds_of_distinct_samples(signed, np.zeros(4, dtype=int), 2)
    assert folds[0] == folds[1] != folds[2] == folds[3]


def test_equal_samples_share_a_fold_even_where_their_labels_differ():
    X, _ = table(20)
    codes = np.arange(20) % 2
    folds = folds_of_distinct_samples(np.r_[X, X[::2]], np.r_[codes, 1 - codes[::2]], 5)
    np.testing.assert_array_equal(folds[20:], folds[:20:2])


def test_samples_with_zeros_written_out_are_equal_samples():
    values, where = np.array([1.0, 1.0, 0.0, 2.0, 2.0, -0.0]), np.array([0, 0, 1, 1, 1, 0])
    X = sparse.csr_array((values, where, np.array([0, 1, 3, 4, 6])), shape=(4, 2))
    X.sort_indices()
    folds = folds_of_distinct_samples(X, np.zeros(4, dtype=int), 2)
    assert folds[0] == folds[1] != folds[2] == folds[3]


def test_order_of_samples_does_not_matter():
    X, codes = table()
    order = np.random.default_rng(3).permutation(60)
    np.testing.assert_array_equal(
        folds_of_distinct_samples(X[order], codes[order], 4), folds_of_distinct_samples(X, codes, 4)[order]
    )


def test_sparse_samples_have_the_folds_of_dense_ones():
    X, codes = table()
    dense = folds_of_distinct_samples(X, codes, 5)
    for make in (sparse.csr_array, sparse.csr_matrix):
        np.testing.assert_array_equal(folds_of_distinct_samples(make(X), codes, 5), dense)


def test_samples_without_a_label_do_not_matter():
    X, codes = table()
    known = codes >= 0
    np.testing.assert_array_equal(
        folds_of_distinct_samples(X[known], codes[known], 5), folds_of_distinct_samples(X, codes, 5)[known]
    )
