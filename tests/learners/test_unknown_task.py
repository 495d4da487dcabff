"""predict(X) without a task finds out which task a row is from."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from streams_of_tasks import LEARNERS, apart, taught

from lifelong import SillyForest, SillyNetwork
from lifelong.evaluation.unaware import unaware_error
from lifelong.exceptions import InputError, NotLearntError, UnknownTaskError
from lifelong.learners.density import Gaussians, covariance, distances, projection
from lifelong.references import REFERENCES

each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
STREAM = apart()


def everything(stream):
    """All test rows, and which task each is from."""
    return np.concatenate([task.X_test for task in stream]), np.repeat(
        [task.name for task in stream], 60
    )


@each_learner
def test_rows_that_lie_apart_are_given_to_their_tasks(make):
    learner = taught(make(), STREAM)
    X, source = everything(STREAM)
    assert np.mean(learner.predict_task(X) == source) > 0.95
    truth = np.concatenate([task.y_test for task in STREAM])
    assert learner.score(X, truth) > 0.85


@each_learner
def test_labels_are_those_that_the_inferred_task_gives(make):
    learner = taught(make(), apart(distance=0.5))
    X, _ = everything(STREAM)
    tasks, labels, proba = (
        learner.predict_task(X),
        learner.predict(X),
        learner.predict_task_proba(X),
    )
    np.testing.assert_array_equal(np.array(list(learner.tasks_))[proba.argmax(axis=1)], tasks)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert proba.shape == (180, 3)
    for name in learner.tasks_:
        np.testing.assert_array_equal(
            labels[tasks == name], learner.predict(X[tasks == name], task=name)
        )


@each_learner
@pytest.mark.parametrize("more", [{"replay": 0}, {"budget": 1}, {"replay": 0.3}])
def test_it_works_without_stored_rows_and_on_a_budget(make, more):
    learner = taught(make(**more), STREAM)
    X, source = everything(STREAM)
    assert np.mean(learner.predict_task(X) == source) > 0.95
    if more.get("replay") == 0:
        assert learner.sizes()["rows"] == 0


def test_many_rows_of_one_task_are_surer_than_each():
    stream = apart(distance=0.3, n=120)
    learner = taught(SillyForest(5, random_state=0), stream)
    for task in stream:
        each = np.mean(learner.predict_task(task.X_test) == task.name)
        assert each < 0.99
        assert set(learner.predict_task(task.X_test, same_task=True)) == {task.name}
        together = learner.predict(task.X_test, same_task=True)
        np.testing.assert_array_equal(together, learner.predict(task.X_test, task=task.name))


def test_one_task_needs_no_finding_out():
    learner = taught(SillyForest(3, random_state=0), STREAM[:1])
    np.testing.assert_array_equal(learner.predict_task_proba(STREAM[1].X_test), np.ones((60, 1)))
    assert set(learner.predict_task(STREAM[1].X_test)) == {"t0"}


def test_names_and_labels_may_be_of_any_kind():
    learner = SillyForest(3, random_state=0)
    learner.partial_fit(STREAM[0].X_train, np.arange(60) % 3, task=7)
    learner.partial_fit(STREAM[1].X_train, STREAM[1].y_train, task="b")
    assert set(learner.predict_task(STREAM[0].X_test).tolist()) <= {7, "b"}
    assert {type(label) for label in learner.predict(everything(STREAM[:2])[0]).tolist()} == {
        int,
        str,
    }


def test_classes_that_were_only_announced_are_never_found():
    learner = SillyForest(5, random_state=0)
    learner.partial_fit(STREAM[0].X_train, STREAM[0].y_train, task="a", classes=["t0-0", "later"])
    learner.partial_fit(STREAM[1].X_train, STREAM[1].y_train, task="b")
    X, source = everything(STREAM[:2])
    assert np.mean(learner.predict_task(X) == np.where(source == "t0", "a", "b")) > 0.95
    assert "later" not in learner.predict(X)


def test_a_task_of_one_row_is_no_obstacle():
    learner = SillyNetwork((8,), epochs=5, random_state=0)
    learner.partial_fit(STREAM[0].X_train[:1], STREAM[0].y_train[:1], task="tiny")
    taught(learner, STREAM[1:])
    assert learner.predict(everything(STREAM)[0]).shape == (180,)
    assert np.isfinite(learner.novelty(everything(STREAM)[0])).all()


def test_a_learner_that_cannot_tell_says_which_tasks_there_are():
    learner = REFERENCES["lwf"](0, network=(8,))
    for task in STREAM[:2]:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    for ask in (learner.predict, learner.predict_task, learner.predict_task_proba):
        with pytest.raises(
            UnknownTaskError, match="Several tasks are known: 't0', 't1'. Say which one: task='t0'."
        ):
            ask(STREAM[0].X_test)
    assert 0 < unaware_error(learner, STREAM[0]) < 1  # measured by its heads' words


def test_bad_questions_are_refused():
    with pytest.raises(NotLearntError):
        SillyForest().predict_task(STREAM[0].X_test)
    learner = taught(SillyForest(3, random_state=0), STREAM[:2])
    with pytest.raises(InputError, match="6 features"):
        learner.predict_task(STREAM[0].X_test[:, :5])
    with pytest.raises(UnknownTaskError, match="Several tasks"):
        learner.predict_proba(STREAM[0].X_test)


def test_randumb_takes_the_nearest_class_mean_of_all_tasks():
    learner = taught(REFERENCES["randumb"](0, n_features=300), STREAM)
    X, source = everything(STREAM)
    assert np.mean(learner.predict_task(X) == source) > 0.95
    means = np.concatenate([learner.means_[task.name].means for task in STREAM])
    squares = distances(learner.features_(X), means, learner._covariance(learner.knowledge_))
    labels = np.concatenate([learner.classes_of(task.name) for task in STREAM])
    np.testing.assert_array_equal(learner.predict(X), labels[squares.argmin(axis=1)])


def test_the_error_without_a_task_counts_wrong_tasks_and_wrong_labels():
    learner = taught(SillyForest(5, random_state=0), apart(distance=0.5))
    task = apart(distance=0.5)[1]
    right = (learner.predict_task(task.X_test) == "t1") & (
        learner.predict(task.X_test) == task.y_test
    )
    assert unaware_error(learner, task) == pytest.approx(1 - right.mean())


def test_gaussians_of_two_lots_of_rows_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    z, y = 5 + rng.normal(size=(90, 7)), np.arange(90) % 3
    whole = Gaussians.of(z, y, 3)
    y_first = y[:40] % 2  # two classes at first
    parts = Gaussians.of(z[:40], y_first, 2).plus(Gaussians.of(z[40:], y[40:], 3))
    again = Gaussians.of(z, np.concatenate([y_first, y[40:]]), 3)
    for name in ("counts", "means", "scatter"):
        np.testing.assert_allclose(getattr(parts, name), getattr(again, name), rtol=1e-4, atol=1e-4)
    inside = np.concatenate([z[y == k] - z[y == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(whole.scatter, inside.T @ inside, rtol=1e-4, atol=1e-4)
    assert whole.freedom == 87


def test_distances_are_those_of_a_gaussian():
    rng = np.random.default_rng(0)
    z, means = rng.normal(size=(9, 4)), rng.normal(size=(2, 4))
    sigma = covariance(
        [Gaussians.of(rng.normal(size=(50, 4)) * [1, 2, 3, 4], np.zeros(50, np.intp), 1)]
    )
    for k in range(2):
        density = multivariate_normal(means[k], sigma)
        expected = 2 * (density.logpdf(means[k]) - density.logpdf(z))
        np.testing.assert_allclose(distances(z, means, sigma)[:, k], expected)


def test_few_columns_are_not_projected_and_many_always_in_the_same_directions():
    np.testing.assert_array_equal(projection(0, 5), np.eye(5))
    assert projection(0, 100).shape == (100, 64)
    np.testing.assert_array_equal(projection(3, 100), projection(3, 100))
    assert (projection(3, 100) != projection(4, 100)).any()


def test_a_column_of_large_numbers_does_not_decide_everything():
    stream = apart(seed=1)
    X = {
        task.name: np.hstack([task.X_train, 1e5 * np.random.default_rng(0).normal(size=(60, 80))])
        for task in stream
    }
    learner = SillyForest(3, random_state=0)
    for task in stream:
        learner.partial_fit(X[task.name], task.y_train, task=task.name)
    assert np.mean(learner.predict_task(X["t1"]) == "t1") > 0.6
