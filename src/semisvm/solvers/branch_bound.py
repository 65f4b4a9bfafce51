"""Branch and bound (Chapelle, Sindhwani and Keerthi): the labels of smallest objective, proven.

A node of the tree holds the labels of some unlabeled rows. The squared-hinge machine of the labeled rows and these
costs no more than any machine below the node, so a node at or above the best machine known is cut off, and so is one
whose positive labels break the balance. The machines come from ``linalg.sweeps``: one label more or less is a few
sweeps.

At a node each row j without a label would add (1 - y f_j)_+^2 / (2 p_j), exactly so while the support set stays. The
row whose cheaper label adds most is next, since it raises the bounds of both children; the dearer label is bounded
first and, if not cut off, kept for later; the search goes down the cheaper one (``tree``). What is cut off hangs on the
first incumbent: that of ``pair_switching`` and of some dives, which label the surest row after the other and are then
bettered by switching. Whenever the search stops, no machine lies below the smallest bound that is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..balance import Count, Free
from ..linalg import sweeps
from ..losses import SquaredHinge, SymmetricSquaredHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import gram_limit
from .held_labels import Changes, Trainer, block, free_rows, judged, supervised, with_bound
from .limits import Limits, deadline
from .pair_switching import PairSwitching
from .tree import SHORT, Tree, dive, explore

ROUNDING = 1e-9  # of a bound: what the table may have lost
NOTHING = 1e-12  # a row of no cost has a ridge that keeps it out
CHUNK = 200  # nodes between two looks at the clock
DIVES, DIVE_WORK = 40, 3e8  # dives before the search; each costs the cube of the rows
SWITCH = 1e-4  # tolerance of the machines that better an incumbent
TILT = 0.3  # how far dives deviate from the surest row, as a standard deviation of logarithms


@dataclass(frozen=True)
class BranchBound:
    """Branch and bound over the labels of the unlabeled rows.

    Parameters
    ----------
    tol : float
        Relative gap at which the best labels count as proven.
    max_iter : int
        Largest number of nodes.
    max_time : float or None
        Seconds after which the best so far is returned, with its gap.
    """

    tol: float = 1e-6
    max_iter: int = 20_000
    max_time: float | None = None

    losses = (SquaredHinge,)
    unlabeled_losses = (type(None), SymmetricSquaredHinge)
    balances = (Free, Count)
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search from the labels of pair switching, or of another solution."""
        end = deadline(self.max_time)
        rows = free_rows(problem)
        if problem.unlabeled is None or not (problem.cost[rows] > 0).any():
            solution = supervised(problem, min(self.tol, 1e-6), self.max_time, callback)
            return with_bound(solution, solution.certificate.lower_bound)
        first = PairSwitching(SWITCH, max_time=self.max_time).solve(problem, start)
        if first.status != "converged" or 3 * 8 * problem.space.gram().n ** 2 > gram_limit():
            root = supervised(problem, 1e-6, None).certificate.lower_bound
            first.status = first.status if first.status != "converged" else "max_iter"
            first.trace = [{"step": 0, "objective": first.objective, "bound": root, "nodes": 0, "sweeps": 0}]
            return with_bound(first, root)
        search = _Search(problem, first, self, callback, end)
        try:
            status = search.run(np.random.default_rng(rng))
        except KeyboardInterrupt:
            status = "interrupted"
        return search.end(status)


