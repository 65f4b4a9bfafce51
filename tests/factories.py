"""Data, estimators and problems for the tests: the one place where they are made."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from semisvm.balance import Count, Free, Mean
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.estimators import ESTIMATORS
from semisvm.estimators._semi_supervised import SemiSupervisedSVM
from semisvm.estimators.base import settings_of
from semisvm.estimators.problems import Resolved, prepare
from semisvm.losses import (
    Gaussian,
    Hinge,
    Squared,
    SquaredHinge,
    SymmetricHinge,
    SymmetricRamp,
    SymmetricSquared,
    SymmetricSquaredHinge,
)
from semisvm.problem import Problem
from semisvm.self_training import WRAPPERS
from semisvm.solvers.primal import run_batched
from semisvm.solvers.primal.newton import HingeCosts
from semisvm.spaces import Features, Gram, Kernel

FREE = Free()
INTERCEPTS = [True, False, "regularized"]
LOSSES = {
    "hinge": (Hinge(), SymmetricHinge()),
    "squared_hinge": (SquaredHinge(), SymmetricSquaredHinge()),
    "squared": (Squared(), SymmetricSquared()),
    "ramp": (Hinge(), SymmetricRamp()),
    "gaussian": (SquaredHinge(), Gaussian()),
    "hinge_gaussian": (Hinge(), Gaussian()),
}
CONTAINERS = {"dense": np.asarray, "csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}
PATHS = [  # one estimator per code path of the fit pipeline, spaces and multiclass schemes
    "SVM",
    "LSSVM",
    "SparseLSSVM",
    "CCCPTSVM",
    "SwitchingTSVM",
    "MultiSwitchTSVM",
    "GradientTSVM",
    "LocalSearchRLSC",
    "ConcaveLPTSVM",
    "S3VM",
]
SOME = ["SVM", "LSSVM", "CCCPTSVM", "GradientTSVM"]  # of these: by SMO, in closed form, labels searched, on features
SEMI_SUPERVISED = [name for name, cls in ESTIMATORS.items() if issubclass(cls, SemiSupervisedSVM)]
N_SEARCHED = {  # unlabeled samples of which an exact or a long search takes tenths of a second
    "MixedIntegerTSVM": 8,
    "GeneticTSVM": 12,
    "BranchBoundTSVM": 12,
    "SDPTSVM": 12,
    "BayesianLSSVM": 12,
}


def slow_unless(is_fast, *axes):
    """Cases of a parametrization, the product of the axes; those of which ``is_fast`` does not hold are marked slow."""
    marked = []
    for case in product(*axes):
        case = tuple(part for axis in case for part in (axis if type(axis) is tuple else (axis,)))
        marked.append(pytest.param(*case, marks=() if is_fast(*case) else pytest.mark.slow))
    return marked


def random_samples(n, n_features=4, seed=0):
    """Standard normal samples."""
    return np.random.default_rng(seed).standard_normal((n, n_features))


def random_costs(n, seed=1):
    """Costs of samples that differ by a factor of up to 25."""
    return np.random.default_rng(seed).uniform(0.2, 5.0, n)


def random_labels(shape, seed=2):
    """Labels of +-1."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], shape)


def two_gaussians(n=80, n_labeled=20, n_features=8, shift=0.6, seed=0):
    """Two overlapping classes, 1 and 2, and their labels where all but ``n_labeled`` are hidden."""
    X, y = make_two_gaussians(n, n_features, shift, random_state=seed)
    return X, hide_labels(y, n_labeled, random_state=seed)


