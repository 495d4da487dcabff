"""A network encoder as an ONNX graph (torch, onnx): layer by layer, with standardisation and mirror
images in it.

Our networks are sequences of a few plain layers, so the graph is written down directly: nothing is
traced, and what it computes can be read off this file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from lifelong import __version__
from lifelong.encoders.network import FittedNetwork
from lifelong.nets.architectures import Answer, Root, SideBySide, Standardise
from lifelong.nets.augmentation import Augment
from lifelong.persistence.networks import describe
from lifelong.persistence.text import Unfit

# Both of 2022: every current runtime reads them.
OPSET = 17
IR_VERSION = 8

INPUT = "rows"
OUTPUT = "representation"


class Graph:
    """Nodes and numbers, in the order in which they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.numbers: dict[str, NDArray[Any]] = {}
        self._last = 0

    def add(self, op: str, inputs: list[str], **attributes: Any) -> str:
        """One more node; the name of what it gives."""
        self._last += 1
        output = f"{op.lower()}-{self._last}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def number(self, name: str, value: Any) -> str:
        """Numbers by name; the same name is the same numbers."""
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().numpy()
        self.numbers.setdefault(name, np.ascontiguousarray(value))
        return name


def onnx_model(encoder: FittedNetwork, in_shape: tuple[int, ...]) -> bytes:
    """The graph: rows (n, …) → representation (n, d), any n."""
    if describe(encoder.body) is None:
        raise Unfit(
            "it has layers of your own; torch.onnx.export(learner.encoders_[task].body, ...) may"
            " know them"
        )
    graph = Graph()
    row = torch.zeros(1, *in_shape, device=next(encoder.body.buffers()).device)
    output, represented = _forward(graph, encoder.body, INPUT, row, "layer")
    if any(bool(layer.mirrors) for layer in encoder.body.modules() if isinstance(layer, Augment)):
        other, _ = _forward(graph, encoder.body, _mirrored(graph), row, "layer")
        output = graph.add(
            "Div", [graph.add("Add", [output, other]), graph.number("two", np.float32(2))]
        )
    graph.nodes.append(helper.make_node("Identity", [output], [OUTPUT]))
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["n", *in_shape])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n", represented.shape[1]])],
            [numpy_helper.from_array(array, name) for name, array in graph.numbers.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="lifelong",
        producer_version=__version__,
    )
    helper.set_model_props(
        model, {"in_shape": "x".join(map(str, in_shape)), "lifelong": __version__}
    )
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


@torch.inference_mode()
def _forward(
    graph: Graph, network: nn.Module, value: str, x: torch.Tensor, at: str
) -> tuple[str, torch.Tensor]:
    """All layers of a network; a row ``x`` of zeros goes with them and tells the shapes."""
    if isinstance(network, nn.Sequential):
        for place, layer in enumerate(network):
            value, x = _forward(graph, layer, value, x, f"{at}-{place}")
        return value, x
    if isinstance(network, SideBySide):
        sides = [
            _forward(graph, side, value, x, f"{at}-{place}")
            for place, side in enumerate(network.networks)
        ]
        return _joined(graph, network, sides), network.joined([row for _, row in sides])
    node = _NODES.get(type(network))
    if node is not None:
        value = node(graph, network, value, at, tuple(x.shape))
    return value, network(x)


def _joined(graph: Graph, network: SideBySide, sides: list[tuple[str, torch.Tensor]]) -> str:
    """All neurons of all sides; answers to the same question by their mean, at the end."""
    values = [value for value, _ in sides]
    if network.n_answers:
        begins = [row.shape[1] - network.n_answers for _, row in sides]
        answers = [
            _slice(graph, value, begin, begin + network.n_answers, axis=1)
            for value, begin in zip(values, begins, strict=True)
        ]
        values = [
            _slice(graph, value, 0, begin, axis=1)
            for value, begin in zip(values, begins, strict=True)
        ]
        values.append(graph.add("Mean", answers))
    return graph.add("Concat", values, axis=1)


