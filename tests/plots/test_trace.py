"""The objectives drawn are those of the fitted estimators, above the best of all."""

import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from semisvm import DCLSSVM, LSSVM, AnnealingTSVM, GradientTSVM, SelfTraining, SwitchingLSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Squared, SquaredHinge, SymmetricSquared, SymmetricSquaredHinge
from semisvm.plots import TraceDisplay
from semisvm.problem import Problem
from semisvm.solvers import DifferenceConvex, LabelSearch, MultiSwitch
from semisvm.spaces import Features

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_gaussians(80, 5, 0.5, random_state=0)
SHOWN = hide_labels(Y, 8, random_state=0)
PROBLEM = Problem(
    Features(X), np.where(SHOWN == -1, 0.0, 2.0 * SHOWN - 3.0), np.full(80, 0.3), Squared(), SymmetricSquared()
)


def own_axes():
    return Figure().subplots()


def test_objectives_are_those_of_the_estimators():
    fitted = {"dc": DCLSSVM().fit(X, SHOWN), "search": SwitchingLSSVM().fit(X, SHOWN)}
    display = TraceDisplay.from_estimators(fitted)
    best = min(model.objective_ for model in fitted.values())
    assert display.best == pytest.approx(best)
    for name, model in fitted.items():
        assert display.objectives[name] == pytest.approx(model.objective_path_)
        at, height = display.lines_[name].get_data()
        assert list(at) == list(range(len(model.objective_path_)))
        above = model.objective_path_ > best + 1e-9
        assert height[above] == pytest.approx(model.objective_path_[above] - best)
        assert np.all(height[~above] == display.ax_.get_ylim()[0])
    assert display.ax_.get_yscale() == "log"
    assert pyplot.get_fignums() == [display.figure_.number]


def test_solutions_and_several_classes():
    solution = DifferenceConvex().solve(PROBLEM)
    display = TraceDisplay.from_estimators(solution, ax=own_axes())
    assert display.objectives["Solution"] == pytest.approx([row["objective"] for row in solution.trace])
    three = np.where(SHOWN == 1, np.where(np.arange(80) % 2, 3, 1), SHOWN)
    model = DCLSSVM().fit(X, three)
    display = TraceDisplay.from_estimators([model], ax=own_axes())
    assert list(display.objectives) == [f"DCLSSVM, problem {k}" for k in range(3)]
    assert [path[-1] for path in display.objectives.values()] == pytest.approx(list(model.objective_))
    assert not pyplot.get_fignums()


def test_solvers_are_timed_and_end_at_the_objective_of_the_solution():
    solvers = {"dc": DifferenceConvex(), "search": LabelSearch()}
    display = TraceDisplay.from_solvers(solvers, PROBLEM, ax=own_axes())
    for name, solver in solvers.items():
        assert display.objectives[name][-1] == pytest.approx(solver.solve(PROBLEM, rng=0).objective)
        assert np.all(np.diff(display.seconds[name]) >= 0)
        assert display.lines_[name].get_xdata() == pytest.approx(display.seconds[name])
    assert display.ax_.get_xlabel() == "seconds"
    again = display.plot(own_axes(), x="iteration")
    assert list(again.lines_["dc"].get_xdata()) == list(range(len(display.objectives["dc"])))


def test_a_path_has_objectives_and_levels():
    fitted = {
        "annealing": AnnealingTSVM().fit(X, SHOWN),
        "gradient": GradientTSVM().fit(X, SHOWN),
        "without": DCLSSVM().fit(X, SHOWN),
    }
    display = TraceDisplay.from_estimators(fitted, kind="path", ax=own_axes())
    assert display.level_names == {"annealing": "temperature", "gradient": "share of C_unlabeled"}
    assert list(display.level_lines_) == ["annealing", "gradient"]
    for name, model in fitted.items():
        assert display.lines_[name].get_ydata() == pytest.approx(display.objectives[name])
        if name != "without":
            levels = np.array([row["level"] for row in model.trace_])
            heights = display.level_lines_[name].get_ydata()[: len(levels)]
            assert heights[levels > 0] == pytest.approx(levels[levels > 0])
            assert np.isnan(heights[levels == 0]).all()  # after the last temperature
    assert display.level_ax_.get_yscale() == "log"
    assert display.level_ax_.get_ylabel() == "level (dashed)"
    assert not display.plot(own_axes(), kind="gap").level_lines_


def test_the_path_of_a_solver_is_timed():
    problem = replace(PROBLEM, labeled=SquaredHinge(), unlabeled=SymmetricSquaredHinge())
    display = TraceDisplay.from_solvers(MultiSwitch(), problem, kind="path", ax=own_axes())
    (level,) = display.level_lines_.values()
    assert level.get_xdata() == pytest.approx(display.seconds["MultiSwitch"])
    assert level.get_ydata()[-1] == 1.0
    assert np.all(np.diff(level.get_ydata()[1:]) >= 0)  # the first solve has no unlabeled samples, a share of 0
    assert display.level_ax_.get_ylabel() == "share of C_unlabeled (dashed)"


def test_objectives_of_a_part_of_the_problem_are_left_out():
    display = TraceDisplay({"part": [0.1, 5.0, 3.0], "all": [4.0, 2.0]}).plot(own_axes())
    assert display.best == 2.0
    heights = display.lines_["part"].get_ydata()
    assert np.isnan(heights[0])
    assert heights[1:] == pytest.approx([3.0, 1.0])


def test_a_single_objective_has_no_logarithm():
    display = TraceDisplay.from_estimators([LSSVM().fit(X, SHOWN)], ax=own_axes())
    assert display.ax_.get_yscale() == "linear"


def test_bad_input():
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimators([LSSVM()])
    with pytest.raises(ValueError, match="SelfTraining has no objective_path_; pass estimators that minimize one"):
        TraceDisplay.from_estimators([SelfTraining().fit(X, SHOWN)])
    with pytest.raises(ValueError, match="objectives is empty"):
        TraceDisplay({})
    with pytest.raises(ValueError, match="objectives of a are not a sequence of numbers"):
        TraceDisplay({"a": [1.0, np.nan]})
    with pytest.raises(ValueError, match="a has 2 objectives at 1 seconds"):
        TraceDisplay({"a": [1.0, 2.0]}, {"a": [0.1]})
    with pytest.raises(ValueError, match="different names"):
        TraceDisplay({"a": [1.0]}, {"b": [0.1]})
    with pytest.raises(ValueError, match=r'x="seconds" needs times'):
        TraceDisplay({"a": [1.0]}).plot(x="seconds")
    with pytest.raises(ValueError, match="levels of a are not those of its objectives"):
        TraceDisplay({"a": [1.0, 2.0]}, levels={"a": [0.1]})
    with pytest.raises(ValueError, match=r'kind="path" needs levels, which a did not log'):
        TraceDisplay({"a": [1.0]}).plot(kind="path")
    with pytest.raises(ValueError, match="kind='level' is not allowed"):
        TraceDisplay.from_estimators([], kind="level")
    assert not pyplot.get_fignums()


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"TraceDisplay needs the package matplotlib.*pip install 'semisvm\[plots\]'"):
        TraceDisplay({"a": [1.0, 2.0]}).plot()


def test_matplotlib_is_imported_by_the_first_plot_alone():
    code = "import sys, semisvm, semisvm.plots, semisvm.bench; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
