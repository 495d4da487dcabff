"""The controls on tables: a forest per task, and one forest of all tasks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from lifelong.experiments import make_learner
from lifelong.references.pooled import TableForest
from lifelong.tasks.sources import from_frame
from lifelong.testing import LEARNER_CHECKS, name_of_check, small_stream

NAMES = ["table-rf", "pooled-rf"]


def make(name, seed=0, **settings):
    return make_learner(name, random_state=seed, n_estimators=10, **settings)


def sites(n=60, seed=0):
    """Two sites with text and holes; at the second, the rule is the other way round."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=n).round(2)
    site = np.repeat(["Lyon", "Nice"], n // 2)
    sign = np.where(site == "Lyon", 1, -1)
    frame = pd.DataFrame({"site": site, "dose": dose, "sex": rng.choice(["f", "m", None], n)})
    frame.loc[::7, "dose"] = np.nan
    frame["ill"] = np.where(sign * dose > 0, "yes", "no")
    frame["score"] = sign * dose
    return frame


def stream_of(target):
    columns = {"class": "ill", "number": "score"}
    other = columns["number" if target == "class" else "class"]
    return from_frame(
        sites().drop(columns=other),
        task_column="site",
        label_column=columns[target],
        target=target,
    )


def taught(learner, stream):
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", LEARNER_CHECKS, ids=name_of_check)
def test_a_forest_on_tables_passes_the_checks_of_learners(check, name):
    check(lambda seed: make(name, seed), small_stream())


def test_the_same_forest_grown_by_hand_answers_the_same():
    stream = small_stream()
    learner = taught(make("table-rf"), stream)
    task = stream[1]
    codes = np.unique(task.y_train, return_inverse=True)[1]
    seed = learner.knowledge_.seeds[task.name]
    forest = RandomForestClassifier(10, random_state=seed).fit(task.X_train, codes)
    np.testing.assert_array_equal(
        learner.predict_proba(task.X_test, task.name), forest.predict_proba(task.X_test)
    )


def test_the_pooled_forest_is_one_forest_with_a_column_per_task():
    X = np.arange(8.0)[:, None]
    learner = make("pooled-rf", target="number")
    learner.partial_fit(X, np.zeros(8), task="a").partial_fit(X, np.ones(8), task="b")
    assert learner.predict(X, task="a").mean() < 0.3
    assert learner.predict(X, task="b").mean() > 0.7
    seed = learner.knowledge_.seeds["a"]
    rows = np.vstack([np.column_stack([X, X == X, X != X]), np.column_stack([X, X != X, X == X])])
    by_hand = RandomForestRegressor(10, random_state=seed).fit(rows, np.repeat([0.0, 1.0], 8))
    np.testing.assert_array_equal(learner.predict(X, task="b"), by_hand.predict(rows[8:]))


@pytest.mark.parametrize("target", ["class", "number"])
@pytest.mark.parametrize("name", NAMES)
def test_tables_with_text_and_holes_are_learnt(name, target):
    stream = stream_of(target)
    learner = taught(make(name, target=target), stream)
    for task in stream:
        assert learner.score(task.X_test, task.y_test, task=task.name) > 0.3


def test_a_forest_of_its_own_does_not_depend_on_other_tasks():
    stream = stream_of("class")
    learner = taught(make("table-rf"), stream)
    task = stream["Nice"]
    alone = taught(make("table-rf"), [task])
    expected = alone.predict_proba(task.X_test, "Nice")
    np.testing.assert_array_equal(learner.predict_proba(task.X_test, "Nice"), expected)
    np.testing.assert_array_equal(learner.alone("Nice").predict_proba(task.X_test), expected)


def test_a_pooled_forest_answers_with_the_labels_of_the_task():
    X = np.arange(12.0)[:, None]
    learner = make("pooled-rf").partial_fit(X, ["a", "b"] * 6, task="first")
    learner.partial_fit(X, ["c", "d", "b"] * 4, task="second")
    assert set(learner.predict(X, task="first")) <= {"a", "b"}
    assert learner.predict_proba(X, "second").shape == (12, 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_forgotten_task_is_gone_and_others_stay(name):
    stream = stream_of("class")
    learner = taught(make(name), stream).forget("Lyon")
    assert list(learner.tasks_) == ["Nice"]
    assert len(learner.predict(stream["Nice"].X_test, task="Nice")) == len(stream["Nice"].y_test)


def test_a_forest_is_grown_when_it_is_asked_and_once():
    stream = stream_of("class")
    learner = taught(TableForest(10, pooled=True, random_state=0), stream)
    assert not learner.knowledge_.grown
    learner.predict(stream["Nice"].X_test, task="Nice")
    (forest,) = learner.knowledge_.grown.values()
    learner.predict(stream["Lyon"].X_test, task="Lyon")
    assert list(learner.knowledge_.grown.values()) == [forest]
