"""The network that ignores the task: what it learns of one task it forgets with the next."""

import numpy as np
import pytest

from lifelong import Recipe
from lifelong.references.dn import ForgetfulNetwork
from lifelong.references.none import NoneLearner
from lifelong.tasks.simulations import xor_stream

RECIPE = Recipe(epochs=60, lr=1e-2)


@pytest.fixture(scope="module")
def stream():
    return xor_stream(300, second="xnor", n_test=300, random_state=0)


def error(learner, task):
    return float(np.mean(learner.predict(task.X_test, task=task.name) != task.y_test))


def test_it_learns_xor_and_answers_it_the_wrong_way_round_after_xnor(stream):
    xor, xnor = (stream.named(name) for name in stream.names)
    learner = ForgetfulNetwork((10, 10), recipe=RECIPE, random_state=0)
    learner.partial_fit(xor.X_train, xor.y_train, task=xor.name)
    assert error(learner, xor) < 0.2
    learner.partial_fit(xnor.X_train, xnor.y_train, task=xnor.name)
    assert error(learner, xnor) < 0.2
    assert error(learner, xor) > 0.8


def test_the_same_row_gets_the_same_answer_whatever_the_task(stream):
    learner = ForgetfulNetwork((10, 10), recipe=RECIPE, random_state=0)
    for name in stream.names:
        task = stream.named(name)
        learner.partial_fit(task.X_train, task.y_train, task=name)
    rows = task.X_test
    first, second = (learner.predict_proba(rows, task=name) for name in stream.names)
    np.testing.assert_array_equal(first, second)


def test_its_first_task_is_learnt_as_fine_tuning_learns_it(stream):
    task = stream.named(stream.names[0])
    answers = []
    for kind in (ForgetfulNetwork, NoneLearner):
        learner = kind((10, 10), recipe=RECIPE, random_state=0)
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        answers.append(learner.predict_proba(task.X_test, task=task.name))
    np.testing.assert_array_equal(*answers)
