"""Tasks go, and tasks get other names."""

import numpy as np
import pytest
from streams_of_tasks import LEARNERS, apart, taught

from lifelong import SillyForest, load, save
from lifelong.exceptions import (
    InputError,
    InputTypeError,
    NotLearntError,
    UnknownTaskError,
    UnsupportedError,
)
from lifelong.references import CONTROLS, REFERENCES

each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
STREAM = apart(4)
X = np.concatenate([task.X_test for task in STREAM])


def answers(learner):
    """Everything a learner can be asked, with and without a task."""
    known = {name: learner.predict_proba(X, task=name) for name in learner.tasks_}
    return {**known, "which": learner.predict_task_proba(X), "new": learner.novelty(X)[:, None]}


def assert_same_answers(one, two):
    assert list(one.tasks_) == list(two.tasks_)
    assert list(one.encoders_) == list(two.encoders_)
    for (_, a), (_, b) in zip(answers(one).items(), answers(two).items(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.sizes() == two.sizes()


@each_learner
@pytest.mark.parametrize("gone", [1, 2])
def test_a_task_forgotten_with_its_encoder_was_never_there(make, gone):
    others = [task for task in STREAM if task is not STREAM[gone]]
    forgetful = taught(make(), STREAM).forget(STREAM[gone].name, encoder=True)
    never = taught(make(), others)
    assert_same_answers(forgetful, never)
    more = apart(5)[4]
    for learner in (forgetful, never):  # … nor is it missed later
        learner.partial_fit(more.X_train, more.y_train, task="later")
    assert_same_answers(forgetful, never)


@each_learner
def test_a_forgotten_task_leaves_its_encoder_to_the_others(make):
    learner = taught(make(), STREAM)
    before = {task.name: learner.predict_proba(X, task=task.name) for task in STREAM}
    assert learner.forget("t1") is learner
    assert list(learner.tasks_) == ["t0", "t2", "t3"]
    for state in (learner.channels_, learner.memory_, learner.densities_):
        assert list(state) == ["t0", "t2", "t3"]
    assert "t1" in learner.encoders_
    for name in learner.tasks_:
        np.testing.assert_array_equal(learner.predict_proba(X, task=name), before[name])
    with pytest.raises(UnknownTaskError, match="Unknown task 't1'. Known tasks: 't0', 't2', 't3'"):
        learner.predict(X, task="t1")
    assert not {"t1-0", "t1-1", "t1-2"} & set(learner.predict(X))


@pytest.mark.parametrize("channel", ["leaf", "ridge"])
@pytest.mark.parametrize("inference", [True, False])
def test_a_task_whose_last_encoder_is_forgotten_answers_with_its_class_shares(
    channel, inference, tmp_path
):
    """The second task came when the budget was spent, so it has read the first one's encoder."""
    learner = SillyForest(2, channel=channel, budget=1, task_inference=inference, random_state=0)
    taught(learner, STREAM[:2]).forget("t0", encoder=True)
    assert list(learner.encoders_) == []
    shares = learner.tasks_["t1"].class_shares
    expected = np.tile(shares, (len(X), 1))
    np.testing.assert_array_equal(learner.predict_proba(X, task="t1"), expected)
    assert set(learner.predict_task(X)) == {"t1"}
    test = STREAM[1]
    explained = learner.explain("t1", test.X_test, test.y_test)
    assert "t1" in str(explained)
    save(learner, tmp_path)
    np.testing.assert_array_equal(load(tmp_path).predict_proba(X, task="t1"), expected)
    again = taught(learner, STREAM[2:3])
    assert again.predict_proba(X, task="t1").shape == expected.shape


@each_learner
def test_a_forgotten_name_can_be_learnt_anew_beside_the_old_encoder(make):
    learner = taught(make(), STREAM[:3]).forget("t1")
    other = STREAM[3]
    learner.partial_fit(other.X_train, other.y_train, task="t1")
    assert list(learner.encoders_) == ["t0", "t1", "t2", "t1 (2)"]
    assert learner.score(other.X_test, other.y_test, task="t1") > 0.8
    assert learner.alone("t1").score(other.X_test, other.y_test) > 0.7
    assert learner.score(STREAM[0].X_test, STREAM[0].y_test, task="t0") > 0.8


@each_learner
def test_a_renamed_task_goes_on_bit_for_bit(make):
    plain, renamed = taught(make(replay=0.5), STREAM[:3]), taught(make(replay=0.5), STREAM[:3])
    assert renamed.rename("t1", "site") is renamed
    for learner, name in ((plain, "t1"), (renamed, "site")):
        learner.partial_fit(STREAM[1].X_test, STREAM[1].y_test, task=name)
        learner.partial_fit(STREAM[3].X_train, STREAM[3].y_train, task="t3")
    assert list(renamed.tasks_) == ["t0", "site", "t2", "t3"]
    for name in plain.tasks_:
        new = "site" if name == "t1" else name
        np.testing.assert_array_equal(
            renamed.predict_proba(X, task=new), plain.predict_proba(X, task=name)
        )
        np.testing.assert_array_equal(
            renamed.alone(new).predict_proba(X), plain.alone(name).predict_proba(X)
        )
    np.testing.assert_array_equal(renamed.predict_task_proba(X), plain.predict_task_proba(X))
    assert "site" in renamed.predict_task(STREAM[1].X_test)
    assert_same_answers(renamed.rename("site", "t1"), plain)


def test_an_old_name_may_be_given_to_a_new_task():
    learner = taught(SillyForest(5, random_state=0), STREAM[:2]).rename("t1", "first of its name")
    learner.partial_fit(STREAM[2].X_train, STREAM[2].y_train, task="t1")
    assert learner.score(STREAM[2].X_test, STREAM[2].y_test, task="t1") > 0.8
    assert learner.score(STREAM[1].X_test, STREAM[1].y_test, task="first of its name") > 0.8
    assert list(learner.encoders_) == ["t0", "t1", "t1 (2)"]
    learner.forget("first of its name", encoder=True).forget("t1", encoder=True)
    assert_same_answers(learner, taught(SillyForest(5, random_state=0), STREAM[:1]))


def test_many_new_tasks_at_once_may_have_old_names():
    one, two = (taught(SillyForest(3, random_state=0), STREAM[:2]).forget("t0") for _ in range(2))
    again = [STREAM[0], STREAM[2]]
    assert_same_answers(taught(one, again), two.partial_fit_many(again))


def test_forgetting_everything_leaves_a_learner_that_can_learn():
    learner = taught(SillyForest(3, random_state=0), STREAM[:1]).forget("t0", encoder=True)
    with pytest.raises(NotLearntError):
        learner.predict(X)
    assert_same_answers(
        taught(learner, STREAM[:1]), taught(SillyForest(3, random_state=0), STREAM[:1])
    )


def test_a_place_in_the_budget_is_free_again():
    learner = taught(SillyForest(3, budget=2, random_state=0), STREAM[:3])
    assert list(learner.encoders_) == ["t0", "t1"]
    learner.forget("t0", encoder=True)
    assert list(taught(learner, STREAM[3:]).encoders_) == ["t1", "t3"]


def test_bad_names_are_refused_and_change_nothing():
    learner = taught(SillyForest(3, random_state=0), STREAM[:2])
    before = dict(vars(learner))
    for error, change in (
        (UnknownTaskError, lambda: learner.forget("xnor")),
        (UnknownTaskError, lambda: learner.rename("xnor", "xor")),
        (InputError, lambda: learner.rename("t0", "t1")),
        (InputTypeError, lambda: learner.rename("t0", 1.5)),
        (InputTypeError, lambda: learner.forget(None)),
    ):
        with pytest.raises(error):
            change()
        assert vars(learner) == before
    with pytest.raises(NotLearntError):
        SillyForest().forget("t0")


@pytest.mark.parametrize("name", ["randumb", "er", "total-replay", "rf"])
def test_references_rename_their_tasks(name):
    small = {} if name == "rf" else {"n_features": 50} if name == "randumb" else {"network": (8,)}
    learner = taught({**REFERENCES, **CONTROLS}[name](0, **small), STREAM[:2])
    before = learner.predict_proba(X, task="t0")
    learner.rename("t0", "site")
    assert list(learner.tasks_) == ["site", "t1"]
    np.testing.assert_array_equal(learner.predict_proba(X, task="site"), before)
    learner.partial_fit(STREAM[0].X_train, STREAM[0].y_train, task="site")
    assert learner.score(STREAM[0].X_test, STREAM[0].y_test, task="site") > 0.7


def test_a_reference_forgets_if_nothing_is_shared_and_otherwise_says_that_it_cannot():
    forest = taught(CONTROLS["rf"](0, n_estimators=5), STREAM[:2]).forget("t0")
    assert list(forest.tasks_) == list(forest.memory_) == list(forest.forests_) == ["t1"]
    shared = taught(REFERENCES["er"](0, network=(8,)), STREAM[:2])
    with pytest.raises(
        UnsupportedError,
        match="ER cannot forget task 't0': .* SillyForest, SillyNetwork and rf can",
    ):
        shared.forget("t0")
    assert list(shared.tasks_) == ["t0", "t1"]
