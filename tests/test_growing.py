"""Machines that gain rows: against machines fitted cold to the same rows, numpy's inverses, rows really left out."""

import numpy as np
import pytest
from scipy import sparse

from judges import minimise_qp
from semisvm import LSSVM, SVM, spaces
from semisvm.kernels import Kernel
from semisvm.losses import Hinge, SquaredHinge
from semisvm.problem import Problem, violation
from semisvm.solvers import growing, smo
from semisvm.solvers.growing import GrowingHinge, GrowingLeastSquares
from semisvm.spaces import Features, Gram

N, C = 60, 2.0
KERNELS = {
    "rbf": Kernel("rbf", 0.4),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", 0.5, 50.0, 2),  # a constant of 2500
    "multiquadric": Kernel("multiquadric", 1.0, 1.0),
}
INTERCEPTS = {"free": True, "none": False, "regularised": "regularised"}
CASES = [(name, how) for name in KERNELS for how in INTERCEPTS if name != "multiquadric" or how == "free"]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS.values(), ids=INTERCEPTS)
every_case = pytest.mark.parametrize(
    "name, intercept", [(name, INTERCEPTS[how]) for name, how in CASES], ids=["-".join(case) for case in CASES]
)
every_loss = pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared"])


def rows_of(n=N, seed=0):
    """Two classes that overlap, far from the origin: X, labels, weights, and the order in which the rows come."""
    rng = np.random.default_rng(seed)
    y = np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], n - 2)]
    X = rng.standard_normal((n, 3)) + 0.6 * y[:, None] + [0.0, 1.0, -2.0]
    return X, y, rng.uniform(0.3, 3.0, n), np.r_[0, 1, 2 + rng.permutation(n - 2)]


def blocks(order, seed=1, largest=4):
    """The order in pieces of a few rows; the first of two, one of each class."""
    rng, cuts = np.random.default_rng(seed), [2]
    while cuts[-1] < len(order):
        cuts.append(cuts[-1] + int(rng.integers(1, largest + 1)))
    return np.split(order, cuts[:-1])


