"""What there is to measure: cells, each a learner (or plain model), a stream and a repetition."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lifelong.evaluation.measure import REFERENCE, SINGLE, STAGE
from lifelong.experiments.parameters import build_learner
from lifelong.experiments.rows import Key
from lifelong.experiments.spec import ALL_STAGES, FINAL_STAGES, LearnerSpec, Part, Spec
from lifelong.experiments.streams import make_stream
from lifelong.nets.recipe import Recipe
from lifelong.tasks.base import TaskName


@dataclass(frozen=True)
class Cell:
    """One process's worth of work.

    ``plain`` is empty for a learner; for a plain model it is the model's name among the learner's
    own plain models.
    """

    part: Part
    learner: LearnerSpec
    repetition: int
    seed: int
    tasks: tuple[TaskName, ...]
    label: str
    plain: str = ""
    references: tuple[str, ...] = ()
    stages: str = ALL_STAGES
    missing: frozenset[Key] = field(default_factory=frozenset)

    def all_keys(self) -> Iterator[Key]:
        """Every row of this cell."""
        for stage, task in enumerate(self.tasks):
            if self.plain:
                yield self.key(REFERENCE, task, stage)
                continue
            for known in measured_at(stage, self.tasks, self.stages):
                yield self.key(STAGE, known, stage)
            yield self.key(SINGLE, task, stage)

    def key(self, kind: str, task: TaskName, stage: int) -> Key:
        """The key of one row of this cell."""
        return Key(self.part.name, self.label, self.repetition, kind, task, stage)


def measured_at(stage: int, tasks: tuple[TaskName, ...], stages: str) -> tuple[TaskName, ...]:
    """Which tasks are measured after this one has arrived.

    >>> measured_at(1, ("a", "b", "c"), "all"), measured_at(1, ("a", "b", "c"), "final")
    (('a', 'b'), ('b',))
    """
    is_last = stage == len(tasks) - 1
    if stages == FINAL_STAGES and not is_last:
        return tasks[stage : stage + 1]
    return tasks[: stage + 1]


def plan(spec: Spec, data_dir: Path | None = None) -> list[Cell]:
    """All cells by repetition, so that an interrupted run has every learner in the finished ones.

    Raises what the streams raise when their files are not there.
    """
    names = {part.name: tuple(make_stream(part, spec.seed, data_dir).names) for part in spec.parts}
    plain = {
        (part.name, learner.label): plain_labels(learner, len(names[part.name]), spec.seed)
        for part in spec.parts
        for learner in spec.learners
    }
    cells: list[Cell] = []
    for repetition in range(spec.repetitions):
        for part in spec.parts:
            cells += _cells_of(spec, part, names[part.name], repetition, plain)
    return cells


def _cells_of(
    spec: Spec,
    part: Part,
    tasks: tuple[TaskName, ...],
    repetition: int,
    plain: dict[tuple[str, str], dict[str, str]],
) -> list[Cell]:
    seed = spec.seed + repetition
    cells: dict[str, Cell] = {}
    learners = [learner for learner in spec.learners if learner.label not in part.without]
    for learner in learners:
        rival = [other.label for other in learners if other.label == learner.against]
        if rival:
            labels = {}
        else:
            labels = plain[part.name, learner.label]
        for (
            model,
            label,
        ) in labels.items():  # learners of one family share their plain models: measured once
            cells.setdefault(
                label, Cell(part, learner, repetition, seed, tasks, label, plain=model)
            )
        own = Cell(
            part,
            learner,
            repetition,
            seed,
            tasks,
            learner.label,
            references=tuple(rival or labels.values()),
            stages=spec.stages,
        )
        cells[learner.label] = own
    return list(cells.values())


def plain_labels(learner: LearnerSpec, n_tasks: int, seed: int) -> dict[str, str]:
    """The plain models of a learner: name → label, the same for models with the same settings."""
    try:
        models = build_learner(learner, seed).plain_models(n_tasks)
    except Exception:  # the learner's own cell will fail with the same reason, and it alone
        return {}
    return {name: f"{name}~{_digest(model)}" for name, model in models.items()}


def _digest(model: Any) -> str:
    settings = {
        name: value if isinstance(value, str | int | float | tuple | None) else _text(value)
        for name, value in model.get_params().items()
        if not name.endswith(("random_state", "steps"))
    }
    return blake2b(repr(sorted(settings.items(), key=str)).encode(), digest_size=3).hexdigest()


def _text(value: Any) -> str:
    """A value's text without its address in memory; of a recipe, what is not as usual: labels
    outlive new settings.
    """
    if not isinstance(value, Recipe):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(
        {
            field.name: getattr(value, field.name)
            for field in fields(value)
            if getattr(value, field.name) != field.default
        }
    )


def still_missing(cells: Iterable[Cell], done: set[Key]) -> list[Cell]:
    """The cells with rows yet to be measured; each knows which."""
    open_cells = ((cell, frozenset(cell.all_keys()) - done) for cell in cells)
    return [replace(cell, missing=missing) for cell, missing in open_cells if missing]
