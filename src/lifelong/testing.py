"""Checks that every encoder, channel and learner passes: ours, and parts that you bring.

Each check is a function that fails with an ``AssertionError``; ``check_encoder``, ``check_channel``
and ``check_learner`` run all of their kind. In pytest::

    @pytest.mark.parametrize("check", LEARNER_CHECKS, ids=name_of_check)
    def test_my_learner(check):
        check(lambda seed: MyLearner(random_state=seed), small_stream())
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from lifelong.channels.base import Channel, FittedChannel, RandomChannel, Seen
from lifelong.encoders.base import Encoder, FittedEncoder, LeafEncoder
from lifelong.encoders.forest import ForestEncoder
from lifelong.exceptions import LifelongError
from lifelong.learners.base import Learner
from lifelong.tasks.base import Task, TaskStream

MakeLearner = Callable[[int], Learner]
"""seed → learner."""

__all__ = [
    "CHANNEL_CHECKS",
    "ENCODER_CHECKS",
    "LEARNER_CHECKS",
    "check_channel",
    "check_encoder",
    "check_learner",
    "name_of_check",
    "shown",
    "small_stream",
]


def name_of_check(check: Callable[..., None]) -> str:
    """The name of a check as words.

    Parameters
    ----------
    check : function
        One of ``ENCODER_CHECKS``, ``CHANNEL_CHECKS`` or ``LEARNER_CHECKS``.

    Examples
    --------
    >>> name_of_check(the_same_seed_gives_the_same_encoder)
    'the same seed gives the same encoder'

    See Also
    --------
    check_encoder, check_channel, check_learner : run them all.
    """
    return check.__name__.replace("_", " ")


def small_stream(
    shape: tuple[int, ...] = (8,), n_rows: int = 25, shift: float = 0.0, seed: int = 0
) -> TaskStream:
    """Three tasks of 3, 2 and 4 classes: Gaussians around random means.

    Parameters
    ----------
    shape : tuple, default (8,)
        Of a row: (p,), or (c, h, w) for images.
    n_rows : int, default 25
        Per class.
    shift : float, default 0
        How far each task's rows lie from those of the task before: tells tasks apart.
    seed : int, default 0
        The same number gives the same rows.

    Examples
    --------
    >>> [task.name for task in small_stream()]
    ['first', 'second', 'third']

    See Also
    --------
    check_learner : what it is for.
    """
    rng = np.random.default_rng(seed)
    tasks = []
    for number, (name, n_classes) in enumerate({"first": 3, "second": 2, "third": 4}.items()):
        means = rng.normal(size=(n_classes, *shape))
        y = np.tile(np.arange(n_classes), 2 * n_rows)
        noise = rng.normal(size=(len(y), *shape))
        X = (means[y] + 0.7 * noise + number * shift).astype(np.float32)
        half = len(y) // 2
        labels = np.array([f"{name}-{k}" for k in range(n_classes)])[y]
        tasks.append(Task(name, X[:half], labels[:half], X[half:], labels[half:]))
    return TaskStream(tasks)


# Encoders


def check_encoder(encoder: Encoder, in_shape: tuple[int, ...] = (8,)) -> None:
    """Run every check of encoders.

    Parameters
    ----------
    encoder : Encoder
        What to check.
    in_shape : tuple, default (8,)
        Shape of the rows that it reads.

    Examples
    --------
    >>> check_encoder(ForestEncoder(n_trees=3))

    See Also
    --------
    check_channel, check_learner : the same for other parts.
    """
    for check in ENCODER_CHECKS:
        check(encoder, in_shape)


def _rows(in_shape: tuple[int, ...]) -> tuple[Any, Any]:
    task = small_stream(in_shape)[0]
    _, y = np.unique(task.y_train, return_inverse=True)
    return task.X_train, y


def _fitted(encoder: Encoder, X: Any, y: Any, in_bag: Any = None) -> FittedEncoder:
    return encoder.fit(X, y, in_bag=in_bag, rng=np.random.default_rng(0))


def a_split_says_which_rows_are_in_bag(encoder: Encoder, in_shape: tuple[int, ...]) -> None:
    """(n,) or (n, parts), true where a row is trained on."""
    _, y = _rows(in_shape)
    in_bag = encoder.split(y, rng=np.random.default_rng(0))
    assert in_bag.dtype == bool
    assert in_bag.ndim in (1, 2)
    assert len(in_bag) == len(y)


def every_row_gets_a_representation(encoder: Encoder, in_shape: tuple[int, ...]) -> None:
    """Finite numbers (n, d), or leaves (n, B) that are there."""
    X, y = _rows(in_shape)
    fitted = _fitted(encoder, X, y)
    Z = fitted.encode(X)
    assert Z.ndim == 2
    assert len(Z) == len(X)
    assert fitted.nbytes >= 0
    assert fitted.n_parameters >= 0
    if isinstance(fitted, LeafEncoder) and fitted.n_leaves:
        assert Z.dtype == np.int32
        assert Z.min() >= 0
        assert Z.max() < fitted.n_leaves
    else:
        assert np.isfinite(Z).all()


def a_representation_does_not_depend_on_the_company(
    encoder: Encoder, in_shape: tuple[int, ...]
) -> None:
    """A row alone is represented as it is among others."""
    X, y = _rows(in_shape)
    fitted = _fitted(encoder, X, y)
    together = fitted.encode(X[:5])
    alone = np.concatenate([fitted.encode(row[None]) for row in X[:5]])
    np.testing.assert_allclose(alone, together, atol=1e-4)


def the_same_seed_gives_the_same_encoder(encoder: Encoder, in_shape: tuple[int, ...]) -> None:
    """All randomness comes from ``rng``."""
    X, y = _rows(in_shape)
    first = _fitted(encoder, X, y).encode(X)
    np.testing.assert_array_equal(first, _fitted(encoder, X, y).encode(X))


def held_out_rows_teach_an_encoder_nothing(encoder: Encoder, in_shape: tuple[int, ...]) -> None:
    """Labels of rows that are out of every bag may be anything."""
    X, y = _rows(in_shape)
    in_bag = encoder.split(y, rng=np.random.default_rng(0))
    held_out = np.arange(len(y)) % 5 == 0
    in_bag = in_bag.copy()
    in_bag[held_out] = False
    other = np.where(held_out, (y + 1) % (y.max() + 1), y)
    first = _fitted(encoder, X, y, in_bag).encode(X)
    np.testing.assert_array_equal(first, _fitted(encoder, X, other, in_bag).encode(X))


def training_again_changes_no_encoder(encoder: Encoder, in_shape: tuple[int, ...]) -> None:
    """What was learnt is frozen."""
    X, y = _rows(in_shape)
    fitted = _fitted(encoder, X, y)
    before = fitted.encode(X).copy()
    encoder.fit(X[::-1].copy(), y[::-1].copy(), rng=np.random.default_rng(1))
    np.testing.assert_array_equal(fitted.encode(X), before)


ENCODER_CHECKS: Sequence[Callable[[Encoder, tuple[int, ...]], None]] = (
    a_split_says_which_rows_are_in_bag,
    every_row_gets_a_representation,
    a_representation_does_not_depend_on_the_company,
    the_same_seed_gives_the_same_encoder,
    held_out_rows_teach_an_encoder_nothing,
    training_again_changes_no_encoder,
)
"""What :func:`check_encoder` runs, in this order."""


# Channels


def shown(channel: FittedChannel, name: Any, seen: Seen, seed: int = 0) -> FittedChannel:
    """The channel, having learnt from rows through the encoder of that name.

    Parameters
    ----------
    channel : fitted channel
        As it was before.
    name : str or int
        Of the encoder.
    seen : Seen
        Rows as the encoder represents them.
    seed : int, default 0
        Of the randomness, for channels that have some.

    Examples
    --------
    >>> from lifelong import RidgeChannel
    >>> seen = Seen(np.eye(2, dtype=np.float32), np.array([0, 1]), np.arange(2))
    >>> list(shown(RidgeChannel().start(np.array([1, 1])), "u", seen).views)
    ['u']

    See Also
    --------
    check_channel : what it is for.
    """
    if isinstance(channel, RandomChannel):
        return channel.train(name, seen, rng=np.random.default_rng(seed), n_jobs=None)
    return channel.update(name, seen)


def check_channel(channel: Channel, *, leaves: bool = False) -> None:
    """Run every check of channels.

    Parameters
    ----------
    channel : Channel
        What to check.
    leaves : bool, default False
        Whether it reads the leaves of forests; else it reads dense vectors.

    Examples
    --------
    >>> from lifelong import LeafChannel, RidgeChannel
    >>> check_channel(RidgeChannel())
    >>> check_channel(LeafChannel(), leaves=True)

    See Also
    --------
    check_encoder, check_learner : the same for other parts.
    """
    for check in CHANNEL_CHECKS:
        check(channel, leaves)


def _seen(leaves: bool, seed: int = 0, n: int = 90) -> Seen:
    """Rows of three classes, as an encoder of another task represents them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    means = 3 * np.random.default_rng(7).normal(size=(3, 6))
    Z = (rng.normal(size=(n, 6)) + means[y]).astype(np.float32)
    rows = np.arange(n)
    if not leaves:
        return Seen(Z, y, rows)
    forest = ForestEncoder(n_trees=5).fit(Z, y, rng=rng)
    return Seen(forest.encode(Z), y, rows, n_leaves=forest.n_leaves)


