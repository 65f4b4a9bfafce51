"""SVMs whose unlabeled samples have fixed labels: what searches over labels train, each from the one before.

With labels y of +-1 on all samples the problem is an SVM. Its dual differs between two labelings in the bounds of the
samples that changed, and between two costs in the width of the bounds. So a point of one is a start for the other:
multipliers at a bound move with it, those of changed samples go to zero, the others stay. From there Newton steps
(``semismooth_newton``) mostly reach the solution, and pair steps do where they do not. Samples with features are no
exception: so close to a solution, pair steps on the kernel matrix took a tenth to three quarters of the time of the
methods that ``convex`` has for features.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ... import losses
from ...balance import labels_in_band, positive_band
from ...problem import Problem, objective, violation
from ...solution import Certificate, Solution
from ...spaces import Gram, Kernel, memory_limit, submatrix
from ..base import Callback, StoppingRule
from .dual_problem import Dual, DualPoint, PrimalValues, build_dual, primal_values, solution_from_dual
from .semismooth_newton import newton_point
from .smo import MAX_PAIR_STEPS, SMO, solve_dual


def kernel_block(problem: Problem, samples: np.ndarray) -> np.ndarray:
    """Kernel values of some samples with each other, in float64; the whole matrix is computed once for all."""
    gram = problem.space.gram()
    K = submatrix(gram.compute(), samples, samples) if gram.fits_memory else gram.block(samples)
    return np.asarray(K, dtype=np.float64)


def restrict(problem: Problem, samples: np.ndarray) -> Problem:
    """The problem of some samples, on their block of the kernel matrix, which is held if the memory rule allows."""
    weights, gram = None if problem.weights is None else problem.weights[samples], problem.space.gram()
    if gram.is_computed or 8 * len(samples) ** 2 <= memory_limit():
        space = Gram(Kernel("precomputed"), kernel_block(problem, samples))
    else:
        space = Gram(gram.kernel, gram.X[samples], gram.dtype == np.float64)
    return replace(problem, space=space, signs=problem.signs[samples], cost=problem.cost[samples], weights=weights)


class Trainer:
    """Trains the SVM of one labeling after the other, each from the last point.

    Parameters
    ----------
    problem : Problem
        Its labeled loss is a hinge or a squared hinge.
    stop : StoppingRule
        The rule of the search that trains.
    max_pair_steps : float
        Largest number of pair steps of one training.
    start : array of shape (n,), optional
        Multipliers from which the first training starts.

    Attributes
    ----------
    problem, dual, point : Problem, Dual, DualPoint
        The last problem, its dual and its solution; without the last two as long as nothing was trained.
    is_trained : bool
        Whether there is a last point.
    n_pair_steps : int
        Pair steps made so far.
    """

    def __init__(
        self,
        problem: Problem,
        stop: StoppingRule,
        max_pair_steps: float = MAX_PAIR_STEPS,
        start: np.ndarray | None = None,
    ):
        self.problem, self.stop, self.max_pair_steps, self.start = problem, stop, max_pair_steps, start
        self.dual: Dual
        self.point: DualPoint
        self.is_trained = False
        self._values: PrimalValues | None = None
        self.n_pair_steps = 0

    def copy(self) -> Trainer:
        """A trainer at the same point: points are never changed in place."""
        return copy.copy(self)

    def train(self, y: np.ndarray, cost: np.ndarray | None = None, tol: float = 1e-3, polish: bool = False) -> float:
        """Train with labels and costs, from the last point; returns the objective at these costs."""
        self.problem = self.problem.with_labels(y, cost)
        dual = build_dual(self.problem)
        self.point = solve_dual(dual, self._start(dual, tol), tol, self.stop.nested(self.max_pair_steps), polish=polish)
        self.dual, self.is_trained, self._values = dual, True, None
        self.n_pair_steps += self.point.n_iter
        if self.point.status == "max_iter":
            self.stop.end("max_iter")
        return self.objective()

    def _start(self, dual: Dual, tol: float) -> DualPoint | np.ndarray | None:
        """Where pair steps start: at the solution if Newton steps from the last point reach it, else at that point."""
        start = _warm_start(self.point, self.dual, dual) if self.is_trained else self.start
        if start is None or dual.virtual is not None or not dual.gram.is_computed or dual.gram.dtype != np.float64:
            return start
        if isinstance(start, np.ndarray):
            f = dual.gram.product(start) + (0.0 if dual.ridge is None else dual.ridge * start)
            start = DualPoint(start, f, 0.0, np.inf, 0, "converged")
        return newton_point(dual, start.a, start.f, tol) or start

    @property
    def values(self) -> PrimalValues:
        """Scores, intercept and norm at the last point."""
        if self._values is None:
            self._values = primal_values(self.problem, self.dual, self.point)
        return self._values

    def scores(self) -> np.ndarray:
        """f at the samples."""
        return self.values.scores

    def objective(self, problem: Problem | None = None) -> float:
        """The objective at the last point, at the costs of the last problem or of another one."""
        return self.values.objective(problem or self.problem)


def _warm_start(point: DualPoint, old: Dual, new: Dual) -> DualPoint | np.ndarray:
    """A start for a new dual: multipliers at a bound go to the new one; f is kept if none of them moved."""
    n = old.gram.n
    a = point.a.copy()
    own = a[:n]
    for side, old_bound, new_bound in ((1.0, old.upper, new.upper), (-1.0, old.lower, new.lower)):
        at_bound = (own == old_bound) & (side * old_bound > 0) & (side * new_bound > 0)
        moves = at_bound & (new_bound != old_bound) & np.isfinite(new_bound)
        own[moves] = new_bound[moves]
    if not np.array_equal(own, point.a[:n]):
        return a
    f = point.f.copy()
    if old.ridge is not None and new.ridge is not None:
        f[:n] += (new.ridge - old.ridge) * own
    return replace(point, f=f)


def evaluate(
    problem: Problem, trainer: Trainer, y: np.ndarray, status: str, tol: float, trace: list[dict[str, Any]]
) -> Solution:
    """The solution at a trainer's point with labels y, at the full costs of the problem."""
    point = replace(trainer.point, status=status)
    return solution_from_dual(problem.with_labels(y), point, "stationary", tol, trace)


