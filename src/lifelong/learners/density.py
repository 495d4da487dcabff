"""Where a task's rows lie: class means and covariances, so that a row tells which task it is from.

Each task keeps, for the rows themselves and for every encoder's dense representation of them, the
means of its classes and the scatter around them, in 64 random directions; about 19 kB per (task,
encoder), and no row. Forests need nothing of the kind: how often a class visits each leaf is in the
leaf channel's tables.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array

from lifelong._labels import Codes
from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.channels.base import Seen
from lifelong.channels.leaf import Counts, add_counts, count_leaves
from lifelong.encoders.forest import flatten
from lifelong.schema import COUNTERS, PerEncoder, Record, maybe, saved
from lifelong.schema import Array as Numbers
from lifelong.tasks.base import TaskName

Array = NDArray[np.float64]

DIRECTIONS = 64


def _directions(lengths: Mapping[str, Any]) -> int:
    """In how many directions things of so many columns are looked at."""
    return min(int(lengths["columns"]), DIRECTIONS)


@lru_cache(maxsize=4)
def projection(seed: int, n_columns: int) -> Array:
    """Random directions (p, 64), the same for any p columns; up to 64 columns stay as they are."""
    if n_columns <= DIRECTIONS:
        return np.eye(n_columns)
    directions = generator(seed, "projection", n_columns).standard_normal((n_columns, DIRECTIONS))
    return np.asarray(directions / np.sqrt(n_columns))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Rows in units of the first task's: else the column with the largest numbers would decide."""

    mean: NDArray[np.float32] = saved(Numbers("float32", ("p",)))
    scale: NDArray[np.float32] = saved(Numbers("float32", ("p",)))

    @classmethod
    def of(cls, X: Rows) -> "Scaling":
        """Mean and standard deviation of the first task's columns."""
        rows = flatten(X)
        scale = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(scale > 0, scale, np.float32(1)))

    def project(self, X: Rows, seed: int, chunk: int = 4096) -> Array:
        """Standardised rows in random directions (n, 64), a chunk at a time."""
        rows = flatten(X)
        W = projection(seed, len(self.mean))
        chunks = [
            (rows[at : at + chunk] - self.mean) / self.scale @ W
            for at in range(0, len(rows), chunk)
        ]
        return np.concatenate(chunks).astype(np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self.mean.nbytes + self.scale.nbytes


@dataclass(frozen=True, eq=False)
class Gaussians:
    """One Gaussian per class, with a scatter that all classes of the task share."""

    counts: Array = saved(Numbers("float64 int64", ("k<=K",), least=0))  # rows, or their weights
    means: NDArray[np.float32] = saved(Numbers("float32", ("k", _directions)))
    # Σ (z − μ_y)(z − μ_y)ᵀ
    scatter: NDArray[np.float32] = saved(Numbers("float32", (_directions, _directions)))

    @classmethod
    def of(cls, z: Array, y: Codes, n_classes: int, weights: Array | None = None) -> "Gaussians":
        """From rows z (n, d)."""
        w = weights
        if w is None:
            w = np.ones(len(y))
        counts = np.bincount(y, w, minlength=n_classes).astype(np.float64)
        members = csc_array((w, y, np.arange(len(y) + 1)), shape=(n_classes, len(y)))
        sums = np.asarray(members @ z)  # row by row, as np.add.at would, and many times faster
        means = sums / np.where(counts > 0, counts, 1)[:, None]
        inside = (z - means[y]) * np.sqrt(w)[:, None]
        return cls(counts, means.astype(np.float32), (inside.T @ inside).astype(np.float32))

    def plus(self, more: "Gaussians") -> "Gaussians":
        """Exactly those of both lots of rows; ``more`` has at least as many classes.

        For n rows with mean μ and m more with mean ν:
        μ ← (n μ + m ν)/(n + m);  S ← S + S' + n m/(n + m) (ν − μ)(ν − μ)ᵀ
        """
        new = len(more.counts) - len(self.counts)
        n = np.pad(self.counts, (0, new))
        m = more.counts
        mu = np.pad(self.means, ((0, new), (0, 0))).astype(np.float64)
        nu = more.means
        total = np.where(n + m > 0, n + m, 1)
        moved = (nu - mu) * np.sqrt(n * m / total)[:, None]
        means = mu + (nu - mu) * (m / total)[:, None]
        scatter = self.scatter + more.scatter + (moved.T @ moved)
        return Gaussians(n + m, means.astype(np.float32), scatter.astype(np.float32))

    @property
    def freedom(self) -> float:
        """Rows beyond one per class: what the scatter is to be divided by."""
        return float(np.maximum(self.counts - 1, 0).sum())

    @property
    def nbytes(self) -> int:
        """Bytes of means and scatter."""
        return self.counts.nbytes + self.means.nbytes + self.scatter.nbytes


def covariance(tasks: Collection[Gaussians]) -> Array:
    """The covariance within classes, pooled over tasks and shrunk as far as the number of rows asks
    for.

    Oracle approximating shrinkage (Chen et al., 2010); the identity while no class has two
    different rows.
    """
    n = sum(task.freedom for task in tasks)
    total = np.asarray(np.sum([task.scatter for task in tasks], axis=0, dtype=np.float64))
    S = total / max(n, 1.0)
    d = len(total)
    variance = float(np.trace(S)) / d
    if variance <= 0:
        return np.eye(d)
    of_square = float((S**2).sum())  # tr(S²)
    square_of = float(np.trace(S)) ** 2  # tr(S)²
    excess = (n + 1 - 2 / d) * (of_square - square_of / d)
    rho = 1.0
    if excess > 0:
        rho = min(1.0, ((1 - 2 / d) * of_square + square_of) / excess)
    return np.asarray((1 - rho) * S + rho * variance * np.eye(d))


def distances(z: Array, means: Array, sigma: Array) -> Array:
    """(z − μ_k)ᵀ Σ⁻¹ (z − μ_k) for rows (n, d) and means (K, d) → (n, K)."""
    factor = cho_factor(sigma, lower=True)
    A = cho_solve(factor, z.T)  # Σ⁻¹z (d, n)
    B = cho_solve(factor, means.T)  # Σ⁻¹μ (d, K)
    squares = (z * A.T).sum(axis=1)[:, None] - 2 * z @ B + (means * B.T).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))