def _counts(seen: Seen) -> Any:
    return np.bincount(seen.y, minlength=3)


def posteriors_are_distributions(channel: Channel, leaves: bool) -> None:
    """One column per class; rows are at least 0 and sum to 1."""
    seen = _seen(leaves)
    learnt = shown(channel.start(_counts(seen)), "u", seen)
    posteriors = learnt.predict_proba({"u": seen.Z})
    assert posteriors.shape == (len(seen), 3)
    assert (posteriors >= 0).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-6)


def what_was_shown_is_learnt(channel: Channel, leaves: bool) -> None:
    """Rows that were shown are told apart far better than by chance."""
    seen = _seen(leaves)
    learnt = shown(channel.start(_counts(seen)), "u", seen)
    right = learnt.predict_proba({"u": seen.Z}).argmax(axis=1) == seen.y
    assert right.mean() > 0.7


def a_channel_that_saw_nothing_answers_with_the_class_shares(
    channel: Channel, leaves: bool
) -> None:
    """An encoder that is not known says nothing."""
    seen = _seen(leaves)
    posteriors = channel.start(np.array([2, 1, 1])).predict_proba({"u": seen.Z[:4]})
    np.testing.assert_allclose(posteriors, [[0.5, 0.25, 0.25]] * 4)


def a_channel_is_a_value(channel: Channel, leaves: bool) -> None:
    """Learning returns a new channel and leaves the old one as it was."""
    seen = _seen(leaves)
    before = shown(channel.start(_counts(seen)), "u", seen)
    answers = before.predict_proba({"u": seen.Z})
    size = before.nbytes
    later = Seen(seen.Z, (seen.y + 1) % 3, seen.rows + len(seen), n_leaves=seen.n_leaves)
    after = shown(before.with_class_counts(2 * _counts(seen)), "u", later)
    np.testing.assert_array_equal(before.predict_proba({"u": seen.Z}), answers)
    assert before.nbytes == size
    assert not np.array_equal(after.predict_proba({"u": seen.Z}), answers)


