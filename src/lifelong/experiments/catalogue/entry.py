"""What a file of the catalogue defines: one experiment in a full and in a smoke version."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifelong._validation import check_choice, check_count
from lifelong._words import did_you_mean
from lifelong.exceptions import ParameterError
from lifelong.experiments.catalogue.settings import PLAIN
from lifelong.experiments.registry import LEARNERS, entry_of, make_learner, trains_networks
from lifelong.experiments.spec import (
    ALL_STAGES,
    FINAL_STAGES,
    FigureSpec,
    LearnerSpec,
    Part,
    Spec,
)
from lifelong.references import BOUNDS
from lifelong.references import CONTROLS as SINGLE_TASK

SIXTEEN = (  # of the paper; any other learner of the table is asked for with --learners
    *(
        "none",
        "ewc",
        "o-ewc",
        "si",
        "lwf",
        "total-replay",
        "partial-replay",
        "er",
        "a-gem",
        "tag",
        "prognn",
    ),
    *("df-cnn", "lmc", "model-zoo", "coscl", "randumb"),
)
# References that the paper does not have. RanPAC is for the tables with pretrained features.
LATER = ("der++", "packnet", "hat", "gpm", "wsn", "der", "ranpac")
CONTROLS = tuple(SINGLE_TASK)
EVERYONE = ("silly-n", "silly-f", *SIXTEEN, *LATER, *CONTROLS, *BOUNDS)

STRIP = FigureSpec("strip")
STAGES = FigureSpec("stages")
MATRICES = FigureSpec("matrices")
STRIP_VENIAT = FigureSpec("strip-veniat")  # transfers as differences of errors


@dataclass(frozen=True)
class Version:
    """Streams, learners and repetitions.

    ``settings`` are for every learner that trains a network, ``own`` for the learners it names, in
    their place.
    """

    parts: tuple[Part, ...]
    learners: tuple[LearnerSpec, ...]
    repetitions: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def learners(
    names: Iterable[str],
    settings: Mapping[str, Any],
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[LearnerSpec, ...]:
    """Learners of the table; those with networks get the settings."""
    return tuple(learner(name, settings, **(own or {}).get(name, {})) for name in names)


def learner(
    name: str,
    settings: Mapping[str, Any],
    label: str = "",
    at: float | None = None,
    **parameters: Any,
) -> LearnerSpec:
    """One learner with parameters of its own; networks are compared with the control ``single``
    where it takes part.
    """
    if not trains_networks(name):
        return LearnerSpec(label or name, name, parameters, at)
    return LearnerSpec(label or name, name, {**settings, **parameters}, at, against="single")


def version(
    parts: Sequence[Part],
    names: Iterable[str],
    repetitions: int,
    settings: Mapping[str, Any] = PLAIN,
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> Version:
    """A version whose learners are named."""
    return Version(tuple(parts), learners(names, settings, own), repetitions, settings, own or {})


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper.

    Parameters
    ----------
    name : str
        As in ``lifelong run NAME``.
    of_paper : str
        Which figure or table.
    question : str
    full, smoke : Version
        ``smoke`` takes seconds and shows that everything works; its numbers mean nothing.
    """

    name: str
    of_paper: str
    question: str
    full: Version
    smoke: Version
    figures: tuple[FigureSpec, ...] = (STRIP, STAGES, MATRICES)
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def spec(
        self,
        *,
        smoke: bool = False,
        learners: Sequence[str] = (),
        repetitions: int | None = None,
        seed: int = 0,
        stages: str = ALL_STAGES,
    ) -> Spec:
        """The experiment as data; by default as the catalogue has it."""
        if smoke:
            chosen = self.smoke
        else:
            chosen = self.full
        check_count(repetitions, "repetitions", optional=True)
        check_choice(stages, "stages", (ALL_STAGES, FINAL_STAGES))
        return Spec(
            experiment=self.name,
            version="smoke" if smoke else "full",
            question=self.question,
            parts=chosen.parts,
            learners=tuple(_choose(chosen, label) for label in learners) or chosen.learners,
            repetitions=repetitions or chosen.repetitions,
            seed=seed,
            figures=self.figures,
            published=self.published,
            stages=stages,
        )


def _choose(chosen: Version, label: str) -> LearnerSpec:
    """A learner of the version, or any other of the table with the version's settings."""
    known = {learner.label: learner for learner in chosen.learners}
    if label in known:
        return known[label]
    if entry_of(label) is None:
        hint = did_you_mean(label, [*known, *LEARNERS])
        there = f"In this experiment: {', '.join(known)}. All others: lifelong list learners."
        raise ParameterError(f"Unknown learner {label!r}.{hint} {there}")
    make_learner(label)  # says now what is not installed
    return learner(label, chosen.settings, **chosen.own.get(label, {}))
