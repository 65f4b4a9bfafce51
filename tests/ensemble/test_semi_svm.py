"""The ensemble end to end: its parts by hand, its fallback, seeds and threads, and input of all kinds."""

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from factories import blobs, two_gaussians
from semisvm import SVM, GradientTSVM, SemiSVM
from semisvm.ensemble import estimator as estimator_module
from semisvm.ensemble import fitting, training
from semisvm.ensemble.hedging import average_weight
from semisvm.ensemble.separators import SEPARATORS, separators_for
from semisvm.ensemble.supervised import _hinge_loss
from semisvm.ensemble.weighting import separator_weights
from semisvm.model_selection.shares import ShareEstimator
from semisvm.multiclass import fit_slope
from semisvm.solvers import CCCP

X, Y = two_gaussians(90, 24, shift=0.8)


def fit_with_ensemble(X, y, **params):
    """The fitted estimator, and the ensemble of which it keeps what new samples need."""
    seen = []

    def train(*args):
        seen.append(training.train(*args))
        return seen[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimator_module, "train", train)
        return SemiSVM(safety="none", random_state=0, **params).fit(X, y), seen[0]


@pytest.fixture(scope="module")
def fitted_with_ensemble():
    return fit_with_ensemble(X, Y)


@pytest.fixture
def fitted(fitted_with_ensemble):
    return fitted_with_ensemble[0]


# ------------------------------------------------------------------------------------------- parts by hand


def test_weights_average_and_hedge_by_hand(fitted_with_ensemble):
    fitted, ensemble = fitted_with_ensemble
    codes, rest = np.where(Y == -1, -1, Y - 1), Y == -1
    errors, instability, agreement = [], [], []
    for one in ensemble.fitted:
        held = ~np.isnan(one.held_out[:, 0])
        np.testing.assert_array_equal(held, ~rest)
        errors.append(np.mean([(one.held_out[i, 0] > 0) != codes[i] for i in np.flatnonzero(held)]))
        instability.append(np.mean([np.mean((fit.scores[rest, 0] > 0) != one.labels[rest]) for fit in one.fits]))
        np.testing.assert_allclose(one.scores, sum(fit.scores for fit in one.fits) / 5)
        assert (one.error, one.instability) == pytest.approx((errors[-1], instability[-1]))
    w = separator_weights(np.array(errors), np.array(instability), 24)
    np.testing.assert_allclose(ensemble.separator_weights, w)
    score = sum(v * one.scores[:, 0] for v, one in zip(w, ensemble.fitted))
    np.testing.assert_array_equal(fitted.transduction_[rest] == 2, score[rest] > 0)
    np.testing.assert_allclose(fitted.decision_function(X), score, atol=1e-8)
    np.testing.assert_allclose(fitted.training_scores_, score, atol=1e-8)
    np.testing.assert_allclose(fitted.label_distributions_, fitted.predict_proba(X), atol=1e-8)
    agreement = sum(v * np.mean((one.labels == (score > 0))[rest]) for v, one in zip(w, ensemble.fitted))
    other = fitted.supervised_.decision_function(X)
    differ = rest & ((score > 0) != (other > 0))
    evidence = fitted.report_.evidence
    assert evidence.agreement == pytest.approx(agreement)
    assert evidence.change == pytest.approx(differ.sum() / rest.sum())
    np.testing.assert_allclose(evidence.average_margins, np.abs(score[differ]))
    np.testing.assert_allclose(
        evidence.supervised_margins, np.abs(np.tanh(other[differ] / np.abs(other[rest]).mean())), rtol=1e-9
    )
    assert fitted.report_.average_weight == fitted.average_weight_ == average_weight(evidence, "none") == 1.0
    weights = [row.weight for row in fitted.report_.separators]
    np.testing.assert_allclose(weights, np.sort(w)[::-1])


def test_a_separator_is_the_estimator_of_its_name(fitted_with_ensemble):
    """GradientTSVM in the same space, at the same cost and share, gives the same f."""
    fitted, ensemble = fitted_with_ensemble
    one = next(one for one in ensemble.fitted if one.separator.name == "GradientTSVM C=1, rbf 0.5")
    share = fitted.share_.asked[2]
    alone = GradientTSVM(1.0 / one.space.variance, gamma=one.space.kernel.gamma, balance=share, tol=1e-4).fit(X, Y)
    f = alone.decision_function(X)
    np.testing.assert_array_equal(one.labels[Y == -1], (f > 0)[Y == -1])
    space = one.space
    np.testing.assert_allclose(space.variance, 1 - space.features.gram().compute().mean(), rtol=1e-6)


