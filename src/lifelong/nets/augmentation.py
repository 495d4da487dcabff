"""Augmentation of training images: small shifts; mirroring where mirrored rows look like rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.functional import pad

Output = Callable[[torch.Tensor], torch.Tensor]

_COMPARED = 1000  # rows that decide whether images may be mirrored


class Augment(nn.Module):
    """While training, shift each image by up to an eighth of its side and, where that is safe,
    mirror every other one.

    What is safe is learnt from the training rows, see :func:`may_be_mirrored`. Then predictions,
    too, are averaged over an image and its mirror image (:func:`both_sides`).
    """

    mirrors: torch.Tensor

    def __init__(self, X: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mirrors", torch.tensor(may_be_mirrored(X)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The images as they are (when predicting), or changed at random (while training)."""
        if not self.training:
            return x
        if self.mirrors:
            mirrored = (torch.rand(len(x)) < 0.5).to(x.device)  # (n,)
            x = torch.where(mirrored[:, None, None, None], x.flip(3), x)
        return shifted(x)


def _augmentations(model: nn.Module) -> list[Augment]:
    return [module for module in model.modules() if isinstance(module, Augment)]


def augmented(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The rows as the model would change them now: in eval mode, or without augmentation, not at
    all.
    """
    for augmentation in _augmentations(model):
        x = augmentation(x)
    return x


@contextmanager
def rows_as_they_are(model: nn.Module) -> Iterator[None]:
    """Inside the block the model changes no rows, even while it is trained."""
    training = [module for module in _augmentations(model) if module.training]
    for augmentation in training:
        augmentation.eval()
    try:
        yield
    finally:
        for augmentation in training:
            augmentation.train()


def shifted(x: torch.Tensor) -> torch.Tensor:
    """Each image (n, c, h, w) moved by up to an eighth of its side both ways; edges reflected."""
    n, channels, height, width = x.shape
    up = height // 8
    left = width // 8
    padded = pad(x, (left, left, up, up), mode="reflect")
    rows = torch.randint(2 * up + 1, (n, 1)) + torch.arange(height)  # (n, h)
    columns = torch.randint(2 * left + 1, (n, 1)) + torch.arange(width)  # (n, w)
    every = torch.arange(n)[:, None, None, None], torch.arange(channels)[None, :, None, None]
    return padded[(*every, rows[:, None, :, None], columns[:, None, None, :])]


def both_sides(model: nn.Module, output: Output | None = None) -> Output:
    """The model's output (or ``output``); of one that was trained on mirror images, too, the mean
    over both sides.
    """
    output = output or model
    if not any(bool(augmentation.mirrors) for augmentation in _augmentations(model)):
        return output
    return lambda x: (output(x) + output(x.flip(3))) / 2


@torch.no_grad()
def may_be_mirrored(X: torch.Tensor) -> bool:
    """Whether mirror images are as near to other rows as the rows themselves are.

    No labels are looked at.

    Photographs pass: a row is nearer than its mirror image about half of the time. Digits, letters,
    shoes and spectrograms do not. Two standard errors above a half are too much.
    """
    X = X[:: -(-len(X) // _COMPARED)]
    grey = X.mean(dim=1).flatten(1)
    grey = grey - grey.mean(dim=1, keepdim=True)
    # brightness and contrast say nothing about the side
    grey = grey / grey.norm(dim=1, keepdim=True).clamp(min=1e-6)
    mirrored = grey.unflatten(1, X.shape[2:]).flip(2).flatten(1)
    distance, from_mirror = (
        torch.cdist(rows, grey).fill_diagonal_(torch.inf) for rows in (grey, mirrored)
    )
    nearer = distance.min(dim=1).values < from_mirror.min(dim=1).values
    return bool(nearer.float().mean() <= 0.5 + len(X) ** -0.5)