class _Search:
    """The search of one problem, its arrays, and what it tells on the way."""

    def __init__(self, problem: Problem, first: Solution, solver: BranchBound, callback, end: float):
        self.problem, self.first, self.solver, self.callback, self.end_time = problem, first, solver, callback, end
        changes = Changes(problem)
        rows = np.r_[np.flatnonzero(problem.is_labeled & (problem.cost > 0)), changes.rows]
        known, u = len(rows) - len(changes.rows), len(changes.rows)
        K = block(problem, rows)
        if problem.intercept == "regularised":
            K = K + 1.0
        cost = problem.cost[rows]
        self.table = sweeps.table(
            K + np.diag(0.5 / np.maximum(cost, NOTHING)), problem.signs[rows], problem.intercept is True
        )
        labels = first.labels[changes.rows]
        self.tree = Tree(
            np.arange(known, known + u), changes.weight, np.array(changes.band(labels)),
            np.zeros(u, int), np.zeros(u), np.zeros(u, np.bool_), np.zeros(u), np.zeros(1, int), np.zeros(1),
            np.array([first.objective]), labels.copy(), np.array([1.0 - solver.tol]),
        )  # fmt: skip
        self.rows, self.cost = changes.rows, cost[known:]
        self.order = np.argsort(np.abs(first.scores[self.rows]), kind="stable")  # whatever order the rows came in
        self.nodes, self.done = 0, False
        self.tree.now[0] = max(sweeps.settle(self.table, SHORT, np.inf), 0.0)  # a bound from the labeled rows
        self.trace: list[dict] = []

    def dives(self, rng: np.random.Generator) -> None:
        """A few dives, each bettered by switching: the better the incumbent, the more is cut off."""
        best, best_y = float(self.tree.best[0]), self.tree.best_y.copy()
        try:
            for number in range(int(np.clip(DIVE_WORK / len(self.table.M) ** 3, 1, DIVES))):
                if time.perf_counter() > self.end_time:
                    break
                tilt = np.empty(len(self.rows))
                tilt[self.order] = np.exp((TILT if number else 0.0) * rng.normal(size=len(tilt)))
                self.tree.best[0] = np.inf
                dive(self.table, self.tree, self.cost, tilt)
                self._switch()
                if self.tree.best[0] < best:
                    best, best_y = float(self.tree.best[0]), self.tree.best_y.copy()
        finally:
            self.tree.best[0], self.tree.best_y[:] = best, best_y

    def _switch(self) -> None:
        """Better the incumbent by switching."""
        labels = self.first.labels.copy()
        labels[self.rows] = self.tree.best_y
        left = max(self.end_time - time.perf_counter(), 1e-9) if np.isfinite(self.end_time) else None
        better = PairSwitching(SWITCH, max_time=left).solve(self.problem, replace(self.first, labels=labels))
        if better.status == "interrupted":  # Ctrl-C was heard within, and ends the whole search
            raise KeyboardInterrupt
        if better.status == "converged" and better.objective < self.tree.best[0]:
            self.tree.best[0], self.tree.best_y[:] = better.objective, better.labels[self.rows]

    def run(self, rng: np.random.Generator) -> str:
        """Nodes, a few at a time, until none is left or a limit is met."""
        chunk = CHUNK
        self.dives(rng)
        while True:
            if self._told():
                return "stopped"
            if self.done:
                return "converged"
            if self.nodes >= self.solver.max_iter:
                return "max_iter"
            began = time.perf_counter()
            if began > self.end_time:
                return "max_time"
            count = min(chunk, self.solver.max_iter - self.nodes)
            known = self.tree.best[0]
            self.done = explore(self.table, self.tree, self.cost, count)
            self.nodes += count
            took = time.perf_counter() - began
            if self.tree.best[0] < known and not self.done:
                self._switch()
            chunk = max(1, min(2 * chunk, int(chunk * 0.2 / max(took, 1e-3))))

    def lower_bound(self) -> float:
        """No machine lies below this."""
        tree, cut = self.tree, float(self.tree.best[0] * self.tree.cut[0])
        if self.done:
            return cut * (1.0 - ROUNDING)
        depth = tree.depth[0]
        waiting = tree.bound[:depth][tree.later[:depth]]
        return float(min(cut, tree.now[0], waiting.min(initial=np.inf))) * (1.0 - ROUNDING)

    def _told(self) -> bool:
        """A row of the trace; whether to stop."""
        row = {"step": len(self.trace), "objective": float(self.tree.best[0]), "bound": self.lower_bound()}
        self.trace.append(row | {"nodes": self.nodes, "sweeps": int(self.table.count[1])})
        return self.callback is not None and bool(self.callback(self.trace[-1]))

    def end(self, status: str) -> Solution:
        """The incumbent as a machine, with the bound."""
        y = np.where(self.problem.is_labeled, self.problem.signs, 0.0)
        y[self.rows] = self.tree.best_y
        trainer = Trainer(self.problem, Limits())
        trainer.train(y, None, 1e-8, polish=True)
        if not self.trace:
            self._told()
        solution = judged(self.problem, trainer, y, status, self.trace)
        solution.facts["nodes"] = float(self.nodes)
        return with_bound(solution, min(self.lower_bound(), solution.objective))
