"""S3VM-GA: a genetic algorithm over the labels of the unlabeled samples.

An individual is a labeling of the working set; its fitness is beta L + (1 - beta) N_SV, with L the objective of the SVM
trained on it and N_SV the number of its support vectors, and the smallest is best. Two individuals are chosen by
tournament and crossed at two points (three, if long); a gene of the child mutates with a probability proportional to
the slack of its sample in the parent's SVM; where that breaks the balance, the labels that fit the SVM worst are
changed. The child's SVM starts from the parent's; labels that an individual has already are not trained again. The best
individual always survives.

The working set grows: it begins with the labeled samples, and each stage adds the samples nearest to it. A new sample
takes the side of an individual's SVM where |f| > 1, else a random one. A stage ends when the best fitness has stalled;
before the last stage the balance asks only that all samples together can still meet it. What the article leaves open is
decided here: sizes, rates, stages, the end by stall, and a last search by ``pair_switching`` from the best labeling.

Where no more labelings keep the balance than ``generations`` generations could train, there is nothing to evolve: each
is trained once, a population of them at a time, and the one of smallest objective is the best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._threads import run_in_threads
from ...balance import Count, Free, labels_in_band, positive_band
from ...losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Solution
from ..base import Accepts, Callback, Solver, StoppingRule
from .fixed_labels import LabelMoves, Trainer, restrict, solve_supervised
from .pair_switching import PairSwitching

N_STAGES = 40
MIN_STAGE_SIZE = 5  # samples that are added at a stage, at least
SWITCHING_SHARE = 0.3  # of the time, for the switching of pairs at the end
STALLED = 1e-6  # relative decrease of the best fitness below which a generation has improved nothing
LONG = 100  # genes from which on a crossover has three points
TIGHT = 1e-3  # times tol: accuracy of the SVMs where all labelings are compared by their objectives alone
CROSSOVER_RATE, N_MUTATIONS = 0.9, 2.0  # share of children with two parents; mean number of genes that mutate


@dataclass
class _Individual:
    """Labels of the working set, the SVM trained on them, and their fitness."""

    y: np.ndarray
    trainer: Trainer
    fitness: float = np.inf
    objective: float = np.inf

    def evaluate(self, beta: float, tol: float) -> None:
        """Train, and compute the fitness."""
        self.objective = self.trainer.train(self.y, None, tol)
        n_support = np.count_nonzero(self.trainer.point.a[: len(self.y)])
        self.fitness = beta * self.objective + (1.0 - beta) * n_support


@dataclass(frozen=True)
class Genetic(Solver):
    """Genetic search over the labels of the unlabeled samples.

    Parameters
    ----------
    population : int
        Number of individuals.
    generations : int
        Largest number of generations at a stage. If at most ``population * generations`` labelings keep the balance,
        all of them are trained instead.
    beta : float
        Weight of the objective in the fitness; the rest is that of the number of support vectors.
    stall : int
        Generations without a better fitness after which the last stage ends; a third of it ends the others.
    tol : float
        Largest violation of the optimality conditions of an SVM, in units of f.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    M. M. Adankon and M. Cheriet, "Genetic algorithm-based training for semi-supervised SVM", Neural Computing and
    Applications 19, 2010. https://doi.org/10.1007/s00521-010-0358-8
    """

    population: int = 30
    generations: int = 100
    beta: float = 0.65
    stall: int = 12
    tol: float = 1e-3

    accepts: ClassVar[Accepts] = Accepts(
        (Hinge, SquaredHinge), (SymmetricHinge, SymmetricSquaredHinge), (Free, Count), space="gram", at_labels=True
    )

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Search from the supervised SVM; the labels of another solution become an individual."""
        if not len(problem.searched):
            return solve_supervised(problem, self.tol, self.max_time, callback)
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        search = _Evolution(problem, start, self, stop, np.random.default_rng(rng))
        with stop:
            search.run()
        return search.solution()


