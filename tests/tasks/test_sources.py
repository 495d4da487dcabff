"""Streams from what people already have."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
import raw_files
from PIL import Image

from lifelong.exceptions import DatasetError, InputError, InputTypeError
from lifelong.tasks.base import Task
from lifelong.tasks.sources import (
    from_avalanche,
    from_frame,
    from_hugging_face,
    from_image_folders,
    from_table,
    from_torch,
    from_torch_classes,
)

COLUMNS = {
    "site": ["b", "a"] * 10,
    "ill": ["no", "no", "yes", "yes"] * 5,
    "age": [float(n) for n in range(20)],
    "dose": [n % 3 for n in range(20)],
}


def frame_of(kind):
    return COLUMNS if kind == "dict" else import_module(kind).DataFrame(COLUMNS)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_a_frame_with_a_task_column_becomes_a_stream(kind):
    stream = from_frame(frame_of(kind), task_column="site", label_column="ill", test_share=0.2)
    assert stream.names == ["b", "a"]  # in order of appearance
    task = stream["b"]
    assert task.X_train.shape == (8, 2)
    assert task.X_test.shape == (2, 2)
    assert task.classes == ["no", "yes"]
    assert {row[0] % 2 for row in np.concatenate([task.X_train, task.X_test]).tolist()} == {0.0}


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_a_column_can_say_which_rows_are_for_testing(kind):
    columns = {**COLUMNS, "held": [n >= 16 for n in range(20)]}
    frame = columns if kind == "dict" else import_module(kind).DataFrame(columns)
    task = from_frame(frame, task_column="site", label_column="ill", test_column="held")["a"]
    assert sorted(task.X_test[:, 0].tolist()) == [17.0, 19.0]


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_table_file_becomes_the_same_stream(kind, tmp_path):
    frame = import_module("polars").DataFrame(COLUMNS)
    path = tmp_path / f"table{kind}"
    frame.write_csv(path) if kind == ".csv" else frame.write_parquet(path)
    stream = from_table(path, task_column="site", label_column="ill", random_state=1)
    expected = from_frame(COLUMNS, task_column="site", label_column="ill", random_state=1)
    for task, other in zip(stream, expected, strict=True):
        np.testing.assert_array_equal(task.X_train, other.X_train)
        assert task.y_test.tolist() == other.y_test.tolist()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("site,ill\na,1\n", "No columns are left to learn from"),
        ("site,ill,age\na,1\n", "row 1: 2 cells, and the header has 3"),
        ("site,ill,age\n", "has a header and no rows"),
        ("site,ill,ill\na,1,2\n", "has two columns called 'ill'"),
        ("site,ill,age\n,1,3\na,1,2\n", "task column 'site' is empty in 1 rows, such as row 0"),
        ("place,ill,age\na,1,2\n", "No column 'site'. Columns: 'place', 'ill', 'age'"),
        ("site,ill,age\na,1,2\n", "leaves none to learn from or none to be tested on"),
        ("site,ill,age\na,1,\na,1,\n", "have no value in any column"),
        ("site,ill,age\na,,3\na,1,2\n", "label column 'ill' is empty in 1 rows, such as row 0"),
    ],
)
def test_a_table_that_cannot_be_read_says_why_and_names_the_file(text, problem, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=rf"table\.csv.*({problem})"):
        from_table(path, task_column="site", label_column="ill")


def test_a_table_that_is_not_there_or_of_another_kind_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"no\.csv is not a file"):
        from_table(tmp_path / "no.csv", task_column="a", label_column="b")
    (tmp_path / "table.xlsx").write_text("")
    with pytest.raises(DatasetError, match=r"unknown kind of table '\.xlsx'"):
        from_table(tmp_path / "table.xlsx", task_column="a", label_column="b")


def test_folders_of_folders_of_images_become_a_lazy_stream(tmp_path):
    for task in ("north", "south"):
        for label in ("cat", "dog"):
            for row in range(4):
                raw_files.save_image(tmp_path / task / label / f"{row}.png", size=20, seed=row)
    stream = from_image_folders(tmp_path, size=10)
    assert stream.names == ["north", "south"]
    assert stream["south"].X_train.shape == (6, 3, 10, 10)
    assert stream["south"].classes == ["cat", "dog"]
    (tmp_path / "north" / "cat" / "0.png").write_bytes(b"broken")
    assert len(stream["south"].y_test) == 2  # the broken one is not touched
    with pytest.raises(DatasetError, match=r"0\.png: unreadable image"):
        stream["north"]


def test_folders_named_train_and_test_are_taken_as_such(tmp_path):
    for part, rows in (("train", 3), ("test", 1)):
        for label in ("cat", "dog"):
            for row in range(rows):
                raw_files.save_image(tmp_path / "only" / part / label / f"{row}.jpg")
    task = from_image_folders(tmp_path, size=8, channels=1)["only"]
    assert task.X_train.shape == (6, 1, 8, 8)
    assert task.X_test.shape == (2, 1, 8, 8)


def test_folders_without_images_are_named(tmp_path):
    with pytest.raises(DatasetError, match=r"has no folders in it. Expected <task>/<class>"):
        from_image_folders(tmp_path)
    (tmp_path / "task" / "cat").mkdir(parents=True)
    with pytest.raises(DatasetError, match=r"task has no images in its folders"):
        from_image_folders(tmp_path)["task"]


class Pairs:
    """A map-style dataset as torch, Avalanche and many others have it."""

    def __init__(self, n, *extra, labels=2):
        self.n, self.extra, self.labels = n, extra, labels

    def __len__(self):
        return self.n

    def __getitem__(self, position):
        return (np.full((1, 4, 4), position, dtype=np.float32), position % self.labels, *self.extra)


def test_map_style_datasets_become_a_lazy_stream():
    stream = from_torch({"a": (Pairs(6), Pairs(4)), "b": (Pairs(3), Pairs(0))})
    assert stream["a"].X_train.shape == (6, 1, 4, 4)
    assert stream["a"].classes == [0, 1]
    with pytest.raises(InputError, match=r"The dataset is empty"):
        stream["b"]


def test_a_torch_dataset_of_tensors_is_read_as_it_is():
    import torch

    data = torch.utils.data.TensorDataset(torch.rand(6, 3), torch.arange(6) % 3)
    stream = from_torch_classes(data, data, classes_per_task=2)
    assert [task.classes for task in stream] == [[0, 1], [2]]
    assert stream.named(1).X_train.dtype == np.float32


def test_what_is_no_dataset_is_refused():
    with pytest.raises(InputTypeError, match=r"generator has no len"):
        from_torch({"a": ((pair for pair in ()), Pairs(1))})["a"]
    with pytest.raises(InputTypeError, match=r"does not give pairs"):
        from_torch({"a": ([1, 2], Pairs(1))})["a"]
    with pytest.raises(InputTypeError, match=r"list has no train_stream"):
        from_avalanche([])


class Experience:
    def __init__(self, dataset):
        self.dataset = dataset


class Benchmark:
    """The part of an Avalanche benchmark that matters."""

    def __init__(self, n_train, n_test):
        self.train_stream = [Experience(Pairs(6, 0)) for _ in range(n_train)]
        self.test_stream = [Experience(Pairs(2, 0)) for _ in range(n_test)]


def test_an_avalanche_benchmark_becomes_a_stream_of_its_experiences():
    stream = from_avalanche(Benchmark(3, 3))
    assert stream.names == [1, 2, 3]
    assert stream.named(3).X_test.shape == (2, 1, 4, 4)
    with pytest.raises(
        InputError, match=r"3 training and 1 test experiences. Expected as many of each"
    ):
        from_avalanche(Benchmark(3, 1))


class Columns:
    """The part of a Hugging Face dataset that matters."""

    def __init__(self, **columns):
        self.columns, self.column_names = columns, list(columns)

    def __getitem__(self, name):
        return self.columns[name]


def test_a_hugging_face_dataset_of_pictures_becomes_a_stream():
    grey = [Image.fromarray(picture) for picture in raw_files.pictures(8, 6, 6)]
    part = Columns(image=grey, label=[0, 1] * 4, site=["a"] * 4 + ["b"] * 4)
    options = {"task_column": "site", "label_column": "label", "feature_column": "image"}
    assert from_hugging_face(part, **options)["b"].X_train.shape == (3, 1, 6, 6)
    split = from_hugging_face({"train": part, "test": part}, **options)["a"]
    assert split.X_train.shape == split.X_test.shape == (4, 1, 6, 6)
    assert 0 <= split.X_train.min() < split.X_train.max() <= 1
    with pytest.raises(InputError, match=r"No column 'photo'. Columns: 'image', 'label', 'site'"):
        from_hugging_face(part, task_column="site", label_column="label", feature_column="photo")


def test_rows_of_different_shapes_are_refused():
    part = Columns(x=[[1.0], [1.0, 2.0]], y=[0, 1], site=["a", "a"])
    with pytest.raises(InputError, match=r"Rows differ in shape: \[\(1,\), \(2,\)\]"):
        from_hugging_face(part, task_column="site", label_column="y", feature_column="x")


def test_from_arrays_sets_a_share_of_each_class_apart():
    X, y = np.arange(40, dtype=float)[:, None], np.repeat(["a", "b"], [30, 10])
    task = Task.from_arrays("site", X, y, test_share=0.3)
    assert sorted(np.concatenate([task.X_train, task.X_test]).ravel().tolist()) == list(range(40))
    assert (task.y_test == "a").sum() == 9
    other = Task.from_arrays("site", X, y, test_share=0.3, random_state=1)
    assert not np.array_equal(task.X_test, other.X_test)
    with pytest.raises(InputError, match=r"test_share=0 leaves none"):
        Task.from_arrays("site", X, y, test_share=0)


def test_none_of_the_other_libraries_is_imported():
    # Pandas: scikit-learn itself imports it where it is.
    others = "{'torch', 'datasets', 'avalanche', 'polars', 'PIL'}"
    code = f"import sys, lifelong.tasks.sources; print({others} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"
