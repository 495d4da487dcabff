"""What an encoder from outside can do to a learner: no more than one of its own."""

import hashlib

import numpy as np
import pytest
from sklearn.datasets import load_digits
from small import OURS, forest, network, rows, same_answers, taught

from lifelong import ForestChannel, SillyForest, export_encoder, import_encoder, load
from lifelong.encoders.forest import FittedForest, ForestEncoder
from lifelong.exceptions import PersistenceError
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.checking import Arrays
from lifelong.persistence.exchange import _seal
from lifelong.persistence.forests import Nodes, StoredTrees


def forest_of(n_trees, left, right, feature, threshold, n_features=4):
    """So many equal trees."""
    tree = Nodes(
        np.array(left, np.int32),
        np.array(right, np.int32),
        np.array(feature, np.int32),
        np.array(threshold, np.float64),
        None,
    )
    return FittedForest.of(StoredTrees([tree] * n_trees, n_features), [tree.left] * n_trees)


def stumps(n_trees, n_features=4):
    """Trees that part rows where no row is."""
    return forest_of(n_trees, [1, -1, -1], [2, -1, -1], [0, -2, -2], [1e30, -2, -2], n_features)


def digits():
    X, y = load_digits(return_X_y=True)
    chance = np.random.default_rng(0).permutation(len(X))
    return X[chance[:150]], y[chance[:150]], X[chance[150:]], y[chance[150:]]


@pytest.mark.parametrize("channel", ["leaf", "ridge", ForestChannel(10)])
def test_one_poisoned_encoder_cannot_outvote_the_learners_own(channel):
    X, y, X_test, y_test = digits()
    learner = SillyForest(10, channel=channel, random_state=0).partial_fit(X, y, task="t")
    alone = learner.score(X_test, y_test)
    learner.add_encoder(stumps(3000, 64), name="poison")
    assert learner.score(X_test, y_test) > alone - 0.08


def test_a_large_encoder_from_outside_counts_as_much_as_one_of_our_own(tmp_path):
    learner = taught(forest(store=tmp_path), 2)
    X = rows(5)[0]
    small, large = stumps(3), stumps(300)
    ours = taught(forest(), 2).add_encoder(small, name="theirs")
    learner.add_encoder(large, name="theirs")
    expected = ours.predict_proba(X, task="task-0")
    for known in (learner, load(tmp_path), forest(store=tmp_path)):
        assert np.allclose(known.predict_proba(X, task="task-0"), expected)
    for known in (ours, learner):
        known.partial_fit(*rows(2), task="task-2")  # a task that comes later
    assert np.allclose(
        learner.predict_proba(X, task="task-2"), ours.predict_proba(X, task="task-2")
    )
    assert np.allclose(learner.predict_task_proba(X), ours.predict_task_proba(X))
    told = [known.explain("task-0", folds=2).accuracy for known in (ours, learner)]
    assert np.allclose(*told)


def test_encoders_as_large_as_our_own_count_as_before_to_the_last_bit(tmp_path):
    there = forest().partial_fit(*rows(7), task="theirs")
    mine = taught(forest(), 2).add_encoder(there.encoders_["theirs"], name="theirs")
    as_own = taught(forest(), 2)
    as_own.partial_fit(*rows(7), task="theirs").forget("theirs")
    assert same_answers(mine, as_own)
    assert mine.knowledge_.shares == {}


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_trees_without_a_split_are_refused(kind, tmp_path):
    useless = forest_of(10_000, [-1], [-1], [-2], [-2.0])
    source = useless
    if kind == "file":
        single = forest().partial_fit(rows(0)[0], ["only"] * 24, task="t")  # grows such trees
        export_encoder(single, "t", tmp_path / "file")
        source = tmp_path / "file"
    learner = taught(forest(), 1)
    with pytest.raises(PersistenceError, match="without a split"):
        learner.add_encoder(source)
    with pytest.raises(PersistenceError, match="without a split"):
        import_encoder(source, learner)
    assert list(learner.encoders_) == ["task-0"]


# The same encoder twice


def changed_file(path, change):
    """An encoder's file after a change, with the right checksum."""
    structure, found = unpack(bytearray(path.read_bytes()))
    arrays = Arrays({name: array.copy() for name, array in sorted(found.items())})
    del structure["sha256"]
    change(structure, arrays)
    arrays = Arrays(sorted(arrays.items()))
    sealed = {**structure, "sha256": _seal(structure, arrays)}
    path.write_bytes(b"".join(pack(arrays, sealed)))


