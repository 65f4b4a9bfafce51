"""The stopping rule, the declared capabilities, and what every solver of the registry promises."""

import dataclasses
import functools
import inspect
import itertools
import pickle

import numpy as np
import pytest

from factories import INTERCEPTS, LOSSES, random_problem
from semisvm.balance import Count, Free, Mean
from semisvm.losses import Ramp, Squared, SymmetricSquaredHinge
from semisvm.problem import balance_residual, objective
from semisvm.solution import STATUSES
from semisvm.solvers import SMO, SOLVERS, LabelSearch, LeastSquares, StoppingRule, refusal
from semisvm.solvers.base import SPEED, Accepts


def raise_in(rule, error, status=None):
    """An iteration that raises, after a reason to stop if there is one."""
    with rule:
        if status is not None:
            rule.end(status)
        raise error


# ---- one rule ----


@pytest.mark.parametrize("converged", [False, True])
@pytest.mark.parametrize("asked_to_stop", [False, True])
@pytest.mark.parametrize("last_iteration", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_first_reason_in_order_is_the_status(clock, converged, asked_to_stop, last_iteration, late):
    rule = StoppingRule(3 if last_iteration else 4, 10.0, lambda row: asked_to_stop and row["step"] == 2)
    for _ in range(2):
        rule.log_iteration({})
        assert rule.running
    clock.now += 10.5 if late else 9.5
    rule.log_iteration({}, converged)
    reasons = {"converged": converged, "stopped": asked_to_stop, "max_iter": last_iteration, "max_time": late}
    assert rule.status == next((name for name, there in reasons.items() if there), None)
    assert rule.running == (rule.status is None)
    assert rule.n_iter == 3


def test_status_once_set_stays():
    rule = StoppingRule(2)
    rule.end("stalled")
    rule.end("interrupted")
    rule.log_iteration({}, converged=True)
    assert rule.status == "stalled"


def test_without_limits_it_runs_on(clock):
    rule = StoppingRule()
    for _ in range(5):
        clock.now += 1e9
        rule.log_iteration({})
    assert rule.running
    assert rule.time_left is None
    assert not rule.time_is_over


def test_time_left_counts_down_and_stays_above_zero(clock):
    rule = StoppingRule(max_time=10.0)
    assert rule.time_left == 10.0
    clock.now += 4.0
    assert rule.time_left == 6.0
    clock.now += 6.0
    assert not rule.time_is_over
    clock.now += 1.0
    assert rule.time_is_over
    assert rule.time_left == 1e-9
    assert rule.running  # the deadline is checked where an iteration is counted
    rule.count(1, {})
    assert rule.status == "max_time"


def test_solves_share_the_time_left_in_equal_parts(clock):
    rule = StoppingRule(max_time=12.0)
    assert rule.time_share(4) == 3.0
    assert rule.time_share(0.5) == 12.0
    clock.now += 3.0
    assert rule.time_share(3) == 3.0
    assert StoppingRule().time_share(3) is None


def test_step_that_takes_longer_than_the_time_left_is_known_by_its_work(clock):
    rule = StoppingRule(max_time=2.0)
    assert rule.has_time_for(1.9 * SPEED)
    clock.now += 1.0
    assert not rule.has_time_for(1.9 * SPEED)
    assert StoppingRule().has_time_for(1e300)


def test_trace_has_a_row_per_iteration_which_the_callback_sees():
    seen, row = [], {"objective": 3.0}
    rule = StoppingRule(callback=seen.append)
    rule.log_iteration(row)
    rule.log_iteration({"objective": 2.0})
    rule.count(40, {"pair_steps": 40})
    assert rule.trace == [{"step": 0, "objective": 3.0}, {"step": 1, "objective": 2.0}]
    assert seen == [*rule.trace, {"pair_steps": 40}]
    assert rule.n_iter == 42
    assert row == {"objective": 3.0}


def test_best_is_the_first_of_the_smallest_values():
    rule = StoppingRule()
    assert rule.best is None
    best = []
    for value, name in [(3.0, "a"), (4.0, "b"), (2.0, "c"), (2.0, "d"), (np.nan, "e")]:
        rule.offer(value, name)
        best.append(rule.best)
    assert best == [(3.0, "a")] * 2 + [(2.0, "c")] * 3


def test_ctrl_c_leaves_the_block_with_the_trace():
    rule = StoppingRule(callback=lambda row: (_ for _ in ()).throw(KeyboardInterrupt) if row["step"] else None)
    with rule:
        for _ in range(9):
            rule.log_iteration({})
    assert rule.status == "interrupted"
    assert rule.interrupted
    assert len(rule.trace) == 2


@pytest.mark.parametrize("status", STATUSES)
def test_ctrl_c_after_a_status_is_noted_but_does_not_replace_it(status):
    rule = StoppingRule()
    raise_in(rule, KeyboardInterrupt, status)
    assert rule.status == status
    assert rule.interrupted


@pytest.mark.parametrize("error", [ValueError, MemoryError, SystemExit, GeneratorExit])
def test_other_errors_pass_through(error):
    parent = StoppingRule()
    rule = parent.nested()
    with pytest.raises(error):
        raise_in(rule, error)
    assert rule.status is parent.status is None
    assert not rule.interrupted


# ---- rules inside rules ----


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("status", STATUSES)
def test_reasons_that_concern_all_reach_the_outermost_rule(status, depth):
    rules = [StoppingRule()]
    for _ in range(depth):
        rules.append(rules[-1].nested(5))

    def descend(level):
        with rules[level]:
            if level < depth:
                descend(level + 1)
            else:
                rules[level].end(status)

    descend(0)
    concerns_all = status in ("interrupted", "stopped", "max_time")
    assert [rule.status for rule in rules] == [status if concerns_all else None] * depth + [status]


@pytest.mark.parametrize("status", [None, *STATUSES])
def test_ctrl_c_inside_interrupts_the_parent_whatever_the_status_inside(status):
    parent = StoppingRule()
    with parent:
        raise_in(parent.nested(), KeyboardInterrupt, status)
        assert parent.status == "interrupted"
    assert not parent.interrupted  # its own block was not left by Ctrl-C


def test_a_reason_inside_does_not_replace_that_of_the_parent():
    parent = StoppingRule()
    parent.end("max_iter")
    raise_in(parent.nested(), KeyboardInterrupt)
    assert parent.status == "max_iter"


def test_deadline_is_inherited_and_the_earlier_one_holds(clock):
    parent = StoppingRule(max_time=10.0)
    clock.now += 4.0
    inner = parent.nested().nested()
    assert inner.time_left == 6.0
    assert StoppingRule(max_time=1.0, parent=parent).time_left == 1.0
    assert StoppingRule(max_time=60.0, parent=parent).time_left == 6.0
    clock.now += 7.0
    with inner:
        inner.count(1, {})
    assert inner.status == inner.parent.status == "max_time"


def test_callback_iterations_and_best_of_the_parent_are_its_own():
    seen = []
    parent = StoppingRule(3, callback=seen.append)
    inner = parent.nested()
    for _ in range(5):
        inner.log_iteration({})
    inner.offer(1.0, "inner")
    assert inner.running
    assert seen == parent.trace == []
    assert parent.n_iter == 0
    assert parent.best is None


# ---- capabilities ----


def test_unsupported_names_each_piece():
    problem = random_problem(0, losses="squared", balance=Count(0.5))
    accepts = Accepts((Squared,), (type(problem.unlabeled),), (Free, Count), (True,), (2,), "features")
    on_features = dataclasses.replace(problem, space=random_problem(0, space="features").space)
    assert accepts.unsupported(on_features) is None
    pieces = {
        "the labeled loss Ramp": {"labeled": Ramp()},
        "the unlabeled loss SymmetricHinge": {"unlabeled": LOSSES["hinge"][1]},
        "the balance Mean": {"balance": Mean(0.0)},
        "fit_intercept=False": {"intercept": False},
        "fit_intercept='regularized'": {"intercept": "regularized"},
        "the 1-norm of w": {"norm": 1},
        "a kernel without features": {"space": problem.space},
    }
    for piece, change in pieces.items():
        assert accepts.unsupported(dataclasses.replace(on_features, **change)) == piece


def test_supervised_problems_are_taken_whatever_the_unlabeled_loss():
    accepts = Accepts((Squared,), space="features")
    problem = random_problem(0, losses="squared")
    assert accepts.unsupported(problem) == "the unlabeled loss SymmetricSquared"
    assert accepts.unsupported(problem.labeled_only()) is None  # behind a kernel, too
    all_labeled = dataclasses.replace(problem, signs=np.where(problem.signs == 0, 1.0, problem.signs))
    assert accepts.unsupported(all_labeled) is None
    assert accepts.unsupported(dataclasses.replace(all_labeled, norm=1)) == "the 1-norm of w"


def kinds_of_problems():
    """Losses, balances, intercepts, spaces and norms in all combinations."""
    names = ("losses", "balance", "intercept", "space", "norm")
    values = (LOSSES, (Count(0.4), Mean(0.1), Free()), INTERCEPTS, ("rbf", "features"), (2, 1))
    return [dict(zip(names, kind)) for kind in itertools.product(*values)]


def takers(kind):
    """The solvers that take a problem of this kind, its share and its kernel stated as the solver asks for."""
    balances = [Free()] if isinstance(kind["balance"], Free) else [Count(0.4), Mean(0.1)]
    stated = [{"balance": balance, "space": space} for balance in balances for space in ("rbf", "features")]
    problems = [random_problem(0, 2, **(kind | one)) for one in stated]
    return [name for name, cls in SOLVERS.items() if any(cls.accepts.unsupported(one) is None for one in problems)]


def test_refusal_lists_the_solvers_that_take_the_problem():
    n_without = 0
    for kind in kinds_of_problems():
        problem = random_problem(0, 2, **kind)
        takes = takers(kind)
        message = refusal(LeastSquares(), problem)
        assert message.startswith("the solver LeastSquares does not take the ")
        if takes:
            assert message.endswith(f". Solvers that do: {', '.join(takes)}.")
        else:
            n_without += 1
            assert message.endswith(". No solver of this version does.")
    assert n_without > 0


def test_refusal_of_a_balance_lists_the_solvers_that_keep_it():
    problem = dataclasses.replace(random_problem(0, 2, losses="squared_hinge"), unlabeled=None, balance=Count(0.4))
    message = refusal(SOLVERS["finite_newton"](), problem)
    takes = [name for name, cls in SOLVERS.items() if cls.accepts.unsupported(problem) is None]
    assert message == f"the solver FiniteNewton does not take the balance Count. Solvers that do: {', '.join(takes)}."


@pytest.mark.parametrize("name", ["pair_switching", "genetic"])
def test_search_with_the_labeled_loss_refuses_another_unlabeled_loss(name):
    problem = random_problem(0, 2, losses="hinge")
    mixed = dataclasses.replace(problem, unlabeled=SymmetricSquaredHinge())
    assert "SymmetricSquaredHinge beside the labeled loss Hinge" in refusal(SOLVERS[name](), mixed)
    assert refusal(SOLVERS[name](), problem) is None


# ---- every solver ----

every_solver = pytest.mark.parametrize("name", SOLVERS)
AT_LABELS = [  # their objective is that of the labels found; that of the others has the unlabeled loss
    name for name, cls in SOLVERS.items() if cls.accepts.unlabeled and Count in cls.accepts.balances
]
AT_LABELS.remove("annealing")
SMALL = {"genetic": {"population": 4, "generations": 5}}  # so that a search takes tenths of a second


@functools.cache
def kind_for(name):
    """The first kind of problem that a solver takes."""
    return next(
        kind for kind in kinds_of_problems() if SOLVERS[name].accepts.unsupported(make_problem(name, kind)) is None
    )


def make_problem(name, kind):
    """A small problem, with an unlabeled loss if the solver takes one."""
    problem = random_problem(5, 10, n_labeled=6, separation=0.3, **kind)
    return problem if SOLVERS[name].accepts.unlabeled else dataclasses.replace(problem, unlabeled=None)


def problem_for(name):
    return make_problem(name, kind_for(name))


def solve(name, start=None, callback=None, **limits):
    return SOLVERS[name](**SMALL.get(name, {}), **limits).solve(problem_for(name), start, callback, rng=0)


@functools.cache
def solution_of(name):
    return solve(name)


def recomputed_objective(name, solution):
    labels = solution.labels if name in AT_LABELS else None
    return objective(problem_for(name), solution.coef, solution.intercept, labels)


def assert_usable(name, solution):
    """Whatever ended the solver, what it returns is consistent and keeps labels and balance."""
    problem = problem_for(name)
    known = problem.is_labeled
    assert solution.objective == pytest.approx(recomputed_objective(name, solution), rel=1e-9)
    np.testing.assert_allclose(solution.scores, problem.space.scores(solution.coef, solution.intercept), atol=1e-8)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[known], problem.signs[known])
    assert balance_residual(problem, solution.scores, solution.labels) <= 1e-9
    assert solution.status in STATUSES
    assert solution.status != "converged" or solution.certificate.within_tol
    assert [row["step"] for row in solution.trace] == list(range(len(solution.trace)))
    bound = solution.certificate.lower_bound
    assert bound is None or bound <= solution.objective * (1.0 + 1e-9)
    assert solution.certificate.gap is None or solution.certificate.gap == pytest.approx(
        solution.objective - bound, abs=1e-9
    )


