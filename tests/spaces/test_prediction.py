"""f at new samples against the formula of the kernel."""

import gc

import numpy as np
import pytest
from scipy import sparse

from factories import CONTAINERS, random_samples
from references import assert_close, kernel_matrix
from semisvm.spaces import Kernel, gram, prediction
from semisvm.spaces.kernels import KERNELS
from semisvm.spaces.prediction import kernel_scores, linear_scores

NAMED = {name: Kernel(name, gamma=5.0 if name == "kmod" else 0.2, coef0=1.0, degree=2) for name in KERNELS}
RBF = NAMED["rbf"]
FEW_ENTRIES = sparse.random_array((183, 200), density=0.02, random_state=np.random.default_rng(1)).toarray()
b = np.array([0.3, -1.0])


@pytest.mark.parametrize("kernel", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("new", [np.asarray, sparse.csr_array], ids=["dense new", "sparse new"])
@pytest.mark.parametrize("train", [np.asarray, sparse.csr_matrix], ids=["dense train", "sparse train"])
def test_scores_are_those_of_the_formula(kernel, train, new):
    for X in (FEW_ENTRIES, random_samples(183)):  # the second is made dense
        support, coef = X[:60], random_samples(2, 60, seed=2)
        found = kernel_scores(kernel, new(X), train(support), coef, b)
        assert_close(found, kernel_matrix(kernel, X, support) @ coef.T + b, 1e-6)


@pytest.mark.parametrize("container", CONTAINERS)
def test_scores_stay_exact_far_from_the_origin(container):
    X, coef = random_samples(183) + 1e6, random_samples(2, 183, seed=2)
    found = kernel_scores(RBF, CONTAINERS[container](X), CONTAINERS[container](X), coef, b)
    assert_close(found, kernel_matrix(RBF, X) @ coef.T + b, 1e-7)


def test_scores_by_blocks_of_support_vectors_and_in_float32(monkeypatch):
    X, coef = random_samples(183), random_samples(2, 183, seed=3)
    expected = kernel_matrix(RBF, X) @ coef.T + b
    monkeypatch.setattr(gram, "TILE", 20)
    assert_close(kernel_scores(RBF, X, X, coef, b), expected)
    monkeypatch.setattr(prediction, "FLOAT64_SAMPLES", 100)
    assert_close(kernel_scores(RBF, X, X.copy(), coef, b), expected, 1e-4)


def test_what_is_kept_of_support_vectors_ends_with_them():
    X, coef = random_samples(40), random_samples(2, 40, seed=3)
    support = X.copy()
    key = id(support)
    for kernel in (RBF, NAMED["laplacian"], NAMED["poly"], RBF):  # each time those of this kernel
        assert_close(kernel_scores(kernel, X, support, coef, b), kernel_matrix(kernel, X) @ coef.T + b, 1e-6)
    assert key in prediction._prepared
    del support
    gc.collect()
    assert key not in prediction._prepared


@pytest.mark.parametrize("container", CONTAINERS)
def test_scores_that_need_no_kernel(container):
    X, coef = random_samples(50), random_samples(2, seed=5)
    assert_close(linear_scores(CONTAINERS[container](X), coef, b), X @ coef.T + b)
    assert_close(kernel_scores(Kernel("precomputed"), X, None, coef, b), X @ coef.T + b)
    without_support = kernel_scores(RBF, X, np.empty((0, 4)), np.empty((2, 0)), b)
    np.testing.assert_array_equal(without_support, np.tile(b, (50, 1)))
