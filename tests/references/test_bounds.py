"""Joint training and the ensemble of own networks: no lifelong learners, but what to beat."""

import numpy as np
import torch
from tiny_references import N_CLASSES, make_stream, taught, teach, tiny

from lifelong import Recipe, TaskStream, load, save
from lifelong.references import BOUNDS, LEARNERS


def test_bounds_are_marked_as_controls_in_the_table() -> None:
    assert {name: entry.kind for name, entry in BOUNDS.items()} == {
        "own-ensemble": "control",
        "joint": "control",
    }
    assert "upper bound" in LEARNERS["joint"].what


def test_joint_training_starts_anew_and_knows_all_rows(flat: TaskStream) -> None:
    learner = taught("joint")
    assert [len(rows.y) for rows in learner.memory_.values()] == [
        len(task.y_train) for task in flat
    ]
    assert [head.out_features for head in learner.model_.heads] == list(N_CLASSES.values())
    # Standardised by the rows of all tasks, not of the first.
    everything = np.concatenate([task.X_train for task in flat])
    mean = learner.model_.trunk[0].mean.numpy()
    np.testing.assert_allclose(mean, everything.mean(axis=0), atol=1e-5)


def test_joint_training_does_not_depend_on_what_was_learnt_before_the_last_task(
    flat: TaskStream,
) -> None:
    """Other networks for the first two tasks lead to the same network for all three."""
    usual = taught("joint")
    other = tiny("joint", recipe=Recipe(iterations=1))
    teach(other, flat[:2]).set_params(recipe=usual.recipe)
    other.partial_fit(flat[2].X_train, flat[2].y_train, task="third")
    for task in flat:
        np.testing.assert_array_equal(
            usual.predict_proba(task.X_test, task.name),
            other.predict_proba(task.X_test, task.name),
        )


def test_joint_training_does_not_forget_where_none_does() -> None:
    stream = make_stream((8,), shift=1.0, seed=5)
    joint = teach(tiny("joint"), stream)
    none = teach(tiny("none"), stream)
    means = [
        np.mean([learner.score(task.X_test, task.y_test, task=task.name) for task in stream])
        for learner in (joint, none)
    ]
    assert means[0] > means[1]


def test_an_own_ensemble_has_as_many_networks_per_task_as_there_are_tasks(
    flat: TaskStream,
) -> None:
    learner = tiny("own-ensemble")
    for n_tasks, task in enumerate(flat, start=1):
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        tasks = [number for member in learner.model_.members for number in member.tasks]
        assert np.bincount(tasks).tolist() == [n_tasks] * n_tasks
    fixed = teach(tiny("own-ensemble", networks_per_task=2), flat)
    assert len(fixed.model_.members) == 2 * 3


def test_an_own_ensembles_first_networks_are_those_of_single(flat: TaskStream) -> None:
    alone = teach(tiny("own-ensemble", networks_per_task=1), flat)
    single = taught("single")
    for task in flat:
        np.testing.assert_array_equal(
            alone.predict_proba(task.X_test, task.name),
            single.predict_proba(task.X_test, task.name),
        )


def test_an_own_ensemble_is_the_mean_of_its_networks(flat: TaskStream) -> None:
    learner = taught("own-ensemble")
    X = torch.from_numpy(flat[1].X_test)
    members = [member for member in learner.model_.members if member.tasks == [1]]
    with torch.no_grad():
        mean = torch.stack([member.network(X, 0).softmax(dim=1) for member in members]).mean(dim=0)
    np.testing.assert_allclose(learner.predict_proba(flat[1].X_test, "second"), mean, atol=1e-6)
    first, second, third = (member.network.heads[0].weight for member in members)
    assert not torch.equal(first, second)
    assert not torch.equal(second, third)


def test_an_own_ensemble_learns_nothing_from_rows_of_other_tasks(flat: TaskStream) -> None:
    """Only the number of networks depends on other tasks."""
    learner = tiny("own-ensemble", networks_per_task=2)
    task = flat[0]
    learner.partial_fit(task.X_train, task.y_train, task="first")
    before = learner.predict_proba(task.X_test, "first")
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    np.testing.assert_array_equal(learner.predict_proba(task.X_test, "first"), before)
    alone = learner.alone("first")
    np.testing.assert_array_equal(alone.predict_proba(task.X_test, "first"), before)
    assert list(alone.tasks_) == ["first"]


def test_a_task_alone_can_be_saved_and_learns_on(flat: TaskStream, tmp_path) -> None:
    alone = taught("own-ensemble").alone("second")
    save(alone, tmp_path)
    again = load(tmp_path)
    np.testing.assert_array_equal(
        again.predict_proba(flat[1].X_test, "second"), alone.predict_proba(flat[1].X_test, "second")
    )
    again.partial_fit(flat[2].X_train, flat[2].y_train, task="third")
    assert list(again.tasks_) == ["second", "third"]
