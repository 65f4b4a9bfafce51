"""Branch and bound: against all labelings by an independent solver, its bound whenever it stops, its estimator."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from judges import minimise_qp
from semisvm import S3VM, SVM, BranchBoundTSVM
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import SquaredHinge, SymmetricSquaredHinge
from semisvm.problem import Problem, imbalance, objective
from semisvm.solvers import SMO, BranchBound, PairSwitching, branch_bound
from semisvm.solvers.label_search import limits_of
from semisvm.solvers.tree import dive
from semisvm.spaces import Features, Gram

INTERCEPTS = [True, "regularised", False]
BALANCES = [Free(), Count(0.5), Count(0.3), Count(0.4, 0.2)]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=str)


# ------------------------------------------------------------------------------------------- problems and judges


def partly(seed, u=9, balance=Free(), intercept=True, weighted=False, apart=0.4, known=4, linear=False):  # noqa: B008
    """Rows of two classes that overlap, with a cost of its own per row."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(known + u) < 0.5, 1.0, -1.0)
    y[:known] = np.where(np.arange(known) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((known + u, 2)) + apart * y[:, None] + 0.2
    signs = np.where(np.arange(known + u) < known, y, 0.0)
    mixed = rng.permutation(known + u)
    X, signs = X[mixed], signs[mixed]
    cost = 10.0 ** rng.uniform(-0.5, 1.0) * rng.uniform(0.5, 2.0, known + u)
    weights = rng.uniform(0.3, 2.0, known + u) if weighted else None
    space = Features(X) if linear else Gram(Kernel("rbf", 0.3), X)
    return Problem(space, signs, cost, SquaredHinge(), SymmetricSquaredHinge(), balance, intercept, weights)


def shares_of(problem):
    free = problem.signs == 0
    weight = np.ones(free.sum()) if problem.weights is None else problem.weights[free]
    return weight / weight.sum()


def allowed(problem, Y):
    """Which labelings of the unlabeled rows keep the balance, from its definition."""
    if isinstance(problem.balance, Free):
        return np.ones(len(Y), dtype=bool)
    off = np.abs((Y > 0) @ shares_of(problem) - problem.balance.r)
    return off <= max(problem.balance.slack, off.min() if problem.weights is None else 0.0) + 1e-9


def labelings(problem):
    u = int((problem.signs == 0).sum())
    Y = np.array(list(itertools.product((-1.0, 1.0), repeat=u))).reshape(-1, u)
    Y = Y[allowed(problem, Y)]
    whole = np.tile(problem.signs, (len(Y), 1))
    whole[:, problem.signs == 0] = Y
    return whole


def machines(problem, Y):
    """The squared-hinge machines of many labelings at once, by Newton steps on their sets of short margins.

    Returned are the objectives, each proven by a dual value next to it.
    """
    K = np.asarray(problem.space.gram().whole, dtype=float) + 1.0 * (problem.intercept == "regularised")
    n, c, free = len(K), problem.cost, problem.intercept is True
    short = np.ones_like(Y, dtype=bool)
    values = np.full(len(Y), np.nan)
    todo = np.arange(len(Y))
    for _ in range(60):
        A = np.zeros((len(todo), n + free, n + free))
        A[:, :n, :n] = np.where(short[todo][:, :, None], K, 0.0)
        A[:, np.arange(n), np.arange(n)] += np.where(short[todo], 0.5 / c, 1.0)
        right = np.zeros((len(todo), n + free))
        right[:, :n] = np.where(short[todo], Y[todo], 0.0)
        if free:
            A[:, :n, n] = short[todo]
            A[:, n, :n] = 1.0
        some = short[todo].any(axis=1)
        todo, A, right = todo[some], A[some], right[some]
        x = np.linalg.solve(A, right[:, :, None])[:, :, 0]
        a = x[:, :n]
        f = a @ K + (x[:, n:] if free else 0.0)
        now = Y[todo] * f < 1.0
        norm2 = np.einsum("ij,jk,ik->i", a, K, a)
        primal = 0.5 * norm2 + np.maximum(1.0 - Y[todo] * f, 0.0) ** 2 @ c
        dual = (Y[todo] * a).sum(axis=1) - 0.5 * norm2 - (a**2) @ (0.25 / c)
        done = (np.abs(primal - dual) <= 1e-9 * primal) & (Y[todo] * a >= -1e-9).all(axis=1)
        values[todo[done]] = primal[done]
        short[todo] = now
        todo = todo[~done]
        if not len(todo):
            break
    for row in np.flatnonzero(np.isnan(values)):  # the few that swing to and fro
        values[row] = interior_point(K, Y[row], c, free)
    return values


def interior_point(K, y, c, free):
    n = len(y)
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = K + 1e-12 * np.eye(n)
    P[n + 1 :, n + 1 :] = np.diag(2.0 * c)
    below = (np.hstack([-y[:, None] * np.c_[K, np.ones(n)], -np.eye(n)]), -np.ones(n))
    return minimise_qp(P, np.zeros(2 * n + 1), None if free else (np.eye(2 * n + 1)[n], 0.0), below)[1]


def enumerated(problem):
    """The smallest objective over all labels that keep the balance."""
    return machines(problem, labelings(problem)).min()


def assert_sound(problem, solution, searched=True):
    """What any answer promises, however it stopped; the machine is exact if the search was begun."""
    known = problem.is_labeled
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[known], problem.signs[known])
    own = objective(problem, solution.coef, solution.intercept, solution.labels)
    assert solution.objective == pytest.approx(own, rel=1e-9)
    certificate = solution.certificate
    assert certificate.kind == "gap"
    assert certificate.lower_bound <= solution.objective
    assert certificate.gap == certificate.value
    assert certificate.gap == pytest.approx(solution.objective - certificate.lower_bound, abs=1e-12)
    if searched:
        assert solution.objective == pytest.approx(machines(problem, solution.labels[None])[0], rel=1e-6)
        path, bounds = ([row[name] for row in solution.trace] for name in ("objective", "bound"))
        assert (np.diff(path) <= 0.0).all()
        assert (np.diff(bounds) >= 0.0).all()
    if not isinstance(problem.balance, Free) and problem.weights is None:
        assert allowed(problem, labelings_of(problem, solution)).all()
        assert imbalance(problem, solution.scores, solution.labels) <= 0.5 / (~known).sum() + 1e-9


