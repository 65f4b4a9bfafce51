"""Rounds of labeling: verdicts, thresholds, ranks and room against plain counts, runs with stubs for the machine."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from semisvm.estimators._choices import Confident, Helped, Room, Verdict, by_lead, lowered, verdict
from semisvm.estimators._rounds import Limit, label_in_rounds

UNLIMITED = Limit()


def random_scores(n=30, columns=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns))


# ---- verdicts ----


@pytest.mark.parametrize("lead", [True, False])
def test_one_column_is_f_of_two_classes(lead):
    found = verdict(np.array([[0.3], [-2.0], [0.0], [1e-9]]), lead)
    np.testing.assert_array_equal(found.codes, [1, 0, 0, 1])
    np.testing.assert_array_equal(found.confidence, [0.3, 2.0, 0.0, 1e-9])


def test_two_columns_of_opposite_sign_are_one():
    f = random_scores()
    one, two = verdict(f, True), verdict(np.hstack([-f, f]), True)
    np.testing.assert_array_equal(one.codes, two.codes)
    np.testing.assert_allclose(one.confidence, two.confidence, rtol=1e-15)


def test_of_several_classes_the_largest_wins_by_half_its_lead():
    scores = np.array([[1.0, 4.0, 2.0], [-1.0, -5.0, -1.5], [0.0, 0.0, 0.0], [3.0, 1.0, 3.0]])
    kept = scores.copy()
    found = verdict(scores, True)
    np.testing.assert_array_equal(found.codes, [1, 0, 0, 0])
    np.testing.assert_array_equal(found.confidence, [1.0, 0.25, 0.0, 0.0])
    np.testing.assert_array_equal(scores, kept)
    scores = random_scores(40, 5)
    ordered = np.sort(scores, axis=1)
    np.testing.assert_array_equal(verdict(scores, True).confidence, 0.5 * (ordered[:, -1] - ordered[:, -2]))


def test_of_probabilities_the_largest_is_the_confidence():
    found = verdict(np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]), False)
    np.testing.assert_array_equal(found.codes, [1, 0, 0])
    np.testing.assert_array_equal(found.confidence, [0.8, 0.6, 0.5])


def test_some_rows_of_a_verdict():
    found = Verdict(np.array([2, 0, 1]), np.array([0.1, 0.2, 0.3])).take(np.array([2, 0]))
    np.testing.assert_array_equal(found.codes, [1, 2])
    np.testing.assert_array_equal(found.confidence, [0.3, 0.1])


# ---- thresholds that fall ----


@pytest.mark.parametrize("decay", [0.9, 0.5, 0.999, 0.01])
@pytest.mark.parametrize("start", [0.1, 1.0, 37.0])
def test_a_threshold_falls_by_whole_factors_until_it_is_reached(start, decay):
    for top in start * 10.0 ** -np.random.default_rng(0).uniform(0.01, 4.0, 50):
        expected = start
        while expected > top:
            expected *= decay
        found = lowered(start, decay, top)
        assert found <= top
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("decay", [0.99, 0.9, 0.7, 0.5, 0.3])
def test_a_threshold_is_reached_however_powers_are_rounded(decay):
    for power in range(1, 200):
        for top in (0.1 * decay**power, np.nextafter(0.1 * decay**power, 0), np.nextafter(0.1 * decay**power, 1)):
            found = lowered(0.1, decay, top)
            assert found <= top
            assert found > decay * top * (1 - 1e-9)


@pytest.mark.parametrize("start", [0.1, 1.0])
def test_a_threshold_that_is_met_exactly_falls_no_further(start):
    for power in range(1, 100):
        assert lowered(start, 0.5, start * 0.5**power) == start * 0.5**power  # exact in binary numbers


@pytest.mark.parametrize("top", [0.0, -0.3])
def test_a_threshold_falls_to_what_no_factor_reaches(top):
    assert lowered(0.1, 0.9, top) == top


@pytest.mark.parametrize("top", [1e-12, 1e-150, 1e-300, 5e-324])
def test_a_threshold_falls_to_tiny_numbers(top):
    found = lowered(0.1, 0.9, top)
    assert 0.0 <= found <= top
    if top > 1e-290:
        assert found > 0.9 * top * (1 - 1e-9)


# ---- who is looked at ----


def order_by_difference(log_densities, c):
    G = np.exp(log_densities)
    return np.argsort(-(G[:, c] - np.delete(G, c, axis=1).max(axis=1)), kind="stable")


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_lead_is_that_over_the_densest_other_class(k):
    for seed in range(20):
        found = 3.0 * random_scores(50, k, seed)
        for c in range(k):
            np.testing.assert_array_equal(by_lead(found, c), order_by_difference(found, c))


@pytest.mark.parametrize("k", [2, 4])
def test_leads_that_underflow_are_ranked_as_if_they_did_not(k):
    found = 3.0 * random_scores(50, k)
    for c in range(k):
        np.testing.assert_array_equal(by_lead(found - 5000.0, c), order_by_difference(found, c))


def test_leads_of_densities_far_apart():
    found = np.array([[-5000.0, -5001.0], [-4000.0, -4000.5], [-1.0, -3000.0], [-6000.0, -10.0], [-9000.0, -8000.0]])
    np.testing.assert_array_equal(by_lead(found, 0), [2, 1, 0, 4, 3])
    np.testing.assert_array_equal(by_lead(found, 1), [3, 4, 0, 1, 2])


def test_leads_of_densities_that_are_equal_or_zero():
    inf = np.inf
    found = np.array([[-inf, -2.0], [-inf, -inf], [-2.0, -inf], [-1.0, -1.0], [-3.0, -2.0], [-1.0, -inf]])
    np.testing.assert_array_equal(by_lead(found, 0), [5, 2, 1, 3, 4, 0])  # e^-1, e^-2, 0, 0, e^-3 - e^-2, -e^-2


def helped(log_densities, counts, rank="density"):
    learned = []
    helper = SimpleNamespace(
        log_densities=lambda rows: log_densities[rows], add=lambda rows, codes: learned.append((rows, codes))
    )
    return Helped(helper, np.array(counts), 0.5, 0.5, rank), learned


def test_the_densest_rows_of_each_class_are_looked_at():
    found = np.array([[0.0, -9.0], [-1.0, -8.0], [-2.0, -1.0], [-3.0, -2.0], [-9.0, -7.0], [-0.5, -0.1]])
    np.testing.assert_array_equal(helped(found, [1, 1])[0].candidates(np.arange(6)), [0, 5])
    np.testing.assert_array_equal(helped(found, [2, 1])[0].candidates(np.arange(6)), [0, 5])  # both like row 5
    np.testing.assert_array_equal(helped(found, [3, 2])[0].candidates(np.arange(6)), [0, 1, 2, 5])
    np.testing.assert_array_equal(helped(found, [0, 3])[0].candidates(np.arange(6)), [2, 3, 5])
    np.testing.assert_array_equal(helped(found, [50, 1])[0].candidates(np.arange(6)), np.arange(6))


def test_candidates_are_positions_among_the_open_rows():
    found = np.array([[0.0, -9.0], [-1.0, -8.0], [-2.0, -1.0], [-3.0, -2.0], [-9.0, -7.0], [-0.5, -0.1]])
    np.testing.assert_array_equal(helped(found, [1, 1])[0].candidates(np.array([4, 3, 1])), [1, 2])


def test_candidates_by_lead():
    found = np.array([[0.0, -0.1], [-1.0, -8.0], [-2.0, -1.0], [-3.0, -0.9], [-9.0, -7.0]])
    np.testing.assert_array_equal(helped(found, [1, 1])[0].candidates(np.arange(5)), [0])
    np.testing.assert_array_equal(helped(found, [1, 1], "lead")[0].candidates(np.arange(5)), [1, 3])
    np.testing.assert_array_equal(helped(found, [2, 2], "lead")[0].candidates(np.arange(5)), [0, 1, 2, 3])


def test_a_helper_is_told_of_the_rows():
    choice, learned = helped(np.zeros((3, 2)), [1, 1])
    choice.learn("rows", "codes")
    assert learned == [("rows", "codes")]


def test_helped_rows_are_sure_from_the_threshold_on_which_falls():
    choice = helped(np.zeros((3, 2)), [1, 1])[0]
    np.testing.assert_array_equal(choice.sure(np.array([0.49, 0.5, 0.7])), [1, 2])
    assert choice.threshold == 0.5
    np.testing.assert_array_equal(choice.sure(np.array([0.12, 0.2, 0.13])), [1, 2])
    assert choice.threshold == 0.125
    np.testing.assert_array_equal(choice.sure(np.array([0.3, 0.1])), [0])  # and does not rise again
    np.testing.assert_array_equal(choice.sure(np.array([0.0, 0.0])), [0, 1])


# ---- who is sure enough ----


def test_rows_above_the_threshold_are_sure():
    choice = Confident(0.5)
    np.testing.assert_array_equal(choice.candidates(np.array([7, 3, 9])), [0, 1, 2])
    np.testing.assert_array_equal(choice.sure(np.array([0.6, 0.5, 0.4, 0.51])), [0, 3])
    np.testing.assert_array_equal(choice.sure(np.array([0.5, 0.1])), [])
    assert choice.threshold == 0.5
    assert choice.learn(np.arange(2), np.arange(2)) is None


def test_a_threshold_that_falls_is_met_exactly():
    choice = Confident(0.5, decay=0.5)
    np.testing.assert_array_equal(choice.sure(np.array([0.5, 0.4, 0.8])), [0, 2])
    assert choice.threshold == 0.5
    np.testing.assert_array_equal(choice.sure(np.array([0.3, 0.25, 0.2])), [0, 1])
    assert choice.threshold == 0.25
    np.testing.assert_array_equal(choice.sure(np.zeros(2)), [0, 1])
    assert choice.threshold == 0.0


@pytest.mark.parametrize("decay", [None, 0.5])
def test_only_the_surest_are_taken(decay):
    confidence = np.array([0.6, 0.9, 0.1, 0.7, 0.8, 0.7])
    for most, expected in ((1, [1]), (2, [1, 4]), (3, [1, 3, 4]), (4, [1, 3, 4, 5]), (5, [0, 1, 3, 4, 5])):
        np.testing.assert_array_equal(Confident(0.5, decay, most).sure(confidence), expected)
    np.testing.assert_array_equal(Confident(0.5, decay, 50).sure(confidence), [0, 1, 3, 4, 5])
    np.testing.assert_array_equal(Confident(0.5, decay, 2).sure(0.1 * confidence), [] if decay is None else [1, 4])


# ---- room ----


@pytest.mark.parametrize("k", [2, 3, 7])
def test_room_sums_to_the_rows_and_is_the_nearest_to_the_shares(k):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        shares, count = rng.dirichlet(np.ones(k)), int(rng.integers(1, 200))
        left = Room(shares, count).left
        assert left.sum() == count
        assert (np.abs(left - shares * count) < 1.0).all()
        rest = shares * count - np.floor(shares * count)
        extra = left - np.floor(shares * count)
        assert rest[extra == 1].min(initial=1.0) >= rest[extra == 0].max(initial=0.0)  # the largest remainders


def test_room_of_shares_that_are_rounded_up():
    np.testing.assert_array_equal(Room(np.array([0.71, 0.29]), 100).left, [71, 29])
    np.testing.assert_array_equal(Room(np.array([0.5, 0.3, 0.2]), 8).left, [4, 2, 2])
    np.testing.assert_array_equal(Room(np.array([1.0, 0.0]), 5).left, [5, 0])
    np.testing.assert_array_equal(Room(np.array([1 / 3, 1 / 3, 1 / 3]), 4).left, [2, 1, 1])


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.95])
def test_moved_scores_of_two_classes_have_as_many_positive_rows_as_there_is_room_for(share):
    scores = random_scores(40) + 2.0
    room = Room(np.array([1.0 - share, share]), 40)
    moved = room.moved(scores)
    assert (moved > 0).sum() == round(40 * share) == room.left[1]
    np.testing.assert_allclose(moved - scores, np.full((40, 1), (moved - scores)[0]), atol=1e-12)  # by one number
    ordered = np.sort(moved[:, 0])[::-1]
    assert ordered[room.left[1] - 1] == pytest.approx(-ordered[room.left[1]], abs=1e-12)  # half way


def test_moved_scores_of_several_classes_have_a_threshold_for_each():
    scores = random_scores(60, 4) + [5.0, 0.0, -3.0, 1.0]
    room = Room(np.array([0.1, 0.2, 0.3, 0.4]), 60)
    moved = room.moved(scores)
    np.testing.assert_array_equal((moved > 0).sum(axis=0), [6, 12, 18, 24])
    np.testing.assert_allclose(np.ptp(moved - scores, axis=0), np.zeros(4), atol=1e-12)


def test_shares_are_those_of_what_is_left():
    room = Room(np.array([0.5, 0.5]), 40)
    room.take(np.r_[np.ones(15, dtype=int), np.zeros(5, dtype=int)])
    np.testing.assert_array_equal(room.left, [15, 5])
    assert (room.moved(random_scores(20)) > 0).sum() == 5


@pytest.mark.parametrize("columns", [3, 4])
def test_a_class_without_room_gets_nobody(columns):
    shares = np.r_[0.0, np.full(columns - 1, 1.0 / (columns - 1))]
    room = Room(shares, 30)
    scores = random_scores(30, columns) + 10.0 * (np.arange(columns) == 0)
    scores[3, 0], scores[3, 1:] = 100.0, -100.0  # the first of a class without room, the last of all others
    found = verdict(room.moved(scores), True)
    assert 0 not in found.codes
    assert np.isfinite(found.confidence).all()
    none = Room(np.array([1.0, 0.0]), 30)
    assert not verdict(none.moved(random_scores(30) + 9.0), True).codes.any()


def test_the_surest_rows_of_a_class_fit_into_its_room():
    room = Room(np.array([0.25, 0.5, 0.25]), 8)  # 2, 4, 2
    codes = np.array([0, 0, 0, 1, 2, 2, 2, 1])
    confidence = np.array([0.3, 0.9, 0.4, 0.1, 0.5, 0.5, 0.5, 0.2])
    np.testing.assert_array_equal(room.fitting(Verdict(codes, confidence)), [1, 2, 3, 4, 5, 7])
    room.take(np.array([0, 0, 1]))
    np.testing.assert_array_equal(room.left, [0, 3, 2])
    np.testing.assert_array_equal(room.fitting(Verdict(codes, confidence)), [3, 4, 5, 7])


# ---- runs ----

GIVEN = [0, 1, 0, 1]  # the last of them takes no part, nor do the last rows of all
OUT = 3


def start(n=24, k=2):
    codes, part = np.full(n, -1), np.ones(n, dtype=bool)
    codes[:4] = GIVEN if k == 2 else [0, 1, 2, 1]
    part[3], part[n - OUT :] = False, False
    return codes, part, np.arange(4, n - OUT)


def learner_of(scores, lead=True, broken=(None, 0), ended_in=None):
    """A machine whose scores do not change; Ctrl-C comes in the n-th call of a method, or is noticed after it."""
    calls = {"add": [], "scores": [], "facts": []}

    def called(name, *given):
        calls[name].append(given)
        if broken == (name, len(calls[name])):
            raise KeyboardInterrupt

    def add(rows, codes):
        called("add", rows.copy(), codes.copy())
        learner.interrupted = len(calls["add"]) == ended_in

    def of(rows):
        called("scores", rows.copy())
        return scores[rows]

    def facts():
        called("facts")
        return {"machines": len(calls["add"])}

    learner = SimpleNamespace(add=add, scores=of, facts=facts, lead=lead, interrupted=False, calls=calls)
    return learner


def surest_first(scores, broken=(None, 0), ended_in=None, **limit):
    """A run of two classes that labels two rows a round, the surest first, whenever Ctrl-C comes."""
    codes, part, _ = start(len(scores))
    learner = learner_of(scores, True, broken, ended_in)
    try:
        return label_in_rounds(learner, Confident(0.05, 0.5, 2), codes, part, None, Limit(**limit)), learner
    except KeyboardInterrupt:
        raise AssertionError("Ctrl-C came through though there was a machine") from None


def falling(n=24):
    """Scores of either sign that are the nearer to zero the later the row."""
    return (np.linspace(1.0, 0.1, n) * np.where(np.arange(n) % 3, 1.0, -1.0))[:, None]


def assert_consistent(done, learner, codes, part, trained=True):
    """Whatever the end: labels, steps, confidences and the trace tell the same, and the machine knows all of it."""
    open_rows = np.flatnonzero(part & (codes < 0))
    labeled = open_rows[done.step[open_rows] > 0]
    never = np.setdiff1d(np.flatnonzero(codes < 0), labeled)
    np.testing.assert_array_equal(done.codes[codes >= 0], codes[codes >= 0])
    np.testing.assert_array_equal(done.step[codes >= 0], 0)
    np.testing.assert_array_equal(done.codes[never], -1)
    np.testing.assert_array_equal(done.step[never], -1)
    assert np.isnan(done.confidence[np.setdiff1d(np.arange(len(codes)), labeled)]).all()
    assert (done.codes[labeled] >= 0).all()
    assert np.isfinite(done.confidence[labeled]).all()
    left = len(open_rows)
    for number, row in enumerate(done.trace, 1):
        now = np.flatnonzero(done.step == number)
        left -= len(now)
        assert row["step"] == number
        assert (row["labeled"], row["left"]) == (len(now), left)
        assert len(now)
        assert row["confidence"] == pytest.approx(done.confidence[now].mean())
        assert row["machines"] == number
    assert done.step.max() == len(done.trace)
    assert left == len(open_rows) - len(labeled)
    given = np.flatnonzero(part & (codes >= 0))
    rows = np.concatenate([rows for rows, _ in learner.calls["add"]])
    said = np.concatenate([said for _, said in learner.calls["add"]])
    assert len(np.unique(rows)) == len(rows)
    if trained:
        np.testing.assert_array_equal(np.sort(rows), np.sort(np.r_[given, labeled]))
        np.testing.assert_array_equal(said, done.codes[rows])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("lead", [True, False], ids=["decisions", "probabilities"])
@pytest.mark.parametrize("most", [None, 1, 3])
def test_every_open_row_gets_one_label(k, lead, most):
    codes, part, open_rows = start(k=k)
    scores = random_scores(24, 1 if k == 2 else 3)
    if not lead:
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) if k > 2 else scores
    learner, kept = learner_of(scores, lead), codes.copy()
    done = label_in_rounds(learner, Confident(0.8, 0.7, most), codes, part, None, UNLIMITED)
    assert done.status == "all_labeled"
    np.testing.assert_array_equal(codes, kept)
    expected = verdict(scores, lead)
    np.testing.assert_array_equal(done.codes[open_rows], expected.codes[open_rows])
    np.testing.assert_array_equal(done.confidence[open_rows], expected.confidence[open_rows])
    assert (done.step[open_rows] > 0).all()
    assert_consistent(done, learner, codes, part)
    assert len(done.trace) > 2
    thresholds = [row["threshold"] for row in done.trace]
    assert thresholds == sorted(thresholds, reverse=True)
    for row in open_rows:  # sure enough then, and not before
        assert done.confidence[row] >= thresholds[done.step[row] - 1]
        if most is None and done.step[row] > 1:
            assert done.confidence[row] < thresholds[done.step[row] - 2]
    if most is not None:
        assert max(row["labeled"] for row in done.trace) == most


def test_rounds_are_numbered_as_they_come():
    done, learner = surest_first(falling())
    np.testing.assert_array_equal(done.step[4:21], 1 + np.arange(17) // 2)
    np.testing.assert_array_equal(done.codes[4:21], np.arange(4, 21) % 3 > 0)
    assert [len(rows) for rows, _ in learner.calls["add"]] == [3, *[2] * 8, 1]
    assert done.status == "all_labeled"
    for number, (rows,) in enumerate(learner.calls["scores"]):
        np.testing.assert_array_equal(rows, np.arange(4 + 2 * number, 21))


def test_no_open_row_is_all_labeled():
    codes, part, _ = start()
    part[4:] = False
    learner = learner_of(falling())
    done = label_in_rounds(learner, Confident(0.5), codes, part, None, UNLIMITED)
    assert done.status == "all_labeled"
    assert done.trace == []
    assert_consistent(done, learner, codes, part)


def test_rounds_end_where_nobody_is_sure():
    codes, part, open_rows = start()
    learner = learner_of(falling())
    done = label_in_rounds(learner, Confident(0.5), codes, part, None, UNLIMITED)
    assert done.status == "no_change"
    np.testing.assert_array_equal(done.step[open_rows], np.where(np.abs(falling()[open_rows, 0]) > 0.5, 1, -1))
    assert len(done.trace) == 1
    assert_consistent(done, learner, codes, part)
    learner = learner_of(falling())
    done = label_in_rounds(learner, Confident(2.0), codes, part, None, UNLIMITED)
    assert done.status == "no_change"
    assert done.trace == []
    assert len(learner.calls["add"]) == 1
    assert_consistent(done, learner, codes, part)


@pytest.mark.parametrize("rounds", [0, 1, 3, 9, 10])
def test_rounds_end_at_their_largest_number(rounds):
    done, learner = surest_first(falling(), rounds=rounds)
    assert len(done.trace) == min(rounds, 9)
    assert done.status == ("max_iter" if rounds < 9 else "all_labeled")
    assert len(learner.calls["add"]) == len(done.trace) + 1  # the last labels are learned too
    assert_consistent(done, learner, *start()[:2])


def test_no_round_begins_after_the_time():
    done, learner = surest_first(falling(), deadline=time.perf_counter() - 1.0)
    assert done.status == "max_time"
    assert done.trace == []
    assert len(learner.calls["add"]) == 1
    assert_consistent(done, learner, *start()[:2])
    late = [time.perf_counter() + 600.0]
    done, learner = surest_first(falling(), deadline=late[0])
    assert done.status == "all_labeled"


def test_time_is_looked_at_between_rounds(monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    done, learner = surest_first(falling(), deadline=2.5)
    assert done.status == "max_time"
    assert len(done.trace) == 3
    assert_consistent(done, learner, *start()[:2])


@pytest.mark.parametrize("at", [1, 4, 9])
def test_a_callback_sees_every_round_and_may_stop(at):
    seen = []

    def callback(row):
        seen.append(row)
        return row["step"] == at

    done, learner = surest_first(falling(), callback=callback)
    assert seen == done.trace
    assert len(seen) == at
    assert done.status == ("stopped" if at < 9 else "all_labeled")  # nothing is left to stop
    assert_consistent(done, learner, *start()[:2])


def test_a_callback_that_says_nothing_stops_nothing():
    seen = []
    done, _ = surest_first(falling(), callback=seen.append)
    assert done.status == "all_labeled"
    assert seen == done.trace


@pytest.mark.parametrize("addition", [1, 3, 10])
def test_a_training_that_was_cut_short_ends_the_rounds(addition):
    done, learner = surest_first(falling(), ended_in=addition)
    assert done.status == "interrupted"
    assert len(done.trace) == addition - 1
    assert_consistent(done, learner, *start()[:2])


@pytest.mark.parametrize("addition", [2, 3, 10])
def test_ctrl_c_in_a_training_takes_back_the_rows_of_its_round(addition):
    done, learner = surest_first(falling(), broken=("add", addition))
    assert done.status == "interrupted"
    assert len(done.trace) == addition - 2
    np.testing.assert_array_equal(done.step[4:21] > 0, np.arange(17) < 2 * (addition - 2))
    assert_consistent(done, learner, *start()[:2], trained=False)


def test_ctrl_c_in_the_first_training_is_raised():
    codes, part, _ = start()
    learner = learner_of(falling(), broken=("add", 1))
    with pytest.raises(KeyboardInterrupt):
        label_in_rounds(learner, Confident(0.5), codes, part, None, UNLIMITED)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_ctrl_c_while_rows_are_looked_at_takes_nothing_back(number):
    done, learner = surest_first(falling(), broken=("scores", number))
    assert done.status == "interrupted"
    assert len(done.trace) == number - 1
    assert_consistent(done, learner, *start()[:2])


@pytest.mark.parametrize("number", [1, 2, 5])
def test_ctrl_c_while_facts_are_gathered_leaves_trace_and_labels_in_step(number):
    done, learner = surest_first(falling(), broken=("facts", number))
    assert done.status == "interrupted"
    assert len(done.trace) == number - 1
    assert_consistent(done, learner, *start()[:2])


def test_ctrl_c_in_a_callback_takes_nothing_back():
    def callback(row):
        if row["step"] == 2:
            raise KeyboardInterrupt

    done, learner = surest_first(falling(), callback=callback)
    assert done.status == "interrupted"
    assert len(done.trace) == 2
    assert_consistent(done, learner, *start()[:2])


def test_ctrl_c_while_the_helper_learns_takes_back_the_rows_of_its_round():
    codes, part, _ = start()
    learner, choice, learned = learner_of(falling()), Confident(0.5, 0.5, 2), []

    def learn(rows, codes):
        learned.append(len(rows))
        if len(learned) == 3:
            raise KeyboardInterrupt

    choice.learn = learn
    done = label_in_rounds(learner, choice, codes, part, None, UNLIMITED)
    assert done.status == "interrupted"
    assert learned == [3, 2, 2]
    assert len(done.trace) == 1
    assert_consistent(done, learner, codes, part)


def test_only_candidates_are_looked_at_and_the_helper_learns_what_is_labeled():
    codes, part, open_rows = start()
    scores = falling()
    densities = np.column_stack([-np.arange(24.0), np.arange(24.0)])  # the first rows of one class, the last of another
    choice, learned = helped(densities, [1, 2])
    learner = learner_of(scores)
    done = label_in_rounds(learner, choice, codes, part, None, UNLIMITED)
    assert done.status == "all_labeled"
    assert_consistent(done, learner, codes, part)
    left = open_rows
    for (rows,), row in zip(learner.calls["scores"], done.trace):
        np.testing.assert_array_equal(rows, np.unique(np.r_[left[:1], left[-2:]]))
        now = np.flatnonzero(done.step == row["step"])
        assert np.isin(now, rows).all()
        np.testing.assert_array_equal(now, rows[np.abs(scores[rows, 0]) >= row["threshold"]])
        left = np.setdiff1d(left, now)
    for (told, codes_told), (rows, said) in zip(learned, learner.calls["add"]):
        np.testing.assert_array_equal(told, rows)
        np.testing.assert_array_equal(codes_told, said)
    assert len(learned) == len(done.trace) + 1


# ---- runs with room ----


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("most", [1, 3, None])
def test_two_classes_end_as_large_as_they_are(share, most):
    codes, part, open_rows = start(44)
    scores = random_scores(44) + 3.0  # all positive, or nearly
    room = Room(np.array([1.0 - share, share]), len(open_rows))
    wanted = room.left.copy()
    learner = learner_of(scores)
    done = label_in_rounds(learner, Confident(0.5, 0.8, most), codes, part, room, UNLIMITED)
    assert done.status == "all_labeled"
    np.testing.assert_array_equal(np.bincount(done.codes[open_rows], minlength=2), wanted)
    f = scores[open_rows, 0]
    assert f[done.codes[open_rows] == 1].min() > f[done.codes[open_rows] == 0].max()  # by rank
    assert_consistent(done, learner, codes, part)


@pytest.mark.parametrize("most", [1, 4, None])
def test_several_classes_end_as_large_as_they_are(most):
    codes, part, open_rows = start(64, k=3)
    scores = random_scores(64, 3) + [4.0, 0.0, 0.0]
    room = Room(np.array([0.2, 0.5, 0.3]), len(open_rows))
    wanted = room.left.copy()
    learner = learner_of(scores)
    done = label_in_rounds(learner, Confident(0.5, 0.8, most), codes, part, room, UNLIMITED)
    assert done.status == "all_labeled"
    np.testing.assert_array_equal(np.bincount(done.codes[open_rows], minlength=3), wanted)
    assert_consistent(done, learner, codes, part)


@pytest.mark.parametrize("c", [0, 1])
def test_the_only_class_left_takes_the_rest_of_two(c):
    codes, part, open_rows = start()
    scores, shares = random_scores(24), np.eye(2)[c]
    learner = learner_of(scores)
    done = label_in_rounds(learner, Confident(0.5), codes, part, Room(shares, len(open_rows)), UNLIMITED)
    assert done.status == "all_labeled"
    np.testing.assert_array_equal(done.codes[open_rows], c)
    np.testing.assert_array_equal(done.step[open_rows], 1)
    np.testing.assert_array_equal(done.confidence[open_rows], (scores if c else -scores)[open_rows, 0])
    assert_consistent(done, learner, codes, part)


@pytest.mark.parametrize("c", [0, 1, 2])
def test_the_only_class_left_takes_the_rest_of_several(c):
    codes, part, open_rows = start(k=3)
    scores, shares = random_scores(24, 3), np.eye(3)[c]
    learner = learner_of(scores)
    done = label_in_rounds(learner, Confident(0.5), codes, part, Room(shares, len(open_rows)), UNLIMITED)
    assert done.status == "all_labeled"
    np.testing.assert_array_equal(done.codes[open_rows], c)
    np.testing.assert_array_equal(done.confidence[open_rows], scores[open_rows, c])


def test_with_room_all_open_rows_are_scored_and_candidates_alone_are_labeled():
    codes, part, open_rows = start()
    densities = np.column_stack([-np.arange(24.0), np.arange(24.0)])
    choice, _ = helped(densities, [2, 2])
    learner = learner_of(random_scores(24) + 5.0)
    room = Room(np.array([0.5, 0.5]), len(open_rows))
    done = label_in_rounds(learner, choice, codes, part, room, Limit(rounds=3))
    assert done.status == "max_iter"
    left = open_rows
    for (rows,), row in zip(learner.calls["scores"], done.trace):
        np.testing.assert_array_equal(rows, left)
        now = np.flatnonzero(done.step == row["step"])
        assert np.isin(now, np.r_[left[:2], left[-2:]]).all()
        left = np.setdiff1d(left, now)
    np.testing.assert_array_equal(room.left, [9, 8] - np.bincount(done.codes[done.step > 0], minlength=2))
    assert_consistent(done, learner, codes, part)


def test_room_stays_where_nobody_is_sure():
    codes, part, open_rows = start()
    room, learner = Room(np.array([0.5, 0.5]), len(open_rows)), learner_of(falling())
    done = label_in_rounds(learner, Confident(50.0), codes, part, room, UNLIMITED)
    assert done.status == "no_change"
    np.testing.assert_array_equal(room.left, [9, 8])
    assert_consistent(done, learner, codes, part)
