"""What encoders read of a table's rows: trees as it stands, linear models standardised.

A view is made once, from the columns that were known then, and never changes. Columns that come
later are not read; a category that comes later is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.rows.columns import MAX_CATEGORIES, Columns
from lifelong.schema import Array, Record, Several, Whole, saved

MAX_ONE_HOT = 30
"""Categories up to which each has a column of its own; more are read by trees as codes."""

CLIP = 5.0
"""Standard deviations: an outlier must not carry a linear model away."""

_SMALL = 1e-9


class Coded(NamedTuple):
    """A place of a row that holds the codes of categories, and how many are known."""

    place: int
    n_categories: int


@dataclass(frozen=True)
class TreeView:
    """What trees read: numbers as they are, NaN included; categories one by one, if they are few.

    Attributes
    ----------
    n_places : int
        How many numbers of a row are read.
    categories : tuple of (place, number of categories)
        Places that hold codes.
    """

    n_places: int = saved(Whole(0))
    categories: tuple[tuple[int, int], ...] = saved(Several(Several(Whole(0), least=2)), default=())

    @classmethod
    def of(cls, columns: Columns) -> "TreeView":
        """A view of all columns that are known."""
        return cls(columns.n_places, coded_places(columns))

    @property
    def width(self) -> int:
        """How many numbers trees read."""
        extra = [n - 1 for _, n in self.categories if 2 < n <= MAX_ONE_HOT]
        return self.n_places + sum(extra)

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: places that no row has."""
        return _problem_of(self.n_places, self.categories, lengths)

    def __call__(self, X: Rows) -> Rows:
        """Rows as trees read them (n, q)."""
        rows = X[:, : self.n_places]
        if not self.categories:
            return rows
        one_hot = []
        rows = _without_unknown(rows, self.categories)
        expanded = []
        for place, n_categories in self.categories:
            if 2 < n_categories <= MAX_ONE_HOT:
                codes = rows[:, [place]]
                one_hot.append(codes == np.arange(n_categories, dtype=np.float32))
                expanded.append(place)
        if not one_hot:
            return rows
        rest = np.delete(rows, expanded, axis=1)
        return np.hstack([rest, *one_hot]).astype(np.float32, copy=False)


