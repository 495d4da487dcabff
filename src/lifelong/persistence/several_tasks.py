"""What shared encoders know of their tasks: which rows they have trained on, and what rows of one
class differ by.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.encoders.several_tasks import HeadOfTask
from lifelong.encoders.within_class import WithinClass
from lifelong.persistence.checking import Arrays, expect
from lifelong.persistence.kinds import packed, unpacked
from lifelong.persistence.text import Json
from lifelong.schema import Several, TaskNames, Whole

_NAMES = Several(TaskNames(), least=1)
_COUNTS = Several(Whole(1, 2**31), least=1)
_ROUNDING = 0.1  # ours are orthonormal to 0.01, in the worst of cases


def pack_heads(heads: Sequence[HeadOfTask], arrays: Arrays, at: str) -> dict[str, Json]:
    """Names and numbers of classes of tasks; rows seen go to ``arrays``."""
    for number, head in enumerate(heads):
        arrays[f"{at}.seen.{number}"] = head.seen.astype(np.int64)
    tasks = tuple(head.task for head in heads)
    classes = tuple(head.n_classes for head in heads)
    return {
        "tasks": packed(_NAMES, tasks, f"{at}.tasks"),
        "classes": packed(_COUNTS, classes, f"{at}.classes"),
    }


def unpack_heads(node: dict[str, Any], arrays: Arrays, at: str) -> tuple[HeadOfTask, ...]:
    """The tasks again, or an error."""
    tasks = unpacked(_NAMES, node["tasks"], f"{at}.tasks")
    classes = unpacked(_COUNTS, node["classes"], f"{at}.classes")
    fits = len(classes) == len(tasks) == len(set(tasks))
    expect(fits, at, "has other tasks than numbers of classes")
    heads = []
    for number, (task, n_classes) in enumerate(zip(tasks, classes, strict=True)):
        place = f"{at}.seen.{number}"
        seen = arrays.take(place)
        fits = seen.dtype == np.int64 and seen.ndim == 1
        expect(fits, place, "is no list of rows")
        ordered = bool((np.diff(seen) > 0).all()) and (not len(seen) or seen[0] >= 0)
        expect(ordered, place, "is no list of rows in order")
        heads.append(HeadOfTask(task, n_classes, seen.astype(np.intp)))
    return tuple(heads)


def pack_within(within: WithinClass | None, arrays: Arrays, at: str) -> None:
    """Directions and shares go to ``arrays``."""
    if within is not None:
        arrays[f"{at}.directions"] = within.directions
        arrays[f"{at}.taken"] = within.taken


def unpack_within(arrays: Arrays, at: str, width: int) -> WithinClass | None:
    """Files from before have none."""
    if f"{at}.directions" not in arrays:
        return None
    directions = arrays.take(f"{at}.directions")
    taken = arrays.take(f"{at}.taken")
    fits = directions.dtype == np.float32 and directions.ndim == 2
    expect(fits, f"{at}.directions", "is no matrix of numbers")
    expect(len(directions) == width, f"{at}.directions", "has other columns than the network")
    fits = taken.dtype == np.float32 and taken.shape == directions.shape[1:]
    expect(fits, f"{at}.taken", "has no number for each direction")
    for name, numbers in (("directions", directions), ("taken", taken)):
        expect(bool(np.isfinite(numbers).all()), f"{at}.{name}", "is not finite")
    is_share = bool(((taken >= 0) & (taken <= 1)).all())
    expect(is_share, f"{at}.taken", "is not shares from 0 to 1")
    expect(_is_orthonormal(directions), f"{at}.directions", "are not orthonormal")
    return WithinClass(directions, taken)


def _is_orthonormal(directions: NDArray[np.float32]) -> bool:
    """As far as float32 tells; any others could make numbers of any size of rows."""
    width, n_directions = directions.shape
    if n_directions > width:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        products = directions.T @ directions
        return bool((np.abs(products - np.eye(n_directions, dtype=np.float32)) < _ROUNDING).all())