def solve_supervised(
    problem: Problem, tol: float, max_time: float | None, callback: Callback | None = None
) -> Solution:
    """The SVM of the labeled samples, with labels within the balance on the others."""
    solution = SMO(tol, max_time=max_time).solve(problem.labeled_only(), callback=callback)
    rest = np.flatnonzero(problem.mean_weights > 0)
    if not len(rest) or problem.unlabeled is None:
        return solution
    labels = solution.labels.copy()
    labels[rest] = labels_in_band(solution.scores[rest], problem.weights_of(rest), problem.balance)
    return replace(solution, labels=labels)


def evaluate_all_samples(problem: Problem, solution: Solution) -> Solution:
    """A solution of the labeled samples alone, evaluated as one of the SVM of all samples with its labels."""
    value = objective(problem, solution.coef, solution.intercept, solution.labels)
    left = violation(problem.with_labels(solution.labels), solution.multipliers, solution.scores)
    return replace(solution, objective=value, certificate=Certificate("stationary", left, tol=solution.certificate.tol))


class LabelMoves:
    """What changes of labels gain while f is fixed.

    A flip of sample j gains c_j (k(y_j) loss(y_j f_j) - k(-y_j) loss(-y_j f_j)), k being the share of the cost that
    counts for a label; two samples of opposite labels that are swapped gain the sum. The weight of positive samples
    stays in the band of the balance.

    Parameters
    ----------
    problem : Problem
        Its labeled loss is that of the samples with a fixed label.

    Attributes
    ----------
    samples, weights : arrays
        The samples whose labels are searched, and their weights in the balance.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.samples = problem.searched
        self.weights = problem.weights_of(self.samples)
        self.equal_weights = bool(np.all(self.weights == self.weights[:1]))

    def band(self, y: np.ndarray) -> tuple[float, float]:
        """Lowest and highest weight of positive samples, from labels y."""
        return positive_band(self.problem.balance, self.weights, y)

    def within_balance(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Labels y, or labels by the rank of f if y breaks the balance and is not nearer to it than they are."""
        ranked = labels_in_band(f, self.weights, self.problem.balance)
        low, high = self.band(ranked)
        return y if low <= self.weights @ (y > 0) <= high else ranked

    def gains(
        self,
        f: np.ndarray,
        y: np.ndarray,
        positive_share: float = 1.0,
        negative_share: float = 1.0,
        among: np.ndarray | None = None,
    ) -> np.ndarray:
        """What each flip gains; f and y over the searched samples, or over those at some positions among them."""
        samples = self.samples if among is None else self.samples[among]
        positive = positive_share * losses.value(self.problem.labeled, f)
        negative = negative_share * losses.value(self.problem.labeled, -f)
        return self.problem.cost[samples] * np.where(y > 0, positive - negative, negative - positive)

    def best(self, gain: np.ndarray, y: np.ndarray, band: tuple[float, float]) -> tuple[np.ndarray, float]:
        """The flip of largest gain, or the best swap where the balance forbids some flip: positions, and the gain."""
        positive = float(self.weights @ (y > 0))
        after = positive - y * self.weights
        allowed = (band[0] <= after) & (after <= band[1])
        found, best_gain = np.zeros(0, dtype=int), 0.0
        if allowed.any():
            flip = int(np.argmax(np.where(allowed, gain, -np.inf)))
            if gain[flip] > best_gain:
                found, best_gain = np.array([flip]), float(gain[flip])
        positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        if allowed.all() or not len(positives) or not len(negatives):
            return found, best_gain
        pair, pair_gain = self._best_swap(gain, positives, negatives, positive, band)
        return (pair, pair_gain) if pair_gain > best_gain else (found, best_gain)

    def _best_swap(
        self,
        gain: np.ndarray,
        positives: np.ndarray,
        negatives: np.ndarray,
        positive: float,
        band: tuple[float, float],
    ) -> tuple[np.ndarray, float]:
        """The best swap; where weights differ, over all pairs that stay in the band."""
        top = negatives[gain[negatives].argmax()]
        if self.equal_weights:
            first = positives[gain[positives].argmax()]
            return np.array([first, top]), float(gain[first] + gain[top])
        by_weight = negatives[np.argsort(self.weights[negatives], kind="stable")]
        # the weights of a partner with which the positive ones stay in the band are from ends[0] to ends[1]
        ends = self.weights[positives] - positive + np.array(band)[:, None]
        first = np.searchsorted(self.weights[by_weight], ends[0], side="left")
        last = np.searchsorted(self.weights[by_weight], ends[1], side="right")
        pair_gain = gain[positives] + range_maxima(gain[by_weight], first, last)
        best = int(pair_gain.argmax())
        if not pair_gain[best] > 0.0:
            return np.zeros(0, dtype=int), 0.0
        inside = by_weight[first[best] : last[best]]
        return np.array([positives[best], inside[gain[inside].argmax()]]), float(pair_gain[best])


def range_maxima(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The largest of ``values[first:last]`` for many ranges, -inf for empty ones.

    Maxima of all ranges of a power of two are computed by doubling; two of them cover a range.
    """
    largest = np.full(len(first), -np.inf)
    length, maxima = 1, values
    while length <= len(values):
        of_length = (length <= last - first) & (last - first < 2 * length)
        largest[of_length] = np.maximum(maxima[first[of_length]], maxima[last[of_length] - length])
        maxima = np.maximum(maxima[: max(len(maxima) - length, 0)], maxima[length:])
        length *= 2
    return largest