@dataclass(frozen=True, eq=False)
class EncoderView:
    """Where a task's rows lie in the representation of one encoder.

    Gaussians of dense vectors, or visits to leaves (unless the task's own channel counts them).
    """

    view: Gaussians | None = saved(maybe(Record(Gaussians)))
    table: Counts | None = saved(maybe(Numbers(COUNTERS, ("leaves", "k<=K"))))

    def widened(self, n_classes: int) -> "EncoderView":
        """With empty columns for classes that came since."""
        if self.table is None or self.table.shape[1] == n_classes:
            return self
        more = n_classes - self.table.shape[1]
        return EncoderView(None, np.pad(self.table, ((0, 0), (0, more))))

    @property
    def nbytes(self) -> int:
        """Bytes of either."""
        return sum(kept.nbytes for kept in (self.view, self.table) if kept is not None)


@dataclass(frozen=True, eq=False)
class Density:
    """One task: where its rows lie, as they are and as each encoder represents them."""

    rows: Gaussians = saved(Record(Gaussians))
    # sorted distances of its rows from what the other rows say, for novelty
    calibration: NDArray[np.float32] = saved(Numbers("float32", (None,)))
    views: Mapping[TaskName, EncoderView] = saved(
        PerEncoder(Record(EncoderView)), default_factory=dict
    )

    def with_view(self, name: TaskName, more: Gaussians) -> "Density":
        """With more rows as an encoder represents them."""
        known = self.views.get(name)
        if known is not None and known.view is not None:
            more = known.view.plus(more)
        return replace(self, views={**self.views, name: EncoderView(more, None)})

    def with_visits(self, name: TaskName, seen: Seen) -> "Density":
        """With more rows in the leaves of a forest."""
        n_classes = len(self.rows.counts)
        times = None
        if seen.weights is not None:
            times = np.broadcast_to(seen.weights[:, None], seen.Z.shape)
        table = count_leaves(seen.Z, seen.y, seen.n_leaves, n_classes, times)
        views = {u: view.widened(n_classes) for u, view in self.views.items()}
        known = views.get(name)
        if known is not None and known.table is not None:
            table = add_counts(known.table, table)
        return replace(self, views={**views, name: EncoderView(None, table)})

    def tables(self) -> dict[TaskName, Counts]:
        """Visits to leaves, by encoder."""
        views = self.views.items()
        return {name: view.table for name, view in views if view.table is not None}

    def gaussians(self) -> dict[TaskName, Gaussians]:
        """Gaussians of dense vectors, by encoder."""
        return {name: view.view for name, view in self.views.items() if view.view is not None}

    def only(self, names: Collection[TaskName]) -> "Density":
        """Without the views of all other encoders."""
        return replace(self, views={u: view for u, view in self.views.items() if u in names})

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        views = sum(view.nbytes for view in self.views.values())
        return self.rows.nbytes + self.calibration.nbytes + views
