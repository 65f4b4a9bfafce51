"""Records of CSV files, their delimiters, and tables that keep every byte."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import repeatable

from semisvm.tables import InputError
from semisvm.tables.cells import unquote
from semisvm.tables.delimited import DelimitedTable
from semisvm.tables.records import check_records, scan_records, sniff_delimiter

TEXTS = [
    'a,b\n1,"x, y"\n2,"say ""hi"""\n',
    'a,b\r\n1,"two\r\nlines"\r\n\r\n2,"" \r\n',
    'a;b\n5" pipe;x\n"quoted"tail;y',
    "a\tb\r1\t2\r3\t4\r",
]


def all_cells(text, delimiter):
    data = text.encode()
    records = scan_records(data, delimiter)
    return [[cell.decode() for cell in records.cells(data, i)] for i in range(len(records.widths))]


@pytest.mark.parametrize("text", TEXTS)
def test_records_hold_all_characters(text):
    delimiter = sniff_delimiter(text.encode(), "b")
    data, found = text.encode(), all_cells(text, delimiter)
    starts = scan_records(data, delimiter).starts
    for cells, start, end in zip(found, starts, starts[1:]):
        line = data[start:end].decode()
        assert line.startswith(delimiter.join(cells))
        assert line[len(delimiter.join(cells)) :] in ("", "\n", "\r", "\r\n")
    assert starts[0] == 0
    assert starts[-1] == len(data)
    assert all(len(cells) in (0, 2) for cells in found)


def test_values_of_quoted_cells():
    found = [[unquote(cell) for cell in cells] for cells in all_cells(TEXTS[0] + '"a""b",""', ",")]
    assert found == [["a", "b"], ["1", "x, y"], ["2", 'say "hi"'], ['a"b', ""]]


@repeatable(150)
@given(rows=st.lists(st.lists(st.text('ab,;" \n\r\té', max_size=5), min_size=2, max_size=2), min_size=1, max_size=5),
       end=st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_cells_of_the_csv_module(rows, end):
    """What Python's writer quotes is read again as it was."""
    text = io.StringIO()
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    assert [[unquote(cell) for cell in cells] for cells in all_cells(text.getvalue(), ",")] == rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_detected(delimiter):
    lines = [["text", "n", "label"], ['"one, two; three|four"', "1,5" if delimiter == ";" else "1", "a"]] * 3
    assert sniff_delimiter("\n".join(map(delimiter.join, lines)).encode(), "label") == delimiter


def test_rare_delimiters_only_where_all_records_agree():
    assert sniff_delimiter(b"name:size:kind\na:1:x\nb:2:y\n", "kind") == ":"
    assert sniff_delimiter(b"name size kind\na 1 x\nb 2 y\n", None) == " "
    assert sniff_delimiter(b"name size kind\na 1 x\nb 2 y z\n", None) == ","
    assert sniff_delimiter(b"full name\nAnn Lee\nBob Ray\n", "full name") == ","
    assert sniff_delimiter(b"full name\nAnn Lee\nBob Ray\n", "other") == ","
    assert sniff_delimiter(b"time\n12:30\n", None) == ","
    assert sniff_delimiter(b"a,b\n1,2\n", "b", "\t") == ","


def test_lines_of_messages():
    for text, message in {
        'a,b\n1,"x\n2,y\n': "quote opened in line 2 is not closed",
        'a,b\n"1\n1",x\n\n2\n': "line 5 has 1 cells and the header has 2",
    }.items():
        with pytest.raises(InputError, match=message):
            check_records(scan_records(text.encode(), ","), text.encode(), ",")


FILES = {
    "plain": "a,topic\n1,x\n2,\n3,y\n",
    "quotes": 'a,topic,b\n"1, ""2""","x",5" long\r\n2,"",é\r\n\r\n  \r\n"two\nlines","y",\n4,,"z"',
    "empty lines before the header": "\n \r\na,topic\n1,x\n2,",
    "old Mac": "a;topic\r1;x\r2;\r",
}


RESULTS = {
    "plain": {"topic\n": "topic,topic_confidence\n", "1,x": "1,x,1", "2,\n": "2,x,0.2500\n", "3,y": "3,y,1"},
    "quotes": {
        "topic,b\n": "topic,b,topic_confidence\n",
        'long\r\n2,"",é': 'long,1\r\n2,"x",é,0.2500',
        '"y",\n4,,"z"': '"y",,1\n4,"x","z",0.2500',
    },
    "empty lines before the header": {"topic": "topic,topic_confidence", "1,x": "1,x,1", "2,": "2,x,0.2500"},
    "old Mac": {"topic": "topic;topic_confidence", "1;x": "1;x,1".replace(",", ";"), "2;": "2;x;0.2500"},
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("case", FILES)
def test_all_other_bytes_are_unchanged(tmp_path, case, encoding):
    text = FILES[case]
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode(encoding))
    table = DelimitedTable.read(path, None, "topic")
    position = table.names.index("topic")
    cells = table.target_cells(position)
    labels = [None if cell else "x" for cell in cells]
    out = io.BytesIO()
    table.write(out, position, labels, "topic_confidence", [0.25] * table.n_rows)
    result = tmp_path / "out.csv"
    result.write_bytes(out.getvalue())
    again = DelimitedTable.read(result, None, "topic")
    assert again.names == [*table.names, "topic_confidence"]
    assert again.target_cells(position) == [cell or "x" for cell in cells]
    for i in range(len(table.names)):
        assert i == position or again.column(i) == table.column(i)
    assert again.column(len(table.names)).values == ["1" if label is None else "0.2500" for label in labels]
    expected = text
    for old, new in RESULTS[case].items():
        expected = expected.replace(old, new)
    assert out.getvalue() == expected.encode(encoding)


def test_blocks_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("semisvm.tables.delimited.BLOCK", 3)
    rows = [f"{i},{'x' if i % 4 else ''}" for i in range(20)]
    (tmp_path / "rows.csv").write_text("\n".join(["n,topic", *rows]))
    table = DelimitedTable.read(tmp_path / "rows.csv", None, "topic")
    assert table.column(0).values == [str(i) for i in range(20)]
    out = io.BytesIO()
    table.write(out, 1, [None if i % 4 else "x" for i in range(20)], "c", np.full(20, 0.5).tolist())
    expected = [f"{i},x,{'1' if i % 4 else '0.5000'}" for i in range(20)]
    assert out.getvalue().decode() == "\n".join(["n,topic,c", *expected])