@every_solver
def test_solution_is_what_problem_recomputes(name):
    solution = solution_of(name)
    assert solution.status == "converged"
    assert_usable(name, solution)
    assert not solution.trace or solution.trace[-1]["objective"] == pytest.approx(solution.objective, rel=1e-6)


@every_solver
def test_objective_is_never_above_its_start(name):
    first = solution_of(name)
    again = solve(name, start=first)
    assert again.objective <= first.objective * (1.0 + 1e-6)
    assert_usable(name, again)


@every_solver
def test_same_seed_gives_the_same_answer_and_input_is_unchanged(name):
    problem, first = problem_for(name), solution_of(name)
    arrays = [problem.space.X, problem.signs, problem.cost]
    before = [array.copy() for array in arrays]
    again = solve(name)
    for array, copy in zip(arrays, before):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(again.scores, first.scores)
    np.testing.assert_array_equal(again.labels, first.labels)
    assert again.objective == first.objective
    start = pickle.loads(pickle.dumps(first))
    solve(name, start=start)
    for part in ("coef", "scores", "labels", "multipliers"):
        np.testing.assert_array_equal(getattr(start, part), getattr(first, part))


@every_solver
@pytest.mark.parametrize("status", ["stopped", "interrupted"])
@pytest.mark.parametrize("number", [1, 3])
def test_callback_or_ctrl_c_in_it_ends_early_with_a_usable_solution(name, number, status):
    """From some row on; nothing was left to do where the status is "converged"."""
    n_rows = 0

    def callback(row):
        nonlocal n_rows
        n_rows += 1
        if n_rows >= number and status == "interrupted":
            raise KeyboardInterrupt
        return n_rows >= number

    solution = solve(name, callback=callback)
    assert n_rows > 0
    assert_usable(name, solution)
    if solution.status == "converged":
        assert n_rows < number or status == "stopped"
        assert solution.objective == solution_of(name).objective
    else:
        assert solution.status == status


