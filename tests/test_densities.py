"""Densities of classes: against direct sums, scikit-learn's estimators fitted by hand, and scipy's distributions."""

import re
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.spatial.distance import cdist
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KernelDensity

from semisvm import scale
from semisvm.densities import OfClassifier, Parzen, PerClass, mixture, naive_bayes, own
from semisvm.kernels import Kernel
from semisvm.spaces import Gram

N, K = 60, 3
EVERYONE = np.arange(N)

weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])


def table(n=N, columns=2, seed=0):
    """Rows of three classes, and a few of them without a class."""
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, 2, 0, 1, 2, rng.integers(0, K, n - 6)]
    return rng.standard_normal((n, columns)) * np.r_[1.0, 2.0, np.ones(columns)][:columns] + codes[:, None], codes


def weights(weighted, n=N):
    return np.random.default_rng(1).uniform(0.2, 3.0, n) if weighted else np.ones(n)


def parts(order, sizes=(9, 1, 5, 1, 12)):
    return np.split(order, np.cumsum(sizes))


def summed(X, codes, weight, rows, gamma):
    """Log of the weighted mean window of each class, row by row."""
    rows, out = np.asarray(rows), np.empty((len(X), K))
    for i, c in np.ndindex(out.shape):
        here = rows[codes[rows] == c]
        windows = np.exp(-gamma * ((X[here] - X[i]) ** 2).sum(axis=1))
        out[i, c] = np.log((weight[here] * windows).sum() / weight[here].sum())
    return out


# ---- windows ----


