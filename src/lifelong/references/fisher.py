"""The diagonal of the Fisher information: how much a weight matters for what the network says."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.functional import cross_entropy, unfold

from lifelong.nets.architectures import Standardise
from lifelong.nets.augmentation import Augment
from lifelong.references.base import Round, SharedTrunk, Tensors


def diagonal_fisher(model: SharedTrunk, now: Round, max_rows: int) -> Tensors:
    """F_i = E_x Σ_y p(y|x) (∂ −log p(y|x) / ∂θ_i)² of the trunk, over at most ``max_rows`` rows.

    Labels come from the model's own distribution over the task's head, all of them, weighted; the
    network is in eval mode, so batch-norm statistics do not move. The expectation divides by the
    number of rows.
    """
    model.eval()
    rows = now.inputs[torch.randperm(len(now.inputs))[:max_rows]]
    of_rows = _row_by_row
    if _all_layers_known(model.trunk):
        of_rows = _by_layers
    total = [torch.zeros_like(weight) for weight in model.trunk.parameters()]
    for chunk in torch.split(rows, 50):
        for F, F_chunk in zip(total, of_rows(model, chunk, now.task), strict=True):
            F += F_chunk
    return tuple(F / len(rows) for F in total)


def _weighted_losses(logits: torch.Tensor) -> Iterator[torch.Tensor]:
    """For each label y: Σ_n √p(y|x_n) · (−log p(y|x_n)): a squared gradient has its weight p."""
    log_p = logits.log_softmax(dim=1)  # (n, K)
    for log_p_y in log_p.unbind(dim=1):
        yield -((log_p_y.detach() / 2).exp() * log_p_y).sum()


def _row_by_row(model: SharedTrunk, rows: torch.Tensor, task: int) -> list[torch.Tensor]:
    """Σ_x Σ_y p(y|x) (∂ −log p(y|x) / ∂θ)², one gradient per row and label: any network, slowly."""
    weights = list(model.trunk.parameters())
    total = [torch.zeros_like(weight) for weight in weights]
    for row in torch.split(rows, 1):
        for loss in _weighted_losses(model(row, task)):
            gradients = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
            for F, g in zip(total, gradients, strict=True):
                if g is not None:
                    F += g**2
    return total


def _by_layers(model: SharedTrunk, rows: torch.Tensor, task: int) -> list[torch.Tensor]:
    """The same sum for known layers, all rows at once: a row's gradient follows from a layer's
    input and ∂output.
    """
    total = {weight: torch.zeros_like(weight) for weight in model.trunk.parameters()}
    with _recorded(model.trunk) as calls:
        logits = model(rows, task)
    outputs = [output for _, _, output in calls]
    for loss in _weighted_losses(logits):
        deltas = torch.autograd.grad(loss, outputs, retain_graph=True)
        for (layer, given, _), delta in zip(calls, deltas, strict=True):
            for weight, F in zip(
                layer.parameters(), _RULES[type(layer)](layer, given, delta), strict=True
            ):
                total[weight] += F.view_as(weight)
    return list(total.values())


@contextmanager
def _recorded(trunk: nn.Module) -> Iterator[list[tuple[nn.Module, torch.Tensor, torch.Tensor]]]:
    """Inside the block the trunk's layers with weights note (layer, input, output) when called."""
    calls: list[tuple[nn.Module, torch.Tensor, torch.Tensor]] = []
    hooks = [
        layer.register_forward_hook(
            lambda layer, given, output: calls.append((layer, given[0].detach(), output))
        )
        for layer in _layers(trunk)
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def _linear(
    _: nn.Module, given: torch.Tensor, delta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Row n's gradient is δ_n ⊗ a_n, so the sum of squares is a product of squares."""
    return (delta**2).T @ given**2, (delta**2).sum(dim=0)


def _convolution(
    layer: nn.Module, given: torch.Tensor, delta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Row n's gradient sums over places before it is squared."""
    assert isinstance(layer, nn.Conv2d)
    patches = unfold(given, layer.kernel_size, layer.dilation, layer.padding, layer.stride)  # type: ignore[arg-type]
    gradient = delta.flatten(2) @ patches.transpose(1, 2)  # (n, out, in·k·k)
    return (gradient**2).sum(dim=0), (delta.flatten(2).sum(dim=2) ** 2).sum(dim=0)


def _batch_norm(
    layer: nn.Module, given: torch.Tensor, delta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """In eval mode: output = γ x̂ + β, with x̂ from the running statistics."""
    assert isinstance(layer, nn.BatchNorm2d)
    assert layer.running_mean is not None
    assert layer.running_var is not None
    mean = layer.running_mean[:, None, None]
    scale = (layer.running_var + layer.eps).sqrt()[:, None, None]
    standardised = (given - mean) / scale
    for_gamma = (delta * standardised).sum(dim=(2, 3))  # (n, channels)
    for_beta = delta.sum(dim=(2, 3))
    return (for_gamma**2).sum(dim=0), (for_beta**2).sum(dim=0)


_Rule = Callable[[nn.Module, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
_RULES: dict[type[nn.Module], _Rule] = {
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
    nn.BatchNorm2d: _batch_norm,
}


def _layers(trunk: nn.Module) -> list[nn.Module]:
    """The layers that own weights."""
    return [
        layer for layer in trunk.modules() if any(True for _ in layer.parameters(recurse=False))
    ]


def _all_layers_known(module: nn.Module) -> bool:
    """Whether it is a chain of plain layers with weight and bias, each called once, like ours."""
    if isinstance(module, nn.Sequential):
        return all(map(_all_layers_known, module))
    if isinstance(module, nn.Conv2d) and (
        module.groups > 1 or module.padding_mode != "zeros" or module.padding == "same"
    ):
        return False
    known = type(module) in _RULES and len(list(module.parameters())) == 2
    return known or isinstance(module, Augment | Standardise | nn.ReLU | nn.Flatten)


def batched_fisher(
    model: nn.Module, weights: Sequence[torch.Tensor], now: Round, batch_size: int
) -> Tensors:
    """The empirical Fisher: mean over batches of (∂CE of the batch / ∂θ)², with the true labels.

    Dropout is at work, as in training: without it rows that are fitted have no gradient, and a
    penalty that is made of gradients vanishes. Batch-norm statistics do not move. Smaller than
    :func:`diagonal_fisher` by about the batch size, so a penalty's strength does not carry over.
    """
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    total = [torch.zeros_like(weight) for weight in weights]
    chunks = torch.split(torch.randperm(len(now.inputs)), batch_size)
    for batch in chunks:
        loss = cross_entropy(model(now.inputs[batch], now.task), now.targets[batch])
        for F, g in zip(total, torch.autograd.grad(loss, weights), strict=True):
            F += g**2 / len(chunks)
    model.eval()
    return tuple(total)
