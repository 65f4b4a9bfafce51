"""``semisvm label`` on every format: labels filled, everything else unchanged; damaged files refused."""

import bz2
import gzip
import io
import json
import lzma
import re

import numpy as np
import pyarrow as pa
import pytest
from program import (
    N_LABELED,
    TOPICS,
    N,
    X,
    Y,
    assert_filled,
    assert_refused,
    assert_success,
    example_rows,
    file_names,
    read_csv,
    write_csv,
    write_parquet,
)
from pyarrow import feather, ipc
from sklearn.datasets import load_svmlight_file

from semisvm.datasets import hide_labels

HIDDEN = hide_labels(Y, N_LABELED, random_state=0)  # -1 where there is no label


def decompress_zstd(data):
    return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()


def compress_zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSIONS = {
    "gz": (gzip.compress, gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zst": (compress_zstd, decompress_zstd),
}


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_csv(run, tmp_path, ending):
    compress, decompress = COMPRESSIONS[ending]
    plain = write_csv(tmp_path / "rows.csv", example_rows())
    content = compress(plain.read_bytes())
    plain.unlink()
    (tmp_path / f"rows.csv.{ending}").write_bytes(content)
    out = assert_success(run("label", f"rows.csv.{ending}", "--target", "topic"))
    assert f"written to rows.labeled.csv.{ending}" in out
    result = tmp_path / f"rows.labeled.csv.{ending}"
    (tmp_path / "out.csv").write_bytes(decompress(result.read_bytes()))
    assert_filled(example_rows(), read_csv(tmp_path / "out.csv"))
    for damaged in (content[: len(content) // 2], b"no archive at all", content[:40] + bytes(9) + content[49:]):
        (tmp_path / f"bad.tsv.{ending}").write_bytes(damaged)
        assert_refused(
            run("label", f"bad.tsv.{ending}", "--target", "topic"),
            rf"bad\.tsv\.{ending} cannot be decompressed as \w+ .*; the file is damaged or incomplete: copy",
        )


def test_the_name_of_the_output_says_whether_it_is_compressed(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    assert_success(run("label", "rows.csv", "--target", "topic", "-o", "out.csv.gz"))
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    assert_success(run("label", "rows.csv.gz", "--target", "topic", "-o", "out.csv"))
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == (tmp_path / "out.csv").read_bytes()
    assert_refused(run("label", "rows.csv.gz", "--target", "topic", "-o", "out.pq"), r"ends in \.csv\.gz with -o")


# ------------------------------------------------------------------ Arrow


def write_arrow(path, table):
    if path.suffix == ".feather":
        feather.write_feather(table, path)
        return
    writer = ipc.new_stream if path.name.startswith("stream") else ipc.new_file
    with writer(str(path), table.schema) as file:
        file.write_table(table)


def read_arrow(path):
    if path.suffix == ".feather":
        return feather.read_table(path)
    return (ipc.open_stream if path.name.startswith("stream") else ipc.open_file)(path.read_bytes()).read_all()


@pytest.mark.parametrize("name", ["rows.feather", "rows.arrow", "stream.arrow"])
def test_feather_and_arrow_keep_types_and_other_columns(run, tmp_path, name):
    before = write_parquet(tmp_path / "rows.parquet", TOPICS, pa.dictionary(pa.int8(), pa.string()))
    write_arrow(tmp_path / name, before)
    assert_success(run("label", name, "--target", "topic"))
    after = read_arrow(tmp_path / name.replace(".", ".labeled."))
    assert after.column_names == [*before.column_names, "topic_confidence"]
    assert after.schema.field("topic").type == before.schema.field("topic").type
    assert after.drop_columns(["topic", "topic_confidence"]).equals(before.drop_columns(["topic"]))
    assert np.mean([v == TOPICS[y] for v, y in zip(after["topic"].to_pylist(), Y)]) > 0.85
    content = (tmp_path / name).read_bytes()
    hole = slice(64, 264) if name == "stream.arrow" else slice(-210, -10)  # the schema; files have it at the end
    broken = bytearray(content)
    broken[hole] = b"\xff" * 200
    for damaged in (content[: len(content) // 2], b"a,b\n1,2\n", broken):
        (tmp_path / ("bad" + name)).write_bytes(damaged)
        assert_refused(
            run("label", "bad" + name, "--target", "topic"),
            rf"bad{name} cannot be read as (Feather|Arrow) .*; write the file again, or save it as CSV",
        )


# ------------------------------------------------------------------ JSON lines


def json_rows():
    """The example rows as objects: numbers as numbers, no key instead of an empty cell, one nested value."""
    rows = []
    for row in example_rows():
        values = {key: value for key, value in row.items() if value}
        rows.append(values | {"length": float(row["length"]), "tags": ["a", {"b": "}"}]})
    return rows


STYLES = {
    "usual": (json.dumps, "\n"),
    "compact": (lambda row: json.dumps(row, separators=(",", ":")), "\r\n"),
    "blanks": (lambda row: " " + json.dumps(row).replace('": ', '" :  ') + " ", "\n\n"),
}


@pytest.mark.parametrize("style", STYLES)
def test_json_lines(run, tmp_path, style):
    dump, end = STYLES[style]
    before = json_rows()
    lines = [dump(row) for row in before]
    (tmp_path / "rows.jsonl").write_bytes(end.join(lines).encode())
    out = assert_success(run("label", "rows.jsonl", "--target", "topic"))
    assert re.search(r"ignored +.*tags \(type nested\)", out)
    result = (tmp_path / "rows.labeled.jsonl").read_bytes().decode().split(end)
    assert len(result) == len(lines)
    correct = 0
    for old, new, line, y in zip(before, result, lines, Y):
        values = json.loads(new)
        assert 0.0 <= values.pop("topic_confidence") <= 1.0
        correct += values["topic"] == TOPICS[y]
        assert values == old | {"topic": values["topic"]}
        assert new.startswith(line.rstrip(" }"))  # the object goes on where it ended
    assert correct > 0.9 * N


def test_only_the_value_of_the_target_is_replaced(run, tmp_path):
    lines = [
        f'{{"x": {x:.3f}, "topic":{" true" if y == 1 else " false"}, "same" : 1.50}}' if known > 0 else
        f'{{"x": {x:.3f}, "topic" :null , "u": "\\u00e9 \\"topic\\": null"}}'
        for x, y, known in zip(X[:, 0], Y, HIDDEN)
    ]  # fmt: skip
    (tmp_path / "rows.ndjson").write_text("\n".join(lines) + "\n")
    assert_success(run("label", "rows.ndjson", "--target", "topic"))
    text = (tmp_path / "rows.labeled.ndjson").read_text()
    text = re.sub(r', "topic_confidence": (1|[01]\.\d{4})}', "}", text)
    assert re.sub(r"(?<=topic. :)(true|false)", "null", text) == "\n".join(lines) + "\n"


JSON_LINES = {
    "broken line": (
        '{"a": 1, "topic": "x"}\n\n{"a": 2, "topic"\n',
        "rows.jsonl: line 3 is not a JSON object .*Expecting",
    ),
    "array": ('[{"a": 1}]\n', "line 1 is not a JSON object .it is of type list.; write one object per line"),
    "two kinds": ('{"a": 1, "topic": "x"}\n{"a": 2, "topic": 3}\n', "'topic' holds numbers and text; its labels"),
    "nested target": ('{"a": 1, "topic": ["x"]}\n', "'topic' holds nested values; its labels have to be"),
    "fractions": ('{"a": 1, "topic": 0.5}\n{"a": 1}\n', "holds fractions such as 0.5"),
    "deep": ("[" * 100_000 + "\n", "line 1 is not a JSON object"),
    "long number": ('{"a": ' + "1" * 5000 + "}\n", "line 1 is not a JSON object"),
    "empty": ("\n", "rows.jsonl has no rows"),
    "no target": ('{"a": 1}\n', "no column 'topic'; its columns are 'a'"),
}


@pytest.mark.parametrize("case", JSON_LINES)
def test_invalid_json_lines(run, tmp_path, case):
    content, message = JSON_LINES[case]
    (tmp_path / "rows.jsonl").write_text(content)
    assert_refused(run("label", "rows.jsonl", "--target", "topic"), message)
    assert file_names(tmp_path) == ["rows.jsonl"]


# ------------------------------------------------------------------ LIBSVM and NPZ


def libsvm_lines(labels):
    return [f"{label} 1:{a:.4f} 3:{b:.4f}" for label, (a, b) in zip(labels, X[:, :2])]


def test_libsvm(run, tmp_path):
    labels = ["0" if y == -1 else ("+1", "-1")[y - 1] for y in HIDDEN]
    lines = libsvm_lines(labels)
    lines[3] += "  # a remark"
    lines[5:5] = ["# a line without a row", ""]
    (tmp_path / "rows.libsvm").write_bytes("\r\n".join(lines).encode())
    out = assert_success(run("label", "rows.libsvm"))
    assert "note: the label 0 means unlabeled, as in SVM-light and SVMlin; --unlabeled names another one" in out
    assert "note: X is a sparse matrix of 3 features, taken as it is" in out
    result = (tmp_path / "rows.labeled.libsvm").read_bytes().decode().split("\r\n")
    for old, new in zip(lines, result):
        without = re.sub(r" # (1|[01]\.\d{4})$", "", new)
        assert without == old or re.sub(r"^[+-]1", "0", without) == old
    matrix, y = load_svmlight_file(str(tmp_path / "rows.labeled.libsvm"))
    assert np.mean(y == np.where(Y == 1, 1, -1)) > 0.9
    np.testing.assert_allclose(matrix.toarray()[:, [0, 2]], X[:, :2], atol=1e-4)


def test_libsvm_with_another_marker(run, tmp_path):
    labels = ["-1" if y == -1 else str(y - 1) for y in HIDDEN]
    (tmp_path / "rows.svm").write_text("\n".join(libsvm_lines(labels)))
    assert_success(run("label", "rows.svm", "--unlabeled", "-1"))
    found = [line.split()[0] for line in (tmp_path / "rows.labeled.svm").read_text().splitlines()]
    assert np.mean(np.array(found) == (Y - 1).astype(str)) > 0.9
    assert_refused(
        run("label", "rows.svm", "--target", "topic", "--force"), "no column 'topic'; its columns are 'label'"
    )
    assert_refused(run("label", "rows.svm", "--ignore", "x", "--force"), "no column 'x'")


LIBSVM = {
    "bad field": ("1 1:2\n-1 1:x\n", "rows.svm: in line 2 '1:x' is no index:value pair; write pairs"),
    "field without a colon": ("1 1:2\n\n-1 5\n", "in line 3 '5' is no index:value pair"),
    "indices out of order": ("1 1:2 3:1 2:1\n", "in line 1 '2:1' is not above the index before it"),
    "infinite value": ("1 1:inf\n-1 1:2\n", "in line 1 '1:inf' is no index:value pair"),
    "large index": (f"1 {2**40}:1\n", "is not above|above the largest index"),
    "no label": ("1:2 2:3\n", "line 1 begins with '1:2', which is no label; begin every line"),
    "several labels": ("1,2 1:2\n", "line 1 has the label '1,2'; one class per line"),
    "regression": ("0.5 1:2\n", "line 1 has the label '0.5'; one class per line"),
    "empty": ("# nothing\n", "rows.svm has no rows"),
}


@pytest.mark.parametrize("case", LIBSVM)
def test_invalid_libsvm(run, tmp_path, case):
    content, message = LIBSVM[case]
    (tmp_path / "rows.svm").write_text(content)
    assert_refused(run("label", "rows.svm"), message)


def npz_arrays(case):
    y = {
        "integers": HIDDEN,
        "floats": np.where(HIDDEN == -1, np.nan, HIDDEN),
        "words": np.array(["" if label == -1 else TOPICS[label] for label in HIDDEN]),
        "column": HIDDEN[:, None],
    }[case]
    points = X.copy()
    points[4, 1] = np.nan
    return {"X": points, "y": y, "file": np.arange(3), "names": np.array(["a", "b"])}


@pytest.mark.parametrize("case, save", [("integers", np.savez), ("floats", np.savez_compressed), ("words", np.savez),
                                        ("column", np.savez)])  # fmt: skip
def test_npz(run, tmp_path, case, save):
    before = npz_arrays(case)
    rest = {name: array for name, array in before.items() if name != "file"}
    save(tmp_path / "rows.npz", **rest)
    out = assert_success(run("label", "rows.npz"))
    assert "note: X is a dense matrix of 3 features, which are standardized" in out
    with np.load(tmp_path / "rows.labeled.npz") as after:
        assert set(after.files) == {*rest, "y_confidence"}
        for name in set(rest) - {"y"}:
            np.testing.assert_array_equal(after[name], before[name])
        assert after["y"].shape == before["y"].shape
        expected = np.array([TOPICS[label] for label in Y]) if case == "words" else Y
        assert np.mean(after["y"].ravel() == expected) > 0.85
        confidence = after["y_confidence"]
        assert ((confidence >= 0) & (confidence <= 1)).all()
        assert (confidence[HIDDEN > 0] == 1).all()


def test_sparse_matrices_in_npz(run, tmp_path):
    from scipy import sparse

    rows = sparse.csr_matrix(X)
    np.savez(
        tmp_path / "rows.npz", data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape, y=HIDDEN
    )
    assert "note: X is a sparse matrix of 3 features" in assert_success(run("label", "rows.npz"))
    np.savez(tmp_path / "bad.npz", data=rows.data, indices=rows.indices + 9, indptr=rows.indptr, shape=rows.shape, y=Y)
    assert_refused(run("label", "bad.npz"), "bad.npz holds no CSR matrix")


class Evil:
    def __reduce__(self):
        return (print, ("was run",))


NPZ = {
    "pickled labels": (
        {"X": X, "y": np.array([Evil()] * N, dtype=object)},
        "holds Python objects, which are not loaded",
    ),
    "no X": ({"y": Y}, r"has no X of numbers with one row per sample, only y \(80,\); save the samples as X"),
    "words in X": ({"X": np.array([["a"]]), "y": Y}, "has no X of numbers with one row per sample, it is <U1 of shape"),
    "vector": ({"X": X[:, 0], "y": Y}, r"it is float64 of shape \(80,\)"),
    "no labels": ({"X": X, "y": Y[:9]}, r"has no array of 80 labels, one per sample, only X \(80, 3\), y \(9,\)"),
    "fractions": ({"X": X, "y": X[:, 0]}, "holds fractions such as"),
    "complex": ({"X": X, "y": Y * 1j}, "the labels y have the type complex128"),
    "nothing": ({"X": np.zeros((0, 3)), "y": Y[:0]}, "an empty X"),
}


@pytest.mark.parametrize("case", NPZ)
def test_invalid_npz(run, tmp_path, case):
    arrays, message = NPZ[case]
    np.savez(tmp_path / "rows.npz", **arrays)
    assert_refused(run("label", "rows.npz"), message)


def test_damaged_npz(run, tmp_path):
    np.savez_compressed(tmp_path / "rows.npz", X=X, y=HIDDEN)
    content = (tmp_path / "rows.npz").read_bytes()
    for damaged in (content[:300], b"text", content[:100] + bytes(50) + content[150:]):
        (tmp_path / "bad.npz").write_bytes(damaged)
        assert_refused(run("label", "bad.npz"), r"bad\.npz cannot be read as NPZ .*; save it again with numpy\.savez")
    assert_refused(run("label", "rows.npz", "--encoding", "utf-8"), "NPZ, which has no encoding; remove --encoding")


# ------------------------------------------------------------------ folders of texts


def test_folder_of_texts(run, tmp_path):
    folder = tmp_path / "mails"
    classes = {}
    for i, (row, label) in enumerate(zip(example_rows(), HIDDEN)):
        name = TOPICS[label] if label > 0 else ("unlabeled", ".")[i % 2]
        path = folder / name / f"{i:03d}, text.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((row["title"] + " café").encode("cp1252" if i == 7 else "utf-8"))
        classes[path.relative_to(folder).as_posix()] = TOPICS[Y[i]], label > 0
    (folder / ".hidden").write_bytes(b"\0\1")
    out = assert_success(run("label", "mails"))
    assert "mails: 80 rows, 20 with a label of label in 2 classes, 60 without" in out
    assert "note: 1 files are not UTF-8, read as cp1252" in out
    rows = read_csv(tmp_path / "mails.labeled.csv")
    assert list(rows[0]) == ["path", "label", "label_confidence"]
    assert [row["path"] for row in rows] == sorted(classes, key=lambda path: path.split("/"))
    assert np.mean([row["label"] == classes[row["path"]][0] for row in rows]) > 0.9
    assert all(row["label_confidence"] == "1" for row in rows if classes[row["path"]][1])
    assert_refused(run("label", "mails", "--target", "text", "--force"), "name of the sub-folder; remove --target")
    assert_refused(run("label", "mails/sport"), "has no sub-folder with texts of a class; put")
    (folder / "binary.exe").write_bytes(bytes(range(256)))
    assert_refused(run("label", "mails", "--force"), r"binary\.exe contains zero bytes")


# ------------------------------------------------------------------ standard streams

PIPE = "sys.stdin = open({!r})"


def test_standard_input_and_output(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    done = run("label", "-", "--target", "topic", "-o", "-", setup=PIPE.format("rows.csv"))
    assert done.code == 0
    assert "standard input: 80 rows, 20 with a label" in done.err
    assert "written to standard output" in done.err
    (tmp_path / "out.csv").write_text(done.out, newline="\n")
    assert_filled(example_rows(), read_csv(tmp_path / "out.csv"))
    assert_success(run("label", "-", "--target", "topic", "-o", "two.csv", setup=PIPE.format("rows.csv")))
    assert_filled(example_rows(), read_csv(tmp_path / "two.csv"))
    assert_refused(
        run("label", "-", "--target", "topic", setup=PIPE.format("rows.csv")),
        "the input is standard input, so the output has no name; pass one with -o, or -o - for standard output",
    )
    assert_refused(run("label", "-", "-o", "-", setup="sys.stdin = None"), "standard input is closed; pipe a table")


def test_json_lines_from_standard_input(run, tmp_path):
    (tmp_path / "rows").write_text("\n".join(map(json.dumps, json_rows())))
    done = run("label", "-", "--target", "topic", "-o", "-", setup=PIPE.format("rows"))
    assert done.code == 0, done.err
    assert [set(json.loads(line)) >= {"topic", "topic_confidence"} for line in io.StringIO(done.out)] == [True] * N
    done = run("label", "-", "--target", "topic", "-o", "out.csv", setup=PIPE.format("rows"))
    assert_refused(done, "has the extension of CSV, but it is written as JSON lines.*; pass another name with -o")
