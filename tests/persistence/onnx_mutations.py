"""ONNX files as strangers may send them: real ones of ours, changed in every way that came to mind,
and what becomes of each.
"""

import json
import random
import tracemalloc
from collections import Counter
from pathlib import Path

import onnx
from fuzzing import nothing_else_touched
from mutations import damaged, join
from onnx import TensorProto, helper
from small import network, taught

from lifelong import export_encoder, import_encoder
from lifelong.exceptions import PersistenceError

SLACK = 4_000_000  # bytes beside twice the file: Python's own objects
HUGE = [0, -1, 2**31, 2**40, 2**62]
ELSEWHERE = ["../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "/dev/zero", "."]
DEEPEST = 25  # graphs inside of graphs, of three messages each: protobuf takes a hundred


def real_file(folder: Path) -> bytes:
    """A file that ``export_encoder`` has written."""
    export_encoder(taught(network(), 1), "task-0", folder / "real.onnx")
    return (folder / "real.onnx").read_bytes()


def huge_dimensions(model: onnx.ModelProto, chance: random.Random) -> None:
    tensor = chance.choice(model.graph.initializer)
    tensor.dims[:] = [chance.choice(HUGE) for _ in range(chance.choice([1, 2, 4]))]
    rows = model.graph.input[0].type.tensor_type.shape.dim
    rows[-1].dim_value = chance.choice(HUGE)


def data_in_another_file(model: onnx.ModelProto, chance: random.Random) -> None:
    tensor = chance.choice(model.graph.initializer)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", chance.choice(ELSEWHERE)), ("offset", "0"), ("length", "99")):
        tensor.external_data.add(key=key, value=value)


def a_cycle(model: onnx.ModelProto, chance: random.Random) -> None:
    nodes = model.graph.node
    chance.choice(nodes).input[0] = chance.choice(nodes).output[0]


def graphs_in_graphs(model: onnx.ModelProto, chance: random.Random) -> None:
    graph = model.graph
    for _ in range(chance.randrange(2, DEEPEST)):
        node = helper.make_node("If", ["yes"], ["out"], then_branch=graph, else_branch=None)
        graph = helper.make_graph([node], "inner", [], [])
    model.graph.CopyFrom(graph)


def code_of_others(model: onnx.ModelProto, chance: random.Random) -> None:
    node = chance.choice(model.graph.node)
    node.domain = chance.choice(["ai.onnx.contrib", "com.microsoft", "os.system"])
    node.op_type = chance.choice(["PyOp", "os.system", ""])


WAYS = [huge_dimensions, data_in_another_file, a_cycle, graphs_in_graphs, code_of_others]


def mutate(content: bytes, chance: random.Random) -> bytes:
    """One more variant."""
    if chance.random() < 0.8:
        model = onnx.load_from_string(content)
        chance.choice(WAYS)(model, chance)
        content = model.SerializeToString()
    way = chance.randrange(4)
    if way == 0:
        return damaged(content, chance)
    if way == 1:  # behind a header of ours
        structure = json.dumps({"format": 1, "encoder": {}})
        array = {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)]}
        return join({"__metadata__": {"lifelong": structure}, "graph": array}, content)
    if way == 2:  # as a header
        return len(content).to_bytes(8, "little") + content
    return content


def refusals(content: bytes, folder: Path, *, measured: bool = False) -> Counter[str]:
    """Every door that takes an encoder says no, with one error, and touches nothing else."""
    figures: Counter[str] = Counter()
    for name in ("graph.onnx", "graph.ONNX", "graph.encoder"):
        path = folder / name
        path.write_bytes(content)
        # A name that says ONNX is enough: such a file is not even opened.
        allowed = folder if name.endswith(".encoder") else folder / "nothing"
        if measured:
            tracemalloc.start()
        try:
            with nothing_else_touched(allowed):
                import_encoder(path)
        except PersistenceError as error:
            figures["unread" if "for other programs" in str(error) else "refused"] += 1
        else:
            raise AssertionError(f"{name} was taken for an encoder")
        finally:
            path.unlink()
            if measured:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak <= 2 * len(content) + SLACK, f"{peak} bytes for {len(content)}"
    return figures
