"""Labels and tasks as JSON.

Labels are whatever JSON can hold exactly; anything else is refused before writing.
"""

import re
from typing import Any

import numpy as np

from lifelong._labels import Labels
from lifelong.learners.knowledge import TaskRecord
from lifelong.persistence.checking import Arrays, Name, Scope, expect, keys
from lifelong.persistence.kinds import CustomKind, packed, unpacked
from lifelong.persistence.known import note, noted
from lifelong.persistence.states import Node
from lifelong.persistence.text import Json, Unfit
from lifelong.schema import Number, Several, TaskNames, Whole, maybe

_NUMERIC = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)")
_TYPES = {"bool": (bool,), "int": (int,), "uint": (int,), "float": (float,), "str": (str,)}
_EXACT = (str, int, float, bool, type(None))
_COUNTS = Several(Whole(), least=1)
_WEIGHTS = maybe(Several(Number(0), least=1))


def labels_to_json(labels: Labels, at: str) -> Json:
    """Type and values.

    >>> labels_to_json(np.array(["no", "yes"]), "classes")
    {'dtype': 'str', 'values': ['no', 'yes']}
    """
    name = labels.dtype.name
    if labels.dtype.kind == "U":
        name = "str"
    values = labels.tolist()
    known = name in ("str", "object") or _NUMERIC.fullmatch(name) is not None
    wrong = [repr(value) for value in values if type(value) not in _EXACT or value != value]
    if not known:
        wrong.append(repr(labels.dtype))
    if wrong:
        raise Unfit(
            f"{at} cannot be saved: {wrong[0]} is none of text, number, true, false and None. Use"
            " such labels, for example their names"
        )
    return {"dtype": name, "values": values}


def labels_from_json(node: Json, at: str) -> Labels:
    """The labels again, in their own dtype."""
    keys(node, {"dtype", "values"}, at)
    name = node["dtype"]
    values = node["values"]
    expect(isinstance(values, list) and len(values) > 0, at, "has no values")
    if name == "object":
        expect(
            all(type(value) in _EXACT for value in values), at, "holds something that is no label"
        )
        labels = np.empty(len(values), dtype=object)
        labels[:] = values
    else:
        expect(
            isinstance(name, str) and (name == "str" or bool(_NUMERIC.fullmatch(name))),
            at,
            "has no known dtype",
        )
        wanted = _TYPES[name.rstrip("0123456789")]
        expect(
            all(type(value) in wanted for value in values),
            at,
            f"holds something that is not {name}",
        )
        labels = np.array(values, dtype=name)
        expect(labels.tolist() == values, at, f"holds something that {name} cannot hold")
    expect(len(set(values)) == len(values), at, "has a label twice")
    return labels


def task_to_json(name: Name, record: TaskRecord) -> Json:
    """A task's name, classes and how many rows of each were seen."""
    known = noted(record)
    if isinstance(known, Node) and type(known["name"]) is type(name) and known["name"] == name:
        return known
    at = f"task {name!r}:"
    node = Node(
        name=packed(TaskNames(), name, at),
        classes=labels_to_json(record.classes, f"{at} classes"),
        class_counts=record.class_counts.tolist(),
        class_weights=None,
    )
    if record.class_weights is not None:
        node["class_weights"] = record.class_weights.tolist()
    _ = node.text  # what JSON cannot hold is refused now, before anything is written
    note(record, node)
    return node


def tasks_from_json(nodes: Any) -> dict[Name, TaskRecord]:
    """All tasks, in order of arrival."""
    expect(isinstance(nodes, list), "tasks", "is not a list")  # empty: all tasks were forgotten
    tasks: dict[Name, TaskRecord] = {}
    for node in nodes:
        keys(node, {"name", "classes", "class_counts"}, "a task", optional={"class_weights"})
        name = unpacked(TaskNames(), node["name"], "a task's name")
        at = f"task {name!r}"
        expect(name not in tasks, at, "comes twice")
        classes = labels_from_json(node["classes"], at)
        counts = np.array(unpacked(_COUNTS, node["class_counts"], at), dtype=np.int64)
        expect(
            len(counts) == len(classes) and 0 < sum(counts.tolist()) < 2**63,
            at,
            "has counts of other classes",
        )
        weights = unpacked(_WEIGHTS, node.get("class_weights"), at)
        expect(
            weights is None or (len(weights) == len(classes) and sum(weights) > 0),
            at,
            "has weights of other classes",
        )
        if weights is not None:
            weights = np.array(weights, dtype=np.float64)
        tasks[name] = TaskRecord(classes, counts, weights)
    return tasks


def _pack_labels(value: Labels, arrays: Arrays, at: str, scope: Scope) -> Json:
    return labels_to_json(value, at)


def _unpack_labels(node: Json, arrays: Arrays, at: str, scope: Scope) -> Labels:
    return labels_from_json(node, at)


LABELS = CustomKind(_pack_labels, _unpack_labels)
"""All labels of all tasks."""
