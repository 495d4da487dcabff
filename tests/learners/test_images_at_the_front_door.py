"""LifelongClassifier on images: the same calls as for tables."""

import numpy as np
import pytest

from lifelong import LifelongClassifier, load, save
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError


def images(seed, n=24, labels=("cat", "dog")):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(labels)
    X = rng.random((n, 1, 4, 4), dtype=np.float32)
    X[np.arange(n), 0, 1, codes] += 2
    return X, np.array(labels)[codes]


def three_tasks():
    X, y = zip(images(0), images(1), images(2, labels=("dog", "elk")), strict=True)
    return np.concatenate(X), np.concatenate(y), np.repeat(["a", "b", "c"], 24)


@pytest.fixture(scope="module")
def model():
    X, y, task = three_tasks()
    return LifelongClassifier(random_state=0).fit(X, y, task=task)


def test_a_task_per_image_or_one_for_all(model):
    X, y = images(10)
    assert model.score(X, y, task="b") > 0.8
    np.testing.assert_array_equal(model.predict(X, task=["b"] * 24), model.predict(X, task="b"))


def test_probabilities_have_a_column_for_every_label_whatever_the_task(model):
    X, _ = images(10)
    assert model.classes_.tolist() == ["cat", "dog", "elk"]
    probabilities = model.predict_proba(X, task=["a"] * 12 + ["c"] * 12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities[:12, 2] == 0).all()
    assert (probabilities[12:, 0] == 0).all()


def test_an_unseen_task_is_answered_by_all_tasks_or_refused(model):
    X, _ = images(10)
    np.testing.assert_allclose(model.predict_proba(X, task="new").sum(axis=1), 1)
    model.set_params(on_unseen="raise")
    try:
        with pytest.raises(UnknownTaskError, match="Unknown task 'new'"):
            model.predict(X, task="new")
    finally:
        model.set_params(on_unseen="pooled")


def test_it_is_saved_loaded_and_taught_more(model, tmp_path):
    X, y = images(10)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.predict_proba(X, task="a"), model.predict_proba(X, task="a")
    )
    loaded.partial_fit(*images(3, labels=("dog", "fox")), task="a")
    assert loaded.classes_.tolist() == ["cat", "dog", "elk", "fox"]
    assert loaded.classes_of("a").tolist() == ["cat", "dog", "fox"]
    assert set(loaded.sizes()) == {"parameters", "encoders", "channels", "rows"}
    loaded.forget("c")
    assert list(loaded.tasks_) == ["a", "b"]
    assert loaded.score(X, y, task="b") > 0.8


def test_tables_and_images_are_not_mixed(model):
    with pytest.raises(InputError, match="has learnt images"):
        model.partial_fit(np.zeros((4, 3)), ["cat", "dog"] * 2, task="a")
    of_tables = LifelongClassifier(n_estimators=3).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InputError, match="has learnt tables"):
        of_tables.partial_fit(*images(0))


def test_a_task_column_is_refused_with_images():
    with pytest.raises(ParameterError, match="images have none"):
        LifelongClassifier(task_column="site").fit(*images(0))
