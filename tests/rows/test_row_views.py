"""What encoders read of rows, against loops written by hand."""

import numpy as np
import pandas as pd
import pytest

from lifelong.rows import Columns, table_of
from lifelong.rows.views import (
    MAX_ONE_HOT,
    DenseView,
    TreeView,
    coded_places,
    measured_places,
)

FRAME = pd.DataFrame(
    {
        "age": [63.0, np.nan, 41, 50],
        "pain": ["none", "typical", "worse", None],
        "sex": ["f", "m", "f", "m"],
        "smokes": [True, False, True, True],
        "day": ["2020-01-01", "2020-02-01", None, "2021-05-05"],
    }
)
COLUMNS = Columns().learnt(table_of(FRAME))


def rows_of(frame, columns=COLUMNS):
    return columns.rows(table_of(frame))


def as_trees_read(view, row):
    """One row: places in order, without those that are taken apart; these come behind."""
    n_categories = dict(view.categories)
    numbers = []
    one_by_one = []
    for place in range(view.n_places):
        value = row[place]
        n = n_categories.get(place)
        if n is not None and value >= n:
            value = np.nan
        if n is not None and 2 < n <= MAX_ONE_HOT:
            one_by_one += [float(value == code) for code in range(n)]
        else:
            numbers.append(value)
    return numbers + one_by_one


def test_trees_read_numbers_as_they_are_and_few_categories_one_by_one():
    view = TreeView.of(COLUMNS)
    X = rows_of(FRAME)
    found = view(X)
    assert found.shape == (4, view.width)
    assert found.dtype == np.float32
    for row, read in zip(X, found, strict=True):
        np.testing.assert_array_equal(read, np.array(as_trees_read(view, row), dtype=np.float32))


def test_a_view_never_changes_the_rows():
    X = rows_of(FRAME)
    X[:, 1] = 99  # an unknown category
    before = X.copy()
    TreeView.of(COLUMNS)(X)
    DenseView.of(X, coded_places(COLUMNS))(X)
    np.testing.assert_array_equal(X, before)


def test_categories_and_columns_that_come_later_are_missing_to_a_view():
    view = TreeView.of(COLUMNS)
    dense = DenseView.of(rows_of(FRAME), coded_places(COLUMNS))
    later = FRAME.assign(pain=["new", "other", "none", "new"], sex="x", weight=[1.0, 2, 3, 4])
    grown = COLUMNS.learnt(table_of(later))
    without = FRAME.assign(pain=[None, None, "none", None], sex=None)
    X_later = rows_of(later, grown)
    X_without = rows_of(without)
    assert X_later.shape[1] == X_without.shape[1] + 1
    np.testing.assert_array_equal(view(X_later), view(X_without))
    np.testing.assert_array_equal(dense(X_later), dense(X_without))


def test_many_categories_stay_codes():
    n = MAX_ONE_HOT + 1
    frame = pd.DataFrame({"town": [f"t{k}" for k in range(n)]})
    columns = Columns().learnt(table_of(frame))
    view = TreeView.of(columns)
    assert view.width == 1
    np.testing.assert_array_equal(view(columns.rows(table_of(frame)))[:, 0], np.arange(n))


def as_linear_models_read(X, categories, train):
    """Numbers with means for holes, categories one by one, a column for what was missing; then
    standardised by the training rows.
    """
    n_categories = dict(categories)
    raw = {}
    for place in range(X.shape[1]):
        if place not in n_categories:
            mean = np.nanmean(train[:, place].astype(np.float64)).astype(np.float32)
            for name, rows in (("train", train), ("X", X)):
                filled = np.where(np.isnan(rows[:, place]), mean, rows[:, place])
                raw.setdefault(name, []).append(filled)
    for place, n in categories:
        for code in range(n):
            for name, rows in (("train", train), ("X", X)):
                raw[name].append((rows[:, place] == code).astype(np.float32))
    for place in range(X.shape[1]):
        if np.isnan(train[:, place]).any():
            for name, rows in (("train", train), ("X", X)):
                raw[name].append(np.isnan(rows[:, place]).astype(np.float32))
    columns = []
    for trained, asked in zip(raw["train"], raw["X"], strict=True):
        spread = trained.std(dtype=np.float64)
        if spread > 0:
            standard = (asked - trained.mean(dtype=np.float64)) / spread
            columns.append(np.clip(standard, -5, 5))
    return np.stack(columns, axis=1)


def test_linear_models_read_standardised_numbers_and_what_is_missing():
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(50, 10, n)),
            "pain": rng.choice(["none", "typical", "worse", None], n),
            "constant": 3.0,
            "dose": rng.normal(size=n),
        }
    )
    columns = Columns().learnt(table_of(frame))
    X = columns.rows(table_of(frame))
    categories = coded_places(columns)
    view = DenseView.of(X[:40], categories)
    asked = X.copy()
    asked[0, 0] = 1e6  # an outlier
    wanted = as_linear_models_read(asked, categories, X[:40])
    np.testing.assert_allclose(view(asked), wanted, atol=2e-4)
    assert np.abs(view(asked)).max() == pytest.approx(5)
    assert not np.isnan(view(np.full_like(X, np.nan))).any()


def test_the_places_of_codes_and_of_measurements_are_known():
    names = [place.name for place in COLUMNS.places]
    assert [(names[place], n) for place, n in coded_places(COLUMNS)] == [("pain", 3), ("sex", 2)]
    measured = [names[place] for place in measured_places(COLUMNS)]
    assert measured[:2] == ["age", "day (year)"]
    assert "smokes" not in measured
    assert len(measured) == 7
