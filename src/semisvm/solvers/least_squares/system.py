"""The linear system of a least-squares problem, and solutions from labels.

The quadratic form of a problem depends on its space, costs and intercept alone and is computed once for these: it
serves all classes and every restart. Samples without a cost are not part of it; the model scores them like new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...problem import Problem, objective, objective_of_scores
from ...solution import Certificate, Solution
from ...spaces import Features, Gram, Kernel, Space, require_memory, submatrix
from ..base import Callback, StoppingRule, without_false_bound
from .dense_form import DenseForm
from .low_rank_form import LowRankForm

GRACE = 0.25  # seconds that a model of the labels found may take in any case
ADVICE = "Use approximation='nystroem'"  # beyond the memory limit
KKT_TOL = 1e-3  # largest residual of a solved system, in units of f


class System(NamedTuple):
    """The quadratic form of a problem and its samples.

    Attributes
    ----------
    form : DenseForm or LowRankForm
        The form.
    samples : int array of shape (m,)
        The samples of positive cost; labeled ones first if the form is dense.
    labeled, searched : int arrays
        Positions in ``samples`` of the labeled ones and of those whose labels are searched.
    """

    form: DenseForm | LowRankForm
    samples: np.ndarray
    labeled: np.ndarray
    searched: np.ndarray


def system_samples(problem: Problem) -> tuple[np.ndarray, bool]:
    """The samples of a problem's system, as in ``System``, and whether its form is dense.

    They are the labeled ones alone where the problem has no loss for the others.
    """
    samples = np.concatenate([problem.labeled_samples, problem.searched])
    is_dense = not isinstance(problem.space, Features) or len(samples) <= problem.space.X.shape[1] + 1
    return (samples if is_dense else np.sort(samples)), is_dense


def build_system(problem: Problem, stop: StoppingRule | None = None) -> System:
    """The system of a problem, computed once for all problems in the space that have the same costs and intercept.

    The deadline of ``stop`` is checked on the way.
    """
    samples, is_dense = system_samples(problem)
    cost = problem.cost[samples]
    key = ("form", problem.intercept, samples.tobytes(), cost.tobytes())

    def build() -> DenseForm | LowRankForm:
        if stop is not None:
            stop.check_time()
        if isinstance(problem.space, Features) and not is_dense:
            return _build_low_rank_form(problem.space, samples, cost, problem.intercept)
        return build_dense_form(problem.space, samples, cost, problem.intercept, stop)

    form, known = problem.space.once(key, build), problem.is_labeled[samples]
    if form.is_lost:  # by Ctrl-C in an earlier fit
        problem.space.forget(key)
        form = problem.space.once(key, build)
    return System(form, samples, np.flatnonzero(known), np.flatnonzero(~known))


def system_in_time(problem: Problem, stop: StoppingRule, entries: bool = False) -> System | None:
    """The system, with the entries of S at hand if they are asked for; None if ``stop`` ends before."""
    with stop:
        system = build_system(problem, stop)
        if entries:
            system.form.prepare_entries(stop)
        return system
    return None


def exact_form_bytes(n: int, itemsize: int) -> int:
    """Memory of a dense form of n samples together with its kernel matrix."""
    return n**2 * (8 + itemsize)


def check_memory(n: int, itemsize: int) -> None:
    """Refuse a dense form that breaks the memory rule."""
    what = f"least squares on {n:,} samples, two matrices of that size,"
    require_memory(exact_form_bytes(n, itemsize), what, ADVICE)


def build_dense_form(
    space: Space, samples: np.ndarray, cost: np.ndarray, intercept: bool | str, stop: StoppingRule | None = None
) -> DenseForm:
    """The form of some samples by their kernel matrix."""
    if isinstance(space, Features) and not space.design.in_memory:
        check_memory(len(samples), itemsize=8)
        return DenseForm(Gram(Kernel("linear"), space.X[samples], float64=True).compute(), cost, intercept, True, stop)
    gram = space.gram()
    check_memory(len(samples), gram.dtype.itemsize)
    if 2 * len(samples) > gram.n and gram.fits_memory:
        K = submatrix(gram.compute(), samples, samples)
    else:
        K = gram.block(samples)
    return DenseForm(K, cost, intercept, True, stop)


def _build_low_rank_form(space: Features, samples: np.ndarray, cost: np.ndarray, intercept: bool | str) -> LowRankForm:
    design, width = space.design, space.design.d + 1
    what = f"least squares on {len(samples):,} samples of {design.d:,} features"
    n_numbers = len(samples) * width if design.in_memory else 3 * width**2  # Q; or G, its factor and its inverse
    require_memory(8 * n_numbers, what, ADVICE)
    return LowRankForm(design.take(samples), cost, intercept)


def solution_from_labels(
    problem: Problem, system: System, y: np.ndarray, soft: bool = False, alpha: np.ndarray | None = None
) -> Solution:
    """The least-squares solution for labels y of the samples of a system, without a certificate.

    ``soft`` labels are targets only; the labels of the solution are then the signs of f. ``alpha`` is S y if that is
    known.
    """
    form, samples = system.form, system.samples
    dual = np.zeros(problem.space.n)
    signs = problem.signs.copy()
    if not soft:
        signs[samples] = y
    if isinstance(form, LowRankForm):
        coef, b = form.primal_solution(y)
        f = problem.space.scores(coef, b)
        dual[samples] = form.cost * (y - f[samples])
        return solution_from_dual(problem, signs, dual, coef, b, f)
    dual[samples] = alpha = form.product(y) if alpha is None else alpha
    return solution_from_dual(problem, signs, dual, problem.space.from_dual(dual), form.intercept_for(y, alpha))


def solution_from_dual(
    problem: Problem, signs: np.ndarray, dual: np.ndarray, coef: np.ndarray, b: float, f: np.ndarray | None = None
) -> Solution:
    """The solution w = sum dual_i phi(x_i), of coordinates ``coef``, without a certificate.

    Its labels are the given signs; where these are zero, the signs of f. ``f`` are the scores if they are known.
    """
    f = problem.space.scores(coef, b) if f is None else f
    labels = np.where(signs != 0, signs, np.where(f > 0, 1.0, -1.0))
    norm2 = float(dual @ (f - b)) if isinstance(problem.space, Gram) else problem.space.norm2(coef)
    value = objective_of_scores(problem, norm2, f, b, None if problem.unlabeled is None else labels)
    return Solution(
        coef, b, f, labels, value, Certificate("none", 0.0), "converged", n_iter=1, multipliers=dual, dual=dual
    )


def last_model(
    problem: Problem,
    first: Solution,
    labels: np.ndarray,
    status: str,
    max_time: float | None,
    trace: Sequence[dict[str, Any]] = (),
) -> Solution:
    """The model of labels of the searched samples, where a limit came before the system of all samples.

    Its system may take half of ``max_time`` more, and a quarter of a second. If that is not enough, f is that of the
    supervised model ``first``. The objective is that of all samples, and nothing is proved about it.
    """
    filled = first.labels.copy()
    filled[problem.searched] = labels
    rule = StoppingRule(max_time=None if max_time is None else 0.5 * max_time + GRACE)
    system = system_in_time(problem, rule)
    if system is None:
        model = replace(first, labels=filled, objective=objective(problem, first.coef, first.intercept, filled))
    else:
        model = solution_from_labels(problem, system, filled[system.samples])
    return replace(
        model,
        certificate=Certificate("none", float(len(problem.searched))),
        status=status,
        n_iter=len(trace) + 1,
        trace=[*trace, {"step": len(trace), "objective": model.objective}],
    )


def searched_solution(
    problem: Problem,
    system: System,
    y: np.ndarray,
    certificate: Certificate,
    stop: StoppingRule,
    alpha: np.ndarray | None = None,
) -> Solution:
    """The solution of the labels at which a search ended; ``alpha`` is S y if that is known."""
    return replace(
        solution_from_labels(problem, system, y, alpha=alpha),
        certificate=certificate,
        status=str(stop.status),
        n_iter=max(len(stop.trace), 1),
        trace=stop.trace,
    )


def solve_labeled(problem: Problem, callback: Callback | None = None) -> Solution:
    """The least-squares solution of the labeled samples.

    Its certificate is the residual of the system, with a lower bound on the objective by duality.
    """
    stop = StoppingRule(callback=callback)
    system = build_system(problem)
    y = problem.signs[system.samples]
    solution = solution_from_labels(problem, system, y)
    alpha, b = solution.multipliers[system.samples], solution.intercept
    # the scores of w = sum alpha_i phi(x_i), not of the w that is reported: both are equal unless digits were lost
    f = _scores_at(problem.space, problem.space.from_dual(solution.multipliers), b, system.samples)
    slack = alpha / system.form.cost
    residual = float(np.abs(y - slack - f).max(initial=0.0))
    norm2 = float(alpha @ (f - b)) + (b * b if problem.intercept == "regularized" else 0.0)
    bound = float(alpha @ y - 0.5 * norm2 - 0.5 * alpha @ slack)
    certificate = Certificate("kkt", residual, bound, max(solution.objective - bound, 0.0), KKT_TOL)
    with stop:
        stop.log_iteration({"objective": solution.objective, "violation": residual}, converged=True)
    solved = replace(solution, certificate=certificate, status=str(stop.status), trace=stop.trace)
    return without_false_bound(problem, solved)


def _scores_at(space: Space, coef: np.ndarray, b: float, samples: np.ndarray) -> np.ndarray:
    """f at some samples, without the others where there are features."""
    if isinstance(space, Features):
        return space.design.take(samples).product(coef) + b
    return space.scores(coef, b)[samples]
