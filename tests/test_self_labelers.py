"""Self-training and Help-Training as estimators: what ends them early, what changes nothing, and kernel values."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC, LinearSVC

from program import check_filled, good, read, refused, table, write
from semisvm import CCCPTSVM, LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.datasets import hide_labels
from semisvm.estimators import WRAPPERS, _learners
from semisvm.model_selection import LabeledKFold
from semisvm.solvers import smo
from semisvm.solvers.growing import GrowingLeastSquares

BOTH = pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
CLASSES = pytest.mark.parametrize("classes", [2, 3])
CENTRES = np.array([[0, 0, 0], [3, 0, 1], [0, 3, -1]])
SMALL = {SelfTraining: {"k_best": 6, "threshold_decay": 0.8}, HelpTraining: {"n_candidates": 4}}  # rounds of a few rows


def data(classes=2, n=60, n_labeled=15, seed=0, spread=1.2):
    """Rows, their true classes, and labels for a few."""
    X, y = make_blobs(n, centers=CENTRES[:classes], cluster_std=spread, random_state=seed)
    return X, y + 1, hide_labels(y + 1, n_labeled, random_state=seed)


def same_rounds(one, other, rtol=1e-7):
    np.testing.assert_array_equal(one.labeled_iter_, other.labeled_iter_)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_allclose(one.confidence_, other.confidence_, rtol=rtol, atol=rtol)


# ---------------------------------------------------------------- what ends the rounds early


def interrupt(monkeypatch, where, name, at):
    """The call of this number is met by Ctrl-C; returns what counts the calls."""
    calls, plain = [], getattr(where, name)

    def go(*args, **rest):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return plain(*args, **rest)

    monkeypatch.setattr(where, name, go)
    return calls


def survives(machine, X, y):
    """Fit; one warning of the machine itself is due, and Ctrl-C must not come out of it (it would end the tests)."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            machine.fit(X, y)
        except KeyboardInterrupt:
            pytest.fail("Ctrl-C came out of the fit")
    own = [str(w.message) for w in said if str(w.message).startswith(type(machine).__name__)]
    assert len(own) == 1
    assert re.search(r"the fit was interrupted, \d+ rows had no label yet; the model of the others is usable", own[0])
    return machine


def adds_up(fitted, y):
    """Rows labeled in each round are those that the trace tells of."""
    steps = np.bincount(fitted.labeled_iter_[fitted.labeled_iter_ >= 0], minlength=fitted.n_iter_)
    assert [np.count_nonzero(y != -1), *(row["labeled"] for row in fitted.trace_)] == steps.tolist()
    np.testing.assert_array_equal(np.isnan(fitted.confidence_), fitted.labeled_iter_ < 1)


TRAINED = {"Ridge": (RidgeClassifier(), RidgeClassifier, "fit"), "LSSVM": (LSSVM(), GrowingLeastSquares, "add")}


@pytest.mark.parametrize("case", TRAINED)
@pytest.mark.parametrize("rounds", [0, 1, 3])
@BOTH
def test_ctrl_c_in_a_round_leaves_the_machine_of_the_rounds_before(monkeypatch, wrapper, rounds, case):
    X, _, y = data()
    inner, where, name = TRAINED[case]
    before = wrapper(inner, max_iter=max(rounds, 1), **SMALL[wrapper]).fit(X, y)
    interrupt(monkeypatch, where, name, rounds + 2)
    fitted = survives(wrapper(inner, **SMALL[wrapper]), X, y)
    assert fitted.termination_condition_ == "interrupted"
    assert fitted.n_iter_ == len(fitted.trace_) + 1 == rounds + 1
    assert fitted.labeled_iter_.max() == rounds
    adds_up(fitted, y)
    if rounds:
        same_rounds(fitted, before)
        np.testing.assert_allclose(fitted.decision_function(X), before.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])


@pytest.mark.parametrize("case", TRAINED)
@BOTH
def test_ctrl_c_in_the_first_training_is_raised(monkeypatch, wrapper, case):
    X, _, y = data()
    inner, where, name = TRAINED[case]
    interrupt(monkeypatch, where, name, 1)
    with pytest.raises(KeyboardInterrupt):
        wrapper(inner).fit(X, y)