def test_a_fold_sees_neither_labels_nor_shares_of_what_it_holds_out(monkeypatch):
    seen = []
    monkeypatch.setattr(training, "fit_all", lambda separators, tasks, *rest: seen.append(tasks) or [])
    SemiSVM(random_state=0).fit(X, Y)
    codes = np.where(Y == -1, -1, Y - 1)
    whole, *folds = seen[0]
    np.testing.assert_array_equal(whole.codes, codes)
    np.testing.assert_array_equal(np.sort(np.concatenate([task.held for task in folds])), np.flatnonzero(codes >= 0))
    for task in folds:
        assert np.all(task.codes[task.held] == -1)
        others = np.setdiff1d(np.arange(len(codes)), task.held)
        np.testing.assert_array_equal(task.codes[others], codes[others])
        alone = ShareEstimator(X, task.codes >= 0, np.ones(len(codes))).estimate(task.codes, 2)
        np.testing.assert_allclose(task.asked.shares, alone.shares, rtol=1e-6)


def test_the_fallback_is_the_supervised_model_exactly(monkeypatch):
    give_weight(monkeypatch, 0.0)
    fallback = SemiSVM(random_state=0).fit(X, Y)
    assert fallback.average_weight_ == 0.0
    supervised = fallback.supervised_
    np.testing.assert_array_equal(fallback.decision_function(X), supervised.decision_function(X))
    np.testing.assert_array_equal(fallback.predict_proba(X), supervised.predict_proba(X))
    np.testing.assert_array_equal(fallback.transduction_[Y == -1], supervised.predict(X)[Y == -1])
    assert "not seen to help" in fallback.report_.conclusion
    known = Y != -1
    alone = SVM(supervised.C, kernel="rbf", gamma=supervised.gamma).fit(X[known], Y[known])
    np.testing.assert_allclose(alone.decision_function(X), supervised.decision_function(X), atol=1e-9)


def give_weight(monkeypatch, weight):
    """Let the average have this weight, whatever speaks for it."""
    monkeypatch.setattr("semisvm.ensemble.report.average_weight", lambda evidence, safety: weight)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_blend_is_the_weighted_sum_of_squashed_scores(monkeypatch, n_classes):
    give_weight(monkeypatch, 0.3)
    samples, y = (X, Y) if n_classes == 2 else blobs(3, n=90, n_labeled=24, distance=1.5)
    model, ensemble = fit_with_ensemble(samples, y)
    rest = y == -1
    average = sum(v * one.scores for v, one in zip(ensemble.separator_weights, ensemble.fitted))
    other = model.supervised_.decision_function(samples).reshape(len(y), -1)
    if n_classes > 2:
        other = other - other.mean(axis=1, keepdims=True)
    expected = 0.3 * average + 0.7 * np.tanh(other / np.abs(other[rest]).mean())
    found = model.decision_function(samples).reshape(len(y), -1)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(model.training_scores_.reshape(len(y), -1), expected, atol=1e-8)
    labels = expected.argmax(axis=1) if n_classes > 2 else (expected[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(model.transduction_[rest], model.classes_[labels[rest]])
    probabilities = model.predict_proba(samples)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), labels)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert "30% of the model is the average of 14 separators and 70% the supervised one" in model.report_.conclusion


def test_the_slope_of_a_blend_is_that_of_its_held_out_scores(monkeypatch):
    """Held-out scores of separators and of SVCs fitted without them, blended, decide the slope."""
    give_weight(monkeypatch, 0.4)
    model, ensemble = fit_with_ensemble(X, Y)
    held = np.zeros((len(Y), 1))
    for fold in range(5):
        part = np.flatnonzero(fold_numbers(ensemble) == fold)
        train = np.setdiff1d(np.flatnonzero(Y != -1), part)
        svc = SVC(C=model.supervised_.C, gamma=model.supervised_.gamma).fit(X[train], Y[train])
        held[part, 0] = svc.decision_function(X[part])
    size = np.abs(model.supervised_.decision_function(X[Y == -1])).mean()
    average = sum(v * one.held_out for v, one in zip(ensemble.separator_weights, ensemble.fitted))
    score = (0.4 * average + 0.6 * np.tanh(held / size))[Y != -1, 0]
    slope = fit_slope(np.column_stack([-score, score]) / 2, Y[Y != -1] - 1, np.ones(24))
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(np.log(p / (1 - p)), slope * model.decision_function(X), rtol=1e-3, atol=1e-6)


