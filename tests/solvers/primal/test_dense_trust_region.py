"""Steps in a trust region against the conditions of More and Sorensen."""

import numpy as np
import pytest

from factories import random_samples
from semisvm.solvers.primal.dense_trust_region import quadratic_model


def matrices(kind, seed, d=5):
    A, root = random_samples(d, d, seed), random_samples(2 * d, d, seed + 1)
    hessian = A + A.T if kind != "convex" else A @ A.T + 0.1 * np.eye(d)
    gradient = random_samples(1, d, seed + 2)[0]
    metric = root.T @ root
    if kind == "hard":  # no gradient along the first direction
        first = quadratic_model(gradient, hessian, metric).vectors[:, 0]
        gradient = gradient - metric @ first * (first @ gradient)
    return gradient if kind != "no gradient" else 0.0 * gradient, hessian, metric


@pytest.mark.parametrize("radius", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["convex", "indefinite", "hard", "no gradient"])
def test_step_is_the_best_of_its_length(kind, radius):
    for seed in range(5):
        gradient, hessian, metric = matrices(kind, seed)
        step = quadratic_model(gradient, hessian, metric).step(radius)
        s = step.change
        assert step.length == pytest.approx(np.sqrt(s @ metric @ s), rel=1e-8)
        assert step.length <= radius * (1 + 1e-8)
        assert step.predicted == pytest.approx(-(gradient @ s + 0.5 * s @ hessian @ s), rel=1e-8, abs=1e-12)
        shift = -s @ (gradient + hessian @ s) / (s @ metric @ s)
        scale = np.abs(gradient).max() + np.abs(hessian @ s).max()
        np.testing.assert_allclose(gradient + (hessian + shift * metric) @ s, 0.0, atol=1e-7 * scale)
        assert shift >= -1e-7
        least = np.linalg.eigvals(np.linalg.solve(metric, hessian + shift * metric)).real.min()
        assert least >= -1e-7 * (1.0 + abs(shift))
        if shift > 1e-6:
            assert step.length == pytest.approx(radius, rel=1e-6)