@pytest.mark.parametrize("at", [1, 4])
@pytest.mark.parametrize("inner", [SVM(tol=1e-7), CCCPTSVM(1.0, tol=1e-7)], ids=["SVM", "CCCPTSVM"])
@BOTH
def test_ctrl_c_in_pair_steps_ends_the_rounds(monkeypatch, wrapper, inner, at):
    X, _, y = data()
    interrupt(monkeypatch, smo, "pair_steps", at)
    fitted = survives(wrapper(inner, **SMALL[wrapper]), X, y)
    assert fitted.termination_condition_ == "interrupted"
    adds_up(fitted, y)
    assert (fitted.labeled_iter_ == -1).any()
    assert np.isfinite(fitted.decision_function(X)).all()
    if isinstance(inner, SVM):
        found = fitted.labeled_iter_ >= 0
        alone = clone(fitted.estimator_).fit(X[found], fitted.transduction_[found])
        np.testing.assert_allclose(fitted.decision_function(X), alone.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("at", [1, 3])
def test_ctrl_c_while_the_trace_is_written_does_not_tear_it(monkeypatch, at):
    X, _, y = data()
    interrupt(monkeypatch, _learners.Grown, "facts", at)
    fitted = survives(HelpTraining(LSSVM()), X, y)
    adds_up(fitted, y)
    assert fitted.n_iter_ in (at, at + 1)


@BOTH
def test_ctrl_c_in_the_run_of_one_class_ends_those_of_the_others(monkeypatch, wrapper):
    X, _, y = data(3)
    calls = interrupt(monkeypatch, RidgeClassifier, "fit", 3)
    fitted = survives(wrapper(RidgeClassifier(), multiclass="ovr", **SMALL[wrapper]), X, y)
    assert fitted.termination_condition_ == ["interrupted"] * 3
    assert len(calls) <= 3 + 2  # each class has a first machine
    assert np.isfinite(fitted.decision_function(X)).all()


@BOTH
def test_no_round_begins_after_max_time(wrapper):
    X, _, y = data()
    with pytest.warns(ConvergenceWarning, match=r"max_time=1e-09 reached, 45 rows had no label yet; the model of the"):
        fitted = wrapper(SVM(2.0, gamma=0.3), max_time=1e-9).fit(X, y)
    assert (fitted.termination_condition_, fitted.n_iter_, fitted.trace_) == ("max_time", 1, [])
    alone = SVM(2.0, gamma=0.3).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.transduction_, alone.transduction_)


@BOTH
def test_a_callback_stops_the_rounds(wrapper):
    from test_progress import Watch

    X, _, y = data()
    watch = Watch(stop_after=2)
    stopped = wrapper(**SMALL[wrapper]).set_callbacks(watch).fit(X, y)
    assert (stopped.termination_condition_, stopped.n_iter_) == ("stopped", 3)
    assert watch.begun.count("step") == watch.ended.count("step") == 2
    assert watch.begun.count("binary task") == watch.ended.count("binary task") == 1
    limited = wrapper(max_iter=2, **SMALL[wrapper]).fit(X, y)
    same_rounds(stopped, limited)
    np.testing.assert_array_equal(stopped.predict(X), limited.predict(X))
    whole = wrapper(**SMALL[wrapper]).fit(X, y)
    last = wrapper(**SMALL[wrapper]).set_callbacks(Watch(stop_after=whole.n_iter_ - 1)).fit(X, y)
    assert last.termination_condition_ == "all_labeled"


@pytest.mark.parametrize("how", ["joint", "ovr"])
@pytest.mark.parametrize("n_jobs", [None, 2])
@BOTH
def test_callbacks_see_every_round_and_change_nothing(wrapper, how, n_jobs):
    from test_progress import Watch

    X, _, y = data(3)
    watch = Watch()
    plain = wrapper(multiclass=how, **SMALL[wrapper]).fit(X, y)
    watched = wrapper(multiclass=how, n_jobs=n_jobs, **SMALL[wrapper]).set_callbacks(watch).fit(X, y)
    same_rounds(plain, watched)
    np.testing.assert_array_equal(plain.decision_function(X), watched.decision_function(X))
    assert watch.begun.count("fit") == watch.ended.count("fit") == 1
    assert watch.begun.count("binary task") == watch.ended.count("binary task") == (3 if how == "ovr" else 1)
    assert watch.begun.count("step") == watch.ended.count("step") == np.sum(plain.n_iter_ - 1) > 3


