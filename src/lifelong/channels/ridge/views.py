"""What a ridge channel keeps of a task's rows, by encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Codes
from lifelong.channels.base import Seen, Weights, join_weights
from lifelong.channels.ridge.settings import DEFAULT, RidgeSettings
from lifelong.channels.ridge.solver import (
    Features,
    Kernel,
    Positions,
    Scores,
    features,
    kernel,
    solve,
)
from lifelong.encoders.base import Mask, Representation, take_rows
from lifelong.schema import (
    AnyOf,
    Array,
    Exactly,
    Places,
    Represented,
    Several,
    Whole,
    maybe,
    saved,
)

_GOLDEN_RATIO = 0.6180339887498949
_MOST_ROWS = 2**48  # a row's number in a task's history


def _trees(lengths: Any) -> int:
    """Trees of a forest; other encoders have no parts that train on different rows."""
    if lengths["leaves"]:
        return int(lengths["columns"])
    return -1


def _most_answers(lengths: Any) -> int:
    if lengths["leaves"]:
        return 0
    return int(lengths["columns"]) - 1


@dataclass(frozen=True, eq=False)
class View:
    """The task's rows as one encoder represents them; half precision is plenty for products."""

    Z: Representation = saved(Represented("n>=1", dense="float16", known_leaves=True))
    n_leaves: int = saved(Exactly(name="leaves"))  # 0 for dense representations
    y: Codes = saved(Places("n", below="K"))
    rows: NDArray[np.intp] = saved(Places("n", below=_MOST_ROWS))  # which rows of the task
    in_bag: Mask | None = saved(  # the task's own encoder: rows that it, or each tree, trained on
        AnyOf((Exactly(None), Array("bool", ("n",)), Array("bool", ("n", _trees)))), default=None
    )
    # so many of the last columns are the encoder's own posteriors over its own classes
    n_answers: int = saved(Whole(0, _most_answers), default=0)
    weights: Weights | None = saved(maybe(Array("float64", ("n",))), default=None)
    # the first of these posteriors that is about the task's own classes, and how many are
    about_task: tuple[int, ...] | None = saved(
        maybe(Several(Whole(0))), omit_default=True, default=None
    )
    settings: RidgeSettings = DEFAULT

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: answers about the task where there are none."""
        del lengths
        if self.about_task is None:
            return None
        if len(self.about_task) != 2 or sum(self.about_task) > self.n_answers:
            return "has answers about the task that are not there"
        return None

    @classmethod
    def of(cls, seen: Seen, settings: RidgeSettings) -> "View":
        """As many of these rows as there is room for."""
        most = settings.max_rows
        if seen.in_bag is not None:
            most = settings.max_own_rows
        chosen = seen.take(even_sample(seen.rows, most))
        Z = chosen.Z
        if not seen.n_leaves:
            Z = np.clip(Z, -6e4, 6e4).astype(np.float16)
        return cls(
            Z,
            seen.n_leaves,
            chosen.y,
            chosen.rows,
            chosen.in_bag,
            seen.n_answers,
            chosen.weights,
            seen.about_task,
            settings,
        )

    def with_rows(self, seen: Seen) -> "View":
        """These and more rows, as if all had come at once."""
        in_bag = None
        if self.in_bag is not None:
            new = seen.in_bag  # None: the encoder has trained on none of them
            if new is None:
                new = np.zeros((len(seen), *self.in_bag.shape[1:]), dtype=bool)
            in_bag = np.concatenate([self.in_bag, new])
        weights = join_weights(self.weights, len(self.y), seen.weights, len(seen))
        both = Seen(
            np.concatenate([self.Z, seen.Z.astype(self.Z.dtype)]),
            np.concatenate([self.y, seen.y]),
            np.concatenate([self.rows, seen.rows]),
            weights,
            in_bag,
            self.n_leaves,
            self.n_answers,
            self.about_task,
        )
        return View.of(both, self.settings)

    def take(self, which: Mask | Positions) -> "View":
        """Some of the rows."""
        return replace(
            self,
            Z=self.Z[which],
            y=self.y[which],
            rows=self.rows[which],
            in_bag=take_rows(self.in_bag, which),
            weights=take_rows(self.weights, which),
        )

    def targets(self, n_classes: int) -> Scores:
        """Centred class indicators (n, K)."""
        return np.asarray(np.eye(n_classes)[self.y] - self.class_shares(n_classes))

    def class_shares(self, n_classes: int) -> Scores:
        """How much of the rows, or of their weights, each class is (K,)."""
        if self.weights is None:
            return np.bincount(self.y, minlength=n_classes) / len(self.y)
        counts = np.bincount(self.y, self.weights, minlength=n_classes)
        return np.asarray(counts / self.weights.sum())

    def features(self, hidden: Mask | None = None) -> Features:
        """What the regression sees: all, or of a forest all but the ``hidden`` trees
        of each row.
        """
        Z = self.Z
        if hidden is not None:
            Z = np.where(hidden, np.int32(-1), Z)
        return features(Z, self.n_leaves)

    @cached_property
    def landmarks(self) -> Positions | None:
        """Which rows stand for all where there are many: the same for all encoders."""
        most = self.settings.landmarks
        if len(self.rows) <= most:
            return None
        return even_sample(self.rows, most)

    def kernel(self, hidden: Mask | None = None) -> Kernel:
        """Products of the rows' features."""
        return kernel(self.features(hidden), self.landmarks, self.weights)

    @cached_property
    def r2_alone(self) -> float:
        """How much an encoder of another task alone tells about the labels: its leave-one-out R².

        Picking the best of many penalties finds an R² of about 2/n even in pure noise; that much is
        taken off.
        """
        return self.r2_from(self.kernel())

    def r2_from(self, own: Kernel) -> float:
        """The same, where the view's kernel is there already."""
        targets = self.targets(int(self.y.max()) + 1)
        solution = solve(own.K, targets, landmarks=self.landmarks, weights=self.weights)
        return max(0.0, solution.r2 - 2 / len(self.y))

    @property
    def nbytes(self) -> int:
        """Bytes of the representations and of whose they are."""
        arrays = (self.Z, self.y, self.rows, self.in_bag, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)


def even_sample(rows: NDArray[np.intp], size: int) -> Positions:
    """Multiples of the golden ratio are spread evenly, whatever the batches and the encoder."""
    spread = (rows * _GOLDEN_RATIO) % 1
    return np.sort(np.argsort(spread, kind="stable")[:size])
