"""Local search over the labels of the unlabeled samples, under the squared loss.

For fixed labels the smallest objective is 1/2 y'Sy (``quadratic_form``), so labelings are compared without training a
model. S2RLSC tries the samples in turn and flips whatever gains, S2LS-SVM 1 the sample of largest error.
Where the balance forbids a flip, two samples of opposite labels are swapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._threads import n_available_threads, run_in_threads
from ...balance import Balance, Count, Free, labels_by_sign, positive_band
from ...losses import Squared, SymmetricSquared
from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import Accepts, Callback, Solver, StoppingRule
from .dense_form import DenseForm
from .labelings import DenseLabelings, Labelings, LowRankLabelings
from .low_rank_form import LowRankForm
from .streamed_labelings import StreamedLabelings
from .system import System, last_model, searched_solution, solve_labeled, system_in_time

MANY_FLIPS = 10_000  # after so many the best labeling is recomputed, free of rounding error, before the search ends


@dataclass(frozen=True)
class LabelSearch(Solver):
    """Flips and swaps of labels until none improves the objective.

    Parameters
    ----------
    search : {"round_robin", "steepest", "largest"}
        Try the samples in turn, the least certain first; always take the best flip; or take the sample of largest
        error, as S2LS-SVM 1 is published.
    n_init : int
        Labelings to start from: the supervised one, then random ones.
    max_iter : int
        Largest number of rounds over the samples.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    .. [1] F. Gieseke, O. Kramer, A. Airola and T. Pahikkala, "Speedy local search for semi-supervised regularized
       least-squares" (S2RLSC), KI 2011, LNCS 7006. https://doi.org/10.1007/978-3-642-24455-1_8
    .. [2] F. Gieseke, O. Kramer, A. Airola and T. Pahikkala, "Efficient recurrent local search strategies for semi- and
       unsupervised regularized least-squares classification", Evolutionary Intelligence 5, 2012.
       https://doi.org/10.1007/s12065-012-0068-5
    .. [3] M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised least squares support vector machine" (S2LS-SVM 1),
       IEEE Transactions on Neural Networks 20, 2009. https://doi.org/10.1109/TNN.2009.2031143
    """

    search: str = "round_robin"
    n_init: int = 1
    max_iter: int = 1000

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,), (Free, Count))

    def needs_samples(self) -> str | None:
        """The searches for the best of all flips; in turn, the samples are tried where they are."""
        return None if self.search == "round_robin" else f"the search {self.search!r} for the next flip"

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Search from the labels of the supervised model or of another solution."""
        stop = StoppingRule(self.max_iter + 1, self.max_time, callback)  # the first row of the trace is the start
        if not len(problem.searched):
            return solve_labeled(problem.labeled_only(), callback)
        first = solve_labeled(problem.labeled_only()) if start is None else start
        f, weights = first.scores[problem.searched], problem.weights_of(problem.searched)
        if start is None:
            y = labels_by_sign(f, weights, problem.balance)
        else:
            y = start.labels[problem.searched]
        system = system_in_time(problem, stop, entries=True)
        if system is None:
            return last_model(problem, first, y, str(stop.status), self.max_time)
        Y = _initial_labelings(f, y, weights, problem.balance, self.n_init, np.random.default_rng(rng))
        batches = _batches(problem, system, Y, positive_band(problem.balance, weights, y))
        with stop:
            self._run(batches, _least_certain_first(f), stop)
        return self._best_solution(problem, system, batches, stop)

    def prepare(self, problems: Sequence[Problem], stop: StoppingRule) -> None:
        """The system, which all classes against the rest share."""
        if len(problems) > 1 and len(problems[0].searched):
            system_in_time(problems[0], stop, entries=True)

    def _run(self, batches: list[Labelings], order: np.ndarray, stop: StoppingRule) -> None:
        """Rounds until no labeling changes."""
        n_changed = [0] * len(batches)

        def run_round(number: int) -> None:
            n_changed[number] = self._round(batches[number], order)

        _log(batches, 0, stop)
        total = 0
        while stop.running:
            run_in_threads(run_round, list(range(len(batches))))
            total += sum(n_changed)
            if not sum(n_changed) and not self._may_improve(batches, total):
                stop.end("converged")
                return
            _log(batches, sum(n_changed), stop)

    def _may_improve(self, batches: list[Labelings], total: int) -> bool:
        """Whether the best labeling still has a flip that gains, hidden by the rounding errors of many flips."""
        if self.search == "largest" or total <= MANY_FLIPS:
            return False
        batch, r = _best_labeling(batches)
        batch.refresh_one(r)
        batch.n_rejected[r] = 0
        return batch.flip_gain(r) > 0

    def _round(self, batch: Labelings, order: np.ndarray) -> int:
        """A round over the samples in every labeling, then swaps in those whose flips the balance restricts."""
        labelings = range(len(batch.Y))
        if self.search == "largest":
            return sum(batch.flip_largest_error(r) for r in labelings)
        if self.search == "steepest":
            n_changed = sum(batch.descend(r) for r in labelings)
        else:
            n_changed = batch.sweep(order)
        if not n_changed:
            restricted = [r for r in labelings if not batch.allowed(r).all()]
            n_changed = sum(batch.swap(r) for r in restricted)
            batch.n_rejected[restricted] = 0
        return n_changed

    def _best_solution(
        self, problem: Problem, system: System, batches: list[Labelings], stop: StoppingRule
    ) -> Solution:
        """The solution of the best labeling, with what a flip, or a swap if flips are restricted, would still gain."""
        if stop.interrupted:
            for batch in batches:  # Ctrl-C may have come between a change of labels and the update of alpha
                batch.refresh()
        batch, r = _best_labeling(batches)
        gain = batch.flip_gain(r)
        if not batch.allowed(r).all():
            gain = max(gain, batch.swap_gain(r))
        tol = None if self.search == "largest" else 0.0  # the published rule leaves some flips that gain
        certificate = Certificate("no_flip" if gain == 0 else "monotone", gain, tol=tol)
        return searched_solution(problem, system, batch.labels(r), certificate, stop)


