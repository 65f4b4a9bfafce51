"""Every kernel against its formula, and what is refused."""

import numpy as np
import pytest

from factories import CONTAINERS, random_samples
from references import kernel_matrix
from semisvm.spaces import kernels
from semisvm.spaces.kernels import KERNELS, Kernel

PARAMETERS = [(0.7, 0.0, 3, None), (0.7, 1.0, 2, 0.8), (2.0, 0.5, 1, 3.0)]
ALL = [Kernel(name, *parameters) for name in KERNELS for parameters in PARAMETERS]
ALLOWED = [kernel for kernel in ALL if KERNELS[kernel.name].refusal(kernel) is None]
every_kernel = pytest.mark.parametrize("kernel", ALLOWED, ids=str)


def evaluate(kernel, A, B, dtype=np.float64):
    return kernels.evaluate(kernel, kernels.prepare(kernel, A, dtype), kernels.prepare(kernel, B, dtype))


@every_kernel
@pytest.mark.parametrize("container", CONTAINERS)
def test_values_and_diagonal_are_those_of_the_formula(kernel, container):
    to = CONTAINERS[container]
    for n_features in (1, 4):
        A, B = random_samples(7, n_features), random_samples(5, n_features, seed=1)
        A[:, 0] += 3.0
        before = A.copy()
        found = evaluate(kernel, to(A), to(B))
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, kernel_matrix(kernel, A, B), rtol=1e-9, atol=1e-12)
        diagonal = kernels.diagonal(kernel, kernels.prepare(kernel, to(A), np.float64))
        np.testing.assert_allclose(diagonal, kernel_matrix(kernel, A).diagonal(), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(A, before)


@every_kernel
def test_values_of_equal_samples_and_in_float32_are_close(kernel):
    A, B = random_samples(60, 5), random_samples(5, 5, seed=1)
    np.testing.assert_allclose(evaluate(kernel, A, A).diagonal(), kernel_matrix(kernel, A).diagonal(), rtol=1e-6)
    found = evaluate(kernel, A, B, np.float32)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, kernel_matrix(kernel, A, B), rtol=1e-4, atol=1e-4)


@every_kernel
def test_kernels_are_positive_definite_as_declared(kernel):
    K = evaluate(kernel, random_samples(60, 3), random_samples(60, 3))
    if KERNELS[kernel.name].definite == "conditional":
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    else:
        kernels.check(kernel, free_intercept=False)
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() >= -1e-8 * max(1.0, np.abs(K).max())


def test_conditional_kernel_is_not_positive_definite_and_needs_a_free_intercept():
    kernel = Kernel("multiquadric", 0.7, 1.0)
    assert np.linalg.eigvalsh(evaluate(kernel, random_samples(20), random_samples(20))).min() < -1.0
    kernels.check(kernel, free_intercept=True)
    with pytest.raises(ValueError, match=r"'multiquadric'.*fit_intercept=True or another kernel"):
        kernels.check(kernel, free_intercept=False)


def test_kmod_is_one_at_distance_zero_and_does_not_overflow():
    X = np.array([[0.0], [1e-3], [0.01], [30.0]])
    found = evaluate(Kernel("kmod", gamma=1e4, sigma=1.0), X, X)[0]
    u = 1e4 / (X[:, 0] ** 2 + 1.0)
    np.testing.assert_allclose(found, np.exp(u - 1e4) * (1.0 - np.exp(-u)) / (1.0 - np.exp(-1e4)), rtol=1e-9)
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
def test_parameters_that_make_no_kernel_are_refused_by_name(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernels.check(kernel, free_intercept=True)


def cosine(A, B):
    return (A @ B.T) / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))


def test_function_is_called_with_both_sets_of_samples():
    A, B = random_samples(4), random_samples(6, seed=1)
    np.testing.assert_array_equal(evaluate(Kernel(cosine), A, B), cosine(A, B))
    np.testing.assert_allclose(kernels.diagonal(Kernel(cosine), kernels.prepare(Kernel(cosine), A, float)), 1.0)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ A.T, r"shape \(4, 4\) for 4 and 6 samples.*shape \(4, 6\)"),
        (lambda A, B: 1.0, r"shape \(\) for 4 and 6 samples"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN or infinity"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "NaN or infinity"),
    ],
    ids=["wrong shape", "number", "nan", "infinity"],
)
def test_function_that_returns_no_kernel_values_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        evaluate(Kernel(function), random_samples(4), random_samples(6))
