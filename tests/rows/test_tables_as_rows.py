"""Frames of any kind become the same rows of numbers, and their columns grow for life."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifelong.exceptions import InputError, InputTypeError
from lifelong.rows import Columns, Table, Texts, is_frame, table_of
from lifelong.rows.columns import DATE_PARTS, MAX_CATEGORIES

DAY = dt.date(2013, 3, 1)  # a Friday
NOON = dt.datetime(2013, 3, 1, 12, 30)
NOON_PARTS = [2013, 3, 1, 4, 12.5, 15765 + 12.5 / 24]
DAY_PARTS = [2013, 3, 1, 4, 0, 15765]
PARIS = dt.timezone(dt.timedelta(hours=1))

MIXED = {
    "age": [63, None, 41],
    "dose": [0.5, 1.5, None],
    "smokes": [True, None, False],
    "pain": ["typical", None, "none"],
    "visit": [NOON, None, NOON + dt.timedelta(days=40)],
    "born": [DAY, None, DAY],
}


def learnt(frame) -> Columns:
    return Columns().learnt(table_of(frame))


def rows(frame):
    return learnt(frame).rows(table_of(frame))


def kinds(frame):
    return {column.name: column.kind for column in learnt(frame)}


def every_library(columns):
    return {
        "pandas": pd.DataFrame(columns),
        "pandas with nullable types": pd.DataFrame(columns).convert_dtypes(),
        "pandas on pyarrow": pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
        "pandas objects": pd.DataFrame(columns, dtype=object),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "a dict of lists": columns,
        "a dict for each row": [
            {name: values[row] for name, values in columns.items() if values[row] is not None}
            for row in range(3)
        ],
    }


@pytest.mark.parametrize("library", every_library(MIXED))
def test_every_library_gives_the_same_rows(library):
    frame = every_library(MIXED)[library]
    assert is_frame(frame)
    assert kinds(frame) == {
        "age": "number",
        "dose": "number",
        "smokes": "boolean",
        "pain": "category",
        "visit": "date",
        "born": "date",
    }
    later = [2013, 4, 10, 2, 12.5, 15805 + 12.5 / 24]
    wanted = [
        [63, 0.5, 1, 0, *NOON_PARTS, *DAY_PARTS],
        [np.nan, 1.5, np.nan, np.nan, *[np.nan] * 12],
        [41, np.nan, 0, 1, *later, *DAY_PARTS],
    ]
    np.testing.assert_array_equal(rows(frame), np.array(wanted, dtype=np.float32))


CATEGORIES = {
    "pandas": pd.Series(["b", None, "a", "b"], dtype="category"),
    "pandas text": pd.Series(["b", None, "a", "b"], dtype="str"),
    "pandas objects": pd.Series(["b", None, "a", "b"], dtype=object),
    "pandas on pyarrow": pd.Series(["b", None, "a", "b"], dtype="string[pyarrow]"),
    "polars": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "polars enumeration": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["a", "b", "c"])),
    "pyarrow dictionary": pa.array(["b", None, "a", "b"]).dictionary_encode(),
}


@pytest.mark.parametrize("library", CATEGORIES)
def test_categories_get_codes_in_the_order_in_which_they_come(library):
    values = CATEGORIES[library]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    frame = make[library.split()[0]]({"grade": values})
    assert learnt(frame).by_name["grade"].categories == ("b", "a")
    np.testing.assert_array_equal(rows(frame)[:, 0], [0, np.nan, 1, 0])


def test_categories_that_are_whole_numbers_are_the_same_with_and_without_holes():
    whole = pd.DataFrame({"ward": pd.Categorical([7, 5])})
    with_hole = pd.DataFrame({"ward": pd.Categorical([None, 5, 7])})
    columns = learnt(whole)
    assert columns.learnt(table_of(with_hole)) == columns
    np.testing.assert_array_equal(columns.rows(table_of(with_hole))[:, 0], [np.nan, 1, 0])


MOMENTS = {
    "text": ["2013-03-01 12:30", "2013-03-01 12:30:00"],
    "text with a T": ["2013-03-01T12:30:00.000"],
    "text with a time zone": ["2013-03-01T13:30+01:00", "2013-03-01T12:30:00Z"],
    "python's": [NOON],
    "python's with a time zone": [dt.datetime(2013, 3, 1, 13, 30, tzinfo=PARIS)],
    "numpy's": np.array([NOON], dtype="datetime64[s]"),
    "pandas' with a time zone": pd.Series([NOON]).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "objects with a time zone": pd.Series(
        [dt.datetime(2013, 3, 1, 13, 30, tzinfo=PARIS), None], dtype=object
    ),
}


@pytest.mark.parametrize("written", MOMENTS)
def test_dates_in_any_form_become_the_parts_that_matter(written):
    frame = pd.DataFrame({"visit": MOMENTS[written]})
    assert kinds(frame) == {"visit": "date"}
    assert [place.part for place in learnt(frame).places] == list(DATE_PARTS)
    for row in rows(frame)[: frame.visit.notna().sum()]:
        np.testing.assert_array_equal(row, np.array(NOON_PARTS, dtype=np.float32))


def test_a_time_zone_means_the_same_in_polars_and_pyarrow():
    there = pl.Series([dt.datetime(2013, 3, 1, 13, 30)]).dt.replace_time_zone("Europe/Paris")
    frame = pl.DataFrame({"visit": there})
    for form in (frame, frame.to_arrow(), frame.to_pandas()):
        np.testing.assert_array_equal(rows(form)[0], np.array(NOON_PARTS, dtype=np.float32))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"until": ["9999-12-31"]}),
        pd.DataFrame({"until": np.array(["9999-12-31"], dtype="datetime64[s]")}),
        pd.DataFrame({"until": [dt.date(9999, 12, 31)]}),
        pl.DataFrame({"until": [dt.date(9999, 12, 31)]}),
    ],
    ids=["text", "pandas", "objects", "polars"],
)
def test_the_day_that_means_never_is_a_date_like_any_other(frame):
    assert rows(frame)[0, :3].tolist() == [9999, 12, 31]


def test_numbers_as_objects_and_decimals_are_numbers():
    frame = pd.DataFrame({"a": [Decimal("1.5"), None], "b": pd.Series([1, 2.5], dtype=object)})
    assert kinds(frame) == {"a": "number", "b": "number"}
    np.testing.assert_array_equal(rows(frame), [[1.5, 1], [np.nan, 2.5]])


def test_arrays_of_any_type_are_tables_too():
    assert rows(np.array([[1, 2], [3, 4]], dtype=np.int8)).tolist() == [[1, 2], [3, 4]]
    assert rows([[True, 1.5], [False, 2]]).tolist() == [[1, 1.5], [0, 2]]
    assert [column.kind for column in learnt(np.array([[True], [False]]))] == ["boolean"]
    assert [column.kind for column in learnt(np.array([[True], [None]]))] == ["boolean"]
    assert [column.kind for column in learnt(np.array([["a"], ["b"]]))] == ["category"]
    assert [column.kind for column in learnt(np.array([["2020-01-01"]], "datetime64[D]"))] == [
        "date"
    ]


def test_a_boolean_column_may_come_with_holes_and_without():
    first = pd.DataFrame({"smokes": [True, False]})
    with_hole = pd.DataFrame({"smokes": [True, None]})  # pandas makes objects of these
    for one, other in ((first, with_hole), (with_hole, first)):
        columns = learnt(one).learnt(table_of(other))
        assert [column.kind for column in columns] == ["boolean"]
    np.testing.assert_array_equal(learnt(first).rows(table_of(with_hole)), [[1], [np.nan]])


# Columns grow, and nothing that was known moves


def test_new_categories_and_new_columns_come_behind_those_that_are_known():
    columns = learnt(pd.DataFrame({"pain": ["none", "typical"], "age": [1, 2]}))
    more = pd.DataFrame({"day": ["2020-01-01"], "pain": ["worse"], "dose": [0.5]})
    grown = columns.learnt(table_of(more))
    assert [column.name for column in grown] == ["pain", "age", "day", "dose"]
    assert grown.by_name["pain"].categories == ("none", "typical", "worse")
    row = grown.rows(table_of(more))[0]
    np.testing.assert_array_equal(row[:2], [2, np.nan])  # no age here
    np.testing.assert_array_equal(row[2:5], [2020, 1, 1])
    assert row[-1] == 0.5


def test_what_was_not_learnt_is_missing_and_what_is_not_known_is_left_out():
    columns = learnt(pd.DataFrame({"pain": ["none", "typical"], "age": [1, 2]}))
    asked = pd.DataFrame({"colour": ["red", "blue"], "pain": ["worse", "typical"]})
    np.testing.assert_array_equal(columns.rows(table_of(asked)), [[np.nan, np.nan], [1, np.nan]])


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(list(MIXED)), n_repeats=st.integers(1, 3))
def test_the_order_of_columns_does_not_matter(order, n_repeats):
    frame = pd.DataFrame({name: values * n_repeats for name, values in MIXED.items()})
    columns = learnt(frame)
    np.testing.assert_array_equal(
        columns.rows(table_of(frame)), columns.rows(table_of(frame[list(order)]))
    )


letters = st.lists(st.sampled_from("abcdefgh") | st.none(), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(letters, min_size=1, max_size=6))
def test_a_category_keeps_its_code_for_life(batches):
    columns = learnt(pd.DataFrame({"grade": ["z"]}))
    code = {"z": 0}
    for batch in batches:
        table = table_of(pd.DataFrame({"grade": pd.Series(batch, dtype=object)}))
        columns = columns.learnt(table)
        for value in batch:
            if value is not None:
                code.setdefault(value, len(code))
        wanted = [np.nan if value is None else code[value] for value in batch]
        np.testing.assert_array_equal(columns.rows(table)[:, 0], wanted)
        assert columns.by_name["grade"].codes == code


@settings(max_examples=30, deadline=None)
@given(
    numbers=st.lists(st.floats(-1e6, 1e6, width=32) | st.none(), min_size=1, max_size=9).filter(
        lambda found: any(value is not None for value in found)
    )
)
def test_pandas_polars_and_pyarrow_agree_on_any_numbers(numbers):
    frames = [make({"x": numbers}) for make in (pl.DataFrame, pa.table)]
    frames.append(pd.DataFrame({"x": numbers}))
    first, *others = [rows(frame) for frame in frames]
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_many_rows_come_out_as_one_by_one():
    rng = np.random.default_rng(0)
    n = 9000  # more than are written at once
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(list("xyz"), n)})
    columns = learnt(frame)
    together = columns.rows(table_of(frame))
    for row in (0, 4095, 4096, 8999):
        alone = columns.rows(table_of(frame.iloc[[row]]))
        np.testing.assert_array_equal(together[[row]], alone)


# What is refused, and what the error says

KNOWN = pd.DataFrame({"age": [1.0, 2.0], "pain": ["none", "typical"], "day": ["2020-01-01", None]})
WRONG = {
    "a number where a category was": (
        pd.DataFrame({"pain": [None, 3.0]}),
        "Column 'pain' holds text, and row 1 has a number: '3.0'",
    ),
    "a number among categories": (
        pd.DataFrame({"pain": ["none", None, 7]}, dtype=object),
        "Column 'pain' holds text, and row 2 has a number: '7'",
    ),
    "a date where a category was": (
        pd.DataFrame({"pain": [None, NOON]}),
        "Column 'pain' holds text, and row 1 has a date",
    ),
    "text where a number was": (
        pd.DataFrame({"age": [None, "old"]}),
        "Column 'age' holds numbers, and row 1 has text: 'old'",
    ),
    "text among numbers": (
        pd.DataFrame({"age": [63, 41, "old", "young"]}, dtype=object),
        "Column 'age' holds numbers, and row 2 has text: 'old'",
    ),
    "a date where a number was": (
        pd.DataFrame({"age": [NOON]}),
        "Column 'age' holds numbers, and row 0 has a date",
    ),
    "a number where a date was": (
        pd.DataFrame({"day": [1.5]}),
        "Column 'day' holds dates, and row 0 has a number: '1.5'",
    ),
    "text among dates": (
        pd.DataFrame({"day": ["2020-01-01", "2020-02-30"]}),
        "Column 'day' holds dates, and row 1 has no date: '2020-02-30'",
    ),
    "an infinite number": (
        pd.DataFrame({"age": [1, -np.inf]}),
        "Column 'age' has an infinite or too large number in row 1",
    ),
    "a number too large": (
        pd.DataFrame({"age": [1, 1e39]}),
        "Column 'age' has an infinite or too large number in row 1",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_value_that_does_not_fit_is_an_error_that_names_column_and_row(what):
    frame, message = WRONG[what]
    columns = learnt(KNOWN)
    with pytest.raises(InputError, match=message):
        columns.learnt(table_of(frame))
    with pytest.raises(InputError, match=message):
        columns.rows(table_of(frame))


@pytest.mark.parametrize("nothing", [[None, None], [np.nan, np.nan]])
def test_a_known_column_may_be_empty_for_once(nothing):
    columns = learnt(KNOWN)
    for name in ("age", "pain", "day"):
        table = table_of(pd.DataFrame({name: nothing}))
        assert columns.learnt(table) == columns
        assert np.isnan(columns.rows(table)).all()


@pytest.mark.parametrize("nothing", [[None, None], [np.nan, np.nan], [pd.NaT, pd.NaT]])
def test_a_new_column_without_any_value_is_refused(nothing):
    with pytest.raises(InputError, match="Column 'a' has no value in any row"):
        learnt(pd.DataFrame({"a": nothing, "b": [1, 2]}))


def test_free_text_is_refused_with_the_way_out():
    words = [f"patient {n} complains about something that takes a while to tell" for n in range(40)]
    with pytest.raises(InputError, match=r"'note' holds 40 different texts.*PretrainedEncoder"):
        learnt(pd.DataFrame({"note": words}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_hundred_thousand_categories_are_refused(make):
    frame = make({"id": [f"customer-{n}" for n in range(100_000)]})
    with pytest.raises(InputError, match="'id' holds 100000 different texts"):
        learnt(frame)


def test_too_many_categories_are_refused_when_they_come_bit_by_bit():
    columns = learnt(pd.DataFrame({"id": [f"a{n}" for n in range(MAX_CATEGORIES)]}))
    with pytest.raises(InputError, match=f"{MAX_CATEGORIES + 1} different texts"):
        columns.learnt(table_of(pd.DataFrame({"id": ["one more"]})))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(np.eye(2), columns=["a", "a"]),
        pd.DataFrame(np.eye(2), columns=["1", 1]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
    ids=["pandas", "the same as text", "pyarrow"],
)
def test_two_columns_of_one_name_are_refused(frame):
    with pytest.raises(InputError, match="two columns called '.'. Rename one of them"):
        table_of(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": []}),
        pl.DataFrame({"a": []}),
        pd.DataFrame(index=[0, 1]),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
    ],
)
def test_an_empty_table_is_refused(frame):
    with pytest.raises(InputError, match="rows|columns"):
        table_of(frame)


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pl.DataFrame({"a": [[1], [2]]}), "'a' holds a list"),
        (pl.DataFrame({"a": [{"x": 1}]}), "'a' holds a dict"),
        (pl.DataFrame({"a": [b"raw"]}), "'a' holds a bytes"),
        (pd.DataFrame({"a": [1j]}), "'a' holds a complex"),
        (pd.DataFrame({"a": pd.to_timedelta([1], unit="s")}), "'a' holds durations"),
        (pl.DataFrame({"a": [dt.time(1)]}), "'a' holds durations or times of day"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=1)}), "'a' holds a Period"),
    ],
)
def test_values_that_are_no_values_of_a_table_are_refused_by_name(frame, what):
    with pytest.raises(InputError, match=what):
        table_of(frame)


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="X has shape"):
        table_of([1, 2, 3])
    with pytest.raises(InputError, match="different lengths"):
        table_of([[1, 2], [3]])
    with pytest.raises(InputTypeError, match="Complex"):
        table_of(np.array([[1j]]))


# Tables and texts


def test_a_misspelt_column_is_met_with_the_right_one():
    table = table_of(pd.DataFrame({"hospital": ["a"], "age": [1]}))
    with pytest.raises(InputError, match="no task column 'hopital'. Did you mean 'hospital'"):
        table.column("hopital", "task column")


def test_some_rows_of_a_table_are_a_table():
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": ["x", "y", "z"], "c": [True, False, True]})
    table = table_of(frame)
    for chosen in (np.array([2, 0]), np.array([True, False, True]), slice(1, 3)):
        some = table.take(chosen)
        assert isinstance(some, Table)
        positions = np.arange(3)[chosen]
        assert len(some) == len(positions)
        assert some.column("a").tolist() == frame.a.to_numpy()[chosen].tolist()
        assert some.column("b").objects().tolist() == frame.b.to_numpy()[chosen].tolist()
        assert some.booleans == {"c"}


def test_texts_that_no_row_has_are_gone():
    texts = Texts(np.array([0, -1, 2, 1], np.int32), ["a", "b", "c"])
    assert texts[[1, 2]].values == ["c"]
    assert texts[[1, 2]].codes.tolist() == [-1, 0]
    assert texts.at(1) is None
    assert texts.at(2) == "c"
    assert texts.objects().tolist() == ["a", None, "c", "b"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([{"age": 1}, [2]], "Row 1 is a list, and the rows before are dicts"),
        ({"age": [1, 2], "sex": ["f"]}, "'sex' has 1 values, and another one has 2"),
        ({"age": 63, "sex": "f"}, r"'age' is a int, not a list.*\[row\]"),
        ({"age": [1], "sex": "f"}, "'sex' is a str, not a list"),
        ({1: [1.0], "1": [2.0]}, "two columns called '1'"),
        ({}, "0 rows and 0 columns"),
        ([{}], "0 rows and 0 columns"),
        ({"age": []}, "0 rows and 1 columns"),
    ],
)
def test_plain_python_that_is_no_table_is_refused(bad, message):
    with pytest.raises(InputError, match=message):
        table_of(bad)


def test_dates_of_numpy_stay_dates_in_a_dict():
    moments = np.array(["2013-03-01T12:30", "NaT"], dtype="datetime64[ns]")
    np.testing.assert_allclose(rows({"visit": moments})[0], np.float32(NOON_PARTS))