def leaf_thresholds(structure, arrays):
    leaves = arrays["forest.left"] == -1
    arrays["forest.threshold"][leaves] = np.arange(leaves.sum())


def leaf_features(structure, arrays):
    arrays["forest.feature"][arrays["forest.left"] == -1] = 2


def last_digits(structure, arrays):
    inner = arrays["forest.left"] != -1
    arrays["forest.threshold"][inner] = np.nextafter(arrays["forest.threshold"][inner], np.inf)


def order_of_trees(structure, arrays):
    ends = np.cumsum(arrays["forest.nodes"])
    for name in ("left", "right", "feature", "threshold"):
        trees = np.split(arrays[f"forest.{name}"], ends[:-1])
        arrays[f"forest.{name}"] = np.concatenate(trees[::-1])
    arrays["forest.nodes"] = arrays["forest.nodes"][::-1].copy()


def order_of_nodes(structure, arrays):
    """Level by level instead of depth first."""
    start = 0
    for size in arrays["forest.nodes"].tolist():
        own = slice(start, start + size)
        left, right = arrays["forest.left"][own].copy(), arrays["forest.right"][own].copy()
        order = [0]
        for node in order:
            if left[node] >= 0:
                order.extend([left[node], right[node]])
        place = np.argsort(order)
        for name in ("feature", "threshold"):
            arrays[f"forest.{name}"][own] = arrays[f"forest.{name}"][own][order]
        for name, child in (("left", left), ("right", right)):
            renumbered = np.where(child >= 0, place[child], -1)
            arrays[f"forest.{name}"][own] = renumbered[order]
        start += size


EVASIONS = {
    function.__name__: function
    for function in (leaf_thresholds, leaf_features, last_digits, order_of_trees, order_of_nodes)
}


@pytest.mark.parametrize("how", EVASIONS)
def test_an_encoder_that_does_the_same_is_the_same_encoder(how, tmp_path):
    there = forest().partial_fit(*rows(7), task="theirs")
    path = tmp_path / "file"
    export_encoder(there, "theirs", path)
    before = path.read_bytes()
    changed_file(path, EVASIONS[how])
    assert hashlib.sha256(before).digest() != hashlib.sha256(path.read_bytes()).digest()
    stored = taught(forest(store=tmp_path / "store"), 1).add_encoder(there.encoders_["theirs"])
    for learner in (there, stored, load(tmp_path / "store")):
        with pytest.raises(PersistenceError, match="has that encoder already"):
            learner.add_encoder(path)


def test_an_encoder_that_does_something_else_is_another(tmp_path):
    there = forest().partial_fit(*rows(7), task="theirs")
    export_encoder(there, "theirs", tmp_path / "file")

    def other(structure, arrays):
        inner = arrays["forest.left"] != -1
        arrays["forest.threshold"][inner] += 0.1

    changed_file(tmp_path / "file", other)
    assert len(there.add_encoder(tmp_path / "file").encoders_) == 2


@pytest.mark.parametrize("name", ["network", "images", "augmented images"])
def test_what_a_network_does_not_use_does_not_make_it_another(name, tmp_path):
    make, shape = OURS[name]
    there = make().partial_fit(*rows(7, shape=shape), task="theirs")
    export_encoder(there, "theirs", tmp_path / "file")

    def idle(structure, arrays):
        structure["encoder"]["network"]["channels_last"] = 0
        for key, array in arrays.items():
            if key.endswith("num_batches_tracked"):
                arrays[key] = array + 7

    changed_file(tmp_path / "file", idle)
    with pytest.raises(PersistenceError, match="has that encoder already"):
        there.add_encoder(tmp_path / "file")
    assert network().partial_fit(*rows(7), task="t").encoders_


def test_large_forests_are_known_at_once():
    encoder = ForestEncoder(5).fit(*rows(0)[:1], np.arange(24) % 2, rng=np.random.default_rng(0))
    learner = taught(forest(), 1).add_encoder(encoder, name="a")
    deep = np.arange(1, 4001, 2)  # a tree like a chain of 2000 levels
    left = np.full(4001, -1)
    right = np.full(4001, -1)
    left[0:4000:2] = deep
    right[0:4000:2] = deep + 1
    feature = np.where(left >= 0, 1, -2)
    chain = forest_of(1, left, right, feature, np.linspace(0, 1, 4001))
    assert "chain" in learner.add_encoder(chain, name="chain").encoders_
