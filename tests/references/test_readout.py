"""Our read-out, offered to the references."""

from typing import Any

import numpy as np
import pytest
import torch
from tiny_references import taught, teach, tiny

from lifelong import TaskStream, load, save
from lifelong.encoders.base import n_answers_of
from lifelong.exceptions import ParameterError
from lifelong.references.joined import SideBySide
from lifelong.references.readout import SHARE, some_rows

NAMES = ("single", "model-zoo", "total-replay", "prognn")
CNN = {"network": "cnn", "width": 0.05}


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_learnt_and_comes_back_from_a_file_bit_for_bit(
    name: str, flat: TaskStream, tmp_path: Any
) -> None:
    learner = teach(tiny(name, readout="ridge"), flat)
    save(learner, tmp_path)
    again = load(tmp_path)
    for task in flat:
        assert learner.score(task.X_test, task.y_test, task=task.name) > 0.6
        np.testing.assert_array_equal(
            again.predict_proba(task.X_test, task.name),
            learner.predict_proba(task.X_test, task.name),
        )
    assert again.sizes() == learner.sizes()


@pytest.mark.parametrize("name", NAMES)
def test_softmax_is_the_default_and_keeps_no_rows_for_a_channel(
    name: str, flat: TaskStream
) -> None:
    said = teach(tiny(name, readout="softmax"), flat)
    for task in flat:
        np.testing.assert_array_equal(
            said.predict_proba(task.X_test, task.name),
            taught(name).predict_proba(task.X_test, task.name),
        )
    assert not said.knowledge_.readout_rows


@pytest.mark.parametrize("name", NAMES)
def test_the_network_trains_on_some_rows_and_the_channel_knows_which(
    name: str, flat: TaskStream
) -> None:
    learner = teach(tiny(name, readout="ridge"), flat)
    for task in flat:
        rows = learner.knowledge_.readout_rows[task.name]
        n_rows = len(task.y_train)
        assert len(rows.y) == n_rows
        assert rows.in_bag.sum() == pytest.approx(SHARE * n_rows, abs=4)
        if name != "prognn":  # which keeps no rows to train with
            np.testing.assert_array_equal(learner.memory_[task.name].X, rows.X[rows.in_bag])
        reading = learner.knowledge_.reading(task.name, torch.device("cpu"))
        np.testing.assert_array_equal(reading.channel.views["own"].in_bag, rows.in_bag)


def test_total_replays_channels_follow_the_network(flat: TaskStream) -> None:
    learner = teach(tiny("total-replay", readout="ridge"), flat[:1])
    before = learner.predict_proba(flat[0].X_test, "first")
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    assert (learner.predict_proba(flat[0].X_test, "first") != before).any()


@pytest.mark.parametrize("name", ["prognn", "single"])
def test_where_nothing_is_forgotten_old_answers_stay_bit_for_bit(
    name: str, flat: TaskStream
) -> None:
    learner = teach(tiny(name, readout="ridge"), flat[:1])
    before = learner.predict_proba(flat[0].X_test, "first")
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    np.testing.assert_array_equal(learner.predict_proba(flat[0].X_test, "first"), before)


def test_members_of_a_zoo_that_know_the_task_are_read_apart_from_those_that_do_not(
    flat: TaskStream,
) -> None:
    learner = teach(tiny("model-zoo", readout="ridge", tasks_per_round=1), flat)
    reading = learner.knowledge_.reading("second", torch.device("cpu"))
    assert list(reading.encoders) == ["other 0", "other 1", "own"]
    together = teach(tiny("model-zoo", readout="ridge", tasks_per_round=3), flat)
    reading = together.knowledge_.reading("first", torch.device("cpu"))
    assert list(reading.encoders) == ["own"]
    assert isinstance(reading.encoders["own"], SideBySide)


@pytest.mark.parametrize("name", NAMES)
def test_of_images_the_networks_own_answer_comes_last(name: str, images: TaskStream) -> None:
    learner = teach(tiny(name, readout="ridge", **CNN), images[:2])
    reading = learner.knowledge_.reading("second", torch.device("cpu"))
    own = reading.encoders["own"]
    assert n_answers_of(own) == 2
    answers = own.encode(images[1].X_test)[:, -2:]
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=1e-5)
    if name != "model-zoo":  # whose mean is over members
        number = 1
        with torch.inference_mode():
            said = learner.model_.posteriors(torch.from_numpy(images[1].X_test), number)
        np.testing.assert_allclose(answers, said.numpy(), rtol=1e-3, atol=1e-5)
    rows = some_rows(learner.knowledge_.readout_rows["second"], torch.device("cpu"))
    assert len(learner.model_.bodies(1, rows).own) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_known_task_takes_in_more_rows_and_a_new_class(name: str, flat: TaskStream) -> None:
    learner = teach(tiny(name, readout="ridge"), flat[:2])
    task = flat[0]
    labels = np.where(task.y_train == "first-0", "first-new", task.y_train)
    learner.partial_fit(task.X_train, labels, task="first")
    posteriors = learner.predict_proba(task.X_test, "first")
    assert posteriors.shape[1] == 4
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)


def test_an_unknown_read_out_and_a_network_without_layers_to_read_are_refused(
    flat: TaskStream, images: TaskStream
) -> None:
    with pytest.raises(ParameterError, match="readout"):
        tiny("single", readout="forest").partial_fit(flat[0].X_train, flat[0].y_train)
    learner = tiny("df-cnn", readout="ridge").partial_fit(images[0].X_train, images[0].y_train)
    with pytest.raises(ParameterError, match="readout='softmax'"):
        learner.predict_proba(images[0].X_test)