def labelings_of(problem, solution):
    return solution.labels[None, problem.signs == 0]


def assert_true_gap(problem, solution, best=None, searched=True):
    best = enumerated(problem) if best is None else best
    assert_sound(problem, solution, searched)
    assert solution.certificate.lower_bound <= best * (1.0 + 1e-9)
    assert best <= solution.objective * (1.0 + 1e-7)


@pytest.fixture
def one_dive(monkeypatch):
    """Fewer first labels, so that the tree has more to find."""
    monkeypatch.setattr(branch_bound, "DIVES", 1)


class Bad(PairSwitching):
    """First labels that are the worst of those in the balance, and that nothing betters."""

    def solve(self, problem, start=None, callback=None, rng=None):
        Y = labelings(problem)
        y = Y[machines(problem, Y).argmax()]
        found = SMO(1e-8).solve(problem._replace(signs=y, unlabeled=None, balance=Free()))
        found.labels = y
        return found


# ------------------------------------------------------------------------------------------- the optimum


def test_the_judge_agrees_with_an_interior_point():
    for intercept, seed in itertools.product(INTERCEPTS, range(3)):
        problem = partly(seed, 5, Free(), intercept)
        K = np.asarray(problem.space.gram().whole) + 1.0 * (intercept == "regularised")
        Y = labelings(problem)
        values = machines(problem, Y)
        for row in range(0, len(Y), 5):
            assert values[row] == pytest.approx(interior_point(K, Y[row], problem.cost, intercept is True), rel=1e-7)


@every_intercept
@every_balance
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_it_is_the_best_of_all_labelings(intercept, balance, weighted, one_dive):
    if weighted and isinstance(balance, Count):
        balance = balance._replace(slack=0.25)  # so that labels by rank are in the balance
    for seed in range(8):
        u = 1 + seed if seed < 3 else 6 + seed % 4
        problem = partly(seed, u, balance, intercept, weighted, linear=seed == 3)
        if not len(labelings(problem)):
            continue
        solution = BranchBound().solve(problem, rng=seed)
        best = enumerated(problem)
        assert_true_gap(problem, solution, best)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert solution.certificate.lower_bound >= best * (1.0 - 2e-6)
        assert solution.certificate.gap <= 2e-6 * best
        assert allowed(problem, labelings_of(problem, solution)).all()


