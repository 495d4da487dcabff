"""A learner that keeps itself on the disk is the same learner, however often its process ends."""

import pickle
import threading

import numpy as np
import pytest
from reading import watch
from small import OURS, forest, network, rows, same_answers, taught

from lifelong import SillyForest, Store, load, save
from lifelong.exceptions import NotLearntError, PersistenceError


@pytest.mark.parametrize(
    "name", ["forest", "forest on a budget", "ridge forest", "network", "neighbours network"]
)
def test_a_stored_learner_equals_one_in_memory_through_every_restart(name, tmp_path):
    make = OURS[name][0]
    plain = make()
    for number in range(4):
        stored = make().set_params(store=tmp_path)  # a new process, each time
        for learner in (plain, stored):
            learner.partial_fit(*rows(number), task=f"task-{number}")
        assert same_answers(plain, stored)
        assert same_answers(plain, load(tmp_path))
    for learner in (plain, make().set_params(store=tmp_path)):
        learner.partial_fit(*rows(1, n=9), task="task-0")
    again = make().set_params(store=tmp_path)
    assert same_answers(plain, again)
    assert plain.sizes() == again.sizes()


def test_what_is_learnt_is_on_the_disk_when_partial_fit_returns(tmp_path):
    learner = forest(store=tmp_path)
    for number in range(3):
        learner.partial_fit(*rows(number), task=number)
        assert list(load(tmp_path).tasks_) == list(range(number + 1))
    learner.forget(1).rename(2, "two")
    assert list(load(tmp_path).tasks_) == [0, "two"]
    learner.fit(*rows(0))
    assert list(load(tmp_path).tasks_) == ["task"]


def test_an_empty_store_is_a_learner_that_has_learnt_nothing(tmp_path):
    learner = forest(store=tmp_path / "new")
    with pytest.raises(NotLearntError):
        learner.predict(rows(0)[0])
    assert not (tmp_path / "new").exists()


def test_a_failed_lesson_leaves_store_and_learner_alone(tmp_path):
    learner = taught(forest(store=tmp_path), 2)
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(ValueError, match="features"):
        learner.partial_fit(np.zeros((3, 9)), [0, 1, 0], task="wrong")
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert list(learner.tasks_) == ["task-0", "task-1"]


def test_other_parameters_than_the_stored_ones_are_refused(tmp_path):
    taught(forest(store=tmp_path), 1)
    with pytest.raises(PersistenceError, match="has budget=None, and this one has budget=3"):
        forest(store=tmp_path, budget=3).predict(rows(0)[0])
    with pytest.raises(PersistenceError, match="holds a SillyForest, not a SillyNetwork"):
        network(store=tmp_path).predict(rows(0)[0])
    assert list(forest(store=tmp_path, n_jobs=2).tasks_) == ["task-0"]
    other = taught(forest(), 1).set_params(store=tmp_path)
    with pytest.raises(PersistenceError, match="has learnt tasks of its own"):
        other.partial_fit(*rows(1), task="task-1")


def test_two_learners_on_one_store_take_turns(tmp_path):
    a, b, plain = forest(store=tmp_path), forest(store=tmp_path), forest()
    for number, learner in enumerate([a, b, a, b]):
        learner.partial_fit(*rows(number), task=f"task-{number}")
        plain.partial_fit(*rows(number), task=f"task-{number}")
    assert same_answers(b, plain)
    assert list(a.tasks_) == ["task-0", "task-1", "task-2"]  # as of its own last lesson
    a.partial_fit(*rows(4), task="task-4")
    assert list(a.tasks_) == [f"task-{number}" for number in range(5)]


def test_little_of_a_large_learner_is_in_memory(tmp_path):
    taught(forest(store=Store(tmp_path)), 6)
    learner = forest(store=Store(tmp_path, cache_bytes=5_000))
    cache = learner._opened().cache
    assert list(learner.tasks_) == [f"task-{number}" for number in range(6)]
    assert cache.nbytes == 0, "nothing is loaded before it is needed"
    assert same_answers(learner, load(tmp_path))
    assert 0 < cache.nbytes <= 5_000
    assert sum(learner.sizes()[part] for part in ("encoders", "channels", "rows")) > 10_000


