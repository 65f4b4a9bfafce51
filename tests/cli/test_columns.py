"""Units of the command line: kinds of columns, features, CSV records, output files, methods and balances."""

import numpy as np
import pytest
from scipy import sparse

from semisvm.cli import InputError, TerminationSignal
from semisvm.cli.cells import records, sniff_delimiter, unquote
from semisvm.cli.columns import RawColumn, detect_column
from semisvm.cli.features import TotalVarianceScaler, build_transformer, to_frame
from semisvm.cli.methods import find_method, methods, short_name
from semisvm.cli.target import parse_balance
from semisvm.cli.writing import atomic_file
from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS

RNG = np.random.default_rng(0)
VOCABULARY = ["red", "green", "blue", "dog", "cat", "runs", "sleeps", "eats", "slowly"]
SENTENCES = [" ".join(RNG.choice(VOCABULARY, 5)) for _ in range(40)]


def kind(cells, name="column", **options):
    column = detect_column(name, RawColumn("text", [str(cell) for cell in cells]), **options)
    return f"{column.kind}: {column.reason}" if column.reason else column.kind


KINDS = {
    "floats": (["1.5", "-2e3", ".5", "7"] * 5, "number"),
    "whole numbers that repeat": ([1, 2, 3, 4] * 5, "number"),
    "numbers with gaps": (["1", "", "NA", "?", "2.5", "nan", "-"] * 3, "number"),
    "infinite cells": (["1", "2", "inf", "-Infinity"] * 3, "number"),
    "decimal commas": (["1,5", "2,25", "3"] * 4, "number"),
    "groups of thousands": (["1,500", "22,250.5", "3"] * 4, "number"),
    "booleans": (["true", "False", "TRUE", ""] * 4, "boolean"),
    "days": (["2024-01-31", "2024-02-29", "", "1999/12/01"] * 3, "date"),
    "moments": (["2024-01-31 10:00", "2024-02-29T11:30:00Z", "2024-02-29T11:30:00.5+02:00"] * 3, "date"),
    "distinct days": ([f"2024-01-{day:02d}" for day in range(1, 29)], "date"),
    "months": (["2024-01", "2024-02"] * 4, "date"),
    "days of another style": (["31.01.2024", "29.02.2024", "29.02.2024"] * 4, "category"),
    "a 30th of February": (["2024-02-30", "2024-02-28"] * 4, "category"),
    "categories": (["red", "green", "", "blue"] * 5, "category"),
    "one category and gaps": (["yes", ""] * 5, "category"),
    "categories of many words": (["New York City", "Los Angeles"] * 10, "category"),
    "postal codes": (["01234", "10115", "10115", "01234"] * 3, "category"),
    "words that repeat sometimes": ([f"name{i % 30}" for i in range(40)], "category"),
    "text": (SENTENCES, "text"),
    "text without spaces": ([f"今日は天気がいい{i}です" for i in range(30)], "characters"),
    "addresses": ([f"https://example.org/{i}" for i in range(30)], "ignored: identifier"),
    "codes with zeros": ([f"{i:05d}" for i in range(30)], "ignored: identifier"),
    "long numbers": ([10**18 + 7 * i for i in range(30)], "ignored: identifier"),
    "row numbers": (range(30), "ignored: identifier"),
    "growing whole numbers": ([i * i for i in range(30)], "ignored: identifier"),
    "shuffled row numbers": (RNG.permutation(30), "ignored: identifier"),
    "distinct incomes": (RNG.choice(90_000, 30, replace=False), "number"),
    "ages of a few people": ([23, 41, 35, 22, 58], "number"),
    "nothing": ([""] * 9, "ignored: empty"),
    "nothing in many spellings": (["", "NaN", "None"] * 3, "ignored: empty"),
    "blanks": (["  "] * 9, "ignored: empty"),
    "one number": (["3"] * 9, "ignored: constant"),
    "one number and gaps": (["3", ""] * 9, "ignored: constant"),
    "one word": (["red"] * 9, "ignored: constant"),
}


