"""Decisions: other class shares than in training, and no answer rather than a doubtful one."""

import numpy as np
import pytest
from streams_of_tasks import LEARNERS, apart, taught

from lifelong import SillyForest
from lifelong.exceptions import InputError, ParameterError

STREAM = apart(distance=0.5)
LEARNER = taught(SillyForest(5, random_state=0), STREAM)
X = STREAM[0].X_test


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_posteriors_are_weighted_by_new_over_old_shares(make):
    learner = taught(make(), STREAM[:1])
    new = {"t0-0": 0.7, "t0-1": 0.2, "t0-2": 0.1}
    weighted = learner.predict_proba(X) * np.array([0.7, 0.2, 0.1]) / (1 / 3)
    np.testing.assert_allclose(
        learner.predict_proba(X, priors=new), weighted / weighted.sum(axis=1, keepdims=True)
    )
    same = dict.fromkeys(new, 5)  # shares need not sum to 1
    np.testing.assert_allclose(learner.predict_proba(X, priors=same), learner.predict_proba(X))


def test_right_priors_win_when_the_classes_have_other_shares_than_in_training():
    rng = np.random.default_rng(0)

    def rows(shares, n):
        y = rng.choice(2, size=n, p=shares)
        return y[:, None] + rng.normal(size=(n, 1)), y

    learner = SillyForest(30, max_depth=3, random_state=0).partial_fit(
        *rows([0.5, 0.5], 2000), task="t"
    )
    X_rare, y_rare = rows([0.95, 0.05], 2000)
    right = np.mean(learner.predict(X_rare, priors={0: 0.95, 1: 0.05}) == y_rare)
    assert right > learner.score(X_rare, y_rare) + 0.1


def test_a_class_that_cannot_occur_is_not_predicted():
    assert "t0-1" not in LEARNER.predict(X, task="t0", priors={"t0-0": 1, "t0-1": 0, "t0-2": 1})
    only = LEARNER.predict_proba(X, task="t0", priors={"t0-0": 0, "t0-1": 1, "t0-2": 0})
    np.testing.assert_array_equal(only, np.tile([0, 1, 0], (60, 1)))


@pytest.mark.parametrize(
    "priors",
    [
        {"t0-0": 1.0},
        {"t0-0": 1, "t0-1": 1, "other": 1},
        {"t0-0": -1, "t0-1": 1, "t0-2": 1},
        [1, 1, 1],
        {"t0-0": 0, "t0-1": 0, "t0-2": 0},
        {"t0-0": np.nan, "t0-1": 1, "t0-2": 1},
    ],
)
def test_bad_priors_are_named(priors):
    with pytest.raises(
        InputError, match=r"Give a number of at least 0 for each of \['t0-0', 't0-1', 't0-2'\]"
    ):
        LEARNER.predict_proba(X, task="t0", priors=priors)


def test_priors_belong_to_a_task():
    with pytest.raises(InputError, match="Class shares belong to one task"):
        LEARNER.predict(X, priors={"t0-0": 1})


def test_doubtful_rows_get_no_label():
    sure = LEARNER.predict_proba(X, task="t0").max(axis=1)
    labels = LEARNER.predict(X, task="t0", abstain_below=0.7)
    plain = LEARNER.predict(X, task="t0")
    assert 0 < (sure < 0.7).sum() < 60
    assert [label is None for label in labels] == (sure < 0.7).tolist()
    np.testing.assert_array_equal(labels[sure >= 0.7], plain[sure >= 0.7])
    truth = STREAM[0].y_test
    assert np.mean(labels[sure >= 0.7] == truth[sure >= 0.7]) >= np.mean(plain == truth)


def test_the_marker_is_the_users_choice():
    labels = LEARNER.predict(X, task="t0", abstain_below=0.7, abstain_label="ask a human")
    assert labels.dtype.kind == "U"
    assert "ask a human" in labels
    numbers = SillyForest(3, random_state=0).partial_fit(STREAM[0].X_train, np.arange(60) % 3)
    assert numbers.predict(X, abstain_below=1.0, abstain_label=-1).dtype.kind == "i"


def test_without_a_task_both_task_and_label_must_be_probable():
    known = [label is None for label in LEARNER.predict(X, task="t0", abstain_below=0.6)]
    unknown = [label is None for label in LEARNER.predict(X, abstain_below=0.6)]
    assert sum(unknown) > sum(known)


def test_a_confidence_is_a_share():
    with pytest.raises(ParameterError, match="abstain_below=2 is not a share"):
        LEARNER.predict(X, task="t0", abstain_below=2)