@pytest.mark.parametrize("balance", [Free(), Count(0.4)], ids=str)
def test_eleven_unlabeled_rows(balance, one_dive):
    for seed in range(100, 104):
        problem = partly(seed, 11, balance, apart=0.2)
        solution = BranchBound().solve(problem)
        assert_true_gap(problem, solution)
        assert solution.certificate.gap <= 2e-6 * solution.objective


@every_intercept
def test_it_finds_the_best_from_the_worst_labels(intercept, monkeypatch):
    """Without switching and dives the tree alone has to find them."""
    monkeypatch.setattr(branch_bound, "PairSwitching", Bad)
    monkeypatch.setattr(branch_bound._Search, "dives", lambda self, rng: None)
    monkeypatch.setattr(branch_bound._Search, "_switch", lambda self: None)
    for seed in range(4):
        problem = partly(seed, 8, [Free(), Count(0.5), Count(0.3, 0.1), Count(0.25)][seed], intercept, apart=0.2)
        for count in (1, 3, 10):
            early = BranchBound(max_iter=count).solve(problem)
            assert_true_gap(problem, early)
        solution = BranchBound().solve(problem)
        best = enumerated(problem)
        assert_true_gap(problem, solution, best)
        assert solution.trace[0]["objective"] > best * 1.05
        assert solution.objective == pytest.approx(best, rel=1e-6)


def test_unequal_weights_without_slack_stay_in_the_band_of_their_first_labels(one_dive):
    for seed in range(4):
        problem = partly(seed, 8, Count(0.5), weighted=True)
        solution = BranchBound().solve(problem)
        free = problem.signs == 0
        first = PairSwitching(branch_bound.SWITCH).solve(problem).labels[free]
        low, high = limits_of(problem.balance, problem.weights[free], first)
        Y = labelings(problem._replace(balance=Free()))
        share = (Y[:, free] > 0) @ problem.weights[free]
        best = machines(problem, Y[(low <= share) & (share <= high)]).min()
        assert_sound(problem, solution)
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert low <= problem.weights[free] @ (solution.labels[free] > 0) <= high


def test_rows_of_weight_zero_take_no_part():
    problem = partly(5, 9, Count(0.5))
    out = np.flatnonzero(problem.signs == 0)[[1, 4, 6]]
    weights = np.ones(len(problem.signs))
    weights[out] = 0.0
    cost = np.where(weights > 0, problem.cost, 0.0)
    kept = np.flatnonzero(weights)
    K = np.asarray(problem.space.gram().whole)
    whole = problem._replace(weights=weights, cost=cost)
    small = problem._replace(
        space=Gram(Kernel("precomputed"), K[np.ix_(kept, kept)]), signs=problem.signs[kept], cost=problem.cost[kept]
    )
    found = BranchBound().solve(whole)
    assert found.status == "converged"
    assert found.objective == pytest.approx(enumerated(small), rel=1e-6)


def test_most_labelings_are_not_looked_at(one_dive):
    """Fewer nodes than labelings on rows that overlap, and next to none where classes are clusters."""
    for seed in range(6):
        solution = BranchBound(max_iter=2 ** (11 - 2)).solve(partly(seed, 11, BALANCES[seed % 4], apart=0.4))
        assert solution.status == "converged"
        assert solution.trace[-1]["sweeps"] > 0
    solution = BranchBound(max_iter=200).solve(partly(0, 40, apart=3.0))
    assert solution.status == "converged"
    assert solution.facts["nodes"] <= 200


