"""Branch and bound over the labels of the unlabeled samples: the labels of smallest objective, with a proof.

minimize over f and the labels y_j = +-1 of the searched samples that keep the balance

    1/2 ||w||^2 [+ 1/2 b^2] + sum over all i of c_i (1 - y_i f_i)_+^2

A node of the tree fixes the labels of some samples. The squared-hinge SVM of the labeled samples and of these has an
optimum no larger than that of any SVM below the node. So a node whose bound reaches the incumbent is pruned, and so is
one whose positive labels break the balance. The SVMs come from ``active_set``: one label more or less is a few pivots.

At a node each sample j without a label would increase the optimum by (1 - y f_j)_+^2 / (2 p_j), exactly as long as the
support set stays the same. The sample whose likely (less costly) label increases it most is the next to branch on,
because that increases the bounds of both children. The costly label is bounded first and, unless it is pruned, pending;
the search goes down the likely one (``tree``). How much is pruned depends on the first incumbent: that of
``PairSwitching``, and of dives, which label the most certain sample one after the other and are then improved by
``PairSwitching``. Whenever the search stops, the smallest bound of the nodes that are left is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, positive_band
from ...losses import SquaredHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Solution, with_gap
from ...spaces import require_memory
from ..base import Accepts, Callback, Solver, StoppingRule, without_false_bound
from ..dual import PairSwitching, Trainer, evaluate, kernel_block, solve_supervised
from . import active_set
from .tree import MARGIN_TOL, Tree, dive, explore, new_tree

BOUND_ROUNDING = 1e-9  # of a bound: rounding error allowed in it
GAP_ROUNDING = 1e-8  # of the objective: the same in the gap, which has that of the final SVM as well
FIRST_CHUNK = 200  # nodes explored before limits and callback are checked for the first time, at most
PIVOTS_PER_NODE = 10  # a guess, for the size of the first chunk
CHUNK_WORK = 2e8  # multiplications between two such checks: about a fifth of a second
MAX_DIVES, DIVE_WORK = 40, 3e8  # dives before the search: each takes about the cube of the number of samples
DIVE_SPREAD = 0.3  # standard deviation of the logarithms of the factors by which dives differ from each other
SWITCHING_TOL = 1e-4  # tolerance of the SVMs of pair switching
SUPERVISED_TOL = 1e-6  # tolerance of the SVM of the labeled samples
FINAL_TOL = 1e-8  # tolerance of the SVM that is returned


@dataclass(frozen=True)
class BranchBound(Solver):
    """Branch and bound over the labels of the unlabeled samples.

    Parameters
    ----------
    tol : float
        Relative gap at which the labels count as optimal.
    max_iter : int
        Largest number of nodes.
    max_time : float or None
        Seconds after which the best solution so far is returned, with its gap.

    References
    ----------
    O. Chapelle, V. Sindhwani and S. S. Keerthi, "Branch and bound for semi-supervised support vector machines",
    NIPS 19, 2006.
    https://proceedings.neurips.cc/paper_files/paper/2006/hash/8b8388180314a337c9aa3c5aa8e2f37a-Abstract.html
    """

    tol: float = 1e-6
    max_iter: int = 20_000

    accepts: ClassVar[Accepts] = Accepts((SquaredHinge,), (SymmetricSquaredHinge,), (Free, Count), space="gram")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Search from the labels of pair switching, which starts from another solution if there is one."""
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        if len(problem.searched):
            solution, bound = self._search(problem, start, rng, stop)
        else:
            solution = solve_supervised(problem, min(self.tol, SUPERVISED_TOL), stop.time_left, callback)
            bound = solution.certificate.lower_bound or 0.0
        proved = with_gap(solution, bound, (self.tol + GAP_ROUNDING) * abs(solution.objective))
        return without_false_bound(problem, proved)

    def _search(self, problem: Problem, start: Solution | None, rng: Any, stop: StoppingRule) -> tuple[Solution, float]:
        """The best labels found, and a lower bound."""
        n, what = _order(problem), "branch and bound over {:,} samples, three matrices of that size,"
        require_memory(3 * 8 * n**2, what.format(n), "Pass fewer unlabeled samples")  # the kernel values, M and S
        first = PairSwitching(SWITCHING_TOL, max_time=stop.time_left).solve(problem, start)
        search: _TreeSearch | None = None
        if first.ended_early:
            stop.end(first.status)
        elif not stop.has_time_for(len(problem.labeled_samples) * _order(problem) ** 2):  # the first bound
            stop.end("max_time")
        with stop:
            if stop.running:
                try:
                    search = _TreeSearch(problem, first, self.tol, stop)
                    search.run(np.random.default_rng(rng))
                except ZeroDivisionError:  # a pivot, which is above 1/(2c)
                    raise ValueError(_too_large(problem)) from None
        if search is None:
            return _without_search(problem, first, stop)
        return search.solution(self.max_time), search.lower_bound()


