"""The closed-form channel: ridge regression of class indicators on every encoder's representation.

For one task and one encoder with centred features Φ (n, D) and centred class indicators Y (n, K),

    S(x) = φ(x)ᵀ Φᵀ (ΦΦᵀ + λI)⁻¹ Y,

with λ chosen by leave-one-out. Cross-task encoders never saw a label of this task, so their leave-one-out scores are
honest: an encoder weighs as much as its leave-one-out R² says, and one that does not help weighs nothing. What the
task's own encoder says is judged by rows it has not seen, and a prior for it keeps other tasks from doing harm before
there is evidence that they help. A temperature learnt from the same scores turns them into posteriors.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, n_rows_of, priors
from lifelong.channels.ridge_mixing import Mixing, View, mix
from lifelong.channels.ridge_solver import Scores, features, solve
from lifelong.encoders.base import FittedEncoder, Mask, Representation
from lifelong.tasks.base import TaskName

_SHRINK = 10**-0.5  # an average over encoders wants a smaller λ than one encoder alone (measured on CIFAR 10×10)


@dataclass(frozen=True, eq=False)
class RidgeChannel:
    """A ridge solution per encoder, averaged with learnt weights.

    Bytes per (task, encoder): 4 (D + n) K. Time: n³ up to 2000 rows, then n · 1000² (Nyström with 1000 landmark rows).

    Parameters
    ----------
    weights : "learnt" or "equal"
        ``"equal"`` averages all encoders alike, as the paper's channels do.
    """

    weights: Literal["learnt", "equal"] = "learnt"
    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    own: Mapping[TaskName, View] = field(default_factory=dict)  # the task's own encoder, if it has one
    cross: Mapping[TaskName, View] = field(default_factory=dict)

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "RidgeChannel":
        """Set K and the priors; solutions gain empty columns for new classes."""
        more = len(class_counts) - len(self.class_counts)
        own, cross = ({u: _widened(view, more) for u, view in views.items()} for views in (self.own, self.cross))
        return RidgeChannel(self.weights, class_counts, own, cross)

    def update(
        self,
        name: TaskName,
        encoder: FittedEncoder,
        Z: Representation,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,
        rng: np.random.Generator,
        n_jobs: int | None = None,  # noqa: ARG002 - linear algebra brings its own threads
    ) -> "RidgeChannel":
        """Solve for a new encoder; further rows of the task move the solution that is there."""
        if len(y) == 0:
            return self
        rows = np.arange(len(y)) if rows is None else rows
        Y = np.eye(len(self.class_counts))[y]
        known = self.own.get(name) or self.cross.get(name)
        if known is not None:
            view = _moved(known, Z, Y, rows, rng)
        elif in_bag is not None:
            view = _in_task(Z, Y, in_bag, rows, getattr(encoder, "n_leaves", 0), rng)
        else:
            n_leaves = getattr(encoder, "n_leaves", 0)
            solution, honest = solve(features(Z, n_leaves), Y, rng=rng, shrink=_SHRINK)
            view = View(solution, n_leaves, rows, y, honest.astype(np.float32))
        if name in self.own or (known is None and in_bag is not None):
            return replace(self, own={**self.own, name: view})
        return replace(self, cross={**self.cross, name: view})

    def only(self, names: Collection[TaskName]) -> "RidgeChannel":
        """Forget the solutions of all other encoders."""
        own, cross = ({u: view for u, view in views.items() if u in names} for views in (self.own, self.cross))
        return replace(self, own=own, cross=cross)

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Mix the encoders' scores and turn them into posteriors."""
        asked = [name for name in representations if name in self.own or name in self.cross]
        shares = priors(self.class_counts)
        if not asked:
            return np.tile(shares, (n_rows_of(representations), 1))
        mixing = self.mixing if len(asked) == len(self.own) + len(self.cross) else self.only(asked).mixing
        scores = np.tile(shares, (n_rows_of(representations), 1))
        for name in asked:
            view = self.own.get(name) or self.cross[name]
            if mixing.weights[name]:
                scores += mixing.weights[name] * view.solution.scores(features(representations[name], view.n_leaves))
        return _softmax(mixing.temperature * scores)

    @cached_property
    def mixing(self) -> Mixing:
        """The weight of each encoder, and the temperature."""
        return mix(self.own, self.cross, priors(self.class_counts), equal=self.weights == "equal")

    @property
    def nbytes(self) -> int:
        """Bytes of solutions and honest scores."""
        views = [*self.own.values(), *self.cross.values()]
        return sum(view.solution.nbytes + view.honest.nbytes + view.rows.nbytes + view.y.nbytes for view in views)


def _in_task(
    Z: Representation, Y: Scores, in_bag: Mask, rows: NDArray[np.intp], n_leaves: int, rng: np.random.Generator
) -> View:
    """The task's own encoder: all rows teach the solution, rows it has not seen judge it."""
    codes = Y.argmax(axis=1)
    if in_bag.ndim == 1:  # one network: its held-out rows are judges
        solution, scores = solve(features(Z, n_leaves), Y, rng=rng, unseen=~in_bag, shrink=_SHRINK)
        judges = ~in_bag
    else:  # trees: in the honest solution, each row is represented by the trees that have not seen it
        judges = np.asarray(~in_bag.all(axis=1))
        unseen = features(np.where(in_bag, np.int32(-1), Z), n_leaves)
        honest, scores = solve(unseen, Y, rng=rng, unseen=judges, shrink=_SHRINK)
        seen, _ = solve(features(Z, n_leaves), Y, rng=rng, penalty=honest.penalty)
        solution = honest.plus(seen).times(0.5) if judges.any() else seen
    return View(solution, n_leaves, rows[judges], codes[judges], scores[judges].astype(np.float32))


def _moved(view: View, Z: Representation, Y: Scores, rows: NDArray[np.intp], rng: np.random.Generator) -> View:
    """New rows correct what the solution says of them, held back by the rows that it was made from."""
    A = features(Z, view.n_leaves)
    said = view.solution.scores(A)
    penalty = view.solution.penalty * (1 + len(view.rows) / len(rows))
    correction, honest = solve(A, Y - Y.mean(axis=0) - said, rng=rng, penalty=penalty)
    return View(
        view.solution.plus(correction),
        view.n_leaves,
        np.concatenate([view.rows, rows]),
        np.concatenate([view.y, Y.argmax(axis=1)]),
        np.concatenate([view.honest, (said + honest).astype(np.float32)]),
    )


def _widened(view: View, more: int) -> View:
    solution = replace(
        view.solution,
        coefficients=np.pad(view.solution.coefficients, ((0, 0), (0, more))),
        intercept=np.pad(view.solution.intercept, (0, more)),
    )
    return view._replace(solution=solution, honest=np.pad(view.honest, ((0, 0), (0, more))))


def _softmax(scores: Any) -> Posteriors:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
