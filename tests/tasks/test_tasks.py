"""Tasks and streams, and how they are split and changed."""

import numpy as np
import pytest

from lifelong import Task, TaskStream
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError
from lifelong.tasks import splits
from lifelong.tasks.datasets import load
from lifelong.tasks.simulations import gaussian_xor, xor_stream


def numbered(n_per_class=6, classes=("a", "b", "c", "d")):
    """Every row has a number of its own."""
    y = np.repeat(classes, n_per_class)
    return np.arange(len(y), dtype=np.float32).reshape(-1, 1), y


def image_task():
    X = np.arange(4 * 9, dtype=np.float32).reshape(4, 1, 3, 3)
    return Task("t", X, [0, 1, 0, 1], X, [0, 1, 0, 1])


def test_a_task_checks_its_rows():
    X, y = numbered()
    with pytest.raises(InputError, match="24 rows and y has 23"):
        Task("t", X, y[:-1], X, y)
    with pytest.raises(InputError, match="expecting 1 features"):
        Task("t", X, y, np.hstack([X, X]), y)
    assert Task("t", X, y, X, y).X_train.dtype == np.float32


def test_a_stream_finds_tasks_by_name_and_by_position():
    X, y = numbered()
    stream = TaskStream([Task(name, X, y, X, y) for name in ("x", "y", "z")])
    assert (stream["y"].name, stream[0].name, stream[-1].name, len(stream)) == ("y", "x", "z", 3)
    assert stream[1:].names == ["y", "z"]
    with pytest.raises(
        UnknownTaskError, match=r"No task 'w' in this stream. Its tasks: 'x', 'y', 'z'"
    ):
        stream["w"]
    with pytest.raises(InputError, match="name of its own"):
        TaskStream([stream[0], stream[0]])


def test_a_whole_number_is_a_position_even_where_names_are_numbers():
    X, y = numbered()
    stream = splits.split_classes(X, y, X, y, classes_per_task=2)
    assert (stream[0].name, stream[1].name, stream.named(1).name) == (1, 2, 1)
    with pytest.raises(UnknownTaskError, match="No task at position 2: this stream has 2 tasks"):
        stream[2]
    with pytest.raises(UnknownTaskError, match="No task 3 in this stream. Its tasks: 1, 2"):
        stream.named(3)


def test_a_lazy_stream_loads_a_task_when_it_is_asked_for_and_not_before():
    X, y = numbered()
    loaded = []

    def loader(name):
        def load_task():
            loaded.append(name)
            return Task(name, X, y, X, y)

        return load_task

    stream = TaskStream.lazy({name: loader(name) for name in "xyz"}).map(lambda task: task)
    assert stream.names == ["x", "y", "z"]
    assert loaded == []
    assert stream["z"].name == "z"
    assert loaded == ["z"]


def test_classes_become_tasks_in_label_order_and_no_row_is_lost():
    X, y = numbered()
    shuffled = np.random.default_rng(0).permutation(len(y))
    stream = splits.split_classes(X[shuffled], y[shuffled], X, y, classes_per_task=2)
    assert [task.classes for task in stream] == [["a", "b"], ["c", "d"]]
    assert stream.names == [1, 2]
    rows = np.concatenate([task.X_train.ravel() for task in stream])
    np.testing.assert_array_equal(np.sort(rows), X.ravel())


def test_classes_may_be_taken_in_another_order():
    X, y = numbered()
    stream = splits.split_classes(X, y, X, y, classes_per_task=2, classes=["d", "a", "c", "b"])
    assert [task.classes for task in stream] == [["a", "d"], ["b", "c"]]


def test_rows_per_class_draws_other_rows_for_another_seed():
    X, y = numbered()
    task = Task("t", X, y, X, y)
    one, same, other = (splits.rows_per_class(task, 3, random_state=seed) for seed in (0, 0, 1))
    assert [list(one.y_train).count(label) for label in "abcd"] == [3] * 4
    np.testing.assert_array_equal(one.X_train, same.X_train)
    assert not np.array_equal(one.X_train, other.X_train)
    assert len(one.X_test) == len(X)
    with pytest.raises(InputError, match="fewer than 7 training rows of class 'a'"):
        splits.rows_per_class(task, 7, random_state=0)


