"""What fit is given, checked together."""

import numpy as np
import pytest

from factories import make_estimator, two_gaussians
from semisvm.self_training import WRAPPERS


@pytest.mark.parametrize("name", ["SVM", "CCCPTSVM", "SwitchingTSVM", "GradientTSVM", "SwitchingLSSVM", *WRAPPERS])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_given_label_stays_at_a_sample_of_weight_zero(name, n_classes):
    X, y = two_gaussians(shift=3.0)
    if n_classes == 3:
        y[np.flatnonzero(y == 1)[:4]] = 3
    wrong = np.flatnonzero(y == 1)[0]
    y[wrong], weights = 2, np.ones(len(y))
    weights[wrong] = 0.0
    fitted = make_estimator(name).fit(X, y, sample_weight=weights)
    assert fitted.predict(X[[wrong]]) != 2
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])
    only = make_estimator(name).fit(X, np.where(np.arange(len(y)) == wrong, 9, y), sample_weight=weights)
    assert len(only.classes_) == n_classes
    assert only.transduction_[wrong] == 9  # of a class that has no weight
