"""Newton's method in a trust region against other minimizers, on convex and nonconvex objectives."""

import numpy as np
import pytest
from scipy import optimize

from factories import INTERCEPTS, dense_samples, primal_problem, run_coroutine
from semisvm.balance import Free, Mean
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.primal.gradient import losses_with_share
from semisvm.solvers.primal.operator import Iterate, PrimalOperator
from semisvm.solvers.primal.trust_region import minimize


class Setting:
    """A problem of squared hinges and the Gaussian loss, whose objective is one of theta."""

    def __init__(self, seed=0, **options):
        self.problem = primal_problem(seed, losses="gaussian", cost_spread=0.5, **options)
        self.operator, self.objective = PrimalOperator(self.problem), losses_with_share(self.problem, 1.0)

    def scores(self, theta):
        w, b = self.operator.split(theta)
        return dense_samples(self.problem) @ w + b

    def value(self, theta):
        return self.operator.half_norm2(theta) + self.objective.value(self.scores(theta))

    def gradient(self, theta):
        by_score = self.objective.gradient(self.scores(theta))
        return self.operator.norm_gradient(theta) + run_coroutine(self.operator, self.operator.adjoint(by_score))

    def minimize(self, start, tol=1e-10, max_steps=200, stop=None):
        iterate = Iterate(start, self.scores(start))
        coroutine = minimize(self.operator, self.objective, iterate, tol, max_steps, stop or StoppingRule())
        return run_coroutine(self.operator, coroutine)

    @property
    def zero(self):
        return np.zeros(self.operator.size)


@pytest.mark.parametrize("balance", [Free(), Mean(0.2)], ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("space", ["features", "csr"])
def test_minimizer_of_a_convex_objective_is_that_of_another_method(balance, intercept, space):
    setting = Setting(C_unlabeled=0.01, balance=balance, intercept=intercept, space=space)  # hardly any Gaussian loss
    found = setting.minimize(setting.zero)
    np.testing.assert_allclose(found.f, setting.scores(found.theta), atol=1e-9)
    assert found.violation <= 1e-10
    other = optimize.minimize(setting.value, setting.zero, jac=setting.gradient, tol=1e-12)
    np.testing.assert_allclose(found.theta, other.x, atol=1e-5)
    assert setting.value(found.theta) <= other.fun + 1e-10


def test_minimizer_of_a_nonconvex_objective_is_a_local_minimum():
    n_negative = 0
    for seed in range(6):
        setting = Setting(seed, C_unlabeled=5.0)
        start = 0.3 * np.random.default_rng(seed).standard_normal(setting.operator.size)
        found = setting.minimize(start)
        assert found.violation <= 1e-10
        A = np.c_[dense_samples(setting.problem), np.full(40, setting.operator.unit)]
        N = np.diag(np.r_[np.ones(A.shape[1] - 1), 0.0])

        def smallest_curvature(theta, setting=setting, A=A, N=N):
            return np.linalg.eigvalsh(N + (A.T * setting.objective.curvature(setting.scores(theta))) @ A)[0]

        assert smallest_curvature(found.theta) > -1e-8
        n_negative += smallest_curvature(start) < 0
        assert setting.value(found.theta) < setting.value(start)
    assert n_negative >= 3  # some searches start where the curvature is negative


def test_objective_never_increases_and_the_violation_is_that_of_the_end():
    for seed in range(3):
        setting = Setting(seed, C_unlabeled=5.0, C=10.0)
        values, scale = (
            [],
            np.linalg.norm(setting.gradient(setting.zero) - setting.operator.norm_gradient(setting.zero)),
        )
        for max_steps in range(15):
            found = setting.minimize(setting.zero, 1e-12, max_steps)
            values.append(setting.value(found.theta))
            size = np.linalg.norm(setting.gradient(found.theta))
            assert found.violation == pytest.approx(size / (scale + np.linalg.norm(found.theta)), rel=1e-4, abs=1e-14)
        assert (np.diff(values) <= 1e-12 * abs(values[0])).all()
        assert values[-1] < values[0]


def test_no_step_is_made_when_time_is_over_or_none_is_allowed():
    setting = Setting()
    start = np.full(setting.operator.size, 0.1)
    for found in (setting.minimize(start, max_steps=0), setting.minimize(start, stop=StoppingRule(max_time=-1.0))):
        np.testing.assert_array_equal(found.theta, start)
        assert 0.0 < found.violation < np.inf
    end = setting.minimize(start)
    np.testing.assert_array_equal(setting.minimize(end.theta).theta, end.theta)