def test_tasks_can_be_reordered():
    X, y = numbered()
    stream = splits.split_classes(X, y, X, y, classes_per_task=1)
    assert splits.reorder(stream, [3, 1, 4, 2]).names == [3, 1, 4, 2]
    assert sorted(splits.shuffle_order(stream, random_state=0).names) == [1, 2, 3, 4]
    with pytest.raises(InputError, match="names each task once"):
        splits.reorder(stream, [1, 1, 2, 3])


def test_shuffled_labels_keep_their_counts_and_lose_their_meaning():
    X, y = numbered(n_per_class=50)
    task = splits.shuffle_labels(Task("t", X, y, X, y), random_state=0)
    np.testing.assert_array_equal(np.sort(task.y_train), y)
    assert (task.y_train == y).mean() < 0.5
    np.testing.assert_array_equal(task.y_test, y)


def test_images_turn_counter_clockwise():
    task = image_task()
    turned = splits.rotate(task, 90)
    np.testing.assert_array_equal(turned.X_train[0, 0], np.rot90(task.X_train[0, 0]))
    near = splits.rotate_images(task.X_train, 89.9)
    np.testing.assert_allclose(near, turned.X_train, atol=0.2)
    np.testing.assert_array_equal(splits.rotate(task, 0).X_train, task.X_train)
    with pytest.raises(InputError, match="Only images"):
        splits.rotate_images(np.zeros((3, 4)), 10)


def test_halves_share_no_training_row_and_keep_every_class():
    X, y = numbered()
    first, second = splits.halve(Task("t", X, y, X, y), random_state=0)
    assert (first.name, second.name) == ("t-a", "t-b")
    assert not set(first.X_train.ravel()) & set(second.X_train.ravel())
    assert [list(half.y_train).count("c") for half in (first, second)] == [3, 3]


def test_xor_has_four_gaussians_and_equal_priors():
    X, y = gaussian_xor(20_000, random_state=0)
    assert y.mean() == pytest.approx(0.5, abs=0.02)
    corner = (X[:, 0] > 0) & (X[:, 1] > 0)
    assert y[corner].mean() < 0.1
    np.testing.assert_allclose(X[corner & (y == 0)].mean(axis=0), 0.5, atol=0.03)
    assert X.std(axis=0) == pytest.approx(np.hypot(0.5, 0.25), abs=0.01)


def test_xnor_is_xor_with_the_classes_exchanged_and_a_turn_is_a_turn():
    X, y = gaussian_xor(100, random_state=0)
    flipped_X, flipped_y = gaussian_xor(100, flip=True, random_state=0)
    np.testing.assert_array_equal(X, flipped_X)
    np.testing.assert_array_equal(y, 1 - flipped_y)
    turned, _ = gaussian_xor(100, angle=90, random_state=0)
    np.testing.assert_allclose(turned, np.stack([-X[:, 1], X[:, 0]], axis=1), atol=1e-6)


def test_a_xor_stream_has_the_papers_sizes_and_fresh_rows_per_seed():
    xor, second = xor_stream(random_state=0)
    assert (len(xor.X_train), len(second.X_train), len(xor.X_test)) == (750, 750, 1000)
    assert not np.array_equal(xor.X_train, xor_stream(random_state=1)[0].X_train)
    assert not np.isin(xor.X_train[:, 0], second.X_train[:, 0]).any()
    assert xor_stream(10, second="r-xor", n_second=20, random_state=0).names == ["xor", "r-xor"]
    with pytest.raises(ParameterError, match="second='xor' is unknown"):
        xor_stream(second="xor")


def test_no_digit_is_in_two_tasks_or_on_both_sides_of_one():
    stream = load("digits", step=360)  # upright again, so that pixels can be compared
    parts = [part for task in stream for part in (task.X_train, task.X_test)]
    sizes = [len(part) for part in parts]
    assert sum(sizes) == 1797
    distinct = {image.tobytes() for part in parts for image in part}
    assert len(distinct) == 1797
    assert [len(task.y_train) for task in stream] == [80] * 6
    assert all(task.classes == list(range(10)) for task in stream)


def test_digits_refuse_more_rows_than_there_are():
    with pytest.raises(InputError, match="leave no test rows"):
        load("digits", rows_per_class=40)