@BOTH
def test_verbose_tells_a_line_per_round(wrapper, capsys):
    X, _, y = data(3)
    fitted = wrapper(verbose=1, **SMALL[wrapper]).fit(X, y)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(fitted.trace_)
    for line, row in zip(said, fitted.trace_):
        assert line.startswith(f"step {row['step']}  labeled {row['labeled']}  left {row['left']}  threshold ")
    fitted = wrapper(verbose=1, multiclass="ovr", **SMALL[wrapper]).fit(X, y)
    said = capsys.readouterr().out.splitlines()
    assert [sum(line.startswith(f"task {c}  step ") for line in said) for c in range(3)] == list(fitted.n_iter_ - 1)
    wrapper(**SMALL[wrapper]).fit(X, y)
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------- what changes nothing


@pytest.mark.parametrize("inner", [LSSVM(), SVM(tol=1e-7), RidgeClassifier()], ids=["LSSVM", "SVM", "Ridge"])
@CLASSES
@BOTH
def test_order_of_rows_and_names_of_classes_do_not_matter(wrapper, classes, inner):
    X, _, y = data(classes)
    fitted = wrapper(inner, **SMALL[wrapper]).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = wrapper(inner, **SMALL[wrapper]).fit(X[order], y[order])
    np.testing.assert_array_equal(shuffled.labeled_iter_, fitted.labeled_iter_[order])
    np.testing.assert_array_equal(shuffled.transduction_, fitted.transduction_[order])
    np.testing.assert_allclose(shuffled.decision_function(X), fitted.decision_function(X), atol=1e-5)
    names = np.array(["", "zebra", "ape", "cat"], dtype=object)
    named = wrapper(inner, **SMALL[wrapper]).fit(X, np.where(y == -1, "", names[y]))
    np.testing.assert_array_equal(named.labeled_iter_, fitted.labeled_iter_)
    np.testing.assert_array_equal(named.transduction_, names[fitted.transduction_])
    np.testing.assert_array_equal(named.predict(X), names[fitted.predict(X)])


@pytest.mark.parametrize("inner", [LSSVM(), SVM(), RidgeClassifier()], ids=["LSSVM", "SVM", "Ridge"])
@pytest.mark.parametrize(
    "rows",
    {
        "one feature": lambda X: X[:, :1],
        "constant columns": lambda X: np.c_[X, np.ones(len(X)), np.zeros(len(X))],
        "duplicates": lambda X: np.r_[X[:30], X[:30]],
        "all rows alike": lambda X: np.ones_like(X),
        "far away": lambda X: X + 1e5,
        "tiny": lambda X: X * 1e-6,
    }.items(),
    ids=lambda item: item[0],
)
@BOTH
def test_odd_tables_work(wrapper, rows, inner):
    X, _, y = data()
    X = rows[1](X)
    fitted = wrapper(inner, **SMALL[wrapper]).fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    assert np.isfinite(fitted.decision_function(X)).all()
    adds_up(fitted, y)


@BOTH
def test_rows_of_which_nothing_can_be_said_get_a_label_in_the_end(wrapper):
    X, y = np.ones((30, 2)), np.repeat([1, 2, -1], 10)
    fitted = wrapper(RidgeClassifier(), **SMALL[wrapper]).fit(X, y)
    assert not fitted.supervised_.decision_function(X).any()
    assert (fitted.confidence_[fitted.labeled_iter_ == 1] == 0).all()
    assert fitted.termination_condition_ == "all_labeled"


@BOTH
def test_one_label_per_class_is_enough(wrapper):
    X, truth, _ = data(3, spread=0.5)
    fitted = wrapper(LSSVM(), **SMALL[wrapper]).fit(X, hide_labels(truth, 3, random_state=0))
    assert np.mean(fitted.transduction_ == truth) > 0.9


@BOTH
def test_unlabeled_rows_of_no_weight_leave_the_supervised_machine(wrapper):
    X, _, y = data()
    fitted = wrapper(SVM(gamma=0.3)).fit(X, y, sample_weight=y != -1)
    np.testing.assert_array_equal(fitted.decision_function(X), SVM(gamma=0.3).fit(X, y).decision_function(X))
    np.testing.assert_array_equal(fitted.transduction_, np.where(y == -1, fitted.predict(X), y))
    assert (fitted.termination_condition_, fitted.n_iter_) == ("all_labeled", 1)


@BOTH
def test_threads_do_not_matter(wrapper):
    X, _, y = data(3)
    one, two = (wrapper(multiclass="ovr", n_jobs=jobs, **SMALL[wrapper]).fit(X, y) for jobs in (1, 2))
    same_rounds(one, two)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("how", ["joint", "ovr"])
