"""What an experiment is, as data: streams, learners by name, repetitions, figures.

Nothing here runs anything.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Self

from lifelong.exceptions import ParameterError

Options = Mapping[str, Any]  # whatever JSON can hold
HEADLINE = "headline"
ALL_STAGES = "all"
FINAL_STAGES = "final"


@dataclass(frozen=True)
class LearnerSpec:
    """A learner of the table of learners, under the name that figures show.

    Parameters
    ----------
    label : str
        What tables and figures call it; unique within an experiment.
    name : str
        What :func:`~lifelong.experiments.registry.make_learner` calls it.
    parameters : dict
        Its settings; a recipe is a dict of :class:`~lifelong.nets.Recipe`'s fields.
    at : float, optional
        Its place on the axis of a curve over learners: encoders, share of rows, trees.
    against : str
        Label of the learner it must beat: ``gain`` is measured against that one, where it takes
        part, and otherwise against the learner's own plain model.
    """

    label: str
    name: str = ""
    parameters: Options = field(default_factory=dict)
    at: float | None = None
    against: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.label)
        object.__setattr__(self, "parameters", _plain(self.parameters))


@dataclass(frozen=True)
class Part:
    """One stream of an experiment.

    Parameters
    ----------
    name : str
    stream : str
        One of :data:`lifelong.experiments.streams.STREAMS`, or the name of a dataset.
    options : dict
        Of the stream.
    group : str
        Parts of the group ``"headline"`` make the table; other groups are the points of a curve.
    at : float, optional
        The part's place on the axis of its group's curve: degrees, rows.
    without : labels
        Learners that have nothing to show here, such as controls on a curve of transfer.
    unaware : bool
        Whether learners must find out by themselves which task a row is from.
    scoring : str
        What an error is, as for :func:`lifelong.evaluate`; empty: the share of mistakes.
    others : names of errors
        Measured beside it after the last task, where the part's rows can show them.
    """

    name: str
    stream: str
    options: Options = field(default_factory=dict)
    group: str = HEADLINE
    at: float | None = None
    without: tuple[str, ...] = ()
    unaware: bool = False
    scoring: str = ""
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", _plain(self.options))
        object.__setattr__(self, "without", tuple(self.without))
        object.__setattr__(self, "others", tuple(self.others))


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the report: which kind, and its options."""

    kind: str
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """An experiment, complete: two equal specs measure the same numbers.

    ``published`` holds the paper's own numbers, ``{learner: {statistic: value}}``, to be shown
    beside ours. ``stages`` is ``"all"``, or ``"final"``: each task is measured when it arrives and
    at the end, and at no stage between.
    """

    experiment: str
    version: str  # "full" or "smoke"
    question: str
    parts: tuple[Part, ...]
    learners: tuple[LearnerSpec, ...]
    repetitions: int
    seed: int = 0
    figures: tuple[FigureSpec, ...] = ()
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    stages: str = ALL_STAGES

    @property
    def hash(self) -> str:
        """Identifies what is measured: experiment, version, seed and streams.

        Learners, repetitions and stages are not part of it, so that a run can grow by any.
        """
        identity = [
            self.experiment,
            self.version,
            self.seed,
            [_identity(part) for part in self.parts],
        ]
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        return blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def headline(self) -> list[Part]:
        """The parts that make the table and the summary."""
        return [part for part in self.parts if part.group == HEADLINE]

    def part(self, name: str) -> Part:
        """The part of that name."""
        return next(part for part in self.parts if part.name == name)

    def learner(self, label: str) -> LearnerSpec:
        """The learner of that label."""
        return next(learner for learner in self.learners if learner.label == label)

    def joined_with(self, stored: Self, where: str) -> Self:
        """This spec with the learners and repetitions that a run directory already has."""
        if stored.hash != self.hash:
            raise ParameterError(
                f"{where} holds another run: {stored.experiment} ({stored.version}), seed"
                f" {stored.seed}. Choose another directory with --out, or the same options as"
                " before."
            )
        known = {learner.label: learner for learner in stored.learners}
        for learner in self.learners:
            before = known.setdefault(learner.label, learner)
            if before != learner:
                raise ParameterError(
                    f"{where} holds {learner.label!r} with other parameters:"
                    f" {dict(before.parameters)} instead of {dict(learner.parameters)}. Choose"
                    " another directory with --out."
                )
        repetitions = max(self.repetitions, stored.repetitions)
        stages = self.stages
        if ALL_STAGES in (self.stages, stored.stages):
            stages = ALL_STAGES
        learners = tuple(known.values())
        return replace(self, learners=learners, repetitions=repetitions, stages=stages)

    def to_json(self) -> dict[str, Any]:
        """Plain data, as in ``spec.json``."""
        content = asdict(self)
        if self.stages == ALL_STAGES:  # as in files that were written before there was a choice
            del content["stages"]
        return {"hash": self.hash, **content}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The spec of a ``spec.json``."""
        content = {name: value for name, value in data.items() if name != "hash"}
        content["parts"] = tuple(Part(**part) for part in data["parts"])
        content["learners"] = tuple(LearnerSpec(**learner) for learner in data["learners"])
        content["figures"] = tuple(FigureSpec(**figure) for figure in data["figures"])
        return cls(**content)


def _identity(part: Part) -> dict[str, Any]:
    """The part as data; newer fields only where they are set, so that older runs go on."""
    newer = ("unaware", "scoring", "others")
    return {name: value for name, value in asdict(part).items() if name not in newer or value}


def _plain(options: Options) -> dict[str, Any]:
    """As JSON would give it back: lists for tuples, text for keys."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(options)))
    return plain