def fold_numbers(ensemble):
    """The fold that holds out each sample: that whose fit gave its held-out score; -1 for unlabeled samples."""
    one = ensemble.fitted[0]
    same = np.array([np.isclose(fit.scores[:, 0], one.held_out[:, 0], rtol=1e-12) for fit in one.fits])
    assert np.all(same.sum(axis=0) <= 1)
    return np.where(same.any(axis=0), same.argmax(axis=0), -1)


def test_more_labels_tune_the_supervised_model_on_the_same_folds():
    samples, y = two_gaussians(80, 40)
    chosen = SemiSVM(random_state=0).fit(samples, y)
    assert "tuned" in chosen.report_.supervised
    assert "fixed" in SemiSVM(random_state=0).fit(X, Y).report_.supervised
    svc = SVC(C=chosen.supervised_.C, kernel=chosen.supervised_.kernel, gamma=chosen.supervised_.gamma, tol=1e-6)
    known = y != -1
    svc.fit(samples[known], y[known])
    np.testing.assert_allclose(chosen.supervised_.decision_function(samples), svc.decision_function(samples), atol=2e-3)


# ------------------------------------------------------------------------------------------- determinism


def test_seeds_and_threads(fitted):
    for n_jobs in (1, 2):
        again = SemiSVM(safety="none", random_state=0, n_jobs=n_jobs).fit(X, Y)
        np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    other = SemiSVM(safety="none", random_state=1).fit(X, Y)
    assert not np.array_equal(other.decision_function(X), fitted.decision_function(X))


def test_probabilities_of_a_supervised_model_are_its_own_and_wait_until_they_are_asked_for(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2], 30)
    X = rng.standard_normal((60, 3)) + y[:, None]
    model = SemiSVM(random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr("semisvm.estimators.base.calibrate", lambda *args: pytest.fail("calibrated in fit"))
        model.fit(X, y)
    model.fit(X, y)
    assert model.average_weight_ == 0.0
    np.testing.assert_allclose(model.label_distributions_, model.supervised_.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), model.supervised_.predict_proba(X), atol=1e-12)


def test_saved_and_cloned(fitted):
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert clone(fitted).get_params() == fitted.get_params()


# ------------------------------------------------------------------------------------------- input of all kinds


def test_strings_frames_and_sparse_samples(fitted):
    names = np.array(["no", "yes", None], dtype=object)[np.where(Y == -1, 2, Y - 1)]
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    named = SemiSVM(safety="none", random_state=0, unlabeled=None).fit(frame, names)
    np.testing.assert_allclose(named.decision_function(frame), fitted.decision_function(X), rtol=1e-9)
    assert set(named.transduction_) == {"no", "yes"}
    csr = SemiSVM(safety="none", random_state=0).fit(sparse.csr_array(X), Y)
    assert np.mean(csr.predict(sparse.csr_array(X)) == fitted.predict(X)) > 0.95
    np.testing.assert_allclose(csr.predict_proba(sparse.csr_array(X)).sum(axis=1), 1.0)
    np.testing.assert_array_equal(csr.decision_function(X), fitted.decision_function(X))  # no zero is left out there
    for model in (csr, fitted):  # new samples may be dense or sparse, whatever the model was fitted to
        np.testing.assert_allclose(model.decision_function(X), model.decision_function(sparse.csr_array(X)), atol=1e-9)


def test_a_class_may_be_named_minus_one(fitted):
    y = np.where(Y == -1, 0, np.where(Y == 1, -1, 1))
    signs = SemiSVM(safety="none", random_state=0, unlabeled=0).fit(X, y)
    np.testing.assert_allclose(signs.decision_function(X), fitted.decision_function(X), atol=1e-12)
    assert set(signs.transduction_) == {-1, 1}


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes(n_classes):
    samples, y = blobs(n_classes, n=90, n_labeled=30, distance=3.0)
    model, ensemble = fit_with_ensemble(samples, y)
    assert model.decision_function(samples).shape == (90, n_classes)
    np.testing.assert_array_equal(model.predict(samples)[y == -1], model.transduction_[y == -1])
    probabilities = model.predict_proba(samples)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(samples))
    assert len(ensemble.fitted) == (14 if n_classes <= 4 else 9)