def _too_large(problem: Problem) -> str:
    """Why the matrix of the dual cannot be pivoted: what the costs add to its diagonal is lost beside kernel values."""
    largest, cost = float(np.abs(problem.space.gram().diagonal()).max()), float(problem.cost.max())
    return (
        f"kernel values up to {largest:.2g} with costs up to {cost:.2g} are too large for branch and bound: they leave "
        "no digits for 1/(2 C). Center and scale X, for instance with sklearn.preprocessing.StandardScaler, or lower C."
    )


def _order(problem: Problem) -> int:
    """Number of samples in the tableau."""
    return len(problem.labeled_samples) + len(problem.searched)


def _without_search(problem: Problem, first: Solution, stop: StoppingRule) -> tuple[Solution, float]:
    """The labels of pair switching, with the bound of the labeled samples that is found in the time left."""
    bound = max(solve_supervised(problem, SUPERVISED_TOL, stop.time_left).certificate.lower_bound or 0.0, 0.0)
    row = {"step": 0, "objective": first.objective, "bound": bound, "nodes": 0, "pivots": 0}
    return replace(first, status=str(stop.status), trace=[row]), bound


class _TreeSearch:
    """The search of one problem from a first incumbent; the iterations of its stopping rule are nodes."""

    def __init__(self, problem: Problem, first: Solution, tol: float, stop: StoppingRule):
        self.problem, self.first, self.stop = problem, first, stop
        self.samples = problem.searched
        labeled = problem.labeled_samples
        both = np.r_[labeled, self.samples]
        K = kernel_block(problem, both)
        if problem.intercept == "regularized":
            K = K + 1.0
        M = K + np.diag(0.5 / problem.cost[both])
        self.tableau = active_set.new_tableau(M, problem.signs[both], problem.intercept is True)
        self.cost = problem.cost[self.samples]
        # Random factors are drawn in the order of |f|, so that dives do not depend on the order of the samples.
        self.order = np.argsort(np.abs(first.scores[self.samples]), kind="stable")
        labels, weights = first.labels[self.samples], problem.weights_of(self.samples)
        positions, band = np.arange(len(labeled), len(both)), positive_band(problem.balance, weights, labels)
        self.tree = new_tree(positions, weights, band, tol)
        self.tree.incumbent[0], self.tree.incumbent_y[:] = first.objective, labels
        self.tree.node_bound[0] = max(active_set.solve(self.tableau, MARGIN_TOL, np.inf), 0.0)  # of the labeled samples
        self.none_left = False

    def run(self, rng: np.random.Generator) -> None:
        """Dives, then nodes, a chunk at a time."""
        self._dive(rng)
        self._log(0)
        chunk = int(np.clip(CHUNK_WORK / (PIVOTS_PER_NODE * len(self.tableau.M) ** 2), 1, FIRST_CHUNK))
        while self.stop.running:
            n_nodes = int(min(chunk, self.stop.max_iter - self.stop.n_iter))
            incumbent, n_pivots = self.tree.incumbent[0], self.tableau.n_pivots[1]
            self.none_left = explore(self.tableau, self.tree, self.cost, n_nodes)
            if self.tree.incumbent[0] < incumbent and not self.none_left:
                self._improve(self.tree)
            work = int(self.tableau.n_pivots[1] - n_pivots) * len(self.tableau.M) ** 2
            chunk = max(1, min(2 * chunk, int(chunk * CHUNK_WORK / max(work, 1))))
            self._log(n_nodes)

    def _dive(self, rng: np.random.Generator) -> None:
        """A few dives, each improved by pair switching: the smaller the incumbent, the more is pruned."""
        trial = self.tree._replace(incumbent=np.array([np.inf]), incumbent_y=self.tree.incumbent_y.copy())
        for number in range(int(np.clip(DIVE_WORK / len(self.tableau.M) ** 3, 1, MAX_DIVES))):
            if not self.stop.running or not self.stop.has_time_for(len(self.tableau.M) ** 3):
                return
            factors = np.empty(len(self.samples))
            factors[self.order] = np.exp((DIVE_SPREAD if number else 0.0) * rng.normal(size=len(factors)))
            trial.incumbent[0] = np.inf
            dive(self.tableau, trial, self.cost, factors)
            self._improve(trial)
            if trial.incumbent[0] < self.tree.incumbent[0]:
                self.tree.incumbent[0], self.tree.incumbent_y[:] = trial.incumbent[0], trial.incumbent_y

    def _improve(self, tree: Tree) -> None:
        """Improve the incumbent of a tree by pair switching."""
        labels = self.first.labels.copy()
        labels[self.samples] = tree.incumbent_y
        solver = PairSwitching(SWITCHING_TOL, max_time=self.stop.time_left)
        improved = solver.solve(self.problem, replace(self.first, labels=labels))
        if improved.status == "interrupted":
            self.stop.end("interrupted")
        elif not improved.ended_early and improved.objective < tree.incumbent[0]:
            tree.incumbent[0], tree.incumbent_y[:] = improved.objective, improved.labels[self.samples]

    def lower_bound(self) -> float:
        """A lower bound on the objective of all labels that keep the balance."""
        tree, depth = self.tree, self.tree.depth[0]
        bound = tree.incumbent[0] * tree.prune_factor[0]
        if not self.none_left:
            pending = tree.pending_bound[:depth][tree.is_pending[:depth]]
            bound = min(bound, tree.node_bound[0], pending.min(initial=np.inf))
        return float(bound) * (1.0 - BOUND_ROUNDING)

    def _row(self, n_nodes: int) -> dict[str, Any]:
        return {
            "step": len(self.stop.trace),
            "objective": float(self.tree.incumbent[0]),
            "bound": self.lower_bound(),
            "nodes": n_nodes,
            "pivots": int(self.tableau.n_pivots[1]),
        }

    def _log(self, n_nodes: int) -> None:
        """Log so many nodes more: an iteration of the rule is a node, a row of the trace is a chunk of them."""
        row = self._row(self.stop.n_iter + n_nodes)
        self.stop.trace.append(row)
        self.stop.count(n_nodes, row, converged=self.none_left)

    def solution(self, max_time: float | None) -> Solution:
        """The SVM of the incumbent, which may take ``max_time`` on its own: without it labels have no f."""
        y = self.problem.signs.copy()
        y[self.samples] = self.tree.incumbent_y
        rule = StoppingRule(max_time=max_time)
        trainer = Trainer(self.problem, rule)
        trainer.train(y, None, FINAL_TOL, polish=True)
        trace = self.stop.trace or [self._row(0)]  # none yet if Ctrl-C ended the dives
        status = rule.status if rule.status and self.stop.status == "converged" else self.stop.status
        solution = evaluate(self.problem, trainer, y, str(status), FINAL_TOL, trace)
        return replace(solution, details={"nodes": float(self.stop.n_iter)})
