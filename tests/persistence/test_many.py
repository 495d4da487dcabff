"""Many classes, many tasks, many cycles: quick versions of what `make soak` does at length."""

import gc
from pathlib import Path

import numpy as np
import pytest
from small import forest, rows, same_answers

from lifelong import Store, load, save

HANDLES = Path("/proc/self/fd")


def test_ten_thousand_classes_come_back(tmp_path):
    X, _ = rows(0, n=40)
    y = [f"class-{number % 10}" for number in range(40)]
    declared = [f"class-{number}" for number in range(10_000)]
    learner = forest(store=tmp_path).partial_fit(X, y, task="many", classes=declared)
    again = load(tmp_path)
    assert again.classes_of("many").tolist() == declared
    found = again.predict_proba(X, task="many")
    assert found.shape == (40, 10_000)
    assert np.array_equal(found, learner.predict_proba(X, task="many"))


@pytest.mark.skipif(not HANDLES.is_dir(), reason="counts file handles in /proc")
def test_learning_and_forgetting_again_and_again_leaves_nothing_behind(tmp_path):
    learner = forest(store=Store(tmp_path, cache_bytes=100_000))
    learner.partial_fit(*rows(0), task="stays")
    sizes = []
    for number in range(41):
        learner.partial_fit(*rows(number), task="comes and goes")
        learner.forget("comes and goes", encoder=True)
        if number in (20, 30, 40):
            gc.collect()
            files = sorted(path.name for path in tmp_path.iterdir())
            handles = len(list(HANDLES.iterdir()))
            objects = len(learner._opened().cache._values)
            sizes.append(
                (len(files), handles, objects, (tmp_path / "manifest.json").stat().st_size)
            )
    assert len(set(sizes)) == 1
    assert same_answers(load(tmp_path), forest().partial_fit(*rows(0), task="stays"))


def test_hundreds_of_tasks_are_saved_one_by_one_and_loaded_together(tmp_path):
    learner = forest(budget=1)
    for number in range(150):
        learner.partial_fit(*rows(number, n=8), task=number)
        if number % 25 == 0:
            save(learner, tmp_path)
    save(learner, tmp_path)
    assert same_answers(load(tmp_path), learner)


def test_many_rows_are_stored_and_forgotten(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    learner = forest(store=tmp_path).partial_fit(X, y, task="large")
    again = forest(store=tmp_path)
    assert np.array_equal(again.predict(X[:100]), learner.predict(X[:100]))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > X.nbytes
    again.forget("large", encoder=True)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 10_000
