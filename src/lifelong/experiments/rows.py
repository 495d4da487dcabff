"""One measured row; :mod:`lifelong.experiments.lines` says how it is written down."""

import os
import platform
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, NamedTuple

from lifelong._versions import installed
from lifelong.evaluation.measure import Curve, Measurement
from lifelong.tasks.base import TaskName

DONE = "done"
FAILED = "failed"
_PACKAGES = ("lifelong", "numpy", "scikit-learn", "torch")


class Key(NamedTuple):
    """What a row measures. No two finished rows of a run have the same one."""

    part: str
    learner: str
    repetition: int
    kind: str
    task: TaskName
    stage: int


@cache
def versions() -> dict[str, str]:
    """What was installed."""
    return {"python": platform.python_version(), **installed(*_PACKAGES)}


@cache
def machine() -> str:
    """What it ran on; no names of people or hosts."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


@dataclass(frozen=True)
class Row:
    """One measured error (or why there is none), with everything needed to know where it came from.

    ``learner`` is the label of a learner or, for ``kind="reference"``, of a plain model;
    ``references`` are the labels of the plain models (or learners) that the learner is compared
    with, the one that counts for ``gain`` last. ``n_tasks`` is the length of the stream, so that a
    complete repetition can be told from one that was interrupted.
    """

    spec: str
    part: str
    learner: str
    name: str
    parameters: dict[str, Any]
    repetition: int
    seed: int
    kind: str
    task: TaskName
    stage: int
    n_tasks: int
    error: float | None = None
    test_rows: int = 0
    train_seconds: float = 0.0
    predict_seconds: float = 0.0
    bytes: dict[str, int] = field(default_factory=dict)
    n_parameters: int = 0
    references: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=versions)
    machine: str = field(default_factory=machine)
    status: str = DONE
    reason: str = ""
    others: dict[str, float] = field(default_factory=dict)
    reliability: Curve = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What this row measures."""
        return Key(self.part, self.learner, self.repetition, self.kind, self.task, self.stage)

    @property
    def done(self) -> bool:
        """Whether there is a number."""
        return self.status == DONE

    def measurement(self) -> Measurement:
        """What was measured, without where it came from."""
        assert self.error is not None
        return Measurement(
            self.kind,
            self.task,
            self.stage,
            self.error,
            self.test_rows,
            self.train_seconds,
            self.predict_seconds,
            {"parameters": self.n_parameters, **self.bytes} if self.bytes else {},
            self.others,
            self.reliability,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data; other errors and curves only where there are any, as in older files."""
        content = asdict(self)
        for name in ("others", "reliability"):
            if not content[name]:
                del content[name]
        return content