@every_solver
def test_no_time_returns_a_usable_solution(name):
    solution = solve(name, max_time=1e-9)
    assert solution.status in ("max_time", "converged")
    assert_usable(name, solution)


@every_solver
def test_solvers_are_values_with_references(name):
    cls = SOLVERS[name]
    solver = cls()
    with pytest.raises(dataclasses.FrozenInstanceError):
        solver.max_time = 1.0
    assert pickle.loads(pickle.dumps(solver)) == solver
    assert dataclasses.replace(solver, max_time=1.0) != solver
    assert "References\n----------\n" in inspect.getdoc(cls)


def test_problems_of_a_batch_are_solved_as_one_by_one():
    problems = [random_problem(seed, losses="squared", balance=Count(0.5)) for seed in range(3)]
    seen = []
    together = LabelSearch().solve_batch(problems, [None, seen.append, None])
    for problem, solution in zip(problems, together):
        assert solution.objective == LabelSearch().solve(problem).objective
    assert seen == together[1].trace


def test_problems_of_a_batch_share_the_time(clock, monkeypatch):
    """Each takes all the time that it is given."""
    given, solve = [], LabelSearch.solve

    def slow_solve(solver, *args, **kwargs):
        given.append(solver.max_time)
        clock.now += solver.max_time
        return solve(solver, *args, **kwargs)

    monkeypatch.setattr(LabelSearch, "solve", slow_solve)
    problems = [random_problem(seed, losses="squared", balance=Count(0.5)) for seed in range(3)]
    LabelSearch(max_time=12.0).solve_batch(problems, [None] * 3)
    assert given == pytest.approx([4.0, 4.0, 4.0])


def test_held_out_scores_without_a_closed_form_are_refused():
    assert not SMO.accepts.held_out
    with pytest.raises(TypeError, match="SMO has no closed form"):
        SMO().held_out_scores(problem_for("smo"), solution_of("smo"), [])
