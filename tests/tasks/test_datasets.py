"""The benchmarks load from their real files: shapes, counts, and what the seed does."""

import time

import numpy as np
import pytest

from lifelong.exceptions import DatasetError, ParameterError
from lifelong.tasks.datasets import DATASETS, load

NAMES = [
    "spoken-digit",
    "cifar-10x10",
    "five-datasets",
    "mini-imagenet-20x5",
    "food1k-50x20",
    "core50-110x5",
    "tabular-cifar",
    "digits",
]


def test_every_benchmark_of_the_paper_has_a_name():
    assert [name for name in DATASETS if name in NAMES] == NAMES
    assert all(dataset.name == name for name, dataset in DATASETS.items())


@pytest.mark.data
def test_spoken_digit_is_six_speakers_with_ten_digits_and_all_3000_recordings():
    stream = load("spoken-digit")
    assert stream.names == ["george", "jackson", "lucas", "nicolas", "theo", "yweweler"]
    for task in stream:
        assert task.X_train.shape == (275, 1, 28, 28)  # 55 % of 500, as in the paper's table
        assert task.X_test.shape == (225, 1, 28, 28)
        assert task.classes == list(range(10))
        assert set(np.bincount(task.y_train)) <= {27, 28}
        assert 0 <= task.X_train.min() < task.X_train.max() <= 1


@pytest.mark.data
def test_cifar_10x10_is_ten_tasks_of_ten_classes_in_label_order():
    stream = load("cifar-10x10")
    assert len(stream) == 10
    for number, task in enumerate(stream):
        assert task.X_train.shape == (500, 3, 32, 32)
        assert task.X_test.shape == (1000, 3, 32, 32)
        assert task.classes == list(range(10 * number, 10 * number + 10))
        assert set(np.bincount(task.y_train)[task.classes]) == {50}
        assert task.X_train.dtype == np.float32
        assert task.X_train.max() <= 1


@pytest.mark.data
def test_five_datasets_are_five_tasks_of_ten_classes_as_3x32x32():
    stream = load("five-datasets")
    assert stream.names == ["cifar-10", "mnist", "svhn", "notmnist", "fashion-mnist"]
    rows = {}
    for task in stream:
        assert task.X_train.shape[1:] == task.X_test.shape[1:] == (3, 32, 32)
        assert task.classes == sorted(set(task.y_test.tolist())) == list(range(10))
        rows[task.name] = (len(task.y_train), len(task.y_test))
    assert rows["cifar-10"] == rows["svhn"] == (5000, 1000)
    assert rows["mnist"] == rows["fashion-mnist"] == (10000, 2000)
    assert sum(rows["notmnist"]) == 10000


@pytest.mark.data
def test_notmnist_duplicates_never_fall_on_both_sides_of_the_split():
    task = load("five-datasets")["notmnist"]
    train, test = ({image.tobytes() for image in X} for X in (task.X_train, task.X_test))
    assert len(train) < len(task.X_train)  # there are duplicates
    assert not train & test


@pytest.mark.data
def test_mini_imagenet_is_twenty_tasks_of_five_classes_of_84x84():
    stream = load("mini-imagenet-20x5")
    assert len(stream) == 20
    classes = [label for task in stream for label in task.classes]
    assert len(set(classes)) == 100
    assert stream.named(20).X_train.shape == (150, 3, 84, 84)
    assert stream.named(20).X_test.shape == (60, 3, 84, 84)


@pytest.mark.data
def test_tabular_cifar_has_the_very_rows_of_cifar_10x10():
    flat, images = load("tabular-cifar", random_state=3)[4], load("cifar-10x10", random_state=3)[4]
    assert flat.X_train.shape == (500, 3072)
    np.testing.assert_array_equal(flat.X_train, images.X_train.reshape(500, -1))
    np.testing.assert_array_equal(flat.y_test, images.y_test)