def nearest_first(problem: Problem, samples: np.ndarray, start: np.ndarray, stop: StoppingRule) -> np.ndarray:
    """The samples in the order in which each is the nearest one to ``start`` and those before it.

    If time or Ctrl-C ends ``stop`` on the way, the samples that are left come last, as they came.
    """
    gram = problem.space.gram()
    distance = np.full(len(samples), np.inf)
    order: list[int] = []
    taken = np.zeros(len(samples), dtype=bool)
    with stop.nested() as rule:
        for sample in start:
            np.minimum(distance, gram.squared_distances(sample)[samples], out=distance)
            rule.count(1, {})
            if not rule.running:
                break
        while rule.running and len(order) < len(samples):
            nearest = int(np.argmin(np.where(taken, np.inf, distance)))
            taken[nearest] = True
            order.append(nearest)
            np.minimum(distance, gram.squared_distances(samples[nearest])[samples], out=distance)
            rule.count(1, {})
    return samples[np.r_[np.array(order, dtype=int), np.flatnonzero(~taken)]]


def labelings_in_band(weights: np.ndarray, band: tuple[float, float], n_max: int, side: float) -> np.ndarray | None:
    """All labels of samples whose positive ones have a weight in the band, the label ``side`` first.

    None if there are more than ``n_max``, be it only of labels of the first samples that the others can complete if
    they may be split.
    """
    Y, positive, left = np.zeros((1, 0)), np.zeros(1), float(weights.sum())
    for weight in weights:
        labels = np.tile([side, -side], len(Y))
        Y = np.column_stack([np.repeat(Y, 2, axis=0), labels])
        positive, left = np.repeat(positive, 2) + weight * (labels > 0), left - weight
        possible = (positive <= band[1]) & (positive + left >= band[0])
        Y, positive = Y[possible], positive[possible]
        if len(Y) > n_max:
            return None
    return Y[(band[0] <= positive) & (positive <= band[1])]