# ------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_search_that_runs_out_of_nodes_still_tells_the_truth(count, one_dive):
    ran_out = 0
    for seed, intercept, balance in zip(range(12), itertools.cycle(INTERCEPTS), itertools.cycle(BALANCES)):
        problem = partly(seed, 8, balance, intercept, apart=0.2)
        solution = BranchBound(max_iter=count).solve(problem)
        assert_true_gap(problem, solution)
        ran_out += solution.status == "max_iter"
        if solution.status == "max_iter":
            assert solution.facts["nodes"] == count
            assert solution.certificate.gap > 0.0
            assert solution.certificate.lower_bound > 0.0
        else:
            assert solution.status == "converged"
            assert solution.certificate.gap <= 2e-6 * solution.objective
    assert ran_out >= 6


def test_the_bound_rises_and_the_objective_falls(monkeypatch, one_dive):
    """Looked at after every few nodes; ``assert_sound`` asks for both paths."""
    monkeypatch.setattr(branch_bound, "CHUNK", 1)
    rose = 0
    for seed in range(6):
        problem = partly(seed, 9, BALANCES[seed % 4], INTERCEPTS[seed % 3], apart=0.2)
        best = enumerated(problem)
        rows = []
        solution = BranchBound().solve(problem, callback=rows.append)
        assert rows == solution.trace
        assert {"step", "objective", "bound", "nodes", "sweeps"} <= set(rows[0])
        assert [row["step"] for row in rows] == list(range(len(rows)))
        assert_true_gap(problem, solution, best)
        for row in rows:
            assert row["bound"] <= best * (1.0 + 1e-9)
            assert row["objective"] >= best * (1.0 - 1e-7)
        rose += len({row["bound"] for row in rows}) > 3
    assert rose >= 3


def test_a_stricter_tolerance_is_a_smaller_gap(one_dive):
    problem = partly(2, 9, apart=0.2)
    best = enumerated(problem)
    for tol in (0.3, 1e-2, 1e-8):
        solution = BranchBound(tol).solve(problem)
        assert solution.status == "converged"
        assert_true_gap(problem, solution, best)
        assert solution.certificate.gap <= 1.01 * tol * solution.objective + 1e-7 * best


@pytest.mark.parametrize("max_time", [1e-9, 1e-3, 0.02])
def test_little_time(max_time):
    problem = partly(3, 9, Count(0.4), apart=0.2)
    solution = BranchBound(max_time=max_time).solve(problem)
    assert_true_gap(problem, solution, searched=False)
    if max_time == 1e-9:
        assert solution.status == "max_time"


def test_time_that_ends_inside_the_search(monkeypatch, one_dive):
    """A clock that jumps once the tree is begun."""
    problem = partly(3, 9, Count(0.4), apart=0.2)
    clock, real = [0.0], branch_bound.explore
    monkeypatch.setattr(branch_bound, "CHUNK", 2)
    monkeypatch.setattr(branch_bound.time, "perf_counter", lambda: clock[0])

    def slow(*given):
        clock[0] += 1.0
        return real(*given)

    monkeypatch.setattr(branch_bound, "explore", slow)
    solution = BranchBound(max_time=1.5).solve(problem)
    assert solution.status == "max_time"
    assert solution.facts["nodes"] >= 2
    assert_true_gap(problem, solution)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_callback_ends_the_search(after, monkeypatch, one_dive):
    monkeypatch.setattr(branch_bound, "CHUNK", 1)
    problem = partly(3, 9, Count(0.4), apart=0.2)
    solution = BranchBound().solve(problem, callback=lambda row: row["step"] == after)
    assert solution.status == "stopped"
    assert len(solution.trace) == after + 1
    assert_true_gap(problem, solution)


@pytest.mark.parametrize("calls", [1, 2, 4])
def test_an_interrupt_in_the_tree(calls, monkeypatch, one_dive):
    made, real = [0], branch_bound.explore
    monkeypatch.setattr(branch_bound, "CHUNK", 1)

    def broken(*given):
        made[0] += 1
        if made[0] == calls:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(branch_bound, "explore", broken)
    problem = partly(3, 9, Count(0.4), apart=0.2)
    solution = BranchBound().solve(problem)
    assert solution.status == "interrupted"
    assert_true_gap(problem, solution)
    assert solution.trace


