"""The batch engine: coroutines that share the passes over the data, each as if it were alone."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from factories import CountingProducts, primal_problem
from semisvm.solvers import FiniteNewton
from semisvm.solvers.primal.batch import Request, run_batched
from semisvm.spaces import Features

N, D = 23, 6


def make_design(space="features"):
    return primal_problem(n_unlabeled=N - 10, n_features=D, space=space).space.design


def all_requests(number, n_rounds):
    """All products in turn, each with what the last ones returned; ``number`` makes the coroutines different."""
    rng = np.random.default_rng(number)
    v, h, answers = rng.standard_normal(D), rng.uniform(0.5, 2.0, N), []
    wanted = rng.random(N) < 0.5
    for round_number in range(n_rounds):
        f = yield Request("product", (v,))
        gradient = yield Request("adjoint", (f * h,))
        squares = yield Request("weighted_squares", (h + round_number,))
        for shift in (float(number), 1.0):  # twice with the same curvature
            v, total, scores = yield Request("hessian_product", (v / np.linalg.norm(v), shift, h))
        some = yield Request("partial_product", (v, wanted))
        answers.append(np.concatenate([f, gradient, squares, v, [total], scores, some[wanted]]))
    return np.array(answers)


def requests_of(*methods):
    """Requests by name; returns how many were answered."""
    arguments = {"product": (np.ones(D),), "hessian_product": (np.ones(D), 0.0, np.ones(N))}
    for method in methods:
        yield Request(method, arguments.get(method, (np.ones(N),)))
    return len(methods)


@pytest.mark.parametrize("space", ["features", "csr"])
@pytest.mark.parametrize("lengths", [(2, 2), (4, 0, 1, 3, 6), (1, 5, 2, 2, 2, 2, 7, 0, 3)], ids=str)
def test_coroutines_together_equal_each_alone(space, lengths):
    design = make_design(space)
    together = run_batched(design, [all_requests(k, n_rounds) for k, n_rounds in enumerate(lengths)])
    for k, n_rounds in enumerate(lengths):
        (alone,) = run_batched(design, [all_requests(k, n_rounds)])
        assert len(alone) == n_rounds
        np.testing.assert_allclose(together[k], alone, rtol=1e-10)


def test_requests_of_one_method_are_one_product():
    products = CountingProducts(make_design())
    run_batched(products, [requests_of("product", "adjoint", "hessian_product", "weighted_squares") for _ in range(3)])
    assert products.passes == [("product", 3), ("adjoint", 3), ("hessian_product", 3), ("weighted_squares", 3)]


def test_hessian_products_wait_until_no_other_product_is_requested():
    products = CountingProducts(make_design())
    early = requests_of("hessian_product", "product")
    late = requests_of("product", "adjoint", "weighted_squares", "adjoint", "hessian_product", "hessian_product")
    assert run_batched(products, [early, late]) == [2, 6]
    expected = [("product", 1), ("adjoint", 1), ("weighted_squares", 1), ("adjoint", 1), ("hessian_product", 2)]
    assert products.passes == [*expected, ("product", 1), ("hessian_product", 1)]


def test_a_coroutine_without_requests_returns_its_result():
    products = CountingProducts(make_design())
    assert run_batched(products, []) == []
    assert run_batched(products, [requests_of(), requests_of("adjoint"), requests_of()]) == [0, 1, 0]
    assert products.passes == [("adjoint", 1)]


def test_arguments_that_stay_the_same_are_stacked_once_and_others_anew():
    products = CountingProducts(make_design())
    run_batched(products, [all_requests(k, 2) for k in range(3)])
    directions, _, curvatures = zip(*(arguments for arguments in products.arguments if len(arguments) == 3))
    assert [a is b for a, b in pairwise(curvatures)] == [True, True, True]
    assert not any(a is b for a, b in pairwise(directions))


def test_many_problems_cost_as_many_hessian_products_as_the_longest_one():
    base = primal_problem(0, 60, cost_spread=0.5, n_features=8)
    problems = [replace(base, unlabeled=None, cost=base.cost * 10.0 ** (k - 3)) for k in range(6)]
    solver = FiniteNewton(1e-6)

    def count_passes(problems):
        products = CountingProducts(base.space.design)
        run_batched(products, [solver.coroutine(problem, solver.stopping_rule(None)) for problem in problems])
        return products.count("hessian_product"), len(products.passes)

    alone = np.array([count_passes([problem]) for problem in problems])
    n_hessian_products, n_passes = count_passes(problems)
    assert n_hessian_products <= alone[:, 0].max() + 1  # rounding may add one
    assert n_passes < 0.5 * alone[:, 1].sum()


# ---------------------------------------------------------------- Ctrl-C and exceptions


def counting_until_interrupted(n_rounds):
    """Counts answers; Ctrl-C ends it with the count, as a negative number."""
    count = 0
    try:
        for _ in range(n_rounds):
            yield Request("product", (np.ones(D),))
            count += 1
    except KeyboardInterrupt:
        return -count
    return count


class InterruptedProducts:
    """Ctrl-C during one of the passes, after which there may be no other."""

    def __init__(self, n_passes):
        self.n_left = n_passes

    def product(self, V):
        self.n_left -= 1
        assert self.n_left >= 0
        if self.n_left == 0:
            raise KeyboardInterrupt
        return np.zeros((N, *V.shape[1:]))


@pytest.mark.parametrize("n_passes, expected", [(1, [0, 0, 0]), (3, [1, -2, -2]), (5, [1, 3, -4])])
def test_ctrl_c_in_a_product_reaches_every_coroutine_that_is_still_running(n_passes, expected):
    coroutines = [counting_until_interrupted(n_rounds) for n_rounds in (1, 3, 9)]
    assert run_batched(InterruptedProducts(n_passes), coroutines) == expected


def interrupting_itself(result):
    """Ctrl-C in its own code, which it catches if it has a result."""
    yield Request("product", (np.ones(D),))
    if result is None:
        raise KeyboardInterrupt
    return result


def test_ctrl_c_in_one_coroutine_reaches_all_others():
    coroutines = [counting_until_interrupted(9), interrupting_itself(-100), counting_until_interrupted(9)]
    assert run_batched(make_design(), coroutines, lambda result: result == -100) == [-1, -100, 0]


def test_ctrl_c_that_a_coroutine_does_not_catch_is_raised_when_the_others_have_ended():
    others = [counting_until_interrupted(9), counting_until_interrupted(9)]
    with pytest.raises(KeyboardInterrupt):
        run_batched(make_design(), [others[0], interrupting_itself(None), others[1]])
    assert [other.gi_frame for other in others] == [None, None]


def test_exceptions_in_a_coroutine_or_a_product_are_raised():
    def failing():
        yield Request("product", (np.ones(D),))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_batched(make_design(), [requests_of("product", "adjoint"), failing()])
    with pytest.raises(ValueError, match=r"mismatch|size"):
        run_batched(Features(np.ones((N, D + 1))).design, [requests_of("product")])
