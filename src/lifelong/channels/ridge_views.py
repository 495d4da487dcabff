"""What encoders make of a task's rows, and what they say about the labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.ridge_solver import Features, LinearMap, Places, Scores, features, products, solve
from lifelong.encoders.base import Mask, Representation
from lifelong.tasks.base import TaskName

LANDMARKS = 2000  # n³: of more rows, an even sample of so many stands for all
MAX_ROWS = 5000  # 2nD bytes per encoder: of a larger task, an even sample is kept
MAX_OWN_ROWS = 10_000  # the same for the own encoder, which matters most


@dataclass(frozen=True, eq=False)
class View:
    """The task's rows as one encoder represents them."""

    Z: Representation  # (n, D) float16, or leaves (n, B)
    n_leaves: int  # 0 for dense representations
    y: Codes  # (n,)
    rows: NDArray[np.intp]  # (n,): which rows of the task
    in_bag: Mask | None = None  # the task's own encoder: the rows, (n,) or per tree (n, B), that it trained on
    n_answers: int = 0  # so many of the last columns are what the encoder itself says about its own classes

    @classmethod
    def of(
        cls,
        Z: Representation,
        n_leaves: int,
        y: Codes,
        rows: NDArray[np.intp],
        in_bag: Mask | None,
        n_answers: int = 0,
    ) -> "View":
        """As many of these rows as there is room for; half precision is plenty for products."""
        kept = _sample(rows, MAX_ROWS if in_bag is None else MAX_OWN_ROWS)
        Z = Z[kept] if n_leaves else np.clip(Z[kept], -6e4, 6e4).astype(np.float16)
        return cls(Z, n_leaves, y[kept], rows[kept], None if in_bag is None else in_bag[kept], n_answers)

    def with_rows(self, Z: Representation, y: Codes, rows: NDArray[np.intp], in_bag: Mask | None = None) -> "View":
        """These and more rows, as if all had come at once; the encoder has seen none of them, or those ``in_bag``."""
        if self.in_bag is not None:
            seen = np.zeros((len(y), *self.in_bag.shape[1:]), dtype=bool) if in_bag is None else in_bag
            in_bag = np.concatenate([self.in_bag, seen])
        Z = np.concatenate([self.Z, Z.astype(self.Z.dtype)])
        y, rows = np.concatenate([self.y, y]), np.concatenate([self.rows, rows])
        return View.of(Z, self.n_leaves, y, rows, in_bag, self.n_answers)

    def targets(self, n_classes: int) -> Scores:
        """Centred class indicators (n, K)."""
        return np.asarray(np.eye(n_classes)[self.y] - self.class_shares(n_classes))

    def class_shares(self, n_classes: int) -> Scores:
        """How much of the rows each class is (K,)."""
        return np.bincount(self.y, minlength=n_classes) / len(self.y)

    def features(self, hidden: Mask | None = None) -> Features:
        """What the regression sees: all, or of a forest all but the ``hidden`` trees of each row (n, B)."""
        return features(self.Z if hidden is None else np.where(hidden, np.int32(-1), self.Z), self.n_leaves)

    def landmarks(self) -> Places | None:
        """Which rows stand for all where there are many: the same for all encoders."""
        return None if len(self.rows) <= LANDMARKS else _sample(self.rows, LANDMARKS)

    @cached_property
    def skill(self) -> float:
        """How much an encoder of another task alone tells about the labels: its leave-one-out R².

        Picking the best of many penalties finds an R² of about 2/n even in pure noise; that much is taken off.
        """
        landmarks = self.landmarks()
        K, _ = products(self.features(), landmarks)
        solution = solve(K, self.targets(int(self.y.max()) + 1), landmarks=landmarks)
        return max(0.0, solution.skill - 2 / len(self.y))

    @property
    def nbytes(self) -> int:
        """Bytes of the representations and of whose they are."""
        return sum(part.nbytes for part in (self.Z, self.y, self.rows, self.in_bag) if part is not None)


def _sample(rows: NDArray[np.intp], size: int) -> Places:
    """An even sample: multiples of the golden ratio are spread evenly, whatever the batches and the encoder."""
    return np.sort(np.argsort((rows * 0.6180339887498949) % 1, kind="stable")[:size])


class Opinion(NamedTuple):
    """What one or several encoders say together: a map per encoder, and honest scores of some of the task's rows."""

    maps: Mapping[TaskName, LinearMap]
    shares: Mapping[TaskName, float]  # of each encoder in the opinion
    rows: NDArray[np.intp]  # (n,)
    y: Codes  # (n,)
    honest: Scores  # (n, K)
    skill: float


def by_rows(views: Mapping[TaskName, View]) -> list[dict[TaskName, View]]:
    """Encoders that have seen the same rows, together: with ``replay`` below 1, later ones have seen fewer."""
    groups: dict[bytes, dict[TaskName, View]] = {}
    for name, view in views.items():
        groups.setdefault(view.rows.tobytes(), {})[name] = view
    return list(groups.values())
