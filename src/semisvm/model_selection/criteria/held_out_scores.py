r"""Held-out scores of the models at one point of a family, and their derivatives through the optimality conditions.

At a solution a sample is free, at its bound or without a multiplier, and stays so for small changes. Then, with the
free samples F, the bounded ones B and a the multipliers (with their signs),

.. math:: (K_{FF} + D)\,a_F + K_{FB}\,a_B + b = y_F, \qquad 1'a = 0, \qquad a_B = c_B y_B

where D is 0 for the hinge, 1/(2c) for its square and 1/c for least squares, whose samples are all free. Differentiated,
this is a linear system of the free samples. For scores :math:`f = K_{VS} a + b` of held-out samples V and derivatives g
of a criterion in f one solve with the same matrix is enough for all hyperparameters:

.. math:: \begin{pmatrix} K_{FF} + D & 1 \\ 1' & 0 \end{pmatrix} \begin{pmatrix} p \\ q \end{pmatrix} =
   \begin{pmatrix} K_{FV}\,g \\ 1'g \end{pmatrix}, \qquad
   \frac{\partial E}{\partial K} = (g - p)\,a', \qquad
   \frac{\partial E}{\partial \log c} = p \circ D a \text{ on } F, \quad a \circ (K(g - p) - q) \text{ on } B.

References
----------
.. [1] O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for support vector machines",
   Machine Learning 46, 2002. https://doi.org/10.1023/A:1012450327387
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...losses import Squared
from ...solvers.dual.leave_one_out import ActiveSamples, active_samples
from ...solvers.least_squares.system import system_samples
from .closed_form import LeastSquaresModels, Slopes
from .cv_splits import Split
from .model_family import Member, Solved


class HeldOut(NamedTuple):
    """Scores of held-out samples, a column per binary problem, and the way back.

    ``samples`` are positions among those of the fit, one for each time that a sample is held out; ``gradient`` turns
    the derivatives of a criterion in the scores into its gradient.
    """

    scores: np.ndarray
    samples: np.ndarray
    gradient: Callable[[np.ndarray], np.ndarray]


def leave_one_out(models: LeastSquaresModels) -> HeldOut:
    """Scores of every labeled sample by the model without it, y_i - alpha_i / S_ii; found labels stay as they are."""
    known = models.labeled
    residual = models.alpha[known] / models.diagonal[known, None]

    def gradient(slope: np.ndarray) -> np.ndarray:
        in_alpha, in_diagonal = np.zeros_like(models.alpha), np.zeros_like(models.diagonal)
        in_alpha[known] = -slope / models.diagonal[known, None]
        in_diagonal[known] = (slope * residual).sum(axis=1) / models.diagonal[known]
        return models.gradient(Slopes(in_alpha, in_diagonal, 0.0, np.zeros_like(models.cost)))

    return HeldOut(models.y[known] - residual, models.samples[known], gradient)


def by_splits(member: Member, splits: Sequence[Split]) -> HeldOut:
    """Scores of the samples that the splits hold out, by models that are trained without them."""
    solved = [member.solve(split.train) for split in splits]
    scores = [np.column_stack([one.solution.scores[split.test] for one in ones]) for ones, split in zip(solved, splits)]

    def gradient(slope: np.ndarray) -> np.ndarray:
        parts = np.split(slope, np.cumsum([len(split.test) for split in splits])[:-1])
        left, right, labeled_cost, unlabeled_cost = [], [], 0.0, 0.0
        for ones, split, part in zip(solved, splits, parts):
            for one, g in zip(ones, part.T):
                direction, in_cost = _through_conditions(member.K, one, split.test, g)
                left.append(direction)
                right.append(one.solution.multipliers)
                labeled_cost += float(in_cost[one.problem.is_labeled].sum())
                unlabeled_cost += float(in_cost[~one.problem.is_labeled].sum())
        return member.gradient(np.array(left).T @ np.array(right), labeled_cost, unlabeled_cost)

    return HeldOut(np.vstack(scores), np.concatenate([split.test for split in splits]), gradient)


def _through_conditions(K: np.ndarray, one: Solved, test: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g - p over all samples, and the derivatives in log c, for derivatives g in the scores of ``test``."""
    problem, a = one.problem, one.solution.multipliers
    assert a is not None, "solutions of these solvers have multipliers"
    free, bounded, ridge = _active_sets(one)
    shift = 1.0 if problem.intercept == "regularized" else 0.0  # the kernel of that intercept is K + 1
    p, q = np.zeros(len(a)), 0.0
    rhs = K[np.ix_(free, test)] @ g + shift * g.sum()
    if problem.intercept is not True:
        p[free] = _solve(K[np.ix_(free, free)] + shift + np.diag(ridge), rhs)
    elif len(free):
        H = np.ones((len(free) + 1, len(free) + 1))
        H[-1, -1] = 0.0
        H[:-1, :-1] = K[np.ix_(free, free)] + np.diag(ridge)
        found = _solve(H, np.r_[rhs, g.sum()])
        p[free], q = found[:-1], float(found[-1])
    else:  # b is the middle of what two samples allow, and moves with their scores
        p[_limiting(one)] += 0.5 * g.sum()
    direction = -p
    direction[test] += g
    in_cost = np.zeros(len(a))
    in_cost[free] = p[free] * ridge * a[free]
    in_cost[bounded] = a[bounded] * (K[bounded] @ direction + shift * direction.sum() - q)
    return direction, in_cost


def _solve(H: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The solution of a symmetric system; the smallest one where equal or dependent samples make it singular."""
    return np.linalg.lstsq(H, rhs, rcond=None)[0]


def _active_sets(one: Solved) -> ActiveSamples:
    """Free samples, samples at their bound, and D of the free ones."""
    problem = one.problem
    if isinstance(problem.labeled, Squared):
        free = system_samples(problem)[0]
        return ActiveSamples(free, np.zeros(0, dtype=int), 1.0 / problem.cost[free])
    return active_samples(problem, one.solution.multipliers)


def _limiting(one: Solved) -> np.ndarray:
    """The two samples that limit b from below and from above where no sample is free."""
    problem, a, c = one.problem, one.solution.multipliers, one.problem.cost
    part = problem.labeled_samples
    y, allowed = problem.signs[part], problem.signs[part] - (one.solution.scores[part] - one.solution.intercept)
    at_bound = np.abs(a[part]) > 0.5 * c[part]
    can_rise = at_bound == (y < 0)
    below = part[can_rise][np.argmax(allowed[can_rise])]
    above = part[~can_rise][np.argmin(allowed[~can_rise])]
    return np.array([below, above])
