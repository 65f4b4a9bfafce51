"""No argument is ignored: every parameter of a solver and every piece of a problem changes the computation."""

import dataclasses
import itertools

import numpy as np
import pytest

from factories import INTERCEPTS, LOSSES, random_problem, slow_unless
from semisvm.balance import Count, Free, Mean
from semisvm.losses import Gaussian, Hinge, Ramp, Squared, SquaredHinge, SymmetricRamp
from semisvm.solvers import SOLVERS

OTHER = {  # another value of each parameter
    "max_time": 1e-9,
    "tol": 0.3,
    "max_iter": 1,
    "n_levels": 3,
    "n_init": 5,
    "n_support": 2,
    "init": "subset",
    "search": "largest",
    "selection": "alpha",
    "label_order": "objective",
    "exact": False,
    "confidence_threshold": 0.1,
    "max_distance": 0.1,
    "max_switches": 1,
    "population": 3,
    "generations": 1,
    "beta": 0.1,
    "stall": 1,
}
BESIDE = {  # what else has to be given for a parameter to be in question
    ("integer_quadratic", "n_init"): {"exact": False},
    ("integer_quadratic", "max_distance"): {"confidence_threshold": 0.1},
}
PARAMETERS = [(name, field.name) for name, cls in SOLVERS.items() for field in dataclasses.fields(cls)]
PARAMETERS.remove(("least_squares", "max_time"))  # one linear system, solved to the end, as its docstring says
LONG = ("mixed_integer", "genetic", "branch_bound")  # searches of seconds
SMALL = {"genetic": {"population": 4, "generations": 5}}
BALANCES = [Free(), Count(0.4), Mean(0.1)]


def problems(name, n_labeled=8, n_unlabeled=10, seeds=(5, 6)):
    """The problems that a solver takes, of all kinds."""
    accepts = SOLVERS[name].accepts
    kinds = itertools.product(seeds, LOSSES, BALANCES, INTERCEPTS, ("rbf", "features"), (2, 1))
    for seed, losses, balance, intercept, space, norm in kinds:
        options = {"losses": losses, "balance": balance, "intercept": intercept, "space": space, "norm": norm}
        problem = random_problem(seed, n_unlabeled, n_labeled=n_labeled, separation=0.3, **options)
        if not accepts.unlabeled:
            problem = dataclasses.replace(problem, unlabeled=None)
        if accepts.unsupported(problem) is None:
            yield problem


def outcome(name, problem, **params):
    """What can be seen of a solve."""
    solution = SOLVERS[name](**(SMALL.get(name, {}) | params)).solve(problem, rng=0)
    seen = solution.status, solution.n_iter, len(solution.trace), solution.intercept, solution.objective
    return (
        *seen,
        solution.certificate.kind,
        solution.certificate.lower_bound,
        solution.coef.tobytes(),
        solution.labels.tobytes(),
    )


@pytest.mark.parametrize("name, parameter", PARAMETERS)
def test_every_parameter_of_a_solver_changes_the_computation(name, parameter):
    beside = BESIDE.get((name, parameter), {})
    sizes = [
        (8, 10),
        (60, 60, (5,)),
        (300, 300, (5,)),
    ]  # larger problems where the smaller ones leave nothing to change
    for problem in itertools.chain.from_iterable(problems(name, *size) for size in sizes):
        first = outcome(name, problem, **beside)
        if outcome(name, problem, **(beside | {parameter: OTHER[parameter]})) != first:
            return
    pytest.fail(f"{parameter} of {name} is ignored")


def changes(problem):
    """Pieces of a problem in the place of others, by name."""
    rest = ~problem.is_labeled
    weights, cost = np.ones(len(rest)), problem.cost
    weights[rest] = np.linspace(0.3, 2.0, rest.sum())
    one = np.arange(len(rest)) == np.flatnonzero(~rest)[0]
    yield from (("cost of a labeled sample", {"cost": np.where(one, 3.0 * cost, cost)}), ("norm", {"norm": 1}))
    yield from ((f"balance {balance}", {"balance": balance}) for balance in (Count(0.7), Count(0.4, 0.3), Mean(-0.5)))
    yield from ((f"intercept {intercept}", {"intercept": intercept}) for intercept in INTERCEPTS)
    yield from ((f"labeled {loss}", {"labeled": loss}) for loss in (Hinge(), SquaredHinge(), Squared(), Ramp(-0.3)))
    if problem.unlabeled is None:
        return
    yield "cost of unlabeled samples", {"cost": np.where(rest, 3.0 * cost, cost)}
    yield "no unlabeled loss", {"unlabeled": None}
    if not isinstance(problem.balance, Free):
        yield "weights", {"weights": weights}
    for loss in (*(unlabeled for _, unlabeled in LOSSES.values()), SymmetricRamp(-0.7), Gaussian(1.0)):
        yield f"unlabeled {loss}", {"unlabeled": loss}


@pytest.mark.parametrize("name", slow_unless(lambda name: name not in LONG, SOLVERS))
def test_every_piece_of_a_problem_changes_the_computation_or_is_refused(name):
    tried, effective = set(), set()
    for problem in problems(name, seeds=(5,)):
        first = None
        for piece, change in changes(problem):
            other = dataclasses.replace(problem, **change)
            if piece in effective or all(repr(getattr(problem, key)) == repr(value) for key, value in change.items()):
                continue
            if SOLVERS[name].accepts.unsupported(other) is None:
                first = outcome(name, problem) if first is None else first
                tried.add(piece)
                effective |= {piece} if outcome(name, other) != first else set()
    assert "cost of a labeled sample" in tried
    assert tried == effective
