"""What an encoder is, and the honest split that every encoder trains behind."""

from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong._validation import Rows

Representation = NDArray[Any]  # dense vectors (n, d) float32, or one leaf per tree (n, B) int32
Mask = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


class FittedEncoder(Protocol):
    """u_t, learnt: rows → representation. It never changes again.

    Attributes
    ----------
    nbytes : int
        Bytes that it takes, as ``sizes()`` of a learner adds them up.
    n_parameters : int
        How many numbers were learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from lifelong import ForestEncoder
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 4), dtype=np.float32)
    >>> fitted = ForestEncoder(n_trees=3).fit(X, np.arange(30) % 2, rng=rng)
    >>> fitted.encode(X[:5]).shape
    (5, 3)

    See Also
    --------
    lifelong.Encoder : how it is trained.
    """

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        ...

    @property
    def n_parameters(self) -> int:
        """How many numbers were learnt."""
        ...

    def encode(self, X: Rows) -> Representation:
        """Dense vectors (n, d) float32, or one leaf per tree (n, B) int32, for rows (n, …)."""
        ...


@runtime_checkable
class LeafEncoder(Protocol):
    """A fitted encoder whose representation is leaves, numbered 0 … n_leaves − 1 over all trees."""

    n_leaves: int


@runtime_checkable
class AnsweringEncoder(Protocol):
    """A fitted encoder whose last ``n_answers`` columns are its posteriors over its own classes."""

    @property
    def n_answers(self) -> int: ...


@runtime_checkable
class SharingEncoder(Protocol):
    """A fitted encoder that stands on something it shares with other encoders: that counts once."""

    @property
    def shared(self) -> Any: ...


@runtime_checkable
class RemembersRows(Protocol):
    """A fitted encoder of several tasks: it knows which rows of which task it has trained on."""

    @property
    def tasks(self) -> tuple[Any, ...]:
        """Those that it has trained on, by the names under which they were learnt."""
        ...

    def seen(self, task: Any, rows: NDArray[np.intp]) -> Mask | None:
        """Which of a task's rows (n,), by number, it has trained on; None: it has not met it."""
        ...

    def answers_about(self, task: Any) -> tuple[int, int] | None:
        """The first of its posteriors that is about a task's classes, and how many are."""
        ...


class Encoder(Protocol):
    """What to learn: how u_t is trained from a task's rows.

    Any object with these two methods will do; :func:`lifelong.testing.check_encoder` tests yours.

    Examples
    --------
    >>> import numpy as np
    >>> from lifelong import ForestEncoder
    >>> encoder: Encoder = ForestEncoder(n_trees=3)
    >>> encoder.split(np.array([0, 0, 0, 1, 1, 1]), rng=np.random.default_rng(0)).shape
    (6, 3)

    See Also
    --------
    lifelong.ForestEncoder, lifelong.NetworkEncoder, lifelong.PretrainedEncoder : ours.
    lifelong.Silly : a learner with an encoder of your choice.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: Algorithm 1.
    """

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask:
        """Which rows are in-bag.

        Parameters
        ----------
        y : (n,)
            Labels, as positions in the task's classes.
        rng : numpy.random.Generator
            Where all randomness comes from.

        Returns
        -------
        (n,) for the whole encoder, or (n, B) for each of its B parts; True where a row is in-bag.
        """
        ...

    def fit(
        self, X: Rows, y: Codes, *, in_bag: Mask | None = None, rng: np.random.Generator
    ) -> FittedEncoder:
        """Algorithm 1: train on the in-bag rows only.

        Parameters
        ----------
        X : (n, p) or (n, c, h, w), float32
            All rows of the task, held-out ones included.
        y : (n,)
            Labels, as positions in the task's classes.
        in_bag : (n,) or (n, B), optional
            What :meth:`split` has returned. None, the default: split first.
        rng : numpy.random.Generator
            Where all randomness comes from.

        Returns
        -------
        FittedEncoder
        """
        ...


@runtime_checkable
class WeightedEncoder(Protocol):
    """An encoder whose ``fit`` also takes ``weights`` (n,): how much each row counts."""

    takes_weights: ClassVar[bool]

    def split(self, y: Codes, *, rng: np.random.Generator) -> Mask: ...

    def fit(
        self,
        X: Rows,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rng: np.random.Generator,
        weights: NDArray[np.float64] | None = None,
    ) -> FittedEncoder: ...


