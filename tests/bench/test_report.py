"""The reports hold the numbers, the verdicts and where they were measured."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from toy import KNOWN, TOY, known_error, protocol

from semisvm.bench import Cell, DataFolder, Measurement, Printed, Setup, compare, html, markdown, run_protocol, totals

SETUP = Setup(DataFolder())
WORSE = Cell("first", "stand-in", Printed(1.0, 0.1, 4), known_error, differs="drawn <by us>")


class Cells(HTMLParser):
    """The texts and classes of the cells of all tables."""

    def __init__(self, page):
        super().__init__()
        self.found, self.kind = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.kind = dict(attributes).get("class", "") if tag == "td" else None

    def handle_data(self, data):
        if self.kind is not None:
            self.found.append((data, self.kind))


@pytest.fixture
def measurement(tmp_path):
    table = protocol(*TOY.cells, WORSE, selection=TOY.selection)
    records = run_protocol(table, SETUP, tmp_path / "r.jsonl", command="semisvm bench papers")
    return Measurement(table, compare(table, records, SETUP), records)


def test_markdown(measurement):
    page = markdown(measurement)
    lines = page.splitlines()
    assert lines[0] == "# A toy | table"
    assert "Selection: chosen on the test samples." in page
    row = next(line for line in lines if line.startswith("| first | known"))
    assert row.startswith("| first | known | 6.00 ± 1.00 | 6.00 ± 1.63 | 4 of 4 | +0.00 | 1.91 | matched |")
    absent = next(line for line in lines if line.startswith("| second"))
    reason = "not run: needs the data set nosuch (no data folder was given)"
    assert absent == f"| second | absent | 5.00 |  |  |  |  | {reason} |  |"
    assert "toy: 1 of 1 compared cells matched or better (100 %): 1 matched, 2 not run." in lines
    assert "toy, cells that differ from the paper: 0 of 1 compared cells matched or better (0 %): 1 worse." in lines
    assert "- Drawn <by us> (first, stand-in)." in lines
    assert "- Worse, and not known why: first, stand-in." in lines
    assert f"numpy {measurement.records.headers[0]['numpy']}" in page
    assert lines[-1].endswith("; semisvm bench papers")


def test_remarks_stand_where_the_verdict_is_worse(tmp_path):
    known, same = replace(WORSE, remark="the set is harder"), replace(KNOWN, remark="never shown")
    table = protocol(same, known)
    records = run_protocol(table, SETUP, tmp_path / "r.jsonl")
    page = markdown(Measurement(table, compare(table, records, SETUP), records))
    assert "- Worse: first, stand-in. The set is harder." in page.splitlines()
    assert "never shown" not in page
    assert "not known why" not in page


def test_the_short_form_says_so(tmp_path):
    short = SETUP._replace(quick=True)
    records = run_protocol(TOY, short, tmp_path / "r.jsonl")
    assert "- Short form: smaller grids and few draws" in markdown(
        Measurement(TOY, compare(TOY, records, short), records)
    )


def test_html_is_one_file_with_colored_verdicts(measurement):
    page = html([measurement])
    cells = Cells(page).found
    assert ("matched", "matched") in cells
    assert ("worse", "worse") in cells
    assert ("6.00 ± 1.63", "number") in cells
    assert "Drawn &lt;by us&gt;" in page
    assert "td.worse { background: #f6d2d2" in page
    assert "<script" not in page
    assert "<link" not in page


def test_ways_to_choose_parameters_are_counted_apart(measurement, tmp_path):
    fixed = protocol(KNOWN, name="fixed")
    records = run_protocol(fixed, SETUP, tmp_path / "f.jsonl")
    other = Measurement(fixed, compare(fixed, records, SETUP), records)
    lines = totals([measurement, other, other])
    assert lines[0] == "Fixed parameters: 2 of 2 compared cells matched or better (100 %): 2 matched."
    assert lines[1].startswith("Chosen on the test samples: 1 of 1 compared")
    assert lines[2].startswith("Chosen on the test samples, cells that differ from the paper: 0 of 1")
