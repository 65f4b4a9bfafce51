"""SVMs of one labeling after the other against cold starts and interior points; changes of labels against loops."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import (
    assert_svm_of_labels,
    hinge_losses,
    keeps_balance,
    kernel_svm_value,
    label_vectors,
    largest_label_gain,
    numpy_objective,
)
from semisvm.balance import Count, Free
from semisvm.problem import objective, violation
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import LabelMoves, Trainer, evaluate, smo, solve_supervised
from semisvm.solvers.dual.fixed_labels import restrict
from semisvm.spaces import Features

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_loss = pytest.mark.parametrize("losses", ["hinge", "squared_hinge"])


def random_labels(problem, seed=0):
    """The given labels, random ones on searched samples, none elsewhere."""
    y = problem.signs.copy()
    y[problem.searched] = np.random.default_rng(seed).choice([-1.0, 1.0], len(problem.searched))
    return y


def trained(problem, y, cost=None, tol=1e-9, **options):
    trainer = Trainer(problem, StoppingRule())
    trainer.train(y, cost, tol, **options)
    return trainer


# ---- the problem of some samples ----


@pytest.mark.parametrize("space", ["rbf", "features"])
@pytest.mark.parametrize("is_computed, memory", [(True, None), (False, "200"), (False, "100")])
def test_restricted_problem_has_the_kernel_values_of_its_samples(space, is_computed, memory, monkeypatch):
    """Of 5 samples, 200 bytes, which are held if the limit allows."""
    problem = random_problem(2, 10, weighted=True, space=space, balance=Count(0.3), intercept=False)
    K = random_problem(2, 10, weighted=True, space=space).space.gram().compute()
    if not is_computed:
        monkeypatch.setenv("SEMISVM_MEMORY", memory)  # too little for the whole matrix
    samples = np.array([7, 2, 11, 0, 5])
    part = restrict(problem, samples)
    assert problem.space.gram().is_computed == is_computed
    assert part.space.gram().is_computed == (memory != "100")
    np.testing.assert_allclose(part.space.gram().block(np.arange(5)), K[np.ix_(samples, samples)], atol=1e-12)
    for name in ("signs", "cost", "weights"):
        np.testing.assert_array_equal(getattr(part, name), getattr(problem, name)[samples])
    for name in ("labeled", "unlabeled", "balance", "intercept", "norm"):
        assert getattr(part, name) == getattr(problem, name)
    assert restrict(random_problem(2), samples).weights is None


# ---- one SVM after the other ----


def random_change(problem, rng, y, cost):
    """Some flips, and sometimes other costs: by samples, by labels, or zero."""
    y = y.copy()
    y[rng.choice(problem.searched, rng.integers(1, 1 + len(problem.searched) // 2), replace=False)] *= -1.0
    kind = rng.integers(4)
    if kind == 1:
        cost = problem.cost * np.where(problem.is_labeled, 1.0, 10.0 ** rng.uniform(-4.0, 0.5))
    elif kind == 2:
        cost = problem.cost * np.where(problem.is_labeled, 1.0, np.where(y > 0, *10.0 ** rng.uniform(-3.0, 0.0, 2)))
    elif kind == 3:
        cost = problem.cost * rng.uniform(0.2, 2.0, len(y)) * (rng.random(len(y)) < 0.9)
    return y, cost


@every_intercept
@every_loss
def test_warm_start_after_any_changes_gives_the_svm_of_a_cold_start(intercept, losses):
    problem = random_problem(5, 14, n_labeled=6, intercept=intercept, losses=losses, weighted=True, n_zero_weight=4)
    rng, warm, K = np.random.default_rng(7), Trainer(problem, StoppingRule()), problem.space.compute()
    assert not warm.is_trained
    y, cost = random_labels(problem), problem.cost
    for step in range(15):
        y, cost = random_change(problem, rng, y, cost)
        value = warm.train(y, cost, 1e-8)
        cold = trained(problem, y, cost, 1e-8)
        assert value == pytest.approx(cold.objective(), abs=1e-6)
        assert value == warm.objective()
        assert warm.point.status == "converged"
        np.testing.assert_allclose(warm.scores(), cold.scores(), atol=1e-4)
        a = warm.point.a[: len(y)]
        assert not a[(y == 0) | (cost == 0)].any()
        b = warm.point.b if intercept is True else a.sum() if intercept else 0.0
        np.testing.assert_allclose(warm.scores(), K @ a + b, atol=1e-7)
        assert step % 5 or value == pytest.approx(kernel_svm_value(problem, y, cost), abs=1e-6)


@every_loss
def test_multipliers_at_a_bound_move_with_it_and_those_of_changed_labels_are_zero(losses):
    """A tolerance that everything meets leaves the start as it is; without an intercept no sum has to be kept."""
    problem = random_problem(8, 12, intercept=False, losses=losses, weighted=True)
    y, n = random_labels(problem), len(problem.signs)
    before = trained(problem, y).point.a[:n]
    flipped = y.copy()
    flipped[problem.searched[:4]] *= -1.0
    same = y == flipped
    for factor in (1.0, 1.5, 0.7):
        trainer = trained(problem, y)
        trainer.train(flipped, factor * problem.cost, np.inf)
        after = trainer.point.a[:n]
        assert not after[~same].any()
        at_bound = same & (np.abs(before) == problem.cost)
        assert at_bound.any() == (losses == "hinge")
        np.testing.assert_array_equal(np.abs(after[at_bound]), factor * problem.cost[at_bound])
        inside = same & ~at_bound
        limit = factor * problem.cost if losses == "hinge" else np.inf
        np.testing.assert_array_equal(after[inside], np.clip(before, -limit, limit)[inside])


@every_loss
def test_costs_stay_those_of_the_last_svm_unless_others_are_given(losses):
    problem = random_problem(6, losses=losses)
    y, small = random_labels(problem), 0.1 * problem.cost
    trainer = trained(problem, y, small)
    assert trainer.train(-y, None, 1e-9) == pytest.approx(kernel_svm_value(problem, -y, small), abs=1e-6)
    assert trainer.train(y, problem.cost, 1e-9) == pytest.approx(kernel_svm_value(problem, y), abs=1e-6)
    whole = trainer.objective(problem.with_labels(y, 2.0 * problem.cost))  # the same f at other costs
    f = trainer.scores()
    assert whole - trainer.objective() == pytest.approx(problem.cost @ hinge_losses(problem, y * f), abs=1e-9)


def test_copy_trains_without_changing_the_original():
    problem = random_problem(7, losses="squared_hinge")
    y = random_labels(problem)
    trainer = trained(problem, y)
    value, point = trainer.objective(), replace(trainer.point, a=trainer.point.a.copy(), f=trainer.point.f.copy())
    other = trainer.copy()
    assert other.objective() == value
    other.train(-y, 5.0 * problem.cost, 1e-9)
    assert trainer.objective() == value
    np.testing.assert_array_equal(trainer.point.a, point.a)
    np.testing.assert_array_equal(trainer.point.f, point.f)
    np.testing.assert_array_equal(trainer.problem.signs, y)
    assert trainer.stop is other.stop
    assert other.objective() == pytest.approx(trained(problem, -y, 5.0 * problem.cost).objective(), abs=1e-6)


@every_loss
def test_warm_start_takes_fewer_pair_steps(losses):
    problem = random_problem(0, 100, n_labeled=20, n_features=5, separation=0.3, losses=losses, C=1.0, C_unlabeled=1.0)
    y, rng = random_labels(problem), np.random.default_rng(1)
    warm, n_cold = trained(problem, y, tol=1e-3), 0
    first = warm.n_pair_steps
    for _ in range(10):
        y = y.copy()
        y[rng.choice(problem.searched, 2, replace=False)] *= -1.0
        warm.train(y, None, 1e-3)
        n_cold += trained(problem, y, tol=1e-3).n_pair_steps
    assert warm.n_pair_steps - first < 0.75 * n_cold
    before = warm.n_pair_steps
    warm.train(y, 1.1 * problem.cost, 1e-3)
    assert warm.n_pair_steps - before < 0.75 * trained(problem, y, 1.1 * problem.cost, 1e-3).n_pair_steps


def test_limit_of_pair_steps_ends_the_search():
    problem = random_problem(9, 12)
    y, trainer = random_labels(problem), Trainer(problem, StoppingRule(), max_pair_steps=2)
    trainer.train(y, None, 1e-8)
    assert trainer.copy().max_pair_steps == 2
    assert trainer.point.status == trainer.stop.status == "max_iter"
    assert trainer.n_pair_steps == 2
    assert trainer.objective() >= kernel_svm_value(problem, y) - 1e-9


@pytest.mark.parametrize("status", ["max_time", "interrupted"])
def test_early_end_of_the_pair_steps_ends_the_search(status, end_pair_steps):
    problem = random_problem(9, 12)
    end_pair_steps(1, status)
    trainer = trained(problem, random_labels(problem))
    assert trainer.point.status == trainer.stop.status == status
    assert np.isfinite(trainer.scores()).all()


def test_polishing_solves_the_free_coordinates_exactly():
    problem = random_problem(10, 12, losses="squared_hinge")
    y = random_labels(problem)
    loose, exact = trained(problem, y, tol=1e-2), trained(problem, y, tol=1e-2, polish=True)
    assert exact.point.violation < 1e-10 < loose.point.violation


def test_ctrl_c_while_the_supervised_svm_is_polished_is_not_lost(monkeypatch):
    def interrupt(iterate):
        raise KeyboardInterrupt

    monkeypatch.setattr(smo, "solve_free", interrupt)
    solution = solve_supervised(random_problem(10, 12), 1e-3, None)
    assert solution.status == "interrupted"
    assert solution.certificate.within_tol


# ---- solutions ----


@every_intercept
@every_loss
def test_svm_is_evaluated_at_the_full_costs_with_its_labels(intercept, losses):
    problem = random_problem(11, intercept=intercept, losses=losses, weighted=True, n_zero_weight=4)
    y, trace = random_labels(problem), [{"step": 0}, {"step": 1}]
    trainer = trained(problem, y, problem.cost, 1e-8)
    best = evaluate(problem, trainer, y, "stopped", 1e-3, trace)
    assert_svm_of_labels(problem, best)
    assert (best.status, best.n_iter, best.trace) == ("stopped", 2, trace)
    assert best.certificate.kind == "stationary"
    assert best.certificate.value == violation(problem.with_labels(y), best.multipliers, best.scores) < 1e-6
    np.testing.assert_array_equal(best.labels[y != 0], y[y != 0])
    trainer.train(y, problem.cost * np.where(problem.is_labeled, 1.0, 0.01), 1e-8)
    at_small_cost = evaluate(problem, trainer, y, "converged", 1e-3, [])
    assert at_small_cost.n_iter == 1
    assert at_small_cost.objective == pytest.approx(numpy_objective(problem, at_small_cost), rel=1e-9)
    assert at_small_cost.objective > best.objective
    assert at_small_cost.status == "stalled"


@every_intercept
@every_loss
@pytest.mark.parametrize("balance", [Free(), Count(0.5), Count(0.9), Count(0.1, 0.15)], ids=str)
def test_supervised_svm_has_labels_by_rank_within_the_balance(intercept, losses, balance):
    problem = random_problem(12, 9, n_labeled=6, balance=balance, intercept=intercept, losses=losses, n_zero_weight=2)
    solution = solve_supervised(problem, 1e-9, None)
    assert solution.objective == pytest.approx(kernel_svm_value(problem, problem.signs), abs=1e-6)
    assert keeps_balance(problem, solution.labels[None]).all()
    f, y = solution.scores[problem.searched], solution.labels[problem.searched]
    assert f[y > 0].min(initial=np.inf) >= f[y < 0].max(initial=-np.inf)
    if balance == Free():
        np.testing.assert_array_equal(y > 0, f > 0)
    left_out = (problem.signs == 0) & (problem.weights == 0)
    np.testing.assert_array_equal(solution.labels[left_out] > 0, solution.scores[left_out] > 0)


# ---- what changes of labels gain ----


@every_loss
@pytest.mark.parametrize(("positive_share", "negative_share"), [(1.0, 1.0), (0.3, 0.05)])
def test_gains_are_differences_of_the_objective_at_fixed_scores(losses, positive_share, negative_share):
    """The cost of a flipped sample is that of its new label."""
    problem = random_problem(13, 9, losses=losses, weighted=True, n_zero_weight=2)
    solution = solve_supervised(problem, 1e-6, None)
    y = np.where(random_labels(problem) != 0, random_labels(problem), 1.0)
    moves = LabelMoves(problem)
    samples = moves.samples

    def value(labels):
        cost = problem.cost.copy()
        cost[samples] *= np.where(labels[samples] > 0, positive_share, negative_share)
        return objective(replace(problem, cost=cost), solution.coef, solution.intercept, labels)

    gains = moves.gains(solution.scores[samples], y[samples], positive_share, negative_share)
    for sample, gain in zip(samples, gains):
        flipped = y.copy()
        flipped[sample] *= -1.0
        assert gain == pytest.approx(value(y) - value(flipped), abs=1e-12)


def largest_gain_by_loops(gain, y, weights, band):
    """Over all flips, and over all swaps if the balance forbids a flip."""

    def is_allowed(changed):
        labels = y.copy()
        labels[changed] *= -1.0
        return band[0] <= weights @ (labels > 0) <= band[1]

    n = len(y)
    flips = [[j] for j in range(n) if is_allowed([j])]
    swaps = [[i, j] for i in range(n) for j in range(n) if y[i] > 0 > y[j] and is_allowed([i, j])]
    options = flips if len(flips) == n else flips + swaps
    return max([0.0, *(gain[changed].sum() for changed in options)])


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize(
    "balance", [Free(), Count(0.5), Count(0.3, 0.2), Count(0.0), Count(1.0), Count(0.5, 0.02)], ids=str
)
def test_best_change_has_the_largest_gain_of_all(balance, weighted):
    n_changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, 1 + seed % 8, balance=balance, weighted=weighted)
        moves = LabelMoves(problem)
        assert moves.equal_weights == (not weighted or len(moves.samples) == 1)
        y = moves.within_balance(rng.choice([-1.0, 1.0], len(moves.samples)), rng.standard_normal(len(moves.samples)))
        options = label_vectors(problem)[:, moves.samples]
        if seed % 2 and len(options):
            y = options[rng.integers(len(options))]
        band = moves.band(y)
        assert band[0] <= moves.weights @ (y > 0) <= band[1]
        gain = rng.standard_normal(len(y)) + rng.choice([-2.0, 0.0, 1.0])
        changed, best_gain = moves.best(gain, y, band)
        assert best_gain == pytest.approx(largest_gain_by_loops(gain, y, moves.weights, band), abs=1e-12)
        assert best_gain == pytest.approx(gain[changed].sum(), abs=1e-12)
        after = y.copy()
        after[changed] *= -1.0
        assert band[0] <= moves.weights @ (after > 0) <= band[1]
        assert len(changed) < 2 or set(y[changed]) == {-1.0, 1.0}
        n_changed += len(changed)
    assert n_changed or balance in (Count(0.0), Count(1.0))


def test_labels_within_the_balance_stay_and_others_are_ranked():
    problem = random_problem(0, 4, balance=Count(0.5))
    moves, f = LabelMoves(problem), np.array([3.0, 2.0, 1.0, 0.5])
    inside = np.array([-1.0, -1.0, 1.0, 1.0])
    np.testing.assert_array_equal(moves.within_balance(inside, f), inside)
    np.testing.assert_array_equal(moves.within_balance(np.ones(4), f), [1.0, 1.0, -1.0, -1.0])


def test_swaps_of_other_weights_are_searched_beyond_the_first_pair():
    """The pair of largest gain differs too much in weight for the balance, and so does the next."""
    moves = LabelMoves(random_problem(17, 4, balance=Count(0.5, 0.01), weighted=True))
    moves.weights = np.array([1.0, 3.0, 3.05, 1.02])
    y, band = np.array([1.0, 1.0, -1.0, -1.0]), (3.9, 4.1)
    for gain, expected in [
        ([5.0, 1.0, 4.0, 2.0], [0, 3]),
        ([5.0, 1.0, 4.0, -7.0], [1, 2]),
        ([5.0, -9.0, 4.0, -7.0], []),
    ]:
        changed, best_gain = moves.best(np.array(gain), y, band)
        assert list(changed) == expected
        assert best_gain == sum(np.array(gain)[expected]) if expected else best_gain == 0.0


def test_problems_without_searched_samples():
    problem = random_problem(18, 0, n_labeled=6)
    moves = LabelMoves(problem)
    assert len(moves.samples) == 0
    assert moves.equal_weights
    assert largest_label_gain(problem, np.zeros(6), problem.signs) == 0.0
    on_features = replace(problem, space=Features(problem.space.X))
    assert solve_supervised(on_features, 1e-6, None).status == "converged"
