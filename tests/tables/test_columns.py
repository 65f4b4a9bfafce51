"""Columns and features: kinds, formats of numbers and dates, labels and balances."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import repeatable
from scipy import sparse

from semisvm.tables import InputError
from semisvm.tables.cells import escape_formula
from semisvm.tables.columns import RawColumn, detect_column
from semisvm.tables.dates import DateFormat
from semisvm.tables.features import TableFeatures, kernel_norm
from semisvm.tables.missing import is_missing
from semisvm.tables.numbers import FORMATS, NumberFormat, detect_numbers, parse_numbers, parse_short_numbers
from semisvm.tables.strings import StringEncoder
from semisvm.tables.target import check_classes, parse_balance, read_labels

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
    "dotted days": (["31.01.2024", "29.02.2024", "29.02.2024"] * 4, "date"),
    "slashed days": (["1/31/2024", "12/2/24 4:05 pm", ""] * 4, "date"),
    "European amounts": (["1.234,56", "12,00", "€ 7,5", "-3"] * 4, "number"),
    "American amounts": (["$1,234.56", "(12.00)", "$7", "-$3"] * 4, "number"),
    "amounts with spaces": (["1 234,5", "12 000", "7 kr", "3"] * 4, "number"),
    "Swiss amounts": (["1'234.50", "CHF 12", "7.25", "3"] * 4, "number"),
    "percentages": (["12%", "3.5 %", "", "80%"] * 4, "number"),
    "numbers and one remark": ([*map(str, range(1, 90, 2)), "see note"], "ignored: identifier"),
    "measurements and one remark": ([*(f"{i / 7:.2f}" for i in range(40)), "see note"], "number"),
    "measurements and many remarks": ([*(f"{i / 7:.2f}" for i in range(30)), *["see note"] * 5] * 2, "category"),
    "many names": ([f"town {i % 60}" for i in range(600)], "string"),
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
    assert kind(["red", "green"] * 5, declared="text") == "text"
    assert kind(["!!", "??"] * 5, declared="text") == "ignored: no words"
    raw = RawColumn("number", np.array([1.0, np.nan]))
    assert detect_column("n", raw, declared="text").values(raw) == ["1", ""]


def values(*cells):
    raw = RawColumn("text", list(cells))
    return detect_column("column", raw).values(raw)


def test_values_of_a_column():
    assert detect_column("n", RawColumn("text", ["1", "", "inf"])).kind == "ignored"  # infinity counts as missing
    np.testing.assert_array_equal(values("1,5", "", "2"), [1.5, np.nan, 2.0])
    np.testing.assert_array_equal(np.diff(values("2024-02-28", "2024-03-01", "")), [2, np.nan])
    np.testing.assert_array_equal(values("True", "false", ""), [1.0, 0.0, np.nan])
    zones = values("2024-03-01T12:00Z", "2024-03-01T14:00+02:00", "2024-03-02T12:00")
    np.testing.assert_allclose(np.diff(zones), [0, 1], atol=1e-9)
    assert detect_column("x", RawColumn("other", "list<item: int64>")).reason == "type list<item: int64>"
    assert values(" Red", "red ", "GREEN", "green", "green") == ["red", "red", "green", "green", "green"]


NUMBERS_AS_WRITTEN = {
    ("1,234.56", "7"): [1234.56, 7],
    ("1.234,56", "7"): [1234.56, 7],
    ("1.234", "7.5"): [1.234, 7.5],
    ("1,234", "7"): [1234, 7],  # groups rather than decimals, if both are possible
    ("1,23", "7"): [1.23, 7],
    ("(3.50)", "$4"): [-3.5, 4],
    ("-$3", "$-4.5"): [-3, -4.5],
    ("€ 1.234,50", "12,5 €"): [1234.5, 12.5],
    ("12 %", "3.5%"): [12, 3.5],
    ("1\u00a0234\u202f567", "8"): [1234567, 8],
    ("\u2212" + "3", "1e3"): [-3, 1000],
}


@pytest.mark.parametrize("cells", NUMBERS_AS_WRITTEN, ids=str)
def test_numbers_as_people_write_them(cells):
    form = detect_numbers(Counter(cells))
    assert [form.parse(cell) for cell in cells] == pytest.approx(NUMBERS_AS_WRITTEN[cells])


@pytest.mark.parametrize("cells", [("1,2,3",), ("12 34",), ("(5",), ("--5",), ("$",), ("1.2.3", "4"), ("01234", "7")])
def test_what_is_no_number(cells):
    assert detect_numbers(Counter(cells)) is None


def test_marks_are_those_of_the_whole_column():
    assert detect_numbers(Counter(["1.234", "2.345", "3,5"])) == NumberFormat(",", ".")
    assert detect_numbers(Counter(["1,234", "2,345", "3.5"])) == NumberFormat(".", ",")


ODD_CELLS = ["01234", "1_000", "inf", "-Infinity", "0x1f", "nan", "1e5", "1E-3", "+5", "-012", "00.5", "1.", ".", ".5",
             "1234567890123456", "123456789012345", "1 234", "1,234", " 7 ", "1\n2", "\n", "", "?", "1e400", "0", "00",
             "\uff11\uff12", "1e", "--5"]  # fmt: skip


@repeatable(300)
@given(st.lists(st.one_of(st.sampled_from(ODD_CELLS), st.text("0123456789.,+-eE _", max_size=6)), max_size=4))
def test_numbers_of_a_column_are_those_of_its_cells(cells):
    form = NumberFormat()
    expected = [form.parse(cell) for cell in cells]
    found, others = parse_numbers(cells, form)
    np.testing.assert_array_equal(found, [np.nan if value is None else value for value in expected])
    assert others == [cell for cell, value in zip(cells, expected) if value is None and not is_missing(cell)]
    short = parse_short_numbers(cells)
    if short is not None:
        np.testing.assert_array_equal(short, found)
    fits = [sum(form.parse(cell) is not None for cell in cells) for form in FORMATS]
    detected = detect_numbers(Counter(cells))
    if detected is not None:
        assert fits[FORMATS.index(detected)] == max(fits) >= 0.95 * len(cells)


def days(order, cell):
    return DateFormat(order).parse(cell) - DateFormat("ymd").parse("2024-12-31")


def test_orders_of_dates():
    assert days("dmy", "31.12.2024") == days("mdy", "12/31/2024") == days("dmy", "31-12-24") == 0
    assert days("dmy", "01.01.2025 12:00") == 1.5
    assert days("mdy", "1/1/2025 12:00 AM") == 1
    assert DateFormat("dmy").parse("31.02.2024") is None
    assert DateFormat("mdy").parse("31/12/2024") is None
    assert DateFormat("dmy").parse("01.02.71") < 400 < DateFormat("dmy").parse("01.02.68")


def test_the_whole_column_decides_whether_the_day_stands_first():
    def found(*cells):
        column = detect_column("day", RawColumn("text", list(cells)))
        return column.form.order, column.note

    assert found("03/04/2024", "13/04/2024") == ("dmy", "")
    assert found("03/04/2024", "04/13/2024") == ("mdy", "")
    assert found("03/04/2024", "04/05/2024") == (*("mdy", "days and months cannot be told apart; read as month/day"),)
    assert found("03.04.2024", "04.05.2024")[0] == "dmy"
    assert detect_column("day", RawColumn("text", ["13/04/2024", "04/13/2024", "x"] * 3)).kind != "date"


def test_cells_that_are_no_numbers_are_missing_and_reported():
    raw = RawColumn("text", [*(f"{i / 7:.2f}" for i in range(60)), "see note"])
    column = detect_column("price", raw)
    assert column.note == "1 of 61 cells are no numbers, such as 'see note'; taken as missing"
    assert np.isnan(column.values(raw)).tolist() == [False] * 60 + [True]
    other = RawColumn("text", ["1.5", "n/a", "2,5", "see"])
    np.testing.assert_array_equal(column.values(other), [1.5, np.nan, np.nan, np.nan])
    assert column.n_unread(other) == 2


def feature_matrix(**cells):
    raws = [RawColumn("text", list(found)) for found in cells.values()]
    columns = [detect_column(name, raw) for name, raw in zip(cells, raws)]
    return TableFeatures(columns).fit_transform([column.values(raw) for column, raw in zip(columns, raws)])


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


def test_blocks_without_text_have_equal_variance():
    X = feature_matrix(a=NUMBERS, b=NUMBERS[::-1], color=COLORS)
    assert total_variance(X) == pytest.approx(2.0)
    assert total_variance(X[:, :2]) == pytest.approx(1.0)
    assert total_variance(feature_matrix(a=NUMBERS, b=NUMBERS[::-1])) == pytest.approx(2.0)


def test_blocks_beside_text_have_kernel_matrices_of_equal_norm():
    X = feature_matrix(a=NUMBERS, b=NUMBERS[::-1], words=SENTENCES)
    X = X.toarray() if sparse.issparse(X) else X
    for block in (X[:, :2], X[:, 2:]):
        centered = block - block.mean(axis=0)
        assert np.linalg.norm(centered @ centered.T) / len(X) == pytest.approx(1.0)
    assert kernel_norm(X[:, :2]) == pytest.approx(1.0)


def test_misspelled_names_are_close():
    towns = ["springfield", "shelbyville", "ogdenville", "north haverbrook", "capital city"]
    rng = np.random.default_rng(0)
    cells = []
    for i in range(300):
        town = list(towns[i % 5])
        town[rng.integers(len(town))] = "xyzqj"[i % 5]
        cells.append("".join(town))
    raw = RawColumn("text", cells)
    column = detect_column("town", raw)
    assert column.kind == "string"
    X = TableFeatures([column]).fit_transform([column.values(raw)])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    similar = X @ X.T
    same = np.equal.outer(np.arange(300) % 5, np.arange(300) % 5)
    assert similar[same].mean() > similar[~same].mean() + 0.3


def test_long_columns_of_strings_have_fewer_components(monkeypatch):
    cells = np.array([f"town {i % 60}" for i in range(600)], dtype=object)
    whole = StringEncoder().fit_transform(cells)
    assert whole.shape == (600, 100)
    monkeypatch.setattr("semisvm.tables.strings.MAX_FIT_ROWS", 300)
    monkeypatch.setattr("semisvm.tables.strings.MAX_VALUES", 6000)
    part = StringEncoder().fit_transform(cells)
    assert part.shape == (600, 10)
    similar = part @ part.T
    assert similar[0, 60] > similar[0, 7]


def test_another_table_gives_the_same_features():
    raw = {"a": NUMBERS, "color": COLORS, "words": SENTENCES}
    raws = [RawColumn("text", list(cells)) for cells in raw.values()]
    columns = [detect_column(name, one) for name, one in zip(raw, raws)]
    features = TableFeatures(columns)
    X = features.fit_transform([column.values(one) for column, one in zip(columns, raws)])
    part = [RawColumn("text", one.values[5:9]) for one in raws]
    again = features.transform([column.values(one) for column, one in zip(columns, part)])
    difference = X[5:9] - again
    assert abs(difference).max() < 1e-12
    new = [RawColumn("text", [cell]) for cell in ("", "never seen", "words nobody used")]
    assert np.isfinite(features.transform([c.values(one) for c, one in zip(columns, new)]).sum())


def test_large_tables_are_sparse_if_that_takes_less_memory(monkeypatch):
    cells = {"a": NUMBERS, "b": NUMBERS[::-1], "color": COLORS, "size": ["S", "M", "L", "XL", ""] * 8}
    dense = feature_matrix(**cells)
    monkeypatch.setattr("semisvm.tables.features.LARGE", 0)
    found = feature_matrix(**cells)
    assert isinstance(dense, np.ndarray)
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), dense)


def test_constant_block_is_not_scaled():
    X = feature_matrix(a=NUMBERS, words=["dog cat"] * 39 + ["dog dog cat"])
    assert np.isfinite(X.sum())


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


# ------------------------------------------------------------------ labels

UNLABELED = {
    ("a", "", "b", "NA", "n/a", "NaN", "null", "?", " "): ["a", None, "b", *[None] * 6],
    ("a", "none", "b", "unknown", "-1"): ["a", None, "b", None, None],
    ("a", "none", "", "b"): ["a", "none", None, "b"],  # an empty cell: none is a class
    ("1", "-1", "1"): ["1", "-1", "1"],  # else one class would be left
    (0, 1, -1): [0, 1, None],
    (0.0, 1.0, -1.0, None): [0.0, 1.0, -1.0, None],
}


@pytest.mark.parametrize("cells", UNLABELED, ids=str)
def test_which_cells_are_unlabeled(cells):
    assert read_labels(cells).values == UNLABELED[cells]


def test_markers_that_the_user_names():
    assert read_labels(["a", "none", "todo", "b"], ["todo"]).values == ["a", "none", None, "b"]
    found = read_labels(["a", "later", "todo", "b"], ["todo", "later"])
    assert found.values == ["a", None, None, "b"]
    assert found.notes == ["taken as unlabeled: 'later' (1), 'todo' (1)"]


def test_spellings_of_one_class():
    cells = ["Spam", "spam ", "spam", "spam", "Ham", ""]
    found = read_labels(cells)
    assert found.values == ["spam"] * 4 + ["Ham", None]
    assert found.notes == ["'Spam' (1), 'spam ' (1) counted as 'spam' (2); --exact-labels keeps them apart"]
    assert read_labels(cells, exact=True).given == {"Spam": 1, "spam ": 1, "spam": 2, "Ham": 1}
    assert read_labels(["caf\u00e9", "cafe\u0301", "b"]).given == {"caf\u00e9": 2, "b": 1}


def test_targets_without_classes_are_refused():
    for cells, message in ([["", ""], "all 2 cells"], [["a", ""], "only one class"], [[*"abcdefghijkl"], "different"]):
        with pytest.raises(InputError, match=message):
            check_classes("topic", read_labels(cells).given, len(cells))


def test_formulas_are_escaped_and_numbers_are_not():
    assert [escape_formula(v) for v in ("=1+1", "+x", "@a", "-b", "-1", "+2.5", "a=b")] == [
        *("'=1+1", "'+x", "'@a", "'-b", "-1", "+2.5", "a=b")
    ]
