"""The report in a browser: what it looks like on paper and on a phone."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from semisvm import SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.report import Card, LabeledTable, RowToCheck, render

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = os.environ.get("SEMISVM_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here; name one in SEMISVM_CHROMIUM"),
]
MEASURE = """<!doctype html><iframe id="page" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<p id="found"></p><script>window.onload = () => {{
const root = document.getElementById("page").contentDocument.documentElement;
document.getElementById("found").textContent =
    "width " + root.scrollWidth + " height " + root.scrollHeight + " pictures " + root.querySelectorAll("svg").length;
}}</script>"""


def browse(*options):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    X, truth = make_two_gaussians(200, 4, random_state=0)
    y = np.array([None, "a long name of a class", "b"], dtype=object)[hide_labels(truth, 20, random_state=0) % 4 % 3]
    model = SemiSVM(unlabeled=None, random_state=0).fit(X, y)
    labels = model.transduction_.astype(object)
    rows = [RowToCheck(7, "b", 0.51, "separators disagree", "some long cells, " * 10)]
    cards = [Card("Data", [("file", "x" * 60)]), Card("Model", [("method", "SemiSVM")])]
    table = LabeledTable("rows.csv", "topic", X, y, labels, np.full(200, 0.9), model, list("abcd"), [], "", rows, cards)
    folder = tmp_path_factory.mktemp("report")
    (folder / "report.html").write_text(render(table), encoding="utf-8")
    return folder


@pytest.mark.parametrize("width", [390, 1100])
def test_nothing_is_wider_than_the_window(folder, width):
    (folder / "measure.html").write_text(MEASURE.format(width=width))
    page = browse("--virtual-time-budget=4000", "--dump-dom", f"file://{folder}/measure.html")
    found = re.search(r"width (\d+) height (\d+) pictures (\d+)", page)
    assert found, page
    assert int(found[1]) <= width
    assert int(found[2]) > 1000
    assert int(found[3]) == 4


def test_it_is_printed_on_a_few_pages(folder):
    browse(f"--print-to-pdf={folder}/report.pdf", f"file://{folder}/report.html")
    pages = len(re.findall(rb"/Type\s*/Page\b", (folder / "report.pdf").read_bytes()))
    assert 2 <= pages <= 8
