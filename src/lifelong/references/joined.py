"""Several encoders as one, and a shared encoder as one task reads it."""

from dataclasses import dataclass

import numpy as np

from lifelong._validation import Rows
from lifelong.encoders.base import FittedEncoder, Representation, n_answers_of, n_leaves_of


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Several encoders of a task as one: their columns side by side, the mean of their answers."""

    encoders: tuple[FittedEncoder, ...]

    @property
    def n_leaves(self) -> int:
        """Leaves of all forests together."""
        return sum(map(n_leaves_of, self.encoders))

    @property
    def n_answers(self) -> int:
        """Columns of the mean answer; 0 where encoders do not all answer about the same classes."""
        answers = set(map(n_answers_of, self.encoders))
        if len(answers) > 1:
            return 0
        return answers.pop()

    @property
    def n_parameters(self) -> int:
        """Of all encoders."""
        return sum(encoder.n_parameters for encoder in self.encoders)

    @property
    def nbytes(self) -> int:
        """Of all encoders."""
        return sum(encoder.nbytes for encoder in self.encoders)

    def encode(self, X: Rows) -> Representation:
        """Dense vectors (n, Σ d), or leaves (n, Σ B) numbered through all forests."""
        sides = [encoder.encode(X) for encoder in self.encoders]
        if self.n_leaves:
            ends = np.cumsum([n_leaves_of(encoder) for encoder in self.encoders])
            starts = [0, *ends[:-1].tolist()]
            moved = [side + np.int32(start) for side, start in zip(sides, starts, strict=True)]
            return np.concatenate(moved, axis=1)
        k = self.n_answers
        if not k:
            return np.concatenate(sides, axis=1)
        answer = np.mean([side[:, -k:] for side in sides], axis=0, dtype=np.float32)
        return np.concatenate([*(side[:, :-k] for side in sides), answer], axis=1)


@dataclass(frozen=True, eq=False)
class ForTask:
    """A shared encoder as one task reads it: of its answers, those about the task's classes."""

    encoder: FittedEncoder
    first: int  # of its classes, among all
    n_classes: int

    @property
    def n_leaves(self) -> int:
        """As the encoder's."""
        return n_leaves_of(self.encoder)

    @property
    def n_answers(self) -> int:
        """The task's classes, if the encoder answers."""
        if n_answers_of(self.encoder):
            return self.n_classes
        return 0

    @property
    def n_parameters(self) -> int:
        """As the encoder's."""
        return self.encoder.n_parameters

    @property
    def nbytes(self) -> int:
        """As the encoder's."""
        return self.encoder.nbytes

    def encode(self, X: Rows) -> Representation:
        """The representation; answers about other tasks' classes are left out."""
        Z = self.encoder.encode(X)
        n_answers = n_answers_of(self.encoder)
        if not n_answers:
            return Z
        every = Z[:, -n_answers:]
        own = every[:, self.first : self.first + self.n_classes]
        total = np.maximum(own.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return np.concatenate([Z[:, :-n_answers], own / total], axis=1)
