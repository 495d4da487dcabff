"""Streams of tables: which rows are for what, and what a damaged file says."""

import gzip

import numpy as np
import pytest

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.rows import Table
from lifelong.tasks.datasets import DATASETS, load

NAMES = ["heart", "adult", "beijing", "vowel", "amazon", "school"]
TABLES = [f"tables-{name}" for name in NAMES]


def write_heart(root, text=None):
    """Two hospitals of eight rows; one does not measure ``thal``; one row has no target."""
    if text is None:
        lines = ["hospital,age,sex,thal,disease"]
        lines += [f"a,{40 + n},{'fm'[n % 2]},{'fixed' if n % 3 else ''},{n % 2}" for n in range(8)]
        lines += [f"b,{50 + n},{'fm'[n % 2]},,{n % 2}" for n in range(8)]
        text = "\n".join([*lines, "b,99,f,,"]) + "\n"
    folder = root / "tables"
    folder.mkdir(exist_ok=True)
    (folder / "heart.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def times_in(X):
    return X.column("time").objects().astype("datetime64[s]")


def test_rows_without_a_target_and_columns_never_measured_are_left_out(tmp_path):
    write_heart(tmp_path)
    stream = load("tables-heart", tmp_path, test_share=0.5)
    assert stream.names == ["a", "b"]
    assert stream["b"].X_train.shape == stream["b"].X_test.shape == (4, 2)
    assert list(stream["a"].X_train) == ["age", "sex", "thal"]
    assert sorted(stream["b"].y_test.tolist()) == [0, 0, 1, 1]


def test_rows_for_testing_do_not_depend_on_how_many_are_learnt_from(tmp_path):
    write_heart(tmp_path)
    few = load("tables-heart", tmp_path, rows_per_task=2)["a"]
    all_rows = load("tables-heart", tmp_path)["a"]
    assert len(few.y_train) == 2
    np.testing.assert_array_equal(few.X_test.column("age"), all_rows.X_test.column("age"))
    assert {*few.X_train.column("age")} <= {*all_rows.X_train.column("age")}
    other = load("tables-heart", tmp_path, random_state=1)["a"]
    assert {*other.X_test.column("age")} != {*few.X_test.column("age")}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("place,age,disease\na,1,no\n", "no task column 'hospital'"),
        ("hospital,age,ill\na,1,no\n", "no label column 'disease'"),
        ("hospital,age,disease\n,1,no\n", "must name the task of every row"),
        ("hospital,age,disease\na,1,\n", "'disease' has no value in any row"),
        ("hospital,age,disease\na,1\n", "row 1: 2 cells, and the header has 3"),
        ("", "is empty"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_was_expected(text, problem, tmp_path):
    write_heart(tmp_path, text)
    with pytest.raises(DatasetError, match=rf"heart\.csv\.gz.*{problem}"):
        load("tables-heart", tmp_path)


def test_a_damaged_or_missing_file_is_named(tmp_path):
    path = write_heart(tmp_path) / "heart.csv.gz"
    content = path.read_bytes()
    for damaged in (content[:-9], content[:40] + b"\xff\xff" + content[42:]):
        path.write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"heart\.csv\.gz cannot be read"):
            load("tables-heart", tmp_path)
    with pytest.raises(DatasetError, match=r"Make adult\.csv\.gz from UCI Adult"):
        load("tables-adult", tmp_path)
    assert DATASETS["tables-adult"].missing(tmp_path)
    assert DATASETS["tables-heart"].size_on_disk(tmp_path) == len(damaged)


def test_a_file_that_changes_is_read_again(tmp_path):
    write_heart(tmp_path)
    assert load("tables-heart", tmp_path).names == ["a", "b"]
    write_heart(tmp_path, "hospital,age,disease\nc,1,no\nc,2,yes\nc,3,no\nc,4,yes\n")
    assert load("tables-heart", tmp_path).names == ["c"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"split": "times"}, "split='times' is unknown. Did you mean 'time'"),
        ({"target": "numbers"}, "target='numbers' is unknown"),
        ({"rows_per_task": 0}, "rows_per_task=0"),
        ({"test_share": 1.0}, "leaves no rows to learn from"),
    ],
)
@pytest.mark.data
def test_unknown_options_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        load("tables-beijing", **options)


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_a_table_loads_as_the_catalogue_says(name):
    dataset = DATASETS[name]
    stream = load(name, rows_per_task=50, test_rows_per_task=20)
    tasks = list(stream)
    assert len(tasks) == dataset.tasks
    assert len({label for task in tasks for label in task.classes}) == dataset.classes
    assert all(len(task.y_train) <= 50 and len(task.y_test) <= 20 for task in tasks)
    assert max(task.X_train.shape[1] for task in tasks) == dataset.shape[0]
    has_text = name in ("tables-heart", "tables-adult", "tables-beijing")
    assert isinstance(tasks[0].X_train, Table) is has_text


@pytest.mark.data
def test_beijing_by_time_is_tested_on_days_after_those_learnt_from():
    for task in load("tables-beijing", split="time", rows_per_task=50)[:3]:
        assert times_in(task.X_train).max() < times_in(task.X_test).min()
        assert len(task.y_test) == 750


@pytest.mark.data
def test_beijing_is_three_classes_or_a_number():
    classes = load("tables-beijing")[0]
    numbers = load("tables-beijing", target="number", split="time")[0]
    assert set(classes.classes) == {"up to 35", "up to 115", "above 115"}
    assert numbers.target == "number"
    assert numbers.y_train.max() > 115