def test_an_interrupt_in_a_dive(monkeypatch):
    def broken(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(branch_bound, "dive", broken)
    problem = partly(3, 9, Count(0.4), apart=0.2)
    solution = BranchBound().solve(problem)
    assert solution.status == "interrupted"
    assert_true_gap(problem, solution)


def test_too_little_memory_gives_the_switched_labels_and_a_bound(monkeypatch):
    monkeypatch.setattr(branch_bound, "gram_limit", lambda: 100)
    for intercept in INTERCEPTS:
        problem = partly(3, 9, Count(0.4), intercept)
        solution = BranchBound().solve(problem)
        assert solution.status == "max_iter"
        assert_true_gap(problem, solution, searched=False)
        assert solution.objective == pytest.approx(PairSwitching(1e-4).solve(problem).objective, rel=1e-6)
        alone = machines(problem._replace(cost=np.where(problem.is_labeled, problem.cost, 1e-12)), problem.signs[None])
        assert solution.certificate.lower_bound == pytest.approx(alone[0], rel=1e-3)


# ------------------------------------------------------------------------------------------- starts, dives, symmetries


def test_a_start_is_used(monkeypatch):
    problem = partly(1, 9, Count(0.4), apart=0.2)
    best = BranchBound().solve(problem)
    monkeypatch.setattr(branch_bound._Search, "dives", lambda self, rng: None)
    rows = []
    again = BranchBound().solve(problem, start=best, callback=rows.append)
    assert rows[0]["objective"] == pytest.approx(best.objective, rel=1e-6)
    assert again.objective == pytest.approx(best.objective, rel=1e-7)
    poor = replace(best, labels=labelings(problem)[machines(problem, labelings(problem)).argmax()])
    asked = []

    class Asked(PairSwitching):
        def solve(self, problem, start=None, callback=None, rng=None):
            asked.append(start)
            return super().solve(problem, start, callback, rng)

    monkeypatch.setattr(branch_bound, "PairSwitching", Asked)
    found = BranchBound().solve(problem, start=poor)
    assert asked[0] is poor
    assert found.objective == pytest.approx(best.objective, rel=1e-6)


@every_intercept
@pytest.mark.parametrize("balance", [Free(), Count(0.4), Count(0.5, 0.2)], ids=str)
def test_a_dive_leaves_the_table_as_it_was(intercept, balance):
    for seed in range(3):
        problem = partly(seed, 12, balance, intercept, apart=0.3)
        first = PairSwitching(1e-4).solve(problem)
        search = branch_bound._Search(problem, first, BranchBound(), None, np.inf)
        table, tree = search.table, search.tree
        before = table.S.copy(), table.g.copy(), table.y.copy(), table.inside.copy()
        tree.best[0] = np.inf
        dive(table, tree, search.cost, np.ones(12))
        np.testing.assert_array_equal(table.y, before[2])
        assert not table.inside[tree.free].any()
        search_again = branch_bound._Search(problem, first, BranchBound(), None, np.inf)
        search_again.table.inside[:] = table.inside
        branch_bound.sweeps.build(search_again.table)
        scale = np.abs(search_again.table.S).max()
        np.testing.assert_allclose(table.S, search_again.table.S, atol=1e-8 * scale)
        np.testing.assert_allclose(table.g, search_again.table.g, atol=1e-8)
        assert branch_bound.sweeps.settle(table, 1e-9, np.inf) == pytest.approx(
            branch_bound.sweeps.settle(search_again.table, 1e-9, np.inf), rel=1e-9
        )
        y = problem.signs.copy()
        y[search.rows] = tree.best_y
        assert np.isfinite(tree.best[0])
        assert tree.best[0] >= machines(problem, y[None])[0] * (1.0 - 1e-8)  # what it found is a machine's objective
        assert allowed(problem, tree.best_y[None]).all()


@every_intercept
def test_order_and_names_of_the_classes_do_not_matter(intercept, one_dive):
    for seed in range(3):
        problem = partly(seed, 9, Count(1 / 3), intercept, apart=0.2)
        X = problem.space.X
        mixed = np.random.default_rng(seed).permutation(len(X))
        best = BranchBound().solve(problem)
        moved = problem._replace(
            space=Gram(Kernel("rbf", 0.3), X[mixed]), signs=problem.signs[mixed], cost=problem.cost[mixed]
        )
        other = BranchBound().solve(moved)
        assert other.objective == pytest.approx(best.objective, rel=1e-7)
        np.testing.assert_array_equal(other.labels, best.labels[mixed])
        swapped = BranchBound().solve(problem._replace(signs=-problem.signs, balance=Count(2 / 3)))
        assert swapped.objective == pytest.approx(best.objective, rel=1e-7)
        np.testing.assert_array_equal(swapped.labels, -best.labels)


def test_nothing_to_label_is_the_supervised_machine():
    problem = partly(0, 8, Count(0.5))
    alone = SMO(1e-8).solve(problem._replace(unlabeled=None, balance=Free()))
    free = problem._replace(cost=np.where(problem.is_labeled, problem.cost, 0.0))
    few = np.flatnonzero(problem.is_labeled)
    K = np.asarray(problem.space.gram().whole)[np.ix_(few, few)]
    known = problem._replace(space=Gram(Kernel("precomputed"), K), signs=problem.signs[few], cost=problem.cost[few])
    for stated in (free, known, problem._replace(unlabeled=None, balance=Free())):
        solution = BranchBound().solve(stated)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6)
        assert solution.certificate.kind == "gap"
        assert 0.0 <= solution.certificate.gap <= 1e-5 * solution.objective
        assert solution.certificate.lower_bound <= alone.objective * (1.0 + 1e-9)