def test_many_classes_have_fewer_separators():
    methods = [{one.method for one in separators_for(k)} for k in (2, 4, 5, 20, 21, 100)]
    every = {"CCCPTSVM", "ContinuationTSVM", "GradientTSVM"}
    assert methods == [every] * 2 + [every - {"ContinuationTSVM"}] * 2 + [{"GradientTSVM"}] * 2


@pytest.mark.slow
def test_a_hundred_classes():
    samples, classes = blobs(n_classes=100, n=600, n_labeled=600, n_features=15, distance=2.5)
    model = SemiSVM(random_state=0).fit(samples, np.where(np.arange(600) < 300, classes, -1))
    assert len(model.classes_) == 100
    assert np.mean(model.transduction_ != classes) <= np.mean(model.supervised_.predict(samples) != classes) + 0.01
    np.testing.assert_allclose(model.predict_proba(samples[:5]).sum(axis=1), 1.0)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_hinge_loss_of_pairs_by_hand(k):
    rng = np.random.default_rng(k)
    scores, codes = 2.0 * rng.normal(size=(9, k * (k - 1) // 2)), rng.integers(0, k, 9)
    total = 0.0
    for row, c in enumerate(codes):
        for column, (i, j) in enumerate(combinations(range(k), 2)):
            if c in (i, j):
                positive = c == (j if k == 2 else i)
                total += max(0.0, 1.0 - (1 if positive else -1) * scores[row, column])
    assert _hinge_loss(scores, codes, k) == pytest.approx(total / (k - 1))


def test_weights_of_zero_are_samples_that_are_not_there():
    weights = np.where(np.arange(len(Y)) % 3 == 0, 0.0, 1.0)
    left = weights > 0
    weighted = SemiSVM(safety="none", random_state=0).fit(X, Y, sample_weight=weights)
    alone = SemiSVM(safety="none", random_state=0).fit(X[left], Y[left])
    np.testing.assert_allclose(weighted.decision_function(X), alone.decision_function(X), atol=1e-9)
    assert len(weighted.transduction_) == len(Y)


def test_a_given_share_is_that_of_the_labels():
    for share in (0.2, {1: 0.75, 2: 0.25}):
        model = SemiSVM(random_state=0, balance=share).fit(X, Y)
        expected = 0.2 if share == 0.2 else 0.25
        assert np.mean(model.transduction_[Y == -1] == 2) == pytest.approx(expected, abs=0.5 / np.sum(Y == -1))
        assert model.share_.asked[2] == pytest.approx(expected)


def test_of_many_samples_a_part_is_used_and_all_get_a_label(monkeypatch):
    monkeypatch.setattr(training, "MAX_SAMPLES", 60)
    model, ensemble = fit_with_ensemble(X, Y)
    assert len(ensemble.codes) == 60
    assert np.count_nonzero(ensemble.codes >= 0) == 24
    assert len(model.transduction_) == 90
    assert model.report_.n_unlabeled == 66


# ------------------------------------------------------------------------------------------- what cannot be averaged


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("samples", "y", "reason"),
    [
        (X[Y != -1], Y[Y != -1], "no sample is unlabeled"),
        (np.ones((30, 2)), np.repeat([1, 2, -1], 10), "the samples are equal"),
    ],
)
def test_nothing_to_average(samples, y, reason):
    model = SemiSVM(random_state=0).fit(samples, y)
    assert model.average_weight_ == 0.0
    assert reason in model.report_.conclusion
    assert str(model.report_).count("\n") < 5
    assert np.isfinite(model.predict_proba(samples)).all()


def test_many_labels_need_no_unlabeled_samples(monkeypatch):
    monkeypatch.setattr(training, "MAX_LABELED", 23)
    model = SemiSVM(random_state=0).fit(X, Y)
    assert "24 labels" in model.report_.conclusion


@pytest.mark.filterwarnings("ignore")
def test_one_label_per_class_says_that_nothing_can_be_checked():
    y = np.full(len(Y), -1)
    for c in (1, 2):
        y[np.flatnonzero(c == Y)[0]] = c
    model = SemiSVM(random_state=0).fit(X, y)
    assert model.report_.supervised_error is None
    assert "too few labels to check" in model.report_.conclusion
    assert "-" in str(model.report_)
    assert np.isfinite(model.predict_proba(X)).all()


def test_report_in_words(fitted):
    text = str(fitted.report_)
    assert "24 labels, 66 samples without one" in text
    assert fitted.report_.conclusion in text
    assert all(separator.name in text for separator in SEPARATORS)


# ------------------------------------------------------------------------------------------- early ends


def test_time_that_is_over_keeps_what_is_finished(clock, monkeypatch):
    fit_separator = fitting.fit_separator

    def slow(*args):
        clock.now += 1.0
        return fit_separator(*args)

    monkeypatch.setattr(fitting, "fit_separator", slow)
    with pytest.warns(ConvergenceWarning, match=r"max_time=20\.5 reached, 3 separators were finished"):
        model = SemiSVM(safety="none", max_time=20.5, random_state=0, n_jobs=1).fit(X, Y)
    assert len(model.report_.separators) == 3
    with pytest.warns(ConvergenceWarning, match="0 separators were finished"):
        model = SemiSVM(safety="none", max_time=2.5, random_state=0, n_jobs=1).fit(X, Y)
    assert model.average_weight_ == 0.0
    assert "in time" in model.report_.conclusion


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    fit_separator, calls = fitting.fit_separator, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return fit_separator(*args)

    monkeypatch.setattr(fitting, "fit_separator", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted, 1 separators were finished"):
        model = SemiSVM(safety="none", random_state=0, n_jobs=1).fit(X, Y)
    assert model.average_weight_ == 1.0
    assert len(calls) == 9


def test_ctrl_c_that_a_solver_hears_ends_the_whole_fit(monkeypatch):
    solve_batch, calls = CCCP.solve_batch, []

    def interrupted(solver, problems, callbacks):
        calls.append(problems)
        solutions = solve_batch(solver, problems, callbacks)
        return [replace(one, status="interrupted") for one in solutions] if len(calls) == 8 else solutions

    monkeypatch.setattr(CCCP, "solve_batch", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted, 3 separators were finished"):
        model = SemiSVM(safety="none", random_state=0, n_jobs=1).fit(X, Y)
    assert len(calls) == 8
    assert len(model.report_.separators) == 3


def test_verbose_prints_a_line_per_fit(capsys):
    SemiSVM(random_state=0, verbose=1, n_jobs=1).fit(X, Y)
    assert capsys.readouterr().out.count("separator ") == 14 * 6


# ------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"safety": "very"}, "safety='very' is not allowed"),
        ({"balance": None}, "balance=None is not allowed"),
        ({"balance": "equal"}, "balance='equal' is not allowed"),
        ({"balance": 1.5}, "balance"),
        ({"max_time": -1.0}, "max_time"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(ValueError) as error:
        SemiSVM(**params).fit(X, Y)
    assert message in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.slow
def test_probabilities_are_calibrated():
    truths, probabilities = [], []
    for seed in range(6):
        samples, y = two_gaussians(260, 260, n_features=4, shift=0.7, seed=seed)
        partly = np.where(np.arange(260) < 60, y, -1)
        model = SemiSVM(safety="none", random_state=0).fit(samples, partly)
        probabilities.append(model.predict_proba(samples[60:])[:, 1])
        truths.append(y[60:] == 2)
    p, t = np.concatenate(probabilities), np.concatenate(truths)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        inside = (p >= low) & (p <= high)
        error = np.sqrt(0.25 / max(inside.sum(), 1))
        assert abs(t[inside].mean() - p[inside].mean()) < 0.12 + 2 * error


def test_several_classes_without_help_have_probabilities_of_votes(monkeypatch):
    give_weight(monkeypatch, 0.0)
    samples, y = blobs(4, n=140, n_labeled=60, distance=1.5)
    model = SemiSVM(random_state=0).fit(samples, y)
    assert model.average_weight_ == 0.0
    np.testing.assert_array_equal(model.predict(samples), model.supervised_.predict(samples))
    np.testing.assert_array_equal(model.decision_function(samples), model.supervised_.decision_function(samples))
    probabilities = model.predict_proba(samples)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(samples))
    truth = blobs(4, n=140, n_labeled=140, distance=1.5)[1]
    rest = y == -1
    confidence = probabilities.max(axis=1)[rest].mean()
    assert abs(confidence - np.mean(model.predict(samples)[rest] == truth[rest])) < 0.15
