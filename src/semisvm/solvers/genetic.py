"""S3VM-GA (Adankon and Cheriet): a population of labelings that are crossed and mutated.

An individual is a labeling of the working rows; its fitness is beta L + (1 - beta) N_SV, with L the objective of the
machine trained on it and N_SV the number of its support vectors, and the smallest is best. Two individuals are chosen
by tournament and crossed at two points (three, if long); a gene of the child changes with a probability in proportion
to the slack of its row at the parent's machine; where that breaks the balance, the labels that the machine likes least
are changed. The child's machine starts from the parent's. The best individual always stays.

The working set grows: it begins with the labeled rows, and each stage adds the rows nearest to it. A new row takes the
side of an individual's machine where |f| > 1, else a random one. A stage ends when the best fitness has stalled; in
between the balance asks only that the whole can still meet it. What the paper leaves open is decided here: sizes,
rates, stages, the end by stall, and a last search by ``pair_switching`` from the best labeling.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..balance import Count, Free
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import in_threads
from .held_labels import Changes, Trainer, free_rows, restricted, supervised
from .label_search import labels_in_band
from .limits import Limits, deadline
from .pair_switching import PairSwitching
from .smo import SMO

STAGES = 40
STAGE_ROWS = 5  # at least so many join at a stage
STALLED = 1e-6  # relative fall of the best fitness below which a generation has brought nothing
LONG = 100  # genes from which on a crossover has three points
CROSSED, MUTATIONS = 0.9, 2.0  # share of children with two parents; genes of a child that change, on average


@dataclass
class Individual:
    """Labels of the working rows, the machine trained on them, and what they are worth."""

    y: np.ndarray
    trainer: Trainer
    fitness: float = np.inf
    value: float = np.inf

    def judge(self, cost_of_value: float, tol: float) -> None:
        """Train and weigh."""
        self.value = self.trainer.train(self.y, None, tol)
        support = np.count_nonzero(self.trainer.point.a[: len(self.y)])
        self.fitness = cost_of_value * self.value + (1.0 - cost_of_value) * support


@dataclass(frozen=True)
class Genetic:
    """Genetic search over the labels of the unlabeled rows.

    Parameters
    ----------
    population : int
        Individuals.
    generations : int
        Largest number of generations at a stage.
    beta : float
        Weight of the objective in the fitness; the rest is that of the number of support vectors.
    stall : int
        Generations without a better fitness after which the last stage ends; a third of it ends the others.
    tol : float
        Largest violation of the optimality conditions of a machine, in units of f.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    population: int = 30
    generations: int = 100
    beta: float = 0.65
    stall: int = 12
    tol: float = 1e-3
    max_time: float | None = None

    losses = (Hinge, SquaredHinge)
    unlabeled_losses = (type(None), SymmetricHinge, SymmetricSquaredHinge)
    balances = (Free, Count)
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search from the supervised machine; the labels of another solution become an individual."""
        end = deadline(self.max_time)
        rows = free_rows(problem)
        if problem.unlabeled is None or not (problem.cost[rows] > 0).any():
            return supervised(problem, self.tol, self.max_time, callback)
        search = Evolution(problem, start, self, callback, end, np.random.default_rng(rng))
        try:
            status = search.run()
        except KeyboardInterrupt:
            status = "interrupted"
        return search.end(status)


def nearest_first(problem: Problem, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The rows in the order in which they come to be the nearest one to what is in already."""
    gram = problem.space.gram()
    diagonal = gram.diagonal()
    distance = np.full(len(rows), np.inf)

    def near(row: int) -> None:
        unit = np.zeros(gram.n)
        unit[row] = 1.0
        np.minimum(distance, diagonal[rows] + diagonal[row] - 2.0 * gram.times(unit)[rows], out=distance)

    for row in known:
        near(row)
    order = np.empty(len(rows), dtype=int)
    out = np.zeros(len(rows), dtype=bool)
    for step in range(len(rows)):
        order[step] = np.argmin(np.where(out, np.inf, distance))
        out[order[step]] = True
        near(rows[order[step]])
    return rows[order]


