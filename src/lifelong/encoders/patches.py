"""Patches that images of several tasks have in common: an encoder that takes no gradients.

A network of a few hundred images learns little about pictures that its pixels do not say at once.
Patches do: k-means finds those that pieces of the images of *all* tasks are like, whatever their
labels, and a row is how much each of its cells is like each of them. They are pieces of 6×6 pixels
without their brightness, contrast and correlations (whitened), as in Coates, Ng and Lee, An
Analysis of Single-Layer Networks in Unsupervised Feature Learning, AISTATS 2011.

Then what rows of one class differ by, of all tasks, counts less
(:mod:`lifelong.encoders.within_class`): these labels are the only ones that have a part in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh

from lifelong._validation import Rows
from lifelong.encoders.base import Mask
from lifelong.encoders.several_tasks import HeadOfTask, RowsOfTask, even_sample, heads_of
from lifelong.encoders.within_class import MOST_ROWS, WithinClass, within_class
from lifelong.nets.augmentation import may_be_mirrored
from lifelong.nets.patches import LikePatches
from lifelong.nets.training import choose_device, forward
from lifelong.tasks.base import TaskName

N_FILTERS = 100
"""Chosen on training rows of CIFAR-100, where two hundred were no more accurate."""

SIZE = 6
"""Pixels of a patch, each way."""

SIDE = 32
"""Larger images are averaged down by a whole factor, to this side or a little more."""

_N_SAMPLED = 20_000  # patches that tell what patches are like
_ROUNDS = 8  # of k-means
_FLAT = 0.01  # of the mean variance of patches: below, a patch is flat
_LEVEL = 0.1  # added to the variance of each direction before it is made equal


@dataclass(frozen=True, eq=False)
class FittedPatches:
    """The patches, as filters, and the tasks whose rows they are from.

    Attributes
    ----------
    body : LikePatches
        One layer of filters.
    in_shape : (c, h, w)
        Of an image.
    heads : tuple of HeadOfTask
        For each task, the rows whose labels have a part in ``within``.
    within : WithinClass or None
        What rows of one class differ by, of all tasks: it counts less. None for one task.
    """

    saved_as: ClassVar[str] = "patches"
    body: LikePatches
    in_shape: tuple[int, ...]
    heads: tuple[HeadOfTask, ...]
    within: WithinClass | None = None

    def encode(self, X: Rows) -> Rows:
        """How much each cell of a row is like each patch (n, d)."""
        Z = forward(self.body, X, device=self.body.filters.device)
        if self.within is None:
            return Z
        return self.within(Z)

    @property
    def tasks(self) -> tuple[TaskName, ...]:
        """Those whose rows it knows."""
        return tuple(head.task for head in self.heads)

    def seen(self, task: TaskName, rows: NDArray[np.intp]) -> Mask:
        """Which of a task's rows (n,), by number, have told it their labels."""
        for head in self.heads:
            if head.task == task and self.within is not None:
                return np.isin(rows, head.seen)
        return np.zeros(len(rows), dtype=bool)

    def answers_about(self, task: TaskName) -> None:
        """It has no answers."""
        del task

    @property
    def n_parameters(self) -> int:
        """Numbers of the filters."""
        return self.body.filters.numel() + self.body.offsets.numel()

    @property
    def nbytes(self) -> int:
        """Bytes of the filters, of directions, and of the numbers of rows."""
        n_bytes = 4 * self.n_parameters + sum(head.seen.nbytes for head in self.heads)
        if self.within is not None:
            n_bytes += self.within.nbytes
        return n_bytes


def fit_patches(
    of_tasks: Sequence[RowsOfTask], *, rng: np.random.Generator, device: str
) -> FittedPatches:
    """Patches of images (n, c, h, w) of several tasks.

    Parameters
    ----------
    of_tasks : sequence of RowsOfTask
        Their images; labels are those of rows in bag.
    rng : numpy.random.Generator
        Draws pieces of images.
    device : str
        Where rows are represented, in torch's words, or "auto".
    """
    body = _filters(np.concatenate([rows.X for rows in of_tasks]), rng)
    patches = FittedPatches(
        body.to(choose_device(device)).eval(), of_tasks[0].X.shape[1:], heads_of(of_tasks)
    )
    if len(of_tasks) == 1:  # a task's own rows tell its channel nothing new
        return patches
    X, y = even_sample(of_tasks, MOST_ROWS)
    return replace(patches, within=within_class(patches.encode(X), y))


def _filters(X: Rows, rng: np.random.Generator) -> LikePatches:
    height, width = X.shape[2:]
    shrink = max(1, min(height, width) // SIDE)
    size = max(1, min(SIZE, min(height, width) // (2 * shrink)))
    pieces = _pieces(X, shrink, size, rng)
    flat = max(_FLAT * float(pieces.var(axis=1).mean()), 1e-12)
    pieces -= pieces.mean(axis=1, keepdims=True)
    pieces /= np.sqrt(np.square(pieces).mean(axis=1, keepdims=True) + flat)
    centre = pieces.mean(axis=0)
    whiten = _whitening(pieces - centre)
    directions = _means((pieces - centre) @ whiten, rng)
    filters = directions @ whiten  # (K, c s s); whitening is symmetric
    filters -= filters.mean(axis=1, keepdims=True)  # pieces have the mean 0
    return LikePatches(
        torch.from_numpy(filters.reshape(-1, X.shape[1], size, size).astype(np.float32)),
        torch.from_numpy((filters @ centre).astype(np.float32)),
        flat=flat,
        shrink=shrink,
        mirrors=may_be_mirrored(torch.from_numpy(X)),
    )


def _pieces(X: Rows, shrink: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Pieces of random images at random places (n, c s s)."""
    reach = shrink * size
    places = (X.shape[2] - reach + 1, X.shape[3] - reach + 1)
    n = min(_N_SAMPLED, len(X) * places[0] * places[1])
    rows = rng.integers(len(X), size=n)
    tops = rng.integers(places[0], size=n)
    lefts = rng.integers(places[1], size=n)
    found = np.empty((n, X.shape[1], size, size))
    for number, (row, top, left) in enumerate(zip(rows, tops, lefts, strict=True)):
        piece = X[row, :, top : top + reach, left : left + reach]
        found[number] = piece.reshape(-1, size, shrink, size, shrink).mean(axis=(2, 4))
    return found.reshape(n, -1)


def _whitening(pieces: NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric matrix after which all directions vary alike."""
    g, V = eigh(pieces.T @ pieces / len(pieces))
    return np.asarray(V / np.sqrt(np.maximum(g, 0) + _LEVEL) @ V.T)


def _means(Z: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Directions (K, d) of length 1 that rows are like: k-means, whatever their length and sign."""
    D = _unit(Z[rng.choice(len(Z), min(N_FILTERS, len(Z)), replace=False)])
    for _ in range(_ROUNDS):
        likeness = Z @ D.T  # (n, K)
        nearest = np.abs(likeness).argmax(axis=1)
        counts = np.zeros_like(likeness)
        counts[np.arange(len(Z)), nearest] = likeness[np.arange(len(Z)), nearest]
        D = _unit(counts.T @ Z)
    return D


def _unit(D: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(D / np.maximum(np.linalg.norm(D, axis=1, keepdims=True), 1e-12))