def test_inputs_are_left_alone():
    problem = partly(0, 8, Count(0.5))
    signs, cost = problem.signs.copy(), problem.cost.copy()
    first, again = BranchBound().solve(problem, rng=3), BranchBound().solve(problem, rng=3)
    np.testing.assert_array_equal(problem.signs, signs)
    np.testing.assert_array_equal(problem.cost, cost)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert first.objective == again.objective


# ------------------------------------------------------------------------------------------- the estimator


@pytest.mark.parametrize("noise, wrong", [(0.05, 0.0), (0.1, 0.02)])
def test_two_moons_with_two_labels(noise, wrong):
    X, y = make_moons(100, noise=noise, random_state=0)
    partly_known = hide_labels(y, 2, random_state=0)
    machine = BranchBoundTSVM(C=10.0, gamma=2.0, random_state=0).fit(X, partly_known)
    assert machine.converged_
    assert machine.certificate_.gap <= 2e-6 * machine.objective_
    assert (machine.transduction_ != y).mean() <= wrong
    assert (machine.supervised_.predict(X) != y).mean() > 0.05  # labels alone do not do it


def blobs(n=24, known=8, seed=0):
    X, y = make_two_gaussians(n, random_state=seed)
    X = X[:, :3]
    return X, y, hide_labels(y, known, random_state=seed)


def test_the_estimator_is_the_solver():
    X, _, y = blobs(16, 6)
    machine = BranchBoundTSVM(C=2.0, C_unlabeled=1.0, gamma=0.2, balance=0.5, random_state=0).fit(X, y)
    signs = np.where(y == -1, 0.0, np.where(y == machine.classes_[1], 1.0, -1.0))
    problem = Problem(
        Gram(Kernel("rbf", 0.2), X),
        signs,
        np.where(signs == 0, 1.0, 2.0),
        SquaredHinge(),
        SymmetricSquaredHinge(),
        Count(0.5),
    )
    assert machine.objective_ == pytest.approx(enumerated(problem), rel=1e-6)
    labels = np.where(machine.transduction_ == machine.classes_[1], 1.0, -1.0)
    assert machines(problem, labels[None])[0] == pytest.approx(machine.objective_, rel=1e-6)
    np.testing.assert_array_equal(machine.transduction_[y != -1], y[y != -1])
    assert (labels[signs == 0] > 0).sum() == 5
    own = S3VM(
        "squared_hinge", "symmetric_squared_hinge", solver="branch_bound", C=2.0, C_unlabeled=1.0, gamma=0.2,
        balance=0.5, random_state=0, tol=1e-6,
    ).fit(X, y)  # fmt: skip
    assert own.objective_ == pytest.approx(machine.objective_, rel=1e-6)


