"""On a budget: which encoders stay."""

import numpy as np
import pytest

from lifelong import SillyForest
from lifelong.exceptions import ParameterError


def rows(task, n=100):
    """Ten columns. Even tasks ask about the first two; odd ones have random labels, and their trees
    cut anywhere.
    """
    rng = np.random.default_rng(task)
    X = rng.normal(size=(n, 10)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) if task % 2 == 0 else rng.integers(2, size=n)


def learner(keep, n_tasks=6, budget=2):
    forest = SillyForest(20, channel="ridge", budget=budget, keep=keep, random_state=0)
    for task in [1, 3, 0, 2, 5, 4][:n_tasks]:
        forest.partial_fit(*rows(task), task=task)
    return forest


def test_the_first_encoders_stay_by_default():
    assert list(learner("first").encoders_) == [1, 3]


def test_useful_encoders_push_useless_ones_out():
    forest = learner("useful")
    assert len(forest.encoders_) == 2
    assert all(task % 2 == 0 for task in forest.encoders_)
    assert all(set(channel.views) == set(forest.encoders_) for channel in forest.channels_.values())


def test_useful_encoders_are_better_ones():
    X, y = rows(100, n=2000)
    first, useful = (
        np.mean([learner(keep).score(X, y, task=task) for task in (0, 2, 4)])
        for keep in ("first", "useful")
    )
    assert useful > first + 0.03


def test_many_tasks_at_once_equal_one_by_one():
    from lifelong import Task

    one_by_one = learner("useful")
    many = SillyForest(20, channel="ridge", budget=2, keep="useful", random_state=0)
    many.partial_fit_many(Task(task, *rows(task), *rows(task)) for task in [1, 3, 0, 2, 5, 4])
    X, _ = rows(100)
    assert list(many.encoders_) == list(one_by_one.encoders_)
    assert np.array_equal(many.predict_proba(X, task=2), one_by_one.predict_proba(X, task=2))


def test_only_ridge_channels_can_choose():
    with pytest.raises(ParameterError, match="Use channel='ridge'"):
        SillyForest(keep="useful", budget=2).partial_fit(*rows(0), task="a")
