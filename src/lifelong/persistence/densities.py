"""Where a task's rows lie: means and scatter of its classes, as they are and as each encoder sees them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lifelong.learners.density import DIRECTIONS, Density, Gaussians
from lifelong.persistence.channels import COUNTERS
from lifelong.persistence.directory import FileRef
from lifelong.persistence.kinds import Array, Arrays, Kind, Name, Record, expect, keys, maybe
from lifelong.persistence.known import note, noted
from lifelong.persistence.parts import PartKind, load_parts, save_parts
from lifelong.persistence.states import InFile, Loading, Node, Saving, files_in
from lifelong.persistence.text import Json


def _gaussians(columns: int, most_classes: int) -> Kind:
    d = projection_width(columns)

    def check(fields: dict[str, Any], at: str) -> None:
        n_classes = len(fields["counts"])
        expect(len(fields["means"]) == n_classes <= most_classes, at, "is about other classes")
        expect(bool((fields["counts"] >= 0).all()), at, "has counts below 0")

    means, scatter = Array("float32", (None, d)), Array("float32", (d, d))
    return Record(Gaussians, {"counts": Array("float64 int64", (None,)), "means": means, "scatter": scatter}, check)


def projection_width(columns: int) -> int:
    """In how many directions things of so many columns are looked at."""
    return min(columns, DIRECTIONS)


class Base(NamedTuple):
    """A density without its views."""

    rows: Gaussians
    calibration: Any


class DensityPart(NamedTuple):
    """A view through one encoder: Gaussians, or visits to leaves."""

    view: Gaussians | None
    table: Any


def _base(learner: Any, task: Name | None) -> Kind:
    assert task is not None
    expect(task in learner.tasks_, f"the density of {task!r}", "belongs to no task")
    columns, n_classes = int(np.prod(learner.in_shape_)), len(learner.tasks_[task].classes)
    return Record(Base, {"rows": _gaussians(columns, n_classes), "calibration": Array("float32", (None,))})


@dataclass(frozen=True)
class DensityState:
    """``{"rows", "files"}``."""

    base = InFile("channel", _base)

    def _kind(self, n_classes: int) -> PartKind:
        return lambda shape: Record(
            DensityPart,
            {
                "view": maybe(_gaussians(shape.columns, n_classes)),
                "table": maybe(_Table(shape.leaves, n_classes)),
            },
        )

    def save(self, value: Density, name: Name | None, to: Saving) -> Json:
        assert name is not None
        node = noted(value)
        if isinstance(node, dict) and to.reuse(files_in(node)):
            return node
        known = noted(value.rows)
        base = Node(file=list(known)) if isinstance(known, FileRef) and to.reuse([known]) else None
        if base is None:
            base = self.base.save(Base(value.rows, value.calibration), name, to)
            note(value.rows, FileRef.from_json(base["file"]))
        parts = {u: DensityPart(view, None) for u, view in value.views.items()}
        parts |= {u: DensityPart(None, table) for u, table in value.leaves.tables.items()}
        kind = self._kind(len(to.learner.tasks_[name].classes))
        files = save_parts(parts, kind, _anchor, f"the density of task {name!r}", to)
        node = Node(rows=base, files=files)
        note(value, node)
        return node

    def load(self, node: Json, name: Name | None, loading: Loading) -> Density:
        assert name is not None
        at = f"the density of task {name!r}"
        keys(node, {"rows", "files"}, at)
        rows, calibration = self.base.load(node["rows"], name, loading)
        note(rows, FileRef.from_json(node["rows"]["file"]))
        kind = self._kind(len(loading.learner.tasks_[name].classes))
        parts = load_parts(node["files"], kind, _anchor, at, loading)
        tables = {u: part.table for u, part in parts.items() if part.table is not None}
        density = Density(rows, calibration, {u: part.view for u, part in parts.items() if part.view is not None})
        if tables:
            width = max(table.shape[1] for table in tables.values())
            leaves = density.leaves.with_class_counts(np.zeros(width, dtype=np.int64))
            density = Density(rows, calibration, density.views, type(leaves)(leaves.class_counts, tables))
        note(density, node)
        return density


def _anchor(part: DensityPart) -> Any:
    return part.table if part.view is None else part.view


@dataclass(frozen=True)
class _Table:
    """Visits to leaves (leaves, K') of at most so many classes."""

    leaves: int
    most_classes: int

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return Array(COUNTERS, (self.leaves, None)).pack(value, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        table = Array(COUNTERS, (self.leaves, None)).unpack(node, arrays, at)
        expect(0 < table.shape[1] <= self.most_classes, at, "is about other classes")
        return table
