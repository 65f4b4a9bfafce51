"""Parameters left to the data: against numpy, scikit-learn, and repeated samples."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from factories import CONTAINERS
from semisvm.spaces import bandwidth
from semisvm.spaces.bandwidth import median_squared_distance, resolve_gamma, total_variance
from semisvm.spaces.kernels import KERNELS, Kernel

RBF = Kernel("rbf")
GAMMAS = ("median", "scale", "auto")
NAMED = {name: Kernel(name, gamma=0.5, coef0=1.0, degree=2) for name in KERNELS}
OF_DISTANCES = [name for name, form in KERNELS.items() if form.needs_distance]
ONES = np.ones(40)

every_kernel = pytest.mark.parametrize("name", NAMED)
every_container = pytest.mark.parametrize("to", CONTAINERS.values(), ids=CONTAINERS)


def samples_of_different_scales(n=40):
    return np.random.default_rng(0).standard_normal((n, 3)) * [1.0, 3.0, 0.2] + [0.0, 1.0, 5.0]


X = samples_of_different_scales()
COUNTS = np.random.default_rng(1).integers(0, 4, 40)
REPEATED, PRESENT = np.repeat(X, COUNTS, axis=0), COUNTS > 0


# ---------------------------------------------------------------- median distance


@every_container
@pytest.mark.parametrize("n", [2, 3, 40, 41])
def test_median_over_pairs_is_that_of_numpy(to, n):
    X = samples_of_different_scales(n)
    found = median_squared_distance(to(X), np.ones(n))
    assert found == pytest.approx(np.median(pdist(X, "sqeuclidean")), rel=1e-10)


def test_median_of_mostly_equal_samples_is_over_distances_above_zero():
    equal = np.r_[np.zeros((20, 3)), X[:4]]
    distances = pdist(equal, "sqeuclidean")
    assert np.median(distances) == 0.0
    assert median_squared_distance(equal, ONES[:24]) == pytest.approx(np.median(distances[distances > 0]), rel=1e-10)


def test_median_of_many_samples_is_over_samples_spread_evenly():
    n = 2 * bandwidth.N_SUBSAMPLE + 1
    found = median_squared_distance(np.linspace(0.0, 1.0, n)[:, None], np.ones(n))
    assert found == pytest.approx((1.0 - np.sqrt(0.5)) ** 2, rel=0.01)  # of two uniform numbers


# ---------------------------------------------------------------- gamma


@every_container
@pytest.mark.parametrize("gamma", GAMMAS)
def test_sample_of_weight_w_counts_like_w_samples_in_gamma(to, gamma):
    weighted = resolve_gamma(RBF, gamma, to(X), COUNTS.astype(float))
    assert weighted == pytest.approx(resolve_gamma(RBF, gamma, to(REPEATED), np.ones(len(REPEATED))), rel=1e-10)


@every_container
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_scale_and_auto_are_those_of_scikit_learn(to, gamma):
    expected = SVC(gamma=gamma).fit(to(X), np.arange(40) % 2)._gamma
    assert resolve_gamma(RBF, gamma, to(X), ONES) == pytest.approx(expected, rel=1e-10)


@every_container
@pytest.mark.parametrize("gamma", ["median", "scale"])
def test_constant_samples_have_gamma_one(to, gamma):
    for entry in (0.0, 1.0, 0.1, -3.7e5):
        assert resolve_gamma(RBF, gamma, to(np.full((40, 30), entry)), ONES) == 1.0
    equal = np.tile(np.random.default_rng(3).standard_normal(30), (40, 1))
    for n in (1, 2, 40):
        assert resolve_gamma(RBF, "median", equal[:n], ONES[:n]) == 1.0


@every_kernel
@pytest.mark.parametrize("gamma", GAMMAS)
def test_each_kernel_gets_gamma_in_its_own_unit(name, gamma):
    base = resolve_gamma(RBF, gamma, X, ONES)
    if gamma == "median":
        assert base == pytest.approx(0.5 / np.median(pdist(X, "sqeuclidean")), rel=1e-10)
    expected = np.sqrt(base) if KERNELS[name].argument == "distance" else base
    expected = 1.0 / base if name == "kmod" else expected
    assert resolve_gamma(NAMED[name], gamma, X, ONES) == pytest.approx(expected, rel=1e-12)
    assert resolve_gamma(NAMED[name], 0.3, X, ONES) == 0.3  # a number is taken as it is


@pytest.mark.parametrize("name", OF_DISTANCES)
@pytest.mark.parametrize("gamma", ["median", "scale"])
def test_kernels_of_distances_are_the_same_in_other_units(name, gamma):
    def variance(X):
        return total_variance(NAMED[name]._replace(gamma=resolve_gamma(NAMED[name], gamma, X, ONES)), X, ONES)

    assert variance(1000.0 * X) == pytest.approx(variance(X), rel=1e-6)


# ---------------------------------------------------------------- total variance


@every_kernel
def test_weights_count_samples_in_the_variance_and_zero_is_absent(name):
    kernel = NAMED[name]
    weighted = total_variance(kernel, X, COUNTS.astype(float))
    assert total_variance(kernel, REPEATED, np.ones(len(REPEATED))) == pytest.approx(weighted, rel=1e-6)
    assert total_variance(kernel, X, 7.0 * COUNTS) == pytest.approx(weighted, rel=1e-9)
    assert total_variance(kernel, X[PRESENT], 1.0 * COUNTS[PRESENT]) == pytest.approx(weighted, rel=1e-6)
    for gamma in GAMMAS:
        expected = resolve_gamma(kernel, gamma, X[PRESENT], 0.7 * COUNTS[PRESENT])
        assert resolve_gamma(kernel, gamma, X, 0.7 * COUNTS) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["linear", *OF_DISTANCES])
def test_shift_of_all_samples_changes_neither_variance_nor_median(name):
    expected = total_variance(NAMED[name], X, ONES)
    assert total_variance(NAMED[name], X + 1e6, ONES) == pytest.approx(expected, rel=1e-5)
    assert median_squared_distance(X + 1e6, ONES) == pytest.approx(median_squared_distance(X, ONES), rel=1e-5)


@every_container
def test_variance_of_the_linear_kernel_is_that_of_the_features(to):
    w = COUNTS / COUNTS.sum()
    expected = (w @ (X - w @ X) ** 2).sum()
    assert total_variance(Kernel("linear"), to(X), 1.0 * COUNTS) == pytest.approx(expected, rel=1e-10)
    assert total_variance(Kernel("precomputed"), X @ X.T, 1.0 * COUNTS) == pytest.approx(expected, rel=1e-10)
