"""RanDumb: exact statistics, however the rows arrive."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tiny_references import make_stream, taught, tiny

from lifelong import TaskStream
from lifelong.exceptions import ParameterError
from lifelong.learners.base import Learner
from lifelong.references.randumb import ClassMeans, FourierFeatures, oas_shrinkage


def test_incremental_means_and_covariance_equal_the_batch_ones() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4))
    y = rng.integers(3, size=60)
    y[:10] = 0  # the first batch knows one class only
    known = ClassMeans(np.zeros((0, 4)), np.zeros(0, np.int64))
    scatter = np.zeros((4, 4))
    for rows, n_classes in ((slice(0, 10), 1), (slice(10, 11), 3), (slice(11, 60), 3)):
        known, more = known.updated(Z[rows], y[rows], n_classes)
        scatter = scatter + more
    means = np.stack([Z[y == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(known.means, means)
    np.testing.assert_array_equal(known.counts, np.bincount(y))
    np.testing.assert_allclose(scatter, (Z - means[y]).T @ (Z - means[y]))


def test_rows_in_two_parts_give_the_predictions_of_all_at_once(flat: TaskStream) -> None:
    task = flat[0]
    whole = tiny("randumb")
    in_batches = tiny("randumb")
    other = flat[1]
    for learner in (whole, in_batches):  # the kernel's width comes from the first task
        learner.partial_fit(other.X_train, other.y_train, task="second")
    whole.partial_fit(task.X_train, task.y_train, task="first")
    for rows in (slice(0, 20), slice(20, None)):
        in_batches.partial_fit(task.X_train[rows], task.y_train[rows], task="first")
    np.testing.assert_allclose(
        whole.predict_proba(task.X_test, "first"),
        in_batches.predict_proba(task.X_test, "first"),
        atol=1e-8,
    )


def test_random_features_approximate_the_kernel() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)).astype(np.float32)
    features = FourierFeatures.for_rows(X, 20_000, rng=rng)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    squared = cdist(rows, rows, "sqeuclidean")
    sigma = np.median(np.sqrt(squared[np.triu_indices(30, 1)]))
    np.testing.assert_allclose(
        features(X) @ features(X).T, np.exp(-squared / (2 * sigma**2)), atol=0.04
    )


def test_shrinkage_is_close_to_scikit_learns_and_between_0_and_1() -> None:
    Z = np.random.default_rng(0).normal(size=(50, 30)) * np.linspace(1, 3, 30)
    Z -= Z.mean(axis=0)
    S = Z.T @ Z / 50
    assert abs(oas_shrinkage(S, 50) - oas(Z, assume_centered=True)[1]) < 0.02
    assert oas_shrinkage(np.eye(5), 10) == 1.0


def test_the_classes_are_those_of_linear_discriminant_analysis_with_that_covariance(
    flat: TaskStream,
) -> None:
    task = flat[0]
    learner = tiny("randumb").partial_fit(task.X_train, task.y_train, task="first")
    lda = LinearDiscriminantAnalysis(
        solver="lsqr",
        covariance_estimator=_Given(learner._covariance(learner.knowledge_)),
        priors=[1 / 3] * 3,
    )
    lda.fit(learner.features_(task.X_train), task.y_train)
    assert (
        lda.predict(learner.features_(task.X_test)) == learner.predict(task.X_test)
    ).mean() > 0.99


def test_a_class_without_rows_has_probability_0(flat: TaskStream) -> None:
    task = flat[0]
    classes = [*np.unique(task.y_train).tolist(), "ghost"]
    learner = tiny("randumb").partial_fit(task.X_train, task.y_train, task="first", classes=classes)
    ghost = learner.classes_of("first").tolist().index("ghost")
    assert (learner.predict_proba(task.X_test)[:, ghost] == 0).all()


def test_the_kernel_width_is_the_users_where_given_and_must_be_positive(flat: TaskStream) -> None:
    task = flat[0]
    learner = tiny("randumb", kernel_width=50.0).partial_fit(
        task.X_train, task.y_train, task="first"
    )
    assert abs(1 / learner.features_.W.std() - 50) < 5
    with pytest.raises(ParameterError, match="kernel_width"):
        tiny("randumb", kernel_width=0.0).partial_fit(task.X_train, task.y_train)


def test_learning_one_task_changes_the_covariance_of_the_other() -> None:
    learner = taught("randumb")
    assert learner.scatter_.shape == (200, 200)
    assert sum(means.counts.sum() for means in learner.means_.values()) == 225


def test_the_covariance_has_a_ridge_beside_the_shrinkage(flat: TaskStream) -> None:
    task = flat[0]
    plain, ridged = (
        tiny("randumb", ridge=ridge).partial_fit(task.X_train, task.y_train, task="first")
        for ridge in (0.0, 1e-4)
    )
    added = ridged._covariance(ridged.knowledge_) - plain._covariance(plain.knowledge_)
    np.testing.assert_allclose(added, 1e-4 * np.eye(200), atol=1e-12)
    with pytest.raises(ParameterError, match="ridge"):
        tiny("randumb", ridge=-1.0).partial_fit(task.X_train, task.y_train)


def test_colour_images_are_learnt_together_with_their_mirror_images() -> None:
    task = make_stream((3, 4, 4))[0]

    def learnt(X: np.ndarray, y: np.ndarray, **settings: object) -> Learner:
        learner = tiny("randumb", kernel_width=6.0, **settings)
        learner.partial_fit(task.X_test, task.y_test, task="scale")  # the same units for all
        return learner.partial_fit(X, y, task="first")

    with_flips = learnt(task.X_train, task.y_train)
    both = np.concatenate([task.X_train, task.X_train[..., ::-1]])
    by_hand = learnt(both, np.concatenate([task.y_train, task.y_train]), flip=False)
    as_they_are = learnt(task.X_train, task.y_train, flip=False)
    means, expected, plain = (
        learner.means_["first"].means for learner in (with_flips, by_hand, as_they_are)
    )
    np.testing.assert_allclose(means, expected, atol=1e-12)
    assert np.abs(means - plain).max() > 1e-3
    assert with_flips.means_["first"].counts.sum() == 2 * len(task.y_train)


@pytest.mark.parametrize("shape", [(8,), (1, 4, 4)])
def test_flat_rows_and_grey_images_are_not_flipped(shape: tuple[int, ...]) -> None:
    task = make_stream(shape)[0]
    learner = tiny("randumb").partial_fit(task.X_train, task.y_train, task="first")
    assert learner.means_["first"].counts.sum() == len(task.y_train)


class _Given:
    """A covariance estimator that has made up its mind."""

    def __init__(self, covariance_: np.ndarray) -> None:
        self.covariance_ = covariance_

    def fit(self, X: np.ndarray) -> "_Given":
        return self