def test_large_files_are_mapped_and_never_changed(tmp_path, monkeypatch):
    monkeypatch.setattr("lifelong.persistence.saving.MAPPED_FROM", 1)
    plain, learner = taught(forest(), 2), taught(forest(store=tmp_path), 2)
    again = forest(store=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.safetensors")}
    again.memory_["task-0"].X[:] = 0  # the map is private
    assert {path: path.read_bytes() for path in tmp_path.glob("*.safetensors")} == before
    again = forest(store=tmp_path)
    for one in (plain, again):
        one.partial_fit(*rows(2), task="task-2")
    assert same_answers(plain, again)
    assert list(learner.tasks_) == ["task-0", "task-1"]


def test_a_stored_learner_can_be_copied_and_pickled(tmp_path):
    learner = taught(forest(store=tmp_path), 2)
    again = pickle.loads(pickle.dumps(learner))  # noqa: S301
    assert same_answers(learner, again)
    again.partial_fit(*rows(2), task="task-2")
    assert same_answers(load(tmp_path), again)
    alone = learner.alone("task-0")
    alone.partial_fit(*rows(5), task="elsewhere")
    assert "elsewhere" not in load(tmp_path).tasks_


def test_a_reader_goes_on_when_a_writer_removes_what_it_was_reading(tmp_path):
    taught(forest(store=tmp_path), 2)
    reader = forest(store=Store(tmp_path, cache_bytes=0))
    assert reader.tasks_["task-0"].n_rows == 24
    forest(store=tmp_path).partial_fit(*rows(7), task="task-0")  # the old channel's file is gone
    assert same_answers(reader, load(tmp_path))


@pytest.mark.parametrize(
    "ask",
    [
        lambda learner, X: learner.predict(X),
        lambda learner, X: learner.predict_task_proba(X),
        lambda learner, X: learner.predict_task(X, same_task=True),
        lambda learner, X: learner.novelty(X),
        lambda learner, X: learner.explain("task-0", folds=2).accuracy,
    ],
    ids=["label without a task", "tasks", "one task", "novelty", "explanation"],
)
def test_every_question_is_answered_in_the_newest_state_if_the_old_one_is_gone(ask, tmp_path):
    reader = taught(forest(store=Store(tmp_path, cache_bytes=0)), 2)
    writer = forest(store=tmp_path).forget("task-1")
    for number in (2, 0):
        writer.partial_fit(*rows(number), task=f"task-{number}")
    X = rows(0)[0]
    np.testing.assert_array_equal(ask(reader, X), ask(writer, X))
    assert list(reader.tasks_) == ["task-0", "task-2"]


def test_readers_see_only_states_that_have_been(tmp_path):
    figures = watch(tmp_path, seconds=3, n_readers=2)
    assert figures["answers"] > 10


@pytest.mark.parametrize(
    "name", ["forest", "ridge forest", "network", "ridge network", "neighbours network", "images"]
)
def test_threads_may_predict_with_one_learner(name, tmp_path):
    make, shape = OURS[name]
    learner = taught(make(), 2, shape)
    save(learner, tmp_path)
    X = rows(9, shape=shape)[0]
    expected = learner.predict_proba(X, task="task-0")
    stored = make().set_params(store=Store(tmp_path, cache_bytes=5_000))
    wrong: list[object] = []

    def ask(one):
        try:
            wrong.extend(
                [
                    1
                    for _ in range(5)
                    if not np.array_equal(one.predict_proba(X, task="task-0"), expected)
                ]
            )
        except Exception as error:
            wrong.append(error)

    threads = [
        threading.Thread(target=ask, args=(one,))
        for one in (load(tmp_path), stored)
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_saved_copy_of_a_stored_learner_is_complete(tmp_path):
    learner = taught(forest(store=tmp_path / "a"), 3)
    save(learner, tmp_path / "b")
    assert same_answers(load(tmp_path / "b"), learner)


def test_a_store_whose_only_task_was_forgotten_can_be_opened_and_goes_on(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    SillyForest(3, store=tmp_path / "kept", random_state=0).partial_fit(X, y, task="a").forget("a")
    again = SillyForest(3, store=tmp_path / "kept", random_state=0).partial_fit(X, y, task="b")
    assert list(again.tasks_) == ["b"]