class _Evolution:
    """The search of one problem."""

    def __init__(
        self,
        problem: Problem,
        start: Solution | None,
        solver: Genetic,
        stop: StoppingRule,
        rng: np.random.Generator,
    ):
        self.problem, self.solver, self.stop, self.rng = problem, solver, stop, rng
        self.labeled = problem.labeled_samples
        self.supervised = solve_supervised(problem, solver.tol, stop.time_left)
        if self.supervised.ended_early:
            stop.end(self.supervised.status)
        self.moves = LabelMoves(problem)
        self.order = self.moves.samples
        if stop.running:
            self.order = nearest_first(problem, self.moves.samples, self.labeled, stop)
        self.start = None if start is None else start.labels[self.order]
        scores = self.supervised.scores
        surest = scores[self.order[np.abs(scores[self.order]).argmax()]]
        # the sign of random labels, so that they do not depend on which class is the positive one
        self.side = 1.0 if surest > 0 else -1.0
        ranked = labels_in_band(scores[self.moves.samples], self.moves.weights, problem.balance)
        self.full_band = self.moves.band(ranked)
        self.individuals: list[_Individual] = []
        self.n_working = 0
        self.compared_all = False  # whether the best individual is the best of all labelings that keep the balance
        self.ended_by_time = False

    # ---------------------------------------------------------------- stages

    def run(self) -> None:
        """All labelings if they are few, else stage after stage until all samples are in the working set."""
        labelings = self._few_labelings()
        if labelings is not None and self.stop.running:
            self._compare(labelings)
            return
        size = max(MIN_STAGE_SIZE, -(-len(self.order) // N_STAGES))
        while self.n_working < len(self.order) and not self.ended_by_time:
            if not self._has_time:
                self.ended_by_time = True
                return
            self._grow(min(self.n_working + size, len(self.order)))
            is_last = self.n_working == len(self.order)
            self._run_stage(self.solver.stall if is_last else max(1, self.solver.stall // 3))

    @property
    def _has_time(self) -> bool:
        """Whether generations go on; the last part of the time is for the switching of pairs at the end."""
        max_time, left = self.solver.max_time, self.stop.time_left
        return self.stop.running and (max_time is None or left is None or left > SWITCHING_SHARE * max_time)

    def _grow(self, n_working: int) -> None:
        """More samples join; every individual labels them by its own SVM where that is sure."""
        n_before, self.n_working = self.n_working, n_working
        samples = np.r_[self.labeled, self.order[:n_working]]
        self.working_problem = restrict(self.problem, samples)
        self.weights = self.problem.weights_of(self.order[:n_working])
        self.genes = slice(len(self.labeled), len(samples))
        low, high = self.full_band  # from which all samples together can still meet the balance
        self.band = low - (self.moves.weights.sum() - self.weights.sum()), high
        new = self.order[n_before:n_working]
        parents: list[_Individual | None] = [*self.individuals] or [None] * self.solver.population
        extended = [self._extend(parent, new, number) for number, parent in enumerate(parents)]
        self.individuals = self._evaluate_distinct(extended, [])
        self.individuals.sort(key=lambda individual: individual.fitness)

    def _extend(self, parent: _Individual | None, new: np.ndarray, number: int) -> _Individual:
        """An individual with new samples; the first one follows its SVM everywhere."""
        f = self._scores_at(parent, new)
        random_labels = self.side * np.where(self.rng.random(len(new)) < 0.5, 1.0, -1.0)
        own = np.where(f > 0, 1.0, -1.0)
        labels = own if number == 0 else np.where(np.abs(f) > 1.0, own, random_labels)
        if self.start is not None and number == 1:
            labels = self.start[self.n_working - len(new) : self.n_working]
        if parent is None:
            y, scores = self.problem.signs[self.labeled], self.supervised.scores[self.labeled]
            a = self.supervised.multipliers[self.labeled]
        else:
            y, scores, a = parent.y, parent.trainer.scores(), parent.trainer.point.a[: len(parent.y)]
        y = np.r_[y, labels]
        self._repair(y, np.r_[scores, f])
        return _Individual(y, Trainer(self.working_problem, self.stop, start=np.r_[a, np.zeros(len(new))]))

    def _scores_at(self, parent: _Individual | None, new: np.ndarray) -> np.ndarray:
        """f of an SVM of the last stage at new samples."""
        if parent is None:
            return self.supervised.scores[new]
        a = np.zeros(len(self.problem.signs))
        working_set = np.r_[self.labeled, self.order][: len(parent.y)]
        a[working_set] = parent.trainer.point.a[: len(parent.y)]
        f = self.problem.space.gram().product(a)
        return f[new] + parent.trainer.scores()[0] - f[self.labeled[0]]

    # ---------------------------------------------------------------- few labelings

    def _few_labelings(self) -> np.ndarray | None:
        """The labels of ``order`` that keep the balance, or if none do are as near to it as labels by rank; or None."""
        weights = self.problem.weights_of(self.order)
        n_max = self.solver.population * self.solver.generations
        for band in (positive_band(self.problem.balance, weights), self.full_band):
            labelings = labelings_in_band(weights, band, n_max, self.side)
            if labelings is None or len(labelings):
                return labelings
        return None

    def _compare(self, labelings: np.ndarray) -> None:
        """Train all labelings, as many at a time as the population has individuals, and keep the best."""
        self._grow(len(self.order))
        n_batch, known = self.solver.population, self.problem.signs[self.labeled]
        for first in range(0, len(labelings), n_batch):
            if not self.stop.running:
                return
            best = self.individuals[0]
            batch = [_Individual(np.r_[known, y], best.trainer.copy()) for y in labelings[first : first + n_batch]]
            self._evaluate(batch, TIGHT * self.solver.tol)
            survivors = [best, *batch] if first else batch  # the first population need not keep the balance
            self.individuals = [min(survivors, key=lambda individual: individual.objective)]
            self._log()
        self.compared_all = True

    # ---------------------------------------------------------------- generations

    def _run_stage(self, stall: int) -> None:
        """Generations until the best fitness stalls."""
        best, n_stalled = self.individuals[0].fitness, 0
        self._log()
        for _ in range(self.solver.generations):
            if n_stalled >= stall:
                return
            if not self._has_time:
                self.ended_by_time = True
                return
            children = [self._child() for _ in range(len(self.individuals) - 1)]
            children = self._evaluate_distinct(children, self.individuals)
            self.individuals = sorted([self.individuals[0], *children], key=lambda individual: individual.fitness)
            n_stalled = 0 if self.individuals[0].fitness < best - STALLED * abs(best) else n_stalled + 1
            best = self.individuals[0].fitness
            self._log()

    def _evaluate(self, individuals: list[_Individual], tol: float | None = None) -> None:
        """Train all, in threads, up to the tolerance of the solver or another one."""
        beta, tol = self.solver.beta, self.solver.tol if tol is None else tol
        run_in_threads(lambda individual: individual.evaluate(beta, tol), individuals)

    def _evaluate_distinct(self, individuals: list[_Individual], known: list[_Individual]) -> list[_Individual]:
        """Train those whose labels nobody before them has, known ones included; the others are replaced by these."""
        of_labels = {individual.y.tobytes(): individual for individual in known}
        n_known = len(of_labels)
        distinct = [of_labels.setdefault(individual.y.tobytes(), individual) for individual in individuals]
        self._evaluate(list(of_labels.values())[n_known:])
        return distinct

    def _select_parent(self) -> _Individual:
        """The better of two drawn at random."""
        return self.individuals[int(self.rng.integers(len(self.individuals), size=2).min())]

    def _child(self) -> _Individual:
        """Two parents crossed, then mutated where the slack is large."""
        mother, father = self._select_parent(), self._select_parent()
        y = mother.y.copy()
        genes = y[self.genes]
        if self.rng.random() < CROSSOVER_RATE:
            cuts = np.sort(self.rng.integers(len(genes) + 1, size=2 if len(genes) < LONG else 3))
            from_father = (np.searchsorted(cuts, np.arange(len(genes)), side="right") % 2).astype(bool)
            genes[from_father] = father.y[self.genes][from_father]
        f = mother.trainer.scores()
        slack = np.maximum(1.0 - genes * f[self.genes], 0.0)
        rate = N_MUTATIONS * (slack / slack.sum() if slack.any() else np.full(len(genes), 1.0 / len(genes)))
        genes[self.rng.random(len(genes)) < rate] *= -1.0
        self._repair(y, f)
        return _Individual(y, mother.trainer.copy())

    def _repair(self, y: np.ndarray, f: np.ndarray) -> None:
        """Change the labels that fit f worst until the balance holds."""
        genes = y[self.genes]
        order = np.lexsort((-f[self.genes], -genes))  # positive ones first, those that fit best first
        sums = np.concatenate([[0.0], np.cumsum(self.weights[order])])
        distance = np.maximum(np.maximum(self.band[0] - sums, sums - self.band[1]), 0.0)
        count = np.count_nonzero(genes > 0)
        if distance[count] > 0:
            nearest = np.flatnonzero(distance == distance.min())
            count = nearest[np.abs(nearest - count).argmin()]
            genes[order] = np.where(np.arange(len(genes)) < count, 1.0, -1.0)

    # ---------------------------------------------------------------- the end

    def _log(self) -> None:
        best = self.individuals[0]
        row = {
            "objective": best.objective,
            "fitness": best.fitness,
            "n_samples": self.n_working,
            "violation": best.trainer.point.violation,
        }
        self.stop.log_iteration(row)

    def _switch(self, start: Solution | None) -> None:
        """Pair switching in the time left; an early end of it is one of the search."""
        found = PairSwitching(self.solver.tol, max_time=self.stop.time_left).solve(self.problem, start)
        self.stop.offer(found.objective, found)
        if found.ended_early:
            self.stop.end(found.status)

    def _labels_of_best(self) -> np.ndarray:
        """Labels of the best individual; the samples that have not joined it are labeled by its SVM, within balance."""
        labels = self.supervised.labels.copy()
        if self.individuals and np.isfinite(self.individuals[0].objective):
            best = self.individuals[0]
            n_known = len(best.y) - len(self.labeled)
            labels[self.order[:n_known]] = best.y[len(self.labeled) :]
            if n_known < len(self.order):
                f = self._scores_at(best, self.order)
                f[:n_known] = np.abs(f).max(initial=1.0) * best.y[len(self.labeled) :] * 2.0  # they keep their labels
                labels[self.order] = labels_in_band(f, self.problem.weights_of(self.order), self.problem.balance)
        return labels

    def solution(self) -> Solution:
        """The best labeling of all samples, improved by pair switching; unless all were compared, others as well."""
        starts = [self._labels_of_best()]
        if self.start is not None and not self.compared_all:
            starts.append(starts[0].copy())
            starts[1][self.order] = self.start
        for one in starts:
            self._switch(replace(self.supervised, labels=one))
        if self.stop.running and not self.compared_all:
            self._switch(None)  # from its own start switching is sometimes better
        if self.ended_by_time:
            self.stop.end("max_time")
        assert self.stop.best is not None
        best = self.stop.best[1]
        n_support = np.count_nonzero(best.multipliers)
        row = {
            "step": len(self.stop.trace),
            "objective": best.objective,
            "fitness": self.solver.beta * best.objective + (1.0 - self.solver.beta) * n_support,
            "n_samples": len(self.order),
            "violation": best.certificate.value,
        }
        trace = [*self.stop.trace, row]
        return replace(best, trace=trace, n_iter=len(trace), status=self.stop.status or best.status)
