"""Every estimator has a page of theory and a case in the table of choices; the citation has the version."""

import re
from pathlib import Path

import pytest

from semisvm import __version__
from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS

DOCS = Path(__file__).parents[1] / "docs"
CLASSES = ESTIMATORS | WRAPPERS | ENSEMBLES

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the sdist has no docs")


def test_every_estimator_is_explained_by_one_page():
    pages = [path.read_text(encoding="utf-8") for path in sorted((DOCS / "theory").glob("*.md"))]
    named = [name for page in pages for group in re.findall(r"```\{estimators\} (.*)", page) for name in group.split()]
    assert sorted(named) == sorted(CLASSES)


def test_every_estimator_is_the_answer_to_a_question():
    source = (DOCS / "extensions" / "choice_tables.py").read_text(encoding="utf-8")
    block = source[source.index("CHOICES = {") : source.index("class Harm")]
    named = [name for answer in re.findall(r": \[(.*?)\]", block, re.DOTALL) for name in re.findall(r'"(\w+)"', answer)]
    assert sorted(named) == sorted(CLASSES)


def test_measured_errors_are_still_where_the_choices_look_for_them():
    rows = re.findall(
        r"^\| `(\w+)` \| [\d.]+ \|.*\*\*[\d.]+ \(\d+\)\*\*", (DOCS / "choosing.md").read_text(), re.MULTILINE
    )
    assert len(rows) >= 10
    assert set(rows) <= set(CLASSES)


@pytest.mark.skipif(".dev" in __version__, reason="a release is cited")
def test_the_citation_has_the_version_of_the_package():
    citation = (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]