def test_new_rows_are_scored_by_the_machine():
    X, _, y = blobs(20, 6)
    machine = BranchBoundTSVM(C=2.0, gamma=0.2, random_state=0).fit(X, y)
    new = X[:5] + 0.1
    K = np.exp(-0.2 * ((new[:, None] - machine.support_vectors_[None]) ** 2).sum(axis=2))
    f = K @ machine.dual_coef_.ravel() + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(new), f, atol=1e-9)
    np.testing.assert_array_equal(machine.predict(new), machine.classes_[(f > 0).astype(int)])


@every_intercept
def test_the_supervised_machine_beside_it(intercept):
    X, _, y = blobs()
    machine = BranchBoundTSVM(C=2.0, gamma=0.2, fit_intercept=intercept, random_state=0).fit(X, y)
    known = y != -1
    alone = SVM(2.0, loss="squared_hinge", gamma=0.2, fit_intercept=intercept, tol=1e-6).fit(X[known], y[known])
    assert isinstance(machine.supervised_, SVM)
    assert machine.supervised_.loss == "squared_hinge"
    assert machine.supervised_.fit_intercept == intercept
    np.testing.assert_allclose(machine.supervised_.decision_function(X), alone.decision_function(X), atol=1e-4)
    none = BranchBoundTSVM(C=2.0, C_unlabeled=0.0, gamma=0.2, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(none.decision_function(X), alone.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_three_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    some = np.r_[0:12, 50:62, 100:112]
    X, y = X[some], y[some]
    given = hide_labels(y, 24, random_state=0)
    machine = BranchBoundTSVM(C=5.0, multiclass=multiclass, random_state=0).fit(X, given)
    assert len(machine.certificate_) == 3
    assert all(c.kind == "gap" for c in machine.certificate_)
    gaps = np.array([c.gap for c in machine.certificate_])
    assert (gaps <= 2e-6 * np.asarray(machine.objective_)).all()
    assert (machine.transduction_ == y).mean() > 0.9
    assert set(machine.predict(X)) <= {0, 1, 2}


def test_strings_sparse_tables_and_weights():
    X, _, y = blobs(20, 8)
    X[np.abs(X) < 0.5] = 0.0
    options = {"C": 2.0, "gamma": 0.2, "random_state": 0}
    plain = BranchBoundTSVM(**options).fit(X, y)
    thin = BranchBoundTSVM(**options).fit(sparse.csr_array(X), y)
    assert thin.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    np.testing.assert_array_equal(thin.transduction_, plain.transduction_)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), plain.decision_function(X), atol=1e-6)
    classes = plain.classes_
    words = np.where(y == -1, None, np.where(y == classes[1], "yes", "no")).astype(object)
    named = BranchBoundTSVM(**options).fit(X, words)
    np.testing.assert_array_equal(named.classes_, ["no", "yes"])
    np.testing.assert_array_equal(named.transduction_ == "yes", plain.transduction_ == classes[1])
    assert named.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    weight = np.where(np.arange(20) % 5 == 0, 2.0, 1.0)
    weighted = BranchBoundTSVM(**options, balance=None).fit(X, y, sample_weight=weight)
    signs = np.where(y == -1, 0.0, np.where(y == classes[1], 1.0, -1.0))
    space = Gram(Kernel("rbf", 0.2), X)
    stated = Problem(space, signs, 2.0 * weight, SquaredHinge(), SymmetricSquaredHinge())
    labels = np.where(weighted.transduction_ == classes[1], 1.0, -1.0)
    assert weighted.objective_ == pytest.approx(machines(stated, labels[None])[0], rel=1e-6)
    assert weighted.objective_ == pytest.approx(BranchBound().solve(stated).objective, rel=1e-6)


def test_nodes_that_run_out_are_told():
    X, _, y = blobs(30, 4)
    with pytest.warns(ConvergenceWarning, match="max_nodes=1 reached") as said:
        machine = BranchBoundTSVM(C=20.0, gamma=0.5, max_nodes=1, random_state=0).fit(X, y)
    assert len(said) == 1
    assert not machine.converged_
    assert 0.0 < machine.certificate_.lower_bound < machine.objective_
    assert machine.certificate_.gap == pytest.approx(machine.objective_ - machine.certificate_.lower_bound)
    assert machine.predict(X).shape == (30,)
    proven = BranchBoundTSVM(C=20.0, gamma=0.5, random_state=0).fit(X, y)
    assert machine.certificate_.lower_bound <= proven.objective_ * (1.0 + 1e-9)
    assert proven.objective_ <= machine.objective_ * (1.0 + 1e-7)


