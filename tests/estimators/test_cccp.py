"""``CCCPTSVM``: the SVM where unlabeled samples do not count, and fewer errors where classes are clusters."""

import numpy as np
import pytest

from factories import formulation_of, two_gaussians
from semisvm import CCCPTSVM, SVM
from semisvm.losses import Hinge, SymmetricRamp
from semisvm.solvers import CCCP


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_unlabeled_samples_without_cost_give_the_svm(kernel):
    X, y = two_gaussians(150, 40, 8, 0.4)
    fitted = CCCPTSVM(1.0, C_unlabeled=0.0, balance=None, kernel=kernel, tol=1e-7).fit(X, y)
    svm = SVM(1.0, kernel=kernel, gamma=fitted.gamma_, tol=1e-7).fit(X, y)
    f = svm.decision_function(X)
    np.testing.assert_allclose(fitted.decision_function(X), f, atol=1e-6)
    assert fitted.objective_ == pytest.approx(svm.objective_, rel=1e-8)
    np.testing.assert_allclose(fitted.supervised_.decision_function(X), f, atol=1e-6)


def test_all_labeled_is_the_svm():
    X, y = two_gaussians(80, 80, 10, 0.4)
    both = CCCPTSVM(1.0, tol=1e-7).fit(X, y), SVM(1.0, gamma="median", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(both[0].decision_function(X), both[1].decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(both[0].transduction_, y)


def test_unlabeled_samples_help_where_the_classes_are_clusters():
    X, y = two_gaussians(200, 4, 5, 1.0, seed=1)
    truth = two_gaussians(200, 200, 5, 1.0, seed=1)[1]
    fitted, hidden = CCCPTSVM().fit(X, y), y == -1
    errors = np.mean(fitted.transduction_[hidden] != truth[hidden])
    assert errors < 0.02 < 0.05 < np.mean(fitted.supervised_.predict(X[hidden]) != truth[hidden])


def test_parameters_reach_the_solver_and_the_losses():
    formulation = formulation_of(CCCPTSVM(s=-0.6, tol=0.1, max_iter=7, max_time=8.0))
    assert formulation.solver == CCCP("svm", 0.1, 7, max_time=8.0)
    assert formulation.labeled == Hinge()
    assert formulation.unlabeled == SymmetricRamp(-0.6)
