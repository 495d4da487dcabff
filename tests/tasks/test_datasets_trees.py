"""Food1k and CORe50 in their official layouts, and how lazily their many tasks are loaded."""

import tracemalloc

import numpy as np
import pytest
import raw_files

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.tasks.datasets import load
from lifelong.tasks.datasets.core50 import core50_110x5
from lifelong.tasks.datasets.food1k import food1k_50x20


@pytest.fixture(scope="module")
def core50(tmp_path_factory):
    root = tmp_path_factory.mktemp("core50")
    raw_files.write_core50(root)
    return root


@pytest.mark.parametrize("lists", [True, False], ids=["with list files", "class folders alone"])
def test_food1k_draws_training_rows_of_each_class_and_tests_on_the_rest(tmp_path, lists):
    raw_files.write_food1k(tmp_path, lists=lists)
    stream = food1k_50x20(tmp_path, rows_per_class=3, classes_per_task=2)
    assert stream.names == [1, 2, 3]
    for number, task in enumerate(stream):
        assert task.X_train.shape == (6, 3, 50, 50)
        assert task.X_test.shape == (14, 3, 50, 50)  # 5 in Train and 5 in Val of each class, less 3
        assert task.classes == [2 * number, 2 * number + 1]


def test_food1k_reads_only_what_its_list_files_name(tmp_path):
    folder = raw_files.write_food1k(tmp_path)
    raw_files.save_image(folder / "Train" / "0" / "extra.jpg", size=24)
    assert (
        sum(
            len(task.y_train) + len(task.y_test)
            for task in food1k_50x20(tmp_path, rows_per_class=1)
        )
        == 60
    )


def test_food1k_is_decoded_anew_when_a_list_file_changes_a_label(tmp_path):
    path = raw_files.write_food1k(tmp_path, classes=2) / "train_finetune.txt"
    before = food1k_50x20(tmp_path, rows_per_class=1).named(1)
    path.write_text(path.read_text().replace("0/train0.jpg 0", "0/train0.jpg 1"))
    after = food1k_50x20(tmp_path, rows_per_class=1).named(1)
    assert (len(before.y_test[before.y_test == 1]), len(after.y_test[after.y_test == 1])) == (9, 10)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0/nowhere.jpg 0", "names 0/nowhere.jpg, which is not there"),
        ("0/train0.jpg", "line 1 is"),
        ("../x.jpg 0", "line 1"),
    ],
)
def test_a_wrong_line_in_a_list_file_is_named(tmp_path, line, problem):
    folder = raw_files.write_food1k(tmp_path)
    (folder / "train_finetune.txt").write_text(line)
    with pytest.raises(DatasetError, match=rf"train_finetune.txt: .*{problem}"):
        food1k_50x20(tmp_path)


def test_a_missing_class_of_food1k_is_named(tmp_path):
    folder = raw_files.write_food1k(tmp_path, lists=False)
    for part in ("Train", "Val"):
        (folder / part / "2").rename(folder / part / "9")
    with pytest.raises(DatasetError, match=r"food1k has no class 2. Expected class folders 0 to 9"):
        food1k_50x20(tmp_path)


def test_core50_is_110_tasks_of_five_objects(core50):
    stream = load("core50-110x5", core50, rows_per_class=2)
    assert len(stream) == 110
    assert (stream.names[0], stream.names[1], stream.names[-1]) == ("s1-o1", "s1-o6", "s11-o46")
    task = stream["s11-o46"]
    assert task.X_train.shape == (10, 3, 32, 32)
    assert task.X_test.shape == (5, 3, 32, 32)
    assert task.classes == [46, 47, 48, 49, 50]


def test_core50_can_be_tested_on_the_authors_own_sessions(core50):
    stream = core50_110x5(core50, rows_per_class=2, split="sessions")
    assert len(stream) == 80
    assert not [name for name in stream.names if name.startswith(("s3-", "s7-", "s10-"))]
    assert stream["s1-o1"].X_test.shape == (3 * 3 * 5, 3, 32, 32)  # sessions × frames × objects


def test_a_stream_of_110_tasks_never_holds_more_than_the_one_in_use(core50):
    stream = core50_110x5(core50, rows_per_class=2)
    size = sum(X.nbytes for X in (stream[0].X_train, stream[0].X_test))
    tracemalloc.start()
    for task in stream:
        assert len(task.y_train) == 10
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (
        peak < 4 * size
    )  # the task before, the one in the making and a copy of its bytes; all would be 110


def test_a_missing_object_or_a_misnamed_frame_is_named(tmp_path):
    folder = raw_files.write_core50(tmp_path, sessions=2, things=5)
    frame = folder / "s2" / "o3" / "C_02_03_001.png"
    frame.rename(frame.with_name("C_02_04_001.png"))
    with pytest.raises(
        DatasetError,
        match=r"C_02_04_001.png: not a name of this folder. Expected C_02_03_<frame>.png",
    ):
        core50_110x5(tmp_path)
    (folder / "s2" / "o3").rename(folder / "elsewhere")
    with pytest.raises(
        DatasetError, match=r"o3 is missing or empty. Expected frames C_02_03_000.png"
    ):
        core50_110x5(tmp_path)


def test_rows_that_would_leave_nothing_to_test_on_are_refused(core50):
    with pytest.raises(
        DatasetError, match=r"a class with 3 rows .*rows_per_class=3 and at least one test row"
    ):
        core50_110x5(core50, rows_per_class=3)
    with pytest.raises(ParameterError, match=r"rows_per_class=None leaves no test rows"):
        core50_110x5(core50, rows_per_class=None)


def test_images_of_any_size_are_resized(tmp_path):
    raw_files.write_mini_imagenet(tmp_path, classes=5, rows=2, size=100)
    task = load("mini-imagenet-20x5", tmp_path).named(1)
    assert task.X_train.shape == (10, 3, 84, 84)
    assert 0.3 < float(np.mean(task.X_train)) < 0.7
