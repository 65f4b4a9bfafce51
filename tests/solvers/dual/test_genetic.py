"""The genetic search against all labelings of small problems, its operators against their definitions, and its ends."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import (
    assert_svm_of_labels,
    keeps_balance,
    kernel_svm_value,
    label_vectors,
    largest_label_gain,
    smallest_objective,
)
from semisvm import _threads
from semisvm.balance import Count, Free
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import SMO, Genetic, PairSwitching, Trainer, genetic, solve_supervised
from semisvm.solvers.dual.genetic import _Evolution, _Individual, labelings_in_band, nearest_first
from semisvm.spaces import Gram

SMALL = Genetic(population=8, generations=10, stall=4, tol=1e-6)
KEYS = ["step", "objective", "fitness", "n_samples", "violation"]
BALANCES = [Free(), Count(0.5), Count(0.35, 0.15)]
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_loss = pytest.mark.parametrize("losses", ["hinge", "squared_hinge"])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=str)


def evolution(problem, start=None, solver=SMALL, seed=0):
    stop = StoppingRule(max_time=solver.max_time)
    return _Evolution(problem, start, solver, stop, np.random.default_rng(seed))


def labels_of_all(search, individual):
    """The labels of an individual at all samples; 0 at those that are not in the working set."""
    y = np.zeros(len(search.problem.signs))
    y[np.r_[search.labeled, search.order[: len(individual.y) - len(search.labeled)]]] = individual.y
    return y


# ---- against all labelings ----


def test_small_problems_mostly_end_at_the_best_labeling():
    """Where the fitness is the objective; never below it, an SVM of its labels, and no change gains."""
    kinds, n_best = list(itertools.product(BALANCES, INTERCEPTS, ["hinge", "squared_hinge"])), 0
    for number, (balance, intercept, losses) in enumerate(kinds):
        problem = random_problem(
            200 + number, 7, balance=balance, intercept=intercept, losses=losses, n_zero_weight=2 * (number % 2)
        )
        solution = replace(SMALL, beta=1.0).solve(problem, rng=0)
        assert solution.status == "converged"
        assert_svm_of_labels(problem, solution)
        best, y = smallest_objective(problem), np.where(problem.cost > 0, solution.labels, 0.0)
        assert solution.objective >= best * (1.0 - 1e-6)
        assert solution.objective == pytest.approx(kernel_svm_value(problem, y), rel=1e-5)
        assert largest_label_gain(problem, solution.scores, y) < 1e-4
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value < 1e-4
        n_best += solution.objective <= best * (1.0 + 1e-5)
    assert n_best >= 15  # of 18


def test_few_labelings_end_at_the_best_one():
    """Whatever the fitness, the weights and the start: as many SVMs as generations could train see all labelings."""
    kinds = itertools.product(
        [Free(), Count(0.5), Count(0.4, 0.1)], [False, True], ["hinge", "squared_hinge"], range(2)
    )
    for number, (balance, weighted, losses, seed) in enumerate(kinds):
        options = {"balance": balance, "weighted": weighted, "losses": losses, "intercept": INTERCEPTS[number % 3]}
        problem = random_problem(500 + seed, 5, C=5.0, C_unlabeled=8.0, separation=0.1, gamma=1.0, **options)
        if not len(label_vectors(problem)):
            continue
        solution = Genetic(population=4, generations=8).solve(problem, rng=0)
        assert solution.objective == pytest.approx(smallest_objective(problem), rel=1e-5)
        assert solution.status == "converged"
        assert_svm_of_labels(problem, solution)


def test_labelings_in_a_band_are_all_of_them_or_too_many():
    weights = np.array([1.0, 2.0, 0.5, 1.5])
    everything = np.array(list(itertools.product((1.0, -1.0), repeat=4)))
    for low, high in [(-np.inf, np.inf), (2.0, 3.0), (0.0, 0.0), (5.0, 5.0), (4.6, 4.9)]:
        positive = (everything > 0) @ weights
        expected = everything[(low <= positive) & (positive <= high)]
        np.testing.assert_array_equal(labelings_in_band(weights, (low, high), 16, 1.0), expected)
    np.testing.assert_array_equal(labelings_in_band(weights, (-np.inf, np.inf), 16, -1.0), -everything)
    assert labelings_in_band(weights, (-np.inf, np.inf), 15, 1.0) is None
    assert len(labelings_in_band(np.ones(200), (199.0, 199.0), 200, 1.0)) == 200
    assert labelings_in_band(np.ones(200), (199.0, 199.0), 199, 1.0) is None


@every_loss
def test_other_weights_keep_a_balance_wider_than_any_of_them(losses):
    for intercept in INTERCEPTS:
        options = {"balance": Count(0.4, 0.2), "intercept": intercept, "losses": losses, "n_zero_weight": 2}
        problem = random_problem(400, 7, weighted=True, **options)
        solution = replace(SMALL, beta=1.0).solve(problem, rng=0)
        assert_svm_of_labels(problem, solution)
        assert solution.objective >= smallest_objective(problem) - 1e-6


def test_other_weights_keep_a_narrow_balance_wherever_ranks_meet_it():
    n_met = 0
    for seed in range(8):
        problem = random_problem(seed, 8, balance=Count(0.4, 0.06), weighted=True)
        solution = SMALL.solve(problem, rng=0)
        if keeps_balance(problem, solve_supervised(problem, 1e-3, None).labels[None]).all():
            n_met += 1
            assert_svm_of_labels(problem, solution)
    assert n_met > 2


def test_it_improves_on_pair_switching():
    ours = theirs = 0.0
    for seed in range(5):
        problem = random_problem(
            300 + seed, 18, balance=Count(0.4), separation=0.2, n_labeled=2, gamma=0.1, C_unlabeled=1.5
        )
        ours += replace(SMALL, beta=1.0).solve(problem, rng=0).objective
        theirs += PairSwitching(1e-6).solve(problem).objective
    assert ours < theirs - 0.1


# ---- stages ----


def nearest_by_loops(K, samples, start):
    inside, outside, order = list(start), list(samples), []
    while outside:
        distance = [min(K[j, j] + K[i, i] - 2.0 * K[i, j] for i in inside) for j in outside]
        sample = outside.pop(int(np.argmin(distance)))
        inside.append(sample)
        order.append(sample)
    return order


@pytest.mark.parametrize("space", ["rbf", "features"])
def test_samples_join_nearest_first(space):
    problem = random_problem(1, 20, n_labeled=5, n_zero_weight=4, space=space)
    labeled = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
    K = random_problem(1, 20, n_labeled=5, n_zero_weight=4, space=space).space.gram().compute()
    order = nearest_first(problem, problem.searched, labeled, StoppingRule())
    assert list(order) == nearest_by_loops(K, problem.searched, labeled)
    assert sorted(order) == list(problem.searched) != list(order)


def test_each_stage_adds_the_next_samples():
    problem = random_problem(2, 17, n_labeled=5)
    search, stages = evolution(problem), []

    def run_stage(stall):
        stages.append((search.n_working, stall))
        samples = np.r_[search.labeled, search.order[: search.n_working]]
        K = problem.space.compute()[np.ix_(samples, samples)]
        np.testing.assert_allclose(search.working_problem.space.compute(), K, atol=1e-12)
        np.testing.assert_array_equal(search.working_problem.signs, problem.signs[samples])
        np.testing.assert_array_equal(search.working_problem.cost, problem.cost[samples])
        for individual in search.individuals:
            assert len(individual.y) == 5 + search.n_working
            np.testing.assert_array_equal(individual.y[:5], problem.signs[search.labeled])
            assert set(individual.y) <= {-1.0, 1.0}

    search._run_stage = run_stage
    search.run()
    assert stages == [(5, 1), (10, 1), (15, 1), (17, SMALL.stall)]


def test_many_samples_join_in_about_forty_stages():
    search = evolution(random_problem(3, 230), solver=Genetic(population=2, generations=1, stall=1))
    sizes = []
    search._run_stage = lambda stall: sizes.append(search.n_working)
    search.run()
    assert np.diff([0, *sizes]).max() == 6
    assert len(sizes) == 39


@every_intercept
@every_loss
def test_new_samples_take_the_side_of_the_svm_where_it_is_certain(intercept, losses, monkeypatch):
    problem = random_problem(4, 24, n_labeled=8, intercept=intercept, losses=losses, separation=0.7, C=5.0)
    search = evolution(problem, solver=Genetic(population=16, generations=3, stall=2, tol=1e-7))
    extended, extend = [], search._extend

    def extend_and_note(parent, new, number):
        individual = extend(parent, new, number)
        extended.append((parent, number, new, individual.y[-len(new) :].copy()))
        return individual

    monkeypatch.setattr(search, "_extend", extend_and_note)
    for n_working in (8, 16, 24):
        search._grow(n_working)
        search._run_stage(2)
    n_certain, at_random = 0, []
    for parent, number, new, labels in extended:
        y = problem.signs if parent is None else labels_of_all(search, parent)
        f = SMO(1e-7).solve(problem.with_labels(y)).scores[new]
        certain = np.abs(f) > 1.0 + 1e-4
        np.testing.assert_array_equal(labels[certain], np.sign(f[certain]))
        n_certain += certain.sum()
        if number == 0:
            np.testing.assert_array_equal(labels, np.sign(f))
        else:
            at_random.append(labels[np.abs(f) < 1.0 - 1e-4])
    at_random = np.concatenate(at_random)
    assert n_certain > 20
    assert len(at_random) > 100
    assert 0.35 < np.mean(at_random > 0) < 0.65  # no balance asks for anything


# ---- individuals ----


@every_loss
@pytest.mark.parametrize("beta", [0.0, 0.65, 1.0])
def test_fitness_is_the_weighted_sum_of_objective_and_number_of_support_vectors(losses, beta):
    problem = random_problem(5, 12, balance=Count(0.5), losses=losses)
    search = evolution(problem, solver=Genetic(population=8, beta=beta, tol=1e-7))
    search._grow(5)
    search._grow(12)
    for individual in search.individuals:
        y = labels_of_all(search, individual)
        assert individual.objective == pytest.approx(kernel_svm_value(problem, y), rel=1e-5)
        n_support = np.count_nonzero(SMO(1e-9).solve(problem.with_labels(y)).multipliers)
        expected = beta * individual.objective + (1.0 - beta) * n_support
        assert individual.fitness == pytest.approx(expected, rel=1e-6)
    fitness = [individual.fitness for individual in search.individuals]
    assert fitness == sorted(fitness)
    assert len(set(np.round(fitness, 6))) > 1


def test_children_are_trained_from_their_mother_who_stays_the_same():
    problem = random_problem(6, 12, balance=Count(0.5))
    search = evolution(problem)
    search._grow(12)
    before = [(p.y.copy(), p.fitness, p.trainer.objective(), p.trainer.n_pair_steps) for p in search.individuals]
    children = [search._child() for _ in range(40)]
    search._evaluate(children)
    for individual, (y, *numbers) in zip(search.individuals, before):
        np.testing.assert_array_equal(individual.y, y)
        assert [individual.fitness, individual.trainer.objective(), individual.trainer.n_pair_steps] == numbers
    for child in children:
        np.testing.assert_array_equal(child.y[: len(search.labeled)], problem.signs[search.labeled])
        assert (child.y[search.genes] > 0).sum() == 6
        cold = Trainer(search.working_problem, StoppingRule())
        assert child.objective == pytest.approx(cold.train(child.y, None, 1e-6), abs=1e-4)
    assert len({tuple(child.y) for child in children}) > 10


def test_equal_labels_are_trained_once(monkeypatch):
    """And have the fitness that training each of them would find."""
    search = evolution(random_problem(6, 12, balance=Count(0.5)), solver=replace(SMALL, tol=1e-8))
    search._grow(12)
    children = [search._child() for _ in range(30)]
    alone = [_Individual(child.y, child.trainer.copy()) for child in children]
    search._evaluate(alone)
    trained, evaluate = [], _Individual.evaluate

    def evaluate_and_note(individual, beta, tol):
        trained.append(tuple(individual.y))
        evaluate(individual, beta, tol)

    monkeypatch.setattr(_Individual, "evaluate", evaluate_and_note)
    distinct = search._evaluate_distinct(children, search.individuals)
    assert set(trained) == {tuple(child.y) for child in children} - {tuple(p.y) for p in search.individuals}
    assert 0 < len(trained) == len(set(trained)) < 20
    for one, other in zip(distinct, alone):
        np.testing.assert_array_equal(one.y, other.y)
        assert one.fitness == pytest.approx(other.fitness, abs=1e-6)


def test_parents_are_the_better_of_two():
    search = evolution(random_problem(7, 12), solver=Genetic(population=10))
    search._grow(12)
    assert len({tuple(individual.y) for individual in search.individuals}) == 10
    rank = {id(individual): number for number, individual in enumerate(search.individuals)}
    drawn = np.array([rank[id(search._select_parent())] for _ in range(4000)])
    shares = np.bincount(drawn, minlength=10) / 4000
    np.testing.assert_allclose(shares, (2 * (10 - np.arange(10)) - 1) / 100, atol=0.03)


@pytest.mark.parametrize(("n", "n_points"), [(60, 2), (120, 3)])
def test_crossover_has_two_points_or_three_if_long(n, n_points, monkeypatch):
    """Without mutation and balance: the mother's genes outside the cuts, the father's between them."""
    search = evolution(random_problem(8, n), solver=Genetic(population=2))
    search._grow(n)
    monkeypatch.setattr(genetic, "N_MUTATIONS", 0.0)
    mother, father = search.individuals
    mother.y[search.genes], father.y[search.genes] = 1.0, -1.0
    parents = itertools.cycle([mother, father])
    monkeypatch.setattr(search, "_select_parent", lambda: next(parents))
    n_turns = []
    for _ in range(200):
        genes = search._child().y[search.genes]
        n_turns.append(np.count_nonzero(np.diff(np.r_[1.0, genes])))
    assert max(n_turns) == n_points
    assert 0.75 < np.mean(np.array(n_turns) > 0) < 0.97  # nine of ten children have two parents


@pytest.mark.parametrize("has_slack", [True, False])
def test_genes_mutate_in_proportion_to_their_slack(has_slack, monkeypatch):
    """All alike if no sample has any; two of them on average."""
    search = evolution(random_problem(9, 10, n_labeled=6, separation=0.8, C=5.0), solver=Genetic(population=2))
    search._grow(10)
    mother, genes = search.individuals[0], search.genes
    monkeypatch.setattr(genetic, "CROSSOVER_RATE", 0.0)
    monkeypatch.setattr(search, "_select_parent", lambda: mother)
    if not has_slack:
        monkeypatch.setattr(mother.trainer, "scores", lambda: 2.0 * mother.y)
    slack = np.maximum(1.0 - mother.y * mother.trainer.scores(), 0.0)[genes]
    assert slack.any() == has_slack
    expected = np.minimum(2.0 * slack / slack.sum(), 1.0) if has_slack else np.full(10, 0.2)
    changed = np.mean([search._child().y[genes] != mother.y[genes] for _ in range(1500)], axis=0)
    np.testing.assert_allclose(changed, expected, atol=0.06)


# ---- the balance on the way ----


@pytest.mark.parametrize("balance", [Count(0.25), Count(0.3, 0.1), Count(0.0), Count(1.0)], ids=str)
def test_band_of_the_working_set_holds_what_the_other_samples_can_complete(balance):
    problem = random_problem(10, 13, balance=balance)
    search = evolution(problem)
    counts = {int((y[problem.searched] > 0).sum()) for y in label_vectors(problem)}
    for n_working in (5, 10, 13):
        search._grow(n_working)
        low, high = search.band
        for k in range(n_working + 1):
            assert (low <= k <= high) == any(k <= count <= k + 13 - n_working for count in counts)
        for individual in search.individuals:
            assert low <= (individual.y[search.genes] > 0).sum() <= high


def test_band_of_the_working_set_with_other_weights_or_without_a_balance():
    problem = random_problem(11, 12, balance=Count(0.4, 0.1), weighted=True)
    search, total = evolution(problem), problem.weights[problem.searched].sum()
    for n_working in (5, 10, 12):
        search._grow(n_working)
        waiting = problem.weights[search.order[n_working:]].sum()
        np.testing.assert_allclose(search.band, (0.3 * total - waiting, 0.5 * total), atol=1e-6)
    free = evolution(random_problem(10, 9))
    free._grow(5)
    assert free.band == (-np.inf, np.inf)


@pytest.mark.parametrize("band", [(3.0, 3.0), (2.0, 4.0), (0.0, 1.0), (7.0, 9.0), (9.0, 9.0)], ids=str)
def test_repair_changes_the_labels_that_fit_worst_and_no_more_than_needed(band):
    rng, (low, high) = np.random.default_rng(0), band
    search = evolution(random_problem(12, 9, n_labeled=5, balance=Count(0.5)))
    search._grow(9)
    search.band = low - 1e-9, high + 1e-9
    for _ in range(60):
        y = np.r_[search.individuals[0].y[:5], rng.choice([-1.0, 1.0], 9)]
        f, before = rng.standard_normal(14), y.copy()
        search._repair(y, f)
        np.testing.assert_array_equal(y[:5], before[:5])
        old, new, f = before[5:], y[5:], f[5:]
        n_before = (old > 0).sum()
        assert (new > 0).sum() == np.clip(n_before, low, high)
        side = 1.0 if n_before > high else -1.0
        changed, same = old != new, (old == side) & (new == side)
        assert (old[changed] == side).all()
        assert (side * f[changed]).max(initial=-np.inf) < (side * f[same]).min(initial=np.inf)


def test_repair_with_other_weights_reaches_a_band_as_wide_as_any_of_them():
    rng = np.random.default_rng(1)
    search = evolution(random_problem(13, 10, balance=Count(0.5, 0.2), weighted=True))
    search._grow(10)
    weights = search.weights
    for _ in range(60):
        low = rng.uniform(0.0, weights.sum() - weights.max())
        search.band = low, low + weights.max()
        y = np.r_[search.individuals[0].y[:4], rng.choice([-1.0, 1.0], 10)]
        search._repair(y, rng.standard_normal(14))
        assert search.band[0] <= weights @ (y[4:] > 0) <= search.band[1]


@every_balance
def test_labels_are_in_the_band_at_every_generation(balance, monkeypatch):
    problem = random_problem(14, 23, balance=balance)
    search, log = evolution(problem), _Evolution._log

    def check_and_log(self):
        for individual in self.individuals:
            assert self.band[0] <= (individual.y[self.genes] > 0).sum() <= self.band[1]
        log(self)

    monkeypatch.setattr(_Evolution, "_log", check_and_log)
    search.run()
    assert len(search.stop.trace) > 10
    assert_svm_of_labels(problem, search.solution())


# ---- generations ----


@pytest.mark.parametrize("beta", [0.65, 1.0])
def test_best_fitness_never_increases_within_a_stage(beta):
    problem = random_problem(15, 22, balance=Count(0.4))
    solution = Genetic(population=8, stall=4, generations=12, beta=beta, tol=1e-6).solve(problem, rng=1)
    assert list(solution.trace[0]) == KEYS
    sizes = [row["n_samples"] for row in solution.trace]
    assert sorted(set(sizes)) == [5, 10, 15, 20, 22]
    assert sizes == sorted(sizes)
    for before, after in itertools.pairwise(solution.trace[:-1]):
        assert before["n_samples"] != after["n_samples"] or after["fitness"] <= before["fitness"]
    last = solution.trace[-1]
    n_support = np.count_nonzero(solution.multipliers)
    assert last["objective"] == solution.objective
    assert last["fitness"] == pytest.approx(beta * solution.objective + (1.0 - beta) * n_support, rel=1e-12)
    assert last["objective"] <= solution.trace[-2]["objective"] + 1e-5
    for row in solution.trace if beta < 1.0 else []:
        count = (row["fitness"] - beta * row["objective"]) / (1.0 - beta)
        assert count == pytest.approx(round(count), abs=1e-6)
        assert 0 < count <= 4 + row["n_samples"] + 1e-6
    assert beta < 1.0 or all(row["fitness"] == row["objective"] for row in solution.trace)


@pytest.mark.parametrize(("stall", "generations"), [(1, 50), (9, 50), (12, 4)])
def test_stage_ends_when_the_best_fitness_has_stalled(stall, generations):
    problem = random_problem(16, 13, balance=Count(0.5))
    solution = Genetic(population=6, stall=stall, generations=generations).solve(problem, rng=0)
    for size in (5, 10, 13):
        fitness = [row["fitness"] for row in solution.trace[:-1] if row["n_samples"] == size]
        patience = stall if size == 13 else max(1, stall // 3)
        n_stalled = 0
        for number, (before, after) in enumerate(itertools.pairwise(fitness), 2):
            n_stalled = 0 if after < before - 1e-6 * abs(before) else n_stalled + 1
            assert (n_stalled >= patience or number == generations + 1) == (number == len(fitness))


def test_best_individual_always_survives(monkeypatch):
    search = evolution(random_problem(17, 12, balance=Count(0.5)), solver=Genetic(population=5))
    search._grow(12)
    best, fitness = search.individuals[0], search.individuals[0].fitness
    monkeypatch.setattr(search, "_evaluate", lambda children: None)  # their fitness stays infinite
    search._run_stage(3)
    assert search.individuals[0] is best
    assert best.fitness == fitness
    assert len(search.individuals) == 5
    assert len(search.stop.trace) == 4


def test_labels_of_a_start_become_an_individual():
    problem = random_problem(18, 5, balance=Count(0.4))
    start, searched = solve_supervised(problem, 1e-3, None), problem.searched
    start.labels[searched] = np.roll(start.labels[searched], 1)
    search = evolution(problem, start)
    search._grow(5)
    wanted = tuple(start.labels[search.order])
    assert wanted in {tuple(individual.y[search.genes]) for individual in search.individuals}


@pytest.mark.parametrize("seed", [2, 5, 9])
def test_objective_is_never_above_that_of_the_start(seed):
    """Few individuals and generations, several stages: a good start is not lost on the way."""
    problem = random_problem(seed, 12, balance=Count(0.5), separation=0.3, gamma=0.1)
    first = solve_supervised(problem, 1e-3, None)
    starts = [PairSwitching(1e-6).solve(problem, replace(first, labels=y)) for y in label_vectors(problem)[::60]]
    best = min(starts, key=lambda solution: solution.objective)
    solution = Genetic(population=4, generations=3, stall=2, beta=1.0, tol=1e-6).solve(problem, best, rng=0)
    assert solution.objective <= best.objective + 1e-5
    assert_svm_of_labels(problem, solution)


# ---- seeds, threads, invariances and limit cases ----


def test_same_seed_gives_the_same_answer_whatever_the_threads(monkeypatch):
    problem = random_problem(19, 15, balance=Count(0.4))
    problem.space.compute()
    solutions = []
    for n_threads in (1, 4):
        monkeypatch.setattr(_threads, "n_available_threads", lambda n=n_threads: n)
        solutions.append(SMALL.solve(problem, rng=3))

    def backwards(task, items):
        for item in items[::-1]:
            task(item)

    monkeypatch.setattr(genetic, "run_in_threads", backwards)
    solutions.append(SMALL.solve(problem, rng=3))
    for solution in solutions[1:]:
        np.testing.assert_array_equal(solution.scores, solutions[0].scores)
        assert solution.trace == solutions[0].trace
    assert SMALL.solve(problem, rng=4).trace != solutions[0].trace


@pytest.mark.parametrize("balance", [Free(), Count(0.25)], ids=str)
def test_swapped_classes_and_other_orders_of_samples_take_the_same_path(balance):
    problem = random_problem(20, 16, balance=balance)
    one = SMALL.solve(problem, rng=3)
    swapped = Count(1.0 - balance.r) if isinstance(balance, Count) else balance
    opposite = SMALL.solve(replace(problem, signs=-problem.signs, balance=swapped), rng=3)
    np.testing.assert_array_equal(one.labels, -opposite.labels)
    assert one.objective == pytest.approx(opposite.objective, rel=1e-6)
    order = np.random.default_rng(0).permutation(len(problem.signs))
    space = Gram(problem.space.kernel, problem.space.X[order])
    moved = SMALL.solve(replace(problem, space=space, signs=problem.signs[order], cost=problem.cost[order]), rng=3)
    np.testing.assert_array_equal(one.labels[order], moved.labels)


@every_balance
def test_unlabeled_samples_without_cost_give_the_supervised_svm(balance):
    problem = random_problem(23, balance=balance, C_unlabeled=0.0)
    solution = SMALL.solve(problem)
    np.testing.assert_allclose(solution.scores, SMO(1e-7).solve(problem.labeled_only()).scores, atol=1e-4)
    as_searched = replace(problem, cost=np.ones(len(problem.cost)))
    assert keeps_balance(as_searched, solution.labels[None]).all()


@pytest.mark.parametrize("r", [0.0, 1.0])
def test_all_samples_of_one_class(r):
    problem = random_problem(25, 7, balance=Count(r))
    solution = SMALL.solve(problem, rng=0)
    assert (solution.labels[problem.searched] == 2.0 * r - 1.0).all()
    assert_svm_of_labels(problem, solution)


# ---- ends ----


def assert_usable(problem, solution, status):
    assert solution.status == status
    assert_svm_of_labels(problem, solution)
    assert np.isfinite(solution.certificate.value)
    assert solution.trace[-1]["objective"] == solution.objective
    assert len(solution.trace) == solution.n_iter


def test_time_that_ends_in_the_last_stage_returns_its_labeling():
    problem = random_problem(26, 8, balance=Count(0.5))
    search = evolution(problem)
    log = search._log

    def log_late():
        if search.n_working == 8 and len(search.stop.trace) > 5:
            search.stop.deadline = -np.inf
        log()

    search._log = log_late
    search.run()
    search.stop.deadline = np.inf
    solution = search.solution()
    assert_usable(problem, solution, "max_time")
    assert solution.objective <= search.individuals[0].objective + 1e-4


def test_time_that_ends_before_the_last_stage_keeps_the_labels_found():
    problem = random_problem(26, 24, balance=Count(0.5))
    search = evolution(problem)
    log = search._log

    def log_late():
        if search.n_working >= 10:
            search.stop.deadline = -np.inf
        log()

    search._log = log_late
    search.run()
    assert search.n_working < 24
    best, labels = search.individuals[0], search._labels_of_best()
    np.testing.assert_array_equal(labels[search.order[: search.n_working]], best.y[len(search.labeled) :])
    rest = search.order[search.n_working :]
    f = search._scores_at(best, rest)
    assert f[labels[rest] > 0].min() >= f[labels[rest] < 0].max()
    assert np.count_nonzero(labels[search.order] > 0) == 12
    search.stop.deadline = np.inf
    solution = search.solution()
    assert_usable(problem, solution, "max_time")
    assert solution.objective <= PairSwitching(1e-6).solve(problem, replace(solution, labels=labels)).objective + 1e-4


def test_the_last_part_of_the_time_is_for_the_switching_of_pairs(clock, monkeypatch):
    problem, given = random_problem(28, 14, balance=Count(0.5)), []
    log, solve = _Evolution._log, PairSwitching.solve

    def late(search):
        clock.now += 10.0
        log(search)

    def record(solver, *args, **kwargs):
        given.append(solver.max_time)
        return solve(solver, *args, **kwargs)

    monkeypatch.setattr(_Evolution, "_log", late)
    monkeypatch.setattr(PairSwitching, "solve", record)
    solution = replace(SMALL, max_time=100.0).solve(problem, rng=0)
    assert given[0] == pytest.approx(30.0)
    assert_usable(problem, solution, "max_time")


def test_a_search_that_ends_in_time_says_so_however_late(clock, monkeypatch):
    problem, run = random_problem(28, 14, balance=Count(0.5)), _Evolution.run

    def late(search):
        run(search)
        clock.now += 80.0

    monkeypatch.setattr(_Evolution, "run", late)
    assert_usable(problem, replace(SMALL, max_time=100.0).solve(problem, rng=0), "converged")


@pytest.mark.parametrize("name", ["_grow", "_child", "_repair", "_log"])
def test_ctrl_c_anywhere_in_the_search(name, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_Evolution, name, interrupt)
    problem = random_problem(28, 14, balance=Count(0.5))
    assert_usable(problem, SMALL.solve(problem, rng=0), "interrupted")


@pytest.mark.parametrize("number", [1, 2, 5, 40])
def test_ctrl_c_within_the_pair_steps_of_any_svm(number, end_pair_steps, monkeypatch):
    """In one thread, where Ctrl-C arrives; the first SVM is the supervised one."""
    monkeypatch.setattr(_threads, "n_available_threads", lambda: 1)
    problem = random_problem(28, 30, balance=Count(0.5))
    calls = end_pair_steps(number, "interrupted")
    solution = SMALL.solve(problem, rng=0)
    assert len(calls) > number
    assert_usable(problem, solution, "interrupted")


@pytest.mark.parametrize("status", ["max_time", "interrupted"])
def test_early_end_while_the_samples_are_ordered(status, clock, monkeypatch):
    """Every distance takes a second of this clock; the supervised SVM is not solved again."""
    problem, distances, n_calls = random_problem(28, 14, balance=Count(0.5)), Gram.squared_distances, []

    def slow(gram, sample):
        n_calls.append(sample)
        clock.now += 1.0
        if len(n_calls) == 8 and status == "interrupted":
            raise KeyboardInterrupt
        return distances(gram, sample)

    monkeypatch.setattr(Gram, "squared_distances", slow)
    solver = replace(SMALL, max_time=7.5 if status == "max_time" else None)
    assert_usable(problem, solver.solve(problem, rng=0), status)
    assert len(n_calls) == 8


def test_all_phases_share_one_deadline(clock, monkeypatch):
    """A supervised SVM and a pair switching take all their time."""
    problem, given = random_problem(28, 14, balance=Count(0.5)), []
    start = solve_supervised(problem, 1e-3, None)

    def record(cls):
        solve = cls.solve

        def slow_solve(solver, *args, **kwargs):
            given.append((cls, solver.max_time))
            clock.now += 0.6 * solver.max_time
            return solve(solver, *args, **kwargs)

        monkeypatch.setattr(cls, "solve", slow_solve)

    record(SMO)
    record(PairSwitching)
    replace(SMALL, max_time=100.0).solve(problem, start, rng=0)
    assert [cls for cls, _ in given[:3]] == [SMO, PairSwitching, PairSwitching]
    left = [max_time for cls, max_time in given if cls is PairSwitching]
    assert given[0][1] == 100.0
    assert left[0] == pytest.approx(40.0)
    assert left[1] == pytest.approx(16.0)
