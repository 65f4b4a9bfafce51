"""Weights, kernel matrices and training sets."""

import numpy as np
import pytest
from scipy import sparse

from semisvm import SVM
from semisvm._validation.data import check_kernel_matrix, check_sample_weight, check_X

NAN = float("nan")


@pytest.mark.parametrize(("given", "expected"), [(None, [1.0, 1.0]), (2, [2.0, 2.0]), ([0, 3], [0.0, 3.0])])
def test_weights_are_one_number_per_sample(given, expected):
    assert check_sample_weight(given, 2).tolist() == expected


BAD_WEIGHTS = {
    "text": (["a", "b"], "not numbers"),
    "two dimensions": (np.ones((2, 2)), r"must be 1D array or scalar; got an array of shape \(2, 2\)"),
    "too many": ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(2,\)"),
    "negative": ([1, -1], "finite numbers of 0 or more, not all zero"),
    "NaN": ([1, NAN], "finite numbers of 0 or more"),
    "infinite": ([1, np.inf], "finite numbers of 0 or more"),
    "all zero": ([0, 0], "not all zero"),
    "zero for all": (0.0, "not all zero"),
    "negative for all": (-1.0, "finite numbers of 0 or more"),
    "NaN for all": (NAN, "finite numbers of 0 or more"),
}


@pytest.mark.parametrize(("given", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(given, 2)


def test_a_kernel_matrix_is_symmetric():
    K = np.array([[1.0, 0.2], [0.2, 1.0]])
    assert check_kernel_matrix(K) is K
    with pytest.raises(ValueError, match="not symmetric"):
        check_kernel_matrix(K + [[0.0, 1e-3], [0.0, 0.0]])


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_samples_have_sorted_indices_of_32_bits_and_the_given_ones_stay(container):
    given = container(([1.0, 2.0, 3.0], np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    checked = check_X(SVM(), given, reset=True)
    assert isinstance(checked, container)
    assert checked.indices.dtype == checked.indptr.dtype == np.int32
    assert checked.indices.tolist() == [0, 2, 1]
    np.testing.assert_array_equal(checked.toarray(), [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    assert given.indices.dtype == np.int64
    assert given.indices.tolist() == [2, 0, 1]