def columns_of(y, columns, seed=2):
    """Labels of as many machines; the first two rows are of opposite classes in all of them."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (len(y), columns))
    signs[0], signs[1] = 1.0, -1.0
    signs[:, 0] = y
    return signs


def machine(cls, kernel, intercept, **rest):
    numbers = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
    return cls(C, fit_intercept=intercept, unlabeled=None, **numbers, **rest)


def cold(kernel, intercept, X, y, weight, rows, new, **rest):
    """Scores of new rows by a machine fitted to some rows from nothing."""
    cls = SVM if rest else LSSVM
    return machine(cls, kernel, intercept, **rest).fit(X[rows], y[rows], weight[rows]).decision_function(new)


def system(K, cost, intercept):
    """The matrix of some rows, its border last."""
    M = K + float(intercept == "regularised") + np.diag(1.0 / cost)
    ones = np.ones((len(M), 1))
    return np.block([[M, ones], [ones.T, np.zeros((1, 1))]]) if intercept is True else M


def solved(K, cost, intercept, rows, Y):
    """F at all rows of the machine of some rows, by numpy."""
    border = np.zeros((int(intercept is True), Y.shape[1]))
    found = np.linalg.solve(system(K[np.ix_(rows, rows)], cost[rows], intercept), np.vstack([Y[rows], border]))
    alpha = found[: len(rows)]
    b = {True: found[-1], False: 0.0, "regularised": alpha.sum(axis=0)}[intercept]
    return K[:, rows] @ alpha + b


def assert_close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1.0))


# ---- least squares ----


@every_case
def test_rows_that_come_make_the_machine_that_all_of_them_make_at_once(name, intercept):
    X, y, weight, order = rows_of()
    kernel, Y = KERNELS[name], columns_of(y, 3)
    part = GrowingLeastSquares(Gram(kernel, X), C * weight, intercept, 3)
    for number, block in enumerate(blocks(order)):
        part.add(block, Y[block])
        if number % 6:
            continue
        expected = np.column_stack([cold(kernel, intercept, X, column, weight, part.rows, X) for column in Y.T])
        assert_close(part.scores(np.arange(N)), expected)
    assert number > 15
    np.testing.assert_array_equal(part.rows, order)
    np.testing.assert_array_equal(part.signs, Y[order])
    some = np.array([5, 0, 5, 33])
    expected = np.column_stack([cold(kernel, intercept, X, column, weight, order, X) for column in Y.T])
    assert_close(part.scores(some), expected[some])


@every_intercept
def test_a_sparse_table_and_a_single_column(intercept):
    X, y, weight, order = rows_of()
    kernel, table = KERNELS["rbf"], sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    part = GrowingLeastSquares(Gram(kernel, table), C * weight, intercept, 1)
    for block in blocks(order[:40]):
        part.add(block, y[block, None])
    expected = cold(kernel, intercept, table.toarray(), y, weight, order[:40], table.toarray())
    assert_close(part.scores(np.arange(N))[:, 0], expected)


@every_intercept
def test_labels_need_not_be_signs(intercept):
    X, _, weight, order = rows_of()
    gram, Y = Gram(KERNELS["rbf"], X), 100.0 * np.random.default_rng(3).standard_normal((N, 2))
    part = GrowingLeastSquares(gram, weight, intercept, 2)
    for block in blocks(order[:50]):
        part.add(block, Y[block])
    assert_close(part.scores(np.arange(N)), solved(gram.whole, weight, intercept, order[:50], Y))


@every_intercept
def test_the_machine_solves_the_system_it_names(intercept):
    """In kernel values centred by the mean over all rows where the intercept is free."""
    X, y, weight, order = rows_of()
    K, Y, rows = Gram(KERNELS["poly"], X).whole, columns_of(y, 2), order[:31]
    part = GrowingLeastSquares(Gram(KERNELS["poly"], X), weight, intercept, 2)
    for block in blocks(rows):
        part.add(block, Y[block])
    if intercept is True:
        middle = np.eye(N) - 1.0 / N
        K = middle @ K @ middle
        assert_close(part.alpha.sum(axis=0), np.zeros(2), tolerance=1e-11)
    else:
        K = K + float(intercept == "regularised")
        np.testing.assert_array_equal(part.bias, np.zeros(2))
    inside = K[np.ix_(rows, rows)]
    assert_close(inside @ part.alpha + part.alpha / weight[rows, None] + part.bias, Y[rows])
    assert_close(part.scores(np.arange(N)), K[:, rows] @ part.alpha + part.bias)


@every_intercept
def test_single_precision_kernel_values_are_solved_in_double(intercept):
    X, y, weight, order = rows_of()
    K, Y = Gram(KERNELS["rbf"], X).whole.astype(np.float32), columns_of(y, 2)
    K = np.tril(K) + np.tril(K, -1).T
    part = GrowingLeastSquares(Gram(Kernel("precomputed"), K), C * weight, intercept, 2)
    for block in blocks(order):
        part.add(block, Y[block])
    assert part.scores(order).dtype == np.float64
    assert_close(part.scores(np.arange(N)), solved(K.astype(np.float64), C * weight, intercept, order, Y))


@every_intercept
@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_many_rows_have_kernel_values_of_single_precision(name, intercept, monkeypatch):
    X, y, weight, order = rows_of()
    Y = columns_of(y, 2)
    expected = np.column_stack([cold(KERNELS[name], intercept, X, column, weight, order, X) for column in Y.T])
    monkeypatch.setattr(spaces, "EXACT_ROWS", N - 1)
    gram = Gram(KERNELS[name], X)
    assert gram.dtype == np.float32
    part = GrowingLeastSquares(gram, C * weight, intercept, 2)
    for block in blocks(order, largest=2):
        part.add(block, Y[block])
    assert_close(part.scores(np.arange(N)), expected, tolerance=1e-4)


@every_intercept
def test_the_inverse_is_that_of_numpy_after_hundreds_of_rows(intercept):
    X, y, weight, order = rows_of(330)
    gram, Y = Gram(KERNELS["rbf"], X), columns_of(y, 2)
    part = GrowingLeastSquares(gram, C * weight, intercept, 2)
    part.add(order[:2], Y[order[:2]])
    for row in order[2:310]:
        part.add(np.array([row]), Y[[row]])
    rows = order[:310]
    truth = np.linalg.inv(system(gram.whole[np.ix_(rows, rows)], C * weight[rows], intercept))
    border = int(intercept is True)
    assert part.inverse.shape == (310 + border,) * 2
    assert_close(part.inverse[border:, border:], truth[:310, :310])  # centring leaves this block as it is
    np.testing.assert_array_equal(part.inverse, part.inverse.T)
    if intercept is True:
        middle = np.eye(330) - 1.0 / 330
        centred = system((middle @ gram.whole @ middle)[np.ix_(rows, rows)], C * weight[rows], True)
        assert_close(part.inverse, np.roll(np.linalg.inv(centred), 1, axis=(0, 1)))
    assert_close(part.scores(np.arange(330)), solved(gram.whole, C * weight, intercept, rows, Y))
    held_out = Y[rows] - (truth[:310, :310] @ Y[rows]) / truth.diagonal()[:310, None]
    assert_close(part.left_out(), held_out)


@every_case
def test_left_out_rows_score_as_a_machine_without_them(name, intercept):
    X, y, weight, order = rows_of(16)
    kernel, Y, rows = KERNELS[name], columns_of(y, 2), order[:14]
    Y[rows[:4]] = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]  # both classes, whichever row is gone
    part = GrowingLeastSquares(Gram(kernel, X), C * weight, intercept, 2)
    for block in blocks(rows):
        part.add(block, Y[block])
    expected = np.array(
        [
            [cold(kernel, intercept, X, column, weight, np.delete(rows, j), X[rows[j : j + 1]])[0] for column in Y.T]
            for j in range(14)
        ]
    )
    assert np.abs(expected - part.scores(rows)).max() > 0.05
    assert_close(part.left_out(), expected, tolerance=1e-8)


@every_intercept
@pytest.mark.parametrize("size_of_noise", [1e-3, 1e-7])
def test_an_inverse_that_went_astray_is_made_anew_at_the_next_strict_look_or_at_once(intercept, size_of_noise):
    X, y, weight, order = rows_of(80)
    gram, Y = Gram(KERNELS["rbf"], X), columns_of(y, 2)
    part = GrowingLeastSquares(gram, C * weight, intercept, 2)

    def off():
        return np.abs(part.scores(np.arange(80)) - solved(gram.whole, C * weight, intercept, part.rows, Y)).max()

    part.add(order[:10], Y[order[:10]])
    size = len(part.inverse)
    noise = size_of_noise * np.random.default_rng(5).standard_normal((size, size))
    part._growing._buffer[:size, :size] += noise + noise.T
    for row in order[10 : 8 + growing.LOOKS]:
        part.add(np.array([row]), Y[[row]])
        if size_of_noise > growing.FAR_OFF:
            assert off() < 10 * growing.FAR_OFF
    assert off() > 0.1 * size_of_noise or size_of_noise > growing.FAR_OFF
    part.add(order[60:61], Y[order[60:61]])  # addition number LOOKS
    assert off() < 1e-9
    np.testing.assert_array_equal(part.rows, np.r_[order[: 8 + growing.LOOKS], order[60]])
    part.add(order[62:75], Y[order[62:75]])
    assert off() < 1e-9
    truth = np.linalg.inv(system(gram.whole[np.ix_(part.rows, part.rows)], C * weight[part.rows], intercept))
    assert_close(part.inverse[int(intercept is True) :, int(intercept is True) :], truth[:54, :54])
    assert_close(part.left_out(), Y[part.rows] - part.alpha / truth.diagonal()[:54, None])


@every_intercept
def test_an_inverse_that_is_right_is_looked_at_and_left_alone(intercept, monkeypatch):
    X, y, weight, order = rows_of(3 * growing.LOOKS + 10)
    looks, look = [], GrowingLeastSquares._look
    monkeypatch.setattr(
        GrowingLeastSquares, "_look", lambda self, allowed: (looks.append(allowed), look(self, allowed))[1]
    )
    monkeypatch.setattr(GrowingLeastSquares, "_system", lambda self: pytest.fail("made anew"))
    part = GrowingLeastSquares(Gram(KERNELS["rbf"], X), C * weight, intercept, 1)
    part.add(order[:2], y[order[:2], None])
    for row in order[2:]:
        part.add(np.array([row]), y[[row], None])
    strict = [growing.OFF if number % growing.LOOKS == 0 else growing.FAR_OFF for number in range(1, len(looks) + 1)]
    assert len(looks) == len(order) - 1
    assert looks == strict


@pytest.mark.parametrize("intercept", [True, False], ids=["free", "none"])
def test_large_costs_do_not_lead_astray_between_two_looks(intercept):
    """A cold fit is right to 1e-6 of the largest score here."""
    X, y, _, order = rows_of(300)
    gram, cost = Gram(KERNELS["rbf"], X), np.full(300, 1e8)
    part = GrowingLeastSquares(gram, cost, intercept, 1)
    for block in np.split(order, np.arange(2, 300)):
        part.add(block, y[block, None])
        if len(part.rows) % 24 == 0:
            expected = solved(gram.whole, cost, intercept, part.rows, y[:, None])
            assert_close(part.scores(np.arange(300)), expected, tolerance=1e-2)


@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_the_rounding_of_single_precision_is_no_reason_to_make_it_anew_at_every_look(name, monkeypatch):
    """Kernel values of single precision are symmetric up to rounding only, which no inverse puts right."""
    n = 4 * growing.LOOKS + 10
    monkeypatch.setattr(spaces, "EXACT_ROWS", n - 1)
    X, y, weight, order = rows_of(n)
    made, system_of = [], GrowingLeastSquares._system
    monkeypatch.setattr(GrowingLeastSquares, "_system", lambda self: (made.append(1), system_of(self))[1])
    part = GrowingLeastSquares(Gram(KERNELS[name], X), C * weight, True, 1)
    for block in np.split(order, np.arange(2, n)):
        part.add(block, y[block, None])
    assert len(made) <= 1


def test_two_matrices_keep_the_memory_rule(monkeypatch):
    gram, need = Gram(KERNELS["rbf"], rows_of()[0]), 16 * N * N
    monkeypatch.setenv("SEMISVM_MEMORY", str(need))
    GrowingLeastSquares(gram, np.ones(N), True, 1)
    monkeypatch.setenv("SEMISVM_MEMORY", str(need - 1))
    with pytest.raises(MemoryError, match="raise SEMISVM_MEMORY"):
        GrowingLeastSquares(gram, np.ones(N), True, 1)


# ---- the hinge ----


def hinge_problem(kernel, X, cost, intercept, squared):
    loss = SquaredHinge() if squared else Hinge()
    return Problem(Gram(kernel, X), np.zeros(len(X)), cost, loss, intercept=intercept)


def loss_name(squared):
    return "squared_hinge" if squared else "hinge"


def smallest_objective(K, y, cost, intercept, squared):
    """Of the machine of these rows, by interior points in the dual."""
    n, P = len(y), K + float(intercept == "regularised")
    P = P + np.diag(0.5 / cost) if squared else P
    size = y * cost
    sides = (-np.eye(n), np.zeros(n)) if squared else (np.r_[-np.eye(n), np.eye(n)], np.r_[0 * y, 0 * y + 1])
    return -minimise_qp(size[:, None] * P * size, -cost, (size[None], [0.0]) if intercept is True else None, sides)[1]


@every_loss
@every_intercept
@pytest.mark.parametrize("name", ["rbf", "linear", "poly"])
def test_pair_steps_that_go_on_end_where_those_from_nothing_do(name, intercept, squared):
    X, y, weight, order = rows_of()
    kernel = KERNELS[name]._replace(coef0=1.0)
    part = GrowingHinge(hinge_problem(kernel, X, C * weight, intercept, squared), 1e-6, 10**7)
    rows = order[:0]
    for number, block in enumerate(blocks(order, largest=3)):
        part.add(block, y[block])
        rows = np.r_[rows, block]
        if number % 5 == 0 or len(rows) == N:
            expected = cold(kernel, intercept, X, y, weight, rows, X, loss=loss_name(squared), tol=1e-6)
            assert_close(part.scores(np.arange(N)), expected, tolerance=1e-5)
    assert number > 20
    np.testing.assert_array_equal(part.scores(np.array([7, 7, 2])), part.scores(np.arange(N))[[7, 7, 2]])
    assert not part.interrupted


@every_loss
@every_intercept
def test_a_grown_machine_is_optimal(intercept, squared):
    X, y, weight, order = rows_of()
    problem = hinge_problem(KERNELS["rbf"], X, C * weight, intercept, squared)
    part, rows = GrowingHinge(problem, 1e-7, 10**7), order[:45]
    for block in blocks(rows):
        part.add(block, y[block])
    a = part._trainer.point.a[:N]
    assert not a[order[45:]].any()  # rows without a label have no say
    now = problem._replace(signs=np.where(np.isin(np.arange(N), rows), y, 0.0))
    assert violation(now, a, part.scores(np.arange(N))) < 1e-6
    if intercept is True:
        assert abs(a.sum()) < 1e-9
    K = problem.space.whole
    own = a.sum() if intercept == "regularised" else 0.0
    short = np.maximum(1.0 - y * part.scores(np.arange(N)), 0.0)[rows]
    value = 0.5 * (a @ K @ a + own**2) + C * weight[rows] @ (short**2 if squared else short)
    inside = K[np.ix_(rows, rows)]
    assert value == pytest.approx(smallest_objective(inside, y[rows], C * weight[rows], intercept, squared), rel=1e-5)


@every_loss
def test_features_of_their_own_are_grown_too(squared):
    X, y, weight, order = rows_of()
    problem = hinge_problem(KERNELS["linear"], X, C * weight, True, squared)._replace(space=Features(X))
    part = GrowingHinge(problem, 1e-6, 10**7)
    for block in blocks(order[:40]):
        part.add(block, y[block])
    expected = cold(KERNELS["linear"], True, X, y, weight, order[:40], X, loss=loss_name(squared), tol=1e-6)
    assert_close(part.scores(np.arange(N)), expected, tolerance=1e-5)


@every_loss
def test_a_start_from_the_last_machine_is_shorter(squared):
    X, y, weight, order = rows_of(200)
    problem = hinge_problem(KERNELS["rbf"], X, C * weight, True, squared)
    warm, fresh = GrowingHinge(problem, 1e-3, 10**7), GrowingHinge(problem, 1e-3, 10**7)
    warm.add(order[:195], y[order[:195]])
    warm.add(order[195:], y[order[195:]])
    fresh.add(order, y[order])
    assert 0 < warm._trainer.limits.steps < 0.75 * fresh._trainer.limits.steps


def test_the_tolerance_is_kept_and_loose_ones_are_loose():
    X, y, weight, order = rows_of()
    problem = hinge_problem(KERNELS["rbf"], X, 20.0 * weight, True, False)
    found = {}
    for tol in (1e-1, 1e-4):
        part = GrowingHinge(problem, tol, 10**7)
        for block in blocks(order):
            part.add(block, y[block])
        found[tol] = part._trainer.point.violation
    assert found[1e-4] <= 1e-4 < found[1e-1] <= 1e-1


def test_every_training_has_steps_and_time_of_its_own():
    X, y, weight, order = rows_of()
    problem = hinge_problem(KERNELS["linear"], X, 100.0 * weight, True, False)
    for limits, status in (((2,), "max_iter"), ((10**7, -1.0), "max_time"), ((10**7, 600.0), "converged")):
        part = GrowingHinge(problem, 1e-8, *limits)
        for rows in (order[:30], order[30:]):
            part.add(rows, y[rows])
            assert part._trainer.point.status == status
            assert part._trainer.limits.steps <= 2 or status != "max_iter"
        assert not part.interrupted


def test_ctrl_c_in_the_pair_steps_is_told(monkeypatch):
    X, y, weight, order = rows_of()
    problem = hinge_problem(KERNELS["rbf"], X, C * weight, True, False)
    part, rounds, broken = GrowingHinge(problem, 1e-6, 10**7), smo._rounds, [False]

    def steps(*given):
        if broken[0]:
            raise KeyboardInterrupt
        return rounds(*given)

    monkeypatch.setattr(smo, "_rounds", steps)
    part.add(order[:20], y[order[:20]])
    assert not part.interrupted
    before, broken[0] = part.scores(np.arange(N)), True
    part.add(order[20:30], y[order[20:30]])
    assert part.interrupted
    np.testing.assert_allclose(part.scores(np.arange(N)), before, rtol=0, atol=1e-5)  # the last machine, usable
    broken[0] = False
    part.add(order[30:40], y[order[30:40]])
    assert part.interrupted
    expected = cold(KERNELS["rbf"], True, X, y, weight, order[:40], X, loss="hinge", tol=1e-6)
    assert_close(part.scores(np.arange(N)), expected, tolerance=1e-5)