@pytest.mark.parametrize(
    "bad", [{"max_nodes": 0}, {"max_nodes": 2.5}, {"tol": 0.0}, {"max_time": -1.0}, {"fit_intercept": "maybe"}], ids=str
)
def test_bad_parameters_are_named(bad):
    X, _, y = blobs(12, 6)
    name = next(iter(bad))
    with pytest.raises(ValueError, match=name) as refused:
        BranchBoundTSVM(**bad).fit(X, y)
    assert "\n" not in str(refused.value)


def test_other_losses_are_refused():
    X, _, y = blobs(12, 6)
    with pytest.raises(ValueError, match="BranchBound does not take the labeled loss Hinge"):
        S3VM("hinge", "symmetric_hinge", solver="branch_bound").fit(X, y)


def hard(seed):
    rng = np.random.default_rng(seed)
    u, known = int(rng.integers(1, 9)), int(rng.integers(2, 6))
    balance = [Free(), Count(rng.uniform()), Count(rng.uniform(), rng.uniform(0, 0.3)), Count(0.5)][seed % 4]
    p = partly(seed, u, balance, INTERCEPTS[seed % 3], False, rng.uniform(0, 1), known, linear=seed % 5 == 0)
    p = p._replace(cost=p.cost * 10 ** rng.uniform(-3, 3) * 10 ** rng.uniform(-1, 1, len(p.cost)))
    if seed % 11 == 0:
        p = p._replace(space=Gram(Kernel("poly", 1.0, 1.0, 2), np.asarray(p.space.X)))
    return p


@pytest.mark.parametrize("seed", [435, 1110, 170, 1419, 1290, 220])
def test_proven_labels_are_the_best_where_the_kernel_has_few_dimensions(seed, monkeypatch):
    """Linear and poly kernels of 2 columns, costs of 20 to 20 000: digits are gone after 30 to 50 sweeps."""
    monkeypatch.setattr(branch_bound, "DIVES", 1)
    problem = hard(seed)
    best = enumerated(problem)
    solution = BranchBound().solve(problem)
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert solution.certificate.lower_bound <= best * (1 + 1e-8)
    assert solution.certificate.gap <= 3e-6 * best


def test_an_interrupt_in_a_later_dive_keeps_the_best_labels(monkeypatch):
    real = branch_bound.dive
    for seed in range(25):
        problem = partly(seed, 10, Count(0.4), apart=0.2)
        made = [0]

        def broken(*given, made=made):
            made[0] += 1
            if made[0] == 2:
                raise KeyboardInterrupt
            return real(*given)

        monkeypatch.setattr(branch_bound, "dive", broken)
        solution = BranchBound().solve(problem, rng=seed)
        monkeypatch.setattr(branch_bound, "dive", real)
        assert solution.objective <= PairSwitching(1e-4).solve(problem).objective * (1 + 1e-6)


def test_a_cost_of_zero_warns_of_nothing():
    problem = partly(3, 6)
    cost = problem.cost.copy()
    cost[np.flatnonzero(problem.signs == 0)[0]] = 0.0
    with np.errstate(divide="raise"):
        BranchBound().solve(problem._replace(cost=cost))


def test_an_interrupt_within_the_switching_of_a_dive_ends_the_search(monkeypatch):
    problem = partly(0, 10, Count(0.4), apart=0.2)
    real, calls = branch_bound.PairSwitching.solve, []

    def heard(solver, *given, **rest):
        solution = real(solver, *given, **rest)
        calls.append(solution)
        if len(calls) == 2:  # the first one gives the labels to start from
            solution.status = "interrupted"
        return solution

    monkeypatch.setattr(branch_bound.PairSwitching, "solve", heard)
    solution = BranchBound().solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert len(calls) == 2
    assert solution.certificate.lower_bound <= enumerated(problem) <= solution.objective * (1 + 1e-9)
