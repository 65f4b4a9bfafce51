"""The semidefinite relaxation: against an interior point and all labelings, its bound at any point, its estimator."""

import itertools

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from semisvm import S3VM, SDPTSVM, SVM
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import Hinge, SymmetricHinge
from semisvm.problem import Problem, imbalance, objective
from semisvm.solvers import SMO, LowRankRelaxation, PairSwitching, refusal, relaxation
from semisvm.solvers.held_labels import Changes, supervised
from semisvm.solvers.relaxation import Relaxation
from semisvm.spaces import Features, Gram

BALANCES = [Free(), Count(0.5), Count(0.9), Count(0.3, 0.15)]

every_intercept = pytest.mark.parametrize("intercept", ["regularised", False])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=str)


# ------------------------------------------------------------------------------------------- problems and judges


def partly(seed, u=8, balance=Free(), intercept="regularised", weighted=False, apart=0.5, known=4, linear=False):  # noqa: B008
    """Rows of two classes that overlap, with a cost of its own per row."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(known + u) < 0.5, 1.0, -1.0)
    y[:known] = np.where(np.arange(known) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((known + u, 2)) + apart * y[:, None] + 0.2
    signs = np.where(np.arange(known + u) < known, y, 0.0)
    mixed = rng.permutation(known + u)
    cost = 10.0 ** rng.uniform(-0.5, 1.0) * rng.uniform(0.5, 2.0, known + u)
    weights = rng.uniform(0.3, 2.0, known + u) if weighted else None
    space = Features(X[mixed]) if linear else Gram(Kernel("rbf", 0.3), X[mixed])
    return Problem(space, signs[mixed], cost, Hinge(), SymmetricHinge(), balance, intercept, weights)


def kernel_of(problem):
    return np.asarray(problem.space.gram().whole, dtype=float) + 1.0 * (problem.intercept == "regularised")


def weight_of(problem):
    free = problem.signs == 0
    return np.ones(free.sum()) if problem.weights is None else problem.weights[free]


def allowed(problem, Y):
    """Which labelings of the unlabeled rows keep the balance, from its definition."""
    if isinstance(problem.balance, Free):
        return np.ones(len(Y), dtype=bool)
    weight = weight_of(problem)
    off = np.abs((Y > 0) @ weight / weight.sum() - problem.balance.r)
    return off <= max(problem.balance.slack, off.min() if problem.weights is None else 0.0) + 1e-9


def labelings(problem):
    u = int((problem.signs == 0).sum())
    Y = np.array(list(itertools.product((-1.0, 1.0), repeat=u))).reshape(-1, u)
    Y = Y[allowed(problem, Y)]
    whole = np.tile(problem.signs, (len(Y), 1))
    whole[:, problem.signs == 0] = Y
    return whole


def machines(problem, Y, only_best=False, rounds=100_000):
    """Dual values, each next to its objective, of the hinge machines of many labelings at once, row by row."""
    K, c = kernel_of(problem), problem.cost
    a, F = np.zeros_like(Y), np.zeros_like(Y)
    for number in range(rounds):
        for i in range(len(K)):
            new = np.clip(a[:, i] + (1.0 - Y[:, i] * F[:, i]) / K[i, i], 0.0, c[i])
            F += ((new - a[:, i]) * Y[:, i])[:, None] * K[i]
            a[:, i] = new
        if number % 20 == 19:
            norm2 = (a * Y * F).sum(axis=1)
            dual, primal = a.sum(axis=1) - 0.5 * norm2, 0.5 * norm2 + np.maximum(1.0 - Y * F, 0.0) @ c
            if only_best:  # the others lie above
                kept = dual <= primal.min()
                Y, a, F, dual, primal = Y[kept], a[kept], F[kept], dual[kept], primal[kept]
            if (primal - dual <= 1e-7 * primal).all():
                return dual
    raise AssertionError("the judge did not converge")


def enumerated(problem):
    """The smallest objective over all labels that keep the balance, from below."""
    return machines(problem, labelings(problem), only_best=True).min()


def semidefinite(problem):
    """The optimum of the relaxation as De Bie and Cristianini state it, by an interior point."""
    K, c, y = kernel_of(problem), problem.cost, problem.signs
    known, free, n = np.flatnonzero(y != 0), np.flatnonzero(y == 0), len(y)
    m = 1 + len(free)
    E = np.zeros((n, m))  # rows of G = E H E'
    E[known, 0], E[free, 1 + np.arange(len(free))] = y[known], 1.0
    pairs = list(itertools.combinations(range(m), 2))
    bases = []  # of H and of [[K o G, 1 + nu - de], [., t - 2c'de]], one per variable
    for i, j in pairs:
        H = np.zeros((m, m))
        H[i, j] = H[j, i] = 1.0
        bases.append((H, bordered(K * (E @ H @ E.T), np.zeros(n), 0.0)))
    none = np.zeros((m, m)), np.zeros((n, n))
    bases += [(none[0], bordered(none[1], np.eye(n)[i], 0.0)) for i in range(n)]
    bases += [(none[0], bordered(none[1], -np.eye(n)[i], -2.0 * c[i])) for i in range(n)]
    bases.append((none[0], bordered(none[1], np.zeros(n), 1.0)))
    fixed = np.eye(m), bordered(K * (E @ E.T), np.ones(n), 0.0)
    count = len(bases)
    pull = np.zeros(count)
    for number, (i, j) in enumerate(pairs):
        pull[number] = weight_of(problem)[j - 1] if i == 0 else 0.0
    rows = [np.zeros((0, count)), -np.eye(count)[len(pairs) : -1]]
    right = [np.zeros(0), np.zeros(2 * n)]
    cones = [clarabel.ZeroConeT(0), clarabel.NonnegativeConeT(2 * n)]
    if isinstance(problem.balance, Count):
        weight = weight_of(problem)
        sums = np.array([weight @ one[free] for one in labelings(problem)])
        low, high = sums.min(), sums.max()
        if problem.weights is not None:
            share = problem.balance.r - problem.balance.slack, problem.balance.r + problem.balance.slack
            low, high = ((2.0 * s - 1.0) * weight.sum() for s in share)
        rows.append(np.array([pull, -pull]))
        right.append(np.array([high, -low]))
        cones.append(clarabel.NonnegativeConeT(2))
    for part in (0, 1):
        rows.append(-np.column_stack([svec(base[part]) for base in bases]))
        right.append(svec(fixed[part]))
        cones.append(clarabel.PSDTriangleConeT(len(fixed[part])))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.eye(count)[-1]
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((count, count)), cost, sparse.csc_matrix(np.vstack(rows)), np.concatenate(right), cones,
        settings,
    )  # fmt: skip
    answer = solver.solve()
    assert "Solved" in str(answer.status)
    return 0.5 * answer.obj_val


def bordered(A, side, corner):
    return np.block([[A, side[:, None]], [side[None], np.array([[corner]])]])


def svec(A):
    """The upper triangle column by column, as Clarabel has it."""
    j, i = np.tril_indices(len(A))
    return np.where(i == j, 1.0, np.sqrt(2.0)) * A[i, j]


def relaxed_of(problem, seed=0):
    changes, first = Changes(problem), supervised(problem, 1e-6, None)
    return Relaxation(problem, changes, first, np.random.default_rng(seed))


def assert_sound(problem, solution):
    """What any answer promises, however it stopped."""
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
    if problem.weights is None:
        assert allowed(problem, solution.labels[None, ~known]).all()
        assert imbalance(problem, solution.scores, solution.labels) <= 0.5 / max((~known).sum(), 1) + 1e-9


def assert_true_gap(problem, solution, best=None):
    best = enumerated(problem) if best is None else best
    assert_sound(problem, solution)
    assert solution.certificate.lower_bound <= best * (1.0 + 1e-6)
    assert best <= solution.objective * (1.0 + 1e-6)


# ------------------------------------------------------------------------------------------- the bound


@every_intercept
@pytest.mark.parametrize(
    "balance, known, apart, seeds",
    [
        (Free(), 6, 0.4, (0, 1)),
        (Free(), 4, 0.1, (0, 1)),
        (Count(0.5), 6, 0.4, (0,)),  # does not bind
        (Count(0.9), 6, 0.4, (0, 1)),  # binds
    ],
    ids=str,
)
def test_the_bound_is_the_optimum_of_the_relaxation(intercept, balance, known, apart, seeds):
    for seed in seeds:
        problem = partly(seed, 10, balance, intercept, apart=apart, known=known)
        best = semidefinite(problem)
        solution = LowRankRelaxation(tol=1e-4).solve(problem, rng=seed)
        assert_sound(problem, solution)
        assert solution.status == "converged"
        assert solution.certificate.lower_bound <= best + 1e-6 * max(best, 1.0)
        assert solution.certificate.lower_bound == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("balance", [Count(0.5), Count(0.2, 0.1), Count(0.8, 0.15)], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_the_bound_is_never_above_the_optimum_of_the_relaxation(balance, weighted):
    """Slack, weights, balances that bind a little."""
    for seed in (1, 3, 4):
        if weighted:
            balance = balance._replace(slack=0.15)
        problem = partly(seed, 9, balance, weighted=weighted, known=6)
        if weighted and not len(labelings(problem)):
            continue
        best = semidefinite(problem)
        solution = LowRankRelaxation(tol=1e-4).solve(problem, rng=seed)
        assert solution.certificate.lower_bound <= best + 1e-6 * max(best, 1.0)
        assert solution.certificate.lower_bound >= 0.9 * best


def test_a_balance_that_binds_raises_the_bound():
    rose = 0
    for seed in range(8):
        free, bound = (LowRankRelaxation().solve(partly(seed, 9, b), rng=0) for b in (Free(), Count(0.9)))
        assert bound.certificate.lower_bound >= free.certificate.lower_bound * (1.0 - 2e-3)
        rose += bound.certificate.lower_bound > 1.05 * free.certificate.lower_bound
        assert {row.get("multiplier", 0.0) for row in free.trace} == {0.0}
    assert rose


@every_intercept
@every_balance
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_no_labeling_lies_below_the_bound(intercept, balance, weighted):
    if weighted and isinstance(balance, Count):
        balance = Count(min(balance.r, 0.7), 0.3)  # so that labels by rank are in the balance
    for seed in range(3):
        problem = partly(10 * seed + 1, 5 + 2 * seed, balance, intercept, weighted, linear=seed == 1)
        solution = LowRankRelaxation().solve(problem, rng=seed)
        assert_true_gap(problem, solution)
        assert allowed(problem, solution.labels[None, problem.signs == 0]).all()
        alone = SMO(1e-6).solve(problem._replace(unlabeled=None, balance=Free()))
        assert solution.certificate.lower_bound >= alone.objective * (1.0 - 1e-4)


@every_balance
def test_the_bound_holds_at_any_point(balance):
    """Whatever the multipliers, the vectors and nu are."""
    near = 0
    for seed, intercept in itertools.product(range(4), ["regularised", False]):
        problem = partly(seed, 7, balance, intercept, weighted=seed == 3 and isinstance(balance, Free))
        best = enumerated(problem)
        relaxed = relaxed_of(problem, seed)
        rng = np.random.default_rng(seed)
        for number in range(30):
            if number == 15:
                relaxed.nu = 0.0
                relaxed.settle(1e-4, 200, np.inf)
                near += relaxed.bound() > 0.7 * best
                kept = relaxed.a.copy(), relaxed.V.copy()
            relaxed.nu = rng.choice([0.0, rng.normal(), 10.0 * rng.normal(), 0.1 * rng.normal()])
            if number < 15:
                relaxed.a[:] = relaxed.cost * rng.random(len(relaxed.a)) ** rng.choice([0.2, 1.0, 5.0])
                noise = 1.0
            else:  # and not far from the best point, where it is nearly tight
                size = 10.0 ** rng.uniform(-4, -1)
                relaxed.a[:] = np.clip(kept[0] + size * rng.normal(size=len(kept[0])), 0.0, relaxed.cost)
                relaxed.V[:], noise = kept[1], 10.0 ** rng.uniform(-3, -1)
                relaxed.nu *= size
            V = relaxed.V[relaxed.known :]
            V += noise * rng.normal(size=V.shape)
            V /= np.linalg.norm(V, axis=1, keepdims=True)
            assert relaxed.bound() <= best * (1.0 + 1e-6)
    assert near or isinstance(balance, Count)


@every_intercept
def test_value_and_bound_close_in_on_the_optimum(intercept):
    for seed in range(3):
        problem = partly(seed, 9, Free(), intercept)
        best = semidefinite(problem)
        relaxed = relaxed_of(problem)
        gaps = []
        for sweeps in (1, 10, 100, 1000):
            value, bound, _ = relaxed.settle(1e-6, sweeps, np.inf)
            assert value == relaxed.value()
            assert bound >= max(relaxed.bound(), relaxed.floor)  # the best one seen
            assert bound <= best + 1e-5 * best
            assert value >= best - 1e-5 * best
            gaps.append(value - bound)
        assert gaps[1] < 0.7 * gaps[0]
        assert gaps[-1] < 1e-3 * best
        assert gaps[-1] <= gaps[2] <= gaps[1]


# ------------------------------------------------------------------------------------------- its pieces


def test_the_multiplier_of_a_row():
    """Largest a - ||a S + pull e|| - own a^2/2 in the box, by a bounded search over the same."""
    rng = np.random.default_rng(0)
    for number in range(300):
        S = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 1)
        pull = 0.0 if number % 4 == 0 else rng.normal() * 10.0 ** rng.uniform(-2, 1)
        own, cost = 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-2, 2)

        def value(a, S=S, pull=pull, own=own):
            return a - np.linalg.norm(a * S + pull * np.eye(4)[0]) - 0.5 * own * a * a

        found = relaxation._multiplier(S @ S, S[0], pull, own, cost)
        best = minimize_scalar(lambda a: -value(a), bounds=(0.0, cost), method="bounded", options={"xatol": 1e-12})
        assert 0.0 <= found <= cost
        others = (best.x, 0.0, cost)
        assert value(found) >= max(map(value, others)) - 1e-9 * max(1.0, abs(pull))
        nearest = min(others, key=lambda a: abs(a - found))
        assert abs(found - nearest) <= 2e-5 * max(1.0, cost)


@every_intercept
def test_sweeps_keep_what_is_kept(intercept):
    for seed, nu in itertools.product(range(3), (0.0, 0.7, -0.4)):
        problem = partly(seed, 9, Count(0.5), intercept, weighted=seed == 2)
        relaxed = relaxed_of(problem)
        relaxed.nu = nu
        known, V = relaxed.known, relaxed.V[: relaxed.known].copy()
        moves = []
        for _ in range(30):
            before = relaxed.a[:, None] * relaxed.V
            step = relaxation.sweep(
                relaxed.K, relaxed.cost, relaxed.signs, nu * relaxed.weight, relaxed.a, relaxed.V, relaxed.F
            )
            moves.append(step)
            moved = np.linalg.norm(relaxed.a[:, None] * relaxed.V - before, axis=1).max()
            assert step == pytest.approx(moved, abs=1e-9)
            np.testing.assert_allclose(relaxed.F, relaxed.K @ (relaxed.a[:, None] * relaxed.V), atol=1e-8)
            np.testing.assert_allclose(np.linalg.norm(relaxed.V, axis=1), 1.0, atol=1e-12)
            np.testing.assert_array_equal(relaxed.V[:known], V)
            assert (relaxed.a >= 0.0).all()
            assert (relaxed.a <= relaxed.cost).all()
        assert moves[-1] < 0.3 * moves[0]


def test_the_rows_and_sums_of_the_relaxed_problem():
    problem = partly(0, 8, Count(0.25))
    relaxed = relaxed_of(problem)
    np.testing.assert_array_equal(problem.signs[relaxed.rows[: relaxed.known]] != 0, True)
    np.testing.assert_array_equal(problem.signs[relaxed.rows[relaxed.known :]], 0.0)
    np.testing.assert_allclose(relaxed.K, kernel_of(problem)[np.ix_(relaxed.rows, relaxed.rows)])
    np.testing.assert_allclose(relaxed.sums, -4.0, atol=1e-7)  # two of eight are positive
    np.testing.assert_allclose(relaxed_of(problem._replace(balance=Free())).sums, [-8.0, 8.0], atol=1e-7)
    np.testing.assert_allclose(relaxed_of(problem._replace(balance=Count(0.5, 0.25))).sums, [-4.0, 4.0], atol=1e-7)


def test_the_excess_is_how_far_the_labels_lean():
    problem = partly(0, 8, Count(0.25))
    relaxed = relaxed_of(problem)
    V = relaxed.V[relaxed.known :]
    V[:] = 0.0
    for positive, far in ((2, 0.0), (5, 6.0), (0, -4.0)):
        V[:, 0] = np.where(np.arange(8) < positive, 1.0, -1.0)
        relaxed.a[:] = 0.5 * relaxed.cost
        assert relaxed.excess() == pytest.approx(far, abs=1e-6)
    V[:, 0] = 1.0
    relaxed.a[relaxed.known :][:5] = 0.0
    F = relaxed.F[relaxed.known :][:5]
    F[:] = 0.0
    F[:, 1] = 1e9  # with such margins five rows may lie anywhere: 3 - 5 is within reach of -4 but for 2
    assert relaxed.excess() == pytest.approx(2.0, abs=1e-6)
    F[:, 1], F[:, 0] = 0.0, 2.0  # with these they keep v'F >= 1 up to an angle of 60 degrees: 3 + 5/2 + 4
    assert relaxed.excess() == pytest.approx(9.5, abs=1e-6)
    relaxed.nu = -0.1
    assert relaxed.excess() == pytest.approx(12.0, abs=1e-6)


# ------------------------------------------------------------------------------------------- labels, limits


@every_balance
def test_the_labels_are_good(balance):
    """Rounded and switched labels are not far from the best of all."""
    best, found = [], []
    for seed in range(4):
        problem = partly(seed, 8, balance)
        solution = LowRankRelaxation().solve(problem, rng=0)
        best.append(enumerated(problem))
        found.append(solution.objective)
    assert sum(found) <= 1.3 * sum(best)


def test_planes_help_and_a_start_is_used(monkeypatch):
    asked = []

    class Asked(PairSwitching):
        def solve(self, problem, start=None, callback=None, rng=None):
            asked.append(start.labels.copy())
            return super().solve(problem, start, callback, rng)

    problem = partly(2, 9, Count(4 / 9))
    first = PairSwitching(1e-4).solve(problem)
    monkeypatch.setattr(relaxation, "PairSwitching", Asked)
    LowRankRelaxation().solve(problem)
    assert len(asked) == 1 + relaxation.PLANES
    assert all(allowed(problem, labels[None, problem.signs == 0]).all() for labels in asked)
    asked.clear()
    solution = LowRankRelaxation().solve(problem, start=first)
    assert len(asked) == 2 + relaxation.PLANES
    np.testing.assert_array_equal(asked[1], first.labels)
    assert solution.objective <= first.objective * (1.0 + 1e-6)


def test_the_trace_tells_value_and_bound():
    problem = partly(0, 9, Count(0.9))
    rows = []
    solution = LowRankRelaxation().solve(problem, callback=lambda row: rows.append(row) if "bound" in row else None)
    assert [row["step"] for row in solution.trace] == list(range(len(solution.trace)))
    assert rows == solution.trace[:-1]
    assert {"objective", "bound", "sweeps", "multiplier"} <= set(rows[0])
    assert solution.trace[-1]["objective"] == solution.objective
    best = enumerated(problem)
    assert all(row["bound"] <= best * (1.0 + 1e-6) for row in solution.trace)
    assert solution.certificate.lower_bound == pytest.approx(max(row["bound"] for row in solution.trace))


@pytest.mark.parametrize("count", [1, 2, 15])
def test_few_sweeps_give_a_true_bound(count):
    for seed, balance in itertools.product(range(3), BALANCES[:3]):
        problem = partly(seed, 8, balance)
        solution = LowRankRelaxation(tol=1e-9, max_iter=count).solve(problem, rng=0)
        assert solution.status == "max_iter"
        assert solution.trace[-2]["sweeps"] == count
        assert_true_gap(problem, solution)


def test_little_time():
    problem = partly(0, 8, Count(0.5))
    solution = LowRankRelaxation(max_time=1e-9).solve(problem, rng=0)
    assert solution.status == "max_time"
    assert_true_gap(problem, solution)


def test_a_callback_ends_the_sweeps():
    problem = partly(0, 8, Count(0.9))
    solution = LowRankRelaxation(tol=1e-12).solve(problem, callback=lambda row: "bound" in row)
    assert solution.status == "stopped"
    assert len(solution.trace) == 2
    assert_true_gap(problem, solution)


@pytest.mark.parametrize("calls", [1, 5, 60])
def test_an_interrupt(calls, monkeypatch):
    made, real = [0], relaxation.sweep

    def broken(*given):
        made[0] += 1
        if made[0] == calls:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(relaxation, "sweep", broken)
    problem = partly(1, 8, Free() if calls < 60 else Count(0.9))
    solution = LowRankRelaxation(tol=1e-12).solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert_true_gap(problem, solution)
    assert solution.certificate.lower_bound <= semidefinite(problem) * (1.0 + 1e-6)


def test_nothing_to_label_is_the_supervised_machine():
    problem = partly(0, 8, Count(0.5))
    alone = SMO(1e-8).solve(problem._replace(unlabeled=None, balance=Free()))
    few = np.flatnonzero(problem.is_labeled)
    K = np.asarray(problem.space.gram().whole)[np.ix_(few, few)]
    known = problem._replace(space=Gram(Kernel("precomputed"), K), signs=problem.signs[few], cost=problem.cost[few])
    free = problem._replace(cost=np.where(problem.is_labeled, problem.cost, 0.0))
    for stated in (free, known, problem._replace(unlabeled=None, balance=Free())):
        solution = LowRankRelaxation().solve(stated)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-5)
        assert solution.certificate.kind == "gap"
        assert 0.0 <= solution.certificate.gap <= 1e-5 * solution.objective


@every_intercept
def test_order_and_names_of_the_classes_do_not_matter(intercept):
    for seed in range(3):
        problem = partly(seed, 9, Count(1 / 3), intercept)
        X, mixed = problem.space.X, np.random.default_rng(seed).permutation(13)
        best = LowRankRelaxation().solve(problem, rng=0)
        moved = problem._replace(
            space=Gram(Kernel("rbf", 0.3), X[mixed]), signs=problem.signs[mixed], cost=problem.cost[mixed]
        )
        swapped = problem._replace(signs=-problem.signs, balance=Count(2 / 3))
        for other in (moved, swapped):
            solution = LowRankRelaxation().solve(other, rng=0)
            assert solution.objective == pytest.approx(best.objective, rel=1e-5)
            assert solution.certificate.lower_bound == pytest.approx(best.certificate.lower_bound, rel=2e-3)


def test_a_free_intercept_is_refused():
    problem = partly(0, intercept=True)
    assert "does not take fit_intercept=True" in refusal(LowRankRelaxation(), problem)
    assert refusal(LowRankRelaxation(), partly(0)) is None
    X, _, given = blobs()
    with pytest.raises(ValueError, match="fit_intercept") as refused:
        SDPTSVM(fit_intercept=True).fit(X, given)
    assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="does not take fit_intercept=True"):
        S3VM("hinge", "symmetric_hinge", solver="relaxation", fit_intercept=True).fit(X, given)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(relaxation, "gram_limit", lambda: 1000)
    with pytest.raises((ValueError, MemoryError), match=r"12 rows .*SEMISVM_MEMORY"):
        LowRankRelaxation().solve(partly(0))


# ------------------------------------------------------------------------------------------- the estimator


def blobs(n=24, known=8, seed=0):
    X, y = make_two_gaussians(n, random_state=seed)
    X = X[:, :3]
    return X, y, hide_labels(y, known, random_state=seed)


def test_the_estimator_is_the_solver():
    X, _, y = blobs(15, 6)
    machine = SDPTSVM(C=2.0, C_unlabeled=1.0, gamma=0.2, balance=5 / 9, random_state=0).fit(X, y)
    signs = np.where(y == -1, 0.0, np.where(y == machine.classes_[1], 1.0, -1.0))
    space = Gram(Kernel("rbf", 0.2), X)
    cost = np.where(signs == 0, 1.0, 2.0)
    problem = Problem(space, signs, cost, Hinge(), SymmetricHinge(), Count(5 / 9), "regularised")
    best = enumerated(problem)
    assert machine.certificate_.kind == "gap"
    assert machine.certificate_.lower_bound <= best * (1.0 + 1e-6)
    assert best <= machine.objective_ * (1.0 + 1e-6)
    labels = np.where(machine.transduction_ == machine.classes_[1], 1.0, -1.0)
    assert machine.objective_ == pytest.approx(machines(problem, labels[None])[0], rel=1e-4)
    assert (labels[signs == 0] > 0).sum() == 5
    np.testing.assert_array_equal(machine.transduction_[y != -1], y[y != -1])
    f = machine.decision_function(X)
    np.testing.assert_allclose(f, np.exp(-0.2 * ((X[:, None] - machine.support_vectors_[None]) ** 2).sum(axis=2))
                               @ machine.dual_coef_.ravel() + machine.intercept_[0], atol=1e-8)  # fmt: skip
    np.testing.assert_array_equal(
        machine.predict(X + 0.01), machine.classes_[1 * (machine.decision_function(X + 0.01) > 0)]
    )


@every_intercept
def test_the_supervised_machine_beside_it(intercept):
    X, _, y = blobs()
    machine = SDPTSVM(C=2.0, gamma=0.2, fit_intercept=intercept, random_state=0).fit(X, y)
    known = y != -1
    alone = SVM(2.0, loss="hinge", gamma=0.2, fit_intercept=intercept, tol=1e-4).fit(X[known], y[known])
    assert isinstance(machine.supervised_, SVM)
    assert machine.supervised_.loss == "hinge"
    assert machine.supervised_.fit_intercept == intercept
    np.testing.assert_allclose(machine.supervised_.decision_function(X), alone.decision_function(X), atol=5e-3)
    none = SDPTSVM(C=2.0, C_unlabeled=0.0, gamma=0.2, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(none.decision_function(X), alone.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_three_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    some = np.r_[0:12, 50:62, 100:112]
    X, y = X[some], y[some]
    given = hide_labels(y, 24, random_state=1)
    machine = SDPTSVM(C=5.0, tol=1e-2, multiclass=multiclass, random_state=0).fit(X, given)
    assert len(machine.certificate_) == 3
    assert all(c.kind == "gap" for c in machine.certificate_)
    assert all(c.lower_bound <= value for c, value in zip(machine.certificate_, machine.objective_))
    assert (machine.transduction_ == y).mean() > 0.9
    assert set(machine.predict(X)) <= {0, 1, 2}


def test_strings_sparse_tables_and_weights():
    X, _, y = blobs(20, 8)
    X[np.abs(X) < 0.5] = 0.0
    options = {"C": 2.0, "gamma": 0.2, "random_state": 0}
    plain = SDPTSVM(**options).fit(X, y)
    thin = SDPTSVM(**options).fit(sparse.csr_array(X), y)
    assert thin.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert thin.certificate_.lower_bound == pytest.approx(plain.certificate_.lower_bound, rel=1e-4)
    np.testing.assert_array_equal(thin.transduction_, plain.transduction_)
    classes = plain.classes_
    words = np.where(y == -1, None, np.where(y == classes[1], "yes", "no")).astype(object)
    named = SDPTSVM(**options).fit(X, words)
    np.testing.assert_array_equal(named.classes_, ["no", "yes"])
    np.testing.assert_array_equal(named.transduction_ == "yes", plain.transduction_ == classes[1])
    weight = np.where(np.arange(20) % 5 == 0, 2.0, 1.0)
    weighted = SDPTSVM(**options, balance=None).fit(X, y, sample_weight=weight)
    signs = np.where(y == -1, 0.0, np.where(y == classes[1], 1.0, -1.0))
    stated = Problem(Gram(Kernel("rbf", 0.2), X), signs, 2.0 * weight, Hinge(), SymmetricHinge(), Free(), "regularised")
    labels = np.where(weighted.transduction_ == classes[1], 1.0, -1.0)
    assert weighted.objective_ == pytest.approx(machines(stated, labels[None])[0], rel=1e-4)
    assert weighted.certificate_.lower_bound == pytest.approx(
        LowRankRelaxation().solve(stated, rng=0).certificate.lower_bound, rel=2e-3
    )


def test_sweeps_that_run_out_are_told():
    X, _, y = blobs()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 reached"):
        machine = SDPTSVM(C=2.0, max_iter=1, random_state=0).fit(X, y)
    assert not machine.converged_
    assert 0.0 < machine.certificate_.lower_bound < machine.objective_
    assert machine.predict(X).shape == (24,)


@pytest.mark.parametrize("bad", [{"max_iter": 0}, {"tol": 0.0}, {"fit_intercept": True}, {"balance": 2.0}], ids=str)
def test_bad_parameters_are_named(bad):
    X, _, y = blobs(12, 6)
    with pytest.raises(ValueError, match=next(iter(bad))) as refused:
        SDPTSVM(**bad).fit(X, y)
    assert "\n" not in str(refused.value)


def test_a_callback_ends_the_search_for_nu():
    problem = partly(0, 10, Count(0.9), False, apart=0.4, known=6)
    seen = []

    def stop(row):
        if row.get("multiplier", 0.0) != 0.0:
            seen.append(row)
            return True

    solution = LowRankRelaxation().solve(problem, callback=stop, rng=0)
    assert seen
    assert len(seen) == 1
    assert solution.status == "stopped"