def only_forgets_all_other_encoders(channel: Channel, leaves: bool) -> None:
    """As if the channel had never met them."""
    first = _seen(leaves)
    second = _seen(leaves, seed=1)
    alone = shown(channel.start(_counts(first)), "u", first)
    both = shown(alone, "v", second)
    np.testing.assert_allclose(
        both.only(["u"]).predict_proba({"u": first.Z}),
        alone.predict_proba({"u": first.Z}),
    )


def a_class_may_come_later(channel: Channel, leaves: bool) -> None:
    """With more class counts there are more columns, and rows of the new class are learnt."""
    seen = _seen(leaves)
    learnt = shown(channel.start(_counts(seen)), "u", seen)
    grown = learnt.with_class_counts(np.array([30, 30, 30, 90]))
    later = Seen(seen.Z, np.full(len(seen), 3), seen.rows + len(seen), n_leaves=seen.n_leaves)
    posteriors = shown(grown, "u", later).predict_proba({"u": seen.Z})
    assert posteriors.shape == (len(seen), 4)
    assert posteriors[:, 3].mean() > 0.2


CHANNEL_CHECKS: Sequence[Callable[[Channel, bool], None]] = (
    posteriors_are_distributions,
    what_was_shown_is_learnt,
    a_channel_that_saw_nothing_answers_with_the_class_shares,
    a_channel_is_a_value,
    only_forgets_all_other_encoders,
    a_class_may_come_later,
)
"""What :func:`check_channel` runs, in this order."""


# Learners


def check_learner(make: MakeLearner, stream: TaskStream | None = None) -> None:
    """Run every check of learners.

    Parameters
    ----------
    make : seed → learner
        It must learn a small task in a second or so: ``lambda seed: MyLearner(random_state=seed)``.
    stream : TaskStream, optional
        Three tasks; by default :func:`small_stream`.

    Examples
    --------
    >>> from lifelong import SillyForest
    >>> check_learner(lambda seed: SillyForest(random_state=seed))

    See Also
    --------
    check_encoder, check_channel : the same for parts of a learner.
    """
    if stream is None:
        stream = small_stream()
    for check in LEARNER_CHECKS:
        check(make, stream)