@pytest.mark.data
def test_another_repetition_draws_other_rows_and_the_same_one_the_same():
    first, again, other = (
        load("cifar-10x10", rows_per_class=5, random_state=seed)[1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)
    np.testing.assert_array_equal(first.X_test, other.X_test)  # all test rows, whatever the seed


@pytest.mark.data
def test_spoken_digit_splits_anew_for_each_repetition_without_overlap():
    task, other = (load("spoken-digit", random_state=seed)["theo"] for seed in (0, 1))
    train, test = ({row.tobytes() for row in X} for X in (task.X_train, task.X_test))
    assert len(train) + len(test) == len(train | test) == 500
    assert train != {row.tobytes() for row in other.X_train}


@pytest.mark.data
def test_the_second_load_takes_well_under_a_second():
    for name in ("spoken-digit", "cifar-10x10", "five-datasets", "mini-imagenet-20x5"):
        load(name)
        seconds = []
        for _ in range(3):  # the quickest: other work on the machine is not ours
            start = time.perf_counter()
            load(name)
            seconds.append(time.perf_counter() - start)
        assert min(seconds) < 0.8, name


@pytest.mark.data
def test_overlapping_tasks_draw_classes_with_replacement():
    stream = load("cifar-10x10", overlapping_tasks=20, rows_per_class=2, test_rows_per_class=1)
    groups = [task.classes for task in stream]
    assert [len(group) for group in groups] == [10] * 20
    assert len({label for group in groups for label in group}) < 200
    other = load(
        "cifar-10x10", overlapping_tasks=20, rows_per_class=2, test_rows_per_class=1, random_state=1
    )
    assert [task.classes for task in other] != groups


@pytest.mark.data
def test_options_choose_rows_classes_order_labels_and_rotation():
    options = {"rows_per_class": 4, "test_rows_per_class": 2, "classes_per_task": 20}
    plain = load("cifar-10x10", **options)
    changed = load(
        "cifar-10x10", order=[5, 4, 3, 2, 1], shuffle_labels=[2], rotate={3: 90}, **options
    )
    assert (len(plain), changed.names) == (5, [5, 4, 3, 2, 1])
    assert plain.named(1).X_train.shape == (80, 3, 32, 32)
    assert plain.named(1).X_test.shape == (40, 3, 32, 32)
    np.testing.assert_array_equal(changed.named(1).X_train, plain.named(1).X_train)
    np.testing.assert_array_equal(changed.named(2).X_train, plain.named(2).X_train)
    assert not np.array_equal(changed.named(2).y_train, plain.named(2).y_train)
    np.testing.assert_array_equal(
        np.sort(changed.named(2).y_train), np.sort(plain.named(2).y_train)
    )
    np.testing.assert_array_equal(
        changed.named(3).X_train, np.rot90(plain.named(3).X_train, axes=(2, 3))
    )


@pytest.mark.data
def test_asking_for_more_rows_than_there_are_says_how_many_there_are():
    with pytest.raises(
        DatasetError, match=r"train\.bin has 100 rows of class .*Ask for at most 100"
    ):
        load("cifar-10x10", rows_per_class=101)


def test_unknown_names_and_options_say_what_exists():
    with pytest.raises(ParameterError, match=r"Choose one of: 'spoken-digit', 'cifar-10x10'"):
        load("cifar")
    with pytest.raises(
        ParameterError,
        match=r"digits has no option 'rows'. Its options: 'n_tasks', 'rows_per_class'",
    ):
        load("digits", rows=3)
    with pytest.raises(ParameterError, match=r"No task '45°' in this stream. Its tasks: '0°'"):
        load("digits", shuffle_labels=["45°"])
    with pytest.raises(ParameterError, match=r"order='reversed' is unknown"):
        load("digits", order="reversed")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "digits"])
def test_a_missing_dataset_says_what_to_put_where(name, tmp_path):
    with pytest.raises(DatasetError, match=r"(is not in|lacks) .*Put .* into .*LIFELONG_DATA"):
        load(name, tmp_path)
