"""Verdicts against arithmetic by hand."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from toy import ERRORS, KNOWN, TOY, BrokenLSSVM, fitted_error, known_error, protocol, raising

from semisvm import LSSVM
from semisvm.bench import (
    Cell,
    DataFolder,
    Printed,
    Protocol,
    Records,
    Result,
    Setup,
    compare,
    compare_cell,
    run_task,
    tally,
)
from semisvm.bench.comparison import count_sentence, one_choice
from semisvm.bench.protocol import SELECTIONS, binomial_error

SETUP = Setup(DataFolder())
OURS = math.sqrt(8 / 3) / 2  # standard error of ERRORS


def results(values, cell=KNOWN, **others):
    return [Result("toy", *cell.key, draw, value, 1.0, 1.0, draw, **others) for draw, value in enumerate(values)]


def compared(printed, values=ERRORS):
    return compare_cell(Cell("first", "known", printed, known_error), results(values))


def test_standard_errors_of_printed_numbers():
    assert Printed(10.0, 3.0, 9).standard_error == pytest.approx(1.0)
    assert Printed(10.0, test_size=900).standard_error == pytest.approx(1.0)  # sqrt(10 * 90 / 900)
    drawn = Printed.of_draws(6.0, ERRORS, 500)  # four choices of the labeled samples, the same test samples
    assert (drawn.mean, drawn.draws) == (6.0, 4)
    assert drawn.standard_error == pytest.approx(math.sqrt(OURS**2 + 6 * 94 / 500))
    assert replace(drawn, one_test_set=False).standard_error == pytest.approx(OURS)
    for few in ({}, {"deviation": 1.0, "one_test_set": True}):
        with pytest.raises(ValueError, match=r"10.0 % needs a number of test samples, or a deviation"):
            Printed(10.0, **few)


def test_the_binomial_error_is_the_deviation_of_a_count():
    counts = np.random.default_rng(0).binomial(400, 0.07, 20000) / 4.0
    assert binomial_error(7.0, 400) == pytest.approx(counts.std(), rel=0.02)


def test_ours():
    one = compared(Printed(6.5, 1.0, 4))
    assert (one.n_draws, one.mean, one.seconds) == (4, 6.0, 1.0)
    assert one.deviation == pytest.approx(math.sqrt(8 / 3))
    assert one.standard_error == pytest.approx(OURS)
    assert one.difference == pytest.approx(-0.5)
    assert one.margin == pytest.approx(2 * math.sqrt(OURS**2 + 0.5**2))


@pytest.mark.parametrize("side, beyond, within", [(1, "better", "matched"), (-1, "worse", "matched")])
def test_the_verdict_changes_at_two_standard_errors(side, beyond, within):
    margin = 2 * math.sqrt(OURS**2 + 0.5**2)  # a printed deviation of 1 over 4 draws
    assert compared(Printed(6.0 + side * margin * 1.001, 1.0, 4)).verdict == beyond
    assert compared(Printed(6.0 + side * margin * 0.999, 1.0, 4)).verdict == within


def test_a_single_draw_has_a_binomial_error():
    one = compared(Printed(10.0, test_size=900), [14.0])
    assert one.deviation is None
    assert one.standard_error == pytest.approx(math.sqrt(14 * 86 / 900))
    assert one.margin == pytest.approx(2 * math.sqrt(14 * 86 / 900 + 1.0))
    assert one.verdict == "worse"


def test_no_printed_number_no_verdict():
    assert compared(None).verdict == "no printed figure"
    assert compared(None).mean == 6.0


def test_a_failed_draw_is_never_left_out_of_the_mean():
    one = compare_cell(KNOWN, [*results(ERRORS[:3]), *results([None], failure="RuntimeError: no")])
    assert (one.verdict, one.mean, one.why) == ("failed", None, "RuntimeError: no")


def test_one_choice_for_all_draws():
    axes = {"C": [1, 10, 100]}
    errors = [[3.0, 5.0, 9.0], [9.0, 5.0, 4.0]]
    drawn = [Result("toy", "r", "c", i, min(e), 1.0, 1.0, i, axes=axes, errors=e) for i, e in enumerate(errors)]
    assert one_choice(drawn) == 5.0
    assert one_choice(results(ERRORS)) is None
    assert one_choice(drawn[:1]) is None
    assert one_choice([drawn[0], *results([1.0])]) is None


def test_cells_without_data_are_not_run_and_have_no_number():
    first, second, third = compare(TOY, Records(), SETUP)
    assert [one.verdict for one in (first, second, third)] == ["not run"] * 3
    assert [one.mean for one in (first, second, third)] == [None] * 3
    assert first.why == "no results yet"
    assert second.why == "needs the data set nosuch (no data folder was given)"
    assert third.why == "needs another program"


def test_only_cells_as_in_the_paper_count():
    differing = Cell("first", "other balance", KNOWN.printed, known_error, differs="another balance")
    table = protocol(KNOWN, differing)
    counts = tally(compare(table, Records((), (*results(ERRORS), *results(ERRORS, differing))), SETUP))
    assert counts.as_printed == {"matched": 1}
    assert counts.differing == {"matched": 1}
    both = counts + tally(compare(table, Records(), SETUP))
    assert count_sentence(both.as_printed) == "1 of 1 compared cells matched or better (100 %): 1 matched, 1 not run"


@pytest.mark.parametrize("model, verdict", [(LSSVM(1.0, gamma=0.1), "matched"), (BrokenLSSVM(1.0, gamma=0.1), "worse")])
def test_a_broken_solver_is_worse(model, verdict):
    cell = Cell("two Gaussians", "LS-SVM", Printed(3.0, 1.5, 10), partial(fitted_error, model))
    table = protocol(cell)
    done = Records((), tuple(run_task(table, SETUP, task) for task in table.tasks(SETUP)))
    assert compare(table, done, SETUP)[0].verdict == verdict


def test_a_solver_that_raises_fails_and_does_not_count_as_reached():
    table = protocol(Cell("first", "raising", KNOWN.printed, raising), draws=1)
    done = Records((), tuple(run_task(table, SETUP, task) for task in table.tasks(SETUP)))
    comparisons = compare(table, done, SETUP)
    assert comparisons[0].verdict == "failed"
    assert comparisons[0].why == "RuntimeError: the solver broke"
    assert count_sentence(tally(comparisons).as_printed).startswith("0 of 1 compared cells")


def test_a_protocol_is_a_figure_or_a_table():
    cell = Cell("10", "SVM", None, None, why_not="no data", x=10.0)
    known = {"title": "", "reference": "", "url": "", "selection": SELECTIONS[0], "draws": 1}
    assert Protocol("figure", cells=(cell,), x_label="labels", **known).cells == (cell,)
    for cells, label in [((cell,), ""), ((cell, replace(cell, row="20", x=None)), "labels")]:
        with pytest.raises(ValueError, match="a figure, with x_label and an x for every cell, or a table with neither"):
            Protocol("figure", cells=cells, x_label=label, **known)
