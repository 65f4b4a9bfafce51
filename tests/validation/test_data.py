"""Weights, kernel matrices and training sets."""

import numpy as np
import pytest

from semisvm._validation.data import check_kernel_matrix, check_sample_weight

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
