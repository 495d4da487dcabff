"""Forest encoders: which rows a tree has seen, what its leaves are, and what it costs."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from lifelong.channels import Seen
from lifelong.channels.leaf import count_leaves
from lifelong.encoders import ForestEncoder


def unique_rows(n=120, n_classes=3):
    """Every row has a value of its own in every column, so a threshold betrays the two rows it lies
    between.
    """
    rng = np.random.default_rng(0)
    X = np.stack([rng.choice(2**22, size=n, replace=False) for _ in range(4)], axis=1).astype(
        np.float32
    )
    return X, rng.integers(n_classes, size=n)


def test_each_tree_saw_its_in_bag_rows_and_no_other():
    X, y = unique_rows()
    encoder = ForestEncoder(n_trees=8, max_depth=None)
    rng = np.random.default_rng(1)
    in_bag = encoder.split(y, rng=rng)
    forest = encoder.fit(X, y, in_bag=in_bag, rng=rng)
    for b, tree in enumerate(forest.trees):
        assert tree.n_node_samples[0] == in_bag[:, b].sum()
        inner = tree.children_left >= 0
        for feature, threshold in zip(tree.feature[inner], tree.threshold[inner], strict=True):
            values = X[in_bag[:, b], feature].astype(
                float
            )  # whole numbers: their midpoints are exact
            assert threshold in np.add.outer(values, values) / 2
            held = X[~in_bag[:, b], feature].astype(float)
            assert threshold not in np.add.outer(held, X[:, feature]) / 2


def test_changing_held_out_rows_changes_no_tree():
    X, y = unique_rows()
    encoder = ForestEncoder(n_trees=1)
    in_bag = encoder.split(y, rng=np.random.default_rng(1))
    other = np.where(in_bag, X, 2**22 - X).astype(np.float32)
    one = encoder.fit(X, y, in_bag=in_bag, rng=np.random.default_rng(2))
    two = encoder.fit(other, y, in_bag=in_bag, rng=np.random.default_rng(2))
    np.testing.assert_array_equal(one.encode(X), two.encode(X))


def test_in_task_counts_hold_each_tree_s_held_out_rows_only():
    X, y = unique_rows()
    encoder = ForestEncoder(n_trees=5)
    rng = np.random.default_rng(3)
    in_bag = encoder.split(y, rng=rng)
    forest = encoder.fit(X, y, in_bag=in_bag, rng=rng)
    Z = Seen(forest.encode(X), y, np.arange(len(y)), in_bag=in_bag).held_out().Z
    counted = count_leaves(Z, y, forest.n_leaves, 3)
    by_hand = np.zeros_like(counted)
    for b, (tree, leaf_of_node) in enumerate(zip(forest.trees, forest.leaf_of_node, strict=True)):
        for i in np.flatnonzero(~in_bag[:, b]):
            by_hand[leaf_of_node[tree.apply(X[i : i + 1])[0]], y[i]] += 1
    np.testing.assert_array_equal(counted, by_hand)


def test_leaves_are_scikit_learns_numbered_through_the_forest():
    X, y = unique_rows()
    in_bag = np.ones((len(y), 2), dtype=bool)
    forest = ForestEncoder(n_trees=2).fit(X, y, in_bag=in_bag, rng=np.random.default_rng(4))
    seeds = np.random.default_rng(4).integers(2**31 - 1, size=2)
    leaves, before = forest.encode(X), 0
    for b, seed in enumerate(seeds):
        tree = DecisionTreeClassifier(
            max_depth=30, max_features="sqrt", random_state=int(seed)
        ).fit(X, y)
        _, expected = np.unique(tree.apply(X), return_inverse=True)
        np.testing.assert_array_equal(leaves[:, b], before + expected)
        before += tree.get_n_leaves()
    assert forest.n_leaves == before


def test_the_same_trees_grow_on_one_thread_and_on_two():
    X, y = unique_rows()
    one, two = (
        ForestEncoder(n_jobs=n_jobs).fit(X, y, rng=np.random.default_rng(5)).encode(X)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_images_are_read_as_their_pixels():
    X, y = unique_rows()
    flat, image = (
        ForestEncoder().fit(rows, y, rng=np.random.default_rng(6)).encode(rows)
        for rows in (X, X.reshape(len(X), 1, 2, 2))
    )
    np.testing.assert_array_equal(flat, image)


def test_an_encoder_keeps_no_class_counts():
    X, y = unique_rows()
    forest = ForestEncoder().fit(X, y, rng=np.random.default_rng(7))
    assert all(tree.value.shape[2] == 1 and not tree.value.any() for tree in forest.trees)
    assert forest.nbytes > 0
    assert forest.n_parameters > 0
