"""Machines with held labels: warm ones against cold ones and interior points, changes of labels against plain loops.

Also what the tests of the searches judge by: random problems, all labelings of small ones, and plain-numpy objectives.
"""

import itertools

import numpy as np
import pytest
from sklearn.svm import SVC

from judges import minimise_qp
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from semisvm.problem import Problem, imbalance, objective
from semisvm.solvers import SMO
from semisvm.solvers.dual import formulate
from semisvm.solvers.held_labels import (
    Changes,
    Trainer,
    _carried,
    filled,
    free_rows,
    judged,
    restricted,
    supervised,
)
from semisvm.solvers.limits import Limits
from semisvm.solvers.smo import _State
from semisvm.spaces import Features, Gram

GAMMA = 0.4
FREE = Free()
INTERCEPTS = [True, "regularised", False]
BALANCES = [Free(), Count(0.5), Count(0.35, 0.15)]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=["free", "regularised", "none"])
every_loss = pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared"])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["no balance", "count", "slack"])
weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])


# ------------------------------------------------------------------------------------------- problems and judges


def partly(
    seed=0,
    u=8,
    balance=FREE,
    intercept=True,
    squared=False,
    weighted=False,
    lost=0,
    few=4,
    C=2.0,
    star=0.7,
    gap=0.5,
    gamma=GAMMA,
):
    """Two classes that overlap, in rows of any order, u of them without a label; ``lost`` rows more have no weight."""
    rng = np.random.default_rng(seed)
    n = few + u + lost
    y = np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], n - 2)]
    X = rng.standard_normal((n, 3)) + gap * y[:, None]
    weight = rng.uniform(0.4, 2.0, n) if weighted else np.ones(n)
    weight[few + u :] = 0.0
    signs = np.where(np.arange(n) < few, y, 0.0)
    signs[n - lost // 2 :] = y[n - lost // 2 :]  # of the rows without weight a half has labels
    order = rng.permutation(n)
    X, signs, weight = X[order], signs[order], weight[order]
    cost = C * weight * np.where(signs != 0, 1.0, star)
    losses = (SquaredHinge(), SymmetricSquaredHinge()) if squared else (Hinge(), SymmetricHinge())
    weights = weight if weighted or lost else None
    return Problem(Gram(Kernel("rbf", gamma), X), signs, cost, *losses, balance, intercept, weights)


def kernel_of(problem):
    X = problem.space.X
    if isinstance(problem.space, Features):
        return X @ X.T
    return np.exp(-problem.space.kernel.gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def is_squared(problem):
    return isinstance(problem.labeled, SquaredHinge)


def loss_of(problem, t):
    return np.maximum(1.0 - t, 0.0) ** (2 if is_squared(problem) else 1)


def machine_of(problem, y, cost=None):
    """The smallest objective with labels y, rows of y = 0 left out: the dual, by interior points."""
    cost = problem.cost if cost is None else cost
    rows = (y != 0) & (cost > 0)
    y, cost, n = y[rows], cost[rows], np.count_nonzero(rows)
    P = kernel_of(problem)[np.ix_(rows, rows)] + (problem.intercept == "regularised")
    if is_squared(problem):
        P = P + np.diag(0.5 / cost)
    size = y * cost  # multipliers in units of their costs, all of one sign
    sides = (
        (-np.eye(n), np.zeros(n)) if is_squared(problem) else (np.r_[-np.eye(n), np.eye(n)], np.r_[0 * y, 0 * y + 1])
    )
    equal = (size[None], [0.0]) if problem.intercept is True else None
    return -minimise_qp(size[:, None] * P * size, -cost, equal, sides)[1]


def value_at(problem, a, b, y, cost=None):
    """The objective of f = K a + b with labels y, in plain numpy."""
    K = kernel_of(problem)
    cost = problem.cost if cost is None else cost
    own = b**2 if problem.intercept == "regularised" else 0.0
    return 0.5 * (a @ K @ a + own) + cost @ loss_of(problem, y * (K @ a + b))


def allowed(problem, labels):
    """Whether labels of the rows with a label to find keep the balance, from its definition."""
    if isinstance(problem.balance, Free):
        return True
    rows, (r, slack) = free_rows(problem), problem.balance
    weight = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
    off = abs(weight @ (labels > 0) / weight.sum() - r)
    if np.all(weight == weight[0]):
        near = np.abs(np.arange(len(rows) + 1) / len(rows) - r)
        return off <= max(slack, near.min()) + 1e-9
    return off <= slack + 1e-9


def labelings(problem):
    """All labels that keep the balance; rows without weight have none."""
    rows = free_rows(problem)
    for labels in itertools.product((-1.0, 1.0), repeat=len(rows)):
        if allowed(problem, np.array(labels)):
            y = problem.signs.copy()
            y[rows] = labels
            yield y


def enumerated(problem):
    """The smallest objective over all labels that keep the balance."""
    return min(machine_of(problem, y) for y in labelings(problem))


def gain_of(problem, f, y, few):
    """By how much the losses at scores f fall if the labels of some rows change."""
    few = np.asarray(few)
    t = y[few] * f[few]
    return float(problem.cost[few] @ (loss_of(problem, t) - loss_of(problem, -t)))


def largest_gain(problem, f, y):
    """The most that a flip, or a change of places of rows of opposite labels, gains at scores f."""
    rows = free_rows(problem)
    tries = [(j,) for j in rows] + [(i, j) for i in rows for j in rows if y[i] > 0 > y[j]]
    best = 0.0
    for few in tries:
        changed = y.copy()
        changed[list(few)] *= -1.0
        if allowed(problem, changed[rows]):
            best = max(best, gain_of(problem, f, y, list(few)))
    return best


def conditions(problem, solution):
    """How far a solution is from optimal for its labels, in units of f; in plain numpy."""
    a, b, c = solution.dual, solution.intercept, problem.cost
    f = kernel_of(problem) @ a + b
    rows = c > 0
    y, a_y, t = solution.labels[rows], (solution.labels * a)[rows], (solution.labels * f)[rows]
    assert (a_y >= 0).all()
    assert not a[~rows].any()
    if is_squared(problem):
        off = np.where(a_y > 0, np.abs(1.0 - a_y / (2.0 * c[rows]) - t), np.maximum(1.0 - t, 0.0))
    else:
        assert (a_y <= c[rows] * (1.0 + 1e-12)).all()
        off = np.where(
            a_y == 0, np.maximum(1.0 - t, 0.0), np.where(a_y == c[rows], np.maximum(t - 1.0, 0.0), abs(1 - t))
        )
    assert len(y)
    if problem.intercept is True:
        assert abs(a.sum()) <= 1e-9 * np.abs(a).sum()
    else:
        assert b == pytest.approx(a.sum() if problem.intercept else 0.0, abs=1e-9)
    return off.max()


def assert_sound(problem, solution):
    """What is reported is what the labels and the machine give, and the labels keep the balance."""
    K = kernel_of(problem)
    np.testing.assert_allclose(solution.scores, K @ solution.dual + solution.intercept, atol=1e-9)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[problem.is_labeled], problem.signs[problem.is_labeled])
    value = value_at(problem, solution.dual, solution.intercept, solution.labels)
    assert solution.objective == pytest.approx(value, rel=1e-9)
    judged_value = objective(problem, solution.coef, solution.intercept, solution.labels)
    assert solution.objective == pytest.approx(judged_value, rel=1e-12)
    assert allowed(problem, solution.labels[free_rows(problem)])


def held(problem, seed=0):
    """Random labels on the rows that take part."""
    y = problem.signs.copy()
    rows = free_rows(problem)
    y[rows] = np.random.default_rng(seed).choice([-1.0, 1.0], len(rows))
    return y


# ------------------------------------------------------------------------------------------- the judges themselves


@every_intercept
@every_loss
def test_the_judges_agree_with_the_dual_solver(intercept, squared):
    """Two independent routes to the objective of held labels."""
    problem = partly(3, intercept=intercept, squared=squared, weighted=True)
    y = held(problem)
    solution = SMO(1e-9).solve(filled(problem, y))
    assert machine_of(problem, y) == pytest.approx(solution.objective, rel=1e-7)
    assert value_at(problem, solution.dual, solution.intercept, y) == pytest.approx(solution.objective, rel=1e-9)


# ------------------------------------------------------------------------------------------- small pieces


def test_rows_without_weight_are_not_sought():
    problem = partly(0, u=6, lost=5, weighted=True)
    rows = free_rows(problem)
    assert len(rows) == 6
    assert not problem.signs[rows].any()
    assert (problem.weights[rows] > 0).all()
    np.testing.assert_array_equal(problem.weights_of(rows), problem.weights[rows])
    even = partly(0, u=6)
    np.testing.assert_array_equal(free_rows(even), np.flatnonzero(even.signs == 0))
    np.testing.assert_array_equal(even.weights_of(free_rows(even)), np.ones(6))


def test_the_problem_of_labeled_rows_and_that_of_held_labels():
    problem = partly(1, balance=Count(0.5))
    assert problem.alone().unlabeled is None
    assert problem.alone().balance == Free()
    y, cost = held(problem), 3.0 * problem.cost
    whole = filled(problem, y)
    np.testing.assert_array_equal(whole.signs, y)
    np.testing.assert_array_equal(whole.cost, problem.cost)
    assert whole.unlabeled is None
    assert whole.balance == Free()
    np.testing.assert_array_equal(filled(problem, y, cost).cost, cost)
    np.testing.assert_array_equal(problem.signs[free_rows(problem)], 0.0)  # what was given is as it was


@pytest.mark.parametrize("made", [False, True], ids=["not held", "held"])
@weighted_or_not
def test_the_problem_of_some_rows_has_their_kernel_values_signs_costs_and_weights(made, weighted):
    problem = partly(2, u=10, weighted=weighted)
    if made:
        assert problem.space.whole is not None
    rows = np.array([7, 2, 11, 0, 5])
    part = restricted(problem, rows)
    np.testing.assert_allclose(part.space.gram().whole, kernel_of(problem)[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_array_equal(part.signs, problem.signs[rows])
    np.testing.assert_array_equal(part.cost, problem.cost[rows])
    assert (part.weights is None) == (not weighted)
    if weighted:
        np.testing.assert_array_equal(part.weights, problem.weights[rows])
    assert part[3:7] == problem[3:7]


def test_the_problem_of_some_rows_of_a_table_of_features():
    X = np.random.default_rng(0).standard_normal((12, 3))
    problem = partly(0, u=8)._replace(space=Features(X))
    rows = np.array([3, 9, 1])
    np.testing.assert_allclose(restricted(problem, rows).space.gram().whole, X[rows] @ X[rows].T, atol=1e-12)


# ------------------------------------------------------------------------------------------- one machine after another


def walk(problem, rng, y, cost):
    """The next labels and costs: some flips, and sometimes other costs, by rows or by labels."""
    rows = free_rows(problem)
    y = y.copy()
    y[rng.choice(rows, rng.integers(1, 1 + len(rows) // 2), replace=False)] *= -1.0
    kind = rng.integers(4)
    if kind == 1:
        cost = problem.cost * np.where(problem.is_labeled, 1.0, 10.0 ** rng.uniform(-4.0, 0.5))
    elif kind == 2:
        level = 10.0 ** rng.uniform(-3.0, 0.0, 2)
        cost = problem.cost * np.where(problem.is_labeled, 1.0, np.where(y > 0, *level))
    elif kind == 3:
        cost = problem.cost * rng.uniform(0.2, 2.0, len(y)) * (rng.random(len(y)) < 0.9)
    return y, cost


@every_intercept
@every_loss
@pytest.mark.parametrize("lost", [0, 4], ids=["all rows", "rows without weight"])
def test_a_machine_warm_after_any_changes_is_the_cold_one(intercept, squared, lost):
    problem = partly(5, u=14, few=6, intercept=intercept, squared=squared, weighted=bool(lost), lost=lost)
    rng = np.random.default_rng(lost + 7)
    warm = Trainer(problem, Limits())
    y, cost = held(problem), problem.cost
    for step in range(25):
        y, cost = walk(problem, rng, y, cost)
        value = warm.train(y, cost, 1e-8)
        cold = Trainer(problem, Limits())
        assert value == pytest.approx(cold.train(y, cost, 1e-8), abs=1e-6)
        assert value == warm.value()
        assert warm.point.status == "converged"
        np.testing.assert_allclose(warm.scores(), cold.scores(), atol=1e-4)
        a, n = warm.point.a[: len(y)], len(y)
        assert not a[(y == 0) | (cost == 0)].any()
        f, b = warm.scores(), 0.0
        if intercept:
            b = warm.point.b if intercept is True else a.sum()
        np.testing.assert_allclose(f, kernel_of(problem) @ a + b, atol=1e-7)
        assert len(f) == n
        assert value == pytest.approx(value_at(problem, a, b, y, cost), abs=1e-6)
        if step % 5 == 0:
            assert value == pytest.approx(machine_of(problem, y, cost), abs=1e-6)


@every_loss
def test_costs_stay_those_of_the_last_machine_where_none_are_given(squared):
    problem = partly(6, squared=squared)
    trainer = Trainer(problem, Limits())
    y = held(problem)
    small = 0.1 * problem.cost
    trainer.train(y, small, 1e-9)
    assert trainer.train(-y, None, 1e-9) == pytest.approx(machine_of(problem, -y, small), abs=1e-6)
    assert trainer.train(y, problem.cost, 1e-9) == pytest.approx(machine_of(problem, y), abs=1e-6)


def test_the_hinge_machine_is_that_of_libsvm():
    X, y = make_two_gaussians(60, n_features=5, shift=0.4, random_state=1)
    y = np.where(y > 0, 1.0, -1.0)
    cost = np.random.default_rng(0).uniform(0.3, 2.0, len(y))
    K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    flipped = y * np.where(np.arange(len(y)) % 7 == 0, -1.0, 1.0)
    problem = Problem(Gram(Kernel("rbf", GAMMA), X), y, cost, Hinge())
    trainer = Trainer(problem, Limits())
    trainer.train(y, None, 1e-8)
    value = trainer.train(flipped, None, 1e-8)
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, flipped, sample_weight=cost)
    np.testing.assert_allclose(trainer.scores(), theirs.decision_function(K), atol=1e-6)
    a = np.zeros(len(y))
    a[theirs.support_] = theirs.dual_coef_[0]
    assert value == pytest.approx(value_at(problem, a, theirs.intercept_[0], flipped), rel=1e-7)


def test_a_copy_trains_without_moving_the_other():
    problem = partly(7, squared=True)
    trainer = Trainer(problem, Limits())
    y = held(problem)
    value = trainer.train(y, None, 1e-9)
    a, f, b = trainer.point.a.copy(), trainer.point.f.copy(), trainer.point.b
    twin = trainer.copy()
    assert twin.value() == value
    np.testing.assert_array_equal(twin.scores(), trainer.scores())
    twin.train(-y, 5.0 * problem.cost, 1e-9)
    assert trainer.value() == value
    np.testing.assert_array_equal(trainer.point.a, a)
    np.testing.assert_array_equal(trainer.point.f, f)
    assert trainer.point.b == b
    np.testing.assert_array_equal(trainer.problem.signs, y)
    assert trainer.limits is twin.limits


@every_intercept
@every_loss
def test_what_is_carried_over_is_consistent_with_the_new_dual(intercept, squared):
    """Its f is that of its multipliers, which at a bound that moved have moved with it."""
    problem = partly(8, u=12, intercept=intercept, squared=squared, weighted=True)
    y = held(problem)
    trainer = Trainer(problem, Limits())
    trainer.train(y, None, 1e-8)
    n, a = len(y), trainer.point.a
    rng = np.random.default_rng(0)
    other = y.copy()
    other[free_rows(problem)[:5]] *= -1.0
    for cost in (problem.cost, problem.cost * rng.uniform(0.5, 2.0, n)):
        new = formulate(filled(problem, other, cost))
        start = _carried(trainer.point, trainer.dual, new)
        if not isinstance(start, np.ndarray):
            np.testing.assert_allclose(start.f, _State(new, start.a).f, atol=1e-9)
            start = start.a
        same = y == other
        bound = (np.abs(a[:n]) == problem.cost) & same
        if squared:
            np.testing.assert_array_equal(start, a)
        else:
            assert bound.any()
            np.testing.assert_array_equal(np.abs(start[:n][bound]), cost[bound])
            inner = ~bound & same
            np.testing.assert_array_equal(start[:n][inner], a[:n][inner])
    np.testing.assert_array_equal(trainer.point.a, a)


@every_loss
def test_warm_machines_take_fewer_pair_steps(squared):
    X, y = make_two_gaussians(120, n_features=5, shift=0.3, random_state=0)
    signs = hide_labels(np.where(y > 0, 1.0, -1.0), 20, random_state=0, marker=0.0)
    losses = (SquaredHinge(), SymmetricSquaredHinge()) if squared else (Hinge(), SymmetricHinge())
    problem = Problem(Gram(Kernel("rbf", 0.2), X), signs, np.full(120, 1.0), *losses)
    y = held(problem)
    warm, cold = Trainer(problem, Limits()), 0
    warm.train(y, None, 1e-3)
    first = warm.limits.steps
    rng = np.random.default_rng(1)
    for _ in range(10):
        y = y.copy()
        y[rng.choice(free_rows(problem), 2, replace=False)] *= -1.0
        warm.train(y, None, 1e-3)
        fresh = Trainer(problem, Limits())
        fresh.train(y, None, 1e-3)
        cold += fresh.limits.steps
    assert warm.limits.steps - first < 0.75 * cold
    steps = warm.limits.steps
    warm.train(y, 1.1 * problem.cost, 1e-3)  # bounds that move take the multipliers along
    fresh = Trainer(problem, Limits())
    fresh.train(y, 1.1 * problem.cost, 1e-3)
    assert warm.limits.steps - steps < 0.75 * fresh.limits.steps


def test_pair_steps_end_at_the_limits():
    problem = partly(9, u=12)
    trainer = Trainer(problem, Limits(max_iter=2))
    value = trainer.train(held(problem), None, 1e-8)
    assert trainer.point.status == "max_iter"
    assert trainer.limits.steps == 2
    assert value >= machine_of(problem, held(problem)) - 1e-9
    assert np.isfinite(trainer.scores()).all()


def test_polishing_solves_the_free_rows_exactly():
    problem = partly(10, u=12, squared=True)
    y = held(problem)
    loose, exact = Trainer(problem, Limits()), Trainer(problem, Limits())
    loose.train(y, None, 1e-2)
    exact.train(y, None, 1e-2, polish=True)
    assert exact.point.violation < 1e-10 < loose.point.violation


# ------------------------------------------------------------------------------------------- as solutions


@every_intercept
@every_loss
def test_a_machine_is_judged_at_the_whole_costs_with_its_labels(intercept, squared):
    problem = partly(11, intercept=intercept, squared=squared, weighted=True, lost=4)
    y = held(problem)
    trainer = Trainer(problem, Limits())
    trainer.train(y, problem.cost, 1e-8)
    trace = [{"step": 0}, {"step": 1}]
    best = judged(problem, trainer, y, "stopped", trace)
    assert_sound(problem, best)
    assert best.status == "stopped"
    assert best.n_iter == 2
    assert best.trace == trace
    assert best.certificate.kind == "stationary"
    assert best.certificate.value == pytest.approx(conditions(problem, best), abs=1e-6)
    assert best.certificate.value < 1e-6
    np.testing.assert_array_equal(best.labels[y != 0], y[y != 0])
    trainer.train(y, problem.cost * np.where(problem.is_labeled, 1.0, 0.01), 1e-8)
    small = judged(problem, trainer, y, "converged", [])
    assert small.n_iter == 1
    assert small.objective > best.objective
    assert small.objective == pytest.approx(value_at(problem, small.dual, small.intercept, small.labels), rel=1e-9)
    assert small.certificate.value > 1e-2


@every_intercept
@every_loss
@pytest.mark.parametrize("balance", [Free(), Count(0.5), Count(0.9), Count(0.1, 0.15)], ids=str)
def test_the_supervised_machine_with_labels_in_the_balance(intercept, squared, balance):
    problem = partly(12, u=9, few=6, balance=balance, intercept=intercept, squared=squared, lost=2)
    solution = supervised(problem, 1e-9, None)
    known = problem.signs
    assert value_at(problem, solution.dual, solution.intercept, known, np.where(known != 0, problem.cost, 0.0)) == (
        pytest.approx(machine_of(problem, known), abs=1e-6)
    )
    rows = free_rows(problem)
    assert allowed(problem, solution.labels[rows])
    f = solution.scores[rows]
    up = solution.labels[rows] > 0
    assert f[up].min(initial=np.inf) >= f[~up].max(initial=-np.inf)  # by rank
    if balance == Free():
        np.testing.assert_array_equal(up, f > 0)
    assert imbalance(problem._replace(weights=None), solution.scores, solution.labels) >= 0.0
    gone = (problem.signs == 0) & (problem.weights == 0)
    np.testing.assert_array_equal(solution.labels[gone] > 0, solution.scores[gone] > 0)


# ------------------------------------------------------------------------------------------- what changes gain


@every_loss
@weighted_or_not
def test_gains_are_differences_of_the_objective_at_held_scores(squared, weighted):
    problem = partly(13, u=9, squared=squared, weighted=weighted, lost=2)
    solution = supervised(problem, 1e-6, None)
    y = np.where(held(problem) != 0, held(problem), 1.0)
    changes = Changes(problem)
    rows = changes.rows
    gains = changes.gains(solution.scores[rows], y[rows])
    before = objective(problem, solution.coef, solution.intercept, y)
    for row, gain in zip(rows, gains):
        flipped = y.copy()
        flipped[row] *= -1.0
        assert gain == pytest.approx(before - objective(problem, solution.coef, solution.intercept, flipped), abs=1e-12)


@every_loss
def test_gains_with_costs_of_labels(squared):
    """The cost of a flipped row is that of its new label."""
    problem = partly(14, u=9, squared=squared)
    solution = supervised(problem, 1e-6, None)
    y = held(problem)
    plus, minus = 0.3, 0.05

    def value(labels):
        cost = problem.cost.copy()
        cost[rows] *= np.where(labels[rows] > 0, plus, minus)
        return objective(problem._replace(cost=cost), solution.coef, solution.intercept, labels)

    changes = Changes(problem)
    rows = changes.rows
    gains = changes.gains(solution.scores[rows], y[rows], plus, minus)
    for row, gain in zip(rows, gains):
        flipped = y.copy()
        flipped[row] *= -1.0
        assert gain == pytest.approx(value(y) - value(flipped), abs=1e-12)


def naive_best(gain, y, weight, band):
    """Over all flips, and over all changes of places if the balance bars a flip."""

    def fits(labels):
        return band[0] <= weight @ (labels > 0) <= band[1]

    def flipped(few):
        labels = y.copy()
        labels[list(few)] *= -1.0
        return labels

    n = len(y)
    flips = [(j,) for j in range(n) if fits(flipped((j,)))]
    pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > 0 > y[j] and fits(flipped((i, j)))]
    tries = flips if len(flips) == n else flips + pairs
    values = [sum(gain[list(few)]) for few in tries]
    return max([0.0, *values])


@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize(
    "balance", [Free(), Count(0.5), Count(0.3, 0.2), Count(0.0), Count(1.0), Count(0.5, 0.02)], ids=str
)
def test_the_best_change_is_that_of_a_plain_loop(balance, weighted):
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = partly(seed, u=1 + seed % 9, balance=balance, weighted=weighted)
        changes = Changes(problem)
        assert changes.even == (not weighted or len(changes.rows) == 1)
        f = supervised(problem, 1e-3, None)
        y = f.labels[changes.rows]
        if seed % 2:  # other labels of the same balance
            options = [each[changes.rows] for each in labelings(problem)]
            y = options[rng.integers(len(options))] if options else y
        band = changes.band(y)
        positive = changes.weight @ (y > 0)
        assert band[0] <= positive <= band[1]
        gain = rng.standard_normal(len(y)) + rng.choice([-2.0, 0.0, 1.0])
        rows, most = changes.best(gain, y, band)
        assert most == pytest.approx(naive_best(gain, y, changes.weight, band), abs=1e-12)
        assert len(rows) <= 2
        assert most == pytest.approx(gain[rows].sum() if len(rows) else 0.0, abs=1e-12)
        after = y.copy()
        after[rows] *= -1.0
        assert band[0] <= changes.weight @ (after > 0) <= band[1]
        if len(rows) == 2:
            assert set(y[rows]) == {-1.0, 1.0}
        found += len(rows)
    assert found or balance in (Count(0.0), Count(1.0))


@every_balance
def test_the_band_is_that_of_the_balance(balance):
    problem = partly(15, u=9, balance=balance)
    changes = Changes(problem)
    low, high = changes.band(held(problem)[changes.rows])
    for labels in itertools.product((-1.0, 1.0), repeat=9):
        assert (low <= labels.count(1.0) <= high) == allowed(problem, np.array(labels))


def test_nothing_is_best_where_nothing_gains():
    problem = partly(16, u=6, balance=Count(0.5))
    changes = Changes(problem)
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    band = changes.band(y)
    gain = np.array([0.4, -1.0, -1.0, -0.5, -0.6, -2.0])
    rows, most = changes.best(gain, y, band)
    assert len(rows) == 0
    assert most == 0.0
    rows, most = changes.best(gain + 0.2, y, band)
    assert sorted(rows) == [0, 3]
    assert most == pytest.approx(0.3)


def test_weights_that_differ_are_searched_beyond_the_first_pair():
    """The pair of largest gain is too uneven for the balance, and the next too."""
    problem = partly(17, u=4, balance=Count(0.5, 0.01), weighted=True)
    changes = Changes(problem)
    changes.weight = np.array([1.0, 3.0, 3.05, 1.02])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    band = (3.9, 4.1)
    gain = np.array([5.0, 1.0, 4.0, 2.0])  # 0 with 2 gains 9 and moves by 2.05; 0 with 3 gains 7, 1 with 2 gains 5
    rows, most = changes.best(gain, y, band)
    assert list(rows) == [0, 3]
    assert most == pytest.approx(7.0)
    rows, most = changes.best(np.array([5.0, 1.0, 4.0, -7.0]), y, band)
    assert list(rows) == [1, 2]
    assert most == pytest.approx(5.0)
    rows, most = changes.best(np.array([5.0, -9.0, 4.0, -7.0]), y, band)
    assert len(rows) == 0
    assert most == 0.0


def test_no_rows_to_label():
    problem = partly(18, u=0, few=6)
    changes = Changes(problem)
    assert len(changes.rows) == 0
    assert changes.even
