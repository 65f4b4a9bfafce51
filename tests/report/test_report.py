"""The report of a labeled table: true numbers, nothing that is loaded from elsewhere, nothing that is run."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from semisvm import CCCPTSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.report import Card, LabeledTable, RowToCheck, content, render
from semisvm.report.content import HeldOutError
from semisvm.report.features import top_features
from semisvm.report.pictures import class_balance, confidence_curve, score_map

HOSTILE = "<script>alert('x')</script> $y$"


@pytest.fixture(scope="module")
def table():
    X, truth = make_two_gaussians(120, 4, 1.0, random_state=0)
    names = np.array([HOSTILE, "b&b"], dtype=object)
    y = np.array([None if v == -1 else names[v - 1] for v in hide_labels(truth, 20, random_state=0)], dtype=object)
    model = CCCPTSVM(unlabeled=None).fit(X, y)
    labels = model.transduction_.astype(object)
    confidence = np.where([v is None for v in y], 0.5 + np.arange(120) / 240, 1.0)
    return LabeledTable(
        "rows.csv",
        "topic",
        X,
        y,
        labels,
        confidence,
        model,
        ["x", "", "z", "<b>w</b>"],
        [HeldOutError("supervised", 0.1, 0.05, 0.2)],
        "The unlabeled rows helped.",
        [RowToCheck(7, "b&b", 0.51, "uncertain", "<i>cell</i>")],
        [Card("Data", [("rows", "120")])],
        ["a note"],
    )


def test_page_needs_no_other_file_and_runs_nothing(table):
    page = render(table)
    assert "<script" not in page.lower()
    assert not re.search(r"(src|href)\s*=\s*[\"']?(?!#)", page.replace("xlink:href", ""))
    assert not re.search(r"url\(\s*['\"]?http", page)
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;w&lt;/b&gt;" in page
    assert "&lt;i&gt;cell&lt;/i&gt;" in page
    assert page.count("<svg ") == 4
    assert page == render(table)


def test_page_shows_the_numbers(table):
    page = render(table)
    for c, given, filled in zip(table.classes, table.counts(True).values(), table.counts(False).values()):
        assert given + filled == sum(label == c for label in table.labels)
        assert f'<td class="number">{given}</td><td class="number">{filled}</td>' in page
    assert "120 rows, 20 with a label, 100 filled by CCCPTSVM" in page
    assert '<td class="number">10.0 %</td><td class="number">5.0 to 20.0</td>' in page


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_features_are_sorted_by_their_correlation_with_the_score(table, form):
    scores = table.scores
    assert list(scores) == [table.estimator.classes_[1]]
    f = next(iter(scores.values()))
    np.testing.assert_allclose(f, table.estimator.decision_function(table.X))
    found = top_features(form(table.X), f, table.feature_names)
    expected = {name: np.corrcoef(x, f)[0, 1] for name, x in zip(table.feature_names, table.X.T) if name}
    assert {one.name: pytest.approx(one.correlation) for one in found} == expected
    sizes = [abs(one.correlation) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_pictures_show_what_was_counted(table):
    bars = class_balance(table).axes[0].patches
    given = table.counts(True)
    assert [bar.get_width() for bar in bars[:2]] == pytest.approx([100 * given[c] / 20 for c in table.classes])
    x, y = confidence_curve(table).axes[0].lines[0].get_data()
    filled = table.confidence[~table.is_given]
    assert (x[-1], y[-1]) == (100, pytest.approx(100 * filled.mean()))
    assert y[0] == pytest.approx(100 * filled.max())


def test_page_without_matplotlib(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = render(table)
    assert "<svg" not in page
    assert "semisvm[plots]" in page
    assert "Rows most worth a look" in page


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_map_of_two_classes_is_the_score_and_what_varies_beside_it(form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * [5.0, 3.0, 1.0, 1.0, 1.0]
    f = X[:, 0] + 0.1 * rng.standard_normal(200)
    places = score_map(form(X), f[:, None])
    np.testing.assert_array_equal(places[:, 0], f)
    assert abs(np.corrcoef(places.T)[0, 1]) < 1e-9
    assert abs(np.corrcoef(places[:, 1], X[:, 1])[0, 1]) > 0.95


def test_map_of_three_classes_keeps_the_distances_of_their_scores():
    Z = np.random.default_rng(0).standard_normal((50, 2))
    scores = Z @ np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0].T
    places = score_map(None, scores)
    np.testing.assert_allclose(pdist(places), pdist(Z))


def test_map_of_equal_rows_is_finite():
    assert np.isfinite(score_map(np.ones((10, 3)), np.zeros((10, 1)))).all()


def test_of_many_rows_a_part_is_shown(table, monkeypatch):
    monkeypatch.setattr(content, "MAX_SAMPLE", 30)
    part = replace(table)
    assert part.is_given[part.sample].sum() == 20
    assert len(part.sample) == 50
    assert "pictures show 50 of them" in render(part)
