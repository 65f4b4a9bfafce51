"""Labeling in rounds with a learner whose scores are fixed: order, trace, every way to end, and quotas."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semisvm.self_training import rounds
from semisvm.self_training.rounds import label_in_rounds
from semisvm.self_training.selection import ClassQuota, DensitySelector, ThresholdSelector, predict_from_scores
from semisvm.solvers import StoppingRule
from semisvm.solvers import base as stopping

N = 24


def given_codes(n=N, k=2):
    """Codes and the mask of the samples in the fit: 4 are labeled, one of them and the last 3 are not part of it."""
    codes, present = np.full(n, -1), np.ones(n, dtype=bool)
    codes[:4] = [0, 1, k - 1, 1]
    present[3], present[n - 3 :] = False, False
    return codes, present, np.arange(4, n - 3)


def random_scores(n=N, n_columns=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, n_columns))


def decreasing_scores(n=N):
    """Scores of either sign whose size decreases from sample to sample."""
    return (np.linspace(1.0, 0.1, n) * np.where(np.arange(n) % 3, 1.0, -1.0))[:, None]


def by_index(counts, added):
    """The first samples are typical of one class, the last of the other; what is added to the densities is listed."""
    index = np.arange(float(N))
    densities = SimpleNamespace(
        log_densities=lambda samples: np.column_stack([-index, index])[samples], add=lambda *given: added.append(given)
    )
    return DensitySelector(densities, np.array(counts), 0.5, 0.5)


class FixedLearner:
    """A learner whose scores never change; Ctrl-C ends the training of a number, or leaves a complete one."""

    def __init__(self, scores, use_margin=True, interrupt_in=None, cut_short_in=None):
        self._scores, self.use_margin = scores, use_margin
        self._interrupt_in, self._cut_short_in = interrupt_in, cut_short_in
        self.interrupted, self.added, self.scored = False, [], []

    def add(self, samples, codes):
        self.added.append((samples.copy(), codes.copy()))
        if len(self.added) == self._interrupt_in:
            raise KeyboardInterrupt
        self.interrupted = len(self.added) == self._cut_short_in

    def scores(self, samples):
        self.scored.append(samples.copy())
        return self._scores[samples]

    def details(self):
        return {"n_trainings": len(self.added)}


def label(learner, selector, codes, present, quota=None, **stop):
    """Label in rounds; Ctrl-C must not leave the rounds where there is a model (it would end the tests)."""
    try:
        return label_in_rounds(learner, selector, codes, present, quota, StoppingRule(**stop))
    except KeyboardInterrupt:
        pytest.fail("Ctrl-C left the rounds though there was a model")


def two_per_round(interrupt_in=None, cut_short_in=None, **stop):
    """Two classes, two samples a round, the most confident first: 9 rounds. The result and the learner."""
    codes, present, _ = given_codes()
    learner = FixedLearner(decreasing_scores(), True, interrupt_in, cut_short_in)
    return label(learner, ThresholdSelector(0.05, 0.5, 2), codes, present, **stop), learner


def assert_consistent(result, codes, present, learner=None):
    """Labels, rounds, confidences and trace say the same; a learner was trained with exactly these labels."""
    unlabeled = np.flatnonzero(present & (codes < 0))
    labeled = unlabeled[result.iteration[unlabeled] > 0]
    never = np.setdiff1d(np.flatnonzero(codes < 0), labeled)
    assert_array_equal(result.codes[codes >= 0], codes[codes >= 0])
    assert_array_equal(result.iteration[codes >= 0], 0)
    assert_array_equal(result.codes[never], -1)
    assert_array_equal(result.iteration[never], -1)
    assert np.isnan(result.confidence[np.setdiff1d(np.arange(len(codes)), labeled)]).all()
    assert (result.codes[labeled] >= 0).all()
    assert np.isfinite(result.confidence[labeled]).all()
    left = len(unlabeled)
    for number, row in enumerate(result.trace, 1):
        now = np.flatnonzero(result.iteration == number)
        left -= len(now)
        assert len(now)
        assert (row["step"], row["labeled"], row["left"]) == (number, len(now), left)
        assert row["confidence"] == pytest.approx(result.confidence[now].mean())
        assert row["n_trainings"] == number
    assert result.iteration.max() == len(result.trace)
    assert left == len(unlabeled) - len(labeled)
    if learner is not None:
        samples, given = (np.concatenate(column) for column in zip(*learner.added))
        assert_array_equal(np.sort(samples), np.sort(np.r_[np.flatnonzero(present & (codes >= 0)), labeled]))
        assert_array_equal(given, result.codes[samples])


# -------------------------------------------------------------------- the rounds


@pytest.mark.parametrize("k, use_margin", [(2, True), (3, True), (3, False)], ids=["f", "margins", "probabilities"])
@pytest.mark.parametrize("k_best", [None, 3])
def test_every_unlabeled_sample_gets_one_label(k, use_margin, k_best):
    codes, present, unlabeled = given_codes(k=k)
    scores = random_scores(N, 1 if k == 2 else 3)
    if not use_margin:
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    learner, kept = FixedLearner(scores, use_margin), codes.copy()
    result = label(learner, ThresholdSelector(0.8, 0.7, k_best), codes, present)
    assert result.status == "all_labeled"
    assert_array_equal(codes, kept)
    expected = predict_from_scores(scores, use_margin)
    assert_array_equal(result.codes[unlabeled], expected.codes[unlabeled])
    assert_array_equal(result.confidence[unlabeled], expected.confidence[unlabeled])
    assert_consistent(result, codes, present, learner)
    thresholds = np.array([row["threshold"] for row in result.trace])
    assert len(thresholds) > 2
    assert (np.diff(thresholds) <= 0).all()
    number = result.iteration[unlabeled]
    assert (result.confidence[unlabeled] >= thresholds[number - 1]).all()
    if k_best is None:  # and not before
        assert (result.confidence[unlabeled] < np.r_[np.inf, thresholds][number - 1]).all()
    else:
        assert max(row["labeled"] for row in result.trace) == k_best


def test_most_confident_samples_are_labeled_first():
    result, learner = two_per_round()
    assert result.status == "all_labeled"
    assert_array_equal(result.iteration[4:21], 1 + np.arange(17) // 2)
    assert_array_equal(result.codes[4:21], np.arange(4, 21) % 3 > 0)
    assert [len(samples) for samples, _ in learner.added] == [3, *[2] * 8, 1]
    for number, samples in enumerate(learner.scored):
        assert_array_equal(samples, np.arange(4 + 2 * number, 21))


def test_only_candidates_are_scored_and_the_densities_get_what_is_labeled():
    codes, present, unlabeled = given_codes()
    scores, added = decreasing_scores(), []
    learner = FixedLearner(scores)
    result = label(learner, by_index([1, 2], added), codes, present)
    assert result.status == "all_labeled"
    assert_consistent(result, codes, present, learner)
    for samples, row in zip(learner.scored, result.trace):
        assert_array_equal(samples, np.unique(np.r_[unlabeled[:1], unlabeled[-2:]]))
        now = np.flatnonzero(result.iteration == row["step"])
        assert_array_equal(now, samples[np.abs(scores[samples, 0]) >= row["threshold"]])
        unlabeled = np.setdiff1d(unlabeled, now)
    assert len(added) == len(learner.added) == len(result.trace) + 1
    for one, other in zip(added, learner.added):
        assert_array_equal(one, other)


# -------------------------------------------------------------------- ends


def test_no_unlabeled_sample_is_all_labeled():
    codes, present, _ = given_codes()
    present[4:] = False
    learner = FixedLearner(decreasing_scores())
    result = label(learner, ThresholdSelector(0.5), codes, present)
    assert (result.status, result.trace) == ("all_labeled", [])
    assert_consistent(result, codes, present, learner)


@pytest.mark.parametrize("threshold, n_rounds", [(0.5, 1), (2.0, 0)])
def test_rounds_end_where_no_sample_is_confident(threshold, n_rounds):
    codes, present, unlabeled = given_codes()
    learner = FixedLearner(decreasing_scores())
    result = label(learner, ThresholdSelector(threshold), codes, present)
    assert (result.status, len(result.trace)) == ("no_change", n_rounds)
    above = np.abs(decreasing_scores()[unlabeled, 0]) > threshold
    assert_array_equal(result.iteration[unlabeled], np.where(above, 1, -1))
    assert_consistent(result, codes, present, learner)


@pytest.mark.parametrize("max_iter", [0, 1, 3, 9, 10])
def test_max_iter_limits_the_rounds(max_iter):
    result, learner = two_per_round(max_iter=max_iter)
    assert len(result.trace) == min(max_iter, 9)
    assert result.status == ("max_iter" if max_iter < 9 else "all_labeled")
    assert_consistent(result, *given_codes()[:2], learner)  # the last labels are trained with, too


def test_no_round_begins_after_max_time(monkeypatch):
    result, learner = two_per_round(max_time=-1.0)
    assert (result.status, result.trace) == ("max_time", [])
    assert_consistent(result, *given_codes()[:2], learner)
    assert two_per_round(max_time=600.0)[0].status == "all_labeled"
    seconds = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))  # a second between any two checks
    result, learner = two_per_round(max_time=3.5)
    assert (result.status, len(result.trace)) == ("max_time", 3)
    assert_consistent(result, *given_codes()[:2], learner)


@pytest.mark.parametrize("last", [1, 4, 9, None])
def test_callback_sees_every_round_and_may_stop(last):
    seen = []
    result, learner = two_per_round(callback=lambda row: seen.append(row) or row["step"] == last or None)
    assert seen == result.trace
    assert len(seen) == (last or 9)
    assert result.status == ("all_labeled" if len(seen) == 9 else "stopped")
    assert_consistent(result, *given_codes()[:2], learner)


def test_interrupt_in_the_first_training_is_raised():
    codes, present, _ = given_codes()
    learner = FixedLearner(decreasing_scores(), interrupt_in=1)
    with pytest.raises(KeyboardInterrupt):
        label_in_rounds(learner, ThresholdSelector(0.5), codes, present, None, StoppingRule())


@pytest.mark.parametrize("call", [2, 3, 10])
def test_interrupt_in_a_training_takes_back_the_labels_of_its_round(call):
    result, _ = two_per_round(interrupt_in=call)
    assert (result.status, len(result.trace)) == ("interrupted", call - 2)
    assert_array_equal(result.iteration[4:21] > 0, np.arange(17) < 2 * (call - 2))
    assert_consistent(result, *given_codes()[:2])


@pytest.mark.parametrize("call", [1, 3, 10])
def test_training_that_was_cut_short_ends_the_rounds(call):
    result, learner = two_per_round(cut_short_in=call)
    assert (result.status, len(result.trace)) == ("interrupted", call - 1)
    assert_consistent(result, *given_codes()[:2], learner)


def interrupted_before_line(number):
    """The result of three rounds where Ctrl-C comes before a line of the rounds or of their stopping rule.

    Lines are counted from the first training on; None if there are fewer until the rounds end.
    """
    n_lines, previous = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal n_lines
        if frame.f_code.co_filename not in (rounds.__file__, stopping.__file__):
            return None
        has_model = frame.f_locals.get("has_model", bool(learner.added))
        if event == "line" and has_model and stop.running:
            n_lines += 1
            if n_lines == number:
                raise KeyboardInterrupt
        return trace

    codes, present, _ = given_codes()
    learner, selector, stop = FixedLearner(decreasing_scores()), ThresholdSelector(0.05, 0.5, 2), StoppingRule(3)
    sys.settrace(trace)
    try:
        result = label_in_rounds(learner, selector, codes, present, None, stop)
    except KeyboardInterrupt:
        pytest.fail(f"Ctrl-C left the rounds at line {number}")
    finally:
        sys.settrace(previous)
    return result if n_lines >= number else None


def test_interrupt_at_any_line_leaves_labels_and_trace_consistent():
    number, n_rounds = 1, []
    while (result := interrupted_before_line(number)) is not None:
        assert result.status == "interrupted"
        assert_consistent(result, *given_codes()[:2])
        n_rounds.append(len(result.trace))
        number += 1
    assert n_rounds == sorted(n_rounds)
    assert set(n_rounds) == {0, 1, 2, 3}


# -------------------------------------------------------------------- quotas


@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.1, 0.9), (0.2, 0.5, 0.3)])
@pytest.mark.parametrize("k_best", [1, 4, None])
def test_classes_get_their_counts(shares, k_best):
    k = len(shares)
    codes, present, unlabeled = given_codes(64, k)
    scores = random_scores(64) + 3.0 if k == 2 else random_scores(64, 3) + [4.0, 0.0, 0.0]  # mostly of one class
    quota = ClassQuota(np.array(shares), len(unlabeled))
    counts, learner = quota.remaining.copy(), FixedLearner(scores)
    result = label(learner, ThresholdSelector(0.5, 0.8, k_best), codes, present, quota)
    assert result.status == "all_labeled"
    assert_array_equal(np.bincount(result.codes[unlabeled], minlength=k), counts)
    assert_consistent(result, codes, present, learner)
    if k == 2:  # by rank
        f = scores[unlabeled, 0]
        assert f[result.codes[unlabeled] == 1].min() > f[result.codes[unlabeled] == 0].max()


@pytest.mark.parametrize("k, c", [(2, 0), (2, 1), (3, 0), (3, 2)])
def test_only_class_with_a_quota_takes_all_samples(k, c):
    codes, present, unlabeled = given_codes(k=k)
    scores = random_scores(N, 1 if k == 2 else k)
    learner = FixedLearner(scores)
    result = label(learner, ThresholdSelector(0.5), codes, present, ClassQuota(np.eye(k)[c], len(unlabeled)))
    assert (result.status, len(result.trace)) == ("all_labeled", 1)
    assert_array_equal(result.codes[unlabeled], c)
    f = np.column_stack([-scores, scores]) if k == 2 else scores
    assert_array_equal(result.confidence[unlabeled], f[unlabeled, c])
    assert_consistent(result, codes, present, learner)


def test_quota_needs_all_scores_but_only_candidates_are_labeled():
    codes, present, unlabeled = given_codes()
    quota, learner = ClassQuota(np.array([0.5, 0.5]), len(unlabeled)), FixedLearner(random_scores() + 5.0)
    result = label(learner, by_index([2, 2], []), codes, present, quota, max_iter=3)
    assert result.status == "max_iter"
    for samples, row in zip(learner.scored, result.trace):
        assert_array_equal(samples, unlabeled)
        now = np.flatnonzero(result.iteration == row["step"])
        assert np.isin(now, np.r_[unlabeled[:2], unlabeled[-2:]]).all()
        unlabeled = np.setdiff1d(unlabeled, now)
    assert_array_equal(quota.remaining, [9, 8] - np.bincount(result.codes[result.iteration > 0], minlength=2))
    assert_consistent(result, codes, present, learner)


def test_quota_is_unused_where_no_sample_is_confident():
    codes, present, unlabeled = given_codes()
    quota, learner = ClassQuota(np.array([0.5, 0.5]), len(unlabeled)), FixedLearner(decreasing_scores())
    result = label(learner, ThresholdSelector(50.0), codes, present, quota)
    assert result.status == "no_change"
    assert_array_equal(quota.remaining, [9, 8])
    assert_consistent(result, codes, present, learner)
