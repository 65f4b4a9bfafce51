"""``SwitchingTSVM`` and ``GeneticTSVM``: the problem they state, their parameters, and unfinished fits."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from factories import INTERCEPTS, binary_problems, formulation_of, make_estimator, two_gaussians
from references import kernel_svm_value
from semisvm import GeneticTSVM, SwitchingTSVM
from semisvm.losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from semisvm.problem import objective
from semisvm.solvers import Genetic, PairSwitching

every_name = pytest.mark.parametrize("name", ["SwitchingTSVM", "GeneticTSVM"])


def estimator(name, **params):
    """With a search of tenths of a second."""
    defaults = {"C": 2.0, "gamma": 0.2, "population": 4, "generations": 6, "stall": 2, "random_state": 0}
    return make_estimator(name, **(defaults | params))


def data(n=60, n_labeled=12):
    return two_gaussians(n, n_labeled, 6, 0.5)


@every_name
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", INTERCEPTS, ids=str)
def test_model_solves_the_problem_it_states(name, loss, fit_intercept):
    X, y = data()
    fitted = estimator(name, loss=loss, balance=0.4, fit_intercept=fit_intercept, tol=1e-6).fit(X, y)
    hidden = y == -1
    labels = np.where(fitted.transduction_ == 2, 1.0, -1.0)
    assert (labels[hidden] > 0).sum() == round(0.4 * hidden.sum())
    np.testing.assert_array_equal(fitted.transduction_[~hidden], y[~hidden])
    (problem,), _ = binary_problems(fitted, X, y)
    np.testing.assert_array_equal(problem.cost, 2.0)  # C_unlabeled is C unless given
    assert fitted.objective_ == pytest.approx(kernel_svm_value(problem, labels), rel=1e-6)
    coef = np.zeros(len(y))
    coef[fitted.support_] = fitted.dual_coef_[0]
    assert fitted.objective_ == pytest.approx(objective(problem, coef, fitted.intercept_[0], labels), rel=1e-9)
    assert fitted.converged_
    assert fitted.objective_path_[-1] == pytest.approx(fitted.objective_, rel=1e-9)
    assert len(fitted.objective_path_) == fitted.n_iter_ == len(fitted.trace_)


def test_share_stays_within_its_tolerance():
    X, y = data(80)
    hidden = y == -1
    shares = [
        np.mean(SwitchingTSVM(C=1.0, balance=0.2, balance_tol=tol).fit(X, y).transduction_[hidden] == 2)
        for tol in (0.0, 0.1, 1.0)
    ]
    assert shares[0] == pytest.approx(0.2, abs=0.5 / hidden.sum() + 1e-9)
    assert shares[0] <= shares[1] <= 0.3 + 1e-9
    assert shares[2] > 0.3
    weights = np.random.default_rng(0).uniform(0.2, 2.0, 80)
    labels = SwitchingTSVM(C=1.0, balance=0.4, balance_tol=0.05).fit(X, y, weights).transduction_[hidden]
    assert weights[hidden] @ (labels == 2) / weights[hidden].sum() == pytest.approx(0.4, abs=0.05 + 1e-9)


def test_two_moons_with_two_labels_are_found_without_error():
    X, y = make_moons(80, noise=0.05, random_state=0)
    y += 1
    partial = np.full(80, -1)
    partial[[np.flatnonzero(y == c)[0] for c in (1, 2)]] = 1, 2
    fitted = GeneticTSVM(C=10.0, gamma=2.0, loss="squared_hinge", population=10, random_state=0).fit(X, partial)
    np.testing.assert_array_equal(fitted.transduction_, y)
    np.testing.assert_array_equal(fitted.predict(X), y)
    assert (fitted.supervised_.predict(X) != y).sum() > 5


def test_parameters_reach_the_solver_and_the_losses():
    limits = {"tol": 1e-4, "max_time": 50.0}
    assert formulation_of(SwitchingTSVM(max_iter=9, **limits)).solver == PairSwitching(max_iter=9, **limits)
    params = {"population": 7, "generations": 9, "beta": 0.2, "stall": 4} | limits
    assert formulation_of(GeneticTSVM(**params)).solver == Genetic(**params)
    for cls in (SwitchingTSVM, GeneticTSVM):
        hinge, squared = (formulation_of(cls(loss=loss)) for loss in ("hinge", "squared_hinge"))
        assert (hinge.labeled, hinge.unlabeled) == (Hinge(), SymmetricHinge())
        assert isinstance(squared.labeled, SquaredHinge)
        assert isinstance(squared.unlabeled, SymmetricSquaredHinge)


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("population", [1, 2.5]),
        ("generations", [0]),
        ("beta", [2, -0.1]),
        ("stall", [0]),
        ("balance_tol", [2.0]),
    ],
)
def test_parameters_of_the_search_out_of_range_are_refused_in_a_sentence(parameter, values):
    X, y = data(30, 6)
    for value in values:
        with pytest.raises(ValueError) as error:
            GeneticTSVM(**{parameter: value}).fit(X, y)
        message = str(error.value)
        assert f"{parameter}={value}" in message
        assert "\n" not in message
        assert message.endswith(".")


@pytest.mark.parametrize(
    ("cls", "limit", "message"),
    [
        (SwitchingTSVM, {"max_iter": 3}, "max_iter=3 reached"),
        (GeneticTSVM, {"max_time": 1e-9}, "max_time=1e-09 reached"),
    ],
)
def test_unfinished_fit_warns_and_is_usable(cls, limit, message):
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=message):
        fitted = cls(**limit).fit(X, y)
    assert not fitted.converged_
    assert set(fitted.predict(X)) <= set(fitted.classes_)
    assert set(fitted.transduction_) == set(fitted.classes_)
