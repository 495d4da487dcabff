"""Network encoders: layers as data, tensors as arrays (the only modules here that need torch: this
one and `hollow`).

A network made of plain layers is described layer by layer, so that its file is complete in itself,
whatever learner it came from. A user's own layers cannot be in a file: then the user's function
builds the network and the file fills it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from lifelong.encoders.network import FittedNetwork
from lifelong.exceptions import PersistenceError
from lifelong.nets.architectures import Answer, Root, SideBySide, Standardise, build
from lifelong.nets.augmentation import Augment
from lifelong.nets.randomness import private_randomness
from lifelong.persistence.activations import check_activations
from lifelong.persistence.checking import Arrays, expect, keys
from lifelong.persistence.hollow import built_hollow, device_here, filled, tensors_of
from lifelong.persistence.kinds import unpacked
from lifelong.persistence.text import Json, Unfit
from lifelong.schema import Kind, Number, Several, Whole

_MAX_LAYERS = 2000
_COUNT = Whole(1, 2**31)
_FLAG = Whole(0, 1)
_PAIR = Several(Whole(0, 2**16))


# A layer: the class, what its constructor needs, and what kind of thing that is. Everything else
# must be the default.
_LAYERS: Mapping[
    str,
    tuple[type[nn.Module], Callable[[Any], list[Any]], tuple[Kind, ...], Callable[..., nn.Module]],
] = {
    "linear": (
        nn.Linear,
        lambda m: [m.in_features, m.out_features, int(m.bias is not None)],
        (_COUNT, _COUNT, _FLAG),
        lambda a, b, bias: nn.Linear(a, b, bool(bias)),
    ),
    "convolution": (
        nn.Conv2d,
        lambda m: [
            m.in_channels,
            m.out_channels,
            m.kernel_size,
            m.stride,
            m.padding,
            int(m.bias is not None),
        ],
        (_COUNT, _COUNT, _PAIR, _PAIR, _PAIR, _FLAG),
        lambda a, b, kernel, stride, padding, bias: nn.Conv2d(
            a, b, kernel, stride, padding, bias=bool(bias)
        ),
    ),
    "batch-norm-1d": (nn.BatchNorm1d, lambda m: [m.num_features], (_COUNT,), nn.BatchNorm1d),
    "batch-norm-2d": (nn.BatchNorm2d, lambda m: [m.num_features], (_COUNT,), nn.BatchNorm2d),
    "dropout": (nn.Dropout, lambda m: [float(m.p)], (Number(0, 1),), nn.Dropout),
    "relu": (nn.ReLU, lambda _: [], (), nn.ReLU),
    "average-pool": (
        nn.AdaptiveAvgPool2d,
        lambda m: [m.output_size],
        (_COUNT,),
        nn.AdaptiveAvgPool2d,
    ),
    "max-pool": (
        nn.AdaptiveMaxPool2d,
        lambda m: [m.output_size],
        (_COUNT,),
        nn.AdaptiveMaxPool2d,
    ),
    "flatten": (nn.Flatten, lambda _: [], (), nn.Flatten),
    "root": (Root, lambda _: [], (), Root),
    "answer": (Answer, lambda _: [], (), Answer),
    "identity": (nn.Identity, lambda _: [], (), nn.Identity),
}


def describe(network: nn.Module) -> Json:
    """The layers of a network, or None if some layer is not plain."""
    if type(network) is nn.Sequential:
        return _all_plain("sequence", network)
    if type(network) is SideBySide:
        return _all_plain("beside", network.networks)
    if type(network) is Standardise:
        return {"standardise": list(network.mean.shape)}
    if type(network) is Augment:
        return {"augment": []}
    for word, (layer, arguments, _, make) in _LAYERS.items():
        if type(network) is layer:
            with torch.device("meta"):
                default = make(*arguments(network))
            if repr(default) != repr(network):
                return None
            return {word: [_listed(argument) for argument in arguments(network)]}
    return None


def _listed(argument: Any) -> Json:
    """A pair of sizes as JSON has it."""
    if isinstance(argument, tuple):
        return list(argument)
    return argument


def _all_plain(word: str, networks: Iterable[nn.Module]) -> Json:
    layers = [describe(network) for network in networks]
    if None in layers:
        return None
    return {word: layers}


def n_layers(node: Json) -> int:
    """How many layers a description has."""
    if not isinstance(node, dict):
        return 1
    inside = node.get("sequence", node.get("beside"))
    if not isinstance(inside, list):
        return 1
    return 1 + sum(map(n_layers, inside))


def rebuild(node: Json) -> nn.Module:
    """Fresh layers from their description."""
    expect(isinstance(node, dict) and len(node) == 1, "a layer", "has no name")
    word, arguments = next(iter(node.items()))
    expect(isinstance(arguments, list), f"layer {word[:40]!r}", "has no arguments")
    if word == "sequence":
        return nn.Sequential(*map(rebuild, arguments))
    if word == "beside":
        expect(bool(arguments), "networks side by side", "are none")
        return SideBySide(map(rebuild, arguments))
    if word == "standardise":
        return Standardise(torch.zeros(1, *unpacked(Several(_COUNT, least=1), arguments, word)))
    if word == "augment":
        return Augment(torch.zeros(1, 1, 1, 1))
    expect(word in _LAYERS, f"layer {word[:40]!r}", "is unknown")
    _, _, kinds, make = _LAYERS[word]
    expect(len(arguments) == len(kinds), word, "has the wrong number of arguments")
    values = [unpacked(kind, value, word) for kind, value in zip(kinds, arguments, strict=True)]
    return make(*values)


def pack_network(encoder: FittedNetwork, arrays: Arrays, at: str) -> Json:
    """Front, body (None: only the user's function knows), memory format; tensors to ``arrays``."""
    front, body = _parts(encoder)
    expect(
        n_layers(describe(body)) <= _MAX_LAYERS,
        "the network",
        f"has more than {_MAX_LAYERS} layers",
    )
    tensors_of(front, arrays, f"{at}.front.")
    tensors_of(body, arrays, f"{at}.body.")
    return {
        "front": describe(front),
        "body": describe(body),
        "channels_last": int(_is_channels_last(body)),
    }


def _parts(encoder: FittedNetwork) -> tuple[nn.Module, nn.Module]:
    """What standardises the rows, and the network itself."""
    children = list(encoder.body.children())
    two = type(encoder.body) is nn.Sequential and len(children) == 2
    expect(two, "the encoder", "is not a front and a body")
    return children[0], children[1]


def unpack_network(
    node: Json,
    arrays: Arrays,
    at: str,
    in_shape: tuple[int, ...],
    *,
    network: Any = None,
    device: str = "cpu",
) -> FittedNetwork:
    """The encoder; ``network`` is the user's function, where the file needs it."""
    keys(node, {"front", "body", "channels_last"}, at)
    last = unpacked(_FLAG, node["channels_last"], f"{at}.channels_last")
    place = device_here(device)
    halves = []
    for name in ("front", "body"):
        start = f"{at}.{name}."
        tensors = {
            key.removeprefix(start): arrays.take(key)
            for key in list(arrays)
            if key.startswith(start)
        }
        layers = node[name]
        expect(n_layers(layers) <= _MAX_LAYERS, at, f"has more than {_MAX_LAYERS} layers")
        if layers is None and name == "body":
            half = _by_function(network, in_shape)
        else:
            half = built_hollow(partial(_rebuilt, layers, last), len(tensors))
        halves.append(filled(half, tensors, place))
    body = nn.Sequential(*halves).eval().requires_grad_(False)
    if node["body"] is not None:  # a user's own layers are the user's
        described = {"sequence": [node["front"], node["body"]]}
        hollow = built_hollow(partial(rebuild, described), len(body.state_dict()))
        check_activations(hollow, in_shape)
    expect(any(True for _ in body.buffers()), at, "has no standardisation")
    return FittedNetwork(body, in_shape)


def _rebuilt(layers: Json, channels_last: int) -> nn.Module:
    body = rebuild(layers)
    if channels_last:
        body = body.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return body


def _by_function(network: Any, in_shape: tuple[int, ...]) -> nn.Module:
    if network is None:
        raise PersistenceError(
            "This encoder has layers of your own, which a file cannot hold. Pass the function that"
            " builds them: load(directory, network=function)."
        )
    with private_randomness(np.random.default_rng(0)):
        return build(network, in_shape)


def _is_channels_last(body: nn.Module) -> bool:
    images = [weight for weight in body.parameters() if weight.ndim == 4]
    return bool(images) and all(
        weight.is_contiguous(memory_format=torch.channels_last) for weight in images
    )


def n_columns(encoder: FittedNetwork, in_shape: tuple[int, ...]) -> int:
    """How many neurons the network ends in."""
    layers = describe(encoder.body)
    if layers is None:
        return int(encoder.encode(np.zeros((1, *in_shape), dtype=np.float32)).shape[1])

    def outcome() -> nn.Module:
        return rebuild(layers).eval()

    output = built_hollow(outcome, len(encoder.body.state_dict()))(
        torch.empty(1, *in_shape, device="meta")
    )
    if output.ndim != 2:
        raise Unfit(
            f"the network does not end in a layer of neurons but in {tuple(output.shape[1:])}"
        )
    return int(output.shape[1])
