"""The transductive SVMs with a smooth loss: limit cases and what their parameters do."""

import numpy as np
import pytest

from factories import formulation_of, two_gaussians
from semisvm import SVM, ContinuationTSVM, GradientTSVM
from semisvm.solvers import Continuation, GradientPath

LOSSES = {GradientTSVM: "squared_hinge", ContinuationTSVM: "hinge"}
every_class = pytest.mark.parametrize("cls", LOSSES)


@every_class
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_unlabeled_samples_or_their_cost_the_model_is_supervised(cls, kernel):
    X, y = two_gaussians(60, 14, 5, 0.8)
    known = y != -1
    params = {"kernel": kernel, "gamma": 0.2, "tol": 1e-8}
    f = SVM(2.0, loss=LOSSES[cls], **params).fit(X[known], y[known]).decision_function(X)
    for fitted in (
        cls(2.0, C_unlabeled=0.0, balance=None, **params).fit(X, y),
        cls(2.0, **params).fit(X[known], y[known]),
    ):
        np.testing.assert_allclose(fitted.decision_function(X), f, atol=1e-6)


def test_parameters_reach_the_solver():
    params = {"tol": 0.1, "max_iter": 7, "max_time": 8.0}
    assert formulation_of(GradientTSVM(**params)).solver == GradientPath(**params)
    assert formulation_of(ContinuationTSVM(**params)).solver == Continuation(**params)