@BOTH
def test_a_fitted_machine_is_saved_and_copied_and_fitted_again(wrapper, how):
    X, _, y = data(3)
    before = X.copy(), y.copy()
    fitted = wrapper(SVM(), multiclass=how, **SMALL[wrapper]).fit(X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), clone(fitted).fit(X, y)):
        same_rounds(again, fitted)
        np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
        np.testing.assert_array_equal(again.supervised_.decision_function(X), fitted.supervised_.decision_function(X))
    scores = fitted.decision_function(X)
    np.testing.assert_array_equal(fitted.fit(X, y).decision_function(X), scores)


@BOTH
def test_rows_that_change_after_the_fit_do_not_matter(wrapper):
    X, _, y = data()
    kept, given = wrapper(SVM(), **SMALL[wrapper]).fit(X, y), X.copy()
    fitted = wrapper(SVM(), **SMALL[wrapper]).fit(given, y)
    given[:] = 0.0
    np.testing.assert_array_equal(fitted.decision_function(X), kept.decision_function(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), kept.predict_proba(X))
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), kept.supervised_.decision_function(X))


@BOTH
def test_another_fit_forgets_the_first(wrapper):
    X, _, y = data(3)
    other, _, z = data(2, seed=1)
    fitted = wrapper(SVM(), multiclass="ovr", **SMALL[wrapper]).fit(X, y)
    first = fitted.supervised_
    fitted.fit(other, z)
    fresh = wrapper(SVM(), multiclass="ovr", **SMALL[wrapper]).fit(other, z)
    assert not hasattr(fitted, "estimators_")
    assert vars(fitted).keys() == vars(fresh).keys()
    assert fitted.supervised_ is not first
    same_rounds(fitted, fresh)
    np.testing.assert_array_equal(fitted.predict_proba(other), fresh.predict_proba(other))
    fitted.fit(X, y)
    assert not hasattr(fitted, "estimator_")
    assert fitted.decision_function(X).shape == (60, 3)


@BOTH
def test_parameters_of_the_machine_inside_are_parameters(wrapper):
    machine = wrapper(SVM(C=3.0))
    assert machine.get_params()["estimator__C"] == 3.0
    assert clone(machine.set_params(estimator__C=5.0)).estimator.C == 5.0
    X, _, y = data()
    fitted = clone(machine).fit(X, y)
    assert fitted.estimator_.C_ == 5.0
    assert fitted.estimator is not fitted.estimator_
    assert not hasattr(fitted.estimator, "classes_")


@BOTH
def test_a_grid_is_searched_over_folds_of_labeled_rows(wrapper):
    X, truth, y = data(n_labeled=24)
    grid = {"estimator__C": [1e-4, 3.0], "balance": [None, "labeled"]}
    found = GridSearchCV(wrapper(LSSVM(), **SMALL[wrapper]), grid, cv=LabeledKFold(3), error_score="raise").fit(X, y)
    assert len(found.cv_results_["params"]) == 4
    assert (found.cv_results_["mean_test_score"] > 0.5).any()
    assert found.score(X, truth) > 0.8
    assert found.best_params_["estimator__C"] == found.best_estimator_.estimator_.C_


# ---------------------------------------------------------------- kernel values in the place of rows


