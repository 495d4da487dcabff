"""evaluate measures what a hand-written loop measures."""

import numpy as np
import pytest

from lifelong import SillyForest, SillyNetwork, Task, TaskStream, evaluate
from lifelong.exceptions import ParameterError
from lifelong.tasks.simulations import xor_stream


def make(seed, **more):
    return SillyForest(3, random_state=seed, **more)


def stream_of(seed):
    return xor_stream(60, n_test=50, random_state=seed)


def test_the_table_equals_a_loop_written_by_hand():
    table = evaluate(make, stream_of, 2, seed=5)
    for r, seed in enumerate((5, 6)):
        learner, tasks = make(seed), list(stream_of(seed))
        for s, task in enumerate(tasks):
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
            for t, old in enumerate(tasks[: s + 1]):
                wrong = learner.predict(old.X_test, task=old.name) != old.y_test
                assert table.errors[r, t, s] == pytest.approx(wrong.mean())
            alone = make(seed).partial_fit(task.X_train, task.y_train, task=task.name)
            assert table.single[r, s] == pytest.approx(
                (alone.predict(task.X_test) != task.y_test).mean()
            )
    assert np.isnan(table.errors[:, 1, 0]).all()
    assert table.tasks == ["xor", "xnor"]
    np.testing.assert_array_equal(table.test_rows, 50)


def test_repetitions_in_processes_measure_the_same_errors():
    one, two = (evaluate(make, stream_of, 2, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_array_equal(one.single, two.single)
    for name in one.references:
        np.testing.assert_array_equal(one.references[name], two.references[name])


def test_a_forest_is_measured_against_forests_of_one_encoder_and_of_the_same_size():
    models = make(0).plain_models(4)
    assert {name: model[-1].n_estimators for name, model in models.items()} == {
        "rf-one-encoder": 3,
        "rf-same-size": 12,
    }
    assert make(0, budget=2).plain_models(4)["rf-same-size"][-1].n_estimators == 6


def test_a_network_is_measured_against_the_same_network_on_all_rows():
    table = evaluate(lambda seed: SillyNetwork((8,), epochs=2, random_state=seed), stream_of, 1)
    assert list(table.references) == ["network"]
    assert np.isfinite(table.gain).all()


def test_a_stream_of_images_with_odd_labels_is_measured():
    rng = np.random.default_rng(0)
    X, labels = rng.random((20, 1, 4, 4)), [("a", 1), None] * 10
    table = evaluate(make, TaskStream([Task("t", X, labels, X, labels)]), 1)
    assert table.errors.shape == (1, 1, 1)


def test_resources_are_measured():
    table = evaluate(make, stream_of, 2)
    assert (table.train_seconds > 0).all()
    assert table.train_seconds.shape == table.predict_seconds.shape == (2, 2)
    assert set(table.sizes) == {"parameters", "encoders", "channels", "rows"}
    assert "ErrorTable(SillyForest: 2 tasks, 2 repetitions" in repr(table)


def test_no_repetitions_are_refused():
    with pytest.raises(ParameterError, match="repetitions=0"):
        evaluate(make, stream_of, 0)
