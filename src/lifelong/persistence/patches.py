"""Patches that tasks have in common: filters as arrays, and whose images they are from."""

from typing import Any

import numpy as np
import torch

from lifelong.encoders.patches import FittedPatches
from lifelong.nets.patches import LikePatches
from lifelong.persistence.activations import most_of_a_row
from lifelong.persistence.checking import Arrays, expect, keys
from lifelong.persistence.hollow import device_here
from lifelong.persistence.kinds import packed, unpacked
from lifelong.persistence.several_tasks import (
    pack_heads,
    pack_within,
    unpack_heads,
    unpack_within,
)
from lifelong.persistence.text import Json
from lifelong.schema import FLAG, Number, Whole

_FLAT = Number(1e-30, 1e30)
_SHRINK = Whole(1, 2**16)


def pack_patches(encoder: FittedPatches, arrays: Arrays, at: str) -> Json:
    """Tasks and settings; filters, offsets and directions go to ``arrays``."""
    body = encoder.body
    arrays[f"{at}.filters"] = body.filters.cpu().numpy()
    arrays[f"{at}.offsets"] = body.offsets.cpu().numpy()
    pack_within(encoder.within, arrays, f"{at}.within")
    return {
        **pack_heads(encoder.heads, arrays, at),
        "flat": packed(_FLAT, float(body.flat), f"{at}.flat"),
        "shrink": packed(_SHRINK, body.shrink, f"{at}.shrink"),
        "mirrors": packed(FLAG, body.mirrors, f"{at}.mirrors"),
    }


def unpack_patches(
    node: Json, arrays: Arrays, at: str, in_shape: tuple[int, ...], *, device: str
) -> FittedPatches:
    """The patches, or an error."""
    keys(node, {"tasks", "classes", "flat", "shrink", "mirrors"}, at)
    heads = unpack_heads(node, arrays, at)
    shrink = unpacked(_SHRINK, node["shrink"], f"{at}.shrink")
    filters = _numbers(arrays, f"{at}.filters", 4)
    offsets = _numbers(arrays, f"{at}.offsets", 1)
    expect(len(in_shape) == 3, at, "reads rows that are no images")
    n_filters, channels, *size = filters.shape
    side = min(in_shape[1:]) // shrink
    fits = n_filters > 0 and channels == in_shape[0] and size[0] == size[1] and 0 < size[0] <= side
    expect(fits, f"{at}.filters", f"do not fit images of shape {in_shape}")
    expect(len(offsets) == n_filters, f"{at}.offsets", "are not one for each filter")
    cells = (in_shape[1] // shrink - size[0] + 1) * (in_shape[2] // shrink - size[0] + 1)
    fits = 2 * n_filters * cells <= most_of_a_row(in_shape)
    expect(fits, f"{at}.filters", "are too many for such images")
    body = LikePatches(
        torch.from_numpy(filters),
        torch.from_numpy(offsets),
        flat=unpacked(_FLAT, node["flat"], f"{at}.flat"),
        shrink=shrink,
        mirrors=unpacked(FLAG, node["mirrors"], f"{at}.mirrors"),
    )
    within = unpack_within(arrays, f"{at}.within", body.n_columns(in_shape))
    return FittedPatches(body.to(device_here(device)).eval(), tuple(in_shape), heads, within)


def _numbers(arrays: Arrays, at: str, n_dimensions: int) -> Any:
    """A copy of an array of finite float32."""
    found = arrays.take(at)
    fits = found.dtype == np.float32 and found.ndim == n_dimensions
    expect(fits, at, f"is no array of numbers of {n_dimensions} dimensions")
    expect(bool(np.isfinite(found).all()), at, "is not finite")
    return np.array(found)
