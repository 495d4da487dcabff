"""Tasks and streams whose rows have text, categories, dates and holes."""

import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lifelong import LifelongClassifier, SillyForest, Task, TaskStream
from lifelong.exceptions import InputError, InputTypeError, ParameterError
from lifelong.rows import Table, table_of
from lifelong.tasks import splits
from lifelong.tasks.sources import from_frame, from_table

LYON = pd.DataFrame(
    {
        "age": [34.0, np.nan, 52.0, 45.0, 61.0, 70.0],
        "sex": ["f", "m", None, "f", "m", "m"],
        "day": pd.to_datetime(["2024-01-01"] * 3 + ["2024-06-30"] * 3),
        "thal": [np.nan] * 6,
    }
)
ILL = ["no", "yes", "yes", "no", "no", "yes"]


def test_a_frame_with_text_dates_and_holes_is_kept_as_a_table_without_its_empty_columns():
    task = Task("Lyon", LYON, ILL, LYON[:2], ILL[:2])
    assert isinstance(task.X_train, Table)
    assert list(task.X_train) == list(task.X_test) == ["age", "sex", "day"]
    assert repr(task) == "Task('Lyon', train (6, 3), test (2, 3), 2 classes)"


@pytest.mark.parametrize("test_holes", [False, True])
def test_train_and_test_rows_are_of_one_kind(test_holes):
    numbers = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    asked = numbers.mask(numbers == 2.0) if test_holes else numbers
    task = Task("t", numbers, [0, 1], asked, [0, 1])
    assert isinstance(task.X_train, Table) is isinstance(task.X_test, Table) is test_holes


def test_a_frame_of_numbers_is_rows_of_float32_as_it_always_was():
    frame = pd.DataFrame({"a": [0.1, 2.0], "b": [3, 4], "c": [True, False]})
    task = Task("t", frame, [0, 1], frame, [0, 1])
    assert type(task.X_train) is np.ndarray
    assert task.X_train.dtype == np.float32
    np.testing.assert_array_equal(task.X_train, frame.to_numpy(dtype=np.float32))


def test_a_table_given_as_such_stays_one():
    table = table_of(pd.DataFrame({"a": [0.1, 2.0]}))
    assert isinstance(Task("t", table, [0, 1], table, [0, 1]).X_train, Table)


def test_from_arrays_splits_a_table_by_class():
    task = Task.from_arrays("Lyon", LYON, ILL, test_share=1 / 3)
    assert (len(task.X_train), len(task.X_test)) == (4, 2)
    assert sorted(task.y_test.tolist()) == ["no", "yes"]
    again = replace(task, name="other")
    assert again.X_train.shape == task.X_train.shape


def test_the_same_rows_are_drawn_from_a_table_and_from_numbers():
    numbers = pd.DataFrame({"a": np.arange(12.0)})
    y = [0, 1] * 6
    as_rows = Task.from_arrays("t", numbers, y, random_state=3)
    as_table = Task.from_arrays("t", table_of(numbers), y, random_state=3)
    np.testing.assert_array_equal(as_rows.X_test[:, 0], as_table.X_test.column("a"))


def test_a_task_of_numbers_has_no_classes_and_takes_fractions():
    score = [0.5, 1.5, 2.0, 1.0, 0.0, 3.25]
    task = Task.from_arrays("Lyon", LYON, score, target="number")
    assert task.classes == []
    assert task.y_train.dtype == np.float64
    with pytest.raises(InputError, match="has numbers, not classes"):
        splits.rows_per_class(task, 1)
    first, second = splits.halve(task, random_state=0)
    assert len(first.y_train) + len(second.y_train) == len(task.y_train)
    with pytest.raises(ParameterError, match="target='numbers' is unknown. Did you mean 'number'"):
        Task("Lyon", LYON, score, LYON, score, target="numbers")
    with pytest.raises(InputError, match="target is missing in 1 rows"):
        Task("Lyon", LYON, [np.nan, *score[1:]], LYON, score, target="number")


def test_a_table_cannot_be_rotated():
    with pytest.raises(InputError, match="Only images"):
        splits.rotate(Task("Lyon", LYON, ILL, LYON, ILL), 90)


def test_a_stream_mixes_no_tables_with_rows_that_have_no_names():
    lyon = Task("Lyon", LYON, ILL, LYON, ILL)
    nice = Task("Nice", LYON[["age"]].fillna(0), ILL, LYON[["age"]].fillna(0), ILL)
    with pytest.raises(InputError, match="'Lyon' is a table .* 'Nice' has rows of numbers"):
        TaskStream([lyon, nice])


def test_a_learner_of_numbers_refuses_a_table_and_names_the_one_that_reads_it():
    task = Task("Lyon", LYON, ILL, LYON, ILL)
    advice = "SillyForest reads rows .* LifelongClassifier"
    with pytest.raises(InputTypeError, match=advice):
        SillyForest().partial_fit(task.X_train, task.y_train, task="Lyon")
    learner = SillyForest().partial_fit(np.zeros((4, 3)), [0, 1, 0, 1], task="Lyon")
    with pytest.raises(InputTypeError, match=advice):
        learner.predict(task.X_test, task="Lyon")


@pytest.mark.parametrize("bad", [LYON[["age"]], LYON[["sex"]].fillna("f")])
def test_a_raw_frame_with_text_or_holes_is_refused_with_the_same_advice(bad):
    with pytest.raises(InputError, match="reads numbers only. LifelongClassifier"):
        SillyForest(random_state=0).partial_fit(bad, ILL, task="Lyon")


def sites():
    lyon = LYON.assign(site="Lyon", ill=ILL)
    nice = LYON.assign(site="Nice", ill=ILL, thal=["fixed", "normal"] * 3)
    return pd.concat([lyon, nice], ignore_index=True)


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict", "csv"])
def test_a_frame_with_holes_becomes_a_stream_that_a_table_learner_learns(kind, tmp_path):
    frame = sites()
    columns = {"task_column": "site", "label_column": "ill", "random_state": 0}
    if kind == "csv":
        path = tmp_path / "rows.csv.gz"
        path.write_bytes(gzip.compress(frame.to_csv(index=False, sep=";").encode()))
        stream = from_table(path, **columns)
    elif kind == "polars":
        stream = from_frame(pytest.importorskip("polars").from_pandas(frame), **columns)
    elif kind == "dict":
        stream = from_frame({name: frame[name].tolist() for name in frame}, **columns)
    else:
        stream = from_frame(frame, **columns)
    assert stream.names == ["Lyon", "Nice"]
    assert list(stream["Lyon"].X_train) == ["age", "sex", "day"]
    assert list(stream["Nice"].X_train) == ["age", "sex", "day", "thal"]
    learner = LifelongClassifier(n_estimators=5, random_state=0)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    assert [column.kind for column in learner.columns_] == [
        "number",
        "category",
        "date",
        "category",
    ]
    assert len(learner.predict(stream["Lyon"].X_test, task="Lyon")) == 2


def test_a_frame_with_a_number_to_predict_becomes_a_stream_of_numbers():
    frame = sites().assign(score=np.arange(12) / 4)
    stream = from_frame(frame, task_column="site", label_column="score", target="number")
    assert [task.target for task in stream] == ["number", "number"]


def test_a_test_column_is_true_or_false():
    frame = sites().assign(held=["no", "yes"] * 6)
    with pytest.raises(InputError, match="'held' is not true or false"):
        from_frame(frame, task_column="site", label_column="ill", test_column="held")