@pytest.mark.parametrize("kind", [LSSVM, SVM, CCCPTSVM])
@CLASSES
def test_kernel_values_are_rows_of_that_kernel(kind, classes):
    X, _, y = data(classes, n=50)
    tol = {} if kind is LSSVM else {"tol": 1e-7}
    K, given = rbf_kernel(X, gamma=0.3), {"n_candidates": 4}
    rows = HelpTraining(kind(2.0, gamma=0.3, **tol), bandwidth="kernel", **given).fit(X, y)
    values = HelpTraining(kind(2.0, kernel="precomputed", **tol), **given).fit(K, y)
    same_rounds(values, rows, 1e-4)
    np.testing.assert_allclose(values.decision_function(K), rows.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(values.predict(K[:7]), rows.predict(X[:7]))
    known = y != -1
    alone = kind(2.0, kernel="precomputed", **tol).fit(K[np.ix_(known, known)], y[known])
    np.testing.assert_allclose(values.supervised_.decision_function(K), alone.decision_function(K[:, known]), atol=1e-5)
    there = np.arange(50) % 5 > 0
    part = HelpTraining(kind(2.0, kernel="precomputed", **tol), **given).fit(K, y, sample_weight=there)
    rows = HelpTraining(kind(2.0, gamma=0.3, **tol), bandwidth="kernel", **given).fit(X[there], y[there])
    np.testing.assert_array_equal(part.labeled_iter_[there], rows.labeled_iter_)
    np.testing.assert_allclose(part.decision_function(K), rows.decision_function(X), atol=1e-5)


@CLASSES
@BOTH
def test_scikit_learn_s_machine_takes_kernel_values_too(wrapper, classes):
    X, _, y = data(classes, n=50, spread=0.9)
    K = rbf_kernel(X, gamma=0.3)
    given = {"threshold": 0.4, "k_best": 5} if wrapper is SelfTraining else {"n_candidates": 4}
    how = {} if wrapper is SelfTraining else {"bandwidth": 0.3}
    rows = wrapper(SVC(gamma=0.3), **given, **how).fit(X, y)
    values = wrapper(SVC(kernel="precomputed"), **given).fit(K, y)
    same_rounds(values, rows, 1e-4)
    assert values.n_iter_ > 3
    np.testing.assert_allclose(values.decision_function(K), rows.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(values.predict(K[:7]), rows.predict(X[:7]))
    there = np.arange(50) % 5 > 0
    part = wrapper(SVC(kernel="precomputed"), **given).fit(K, y, sample_weight=there)
    rows = wrapper(SVC(gamma=0.3), **given, **how).fit(X[there], y[there])
    np.testing.assert_array_equal(part.labeled_iter_[there], rows.labeled_iter_)
    np.testing.assert_allclose(part.decision_function(K), rows.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("helper", ["mixture", "naive_bayes", KernelDensity()], ids=str)
def test_helpers_that_need_rows_are_refused_kernel_values(helper):
    X, _, y = data()
    with pytest.raises(ValueError, match=r"looks at the rows and X holds kernel values; use helper='parzen', or pass"):
        HelpTraining(SVM(kernel="precomputed"), helper).fit(rbf_kernel(X), y)


@pytest.mark.parametrize(
    "inner, bandwidth, message",
    [
        (
            SVM(kernel="precomputed"),
            "leave_one_out",
            "needs the rows and X holds kernel values; use bandwidth='kernel'",
        ),
        (SVM(kernel="precomputed"), 0.5, "bandwidth=0.5 needs the rows"),
        (
            SVM(kernel="linear"),
            "kernel",
            "'linear' has values below zero, which windows have not; use bandwidth='leave",
        ),
        (SVM(kernel="multiquadric", coef0=1.0), "kernel", "takes a machine of this library whose kernel is a window"),
        (
            LinearSVC(),
            "kernel",
            "takes a machine of this library whose kernel is a window.*'leave_one_out' or a number",
        ),
    ],
    ids=["leave_one_out", "number", "linear", "multiquadric", "other"],
)
def test_windows_that_cannot_be(inner, bandwidth, message):
    X, _, y = data()
    X = rbf_kernel(X) if inner.get_params().get("kernel") == "precomputed" else X - X.mean(axis=0)
    with pytest.raises(ValueError, match=message):
        HelpTraining(inner, bandwidth=bandwidth).fit(X, y)


def test_kernel_values_below_zero_are_no_windows():
    X, _, y = data()
    X = X - X.mean(axis=0)
    with pytest.raises(ValueError, match="'precomputed' has values below zero"):
        HelpTraining(SVM(kernel="precomputed")).fit(X @ X.T, y)


# ---------------------------------------------------------------- the command line


@pytest.mark.parametrize("method, name", [("self-training", "SelfTraining"), ("help-training", "HelpTraining")])
@pytest.mark.parametrize("names", [{1: "sport", 2: "politics"}, {1: "-1", 2: "1"}], ids=["words", "signs"])
def test_the_command_line_knows_them(run, tmp_path, method, name, names):
    source = write(tmp_path / "rows.csv", table(names))
    out = good(run("label", source, "--target", "topic", "--method", method))
    check_filled(table(names), read(tmp_path / "rows.labeled.csv"), names)
    assert f"topic: 20 rows had a label, 60 were filled by {name}" in out
    assert "The supervised machine would fill" in out


def test_the_command_line_gives_shares(run, tmp_path):
    source = write(tmp_path / "rows.csv", table())
    asked = ("label", source, "--target", "topic", "--method", "help-training", "--balance")
    good(run(*asked, "sport=0.5,politics=0.5"))
    filled = [new["topic"] for old, new in zip(table(), read(tmp_path / "rows.labeled.csv")) if not old["topic"]]
    assert filled.count("sport") == filled.count("politics") == 30
    refused(run(*asked, "2", "--force"), "--balance 2 is not understood")