@pytest.mark.parametrize("case", KINDS)
def test_kind_of_a_column(case):
    cells, expected = KINDS[case]
    assert kind(cells) == expected


def test_names_of_identifiers():
    incomes = RNG.choice(90_000, 30, replace=False)
    for name in ("id", "user_id", "userId", "Customer ID", "row", ""):
        assert kind(incomes, name) == "ignored: identifier"
    assert kind(incomes, "paid") == "number"


def test_text_declared_by_the_user():
    assert kind(["red", "green"] * 5, as_text=True) == "text"
    assert kind(["!!", "??"] * 5, as_text=True) == "ignored: no words"
    assert detect_column("n", RawColumn("number", np.array([1.0, np.nan])), as_text=True).values == ["1", ""]


def test_values_of_a_column():
    assert (
        detect_column("n", RawColumn("text", ["1", "", "inf"])).kind == "ignored"
    )  # constant: infinity counts as missing
    np.testing.assert_array_equal(detect_column("n", RawColumn("text", ["1,5", "", "2"])).values, [1.5, np.nan, 2.0])
    np.testing.assert_array_equal(
        detect_column("d", RawColumn("text", ["2024-03-01", "2024-02-28", ""])).values, [2, 0, np.nan]
    )
    np.testing.assert_array_equal(
        detect_column("b", RawColumn("text", ["True", "false", ""])).values, [1.0, 0.0, np.nan]
    )
    zones = ["2024-03-01T12:00Z", "2024-03-01T14:00+02:00", "2024-03-02T12:00"]
    np.testing.assert_allclose(detect_column("d", RawColumn("text", zones)).values, [0, 0, 1], atol=1e-9)
    assert detect_column("x", RawColumn("other", "list<item: int64>")).reason == "type list<item: int64>"


def feature_matrix(**cells):
    columns = [detect_column(name, RawColumn("text", list(values))) for name, values in cells.items()]
    return build_transformer(columns).fit_transform(to_frame(columns))


NUMBERS = [f"{v:.3f}" for v in RNG.normal(50, 9, 40)]
COLORS = ["red", "green", "", "blue"] * 10


def test_numbers_are_imputed_by_the_median_and_standardized():
    X = feature_matrix(a=["1.5", "2.5", "", "9.5"])
    np.testing.assert_allclose(X.ravel(), (np.array([1.5, 2.5, 2.5, 9.5]) - 4.0) / np.std([1.5, 2.5, 2.5, 9.5]))


def test_empty_cells_are_a_category_and_rare_categories_share_a_feature():
    X = feature_matrix(color=[*COLORS, "pink", "grey"])
    assert X.shape[1] == 5
    assert (np.asarray(X.sum(axis=1)) == 1).all()


def test_text_alone_is_sparse_with_unit_norm():
    X = feature_matrix(words=SENTENCES, more=SENTENCES[::-1])
    assert sparse.issparse(X)
    np.testing.assert_allclose(sparse.linalg.norm(X, axis=1), np.sqrt(2.0))


def total_variance(X):
    X = X.toarray() if sparse.issparse(X) else X
    return X.var(axis=0).sum()


def test_blocks_of_several_kinds_have_equal_variance():
    X = feature_matrix(a=NUMBERS, b=NUMBERS[::-1], color=COLORS, words=SENTENCES)
    assert total_variance(X) == pytest.approx(3.0)
    assert total_variance(X[:, :2]) == pytest.approx(1.0)
    assert total_variance(feature_matrix(a=NUMBERS, b=NUMBERS[::-1])) == pytest.approx(2.0)


def test_constant_block_is_not_scaled():
    X = np.full((5, 2), 3.0)
    np.testing.assert_array_equal(TotalVarianceScaler().fit(X).transform(X), X)


TEXTS = [
    'a,b\n1,"x, y"\n2,"say ""hi"""\n',
    'a,b\r\n1,"two\r\nlines"\r\n\r\n2,"" \r\n',
    'a;b\n5" pipe;x\n"quoted"tail;y',
    "a\tb\r1\t2\r3\t4\r",
]


