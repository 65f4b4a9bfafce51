"""Every kernel against its formula, written out slowly, and what is refused."""

import math

import numpy as np
import pytest
from scipy import sparse

from semisvm import kernels
from semisvm.kernels import KERNELS, Kernel


def slow_poly(product, r, k):
    return (k.gamma * product + k.coef0) ** k.degree


def slow_kmod(product, r, k):
    width = k.gamma if k.sigma is None else k.sigma**2
    return math.expm1(k.gamma / (r**2 + width)) / math.expm1(k.gamma / width)


SLOW = {
    "linear": lambda product, r, k: product,
    "poly": slow_poly,
    "rbf": lambda product, r, k: math.exp(-k.gamma * r**2),
    "laplacian": lambda product, r, k: math.exp(-k.gamma * r + k.coef0),
    "multiquadric": lambda product, r, k: -math.sqrt(k.gamma * r + k.coef0),
    "inverse_multiquadric": lambda product, r, k: 1.0 / math.sqrt(k.gamma * r + k.coef0),
    "kmod": slow_kmod,
}

NUMBERS = [(0.7, 0.0, 3, None), (0.7, 1.0, 2, 0.8), (2.0, 0.5, 1, 3.0)]


def allowed(names=KERNELS):
    """Every kernel with every set of numbers it does not complain about."""
    every = (Kernel(name, *numbers) for name in names for numbers in NUMBERS)
    return [kernel for kernel in every if KERNELS[kernel.name].complaint(kernel) is None]


every_kernel = pytest.mark.parametrize("kernel", allowed(), ids=str)
every_table = pytest.mark.parametrize(
    "table", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "csr_matrix", "csr_array"]
)


def slow_block(kernel, A, B):
    values = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            product = sum(p * q for p, q in zip(a, b))
            r = math.sqrt(sum((p - q) ** 2 for p, q in zip(a, b)))
            values[i, j] = SLOW[kernel.name](product, r, kernel)
    return values


def random_rows(n, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns))


def fast_block(kernel, A, B, dtype=np.float64):
    return kernels.block(kernel, kernels.rows(kernel, A, dtype), kernels.rows(kernel, B, dtype))


def test_every_kernel_has_a_slow_formula_here():
    assert set(SLOW) == set(KERNELS)


@every_kernel
@every_table
@pytest.mark.parametrize("columns", [1, 4])
def test_block_equals_the_formula(kernel, table, columns):
    A, B = random_rows(7, columns), random_rows(5, columns, seed=1)
    A[:, 0] += 3.0
    found = fast_block(kernel, table(A), table(B))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, slow_block(kernel, A, B), rtol=1e-9, atol=1e-12)


@every_kernel
def test_float32_blocks_stay_float32_and_close(kernel):
    A, B = random_rows(7, 4), random_rows(5, 4, seed=1)
    found = fast_block(kernel, A, B, np.float32)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow_block(kernel, A, B), rtol=1e-4, atol=1e-5)


@every_kernel
@every_table
def test_diagonal_equals_the_formula_at_equal_rows(kernel, table):
    A = random_rows(9, 4)
    found = kernels.diagonal(kernel, kernels.rows(kernel, table(A), np.float64))
    np.testing.assert_allclose(found, slow_block(kernel, A, A).diagonal(), rtol=1e-12, atol=1e-12)


@every_kernel
def test_diagonal_equals_the_diagonal_of_the_block(kernel):
    rows = kernels.rows(kernel, random_rows(60, 5), np.float64)
    found = kernels.block(kernel, rows, rows).diagonal()
    np.testing.assert_allclose(found, kernels.diagonal(kernel, rows), rtol=1e-6, atol=1e-6)


@every_kernel
def test_the_input_is_left_as_it_was(kernel):
    A = random_rows(7, 4)
    before = A.copy()
    fast_block(kernel, A, A)
    np.testing.assert_array_equal(A, before)


@every_kernel
def test_kernels_are_positive_definite_as_promised(kernel):
    K = fast_block(kernel, random_rows(60, 3), random_rows(60, 3))
    if KERNELS[kernel.name].definite == "conditional":
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() >= -1e-8 * max(1.0, np.abs(K).max())


def test_a_conditional_kernel_is_not_positive_definite_by_itself():
    K = fast_block(Kernel("multiquadric", 0.7, 1.0), random_rows(20, 3), random_rows(20, 3))
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() < -1.0


def test_kmod_is_one_at_distance_zero_and_does_not_overflow():
    kernel = Kernel("kmod", gamma=1e4, sigma=1.0)
    X = np.array([[0.0], [1e-3], [0.01], [30.0]])
    found = fast_block(kernel, X, X)[0]
    u = 1e4 / (X[:, 0] ** 2 + 1.0)
    expected = np.exp(u - 1e4) * (1.0 - np.exp(-u)) / (1.0 - np.exp(-1e4))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found[0] == 1.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Kernel("gaussian"), r"'gaussian' is not known.*'rbf'.*'precomputed'"),
        (Kernel("poly", coef0=-1.0), r"coef0=-1\.0.*poly.*0 or more"),
        (Kernel("poly", degree=2.5), r"degree=2\.5.*poly.*whole number"),
        (Kernel("poly", degree=0), r"degree=0.*whole number of 1 or more"),
        (Kernel("inverse_multiquadric", coef0=0.0), r"coef0=0\.0.*inverse multiquadric.*coef0=1"),
        (Kernel("multiquadric", coef0=-0.5), r"coef0=-0\.5.*multiquadric.*0 or more"),
        (Kernel("kmod", sigma=0.0), r"sigma=0\.0.*kmod.*above 0"),
        (Kernel("kmod", sigma=-2.0), r"sigma=-2\.0.*kmod"),
    ],
    ids=str,
)
def test_numbers_that_make_no_kernel_are_refused_by_name(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernels.check(kernel, free_intercept=True)


def test_conditional_kernels_need_a_free_intercept():
    kernel = Kernel("multiquadric", coef0=1.0)
    kernels.check(kernel, free_intercept=True)
    with pytest.raises(ValueError, match=r"'multiquadric'.*fit_intercept=True or another kernel"):
        kernels.check(kernel, free_intercept=False)


@pytest.mark.parametrize("kernel", [k for k in allowed() if KERNELS[k.name].definite == "positive"], ids=str)
def test_positive_definite_kernels_need_no_intercept(kernel):
    assert kernels.check(kernel, free_intercept=False) is None


def cosine(A, B):
    return (A @ B.T) / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))


def test_a_function_is_called_with_both_tables():
    A, B = random_rows(4, 3), random_rows(6, 3, seed=1)
    np.testing.assert_array_equal(fast_block(Kernel(cosine), A, B), cosine(A, B))
    np.testing.assert_allclose(kernels.diagonal(Kernel(cosine), kernels.rows(Kernel(cosine), A, float)), 1.0)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ A.T, r"shape \(4, 4\) for tables of 4 and 6 rows.*shape \(4, 6\)"),
        (lambda A, B: 1.0, r"shape \(\) for tables of 4 and 6 rows"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN or infinity"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "NaN or infinity"),
    ],
    ids=["wrong shape", "number", "nan", "infinity"],
)
def test_a_function_that_returns_no_kernel_values_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        fast_block(Kernel(function), random_rows(4, 3), random_rows(6, 3))