def _mirrored(graph: Graph) -> str:
    """Images from right to left: columns w - 1, w - 2, … 0."""
    places = {"starts": -1, "ends": np.iinfo(np.int64).min, "axes": 3, "steps": -1}
    numbers = [graph.number(name, np.array([at], dtype=np.int64)) for name, at in places.items()]
    return graph.add("Slice", [INPUT, *numbers])


def _standardise(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    centred = graph.add("Sub", [x, graph.number(f"{at}.mean", layer.mean)])
    return graph.add("Div", [centred, graph.number(f"{at}.scale", layer.scale)])


def _convolution(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    sizes = {
        "kernel_shape": layer.kernel_size,
        "strides": layer.stride,
        "pads": (*layer.padding, *layer.padding),
    }
    return graph.add("Conv", [x, *_weights(graph, layer, at, "weight", "bias")], **sizes)


def _batch_norm(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    numbers = _weights(graph, layer, at, "weight", "bias", "running_mean", "running_var")
    return graph.add("BatchNormalization", [x, *numbers], epsilon=layer.eps)


def _linear(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    return graph.add("Gemm", [x, *_weights(graph, layer, at, "weight", "bias")], transB=1)


def _average_pool(graph: Graph, layer: Any, x: str, at: str, shape: tuple[int, ...]) -> str:
    """The mean over a rectangle is the mean over rows of the means over columns: two matrices,
    whatever the sizes.
    """
    over_rows = graph.number(f"{at}.rows", _means(shape[2], layer.output_size))  # (k, h)
    over_columns = graph.number(f"{at}.columns", _means(shape[3], layer.output_size).T)  # (w, k)
    return graph.add("MatMul", [graph.add("MatMul", [over_rows, x]), over_columns])


def _means(length: int, n_stretches: int) -> NDArray[np.float32]:
    """Means over so many stretches of a line."""
    matrix = np.zeros((n_stretches, length), dtype=np.float32)
    for row, (start, stop) in enumerate(_stretches(length, n_stretches)):
        matrix[row, start:stop] = 1 / (stop - start)
    return matrix


def _max_pool(graph: Graph, layer: Any, x: str, at: str, shape: tuple[int, ...]) -> str:
    """The largest value in a rectangle is the largest over columns of the largest over rows."""
    for axis in (2, 3):
        largest = [
            graph.add("ReduceMax", [_slice(graph, x, start, stop, axis)], axes=[axis], keepdims=1)
            for start, stop in _stretches(shape[axis], layer.output_size)
        ]
        x = graph.add("Concat", largest, axis=axis)
    return x


def _slice(graph: Graph, x: str, start: int, stop: int, axis: int) -> str:
    places = [
        graph.number(f"at-{place}", np.array([place], dtype=np.int64))
        for place in (start, stop, axis)
    ]
    return graph.add("Slice", [x, *places])


def _stretches(length: int, n: int) -> list[tuple[int, int]]:
    """A line cut into ``n``, which overlap where ``length`` is not a multiple: torch's rule."""
    return [(i * length // n, -(-(i + 1) * length // n)) for i in range(n)]


def _weights(graph: Graph, layer: Any, at: str, *names: str) -> list[str]:
    there = [name for name in names if getattr(layer, name) is not None]
    return [graph.number(f"{at}.{name}", getattr(layer, name)) for name in there]


def _relu(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    return graph.add("Relu", [x])


def _root(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    return graph.add("Mul", [graph.add("Sign", [x]), graph.add("Sqrt", [graph.add("Abs", [x])])])


def _answer(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    return graph.add("Softmax", [x], axis=1)


def _flatten(graph: Graph, layer: Any, x: str, at: str, _: tuple[int, ...]) -> str:
    return graph.add("Flatten", [x], axis=1)


# Layers that are not here (augmentation, dropout, identity) do nothing to a row that is to be
# represented.
_NODES: dict[type[nn.Module], Callable[[Graph, Any, str, str, tuple[int, ...]], str]] = {
    Standardise: _standardise,
    nn.Conv2d: _convolution,
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.Linear: _linear,
    nn.ReLU: _relu,
    nn.AdaptiveAvgPool2d: _average_pool,
    nn.AdaptiveMaxPool2d: _max_pool,
    nn.Flatten: _flatten,
    Root: _root,
    Answer: _answer,
}
