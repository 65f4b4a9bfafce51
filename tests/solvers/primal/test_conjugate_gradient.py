"""Conjugate gradients against dense linear algebra, with and without a trust region."""

import numpy as np
import pytest

from factories import CountingProducts, primal_problem, run_coroutine
from semisvm.balance import Mean
from semisvm.solvers import StoppingRule
from semisvm.solvers.primal import run_batched
from semisvm.solvers.primal.conjugate_gradient import conjugate_gradient
from semisvm.solvers.primal.operator import PrimalOperator


class Dense:
    """An explicit matrix as the preconditioner."""

    def __init__(self, M):
        self.M = M

    def solve(self, r):
        return np.linalg.solve(self.M, r)


class QuadraticModel:
    """g's + 1/2 s'H s; ``n_negative`` samples have a curvature below zero."""

    def __init__(self, seed=0, n_negative=0, **options):
        self.operator = PrimalOperator(primal_problem(seed, n_features=6, intercept="regularized", **options))
        rng = np.random.default_rng(seed)
        self.h = rng.uniform(0.1, 3.0, 40)
        self.h[:n_negative] *= -10.0
        self.g = rng.standard_normal(self.operator.size)
        units = np.eye(self.operator.size)
        self.H = np.array([run_coroutine(self.operator, self.operator.hessian_product(u, self.h))[0] for u in units])
        self.A = np.array([run_coroutine(self.operator, self.operator.product(u)) for u in units]).T
        self.newton = -np.linalg.solve(self.H, self.g)
        self.jacobi = Dense(np.diag(np.diag(self.H)))

    def run(self, preconditioner, relative_tol, radius=np.inf, stop=None):
        products = CountingProducts(self.operator.design)
        arguments = (self.operator, self.h, self.g, preconditioner, relative_tol, stop or StoppingRule(), radius)
        (self.result,) = run_batched(products, [conjugate_gradient(*arguments)])
        self.n_products = len(products.passes)
        return self.result.step, self.result.decrease

    def decrease(self, step):
        return -(self.g @ step + 0.5 * step @ self.H @ step)


@pytest.mark.parametrize("options", [{}, {"balance": Mean(0.3)}])
def test_step_solves_the_newton_equation_in_as_many_products_as_unknowns(options):
    model = QuadraticModel(**options)
    step, decrease = model.run(model.jacobi, 1e-9)
    np.testing.assert_allclose(step, model.newton, atol=1e-8)
    assert decrease == pytest.approx(model.decrease(step), rel=1e-9)
    assert decrease == pytest.approx(-0.5 * model.g @ model.newton, rel=1e-9)
    assert model.n_products <= model.operator.size + 1


@pytest.mark.parametrize("relative_tol", [0.5, 0.1, 1e-3])
def test_iterations_end_at_the_given_residual(relative_tol):
    model = QuadraticModel()
    for radius in (np.inf, 1e6):
        residual = model.H @ model.run(model.jacobi, relative_tol, radius)[0] + model.g
        n_products = model.n_products
        assert residual @ model.jacobi.solve(residual) <= relative_tol**2 * model.g @ model.jacobi.solve(model.g)
        model.run(model.jacobi, 1e-9)
        assert n_products < model.n_products


@pytest.mark.parametrize("radius", [np.inf, 0.1])
@pytest.mark.parametrize("space", ["features", "csr"])
def test_residual_and_change_of_the_scores_are_those_of_the_step(radius, space):
    model = QuadraticModel(space=space)
    model.h[[3, 17, 25]] = 0.0
    model.H = (model.A.T * model.h) @ model.A + np.diag(model.operator.norm_product(np.ones(len(model.g))))
    step, _ = model.run(model.jacobi, 1e-2, radius)
    np.testing.assert_allclose(model.result.residual, -model.g - model.H @ step, atol=1e-10)
    known = ~np.isnan(model.result.change)
    assert known[model.h != 0.0].all()
    assert known.all() == (space == "features")  # a sparse pass skips samples without curvature
    np.testing.assert_allclose(model.result.change[known], (model.A @ step)[known], atol=1e-12)


def test_first_solve_may_be_given():
    model = QuadraticModel()
    expected = model.run(model.jacobi, 1e-3)[0]
    arguments = (model.operator, model.h, model.g, model.jacobi, 1e-3, StoppingRule())
    given = conjugate_gradient(*arguments, solved=model.jacobi.solve(model.g))
    np.testing.assert_array_equal(run_coroutine(model.operator, given).step, expected)


def test_one_product_is_enough_where_the_preconditioner_is_the_hessian():
    model = QuadraticModel()
    length = np.sqrt(model.newton @ model.H @ model.newton)
    for share in (1e-3, 0.5, 0.999, 1.001, np.inf):  # of the radius: the Newton step is cut there
        step, decrease = model.run(Dense(model.H), 1e-9, share * length)
        np.testing.assert_allclose(step, min(share, 1.0) * model.newton, rtol=1e-9)
        assert decrease == pytest.approx(model.decrease(step), rel=1e-9)
        assert model.n_products == 1


@pytest.mark.parametrize("n_negative", [0, 4, 20])
@pytest.mark.parametrize("radius", [1e-3, 0.1, 1.0, 10.0])
def test_steps_in_a_trust_region_are_at_least_as_good_as_the_cauchy_point(n_negative, radius):
    for seed in range(4):
        model = QuadraticModel(seed, n_negative)
        M = np.diag(np.abs(np.diag(model.H)) + 0.1)
        step, decrease = model.run(Dense(M), 1e-6, radius)
        length = np.sqrt(step @ M @ step)
        assert length <= radius * (1 + 1e-9)
        assert decrease == pytest.approx(model.decrease(step), rel=1e-7, abs=1e-12)
        direction = -np.linalg.solve(M, model.g)
        t, curvature = radius / np.sqrt(direction @ M @ direction), direction @ model.H @ direction
        cauchy = min(t, -model.g @ direction / curvature) if curvature > 0 else t
        assert decrease >= model.decrease(cauchy * direction) * (1 - 1e-9)
        indefinite = np.linalg.eigvalsh(model.H)[0] < 0
        assert n_negative < 20 or indefinite
        if indefinite or np.sqrt(model.newton @ M @ model.newton) > radius * (1 + 1e-6):
            assert length == pytest.approx(radius, rel=1e-9)
        else:
            np.testing.assert_allclose(step, model.newton, atol=1e-4)


def test_negative_curvature_without_a_trust_region_ends_the_iterations():
    model = QuadraticModel(n_negative=40)
    assert np.linalg.eigvalsh(model.H)[-1] < 0
    step, decrease = model.run(Dense(np.eye(model.operator.size)), 1e-9)
    assert not step.any()
    assert decrease == 0.0
    assert model.n_products == 1


def test_deadline_ends_the_iterations_with_a_step_of_descent():
    model = QuadraticModel()
    step, decrease = model.run(model.jacobi, 1e-12, stop=StoppingRule(max_time=-1.0))
    assert model.n_products == 1
    assert decrease > 0.0
    assert decrease == pytest.approx(model.decrease(step))
