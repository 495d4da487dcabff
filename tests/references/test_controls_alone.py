"""The controls share nothing between tasks, so each of their models can be had alone."""

import numpy as np
import pytest

from lifelong.experiments import make_learner
from lifelong.nets import Recipe
from lifelong.tasks.datasets import load

PARAMETERS = {"rf": {"n_estimators": 3}, "single": {"network": (8,), "recipe": Recipe(epochs=2)}}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_control_alone_equals_one_taught_that_task_only(name):
    stream = load("digits", n_tasks=3)
    learner = make_learner(name, 0, **PARAMETERS[name])
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    for task in stream:
        fresh = make_learner(name, 0, **PARAMETERS[name]).partial_fit(
            task.X_train, task.y_train, task=task.name
        )
        alone = learner.alone(task.name)
        np.testing.assert_array_equal(
            alone.predict_proba(task.X_test), fresh.predict_proba(task.X_test)
        )
        assert list(alone.tasks_) == [task.name]
    assert len(learner.tasks_) == 3
