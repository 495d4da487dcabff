"""The closed-form channel: ridge regression of class indicators on the encoders' representations.

Encoders of other tasks never saw a label of this one, so leave-one-out judges them honestly, and one regression may use
all of them at once, each weighed by what it alone tells about the labels. The task's own encoder is kept apart: rows
that it has not seen judge it. A prior for it keeps other tasks from doing harm before there is evidence that they help.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Codes
from lifelong.channels.base import Posteriors, n_rows_of, priors
from lifelong.channels.ridge_cross import cross_task
from lifelong.channels.ridge_mixing import mix
from lifelong.channels.ridge_own import in_task
from lifelong.channels.ridge_solver import LinearMap, features
from lifelong.channels.ridge_views import View, by_rows
from lifelong.encoders.base import FittedEncoder, Mask, Representation
from lifelong.tasks.base import TaskName


@dataclass(frozen=True, eq=False)
class RidgeChannel:
    """Ridge regression on all encoders, with learnt weights.

    It keeps the representations of the task's rows, at most 5000 of them (10 000 by the task's own encoder), and solves
    when it is first asked: 2 n D bytes per (task, encoder), and n³ operations or, beyond 2000 rows, 2000² n. Rows that
    come in batches give what they would have given at once.

    Parameters
    ----------
    weights : "learnt" or "equal"
        ``"equal"`` weighs all encoders alike, as the paper's channels do.
    """

    draws: ClassVar[bool] = False
    in_pieces: ClassVar[bool] = True  # it keeps an even sample, so that nobody needs all representations at once
    weights: Literal["learnt", "equal"] = "learnt"
    class_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    views: Mapping[TaskName, View] = field(default_factory=dict)

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "RidgeChannel":
        """Set K and the priors."""
        return replace(self, class_counts=class_counts)

    def update(
        self,
        name: TaskName,
        encoder: FittedEncoder,
        Z: Representation,
        y: Codes,
        *,
        in_bag: Mask | None = None,
        rows: NDArray[np.intp] | None = None,
        rng: np.random.Generator | None = None,  # noqa: ARG002 - nothing is drawn
        n_jobs: int | None = None,  # noqa: ARG002 - linear algebra brings its own threads
    ) -> "RidgeChannel":
        """Take in rows as a new encoder, or one that is known, represents them."""
        if len(y) == 0:
            return self
        rows = np.arange(len(y)) if rows is None else rows
        known = self.views.get(name)
        if known is None:
            n_leaves, n_answers = getattr(encoder, "n_leaves", 0), getattr(encoder, "n_answers", 0)
            view = View.of(Z, n_leaves, y, rows, in_bag, n_answers)
        else:
            view = known.with_rows(Z, y, rows, in_bag)
        return replace(self, views={**self.views, name: view})

    def only(self, names: Collection[TaskName]) -> "RidgeChannel":
        """Forget what all other encoders have shown."""
        return replace(self, views={name: view for name, view in self.views.items() if name in names})

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Add up the encoders' scores and turn them into posteriors."""
        asked = [name for name in representations if name in self.views]
        if len(asked) < len(self.views):
            return self.only(asked).predict_proba(representations)
        scores = np.tile(priors(self.class_counts), (n_rows_of(representations), 1))
        if not asked:
            return scores
        for name, one in self.readout.maps.items():
            scores += one.scores(features(representations[name], self.views[name].n_leaves))
        return _softmax(self.readout.temperature * scores)

    @cached_property
    def readout(self) -> "Readout":
        """The solution: solved when it is first needed."""
        n_classes, equal = len(self.class_counts), self.weights == "equal"
        own = next((name for name, view in self.views.items() if view.in_bag is not None), None)
        cross = {name: view for name, view in self.views.items() if name != own}
        own_view = None if own is None else self.views[own]
        said = None if own is None or own_view is None else in_task(own, own_view, n_classes)
        together = [cross_task(group, n_classes, own=own_view, equal=equal) for group in by_rows(cross)]
        heard = [one for one in together if one is not None]
        if said is None and not heard:
            return Readout({}, 1.0, dict.fromkeys(self.views, 0.0), 0.0)
        mixing = mix(said, heard, priors(self.class_counts), equal=equal)
        opinions = [(mixing.own, 1.0, said)] if said else []
        opinions += [(weight, mixing.gain, one) for weight, one in zip(mixing.cross, heard, strict=True)]
        maps = {name: _times(weight * gain, part) for weight, gain, one in opinions for name, part in one.maps.items()}
        influence = {name: weight * share for weight, _, one in opinions for name, share in one.shares.items()}
        skill = sum(weight * one.skill for weight, _, one in opinions)
        return Readout(maps, mixing.temperature, {**dict.fromkeys(self.views, 0.0), **influence}, skill)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows' representations."""
        return sum(view.nbytes for view in self.views.values())


@dataclass(frozen=True)
class Readout:
    """What a ridge channel has learnt: a linear map per encoder, a temperature, and how much each encoder may say."""

    maps: Mapping[TaskName, LinearMap]
    temperature: float
    influence: Mapping[TaskName, float]  # all together 1 (or 0, if nobody knows anything)
    skill: float  # how much all this tells about the labels: an honest R²


def _times(weight: float, one: LinearMap) -> LinearMap:
    return LinearMap(np.float32(weight) * one.coefficients, weight * one.intercept)


def _softmax(scores: Any) -> Posteriors:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
