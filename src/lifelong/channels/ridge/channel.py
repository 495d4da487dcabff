"""The closed-form channel: ridge regression of class indicators on the encoders' representations.

Encoders of other tasks never saw a label of this one, so leave-one-out scores are honest, and one
regression may use all of them at once, each weighed by what it alone tells about the labels. The
task's own encoder is kept apart: rows that it has not seen test it. A prior for it keeps other
tasks from doing harm before there is evidence that they help.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lifelong.channels.base import Posteriors, Seen, n_rows_of, no_counts, priors
from lifelong.channels.ridge.mixing import Opinion, mix
from lifelong.channels.ridge.readings import cross_task, in_task
from lifelong.channels.ridge.settings import DEFAULT, RidgeSettings
from lifelong.channels.ridge.several import trained_on_task
from lifelong.channels.ridge.solver import LinearMap, Scores, features
from lifelong.channels.ridge.views import View
from lifelong.encoders.base import Representation
from lifelong.schema import Kind, PerEncoder, Record, Text, saved
from lifelong.tasks.base import TaskName

Weighing = Literal["learnt", "equal"]
_WEIGHINGS: Kind = Text(("learnt", "equal"))


@dataclass(frozen=True)
class RidgeChannel:
    """Ridge regression on all encoders, in closed form, with learnt weights.

    It keeps the representations of the task's rows, at most 5000 of them (10 000 by the task's own
    encoder), and solves when it is first asked: 2 n D bytes per (task, encoder), and n³ operations
    or, beyond 2000 rows, 2000² n. Rows that come in batches give what they would have given at
    once.

    Parameters
    ----------
    weights : "learnt" or "equal", default "learnt"
        How much each encoder counts. ``"equal"`` weighs all alike, as the paper's channels do: then
        an encoder that can only confuse does harm.
    settings : RidgeSettings, default RidgeSettings()
        What it may spend, and how it decides where nothing can be learnt.

    Examples
    --------
    >>> from lifelong import SillyForest
    >>> SillyForest(channel=RidgeChannel(weights="equal")).channel
    RidgeChannel(weights='equal')

    See Also
    --------
    LeafChannel, ForestChannel : the paper's channels.
    lifelong.channels.ridge.RidgeSettings : what it may spend.

    References
    ----------
    Hoerl and Kennard, Ridge Regression, Technometrics 1970. Wolpert, Stacked Generalization, Neural
    Networks 1992: weights from held-out scores.
    """

    weights: Weighing = saved(_WEIGHINGS, default="learnt")
    settings: RidgeSettings = saved(
        Record(RidgeSettings), omit_default=True, default=DEFAULT, repr=False
    )

    def start(self, class_counts: NDArray[np.int64]) -> "FittedRidge":
        """A channel that has seen nothing yet."""
        return FittedRidge(self.weights, class_counts, settings=self.settings)


@dataclass(frozen=True, eq=False)
class FittedRidge:
    """A ridge channel that has learnt: a view per encoder.

    Attributes
    ----------
    weights : "learnt" or "equal"
        How much each encoder counts.
    class_counts : (K,)
        The task's rows so far, by class.
    views : mapping
        By encoder: the task's rows as it represents them.
    settings : RidgeSettings
        What the channel may spend.

    Examples
    --------
    >>> channel = RidgeChannel().start(np.array([3, 1]))
    >>> channel.predict_proba({"an encoder it has not met": np.zeros((1, 2))})
    array([[0.75, 0.25]])

    See Also
    --------
    lifelong.RidgeChannel : how it begins.
    """

    takes_weights: ClassVar[bool] = True
    rows_at_once: ClassVar[int] = 4096  # an even sample is kept, so nobody needs all rows at once
    weights: Weighing = saved(_WEIGHINGS)
    class_counts: NDArray[np.int64] = field(default_factory=no_counts)
    views: Mapping[TaskName, View] = saved(PerEncoder(Record(View)), default_factory=dict)
    settings: RidgeSettings = saved(Record(RidgeSettings), omit_default=True, default=DEFAULT)

    def __post_init__(self) -> None:
        if self.settings != DEFAULT:  # views from a file do not know of it
            views = {u: replace(view, settings=self.settings) for u, view in self.views.items()}
            object.__setattr__(self, "views", views)

    def with_class_counts(self, class_counts: NDArray[np.int64]) -> "FittedRidge":
        """Set K and the priors."""
        return replace(self, class_counts=class_counts)

    def update(self, name: TaskName, seen: Seen) -> "FittedRidge":
        """Take in rows as a new encoder, or one that is known, represents them."""
        if len(seen) == 0:
            return self
        known = self.views.get(name)
        if known is None:
            view = View.of(seen, self.settings)
        else:
            view = known.with_rows(seen)
        return replace(self, views={**self.views, name: view})

    def only(self, names: Collection[TaskName]) -> "FittedRidge":
        """Forget what all other encoders have shown."""
        views = {name: view for name, view in self.views.items() if name in names}
        return replace(self, views=views)

    def predict_proba(self, representations: Mapping[TaskName, Representation]) -> Posteriors:
        """Add up the encoders' scores and turn them into posteriors."""
        asked = [name for name in representations if name in self.views]
        if len(asked) < len(self.views):
            return self.only(asked).predict_proba(representations)
        scores = np.tile(priors(self.class_counts), (n_rows_of(representations), 1))
        if not asked:
            return scores
        for name, linear in self.readout.maps.items():
            scores += linear.scores(features(representations[name], self.views[name].n_leaves))
        return softmax(self.readout.temperature * scores)

    @property
    def reads(self) -> Collection[TaskName]:
        """The encoders whose representations it needs."""
        return self.views.keys()

    @cached_property
    def readout(self) -> "Readout":
        """The solution: solved when it is first needed."""
        n_classes = len(self.class_counts)
        equal = self.weights == "equal"
        trained = {u: view for u, view in self.views.items() if view.in_bag is not None}
        own_view = None
        own = None
        if len(trained) == 1:
            [(own_name, own_view)] = trained.items()
            own = in_task(own_name, own_view, n_classes, self.settings)
        elif trained:
            own = trained_on_task(trained, n_classes, self.settings)
        others = {u: view for u, view in self.views.items() if u not in trained}
        groups = [
            cross_task(group, n_classes, self.settings, own_view, equal=equal)
            for group in by_rows(others)
        ]
        cross = [opinion for opinion in groups if opinion is not None]
        if own is None and not cross:
            return Readout({}, 1.0, dict.fromkeys(self.views, 0.0), 0.0)
        mixing = mix(
            own,
            cross,
            priors(self.class_counts),
            equal=equal,
            default_temperature=self.settings.default_temperature,
        )
        weighed: list[tuple[float, float, Opinion]] = []
        if own is not None:
            weighed.append((mixing.own, 1.0, own))
        for weight, opinion in zip(mixing.cross, cross, strict=True):
            weighed.append((weight, mixing.rescale, opinion))
        maps: dict[TaskName, LinearMap] = {}
        influence = dict.fromkeys(self.views, 0.0)
        for weight, rescale, opinion in weighed:
            for name, linear in opinion.maps.items():
                maps[name] = linear.times(weight * rescale)
            for name, weight_within in opinion.parts.items():
                influence[name] = weight * weight_within
        r2 = sum(weight * opinion.r2 for weight, _, opinion in weighed)
        return Readout(maps, mixing.temperature, influence, r2)

    def influence(self) -> dict[TaskName, float]:
        """How much each encoder tells about the labels: its weight times what all this tells."""
        r2 = self.readout.r2
        return {name: weight * r2 for name, weight in self.readout.influence.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of the rows' representations."""
        return sum(view.nbytes for view in self.views.values())


@dataclass(frozen=True)
class Readout:
    """The solution: a linear map per encoder, a temperature, and each encoder's weight."""

    maps: Mapping[TaskName, LinearMap]
    temperature: float
    influence: Mapping[TaskName, float]  # all together 1 (or 0, if nobody knows anything)
    r2: float  # how much all this tells about the labels, by held-out scores


def by_rows(views: Mapping[TaskName, View]) -> list[dict[TaskName, View]]:
    """Encoders that have seen the same rows, together.

    With ``replay`` below 1, later ones have seen fewer.
    """
    groups: dict[bytes, dict[TaskName, View]] = {}
    for name, view in views.items():
        groups.setdefault(view.rows.tobytes(), {})[name] = view
    return list(groups.values())


def softmax(scores: Scores) -> Posteriors:
    """Powers of e, divided by their sum."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
