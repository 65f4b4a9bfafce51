"""The pictures show the numbers of the report."""

import sys
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from toy import KNOWN, TOY, known_error, protocol

from semisvm.bench import (
    FIXED,
    Cell,
    DataFolder,
    Measured,
    Measurement,
    Printed,
    Protocol,
    Setup,
    compare,
    draw_pictures,
    html,
    markdown,
    run_protocol,
)
from semisvm.bench.line_plots import scaling_exponent
from semisvm.bench.pictures import draw, draw_svg

SETUP = Setup(DataFolder())


def shifted(amount, setup, draw):
    return Measured(known_error(setup, draw).value + amount)


def power(exponent, x, setup, draw):
    return Measured(2.0 * x**exponent)


def traced(objectives, setup, draw):
    seconds = [0.1 * (step + 1) for step in range(len(objectives))]
    return Measured(objectives[-1], trace={"seconds": seconds, "objective": list(objectives)})


def timed(error, seconds, setup, draw):
    return Measured(error, seconds=seconds)


def figure_of(cells, draws=4, **fields):
    return Protocol("figure", "A figure", "Nobody, 1900.", "", FIXED, tuple(cells), draws, **fields)


CURVES = figure_of(
    [
        *(Cell(f"{x}", "ours", Printed(7.0 + x, 1.0, 4), partial(shifted, x), x=x) for x in (30.0, 10.0, 20.0)),
        Cell("10", "alone", None, partial(shifted, 0.0), x=10.0),
    ],
    x_label="labels",
)


@pytest.fixture
def measure(tmp_path):
    def measured(one):
        records = run_protocol(one, SETUP, tmp_path / f"{one.name}.jsonl")
        return Measurement(one, compare(one, records, SETUP), records)

    return measured


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_column_is_a_curve_of_means_with_standard_errors(measure):
    (ax,) = draw(measure(CURVES)).axes
    ours, alone = ax.containers[:2]
    assert ours.lines[0].get_xydata() == pytest.approx(np.array([[10, 16], [20, 26], [30, 36]]))
    standard_error = np.sqrt(8 / 3) / 2
    (bars,) = ours.lines[2]
    for (x, mean), segment in zip(ours.lines[0].get_xydata(), bars.get_segments()):
        assert segment == pytest.approx(np.array([[x, mean - standard_error], [x, mean + standard_error]]))
    assert alone.lines[0].get_xydata() == pytest.approx(np.array([[10, 6]]))
    (printed,) = [line for line in ax.lines if line.get_markerfacecolor() == "none" and len(line.get_xdata())]
    assert printed.get_xydata() == pytest.approx(np.array([[10, 17], [20, 27], [30, 37]]))
    assert printed.get_color() == ours.lines[0].get_color() != alone.lines[0].get_color()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("labels", "error in percent")
    assert texts(ax) == ["ours", "alone", "printed"]


def test_seconds_have_fitted_exponents(measure):
    sizes = (100.0, 1000.0, 10000.0)
    cells = [Cell(f"{x:g}", f"n^{k}", None, partial(power, k, x), x=x) for k in (1, 1.5) for x in sizes]
    (ax,) = draw(measure(figure_of(cells, 1, x_label="samples", measures="seconds of a fit"))).axes
    assert texts(ax) == ["n^1: exponent 1.00", "n^1.5: exponent 1.50"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert scaling_exponent(np.array([5.0, 5.0]), np.array([1.0, 2.0])) is None


def test_a_table_shows_printed_numbers_with_margins_and_ours(measure):
    worse = Cell("first", "worse", Printed(1.0, 0.1, 4), known_error)
    measurement = measure(protocol(KNOWN, worse, *TOY.cells[1:]))
    (ax,) = draw(measurement).axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first", "known", "worse"]
    assert [container.lines[0].get_xdata()[0] for container in ax.containers] == [6.0, 1.0]
    for one, container in zip(measurement.comparisons, ax.containers):
        (segment,) = container.lines[2][0].get_segments()
        assert np.ptp(segment[:, 0]) == pytest.approx(2 * one.margin)
    ours = [line for line in ax.lines if str(line.get_label()).startswith("ours")]
    assert [(line.get_label(), line.get_xdata()[0]) for line in ours] == [("ours, matched", 6.0), ("ours, worse", 6.0)]
    assert len({line.get_color() for line in ours}) == len({line.get_marker() for line in ours}) == 2


def test_numbers_against_seconds(measure):
    points = {"fast": (9.0, 0.01), "slow": (7.0, 10.0), "slow too": (7.0, 10.0)}
    cells = [Cell(name, "all", None, partial(timed, *point)) for name, point in points.items()]
    measurement = measure(figure_of(cells, 2, picture="time"))
    assert [one.seconds for one in measurement.comparisons] == [0.01, 10.0, 10.0]
    figure = draw(measurement)
    (ax,) = figure.axes
    assert ax.containers[0].lines[0].get_xydata() == pytest.approx(np.array([[0.01, 9], [10, 7], [10, 7]]))
    assert sorted(text.get_text() for text in ax.texts) == sorted(points)
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in ax.texts if text.arrow_patch is None]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_traces_are_those_of_the_first_draw(measure):
    paths = {"one": (5.0, 3.0, 2.0), "other": (4.0, 2.5)}
    cells = [Cell(row, name, None, partial(traced, path)) for row in "ab" for name, path in paths.items()]
    figure = draw(measure(figure_of(cells, 2, picture="trace", measures="objective")))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["a", "b"]
    for ax in figure.axes:
        one, other = ax.lines
        assert one.get_xdata() == pytest.approx([0.1, 0.2, 0.3])
        assert one.get_ydata()[:2] == pytest.approx([3.0, 1.0])
        assert other.get_ydata() == pytest.approx([2.0, 0.5])
        assert texts(ax) == ["one", "other"]


@pytest.mark.parametrize("fields", [{}, {"picture": "time"}, {"picture": "trace"}, {"x_label": "labels"}])
def test_nothing_measured_is_no_picture(measure, fields):
    x = 1.0 if "x_label" in fields else None
    absent = Cell("a", "b", Printed(5.0, test_size=100), known_error, needs=("nosuch",), x=x)
    measurement = measure(figure_of([absent], **fields))
    assert draw(measurement) is None
    assert draw_pictures([measurement]) == ({}, "")


def test_the_reports_hold_the_picture(measure):
    measurement = measure(CURVES)
    pictures, note = draw_pictures([measurement])
    assert note == ""
    assert ElementTree.fromstring(pictures["figure"]).tag.endswith("svg")
    assert pictures["figure"] == draw_svg(measurement)
    page = html([measurement], pictures)
    assert page.count("<svg ") == 1
    assert '<svg role="img" aria-label="A figure" ' in page
    assert "![A figure](figure.svg)" in markdown(measurement, "figure.svg").splitlines()
    assert "<svg" not in html([measurement])


def test_without_matplotlib_the_report_says_so(measure, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    measurement = measure(CURVES)
    pictures, note = draw_pictures([measurement])
    assert pictures == {}
    assert "pip install 'semisvm[plots]'" in note
    assert note in markdown(measurement, note).splitlines()
    assert "need the package matplotlib" in html([measurement], pictures, note)


def test_unknown_pictures_are_refused():
    with pytest.raises(ValueError, match="picture='pie' of figure is none of"):
        figure_of([KNOWN], picture="pie")


def test_pyplot_knows_no_figure_of_a_report(measure):
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    draw_pictures([measure(CURVES)])
    assert pyplot.get_fignums() == before
