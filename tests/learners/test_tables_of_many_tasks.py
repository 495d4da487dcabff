"""What is carried from lesson to lesson is what looking at all tasks again would find."""

import numpy as np

from lifelong import LifelongClassifier
from lifelong.encoders import shared_fit
from lifelong.learners import table_learning


def rows_of(task: int, labels: str):
    rng = np.random.default_rng(task)
    X = rng.normal(size=(12, 3)).astype(np.float32)
    return X, np.array(list(labels) * 12)[:12]


def looked_at_again(model):
    known = model.knowledge_
    seen = [
        [label in record.classes[record.class_counts > 0] for label in known.labels]
        for record in known.tasks.values()
    ]
    return np.array(seen)


def test_labels_that_tasks_have_seen_are_carried_from_lesson_to_lesson():
    model = LifelongClassifier(n_estimators=2, random_state=0)
    lessons = [(0, "ab"), (1, "bc"), (0, "cd"), (2, "a"), (3, "ef"), (1, "a")]
    for number, (task, labels) in enumerate(lessons):
        X, y = rows_of(number, labels)
        model.partial_fit(X, y, task=task)
        np.testing.assert_array_equal(model.knowledge_.presence, looked_at_again(model))
    model.forget(1)
    np.testing.assert_array_equal(model.knowledge_.presence, looked_at_again(model))
    model.rename(0, "zero")
    np.testing.assert_array_equal(model.knowledge_.presence, looked_at_again(model))


def test_rows_beyond_the_most_are_answered_by_trees_that_have_not_seen_them(monkeypatch):
    monkeypatch.setattr(shared_fit, "MAX_ROWS", 150)
    monkeypatch.setattr(shared_fit, "_MANY_ROWS", 150)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    y = rng.integers(2, size=400)  # noise: whoever answers right has seen the row
    model = LifelongClassifier(n_estimators=10, random_state=0)
    model.fit(X, y, task=np.repeat(np.arange(4), 100))
    known = model.knowledge_
    assert len(known.shared.forest.forest.trees) == 15
    assert known.shared.forest.mass.sum() < 15 * 150
    right = []
    for task, mix in known.channels.items():
        assert not np.isnan(mix.held_out[1]).any()
        right.append(np.mean(mix.held_out[1].argmax(axis=1) == known.memory[task].targets))
    assert np.mean(right) < 0.6


def test_a_shared_encoder_of_all_the_rows_it_can_take_is_made_anew_later(monkeypatch):
    monkeypatch.setattr(table_learning, "MAX_ROWS", 20)
    model = LifelongClassifier(n_estimators=2, random_state=0)
    made_of = []
    for task in range(9):
        model.partial_fit(*rows_of(task, "ab"), task=task)
        made_of.append(len(model.knowledge_.shared.tasks))
    assert made_of == [1, 2, 2, 2, 2, 2, 2, 8, 8]
