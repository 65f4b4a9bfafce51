"""``semisvm label`` on random tables: every empty label filled and every other cell unchanged, or one sentence."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import assert_refused, read_csv
from random_cases import repeatable

CELLS = {
    "numbers": st.floats(-1e12, 1e12, allow_nan=False).map(lambda value: f"{value:.6g}"),
    "whole numbers": st.integers(-5, 5).map(str),
    "words": st.sampled_from(["red", "green", "blue", "", "a b", 'x "y"', "1,5"]),
    "text": st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12),
    "dates": st.dates().map(str),
    "mixed": st.one_of(st.just(""), st.integers(0, 9).map(str), st.just("see note")),
    "one value": st.just("same"),
}
TARGETS = [["yes", "no", ""], ["1", "2", "", ""], ["a", "b", "c", "", ""], ["x", ""], ["", ""], ["yes", "no"]]


@st.composite
def tables(draw):
    """Rows of a table with columns of several kinds and a target that is empty in some rows."""
    n = draw(st.integers(1, 30))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = [draw(st.lists(CELLS[kind], min_size=n, max_size=n)) for kind in kinds]
    target = draw(st.lists(st.sampled_from(draw(st.sampled_from(TARGETS))), min_size=n, max_size=n))
    names = [f"{kind} {number}" for number, kind in enumerate(kinds)]
    rows = [dict(zip(names, cells)) | {"target": label} for *cells, label in zip(*columns, target)]
    return rows, draw(st.sampled_from([",", ";", "\t"]))


def check_command(run, folder, case):
    rows, delimiter = case
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    source = folder / "table.csv"
    source.write_bytes(text.getvalue().encode())
    done = run("label", "table.csv", "--target", "target", "-o", "out.csv", "--force")
    assert source.read_bytes() == text.getvalue().encode()
    if done.code:
        assert_refused(done)
        assert not (folder / "out.csv").exists()
        return
    filled = read_csv(folder / "out.csv", delimiter)
    (folder / "out.csv").unlink()
    given = {row["target"] for row in rows} - {""}
    assert len(filled) == len(rows)
    for old, new in zip(rows, filled):
        assert new["target"] == old["target"] or (old["target"] == "" and new["target"] in given)
        assert 0.0 <= float(new["target_confidence"]) <= 1.0
        assert {name: new[name] for name in old if name != "target"} == {k: v for k, v in old.items() if k != "target"}


@repeatable(12)
@given(case=tables())
def test_random_tables_are_filled_or_refused(run, tmp_path, case):
    check_command(run, tmp_path, case)


@pytest.mark.slow
@repeatable(150)
@given(case=tables())
def test_many_random_tables_are_filled_or_refused(run, tmp_path, case):
    check_command(run, tmp_path, case)
