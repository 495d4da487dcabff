"""Networks that tasks share: the network, which rows of which task it has trained on, and what rows
of one class differ by.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.encoders.shared_network import HeadOfTask, SharedNetwork
from lifelong.encoders.within_class import WithinClass
from lifelong.persistence.checking import Arrays, expect, keys
from lifelong.persistence.kinds import packed, unpacked
from lifelong.persistence.networks import n_columns, pack_network, unpack_network
from lifelong.persistence.text import Json
from lifelong.schema import Several, TaskNames, Whole

_NAMES = Several(TaskNames(), least=1)
_COUNTS = Several(Whole(1, 2**31), least=1)
_ROUNDING = 0.1  # ours are orthonormal to 0.01, in the worst of cases


def pack_shared(encoder: SharedNetwork, arrays: Arrays, at: str) -> Json:
    """The network, names and numbers of classes of its tasks; rows seen go to ``arrays``."""
    for number, head in enumerate(encoder.heads):
        arrays[f"{at}.seen.{number}"] = head.seen.astype(np.int64)
    if encoder.within is not None:
        arrays[f"{at}.within.directions"] = encoder.within.directions
        arrays[f"{at}.within.taken"] = encoder.within.taken
    return {
        "network": pack_network(encoder.network, arrays, f"{at}.network"),
        "tasks": packed(_NAMES, encoder.tasks, f"{at}.tasks"),
        "classes": packed(
            _COUNTS, tuple(head.n_classes for head in encoder.heads), f"{at}.classes"
        ),
    }


def unpack_shared(
    node: Json,
    arrays: Arrays,
    at: str,
    in_shape: tuple[int, ...],
    *,
    network: Any = None,
    device: str = "cpu",
) -> SharedNetwork:
    """The shared network of a file; ``network`` is the user's function, where the file needs it."""
    keys(node, {"network", "tasks", "classes"}, at)
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
    made = unpack_network(
        node["network"], arrays, f"{at}.network", in_shape, network=network, device=device
    )
    fits = made.n_answers <= sum(classes)
    expect(fits, at, "answers about classes of no task")
    within = _unpack_within(arrays, f"{at}.within", n_columns(made, in_shape) - made.n_answers)
    return SharedNetwork(made, tuple(heads), within)


def _is_orthonormal(directions: NDArray[np.float32]) -> bool:
    """As far as float32 tells; any others could make numbers of any size of rows."""
    width, n_directions = directions.shape
    if n_directions > width:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        products = directions.T @ directions
        return bool((np.abs(products - np.eye(n_directions, dtype=np.float32)) < _ROUNDING).all())


def _unpack_within(arrays: Arrays, at: str, width: int) -> WithinClass | None:
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
