"""Arms that differ by nothing but what a task's companions have learnt."""

from typing import Any, get_args

import numpy as np
import pytest
from tiny_references import teach

from lifelong import SillyForest, SillyNetwork, TaskStream
from lifelong.exceptions import ParameterError
from lifelong.references.companions import Arm, Companions, ForTask, SideBySide

ARMS = get_args(Arm)
FORESTS = {"n_estimators": 6}
NETWORKS = {"network": (12,), "epochs": 4, "lr": 1e-2}


def small(kind: str, arm: Any) -> Companions:
    if kind == "forests":
        return Companions.forests(arm, random_state=0, **FORESTS)
    return Companions.networks(arm, random_state=0, **NETWORKS)


@pytest.mark.parametrize("kind", ["forests", "networks"])
@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_has_as_many_encoders_as_there_are_tasks_and_learns(
    kind: str, arm: str, flat: TaskStream
) -> None:
    learner = teach(small(kind, arm), flat)
    expected = 1 if arm == "alone" else 3
    for task in flat:
        assert learner.n_encoders(task.name) == expected
        assert learner.score(task.X_test, task.y_test, task=task.name) > 0.6
    assert set(learner.sizes()) == {"parameters", "encoders", "channels", "rows"}
    again = teach(small(kind, arm), flat)
    np.testing.assert_array_equal(
        learner.predict_proba(flat[0].X_test, "first"), again.predict_proba(flat[0].X_test, "first")
    )


@pytest.mark.parametrize("kind", ["forests", "networks"])
def test_with_other_tasks_as_companions_it_is_silly_bit_for_bit(
    kind: str, flat: TaskStream
) -> None:
    learner = teach(small(kind, "tasks"), flat)
    ours: Any = SillyForest.best(random_state=0, **FORESTS)
    if kind == "networks":
        ours = SillyNetwork.best(random_state=0, **NETWORKS)
    teach(ours, flat)
    for task in flat:
        np.testing.assert_array_equal(
            learner.predict_proba(task.X_test, task.name),
            ours.predict_proba(task.X_test, task.name),
        )


@pytest.mark.parametrize("kind", ["forests", "networks"])
@pytest.mark.parametrize("arm", ARMS)
def test_alone_every_arm_is_the_same_learner(kind: str, arm: str, flat: TaskStream) -> None:
    learner = teach(small(kind, arm), flat[:2]).alone("second")
    only = small(kind, "alone").partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    X = flat[1].X_test
    np.testing.assert_array_equal(
        learner.predict_proba(X, "second"), only.predict_proba(X, "second")
    )


@pytest.mark.parametrize("arm", ARMS)
def test_a_known_task_takes_in_more_rows_and_a_new_class(arm: str, flat: TaskStream) -> None:
    learner = teach(small("forests", arm), flat[:2])
    task = flat[0]
    labels = np.where(task.y_train == "first-0", "first-new", task.y_train)
    learner.partial_fit(task.X_train, labels, task="first")
    assert learner.predict_proba(task.X_test, "first").shape[1] == 4


def test_a_shared_encoder_answers_about_the_tasks_own_classes_alone(images: TaskStream) -> None:
    learner = Companions.networks("shared", random_state=0, width=0.05, epochs=1)
    teach(learner, images[:2])
    together = learner.knowledge_.views["second"]["second"]
    assert isinstance(together, SideBySide)
    shared = together.encoders[1]
    assert isinstance(shared, ForTask)
    assert (shared.first, shared.n_classes, shared.n_answers) == (3, 2, 2)
    X = images[1].X_test
    np.testing.assert_allclose(shared.encode(X)[:, -2:].sum(axis=1), 1, rtol=1e-5)
    assert (
        together.encode(X).shape[1]
        == sum(encoder.encode(X).shape[1] - 2 for encoder in together.encoders) + 2
    )


def test_leaves_of_several_forests_are_numbered_through(flat: TaskStream) -> None:
    learner = teach(small("forests", "own"), flat[:2])
    together: Any = learner.knowledge_.views["first"]["first"]
    leaves = together.encode(flat[0].X_test)
    first, second = together.encoders
    np.testing.assert_array_equal(leaves[:, :6], first.encode(flat[0].X_test))
    np.testing.assert_array_equal(leaves[:, 6:], second.encode(flat[0].X_test) + first.n_leaves)
    assert leaves.max() < together.n_leaves


def test_a_random_channel_and_an_unknown_arm_are_refused(flat: TaskStream) -> None:
    X = flat[0].X_train
    y = flat[0].y_train
    with pytest.raises(ParameterError, match="random"):
        Companions(SillyNetwork((4,))).partial_fit(X, y)
    with pytest.raises(ParameterError, match="arm"):
        Companions(SillyForest.best(), "others").partial_fit(X, y)  # type: ignore[arg-type]