@dataclass(frozen=True, eq=False)
class DenseView:
    """What linear models read: standardised numbers, categories one by one, and what is missing.

    Attributes
    ----------
    n_places : int
        How many numbers of a row are read.
    categories : tuple of (place, number of categories)
        Places that hold codes.
    fill : (n_places,)
        In the place of missing numbers: their mean.
    missing : (m,)
        Places that get an indicator, because some training row missed them.
    kept : (q,)
        Which of the resulting columns are kept: those that vary.
    mean, scale : (q,)
        Of the kept columns, among the training rows.
    """

    n_places: int = saved(Whole(0))
    categories: tuple[tuple[int, int], ...] = saved(Several(Several(Whole(0), least=2)))
    fill: NDArray[np.float32] = saved(Array("float32", (None,)))
    missing: NDArray[np.int64] = saved(Array("int64", (None,), least=0))
    kept: NDArray[np.int64] = saved(Array("int64", ("q",), least=0))
    mean: NDArray[np.float32] = saved(Array("float32", ("q",)))
    scale: NDArray[np.float32] = saved(Array("float32", ("q",)))

    @classmethod
    def of(cls, X: Rows, categories: tuple[tuple[int, int], ...] = ()) -> "DenseView":
        """A view of rows like these, whose places with ``categories`` hold codes."""
        n_places = X.shape[1]
        there = ~np.isnan(X)
        n_there = there.sum(axis=0)
        total = np.where(there, X, 0).sum(axis=0, dtype=np.float64)
        fill = (total / np.maximum(n_there, 1)).astype(np.float32)
        missing = np.flatnonzero((n_there < len(X)) & (n_there > 0))
        everything = cls(
            n_places,
            categories,
            fill,
            missing.astype(np.int64),
            np.arange(0),
            np.zeros(0, np.float32),
            np.ones(0, np.float32),
        )
        raw = everything._raw(X)
        mean = raw.mean(axis=0, dtype=np.float64)
        scale = raw.std(axis=0, dtype=np.float64)
        kept = np.flatnonzero(scale > _SMALL)
        return cls(
            n_places,
            categories,
            fill,
            missing.astype(np.int64),
            kept.astype(np.int64),
            mean[kept].astype(np.float32),
            scale[kept].astype(np.float32),
        )

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What a file has wrong: places or columns that no row has."""
        del lengths  # more numbers than a row has: columns for the task come behind it
        wrong = _problem_of(self.n_places, self.categories, {"p": self.n_places})
        if wrong is not None:
            return wrong
        n_hot = sum(n for _, n in self.categories)
        n_raw = self.n_places - len(self.categories) + n_hot + len(self.missing)
        if len(self.fill) != self.n_places or (self.missing >= self.n_places).any():
            return "fills in other places"
        if (self.kept >= n_raw).any() or (self.scale <= 0).any():
            return "keeps columns that are not there"
        return None

    def _raw(self, X: Rows) -> Rows:
        rows = _without_unknown(X[:, : self.n_places], self.categories)
        coded = [place for place, _ in self.categories]
        numbers = np.delete(np.where(np.isnan(rows), self.fill, rows), coded, axis=1)
        one_hot = [
            rows[:, [place]] == np.arange(n_categories, dtype=np.float32)
            for place, n_categories in self.categories
        ]
        indicators = np.isnan(rows[:, self.missing])
        return np.hstack([numbers, *one_hot, indicators]).astype(np.float32, copy=False)

    @property
    def kept_of_all(self) -> NDArray[np.int64]:
        """Which of the columns of :func:`raw_columns` are kept (q,)."""
        coded = len(self.categories)
        n_values = self.n_places - coded + sum(n for _, n in self.categories)
        of_indicator = np.append(self.missing, 0)[np.maximum(self.kept - n_values, 0)]
        return np.where(self.kept < n_values, self.kept, n_values + of_indicator)

    @property
    def width_of_all(self) -> int:
        """How many columns :func:`raw_columns` has."""
        return 2 * self.n_places - len(self.categories) + sum(n for _, n in self.categories)

    @property
    def fill_of_all(self) -> NDArray[np.float32]:
        """In the place of missing numbers, among the columns of :func:`raw_columns`."""
        filled = np.zeros(self.width_of_all, dtype=np.float32)
        numbers = np.delete(self.fill, [place for place, _ in self.categories])
        filled[: len(numbers)] = numbers
        return filled

    def __call__(self, X: Rows) -> Rows:
        """Rows as linear models read them (n, q): no number is missing."""
        raw = self._raw(X)[:, self.kept]
        standard: Rows = np.clip((raw - self.mean) / self.scale, -CLIP, CLIP)
        return standard


def raw_columns(X: Rows, categories: tuple[tuple[int, int], ...]) -> Rows:
    """All that a linear model may read of rows (n, p), before it is filled and standardised (n, c).

    Numbers (NaN is missing), categories one by one, and for every place whether it is missing.
    """
    rows = _without_unknown(X, categories)
    coded = [place for place, _ in categories]
    one_hot = [
        rows[:, [place]] == np.arange(n_categories, dtype=np.float32)
        for place, n_categories in categories
    ]
    numbers = np.delete(rows, coded, axis=1)
    return np.hstack([numbers, *one_hot, np.isnan(rows)]).astype(np.float32, copy=False)


def _without_unknown(rows: Rows, categories: tuple[tuple[int, int], ...]) -> Rows:
    """A copy of rows in which codes of categories that came later are missing."""
    if not categories:
        return rows
    known = rows.copy()
    for place, n_categories in categories:
        codes = known[:, place]
        codes[codes >= n_categories] = np.nan
    return known


def _problem_of(
    n_places: int, categories: tuple[tuple[int, int], ...], lengths: Mapping[str, Any]
) -> str | None:
    if any(len(pair) != 2 or pair[1] > MAX_CATEGORIES for pair in categories):
        return "has categories that are not a place and a number of them"
    places = [place for place, _ in categories]
    if n_places > lengths["p"] or any(place >= n_places for place in places):
        return "reads more numbers than a row has"
    if len(set(places)) != len(places):
        return "has a place twice"
    return None


TREE_VIEW = Record(TreeView)
DENSE_VIEW = Record(DenseView)


def coded_places(columns: Columns) -> tuple[tuple[int, int], ...]:
    """The places of a table's rows that hold codes of categories."""
    return tuple(
        Coded(place, described.n_categories)
        for place, described in enumerate(columns.places)
        if described.n_categories
    )


def measured_places(columns: Columns) -> NDArray[np.int64]:
    """The places that hold numbers: not codes, and not true or false."""
    kinds = {column.name: column.kind for column in columns}
    found = [
        place
        for place, described in enumerate(columns.places)
        if kinds[described.column] in ("number", "date")
    ]
    return np.array(found, dtype=np.int64)
