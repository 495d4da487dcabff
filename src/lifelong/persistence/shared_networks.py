"""Networks that tasks share: the network, which rows of which task it has trained on, and what rows
of one class differ by.
"""

from typing import Any

from lifelong.encoders.shared_network import SharedNetwork
from lifelong.persistence.checking import Arrays, expect, keys
from lifelong.persistence.networks import n_columns, pack_network, unpack_network
from lifelong.persistence.several_tasks import (
    pack_heads,
    pack_within,
    unpack_heads,
    unpack_within,
)
from lifelong.persistence.text import Json


def pack_shared(encoder: SharedNetwork, arrays: Arrays, at: str) -> Json:
    """The network, names and numbers of classes of its tasks; rows seen go to ``arrays``."""
    pack_within(encoder.within, arrays, f"{at}.within")
    return {
        "network": pack_network(encoder.network, arrays, f"{at}.network"),
        **pack_heads(encoder.heads, arrays, at),
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
    heads = unpack_heads(node, arrays, at)
    made = unpack_network(
        node["network"], arrays, f"{at}.network", in_shape, network=network, device=device
    )
    fits = made.n_answers <= sum(head.n_classes for head in heads)
    expect(fits, at, "answers about classes of no task")
    within = unpack_within(arrays, f"{at}.within", n_columns(made, in_shape) - made.n_answers)
    return SharedNetwork(made, heads, within)
