"""Factor and inverse by blocks against LAPACK, and limits of time between the blocks."""

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem, random_costs, random_labels, random_samples
from semisvm.balance import Count
from semisvm.solvers import SOLVERS
from semisvm.solvers.base import OutOfTime, StoppingRule
from semisvm.solvers.least_squares import blocked
from semisvm.solvers.least_squares.dense_form import DenseForm

N = 23
LIMITED = ["label_search", "difference_convex", "progressive", "integer_quadratic", "safe_projection"]


class RunningClock:
    """A clock that goes on by a second at every look."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


@pytest.fixture
def running_clock(monkeypatch):
    monkeypatch.setattr(blocked, "BLOCK", 5)
    clock = RunningClock()
    monkeypatch.setattr("semisvm.solvers.base.time", clock)
    return clock


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_blocks_give_the_form_of_the_whole_matrix(monkeypatch, intercept):
    monkeypatch.setattr(blocked, "BLOCK", 5)
    Z, cost, y = random_samples(N), random_costs(N), random_labels(N)
    K = Z @ Z.T
    whole, limited = DenseForm(K, cost, intercept), DenseForm(K, cost, intercept, stop=StoppingRule(max_time=1e9))
    np.testing.assert_allclose(limited.product(y), whole.product(y), rtol=1e-10)
    np.testing.assert_allclose(limited.compute_S(StoppingRule(max_time=1e9)), whole.compute_S(), atol=1e-12)


def test_an_indefinite_matrix_is_refused_by_any_block(monkeypatch):
    monkeypatch.setattr(blocked, "BLOCK", 5)
    K = np.diag(np.r_[np.ones(N - 1), -5.0])
    with pytest.raises(ValueError, match="not positive definite"):
        DenseForm(K, np.ones(N), stop=StoppingRule(max_time=1e9))


def test_a_limit_ends_a_factorization_and_an_inversion_goes_on_where_it_ended(running_clock):
    Z, cost, y = random_samples(N), random_costs(N), random_labels(N)
    K = Z @ Z.T
    with pytest.raises(OutOfTime):
        DenseForm(K, cost, stop=StoppingRule(max_time=3.0))
    form, expected = DenseForm(K, cost), DenseForm(K, cost).compute_S()
    n_calls = 0
    while n_calls < 20:
        n_calls += 1
        with StoppingRule(max_time=3.5) as stop:
            form.compute_S(stop)
            break
        assert stop.status == "max_time"
        if n_calls == 2:
            np.testing.assert_allclose(form.product(y), expected @ y, atol=1e-12)  # ends the inversion
    assert n_calls > 1
    np.testing.assert_allclose(form.compute_S(), expected, atol=1e-12)


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize("seconds", [4.0, 12.0, 40.0])
def test_a_limit_within_the_system_leaves_a_model_with_its_own_objective(running_clock, name, seconds):
    problem = least_squares_problem(0, 30, balance=Count(0.4))
    solution = SOLVERS[name](max_time=seconds).solve(problem)
    assert solution.status in ("max_time", "converged")
    assert solution.certificate.lower_bound is None or solution.certificate.lower_bound <= solution.objective
    f = problem.space.compute() @ solution.coef + solution.intercept
    loss = 0.5 * problem.cost @ (1.0 - solution.labels * f) ** 2
    assert solution.objective == pytest.approx(0.5 * solution.coef @ (f - solution.intercept) + loss, rel=1e-9)
    if seconds == 4.0:
        assert solution.status == "max_time"
