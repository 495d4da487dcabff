"""The references' networks (torch): built anew from the learner's own parameters and tasks, then
filled from files.
"""

import re
from typing import Any

import numpy as np
import torch

from lifelong.nets.randomness import private_randomness
from lifelong.persistence.checking import Arrays, Name, expect, keys
from lifelong.persistence.directory import FileRef
from lifelong.persistence.hollow import built_hollow, device_here, filled, tensors_of
from lifelong.persistence.kinds import unpacked
from lifelong.persistence.known import note, noted
from lifelong.persistence.states import ElsewherePlace, Frame, Loading, Node, Saving, files_in
from lifelong.persistence.text import Json, from_json
from lifelong.references.base import MultiTask, SharedTrunk
from lifelong.references.model_zoo import Member, Zoo
from lifelong.references.modular import ModularNetwork, Prior
from lifelong.references.single import Separate
from lifelong.schema import Several, Whole

# What no later task changes gets its own file.
_GROUP = re.compile(r"(?:columns|members|networks|parts)\.\d+(?=\.)")
_NUMBERS = Several(Whole(0, 2**31))


def _structure(model: MultiTask) -> Json:
    """What a network is made of, beyond the learner's parameters and tasks."""
    if isinstance(model, ModularNetwork):
        modules = [len(layer.modules_) for layer in model.modular_layers()]
        priors = [
            [len(mean) for mean in prior.layers()]
            for prior in model.priors
            if isinstance(prior, Prior)
        ]
        return {"modules": modules, "priors": priors}
    if isinstance(model, Zoo):
        members = [member for member in model.members if isinstance(member, Member)]
        return {"members": [[member.tasks, _widths(member.network)] for member in members]}
    if isinstance(model, Separate):
        return {
            "members": [
                [[number], _widths(network)] for number, network in enumerate(model.networks)
            ]
        }
    return {}


def _widths(network: Any) -> list[int]:
    return [head.out_features for head in network.heads]


def _rebuild(frame: Frame, structure: Json, inputs: torch.Tensor, n_tensors: int) -> MultiTask:
    """A network of the same structure."""
    learner: Any = frame.learner
    tasks = frame.tasks
    model: MultiTask = learner._fresh(inputs)
    wanted = set()
    if isinstance(model, ModularNetwork):
        wanted = {"modules", "priors"}
    elif isinstance(model, Zoo | Separate):
        wanted = {"members"}
    keys(structure, wanted, "the network's structure")
    if isinstance(model, ModularNetwork):
        _add_modules(model, structure, len(tasks), n_tensors)
    for number, record in enumerate(tasks.values()):
        model.grow(number, len(record.classes))
    if isinstance(model, Zoo | Separate):
        expect(isinstance(structure["members"], list), "members", "is not a list")
        members = [_member(frame, node, inputs) for node in structure["members"]]
        if isinstance(model, Separate):
            alone = all(tasks == [number] for number, (tasks, _) in enumerate(structure["members"]))
            expect(alone and len(members) == len(tasks), "members", "is not one network per task")
            return Separate(member.network for member in members)
        known = {task for member in members for task in member.tasks}
        expect(known == set(range(len(tasks))), "members", "do not know exactly the known tasks")
        return Zoo(members)
    return model


def _add_modules(model: ModularNetwork, structure: Json, n_tasks: int, n_tensors: int) -> None:
    layers = model.modular_layers()
    counts = unpacked(Several(Whole(1, n_tensors)), structure["modules"], "modules")
    priors = unpacked(Several(Several(Whole(1, n_tensors))), structure["priors"], "priors")
    fit = (
        len(counts) == len(layers)
        and len(priors) == n_tasks
        and all(len(prior) == len(layers) for prior in priors)
    )
    fit = fit and all(
        length <= count for prior in priors for length, count in zip(prior, counts, strict=True)
    )
    expect(fit, "modules", "do not fit the network's layers and tasks")
    for layer, count in zip(layers, counts, strict=True):
        for _ in range(count - 1):
            layer.add_module_()
    model.priors.extend(Prior([torch.zeros(length) for length in prior]) for prior in priors)


def _member(frame: Frame, node: Json, inputs: torch.Tensor) -> Member:
    expect(isinstance(node, list) and len(node) == 2, "a member", "is not tasks and classes")
    tasks = list(unpacked(_NUMBERS, node[0], "a member"))
    widths = list(unpacked(_NUMBERS, node[1], "a member"))
    records = list(frame.tasks.values())
    learner: Any = frame.learner
    known = all(
        task < len(records) and width <= len(records[task].classes)
        for task, width in zip(tasks, widths, strict=False)
    )
    expect(
        len(tasks) == len(widths) == len(set(tasks)) > 0 and known,
        "a member",
        "has heads of other tasks",
    )
    network = SharedTrunk.fresh(
        learner.network, learner.width, inputs, learner._recipe(), getattr(learner, "dropout", 0.0)
    )
    for head, width in enumerate(widths):
        network.grow(head, width)
    return Member(network, tasks)


def _save(value: MultiTask, name: Name | None, to: Saving) -> Json:
    """``{"structure", "frozen", "files"}``; what later tasks leave alone has files of its own."""
    node = noted(value)
    if isinstance(node, Node) and to.reuse(files_in(node)):
        return node
    tensors = Arrays()
    groups: dict[str, Arrays] = {}
    tensors_of(value, tensors)
    for key, array in tensors.items():
        found = _GROUP.match(key)
        group = ""
        if found:
            group = found[0]
        groups.setdefault(group, Arrays())[key] = array
    files = [list(to.put("network", {}, arrays, _take_all)) for arrays in groups.values()]
    frozen = [key for key, weight in value.named_parameters() if not weight.requires_grad]
    node = Node(structure=_structure(value), frozen=frozen, files=files)
    _assembled(
        from_json(node.text.encode()), tensors, to.frame
    )  # what could not be loaded is not saved
    note(value, node)
    return node


def _load(node: Json, name: Name | None, loading: Loading) -> MultiTask:
    keys(node, {"structure", "frozen", "files"}, "the network")
    lists = isinstance(node["files"], list) and isinstance(node["frozen"], list)
    expect(lists, "the network", "has no files")
    tensors: dict[str, Any] = {}
    for ref in map(FileRef.from_json, node["files"]):
        more = loading.read(ref, _take_all)
        expect(not set(more) & set(tensors), "the network", "has a tensor twice")
        tensors |= more
    model = _assembled(node, tensors, loading.frame)
    note(model, node)
    return model


def _assembled(node: Json, tensors: dict[str, Any], frame: Frame) -> MultiTask:
    """The network that a node describes, filled with tensors."""
    learner: Any = frame.learner
    structure = node["structure"]
    n = len(tensors)
    if callable(learner.network):
        with private_randomness(np.random.default_rng(0)):
            model = _rebuild(frame, structure, torch.zeros(1, *frame.in_shape), n)
    else:

        def rebuilt() -> MultiTask:
            return _rebuild(frame, structure, torch.empty(1, *frame.in_shape), n)

        model = built_hollow(rebuilt, n)
    model = filled(model, tensors, device_here(learner.device))
    frozen = {str(key) for key in node["frozen"]}
    names = {key for key, _ in model.named_parameters()}
    expect(frozen <= names, "frozen", "names something that is no weight")
    for key, weight in model.named_parameters():
        weight.requires_grad_(key not in frozen)
    return model


NETWORKS = ElsewherePlace(_save, _load)


def _take_all(structure: Json, arrays: Arrays) -> dict[str, Any]:
    expect(structure == {}, "the network", "has a structure")
    return {name: arrays.take(name) for name in list(arrays)}
