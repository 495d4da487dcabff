"""Bad input gets a clear error and leaves the learner as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import torch

from lifelong import LifelongError, SillyForest, SillyNetwork
from lifelong.encoders.forest import ForestEncoder
from lifelong.exceptions import InputError, NotLearntError, ParameterError, UnknownTaskError
from lifelong.learners import algorithms

LEARNERS = {
    "forest": lambda **more: SillyForest(3, random_state=0, **more),
    "network": lambda **more: SillyNetwork((4,), epochs=2, random_state=0, **more),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def rows(n=30, shape=(4,)):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, *shape)).astype(np.float32), np.arange(n) % 2


def state(learner):
    return {name: id(value) for name, value in vars(learner).items()}


X, Y = rows()
BAD_LESSONS = {
    "too few features": (X[:, :3], Y, "X has 3 features, but .* is expecting 4 features"),
    "an image": (
        X.reshape(30, 1, 2, 2),
        Y,
        r"rows of shape \(1, 2, 2\), but .* is expecting \(4,\)",
    ),
    "three dimensions": (X.reshape(30, 2, 2), Y, r"Images must be \(n, channels, height, width\)"),
    "one dimension": (X[:, 0], Y, "Expected 2D array"),
    "fewer labels": (X, Y[:-1], "X has 30 rows and y has 29 labels"),
    "no rows": (X[:0], Y[:0], "0 sample"),
    "no columns": (X[:, :0], Y, "0 feature"),
    "nan": (np.where(X[3, 2] == X, np.nan, X), Y, "NaN"),
    "inf": (np.where(X[3, 2] == X, np.inf, X), Y, "infinity"),
    "too large for float32": (
        np.where(X[3, 2] == X, 1e300, X.astype(float)),
        Y,
        "infinity or a value too large",
    ),
    "text": (X.astype(str), Y, "X holds text"),
    "text among numbers": (np.where(X[3, 2] == X, "a", X.astype(object)), Y, "X holds text"),
    "complex": (X + 1j, Y, "Complex"),
    "sparse": (scipy.sparse.csr_matrix(X), Y, "sparse"),
    "no labels": (X, None, "y"),
    "a regression target": (X, X[:, 0], "continuous"),
    "nan labels": (X, np.where(Y == 0, np.nan, 1.0), "y contains NaN"),
    "lists as labels": (X, [[1]] * 30, "hashable|1d|column"),
    "two columns of labels": (X, np.stack([Y, Y], axis=1), "1d array"),
}


@each_learner
@pytest.mark.parametrize(("bad_X", "bad_y", "message"), BAD_LESSONS.values(), ids=BAD_LESSONS)
def test_a_bad_lesson_is_refused_and_changes_nothing(make, bad_X, bad_y, message):
    for learner in (make(), make().partial_fit(X, Y, task="a")):
        if (
            bad_X is not None
            and not hasattr(learner, "tasks_")
            and message.startswith(("X has 3", "rows of shape"))
        ):
            continue  # a first task may have any shape
        before = state(learner)
        with pytest.raises(LifelongError, match=message):
            learner.partial_fit(bad_X, bad_y, task="b")
        assert state(learner) == before


@each_learner
@pytest.mark.parametrize(
    "bad_X", [X[:, :3], X.reshape(30, 1, 2, 2), X[:0], X * np.nan, X.astype(str)]
)
def test_predicting_bad_rows_is_refused(make, bad_X):
    learner = make().partial_fit(X, Y, task="a")
    with pytest.raises(InputError):
        learner.predict(bad_X, task="a")


@each_learner
def test_an_unknown_task_is_named_with_the_known_ones(make):
    with pytest.raises(NotLearntError, match=r"has not learnt any task yet. Call partial_fit"):
        make().predict(X, task="xor")
    learner = make().partial_fit(X, Y, task="xor")
    message = (
        r"Unknown task 'xnor'. Known tasks: 'xor'. Call partial_fit\(X, y, task='xnor'\) first."
    )
    for ask in (learner.predict, learner.predict_proba):
        with pytest.raises(UnknownTaskError, match=message):
            ask(X, task="xnor")
    with pytest.raises(UnknownTaskError, match=message):
        learner.classes_of("xnor")
    with pytest.raises(UnknownTaskError, match=message):
        learner.score(X, Y, task="xnor")


@each_learner
def test_the_task_may_be_left_out_while_there_is_only_one(make):
    learner = make().partial_fit(X, Y, task="a").partial_fit(X, Y)
    assert list(learner.tasks_) == ["a"]
    np.testing.assert_array_equal(learner.predict(X), learner.predict(X, task="a"))
    learner.partial_fit(X, Y, task="b")
    assert set(learner.predict_task(X)) <= {"a", "b"}
    for ask in (learner.predict_proba, lambda rows: learner.partial_fit(rows, Y)):
        with pytest.raises(
            UnknownTaskError, match="Several tasks are known: 'a', 'b'. Say which one"
        ):
            ask(X)


@pytest.mark.parametrize("name", [None, True, 1.5, ("a", 1), ["a"]])
def test_only_text_and_whole_numbers_name_tasks(name):
    if name is None:
        assert list(SillyForest().partial_fit(X, Y, task=None).tasks_) == ["task"]
        return
    with pytest.raises(InputError, match="cannot name a task"):
        SillyForest().partial_fit(X, Y, task=name)


def test_numpy_whole_numbers_name_the_same_task_as_pythons():
    learner = SillyForest(random_state=0).partial_fit(X, Y, task=np.int64(3))
    assert learner.predict(X, task=3).shape == (30,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget=0 is too small"),
        ({"budget": 1.5}, "budget=1.5 .* no whole number"),
        ({"replay": -0.1}, "replay=-0.1 is not a share"),
        ({"replay": 1.1}, "replay=1.1 is not a share"),
        ({"max_samples": 2}, "max_samples=2 is not a share"),
        (
            {"channel": "rigde"},
            "channel='rigde' is unknown. Did you mean 'ridge'\\? Choose one of:",
        ),
        ({"channel": 7}, "channel=7 is no Channel"),
        ({"task_inference": 1}, "task_inference=1 is no True or False"),
        ({"budget": 2**63}, "too large. Give at most 9007199254740992"),
        ({"n_jobs": 0}, "n_jobs=0 is no number of threads"),
        ({"n_jobs": 10**9}, "n_jobs=1000000000 is no number of threads"),
        ({"n_jobs": "2"}, "n_jobs='2' is no number of threads"),
        ({"random_state": -1}, "random_state=-1 is not usable"),
        ({"random_state": "seed"}, "random_state='seed' is not usable"),
    ],
)
@each_learner
def test_a_parameter_out_of_range_is_named(make, parameters, message):
    learner = make().set_params(**parameters)
    before = state(learner)
    with pytest.raises(ParameterError, match=message):
        learner.partial_fit(X, Y, task="a")
    assert state(learner) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"lr": 0}, "lr=0"),
        ({"lr": "fast"}, "lr='fast'"),
        ({"lr": True}, "lr=True"),
        ({"lr": np.inf}, "lr=inf"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"network": "x"}, "'x'"),
    ],
)
def test_a_bad_training_parameter_is_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SillyNetwork(**parameters).partial_fit(X, Y)


@pytest.mark.parametrize("name", ["max_depth", "max_features", "min_samples_leaf"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "x", [2], True, 2**70, np.nan])
def test_a_bad_parameter_of_trees_is_named(name, value):
    with pytest.raises(ParameterError, match=name):
        SillyForest(2, **{name: value}).partial_fit(X, Y)


@each_learner
def test_out_of_memory_in_the_encoder_leaves_no_half_a_task(make, monkeypatch):
    learner = make().partial_fit(X, Y, task="a")
    before, answers = state(learner), learner.predict_proba(X, task="a")

    class Greedy:
        def split(self, y, *, rng):
            return np.arange(len(y)) < 20

        def fit(self, X, y, **_):
            raise MemoryError

    monkeypatch.setattr(type(learner), "_encoder", lambda self: Greedy())
    for teach in (lambda: learner.partial_fit(X, Y, task="b"), lambda: learner.fit(X, Y)):
        with pytest.raises(MemoryError):
            teach()
        assert state(learner) == before
    np.testing.assert_array_equal(learner.predict_proba(X, task="a"), answers)


@each_learner
def test_a_failure_after_the_encoder_leaves_no_half_a_task(make, monkeypatch):
    learner = make().partial_fit(X, Y, task="a").partial_fit(X, Y, task="b")
    before = state(learner)
    monkeypatch.setattr(algorithms, "remember", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        learner.partial_fit(X, 1 - Y, task="c")
    assert state(learner) == before


@each_learner
def test_a_single_class_is_legal_and_predicted(make):
    learner = make().partial_fit(X, ["only"] * 30, task="a").partial_fit(X, Y, task="b")
    assert learner.predict(X, task="a").tolist() == ["only"] * 30


@each_learner
def test_a_class_with_one_row_is_legal(make):
    y = Y.copy()
    y[0] = 7
    learner = make().partial_fit(X, y, task="a").partial_fit(X, Y, task="b")
    assert learner.classes_of("a").tolist() == [0, 1, 7]
    assert learner.predict_proba(X, task="a").shape == (30, 3)


@each_learner
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_is_legal(make, n):
    learner = make().partial_fit(X[:n], Y[:n], task="tiny").partial_fit(X, Y, task="b")
    np.testing.assert_allclose(learner.predict_proba(X, task="tiny").sum(axis=1), 1)


LABELS = {
    "text": ["a", "b"],
    "whole numbers": [3, -7],
    "booleans": [True, False],
    "tuples": [("a", 1), ("b", 2)],
    "mixed": ["a", 1],
    "none": [None, "b"],
    "frozen sets": [frozenset("a"), frozenset("b")],
    "whole floats": [0.0, 1.0],
}


@each_learner
@pytest.mark.parametrize("pair", LABELS.values(), ids=LABELS)
def test_labels_of_any_hashable_kind_come_back_as_they_went_in(make, pair):
    shifted = X + 5 * Y[:, None]
    learner = make(max_samples=0.5).partial_fit(shifted, [pair[label] for label in Y], task="a")
    assert set(learner.classes_of("a").tolist()) == set(pair)
    predicted = learner.predict(shifted, task="a").tolist()
    assert set(predicted) <= set(pair)
    assert learner.score(shifted, predicted, task="a") == 1.0


@each_learner
def test_numpy_pandas_polars_torch_and_lists_give_the_same_answers(make):
    plain = make().partial_fit(X, Y, task="a").predict_proba(X, task="a")
    columns = [f"c{i}" for i in range(4)]
    kinds = [
        (pd.DataFrame(X, columns=columns), pd.Series(Y)),
        (pl.DataFrame(X, schema=columns), pl.Series(Y)),
        (torch.tensor(X, requires_grad=True), torch.tensor(Y)),
        (X.tolist(), Y.tolist()),
        (np.asfortranarray(X.astype(np.float64)), Y.astype(np.int8)),
    ]
    for rows_, labels in kinds:
        learner = make().partial_fit(rows_, labels, task="a")
        np.testing.assert_array_equal(learner.predict_proba(rows_, task="a"), plain)


def test_columns_in_another_order_are_noticed():
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = SillyForest(random_state=0).partial_fit(frame, Y, task="a")
    with pytest.raises(InputError, match="feature names"):
        learner.predict(frame[list("dcba")], task="a")


def test_scoring_against_labels_the_task_does_not_have_is_simply_wrong():
    assert SillyForest(random_state=0).fit(X, Y).score(X, ["?"] * 30) == 0.0


def test_declared_classes_get_columns_before_they_have_rows():
    learner = SillyForest(random_state=0).partial_fit(X, Y, task="a", classes=[0, 1, 2])
    posteriors = learner.predict_proba(X, task="a")
    assert posteriors.shape == (30, 3)
    assert (posteriors[:, 2] == 0).all()


def test_forest_encoder_can_be_used_by_hand():
    assert ForestEncoder(2).fit(X, Y, rng=np.random.default_rng(0)).encode(X).shape == (30, 2)
