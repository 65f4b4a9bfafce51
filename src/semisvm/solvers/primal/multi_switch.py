"""Multiple switching, SVMlin's transductive SVM: many pairs of labels are swapped between two solves.

The unlabeled samples with the highest scores of the supervised model get the label +1, as many as the balance asks for.
Their cost increases from 0.03 of the full cost to the full cost by a factor 2. At each level the problem is solved with
fixed labels, then positive samples are swapped with negative ones of higher score, the worst pairs first, until no pair
is left. With f fixed a swap decreases the losses, with labels fixed a solve decreases the objective: at one level it
never increases, and the number of positive samples stays.

A solve on the way halves the root of the predicted decrease, about one step of conjugate gradients, since its labels
will change; at the full cost the last switches are looked for at an accurate solution. SVMlin starts at 1e-5, has a
factor 1.5 and solves all levels accurately: that costs more and ends higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...balance import Count, Free, labels_in_band
from ...losses import SquaredHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Solution
from ..base import Accepts, StoppingRule
from .batch import BatchSolver, Coroutine
from .newton_search import NewtonSearch

FIRST_LEVEL, LEVEL_FACTOR = 0.03, 2.0
REDUCTION = 0.5  # of the root of the predicted decrease, by a solve on the way
TIGHT = 1e-2  # times tol: accuracy at which the last switches are looked for


@dataclass(frozen=True)
class MultiSwitch(BatchSolver):
    """Switching of many pairs under an increasing cost of the unlabeled samples.

    Parameters
    ----------
    tol : float
        Root of the decrease of the objective that a Newton step predicts at which a solve ends, relative to the
        objective.
    max_iter : int
        Largest number of solves.
    max_switches : int
        Largest number of pairs that are swapped between two solves.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    V. Sindhwani and S. S. Keerthi, "Large scale semi-supervised linear SVMs", SIGIR, 2006.
    https://doi.org/10.1145/1148170.1148253
    """

    max_switches: int = 10_000

    accepts: ClassVar[Accepts] = Accepts(
        (SquaredHinge,), (SymmetricSquaredHinge,), (Free, Count), space="features", batch=True
    )

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """Level after level, the last at the full cost."""
        search = NewtonSearch(problem, self.tol, stop, at_labels=True)
        with stop:
            if not len(search.searched):
                yield from search.solve_and_polish(search.costs(0.0))
                return search.solution()
            yield from search.solve(search.costs(0.0), self.tol)
            scores = search.iterate.f[search.searched]
            search.relabel(labels_in_band(scores, search.weights, problem.balance))
            search.log(0.0)
            level, tol, reduction = FIRST_LEVEL, self.tol, REDUCTION
            while stop.running:
                yield from search.solve(search.label_costs(level), tol, reduction)
                switched = search.switch(self.max_switches)
                search.log(level)
                if switched or level < 1.0:
                    level = level if switched else min(LEVEL_FACTOR * level, 1.0)
                elif reduction > 0.0:
                    tol, reduction = TIGHT * self.tol, 0.0
                elif stop.running:
                    yield from search.polish()
        return search.solution()
