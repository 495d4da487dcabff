"""What many linear models answer to the same rows, in a few products of arrays.

A task of a table asks the linear models of hundreds of other tasks. Each has standardised the
columns by its own rows. Calls for each would take nearly all of the time for one row, so models of
the same columns are asked together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from lifelong._validation import Rows
from lifelong.encoders.answers import Answers
from lifelong.encoders.linear import FittedLinear
from lifelong.rows.views import CLIP, raw_columns

_NUMBERS_AT_ONCE = 2**17  # standardised, so that they stay near the processor


def answers_of_each(models: Sequence[FittedLinear], X: Rows, n_answers: int) -> NDArray[np.float64]:
    """What each model answers (O, n, K): columns for labels that it does not know are 0.

    Parameters
    ----------
    models : of the same aim
    X : (n, p)
        May have columns that came later than the models.
    n_answers : int
        K: columns of the result.
    """
    found = np.zeros((len(models), len(X), n_answers))
    for places, some in _alike(models):
        together = ManyLinear.of(some)
        found[places, :, : some[0].n_answers] = together.answers(X)
    return found


def _alike(models: Sequence[FittedLinear]) -> Iterator[tuple[list[int], list[FittedLinear]]]:
    """Models that read the same columns and know as many labels, and their places."""
    groups: dict[object, list[int]] = {}
    for place, model in enumerate(models):
        key = (model.view.n_places, model.view.categories, model.n_answers)
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        yield places, [models[place] for place in places]


@dataclass(frozen=True, eq=False)
class ManyLinear:
    """Linear models that read the same columns.

    Attributes
    ----------
    first : FittedLinear
        One of them: what all have in common.
    read : (c,)
        Columns of :func:`lifelong.rows.views.raw_columns` that one of them reads.
    fill, mean, scale : (O, c)
        Of these columns; 0, 0 and 1 where a model does not read it.
    slopes : (O, K, c)
    intercepts : (O, K)
    """

    first: FittedLinear
    read: NDArray[np.intp]
    fill: NDArray[np.float32]
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    slopes: NDArray[np.float32]
    intercepts: NDArray[np.float32]

    @classmethod
    def of(cls, models: Sequence[FittedLinear]) -> "ManyLinear":
        """Models of the same columns and as many labels."""
        packed = np.concatenate([model.packed for model in models]).reshape(len(models), -1)
        n_answers = models[0].n_answers
        width = (packed.shape[1] - n_answers) // (3 + n_answers)
        fill, mean, scale = (packed[:, i * width : (i + 1) * width] for i in range(3))
        slopes = packed[:, 3 * width : -n_answers].reshape(-1, n_answers, width)
        read = np.flatnonzero(slopes.any(axis=(0, 1)))
        return cls(
            models[0],
            read,
            fill[:, read],
            mean[:, read],
            scale[:, read],
            slopes[:, :, read],
            packed[:, -n_answers:],
        )

    def answers(self, X: Rows) -> Answers:
        """Class probabilities (O, n, K), or numbers (O, n, 1)."""
        view = self.first.view
        size = max(1, _NUMBERS_AT_ONCE // max(self.mean.size, 1))
        slopes = self.slopes.astype(np.float64)
        found = []
        for start in range(0, max(len(X), 1), size):
            rows = X[start : start + size, : view.n_places]
            raw = raw_columns(rows, view.categories)[:, self.read]  # (n, c)
            Z = np.where(np.isnan(raw), self.fill[:, None], raw)  # (O, n, c), float32
            Z -= self.mean[:, None]
            Z /= self.scale[:, None]
            np.clip(Z, -CLIP, CLIP, out=Z)
            # Sums over columns, row by row: a product of matrices would depend, in the last bits,
            # on how many rows are asked.
            exact = np.ascontiguousarray(Z, dtype=np.float64)
            scores = [(exact * slopes[:, None, k]).sum(axis=2) for k in range(slopes.shape[1])]
            found.append(np.stack(scores, axis=2) + self.intercepts[:, None])
        together: Answers = np.concatenate(found, axis=1)
        if self.first.is_classifier:
            together = softmax(together, axis=2)
        return together
