"""Sample weights, for encoders and channels; and batches that add up."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import check_random_state
from streams_of_tasks import LEARNERS, NETWORK, apart, taught

from lifelong import Silly, SillyForest, SillyNetwork
from lifelong.channels import ForestChannel, LeafChannel, NeighboursChannel, Seen
from lifelong.encoders import ForestEncoder
from lifelong.exceptions import InputError, UnsupportedError
from lifelong.references import REFERENCES

STREAM = apart()
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


@each_learner
def test_a_row_of_weight_0_is_not_there(make):
    task, there = STREAM[0], np.arange(60) % 4 > 0
    weighted = make().partial_fit(
        task.X_train, task.y_train, task="t", sample_weight=there.astype(float)
    )
    fewer = make().partial_fit(task.X_train[there], task.y_train[there], task="t")
    np.testing.assert_array_equal(
        weighted.predict_proba(task.X_test), fewer.predict_proba(task.X_test)
    )
    assert weighted.tasks_["t"].n_rows == 45


@each_learner
def test_weights_of_1_are_no_weights(make):
    task = STREAM[0]
    one = make().partial_fit(task.X_train, task.y_train, task="t0", sample_weight=np.ones(60))
    np.testing.assert_array_equal(
        one.predict_proba(task.X_test), taught(make(), STREAM[:1]).predict_proba(task.X_test)
    )
    assert one.tasks_["t0"].class_weights is None


def heavy_and_plain(make):
    """The same rows, of classes that overlap, once with twenty times the weight on the
    first class.
    """
    rng, y = np.random.default_rng(0), np.arange(300) % 3
    X, weights = y[:, None] + 2 * rng.normal(size=(300, 6)), np.where(y == 0, 20.0, 1.0)
    heavy = make().partial_fit(X, y, task="t", sample_weight=weights)
    return (
        heavy,
        make().partial_fit(X, y, task="t"),
        1 + 2 * rng.normal(size=(200, 6)).astype(np.float32),
    )


@pytest.mark.parametrize(
    "make", [lambda: SillyForest(20, max_depth=3, random_state=0), LEARNERS["neighbours"]]
)
def test_a_heavier_class_is_predicted_more_often(make):
    """In leaves of many rows, that is: a leaf of one row says the same whatever the row weighs."""
    heavy, plain, X = heavy_and_plain(make)
    assert (heavy.predict(X) == 0).mean() > (plain.predict(X) == 0).mean() + 0.1
    np.testing.assert_allclose(heavy.tasks_["t"].class_shares, np.array([20, 1, 1]) / 22)


def test_weights_reach_the_network_and_its_channel():
    heavy, plain, X = heavy_and_plain(LEARNERS["network"])
    assert (heavy.encoders_["t"].encode(X) != plain.encoders_["t"].encode(X)).any()
    assert (heavy.predict_proba(X) != plain.predict_proba(X)).any()


def test_the_leaf_channel_counts_a_row_of_weight_3_three_times():
    rng = check_random_state(0)
    forest = ForestEncoder(4).fit(
        STREAM[0].X_train, np.arange(60) % 3, rng=np.random.default_rng(0)
    )
    Z, y, weights = forest.encode(STREAM[1].X_train), np.arange(60) % 3, rng.randint(1, 4, 60)
    empty = LeafChannel().start(np.bincount(y))
    often = np.repeat(np.arange(60), weights)
    plain = Seen(Z, y, np.arange(60), n_leaves=forest.n_leaves)
    one = empty.update("u", replace(plain, weights=weights.astype(float)))
    two = empty.update("u", plain.take(often))
    np.testing.assert_array_equal(one.tables["u"], two.tables["u"])
    assert one.tables["u"].dtype == two.tables["u"].dtype == np.uint8
    halves = replace(plain, weights=weights / 2)
    half = empty.update("u", halves).update("u", halves)
    np.testing.assert_allclose(half.tables["u"], one.tables["u"])
    shown = {"u": Z}
    np.testing.assert_allclose(half.predict_proba(shown), one.predict_proba(shown), atol=1e-6)


def test_neighbours_vote_by_weight():
    Z, y = np.zeros((4, 1), np.float32), np.array([0, 0, 0, 1])
    channel = NeighboursChannel(n_neighbours=4).start(np.array([3, 1]))
    plain = Seen(Z, y, np.arange(4))
    heavy = replace(plain, weights=np.array([1.0, 1.0, 1.0, 3.0]))
    weighted = channel.update("u", heavy)
    np.testing.assert_allclose(weighted.predict_proba({"u": Z[:1]}), [[0.5, 0.5]])
    more = weighted.update("u", plain.take(slice(0)))
    np.testing.assert_allclose(more.predict_proba({"u": Z[:1]}), [[0.5, 0.5]])
    unweighted_first = channel.update("u", plain.take(slice(3)))
    later = unweighted_first.update("u", heavy.take(slice(3, None)))
    np.testing.assert_allclose(later.predict_proba({"u": Z[:1]}), [[0.5, 0.5]])


@each_learner
def test_stored_rows_keep_their_weights_for_later_encoders(make):
    learner = make(replay=0.5)
    weights = np.linspace(0.5, 2, 60)
    learner.partial_fit(STREAM[0].X_train, STREAM[0].y_train, task="a", sample_weight=weights)
    stored = learner.memory_["a"]
    np.testing.assert_array_equal(stored.weights, weights[stored.rows])
    learner.partial_fit(STREAM[0].X_test, STREAM[0].y_test, task="a")
    np.testing.assert_array_equal(learner.memory_["a"].weights[30:], np.ones(30))
    learner.partial_fit(STREAM[1].X_train, STREAM[1].y_train, task="b")
    assert learner.score(STREAM[0].X_test, STREAM[0].y_test, task="a") > 0.8


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), "X has 60 rows and sample_weight has shape"),
        (np.ones((60, 1)), "sample_weight has shape"),
        (-np.ones(60), "must be finite, at least 0"),
        (np.zeros(60), "not zero for all rows"),
        (np.full(60, np.nan), "must be finite"),
        (["heavy"] * 60, "is not numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    learner = SillyForest(2, random_state=0)
    with pytest.raises(InputError, match=message):
        learner.partial_fit(STREAM[0].X_train, STREAM[0].y_train, sample_weight=weights)
    assert not hasattr(learner, "encoders_")


def test_whoever_cannot_weigh_rows_says_so():
    weights = np.linspace(1, 2, 60)
    with pytest.raises(
        UnsupportedError, match="RanDumb takes no sample_weight. SillyForest and SillyNetwork do."
    ):
        REFERENCES["randumb"](0).partial_fit(
            STREAM[0].X_train, STREAM[0].y_train, sample_weight=weights
        )

    class Blunt:
        def split(self, y, *, rng):
            return ForestEncoder(2).split(y, rng=rng)

        def fit(self, X, y, *, in_bag=None, rng):
            return ForestEncoder(2).fit(X, y, in_bag=in_bag, rng=rng)

    learner = Silly(Blunt(), LeafChannel(), random_state=0)
    with pytest.raises(UnsupportedError, match="Blunt takes no sample_weight"):
        learner.partial_fit(STREAM[0].X_train, STREAM[0].y_train, sample_weight=weights)


# Rows in a stream


def in_batches(learner, task, size):
    for start in range(0, len(task.y_train), size):
        rows = slice(start, start + size)
        learner.partial_fit(task.X_train[rows], task.y_train[rows], task=task.name)
    return learner


def test_batches_of_a_known_task_equal_one_fit_exactly_for_leaf_channels():
    """Given the same encoders: those of another task, so that every row counts everywhere."""
    first, task = apart(2, n=90)
    whole, batches = (taught(SillyForest(5, budget=1, random_state=0), [first]) for _ in range(2))
    whole.partial_fit(task.X_train, task.y_train, task=task.name)
    in_batches(batches, task, 17)
    np.testing.assert_array_equal(
        batches.channels_["t1"].tables["t0"], whole.channels_["t1"].tables["t0"]
    )
    np.testing.assert_array_equal(
        batches.predict_proba(task.X_test, task="t1"), whole.predict_proba(task.X_test, task="t1")
    )
    np.testing.assert_allclose(
        batches.predict_task_proba(task.X_test), whole.predict_task_proba(task.X_test), rtol=1e-3
    )
    counts = np.zeros_like(whole.channels_["t1"].tables["t0"])  # and both equal counting by hand
    for row, label in zip(first_leaves(whole, task), np.arange(90) % 3, strict=True):
        counts[row, label] += 1
    np.testing.assert_array_equal(whole.channels_["t1"].tables["t0"], counts)


def first_leaves(learner, task):
    return learner.encoders_["t0"].encode(task.X_train)


@pytest.mark.parametrize("channel", [ForestChannel(), NeighboursChannel()])
def test_batches_of_a_known_task_equal_one_fit_within_noise_for_other_channels(channel):
    first, task = apart(2, n=240, distance=0.5)
    accuracy = []
    for size in (240, 60):
        learner = SillyNetwork(**NETWORK, channel=channel, budget=1, random_state=0)
        learner = in_batches(taught(learner, [first]), task, size)
        accuracy.append(learner.score(task.X_test, task.y_test, task="t1"))
    assert abs(accuracy[0] - accuracy[1]) < 0.08
    assert min(accuracy) > 0.8
