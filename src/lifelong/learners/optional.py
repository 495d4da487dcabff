"""Sample weights are for the parts that can use them."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.exceptions import UnsupportedError


def taking_weights(learn: Callable[..., Any], weights: NDArray[np.float64] | None) -> Callable[..., Any]:
    """An encoder's ``fit`` or a channel's ``update``, with weights if there are any; parts need not know of them."""
    if weights is None:
        return learn
    if "weights" not in signature(learn).parameters:
        owner = type(getattr(learn, "__self__", learn)).__name__
        raise UnsupportedError(f"{owner} takes no sample_weight. Leave the weights out, or choose another part.")
    return partial(learn, weights=weights)
