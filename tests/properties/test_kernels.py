"""Every kernel on random samples: the values of its formula, or one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import CONTAINERS, repeatable, samples
from scipy import sparse

from semisvm.spaces import KERNELS, Gram, Kernel
from semisvm.spaces.gram import is_definite
from semisvm.spaces.kernels import form_of
from semisvm.spaces.prediction import kernel_scores

FORMULAS = {
    "linear": lambda product, r2, k: product,
    "poly": lambda product, r2, k: (k.gamma * product + k.coef0) ** k.degree,
    "rbf": lambda product, r2, k: np.exp(-k.gamma * r2),
    "laplacian": lambda product, r2, k: np.exp(k.coef0 - k.gamma * np.sqrt(r2)),
    "multiquadric": lambda product, r2, k: -np.sqrt(k.gamma * np.sqrt(r2) + k.coef0),
    "inverse_multiquadric": lambda product, r2, k: 1.0 / np.sqrt(k.gamma * np.sqrt(r2) + k.coef0),
    "kmod": lambda product, r2, k: np.expm1(k.gamma / (r2 + k.gamma)) / np.expm1(1.0),
}


def test_every_kernel_has_a_formula():
    assert set(FORMULAS) == set(KERNELS)


@st.composite
def kernel_cases(draw):
    """A kernel with its parameters, and samples in some container."""
    name = draw(st.sampled_from(sorted(KERNELS)))
    gamma = 10.0 ** draw(st.integers(-12, 12))
    coef0 = 1.0 if name == "inverse_multiquadric" else draw(st.sampled_from([0.0, 0.5, 2.0]))
    X, _ = draw(samples(st.integers(2, 20), st.integers(2, 3)))
    container = draw(st.sampled_from(sorted(set(CONTAINERS) - {"list", "data frame", "float16", "integers"})))
    return Kernel(name, gamma, coef0, draw(st.integers(1, 4))), X, container


def plain_values(kernel, X, precision):
    """The kernel matrix by its formula, and how much rounding may change it: by differences of shifted samples."""
    Z = X - X[0]
    error = 64 * precision * np.square(Z).sum(axis=1).max()  # of a squared distance
    distance = np.square(Z[:, None] - Z).sum(axis=2)
    product = X @ X.T
    near, value, far = (
        FORMULAS[kernel.name](product, np.maximum(r2, 0.0), kernel)
        for r2 in (distance - error, distance, distance + error)
    )
    scale = 1e6 * precision * np.abs(value) + np.abs(far - near)
    if form_of(kernel).argument == "product":
        size = np.sqrt(np.outer(product.diagonal(), product.diagonal()))
        scale = 1e6 * precision * FORMULAS[kernel.name](size, distance, kernel)
    return value, scale


def check_kernel(case):
    kernel, X, container = case
    given = CONTAINERS[container](X)
    given = given.tocsr() if sparse.issparse(given) else given
    used = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=float)
    with np.errstate(all="ignore"):
        expected, tolerance = plain_values(kernel, used, np.finfo(given.dtype).eps)
    if not np.isfinite(expected).all():
        with pytest.raises(ValueError, match="overflow"):
            Gram(kernel, given, float64=True)
        return
    gram = Gram(kernel, given, float64=True)
    K = gram.compute()
    np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=tolerance.max())
    assert (np.abs(K - expected) <= tolerance).all()
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), rtol=1e-9, atol=tolerance.max())
    assert is_definite(K, sum_zero=form_of(kernel).definite == "conditional")
    a = np.linspace(-1.0, 1.0, gram.n)
    scores = kernel_scores(kernel, given, given, a[None], np.zeros(1))[:, 0]
    assert (np.abs(scores - K @ a) <= 2.0 * tolerance @ np.abs(a)).all()


@repeatable(200)
@given(kernel_cases())
def test_random_kernels_have_the_values_of_their_formula(case):
    check_kernel(case)


@pytest.mark.slow
@repeatable(1000)
@given(kernel_cases())
def test_many_random_kernels_have_the_values_of_their_formula(case):
    check_kernel(case)