def blobs(n_classes=3, n=72, n_labeled=24, n_features=4, distance=1.2, seed=0, first_class=0):
    """Classes 0, 1, ... (or from ``first_class`` on) in turn, with means ``distance`` times a random direction.

    All but ``n_labeled`` labels are hidden.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    means = rng.standard_normal((n_classes, n_features))
    X = rng.standard_normal((n, n_features)) + distance * means[y]
    return X, hide_labels(y + first_class, n_labeled, random_state=seed)


def few_unlabeled(name, X, y, marker=-1):
    """X and y with at most as many unlabeled samples as a search of this estimator takes tenths of a second for."""
    unlabeled = np.flatnonzero(np.asarray(y) == marker)
    drop = unlabeled[N_SEARCHED.get(name, len(unlabeled)) :]
    return np.delete(X, drop, axis=0), np.delete(y, drop)


def make_estimator(name, **params):
    """An estimator of the registries with those of the parameters that it has."""
    cls = (ESTIMATORS | WRAPPERS)[name]
    known = cls().get_params(deep=False)
    return cls(**{key: value for key, value in params.items() if key in known})


def formulation_of(estimator):
    """Losses, solver and norm that an estimator chooses."""
    return settings_of(estimator).formulation


def keeps_counts(name):
    """Whether the balance of an estimator is a number of positive labels rather than a mean of f."""
    return Count in formulation_of(ESTIMATORS[name]()).solver.accepts.balances


def binary_problems(fitted, X, y, weights=None):
    """The binary problems that a fitted estimator has solved on samples with labels -1, 1, 2, ..., and their codes."""
    return problems_of_codes(fitted, X, np.where(y == -1, -1, np.searchsorted(fitted.classes_, y)), weights)


def problems_of_codes(fitted, X, codes, weights=None):
    """The same where the positions of the classes are known, -1 for unlabeled samples."""
    used = np.ones(len(codes), dtype=bool) if type(fitted).__name__ in SEMI_SUPERVISED else codes >= 0
    codes = codes[used]
    weights = np.ones(len(codes)) if weights is None else weights[used]
    settings = settings_of(fitted)
    kernel = settings.kernel._replace(gamma=fitted.gamma_)
    problems = prepare(settings, fitted.classes_, X[used], codes, weights, Resolved(kernel, fitted.C_))
    return [problems.state(task, weights) for task in problems.tasks(codes, weights)], codes


def make_space(X, space="rbf", gamma=0.3):
    """Samples behind an rbf kernel ("rbf"), behind a linear one ("linear"), or as features ("features", "csr")."""
    if space in ("rbf", "linear"):
        return Gram(Kernel(space, gamma), X)
    return Features(sparse.csr_array(X) if space == "csr" else X)


def random_problem(
    seed=0,
    n_unlabeled=8,
    *,
    n_labeled=4,
    n_features=2,
    losses="hinge",
    space="rbf",
    balance=FREE,
    intercept=True,
    C=2.0,
    C_unlabeled=0.7,
    cost_spread=0.0,
    weighted=False,
    n_zero_weight=0,
    separation=0.5,
    gamma=0.3,
    zero_below=0.0,
    **other,
):
    """A binary problem of two overlapping classes, samples in random order, both classes among the labeled ones.

    Costs are C and C_unlabeled times the weights, times a random factor of 1 +- ``cost_spread``; ``n_zero_weight``
    samples more, half of them labeled, have weight and cost zero. Features below ``zero_below`` in size are zero.
    """
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled + n_zero_weight
    y = np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], n - 2)]
    X = rng.standard_normal((n, n_features)) + separation * y[:, None] + 0.1
    X[np.abs(X) < zero_below] = 0.0
    signs = np.where(np.arange(n) < n_labeled, y, 0.0)
    weights = rng.uniform(0.4, 2.0, n) if weighted else np.ones(n)
    weights[n_labeled + n_unlabeled :] = 0.0
    signs[n - n_zero_weight // 2 :] = y[n - n_zero_weight // 2 :]
    order = rng.permutation(n)
    X, signs, weights = X[order], signs[order], weights[order]
    cost = np.where(signs != 0, C, C_unlabeled) * weights * rng.uniform(1.0 - cost_spread, 1.0 + cost_spread, n)
    given = weights if weighted or n_zero_weight else None
    labeled, unlabeled = LOSSES[losses]
    where = make_space(X, space, gamma)
    return Problem(where, signs, cost, labeled, unlabeled, balance, intercept, given, **other)


def with_balance(problem, balance):
    """The same problem with another balance."""
    return replace(problem, balance=balance)


def dense_samples(problem):
    """The samples of a problem in a space of features, as a dense array."""
    X = problem.space.X
    return X.toarray() if sparse.issparse(X) else X


def primal_problem(seed=0, n_unlabeled=30, **options):
    """A problem of squared hinges on features some of which are zero, for solvers in the primal."""
    defaults = {"n_labeled": 10, "n_features": 4, "losses": "squared_hinge", "space": "features", "C": 1.0}
    return random_problem(seed, n_unlabeled, **(defaults | {"C_unlabeled": 0.5, "zero_below": 0.3} | options))


def search_problem(seed=0, n_unlabeled=9, **options):
    """A problem for exact searches: classes overlap much and costs differ, so that bounds are loose."""
    defaults = {"losses": "squared_hinge", "C": 5.0, "C_unlabeled": 4.0, "cost_spread": 0.5, "separation": 0.2}
    return random_problem(seed, n_unlabeled, **(defaults | options))


def hinge_search_problem(seed=0, n_unlabeled=8, balance=FREE, intercept="regularized", **options):
    """The same with hinges and an intercept that is not free, as the semidefinite relaxation takes it."""
    options = {"losses": "hinge", "separation": 0.5} | options
    return search_problem(seed, n_unlabeled, balance=balance, intercept=intercept, **options)


def least_squares_problem(seed=0, n_unlabeled=8, *, space="rbf", **options):
    """A problem of squared losses on three features, or on more features than samples ("many features")."""
    many = space == "many features"
    defaults = {"losses": "squared", "n_labeled": 6, "n_features": 60 if many else 3, "C_unlabeled": 0.8, "gamma": 0.4}
    defaults["separation"] = 0.1 if many else 0.4
    return random_problem(seed, n_unlabeled, space="features" if many else space, **(defaults | options))


def take_samples(problem, samples):
    """The problem of some of the samples, in this order."""
    arrays = {name: getattr(problem, name) for name in ("signs", "cost", "weights")}
    taken = {name: None if array is None else array[samples] for name, array in arrays.items()}
    X = problem.space.X[samples]
    space = Gram(problem.space.kernel, X) if isinstance(problem.space, Gram) else Features(X)
    return replace(problem, space=space, **taken)


MODES = [(FREE, True), (FREE, False), (FREE, "regularized"), (Mean(0.2), True), (Mean(-0.4), "regularized")]


def two_sided_costs(n, seed=0):
    """Costs of both hinges at most samples, of one or none at the others."""
    rng = np.random.default_rng(seed)
    positive, negative = (rng.uniform(0.05, 1.5, n) * (rng.random(n) < 0.7) for _ in range(2))
    return HingeCosts(positive, negative)


def run_coroutine(operator, coroutine):
    """The result of a coroutine that asks for products with the data of an operator."""
    return run_batched(operator.design, [coroutine])[0]


class TaskRecorder:
    """A callback of scikit-learn that records the tasks of a fit by name, and stops a task after a number of steps."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return context.task_name == "step" and self.stop_after is not None and context.task_id + 1 >= self.stop_after


class CountingProducts:
    """A design matrix that keeps the method, the number of columns and the arguments of every pass over the data."""

    def __init__(self, design):
        self._design = design
        self.passes, self.arguments = [], []

    def __getattr__(self, method):
        def product(*arguments):
            self.passes.append((method, 1 if arguments[-1].ndim == 1 else arguments[-1].shape[1]))
            self.arguments.append(arguments)
            return getattr(self._design, method)(*arguments)

        return product

    def count(self, method):
        """Number of passes of one method."""
        return sum(name == method for name, _ in self.passes)