@weighted_or_not
@pytest.mark.parametrize("held", [True, False], ids=["held", "too large"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_windows_are_direct_sums(weighted, held, kind, monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9" if held else "1000")
    X, codes = table()
    weight, rows = weights(weighted), 3 + np.random.default_rng(2).permutation(N - 8)
    gram = Gram(Kernel("rbf", 0.3), kind(X))
    helper, so_far = Parzen(gram, weight, K), np.arange(3)
    assert gram.held == held
    helper.add(so_far, codes[so_far])
    for block in parts(rows):
        helper.add(block, codes[block])
        so_far = np.r_[so_far, block]
        expected = summed(X, codes, weight, so_far, 0.3)
        np.testing.assert_allclose(helper.log_densities(EVERYONE), expected, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(helper.log_densities(np.array([7, 0, 7])), helper.log_densities(EVERYONE)[[7, 0, 7]])
    assert gram.held == held


def test_windows_after_hundreds_of_additions_of_single_rows():
    X, codes = table(400)
    weight = weights(True, 400)
    helper = Parzen(Gram(Kernel("rbf", 0.3), X), weight, K)
    for row in range(390):
        helper.add(np.array([row]), codes[[row]])
    whole = Parzen(Gram(Kernel("rbf", 0.3), X), weight, K)
    whole.add(np.arange(390), codes[:390])
    some = np.arange(0, 400, 13)
    expected = summed(X, codes, weight, range(390), 0.3)[some]
    np.testing.assert_allclose(helper.log_densities(some), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(whole.log_densities(some), expected, rtol=0, atol=1e-10)


@weighted_or_not
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_windows_are_kernel_densities_up_to_one_constant(weighted, columns):
    X, codes = table(columns=columns)
    weight, gamma, known = weights(weighted), 0.7, np.arange(40)
    helper = Parzen(Gram(Kernel("rbf", gamma), X), weight, K)
    helper.add(known, codes[known])
    bandwidth = np.sqrt(0.5 / gamma)
    theirs = []
    for c in range(K):
        here = known[codes[known] == c]
        theirs.append(KernelDensity(bandwidth=bandwidth).fit(X[here], sample_weight=weight[here]).score_samples(X))
    constant = 0.5 * columns * np.log(gamma / np.pi)
    np.testing.assert_allclose(helper.log_densities(EVERYONE) + constant, np.column_stack(theirs), atol=1e-6)


def test_any_kernel_without_values_below_zero_is_a_window():
    X, codes = table()
    for kernel in (Kernel("laplacian", 0.5), Kernel("precomputed")):
        given = np.exp(-0.5 * cdist(X, X))
        helper = Parzen(Gram(kernel, given if kernel.name == "precomputed" else X), np.ones(N), K)
        helper.add(EVERYONE, codes)
        expected = np.log(np.column_stack([given[:, codes == c].mean(axis=1) for c in range(K)]))
        np.testing.assert_allclose(helper.log_densities(EVERYONE), expected, atol=1e-10)


def test_a_window_that_reaches_nobody_has_a_density_of_zero():
    X = np.array([[0.0], [1.0], [100.0]])
    helper = Parzen(Gram(Kernel("rbf", 1.0), X), np.ones(3), 2)
    helper.add(np.array([0, 1]), np.array([0, 1]))
    np.testing.assert_allclose(helper.log_densities(np.arange(3)), [[0, -1], [-1, 0], [-np.inf, -np.inf]], atol=1e-12)


# ---- estimators of one class ----


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(2, random_state=0, reg_covar=0.1),
        GaussianMixture(1, covariance_type="spherical", random_state=0),
        KernelDensity(bandwidth=0.8),
        KernelDensity(kernel="exponential"),
    ],
    ids=["mixture", "sphere", "windows", "exponential"],
)
def test_one_estimator_for_each_class_is_fitted_as_by_hand(model):
    X, codes = table()
    helper, so_far = PerClass(X, np.ones(N), K, model), np.zeros(0, dtype=int)
    for block in (np.arange(12), np.arange(20, 45)):
        helper.add(block, codes[block])
        so_far = np.r_[so_far, block]
        by_hand = [
            type(model)(**model.get_params()).fit(X[so_far[codes[so_far] == c]]).score_samples(X) for c in range(K)
        ]
        np.testing.assert_allclose(helper.log_densities(EVERYONE), np.column_stack(by_hand), rtol=1e-10)
        np.testing.assert_allclose(helper.log_densities(np.array([50, 3])), np.column_stack(by_hand)[[50, 3]])
    assert not any(name.endswith("_") for name in vars(model))


def test_kernel_densities_take_the_weights_of_their_class():
    X, codes = table()
    weight = weights(True)
    helper = own(X, weight, K, KernelDensity(bandwidth=0.8))
    helper.add(EVERYONE, codes)
    by_hand = [KernelDensity(bandwidth=0.8).fit(X[codes == c], None, weight[codes == c]) for c in range(K)]
    expected = np.column_stack([model.score_samples(X) for model in by_hand])
    np.testing.assert_allclose(helper.log_densities(EVERYONE), expected, rtol=1e-12)


def test_a_class_of_fewer_rows_than_components_has_as_many_components_as_rows():
    X, codes = table()
    model = GaussianMixture(5, covariance_type="diag", random_state=0, reg_covar=0.1)
    helper = PerClass(X, np.ones(N), 2, model)
    few, many = np.flatnonzero(codes == 0)[:2], np.flatnonzero(codes == 1)[:15]
    helper.add(np.r_[few, many], np.r_[np.zeros(2, dtype=int), np.ones(15, dtype=int)])
    found = helper.log_densities(EVERYONE)
    pair = GaussianMixture(2, covariance_type="diag", random_state=0, reg_covar=0.1).fit(X[few])
    np.testing.assert_allclose(found[:, 0], pair.score_samples(X))
    five = GaussianMixture(5, covariance_type="diag", random_state=0, reg_covar=0.1).fit(X[many])
    np.testing.assert_allclose(found[:, 1], five.score_samples(X))
    assert model.n_components == 5


def test_a_mixture_of_a_class_with_a_single_row():
    X, codes = table()
    helper = mixture(X, np.ones(N), K, 0)
    helper.add(np.arange(3), codes[:3])
    found = helper.log_densities(EVERYONE)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:3].argmax(axis=1), codes[:3])
    np.testing.assert_array_equal(found.argmax(axis=0), [np.flatnonzero(codes == c)[0] for c in range(K)])


def test_the_mixture_has_two_diagonal_gaussians_widened_by_a_twentieth():
    X, codes = table()
    helper = mixture(X, np.ones(N), K, 7)
    assert helper._model.random_state == 7
    helper.add(np.arange(50), codes[:50])
    expected = []
    for c in range(K):
        model = GaussianMixture(2, covariance_type="diag", reg_covar=0.05 * X.var(axis=0).mean(), random_state=7)
        expected.append(model.fit(X[:50][codes[:50] == c]).score_samples(X))
    np.testing.assert_allclose(helper.log_densities(EVERYONE), np.column_stack(expected), rtol=1e-10)


def test_a_mixture_of_equal_rows_has_some_width():
    assert mixture(np.ones((8, 2)), np.ones(8), 2, 0)._model.reg_covar == 1e-6


# ---- classifiers ----


@weighted_or_not
def test_naive_bayes_is_a_sum_of_normal_densities(weighted):
    X, codes = table()
    weight, known = weights(weighted), np.arange(45)
    helper = naive_bayes(X, weight, K)
    for block in (known[:20], known[20:]):
        helper.add(block, codes[block])
        helper.log_densities(EVERYONE)
    floor = 0.05 * X[known].var(axis=0).max()
    expected = []
    for c in range(K):
        here = known[codes[known] == c]
        mean = np.average(X[here], axis=0, weights=weight[here])
        variance = np.average((X[here] - mean) ** 2, axis=0, weights=weight[here]) + floor
        expected.append(stats.norm.logpdf(X, mean, np.sqrt(variance)).sum(axis=1))
    np.testing.assert_allclose(helper.log_densities(EVERYONE), np.column_stack(expected), rtol=1e-9)


@weighted_or_not
def test_naive_bayes_of_counts_is_multinomial(weighted):
    rng, codes = np.random.default_rng(3), table()[1]
    counts = rng.poisson(rng.uniform(0.1, 2.0, (K, 8))[codes])
    weight, known = weights(weighted), np.arange(45)
    helper = naive_bayes(sparse.csr_array(counts.astype(float)), weight, K)
    helper.add(known, codes[known])
    expected = []
    for c in range(K):
        here = known[codes[known] == c]
        seen = 1.0 + weight[here] @ counts[here]
        expected.append(counts @ np.log(seen / seen.sum()))
    np.testing.assert_allclose(helper.log_densities(EVERYONE), np.column_stack(expected), rtol=1e-9)


@pytest.mark.parametrize("prior", [None, [0.9, 0.05, 0.05]], ids=["counted", "given"])
def test_a_prior_has_no_say(prior):
    X, codes = table()
    helper = own(X, np.ones(N), K, GaussianNB(priors=prior))
    helper.add(EVERYONE, codes)
    spread = np.sqrt(1e-9 * X.var(axis=0).max() + np.array([X[codes == c].var(axis=0) for c in range(K)]))
    expected = [stats.norm.logpdf(X, X[codes == c].mean(axis=0), spread[c]).sum(axis=1) for c in range(K)]
    np.testing.assert_allclose(helper.log_densities(EVERYONE), np.column_stack(expected), rtol=1e-9)
    flags = (X > 1).astype(float)
    helper = own(flags, np.ones(N), K, BernoulliNB(class_prior=prior))
    helper.add(EVERYONE, codes)
    share = np.array([(1.0 + flags[codes == c].sum(axis=0)) / (2.0 + (codes == c).sum()) for c in range(K)])
    expected = flags @ np.log(share.T) + (1.0 - flags) @ np.log(1.0 - share.T)
    np.testing.assert_allclose(helper.log_densities(EVERYONE), expected, rtol=1e-9)


class Bumps:
    """An object of the user's, without parameters: how far from the mean of each class."""

    fits: ClassVar[list[int]] = []  # rows of every fit, of copies too

    def fit(self, X, y):
        self.fits.append(len(X))
        self.means = [X[y == c].mean(axis=0) for c in range(K)]
        return self

    def log_densities(self, X):
        return np.column_stack([-((X - mean) ** 2).sum(axis=1) for mean in self.means])

    def predict_joint_log_proba(self, X):
        raise AssertionError

    score_samples = predict_joint_log_proba


def test_an_object_of_ones_own_says_log_densities_itself():
    X, codes = table()
    given = Bumps()
    helper = own(X, np.ones(N), K, given)
    expected = Bumps().fit(X[:40], codes[:40]).log_densities(X)
    Bumps.fits.clear()
    helper.add(np.arange(20), codes[:20])
    helper.add(np.arange(20, 40), codes[20:40])
    np.testing.assert_array_equal(helper.log_densities(EVERYONE), expected)
    np.testing.assert_array_equal(helper.log_densities(EVERYONE[5:9]), expected[5:9])
    helper.add(np.arange(40, 50), codes[40:50])
    helper.log_densities(EVERYONE)
    assert Bumps.fits == [40, 50]  # when asked, and only where there are more rows
    assert not hasattr(given, "means")


@pytest.mark.parametrize("model, kind", [(GaussianNB(), OfClassifier), (KernelDensity(), PerClass)])
def test_what_an_object_can_do_says_how_it_helps(model, kind):
    assert type(own(table()[0], np.ones(N), K, model)) is kind


# ---- bad input ----


class Says:
    """Log densities that are what is given."""

    def __init__(self, said):
        self.said = said

    def fit(self, X, y):
        return self

    def log_densities(self, X):
        return self.said


def test_log_densities_of_minus_infinity_are_allowed():
    said = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    helper = own(np.zeros((4, 2)), np.ones(4), 2, Says(said))
    np.testing.assert_array_equal(helper.log_densities(np.array([0, 3])), said)


@pytest.mark.parametrize(
    "said, message",
    [
        (np.zeros(2), r"the shape \(2,\); they must be one number \(or -inf\) for each of 2 rows and 3 classes"),
        (np.zeros((2, 2)), r"the shape \(2, 2\); they must be one number"),
        (np.zeros((3, 3)), r"the shape \(3, 3\); they must be"),
        ([[0.0, 1.0, np.nan], [0.0, 0.0, 0.0]], r"the shape \(2, 3\) and hold NaN or infinity; they must be"),
        ([[0.0, 1.0, np.inf], [0.0, 0.0, 0.0]], r"the shape \(2, 3\) and hold NaN or infinity; they must be"),
        (np.full((2, 1), np.nan), r"the shape \(2, 1\) and hold NaN or infinity; they must be"),
    ],
)
def test_log_densities_that_are_none_are_refused(said, message):
    helper = own(np.zeros((4, 2)), np.ones(4), 3, Says(said))
    with pytest.raises(ValueError, match="the helper's log densities have " + message):
        helper.log_densities(np.array([0, 3]))


def test_a_classifier_that_has_not_seen_a_class_is_refused():
    X, codes = table()
    helper = naive_bayes(X, np.ones(N), K)
    helper.add(np.arange(2), codes[:2])
    with pytest.raises(ValueError, match=r"the shape \(60, 2\); they must be one number .* 60 rows and 3 classes"):
        helper.log_densities(EVERYONE)


def test_a_mixture_of_a_sparse_table_is_refused():
    with pytest.raises(ValueError, match="takes a dense table and X is sparse; use helper='parzen' or 'naive_bayes'"):
        mixture(sparse.csr_array(table()[0]), np.ones(N), K, 0)


def test_counts_below_zero_are_refused():
    counts = np.abs(table()[0])
    naive_bayes(sparse.csr_array(counts), np.ones(N), K)
    naive_bayes(sparse.csr_array(0.0 * counts), np.ones(N), K)
    counts[3, 1] = -1.0
    with pytest.raises(ValueError, match="multinomial and X holds numbers below zero; use helper='parzen'"):
        naive_bayes(sparse.csr_array(counts), np.ones(N), K)
    assert type(naive_bayes(counts, np.ones(N), K)._model) is GaussianNB


@pytest.mark.parametrize("model", ["kde", None, object()])
def test_an_object_that_cannot_help_is_refused_by_name(model):
    message = re.escape(f"helper={model!r} is not allowed; helper takes 'parzen', 'mixture', 'naive_bayes', or an obj")
    with pytest.raises(ValueError, match=message + ".*score_samples.*predict_joint_log_proba, log_densities"):
        own(table()[0], np.ones(N), K, model)


@pytest.mark.parametrize("model", [GaussianMixture(1), Bumps()], ids=["mixture", "own"])
def test_weights_that_a_helper_does_not_take_are_refused(model):
    X, codes = table()
    weight = np.ones(N)
    weight[50] = 2.0
    helper = own(X, weight, K, model)
    helper.add(np.arange(40), codes[:40])
    assert helper.log_densities(EVERYONE).shape == (N, K)  # weights of one need not be told
    helper.add(np.arange(40, N), codes[40:])
    with pytest.raises(ValueError, match=f"the helper {type(model).__name__} takes no sample_weight; use helper='parz"):
        helper.log_densities(EVERYONE)


# ---- the width of windows ----


def likelihood(X, gamma):
    """Log likelihood of the rows, each under windows around all others."""
    squared = cdist(X, X, "sqeuclidean")
    total = 0.0
    for i in range(len(X)):
        others = np.delete(squared[i], i)
        total += 0.5 * X.shape[1] * np.log(gamma / np.pi) + np.log(np.mean(np.exp(-gamma * others)) + 1e-300)
    return total


def tables():
    rng = np.random.default_rng(4)
    base = rng.standard_normal((30, 2))
    return {
        "one column": rng.standard_normal((25, 1)),
        "uneven columns": rng.standard_normal((40, 3)) * [1.0, 5.0, 0.1] + 100.0,
        "clusters": np.vstack([centre + 0.05 * rng.standard_normal((12, 2)) for centre in rng.standard_normal((4, 2))]),
        "near pairs": np.vstack([base, base + 0.02 * rng.standard_normal((30, 2))]),
        "heavy tails": rng.standard_cauchy((40, 2)),
        "whole numbers": np.unique(rng.integers(0, 6, (60, 2)), axis=0).astype(float),
    }


every_table = pytest.mark.parametrize("X", tables().values(), ids=tables())


@every_table
def test_the_window_makes_rows_left_out_most_likely(X):
    found = scale.window(X)
    grid = np.exp(np.linspace(np.log(found) - 7.0, np.log(found) + 7.0, 281))  # steps of a twentieth
    values = [likelihood(X, gamma) for gamma in grid]
    assert likelihood(X, found) >= max(values)
    assert abs(np.log(found / grid[np.argmax(values)])) < 0.051
    assert min(likelihood(X, found * near) for near in (0.99, 1.01)) < likelihood(X, found)


def test_the_likelihood_is_that_of_kernel_densities():
    X = tables()["one column"]
    found = scale.window(X)

    def left_out(gamma):
        windows = KernelDensity(bandwidth=np.sqrt(0.5 / gamma))
        return sum(windows.fit(np.delete(X, i, axis=0)).score_samples(X[i : i + 1])[0] for i in range(len(X)))

    assert left_out(found) == pytest.approx(likelihood(X, found), abs=1e-6)
    assert left_out(found) > max(left_out(found * factor) for factor in (0.5, 0.9, 1.1, 2.0))


@every_table
@pytest.mark.parametrize("factor", [10.0, 1e-3, 1e5])
def test_the_window_follows_the_unit(X, factor):
    assert scale.window(factor * X) == pytest.approx(scale.window(X) / factor**2, rel=1e-3)


@every_table
def test_the_window_does_not_follow_the_origin(X):
    assert scale.window(X + 1e6) == pytest.approx(scale.window(X), rel=1e-3)


@every_table
def test_rows_that_come_twice_count_once(X):
    expected = scale.window(X)
    assert scale.window(np.vstack([X, X])) == pytest.approx(expected, rel=1e-3)
    assert scale.window(np.vstack([X[5:6], X, X[:3], X[5:6]])) == pytest.approx(expected, rel=1e-3)


@every_table
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_a_sparse_table_has_the_window_of_the_dense_one(X, kind):
    X = np.where(np.abs(X) > np.quantile(np.abs(X), 0.3), X, 0.0)
    assert scale.window(kind(X)) == pytest.approx(scale.window(X), rel=1e-3)


def test_two_rows():
    """The maximum of (gamma / pi)^(d/2) exp(-gamma r^2) is at d / (2 r^2)."""
    for X in (np.array([[0.0], [2.0]]), np.array([[1.0, 5.0, 1.0], [2.0, 5.0, 3.0]])):
        expected = 0.5 * X.shape[1] / ((X[0] - X[1]) ** 2).sum()
        assert scale.window(X) == pytest.approx(expected, rel=1e-3)
        assert scale.window(np.repeat(X, 5, axis=0)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_rows_without_a_distance_have_a_window_of_one(kind):
    assert scale.window(kind(np.array([[3.0, 1.0]]))) == 1.0
    assert scale.window(kind(np.full((20, 3), 7.1))) == 1.0
    assert scale.window(kind(np.zeros((4, 2)))) == 1.0


def test_windows_of_many_columns_still_reach_the_nearest_row():
    """The maximum is at d / (2 r^2) or so, where a kernel value of single precision would be gone."""
    X = np.random.default_rng(5).standard_normal((50, 400))
    nearest = np.sort(cdist(X, X, "sqeuclidean"), axis=1)[:, 1]
    found = scale.window(X)
    assert found * np.median(nearest) == pytest.approx(scale.FARTHEST, rel=1e-3)
    assert likelihood(X, 1.5 * found) > likelihood(X, found)


def test_a_window_of_many_rows_is_that_of_a_sample(monkeypatch):
    X = np.random.default_rng(6).standard_normal((121, 2))
    whole = scale.window(X)
    monkeypatch.setattr(scale, "SAMPLE", 60)
    expected = scale.window(X[np.linspace(0, 120, 60).astype(int)])
    assert scale.window(X) == pytest.approx(expected, rel=1e-9)
    assert whole != pytest.approx(expected, rel=1e-2)