@pytest.mark.parametrize("text", TEXTS)
def test_records_hold_all_characters(text):
    delimiter = sniff_delimiter(text, "b")
    found = list(records(text, delimiter))
    assert "".join(delimiter.join(cells) + end for _, cells, end in found) == text
    assert all(len(cells) in (0, 2) for _, cells, _ in found)


def test_unquoted_cells_and_line_numbers():
    found = [[unquote(cell) for cell in cells] for _, cells, _ in records(TEXTS[0] + '"a""b",""', ",")]
    assert found == [["a", "b"], ["1", "x, y"], ["2", 'say "hi"'], ['a"b', ""]]
    assert [line for line, _, _ in records(TEXTS[1], ",")] == [1, 2, 4, 5]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_detected(delimiter):
    lines = [["text", "n", "label"], ['"one, two; three|four"', "1,5" if delimiter == ";" else "1", "a"]] * 3
    assert sniff_delimiter("\n".join(map(delimiter.join, lines)), "label") == delimiter


def test_unclosed_quote_is_refused():
    with pytest.raises(InputError, match="line 2 is not closed"):
        list(records('a,b\n1,"x\n2,y\n', ","))


@pytest.mark.parametrize("error", [TerminationSignal(15), ValueError("broken"), OSError(28, "no space")], ids=repr)
def test_output_file_is_complete_or_unchanged(tmp_path, error):
    path = tmp_path / "out.csv"
    path.write_text("before")
    with pytest.raises((type(error), InputError)), atomic_file(path, force=True) as file:  # noqa: PT012
        file.write(b"half")
        file.flush()
        assert len(list(tmp_path.iterdir())) == 2
        raise error
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "before")]


def test_output_created_by_another_program_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(InputError, match="created by another program"), atomic_file(path, force=False) as file:  # noqa: PT012
        file.write(b"ours")
        path.write_text("theirs")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "theirs")]


def test_methods_are_those_of_the_registry():
    assert set(methods().values()) == {*ENSEMBLES.values(), *ESTIMATORS.values(), *WRAPPERS.values()}
    assert {"semi", "cccp", "svm", "ramp", "self-training", "help-training"} <= set(methods())
    planned = (
        "SVM RampSVM LSSVM SparseLSSVM CCCPTSVM SwitchingTSVM MultiSwitchTSVM AnnealingTSVM SDPTSVM SwitchingLSSVM "
        "DCLSSVM LocalSearchRLSC SelfTraining S3VM SemiSVM"
    )
    assert " ".join(map(short_name, planned.split())) == (
        "svm ramp ls sparse-ls cccp switching multi-switch annealing sdp switching-ls dc-ls local-search-rlsc "
        "self-training s3vm semi"
    )
    for name, cls in (ENSEMBLES | ESTIMATORS | WRAPPERS).items():
        assert find_method(name) is cls
    assert find_method("CCCP-TSVM") is ESTIMATORS["CCCPTSVM"]
    with pytest.raises(InputError, match="--method nosuch is not known; pass one of semi, svm, ramp, ls"):
        find_method("nosuch")


def test_parse_balance():
    assert parse_balance("0.3", ["ham", "spam"]) == 0.3
    assert parse_balance("ham=0.7, spam=0.3", ["ham", "spam"]) == {"ham": 0.7, "spam": 0.3}
    assert parse_balance("1=2,2=1,3=1", [1, 2, 3]) == {1: 2.0, 2: 1.0, 3: 1.0}
    assert parse_balance('"a,b=0.5",c=0.5', ["a,b", "c"]) == {"a,b": 0.5, "c": 0.5}


@pytest.mark.parametrize(
    "text", ["x", "1.5", "-0.1", "nan", "ham=1", "ham=0,spam=0", "ham=a,spam=b", "eggs=1", "=", ""]
)
def test_invalid_balance_is_refused(text):
    with pytest.raises(
        InputError, match=r"--balance .* is not understood; pass one share .* 'spam', or .*ham=0.5,spam=0.5"
    ):
        parse_balance(text, ["ham", "spam"])
    with pytest.raises(InputError, match="pass a share for every class"):
        parse_balance("0.3", ["a", "b", "c"])
