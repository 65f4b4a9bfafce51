"""Numbers taken from the data: against numpy, scikit-learn, and repeated rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from semisvm import scale
from semisvm.kernels import KERNELS, Kernel

RBF = Kernel("rbf")
GAMMAS = ("median", "scale", "auto")
NAMED = [Kernel(name, gamma=0.5, coef0=1.0, degree=2) for name in KERNELS]
SHIFT_FREE = [kernel for kernel in NAMED if KERNELS[kernel.name].of != "product" or kernel.name == "linear"]

every_kernel = pytest.mark.parametrize("kernel", NAMED, ids=[kernel.name for kernel in NAMED])
every_table = pytest.mark.parametrize(
    "table", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "csr_matrix", "csr_array"]
)


def random_rows(n=40, columns=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns)) * [1.0, 3.0, 0.2] + [0.0, 1.0, 5.0]


def random_counts(n=40):
    return np.random.default_rng(1).integers(0, 4, n)


def squared_distances(X):
    return np.array([((X[i] - X[j]) ** 2).sum() for i in range(len(X)) for j in range(i)])


@every_table
@pytest.mark.parametrize("n", [2, 3, 40, 41])
def test_median_over_pairs_equals_numpy(table, n):
    X = random_rows(n)
    found = scale.median_squared_distance(table(X), np.ones(n))
    np.testing.assert_allclose(found, np.median(squared_distances(X)), rtol=1e-10)


def test_median_of_mostly_equal_rows_looks_at_distances_above_zero():
    X = np.r_[np.zeros((20, 3)), random_rows(4)]
    distances = squared_distances(X)
    assert np.median(distances) == 0.0
    found = scale.median_squared_distance(X, np.ones(24))
    np.testing.assert_allclose(found, np.median(distances[distances > 0]), rtol=1e-10)


def test_median_of_a_large_table_looks_at_rows_spread_evenly():
    n = 2 * scale.SAMPLE + 1
    X = np.linspace(0.0, 1.0, n)[:, None]
    found = scale.median_squared_distance(X, np.ones(n))
    np.testing.assert_allclose(found, (1.0 - np.sqrt(0.5)) ** 2, rtol=0.01)  # of two uniform numbers


@every_table
@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_row_of_weight_w_counts_like_w_rows_in_the_width(table, gamma):
    X, counts = random_rows(), random_counts()
    assert counts.min() == 0
    weighted = scale.width(RBF, gamma, table(X), counts.astype(float))
    repeated = scale.width(RBF, gamma, table(np.repeat(X, counts, axis=0)), np.ones(counts.sum()))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


@every_kernel
def test_a_row_of_weight_w_counts_like_w_rows_in_the_variance(kernel):
    X, counts = random_rows(), random_counts()
    weighted = scale.total_variance(kernel, X, counts.astype(float))
    repeated = scale.total_variance(kernel, np.repeat(X, counts, axis=0), np.ones(counts.sum()))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


@every_kernel
@pytest.mark.parametrize("gamma", GAMMAS)
def test_rows_of_weight_zero_are_not_there(kernel, gamma):
    X, weights = random_rows(), random_counts() * 0.7
    kept = weights > 0
    assert scale.width(kernel, gamma, X, weights) == pytest.approx(scale.width(kernel, gamma, X[kept], weights[kept]))
    without = scale.total_variance(kernel, X[kept], weights[kept])
    assert scale.total_variance(kernel, X, weights) == pytest.approx(without, rel=1e-6)


@every_kernel
def test_all_weights_times_a_number_change_nothing_in_the_variance(kernel):
    X, weights = random_rows(), np.random.default_rng(2).random(40)
    expected = scale.total_variance(kernel, X, weights)
    assert scale.total_variance(kernel, X, 7.0 * weights) == pytest.approx(expected, rel=1e-9)


@every_table
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_scale_and_auto_are_those_of_scikit_learn(table, gamma):
    X = random_rows()
    theirs = SVC(gamma=gamma).fit(table(X), np.arange(40) % 2)._gamma
    assert scale.width(RBF, gamma, table(X), np.ones(40)) == pytest.approx(theirs, rel=1e-10)


def test_median_width_is_half_over_the_median():
    X = random_rows()
    expected = 0.5 / np.median(squared_distances(X))
    assert scale.width(RBF, "median", X, np.ones(40)) == pytest.approx(expected, rel=1e-10)


def test_a_number_is_taken_as_it_is():
    for kernel in NAMED:
        assert scale.width(kernel, 0.3, random_rows(), np.ones(40)) == 0.3


@pytest.mark.parametrize("entry", [0.0, 1.0, 0.1, -3.7e5])
@pytest.mark.parametrize("gamma", ["median", "scale"])
@every_table
def test_a_constant_table_has_width_one(table, gamma, entry):
    X = table(np.full((50, 30), entry))
    assert scale.width(RBF, gamma, X, np.ones(50)) == 1.0


@pytest.mark.parametrize("n", [1, 2, 50])
def test_equal_rows_have_median_width_one(n):
    X = np.tile(np.random.default_rng(3).standard_normal(30), (n, 1))
    assert scale.width(RBF, "median", X, np.ones(n)) == 1.0


@every_kernel
@pytest.mark.parametrize("gamma", GAMMAS)
def test_each_kernel_gets_the_width_in_its_own_unit(kernel, gamma):
    X, weights = random_rows(), np.ones(40)
    base = scale.width(RBF, gamma, X, weights)
    expected = np.sqrt(base) if KERNELS[kernel.name].of == "distance" else base
    expected = 1.0 / base if kernel.name == "kmod" else expected
    assert scale.width(kernel, gamma, X, weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", [name for name, form in KERNELS.items() if form.of != "product"])
@pytest.mark.parametrize("gamma", ["median", "scale"])
def test_kernels_of_distances_are_the_same_in_other_units(name, gamma):
    X, weights = random_rows(), np.ones(40)

    def spread(table):
        kernel = Kernel(name, coef0=1.0)
        return scale.total_variance(kernel._replace(gamma=scale.width(kernel, gamma, table, weights)), table, weights)

    assert spread(1000.0 * X) == pytest.approx(spread(X), rel=1e-6)


@pytest.mark.parametrize("kernel", SHIFT_FREE, ids=[kernel.name for kernel in SHIFT_FREE])
def test_a_shift_of_all_rows_does_not_change_the_variance(kernel):
    X, weights = random_rows(), np.ones(40)
    expected = scale.total_variance(kernel, X, weights)
    assert scale.total_variance(kernel, X + 1e6, weights) == pytest.approx(expected, rel=1e-5)


def test_a_shift_of_all_rows_does_not_change_the_median():
    X, weights = random_rows(), np.ones(40)
    expected = scale.median_squared_distance(X, weights)
    assert scale.median_squared_distance(X + 1e6, weights) == pytest.approx(expected, rel=1e-5)


@every_table
def test_total_variance_of_the_linear_kernel_is_that_of_the_columns(table):
    X, weights = random_rows(), random_counts().astype(float)
    w = weights / weights.sum()
    expected = (w @ (X - w @ X) ** 2).sum()
    assert scale.total_variance(Kernel("linear"), table(X), weights) == pytest.approx(expected, rel=1e-10)


def test_total_variance_of_a_precomputed_kernel_reads_the_matrix():
    X, weights = random_rows(), random_counts().astype(float)
    expected = scale.total_variance(Kernel("linear"), X, weights)
    assert scale.total_variance(Kernel("precomputed"), X @ X.T, weights) == pytest.approx(expected, rel=1e-10)
