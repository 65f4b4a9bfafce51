"""The reference solutions for many vectors of labels at once, against interior-point methods one at a time."""

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, search_problem
from references import kernel_squared_hinge_value, label_vectors, linear_svm, smallest_objective, svm_values
from semisvm.balance import Count


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("losses", ["squared_hinge", "hinge"])
def test_values_of_many_vectors_of_labels_are_those_of_interior_point_methods(intercept, losses):
    for seed in range(3):
        problem = search_problem(seed, 5, losses=losses, intercept=intercept, balance=Count(0.4), space="features")
        X, Y = dense_samples(problem), label_vectors(problem)
        assert len(Y) == 10  # two of five are positive
        if losses == "hinge":
            expected = [linear_svm(X, y, problem.cost, intercept, norm=2)[2] for y in Y]
        else:
            K = X @ X.T + 1.0 * (intercept == "regularized")
            expected = [kernel_squared_hinge_value(K, y, problem.cost, intercept is True) for y in Y]
        np.testing.assert_allclose(svm_values(problem, Y), expected, rtol=1e-6)
        assert smallest_objective(problem) == pytest.approx(min(expected), rel=1e-6)
