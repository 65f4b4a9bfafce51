"""C="auto" means the same on every scale of the samples."""

import numpy as np
import pytest

from factories import make_estimator, two_gaussians

NAMES = [
    "SVM",
    "RampSVM",
    "LSSVM",
    "CCCPTSVM",
    "SwitchingTSVM",
    "SwitchingLSSVM",
    "GradientTSVM",
    "MultiSwitchTSVM",
    "AnnealingTSVM",
]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scales", [(1e-12, 1e12), pytest.param((1e-5, 1e10), marks=pytest.mark.slow)], ids=str)
def test_scale_of_the_samples_changes_nothing(name, kernel, scales):
    X, y = two_gaussians(120, 40, seed=1)
    estimator = make_estimator(name, C="auto", kernel=kernel, tol=1e-6, random_state=0)
    objective, labels = estimator.fit(X, y).objective_, estimator.transduction_
    for scale in scales:
        fitted = estimator.fit(scale * X, y)
        factor = scale**2 if kernel == "linear" else 1.0  # of 1/2 ||w||^2
        assert fitted.converged_
        assert factor * fitted.objective_ == pytest.approx(objective, rel=1e-4)
        np.testing.assert_array_equal(fitted.transduction_, labels)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e10, 1e12])
def test_the_lower_bound_of_the_svm_is_sharp_on_every_scale(scale):
    X, y = two_gaussians(120, 40, seed=1)
    fitted = make_estimator("SVM", kernel="linear", tol=1e-6).fit(scale * X, y)
    assert fitted.certificate_.lower_bound == pytest.approx(fitted.objective_, rel=1e-9)
