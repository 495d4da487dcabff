"""What an encoder does, as one checksum: two that do the same have the same.

A file can be changed in many ways that change no answer: thresholds of leaves, the order of nodes
or trees, digits of a threshold that no float32 can tell apart, the rate of a dropout layer. So an
encoder is known by a canonical form in which all these are the same, and not by its bytes. An
encoder that was changed by a little *does* something else, and has another checksum.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.encoders.base import FittedEncoder
from lifelong.encoders.forest import FittedForest
from lifelong.persistence.checking import Arrays
from lifelong.persistence.encoders import pack_encoder
from lifelong.persistence.known import Notes
from lifelong.persistence.text import Json, Unfit, to_json

Shape = tuple[int, ...]

_FOUND = Notes()
_IDLE_LAYERS = ("dropout", "identity")  # they do nothing to a row that is to be represented
_LEVELS = 1000  # of a tree that are put in order; deeper ones are known by their nodes
_IDLE_TENSORS = ("num_batches_tracked",)


def identity(encoder: FittedEncoder, in_shape: Shape) -> str | None:
    """SHA-256 of what an encoder does; None for a class of the user's own."""
    found: str | None = _FOUND.get(encoder)
    if found is not None:
        return found
    digest = hashlib.sha256(to_json(list(in_shape)))
    if type(encoder) is FittedForest:
        for tree in sorted(map(_tree_digest, encoder.trees)):
            digest.update(tree)
    else:
        try:
            _add_network(digest, encoder, in_shape)
        except Unfit:
            return None
    _FOUND[encoder] = digest.hexdigest()
    return digest.hexdigest()


def _add_network(digest: Any, encoder: FittedEncoder, in_shape: Shape) -> None:
    arrays = Arrays()
    structure = pack_encoder(encoder, in_shape, arrays)
    digest.update(to_json(_without_idle(structure)))
    for name, array in arrays.items():  # in the order of layers
        if name.rpartition(".")[2] not in _IDLE_TENSORS:
            digest.update(to_json([str(array.dtype), list(array.shape)]))
            digest.update((array + array.dtype.type(0)).tobytes())  # −0 is 0


def _without_idle(node: Json) -> Json:
    """A description of layers without those that do nothing."""
    if isinstance(node, list):
        return [_without_idle(item) for item in node if not _is_idle(item)]
    if isinstance(node, dict):
        return {key: _without_idle(node[key]) for key in sorted(node) if key != "channels_last"}
    return node


def _is_idle(node: Json) -> bool:
    return isinstance(node, dict) and len(node) == 1 and next(iter(node)) in _IDLE_LAYERS


def _tree_digest(tree: Any) -> bytes:
    """Of the splits, level by level from the root, from left to right."""
    left: NDArray[np.intp] = tree.children_left
    right: NDArray[np.intp] = tree.children_right
    feature: NDArray[np.intp] = tree.feature
    threshold = as_float32(tree.threshold)
    digest = hashlib.sha256()
    level = np.zeros(1, dtype=np.intp)
    for _ in range(_LEVELS):
        inner = level[left[level] >= 0]
        digest.update((left[level] >= 0).tobytes())
        digest.update(feature[inner].astype(np.int64).tobytes())
        digest.update(threshold[inner].tobytes())
        level = np.stack([left[inner], right[inner]], axis=1).ravel()
        if not len(level):
            return digest.digest()
    for rest in (left, right, feature, threshold):  # as it stands: nobody waits for a file
        digest.update(rest.tobytes())
    return digest.digest()


def as_float32(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest float32 that is not above each threshold: rows are float32, so ``x ≤ threshold``
    says the same.

    >>> as_float32(np.array([0.5, 0.1, -0.0]))
    array([0.5       , 0.09999999, 0.        ], dtype=float32)
    """
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > threshold, below, rounded) + np.float32(0)