@runtime_checkable
class ThreadedEncoder(Protocol):
    """An encoder that trains on threads: work that leaves Python's lock needs no more processes."""

    def with_threads(self, n_jobs: int | None) -> Encoder:
        """The same encoder, which trains on so many threads; the result does not depend on it."""
        ...


@runtime_checkable
class ComparableEncoder(Protocol):
    """An encoder that knows plain models of one task to compare with."""

    def plain_models(self, random_state: Any) -> dict[str, Any]:
        """Unfitted models by name."""
        ...


def honest_split(y: Codes, share: float, *, rng: np.random.Generator, n_splits: int = 1) -> Mask:
    """Draw in-bag rows without replacement, ``n_splits`` times anew → (n, n_splits) booleans.

    Stratified when every class has at least two rows: then every class is on both sides of every
    split. Otherwise the split ignores classes. At least one row is in-bag; with more than one row,
    at least one is held out unless ``share`` is 1.

    Parameters
    ----------
    y : (n,)
        Labels, as positions in the task's classes.
    share : float
        How much of the rows (of each class) is in-bag. More makes a better encoder, and leaves the
        task's own channel fewer rows to learn from.
    rng : numpy.random.Generator
        Where all randomness comes from.
    n_splits : int, default 1
        Independent splits: one per tree of a forest.

    Returns
    -------
    (n, n_splits), True where a row is in-bag.

    Examples
    --------
    >>> import numpy as np
    >>> honest_split(np.array([0, 0, 0, 1, 1, 1]), 0.67, rng=np.random.default_rng(0)).sum()
    np.int64(4)

    See Also
    --------
    lifelong.Encoder : its ``split`` says which rows are in-bag.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025: Algorithm 1.
    """
    if share >= 1:
        return np.ones((len(y), n_splits), dtype=bool)
    rows_per_class = np.bincount(y)
    smallest = rows_per_class.min(initial=2, where=rows_per_class > 0)
    groups = y
    if smallest < 2:
        groups = np.zeros_like(y)
    sizes = np.bincount(groups)  # (K,)
    quota = np.clip(np.round(share * sizes), 1, np.maximum(sizes - 1, 1))
    # Random keys in [0, 1) added to the class sort rows by class and randomly within a class.
    keys = groups[:, None] + rng.random((len(y), n_splits))
    order = np.argsort(keys, axis=0)  # (n, n_splits)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])  # where each class begins in that order
    rank = np.arange(len(y))[:, None] - first[groups[order]]
    in_bag = np.empty((len(y), n_splits), dtype=bool)
    np.put_along_axis(in_bag, order, rank < quota[groups[order]], axis=0)
    return in_bag


def take_rows(values: NDArray[Scalar] | None, rows: Any) -> NDArray[Scalar] | None:
    """Some rows of an array that may not be there: None stays None."""
    if values is None:
        return None
    taken: NDArray[Scalar] = values[rows]
    return taken


def has_ability(value: object, ability: Any) -> bool:
    """Whether a value can do what a protocol asks: ``isinstance``, looked up once per class.

    Python looks through a protocol's members at every ``isinstance``. With a hundred tasks that
    would be a quarter of the time that one more task takes.

    >>> has_ability(3, LeafEncoder)
    False
    """
    asked = (type(value), ability)
    if asked not in _ABILITIES:
        _ABILITIES[asked] = isinstance(value, ability)
    return _ABILITIES[asked]


_ABILITIES: dict[tuple[type, Any], bool] = {}


def n_leaves_of(encoder: FittedEncoder) -> int:
    """Leaves of a forest, through all its trees; 0 for every other encoder."""
    if has_ability(encoder, LeafEncoder):
        return cast(LeafEncoder, encoder).n_leaves
    return 0


def n_answers_of(encoder: FittedEncoder) -> int:
    """How many of the last columns are the encoder's own posteriors; 0 if it gives none."""
    if has_ability(encoder, AnsweringEncoder):
        return cast(AnsweringEncoder, encoder).n_answers
    return 0
