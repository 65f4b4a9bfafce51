"""Partitions hold every row of a table once and in order, and files that are no table are refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semisvm.tables import InputError, partitions
from semisvm.tables.partitions import PartitionedTable


def write(folder, tables, row_group_size=None):
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table, folder / name, row_group_size=row_group_size)
    return folder


def column(table, name, path=None):
    found = [one.read().table[name].to_pylist() for one in table.partitions if path in (None, one.path)]
    return [value for part in found for value in part]


@pytest.mark.parametrize("max_rows", [7, 30, 1000])
def test_large_row_groups_are_cut_and_small_ones_joined(monkeypatch, tmp_path, max_rows):
    monkeypatch.setattr(partitions, "MAX_ROWS", max_rows)
    monkeypatch.setattr(partitions, "BATCH_ROWS", 5)
    rows = pa.table({"x": np.arange(100), "y": [str(i) for i in range(100)]})
    table = PartitionedTable.open(write(tmp_path / "rows", {"a.parquet": rows}, row_group_size=20))
    assert column(table, "x") == list(range(100))
    assert table.n_rows == 100
    assert max(one.n_rows for one in table.partitions) <= max_rows
    assert len(table.partitions) == {7: 15, 30: 5, 1000: 1}[max_rows]
    assert table.partitions[-1].read(["y"]).table["y"].to_pylist()[-1] == "99"


def test_numbers_in_the_names_of_files_order_them(tmp_path):
    files = {f"part.{i}.parquet": pa.table({"x": [i]}) for i in (10, 2, 1)}
    assert column(PartitionedTable.open(write(tmp_path / "rows", files)), "x") == [1, 2, 10]


def test_types_of_all_files_are_joined(tmp_path):
    """As pandas writes them: integers with a missing one are floats, and a column of None has no type."""
    files = {
        "1.parquet": pa.table({"n": [1, 2], "t": pa.nulls(2)}),
        "2.parquet": pa.table({"n": [1.5, None], "t": pa.array(["a", None]).dictionary_encode()}),
        "3.parquet": pa.table({"n": pa.array([], pa.int64()), "t": pa.array([], pa.string()).dictionary_encode()}),
        "_SUCCESS": pa.table({}),
    }
    table = PartitionedTable.open(write(tmp_path / "rows", files))
    assert column(table, "n") == [1.0, 2.0, 1.5, None]
    assert column(table, "t") == [None, None, "a", None]
    cells, codes = table.partitions[1].read(["t"]).distinct_target_cells(0)
    assert [cells[code] for code in codes] == ["a", None]


REFUSED = {
    "is empty": {},
    r"holds other things than Parquet files \(notes.txt\)": {"a.parquet": {"x": [1]}, "notes.txt": {"x": [1]}},
    r"b.parquet has other columns than a.parquet \(x, z\)": {"a.parquet": {"x": [1]}, "b.parquet": {"z": [1]}},
    "their order": {"a.parquet": {"x": [1], "z": [1]}, "b.parquet": {"z": [1], "x": [1]}},
    "columns of different types": {"a.parquet": {"x": [1]}, "b.parquet": {"x": ["a"]}},
    "has no rows": {"a.parquet": {"x": []}},
}


@pytest.mark.parametrize("message", REFUSED)
def test_folders_that_are_no_table_are_refused(tmp_path, message):
    files = {name: pa.table(columns) for name, columns in REFUSED[message].items()}
    with pytest.raises(InputError, match=message):
        PartitionedTable.open(write(tmp_path / "rows", files))


def test_other_formats_and_damaged_files_are_refused(tmp_path):
    (tmp_path / "bad.parquet").write_text("no Parquet")
    for name, message in (("bad.parquet", "cannot be read as Parquet"), ("rows.csv", "rows.csv is CSV")):
        with pytest.raises(InputError, match=message):
            PartitionedTable.open(tmp_path / name)


def test_file_that_changes_while_it_is_read_is_refused(tmp_path):
    folder = write(tmp_path / "rows", {"a.parquet": pa.table({"x": [1, 2, 3]})})
    (partition,) = PartitionedTable.open(folder).partitions
    write(folder, {"a.parquet": pa.table({"x": [1, 2]})})
    with pytest.raises(InputError, match="was changed while it was read"):
        partition.read()