class Evolution:
    """The search of one problem."""

    def __init__(self, problem: Problem, start, solver: Genetic, callback, end: float, rng):
        self.problem, self.solver, self.callback, self.end_time, self.rng = problem, solver, callback, end, rng
        self.known = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
        self.first = SMO(solver.tol, max_time=solver.max_time).solve(problem.alone())
        self.order = nearest_first(problem, free_rows(problem), self.known)
        self.start = None if start is None else start.labels[self.order]
        far = self.first.scores[self.order[np.abs(self.first.scores[self.order]).argmax()]]
        self.side = 1.0 if far > 0 else -1.0  # random labels change with the names of the classes
        self.whole = Changes(problem)
        ranked = labels_in_band(self.first.scores[self.whole.rows], self.whole.weight, problem.balance)
        self.whole_band = self.whole.band(ranked)
        self.people: list[Individual] = []
        self.here = 0
        self.trace: list[dict] = []

    # ---------------------------------------------------------------- stages

    def run(self) -> str:
        """Stage after stage, until all rows work."""
        if self.first.status != "converged":
            return self.first.status
        step = max(STAGE_ROWS, -(-len(self.order) // STAGES))
        while self.here < len(self.order):
            self._grow(min(self.here + step, len(self.order)))
            last = self.here == len(self.order)
            reason = self._stage(self.solver.stall if last else max(1, self.solver.stall // 3))
            if reason:
                return reason
        return "converged"

    def _grow(self, count: int) -> None:
        """More rows join; every individual labels them by its own machine where that is sure."""
        before, self.here = self.here, count
        rows = np.r_[self.known, self.order[:count]]
        self.local = restricted(self.problem, rows)
        self.changes = Changes(self.local)
        self.free = slice(len(self.known), len(rows))
        self.band = self._reachable()
        new = self.order[before:count]
        parents = self.people or [None] * self.solver.population
        self.people = [self._extended(parent, new, number) for number, parent in enumerate(parents)]
        self._judge(self.people)

    def _reachable(self) -> tuple[float, float]:
        """Weight of positive working rows from which the whole can still meet its balance."""
        low, high = self.whole_band
        return low - (self.whole.weight.sum() - self.changes.weight.sum()), high

    def _extended(self, parent: Individual | None, new: np.ndarray, number: int) -> Individual:
        """An individual with new rows; the first follows its machine everywhere."""
        f = self._scores_of(parent, new)
        chance = self.side * np.where(self.rng.random(len(new)) < 0.5, 1.0, -1.0)
        own = np.where(f > 0, 1.0, -1.0)
        fresh = own if number == 0 else np.where(np.abs(f) > 1.0, own, chance)
        if self.start is not None and number == 1:
            fresh = self.start[self.here - len(new) : self.here]
        old = self.problem.signs[self.known] if parent is None else parent.y
        y = np.r_[old, fresh]
        trainer = Trainer(self.local, Limits(deadline=self.end_time))
        scores = np.r_[np.zeros(len(old)), f]
        if parent is not None:
            scores[: len(old)] = parent.trainer.scores()
        self._repair(y, scores)
        return Individual(y, trainer)

    def _scores_of(self, parent: Individual | None, new: np.ndarray) -> np.ndarray:
        """F of a machine of the last stage at new rows."""
        if parent is None:
            return self.first.scores[new]
        a = np.zeros(len(self.problem.signs))
        a[np.r_[self.known, self.order[: len(parent.y) - len(self.known)]]] = parent.trainer.point.a[: len(parent.y)]
        f = self.problem.space.gram().times(a)
        return f[new] + parent.trainer.scores()[0] - f[self.known[0]]

    # ---------------------------------------------------------------- generations

    def _stage(self, stall: int) -> str | None:
        """Generations until the best fitness stalls; the reason to stop the search, if there is one."""
        best, idle = self.people[0].fitness, 0
        reason = self._told()
        for _ in range(self.solver.generations):
            if reason or idle >= stall:
                return reason
            children = [self._child() for _ in range(len(self.people) - 1)]
            self._judge(children)
            self.people = sorted([self.people[0], *children], key=lambda person: person.fitness)
            idle = 0 if self.people[0].fitness < best - STALLED * abs(best) else idle + 1
            best = self.people[0].fitness
            reason = self._told()
        return reason

    def _judge(self, people: list[Individual]) -> None:
        """Train all, in threads, and put the best first."""
        in_threads(lambda person: person.judge(self.solver.beta, self.solver.tol), people)
        if people is self.people:
            people.sort(key=lambda person: person.fitness)

    def _parent(self) -> Individual:
        """The better of two drawn at random."""
        return self.people[int(self.rng.integers(len(self.people), size=2).min())]

    def _child(self) -> Individual:
        """Two parents crossed, then mutated where the slack is large."""
        mother, father = self._parent(), self._parent()
        y = mother.y.copy()
        genes = y[self.free]
        if self.rng.random() < CROSSED:
            cuts = np.sort(self.rng.integers(len(genes) + 1, size=2 if len(genes) < LONG else 3))
            taken = (np.searchsorted(cuts, np.arange(len(genes)), side="right") % 2).astype(bool)
            genes[taken] = father.y[self.free][taken]
        f = mother.trainer.scores()
        slack = np.maximum(1.0 - genes * f[self.free], 0.0)
        rate = MUTATIONS * (slack / slack.sum() if slack.any() else np.full(len(genes), 1.0 / len(genes)))
        genes[self.rng.random(len(genes)) < rate] *= -1.0
        self._repair(y, f)
        return Individual(y, replace_limits(mother.trainer, self.end_time))

    def _repair(self, y: np.ndarray, f: np.ndarray) -> None:
        """Change the labels that f likes least until the balance holds."""
        genes, weight = y[self.free], self.changes.weight
        order = np.lexsort((-f[self.free], -genes))  # positive ones first, the best liked first
        sums = np.concatenate([[0.0], np.cumsum(weight[order])])
        off = np.maximum(np.maximum(self.band[0] - sums, sums - self.band[1]), 0.0)
        now = np.count_nonzero(genes > 0)
        if off[now] > 0:
            nearest = np.flatnonzero(off == off.min())
            count = nearest[np.abs(nearest - now).argmin()]
            genes[order] = np.where(np.arange(len(genes)) < count, 1.0, -1.0)

    # ---------------------------------------------------------------- the end

    def _told(self) -> str | None:
        """A row of the trace; the reason to stop, if there is one."""
        best = self.people[0]
        row = {"step": len(self.trace), "objective": best.value, "fitness": best.fitness, "rows": self.here}
        self.trace.append(row | {"violation": best.trainer.point.violation})
        if any(person.trainer.point.status == "interrupted" for person in self.people):
            return "interrupted"
        if self.callback is not None and self.callback(self.trace[-1]):
            return "stopped"
        return "max_time" if time.perf_counter() > self.end_time else None

    def end(self, status: str) -> Solution:
        """The best labeling of all rows, bettered by switching."""
        best = self.people[0] if self.people else None
        guesses = [supervised(self.problem, self.solver.tol, None).labels]
        if best is not None and len(best.y) == len(self.known) + len(self.order):
            guesses[0][self.order] = best.y[len(self.known) :]
        if self.start is not None:
            guesses.append(guesses[0].copy())
            guesses[1][self.order] = self.start
        left = max(self.end_time - time.perf_counter(), 1e-9) if np.isfinite(self.end_time) else None
        switching = PairSwitching(self.solver.tol, max_time=left)
        found = [switching.solve(self.problem, replace(self.first, labels=labels)) for labels in guesses]
        if status == "converged":
            found.append(switching.solve(self.problem))  # switching from its own start is sometimes better
        solution = min(found, key=lambda one: one.objective)
        row = {"step": len(self.trace), "objective": solution.objective, "fitness": self._fitness(solution)}
        solution.trace = [*self.trace, row | {"rows": len(self.order), "violation": solution.certificate.value}]
        solution.n_iter = len(solution.trace)
        solution.status = status if status != "converged" else solution.status
        return solution

    def _fitness(self, solution: Solution) -> float:
        support = np.count_nonzero(solution.multipliers)
        return self.solver.beta * solution.objective + (1.0 - self.solver.beta) * support


def replace_limits(trainer: Trainer, end: float) -> Trainer:
    """A copy that counts its own steps."""
    twin = trainer.copy()
    twin.limits = Limits(deadline=end)
    return twin
