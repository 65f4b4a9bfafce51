"""The compiled loops of SMO against brute force and against themselves in Python."""

import numba
import numpy as np
import pytest

from semisvm.solvers.dual import pair_steps

N, K_VIRTUAL = 300, 2  # more than one strip


class State:
    """A random point of a dual with kinks, ridges and virtual samples."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        size = N + K_VIRTUAL
        A = rng.standard_normal((size, 4))
        self.gram = A @ A.T
        self.K, self.V = np.ascontiguousarray(self.gram[:N, :N]), np.ascontiguousarray(self.gram[N:])
        self.slot = np.arange(N)
        self.lower, self.upper = np.full(size, -1.0), np.full(size, 1.0)
        self.kink, self.slope = rng.uniform(-1, 1, size), rng.standard_normal(size)
        self.slope_above = self.slope - rng.uniform(0.0, 2.0, size)
        self.pieces = (self.lower, self.kink, self.upper, self.slope, self.slope_above)
        self.ridge = rng.uniform(0.0, 0.5, size)
        self.diagonal = self.gram.diagonal() + self.ridge
        a = rng.uniform(-1, 1, size)
        a[::7], a[1::7], a[2::7] = self.lower[::7], self.upper[1::7], self.kink[2::7]
        self.a, self.f = a, self.gram @ a + self.ridge * a
        self.up, self.down = np.zeros(size), np.zeros(size)
        pair_steps.set_all_slopes(a, *self.pieces, self.up, self.down)

    def value(self):
        """The dual objective."""
        below, above = np.minimum(self.a, self.kink), np.maximum(self.a - self.kink, 0.0)
        quadratic = self.a @ self.gram @ self.a + self.ridge @ self.a**2
        return self.slope @ below + self.slope_above @ above - 0.5 * quadratic

    def run(self, function, max_steps, tol=1e-3):
        return function(
            self.K, self.slot, self.V, self.diagonal, self.ridge, self.pieces,
            self.a, self.f, self.up, self.down, tol, max_steps,
        )  # fmt: skip

    def arrays(self):
        return [self.a, self.f, self.up, self.down]


CALLS = {
    "best_partner": lambda f, s: f(s.K[3], s.V[:, 3], s.diagonal, s.f, s.down, 3, 1.5, 1e-12),
    "add_and_find_violator": lambda f, s: f(s.K[3], s.K[5], s.V[:, 3], s.V[:, 5], 0.1, s.f, s.up),
    "find_violator": lambda f, s: f(s.f, s.up),
    "set_all_slopes": lambda f, s: f(s.a, *s.pieces, s.up, s.down) or (),
    "summarize": lambda f, s: f(s.a, s.f, *s.pieces),
    "box_and_sum": lambda f, s: f(s.a, s.lower, s.upper),
    "pair_steps": lambda f, s: s.run(f, 50),
}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("name", CALLS)
def test_compiled_loops_equal_python(name):
    compiled, plain = State(), State()
    function = getattr(pair_steps, name)
    np.testing.assert_allclose(CALLS[name](function, compiled), CALLS[name](function.py_func, plain), rtol=1e-10)
    for fast, slow in zip(compiled.arrays(), plain.arrays()):
        np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-10)


def test_slopes_are_those_of_both_sides():
    a, kink = np.array([-1.0, 0.0, 0.2, 0.5, 1.0]), np.full(5, 0.2)
    up, down = np.zeros(5), np.zeros(5)
    pair_steps.set_all_slopes(a, -np.ones(5), kink, np.ones(5), np.full(5, 2.0), np.full(5, -3.0), up, down)
    np.testing.assert_array_equal(up, [2.0, 2.0, -3.0, -3.0, -np.inf])
    np.testing.assert_array_equal(down, [np.inf, 2.0, 2.0, -3.0, -3.0])


def partner(state, i, top):
    return pair_steps.best_partner(state.K[i], state.V[:, i], state.diagonal, state.f, state.down, i, top, 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_partner_has_the_largest_gain_of_all(seed):
    state = State(seed)
    violator, top = pair_steps.find_violator(state.f, state.up)
    assert top == (state.up - state.f).max() == state.up[violator] - state.f[violator]
    for i in (violator, 0, N - 1):
        j, violation = partner(state, i, top)
        difference = top - state.down + state.f
        curvature = state.diagonal[i] + state.diagonal - 2.0 * state.gram[i]
        assert j == np.argmax(np.maximum(difference, 0.0) ** 2 / np.maximum(curvature, pair_steps.TINY))
        assert violation == pytest.approx(difference.max())


def test_every_step_increases_the_dual_and_stays_within_one_linear_piece():
    state = State(1)
    total = state.a.sum()
    value = state.value()
    for _ in range(200):
        before = state.a.copy()
        steps, _, missing = state.run(pair_steps.pair_steps, 1)
        assert (steps, missing) == (1, -1)
        moved = np.flatnonzero(state.a != before)
        assert len(moved) == 2
        crosses = np.sign(state.a - state.kink) * np.sign(before - state.kink) < 0
        assert not crosses.any()
        assert (state.lower <= state.a).all()
        assert (state.a <= state.upper).all()
        assert state.value() > value
        value = state.value()
    assert state.a.sum() == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(state.f, state.gram @ state.a + state.ridge * state.a, atol=1e-9)
    up, down = np.zeros_like(state.up), np.zeros_like(state.down)
    pair_steps.set_all_slopes(state.a, *state.pieces, up, down)
    np.testing.assert_array_equal(state.up, up)
    np.testing.assert_array_equal(state.down, down)


def test_steps_end_at_the_tolerance_at_the_limit_or_at_a_missing_row():
    state = State(2)
    steps, violation, missing = state.run(pair_steps.pair_steps, 7)
    assert (steps, missing) == (7, -1)
    assert violation > 1e-3
    steps, violation, missing = state.run(pair_steps.pair_steps, 10**6)
    assert steps < 10**6
    assert missing == -1
    top, bottom = pair_steps.summarize(state.a, state.f, *state.pieces)[:2]
    assert top - bottom == pytest.approx(violation, abs=1e-12)
    assert violation <= 1e-3
    assert state.run(pair_steps.pair_steps, 10)[0] == 0
    state = State(2)
    first = pair_steps.find_violator(state.f, state.up)[0]
    for wanted in (first, partner(state, first, state.up[first] - state.f[first])[0]):
        state.slot = np.where(np.arange(N) == wanted, -1, np.arange(N))
        a = state.a.copy()
        steps, _, missing = state.run(pair_steps.pair_steps, 10)
        assert (steps, missing) == (0, wanted)
        np.testing.assert_array_equal(state.a, a)


def test_points_that_cannot_move_have_converged():
    state = State(3)
    state.a[:] = state.upper
    pair_steps.set_all_slopes(state.a, *state.pieces, state.up, state.down)
    assert state.run(pair_steps.pair_steps, 10) == (0, 0.0, -1)
    assert pair_steps.box_and_sum(state.a, state.lower, state.upper) == (True, N + K_VIRTUAL, N + K_VIRTUAL)
    state.a[5] = 1.1
    assert not pair_steps.box_and_sum(state.a, state.lower, state.upper)[0]


def test_no_violator_is_found_where_nothing_can_go_up():
    state = State(4)
    up = np.full(N + K_VIRTUAL, -np.inf)
    assert pair_steps.find_violator(state.f, up) == (-1, -np.inf)
    found = pair_steps.add_and_find_violator(state.K[3], state.K[5], state.V[:, 3], state.V[:, 5], 0.1, state.f, up)
    assert found == (-1, -np.inf)


def test_summary_counts_coordinates_strictly_inside_a_linear_piece():
    state = State(5)
    top, bottom, mean, count = pair_steps.summarize(state.a, state.f, *state.pieces)
    inside = (state.lower < state.a) & (state.a < state.upper) & (state.a != state.kink)
    assert count == np.count_nonzero(inside) < N
    assert mean == pytest.approx((state.up - state.f)[inside].mean())
    assert top == (state.up - state.f).max()
    assert bottom == (state.down - state.f).min()
