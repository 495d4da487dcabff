"""How much the pieces of an image look like patches: one layer that no gradient has trained."""

from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import adaptive_avg_pool2d, avg_pool2d, conv2d


class LikePatches(nn.Module):
    """Images (n, c, h, w) → (n, d): how much each cell of an image is like each filter.

    Every piece of an image is compared after its brightness and contrast are taken out. Likeness
    counts from a threshold on, and so does unlikeness; both are averaged over the cells of grids.

    Parameters
    ----------
    filters : (K, c, s, s)
        What is multiplied with each piece; each has the mean 0.
    offsets : (K,)
        What is taken away from the products.
    flat : float
        The variance of pixels below which a piece counts as flat.
    shrink : int
        Images are averaged down by this factor first.
    mirrors : bool
        Whether the answer is the mean over an image and its mirror image.
    """

    GRIDS: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    THRESHOLD: ClassVar[float] = 1.0
    AT_ONCE: ClassVar[int] = 4

    filters: torch.Tensor
    offsets: torch.Tensor
    flat: torch.Tensor

    def __init__(
        self,
        filters: torch.Tensor,
        offsets: torch.Tensor,
        *,
        flat: float,
        shrink: int,
        mirrors: bool,
    ) -> None:
        super().__init__()
        self.register_buffer("filters", filters)
        self.register_buffer("offsets", offsets)
        self.register_buffer("flat", torch.tensor(flat))
        self.shrink = shrink
        self.mirrors = mirrors

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # a few images at once: what is between two steps stays in the processor's cache
        return torch.cat([self._of_few(few) for few in torch.split(x, self.AT_ONCE)])

    def _of_few(self, x: torch.Tensor) -> torch.Tensor:
        if self.shrink > 1:
            x = avg_pool2d(x, self.shrink)
        x = x - x.mean(dim=(1, 2, 3), keepdim=True)  # small numbers have small errors
        like = self._in_cells(x)
        if self.mirrors:
            like = (like + self._in_cells(x.flip(3))) / 2
        return like

    def _in_cells(self, x: torch.Tensor) -> torch.Tensor:
        like = self._likeness(x)
        like = torch.cat([like - self.THRESHOLD, -like - self.THRESHOLD], dim=1).relu_()
        grids = [grid for grid in self.GRIDS if grid <= min(like.shape[2:])]
        cells = [adaptive_avg_pool2d(like, grid).flatten(1) for grid in grids]
        # roots, as of counts; each grid has the same share in a row's length
        return torch.cat([torch.sqrt(of_grid / of_grid.shape[1]) for of_grid in cells], dim=1)

    def _likeness(self, x: torch.Tensor) -> torch.Tensor:
        """Products of the filters with each piece, over its spread.

        Filters have the mean 0, so the mean of a piece has no part in them.
        """
        size = self.filters.shape[-1]
        mean = avg_pool2d(x.mean(dim=1, keepdim=True), size, stride=1)
        square = avg_pool2d((x * x).mean(dim=1, keepdim=True), size, stride=1)
        spread = torch.sqrt((square - mean * mean).clamp(min=0) + self.flat)
        return conv2d(x, self.filters).div_(spread).sub_(self.offsets[:, None, None])

    def n_columns(self, in_shape: tuple[int, ...]) -> int:
        """Of the representation of an image (c, h, w)."""
        side = min(in_shape[1:]) // self.shrink - self.filters.shape[-1] + 1
        return 2 * len(self.filters) * sum(grid**2 for grid in self.GRIDS if grid <= side)
