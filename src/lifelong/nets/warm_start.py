"""Networks that begin where another one has ended."""

from torch import nn


def learnt_layers(network: nn.Module) -> list[nn.Module]:
    """The layers that have weights, in the order in which a row meets them.

    >>> [type(layer).__name__ for layer in learnt_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))]
    ['Linear']
    """
    return [
        module
        for module in network.modules()
        if any(True for _ in module.parameters(recurse=False))
    ]


def begin_at(body: nn.Module, head: nn.Linear, known: nn.Module, same_answers: int) -> None:
    """Give a fresh body and head, in place, the weights of a network that has learnt.

    ``known`` may have its layers in another arrangement (side by side, as
    :func:`~lifelong.nets.architectures.middle` has them) but in the same order; where it keeps a
    head, that comes last. Layers of another size are left as they are.

    Parameters
    ----------
    body, head : nn.Module
        Fresh ones; they are changed.
    known : nn.Module
        The network that has learnt.
    same_answers : int
        So many of the first answers of both heads are about the same classes.
    """
    fresh = learnt_layers(body)
    learnt = learnt_layers(known)
    for layer, other in zip(fresh, learnt, strict=False):
        if _sizes(layer) == _sizes(other):
            layer.load_state_dict(other.state_dict())
    rest = learnt[len(fresh) :]
    if not rest or not same_answers:
        return
    old_head = rest[-1]
    if isinstance(old_head, nn.Linear) and old_head.in_features == head.in_features:
        head.weight.data[:same_answers] = old_head.weight.data[:same_answers]
        head.bias.data[:same_answers] = old_head.bias.data[:same_answers]


def _sizes(layer: nn.Module) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(tensor.shape)) for name, tensor in layer.state_dict().items()]