def _log(batches: list[Labelings], n_flips: int, stop: StoppingRule) -> None:
    best = min(float(batch.values().min()) for batch in batches)
    stop.log_iteration({"objective": best, "flips": n_flips})


def _best_labeling(batches: list[Labelings]) -> tuple[Labelings, int]:
    """The batch and the number in it of the labeling of smallest objective."""
    values = [batch.values() for batch in batches]
    best = int(np.argmin([batch_values.min() for batch_values in values]))
    return batches[best], int(values[best].argmin())


def _least_certain_first(f: np.ndarray) -> np.ndarray:
    """The samples in an order that does not depend on how they were given."""
    return np.argsort(np.abs(f), kind="stable")


def _initial_labelings(
    f: np.ndarray, y: np.ndarray, weights: np.ndarray, balance: Balance, n_init: int, rng: np.random.Generator
) -> np.ndarray:
    """The labels y, then random ones that keep the balance and do not depend on which class is the positive one."""
    u, order = len(y), _least_certain_first(f)
    side = 1.0 if f[order[-1]] > 0 else -1.0
    Y = np.tile(y.astype(np.int8), (n_init, 1))
    exact = Count(balance.r) if isinstance(balance, Count) else balance
    if isinstance(exact, Count) and np.all(weights == weights[0]):
        low, high = positive_band(exact, weights)
        n_positive = int(np.ceil(low / weights[0]) if side > 0 else np.floor(high / weights[0]))
        for r in range(1, n_init):
            rank = rng.permuted(np.arange(u))
            Y[r, order] = np.where(rank < n_positive if side > 0 else rank >= u - n_positive, 1, -1)
        return Y
    for r in range(1, n_init):
        Y[r, order] = labels_by_sign(side * rng.normal(size=u), weights[order], exact)
    return Y


def _batches(problem: Problem, system: System, Y: np.ndarray, band: tuple[float, float]) -> list[Labelings]:
    """The labelings in as many batches as there are threads; in one where each sample is visited for all of them."""
    fixed = np.zeros(len(system.samples))
    fixed[system.labeled] = problem.signs[system.samples[system.labeled]]
    weights = problem.weights_of(problem.searched)
    if isinstance(system.form, LowRankForm) and not system.form.Z.in_memory:
        return [StreamedLabelings(system.form, fixed, system.searched, Y, weights, band)]
    kind = DenseLabelings if isinstance(system.form, DenseForm) else LowRankLabelings
    n_batches = min(n_available_threads(), max(1, len(Y) // 4))
    return [kind(system.form, fixed, system.searched, batch, weights, band) for batch in np.array_split(Y, n_batches)]
