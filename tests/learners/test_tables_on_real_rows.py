"""The real tables as they are: every one through pandas and polars, without preprocessing."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import KFold, cross_val_score

from lifelong import LifelongClassifier, LifelongRegressor, load, save

pytestmark = [
    pytest.mark.data,
    # vowel's labels differ in case alone ("hid", "hId"), and mean what they say
    pytest.mark.filterwarnings("ignore:The labels .* are different classes"),
]

TABLES = {
    "heart": ("hospital", "disease"),
    "adult": ("occupation", "income"),
    "beijing": ("station", "PM2.5"),
    "vowel": ("speaker", "vowel"),
    "amazon": ("domain", "review"),
    "school": ("school", "score"),
}
NUMBERS = {"beijing", "school"}
READ = {"pandas": pd.read_csv, "polars": pl.read_csv}


def path_of(name):
    return Path(os.environ["LIFELONG_DATA"]) / "tables" / f"{name}.csv.gz"


def some_rows(name, library, n=500):
    """Every so-manieth row, in the order of the file, and its target."""
    target = TABLES[name][1]
    frame = READ[library](path_of(name))
    if library == "pandas":
        frame = frame[frame[target].notna()]
        frame = frame.iloc[:: max(len(frame) // n, 1)].reset_index(drop=True)
        return frame.drop(columns=target), frame[target]
    frame = frame.filter(frame[target].is_not_null())
    frame = frame[:: max(len(frame) // n, 1)]
    return frame.drop(target), frame[target]


def model_of(name):
    make = LifelongClassifier
    if name in NUMBERS:
        make = LifelongRegressor
    return make(task_column=TABLES[name][0], n_estimators=3, random_state=0)


@pytest.mark.parametrize("library", READ)
@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_is_learnt_asked_grown_saved_and_validated_as_it_is(name, library, tmp_path):
    X, y = some_rows(name, library)
    half = len(X) // 2
    model = model_of(name).fit(X[:half], y[:half])
    assert len(model.predict(X[half:])) == len(X) - half
    model.partial_fit(X[half:], y[half:])
    assert sum(record.n_rows for record in model.tasks_.values()) == len(X)
    save(model, tmp_path)
    again = load(tmp_path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    folds = KFold(2, shuffle=True, random_state=0)
    if library == "polars":
        y = y.to_numpy()
    scores = cross_val_score(model_of(name), X, y, cv=folds)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", TABLES)
def test_pandas_and_polars_read_the_same_model_from_a_file(name):
    by_pandas, by_polars = (
        model_of(name).fit(*some_rows(name, library, n=250)) for library in READ
    )
    assert list(by_pandas.tasks_) == list(by_polars.tasks_)
    assert by_pandas.columns_ == by_polars.columns_
    X = some_rows(name, "pandas", n=250)[0]
    np.testing.assert_array_equal(by_pandas.predict(X), by_polars.predict(X))


def test_intervals_hold_nine_tenths_of_real_numbers():
    frame = pd.read_csv(path_of("school"))
    chosen = frame[frame.school.isin(sorted(frame.school.unique())[:40])]
    chosen = chosen.sample(frac=1, random_state=0, ignore_index=True)
    half = len(chosen) // 2
    X = chosen.drop(columns="score")
    model = LifelongRegressor(task_column="school", n_estimators=5, random_state=0)
    model.fit(X[:half], chosen.score[:half])
    found = model.predict(X[half:], interval=0.9)
    truth = chosen.score[half:]
    inside = (found[:, 1] <= truth) & (truth <= found[:, 2])
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    # Not of every school: school 109 has 11 training rows with a mean of 14, and its 23 others have
    # 27, of which its intervals hold half.
    by_school = inside.groupby(X.school[half:]).mean()
    assert by_school.median() == pytest.approx(0.9, abs=0.03)