def _taught(learner: Learner, stream: Sequence[Task] | TaskStream) -> Learner:
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    return learner


def each_task_is_learnt_when_it_arrives(make: MakeLearner, stream: TaskStream) -> None:
    """Well above chance."""
    learner = make(0)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        chance = 1 / len(learner.classes_of(task.name))
        assert learner.score(task.X_test, task.y_test, task=task.name) > chance + 0.2


def the_same_seed_gives_the_same_bits(make: MakeLearner, stream: TaskStream) -> None:
    """And another seed does not."""
    task = stream[0]
    first = _taught(make(0), stream).predict_proba(task.X_test, task.name)
    again = _taught(make(0), stream).predict_proba(task.X_test, task.name)
    np.testing.assert_array_equal(first, again)
    alone = _taught(make(0), stream[:1]).predict_proba(task.X_test, task.name)
    other = _taught(make(1), stream[:1]).predict_proba(task.X_test, task.name)
    assert (alone != other).any()


def every_answer_is_a_distribution(make: MakeLearner, stream: TaskStream) -> None:
    """Over the task's own classes, and whatever other rows are asked for at the same time."""
    learner = _taught(make(0), stream)
    for task in stream:
        posteriors = learner.predict_proba(task.X_test, task.name)
        assert posteriors.shape == (len(task.X_test), len(learner.classes_of(task.name)))
        assert posteriors.dtype == np.float64
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
        alone = [learner.predict_proba(row[None], task.name)[0] for row in task.X_test[:5]]
        np.testing.assert_allclose(alone, posteriors[:5], atol=1e-4)


def a_refused_lesson_changes_nothing(make: MakeLearner, stream: TaskStream) -> None:
    """Rows of another shape, labels that do not fit: the learner is as it was."""
    learner = _taught(make(0), stream[:2])
    known = learner.knowledge_
    third = stream[2]
    for X, y in ((third.X_train[:, :1], third.y_train), (third.X_train, third.y_train[:-1])):
        for name in (stream[0].name, third.name):
            try:
                learner.partial_fit(X, y, task=name)
            except LifelongError:
                continue
            raise AssertionError("a lesson that cannot be learnt was not refused")
    assert learner.knowledge_ is known


def a_known_task_takes_more_rows_and_a_new_class(make: MakeLearner, stream: TaskStream) -> None:
    """And other tasks may come after that."""
    learner = _taught(make(0), stream[:2])
    task = stream[0]
    classes = learner.classes_of(task.name).tolist()
    changed = np.where(task.y_train == classes[0], "new", task.y_train)
    learner.partial_fit(task.X_train, changed, task=task.name)
    assert learner.classes_of(task.name).tolist() == [*classes, "new"]
    posteriors = learner.predict_proba(task.X_test, task.name)
    assert posteriors.shape[1] == len(classes) + 1
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
    third = stream[2]
    learner.partial_fit(third.X_train, third.y_train, task=third.name)
    assert learner.predict_proba(task.X_test, third.name).shape == (len(task.X_test), 4)


def a_task_may_get_another_name(make: MakeLearner, stream: TaskStream) -> None:
    """What was learnt does not change, nor does the order of tasks."""
    learner = _taught(make(0), stream[:2])
    task = stream[0]
    before = learner.predict_proba(task.X_test, task.name)
    learner.rename(task.name, "another")
    assert list(learner.tasks_) == ["another", stream[1].name]
    np.testing.assert_array_equal(learner.predict_proba(task.X_test, "another"), before)


def parameters_survive_cloning(make: MakeLearner, stream: TaskStream) -> None:
    """Constructors store what they are given."""
    del stream
    learner = make(0)
    assert clone(learner).get_params() == learner.get_params()


def sizes_have_four_parts(make: MakeLearner, stream: TaskStream) -> None:
    """Parameters, and bytes of encoders, channels and rows: none is negative."""
    sizes = _taught(make(0), stream).sizes()
    assert set(sizes) == {"parameters", "encoders", "channels", "rows"}
    assert all(size >= 0 for size in sizes.values())


LEARNER_CHECKS: Sequence[Callable[[MakeLearner, TaskStream], None]] = (
    each_task_is_learnt_when_it_arrives,
    the_same_seed_gives_the_same_bits,
    every_answer_is_a_distribution,
    a_refused_lesson_changes_nothing,
    a_known_task_takes_more_rows_and_a_new_class,
    a_task_may_get_another_name,
    parameters_survive_cloning,
    sizes_have_four_parts,
)
"""What :func:`check_learner` runs, in this order."""
