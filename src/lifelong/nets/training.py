"""The one training loop."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong._labels import Codes
from lifelong._progress import progress
from lifelong._validation import Rows
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import Network, Standardise, build
from lifelong.nets.augmentation import Augment, Output
from lifelong.nets.once import train_once
from lifelong.nets.precision import settled
from lifelong.nets.randomness import one_thread, private_randomness
from lifelong.nets.recipe import Recipe
from lifelong.nets.stopping import BatchLoss, batch_norm_of, until_no_better
from lifelong.nets.warm_start import begin_at

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_ROWS_AT_ONCE = 500
_COPIED = 256 * 2**20  # bytes of rows of which training may make a copy
# What convolutions make of more pixels does not stay in the cache: they take up to twice as long.
_PIXELS_AT_ONCE = 2**17


class Start(NamedTuple):
    """A network to begin at, and how many of its first answers stay what they are."""

    network: nn.Module
    same_answers: int = 0


def fit_classifier(
    X: Rows,
    y: Codes,
    *,
    network: Network,
    width: float = 1.0,
    recipe: Recipe,
    rng: np.random.Generator,
    device: torch.device,
    weights: NDArray[np.float64] | None = None,
    start: Start | None = None,
) -> tuple[nn.Sequential, nn.Linear]:
    """A fresh body (standardised input → representation) and softmax head, trained on the rows,
    ``weights`` or not.

    With ``start`` they begin with the weights of another network.
    """
    if len(X) == 1:  # batch norm cannot learn from one row, but from the same row twice
        X = np.repeat(X, 2, axis=0)
        y = np.repeat(y, 2)
        weights = None
    with one_thread(), private_randomness(rng):
        inputs = torch.from_numpy(X).to(device)
        targets = torch.from_numpy(y).to(device)
        body = nn.Sequential(front(inputs, recipe), build(network, X.shape[1:], width)).to(device)
        head = nn.Linear(n_outputs(body, inputs), int(y.max()) + 1).to(device)
        if start is not None:
            begin_at(body, head, start.network, start.same_answers)
        learning, rows = _without_front(body, inputs, channels_last=network in ("auto", "cnn"))
        model = nn.Sequential(learning, head)
        recipe = settled(recipe, model)
        if weights is None:
            train_once(
                model,
                lambda: _fit(
                    model,
                    lambda some: cross_entropy(model(rows[some]), targets[some]),
                    len(rows),
                    recipe,
                ),
                rows,
                targets,
                recipe,
            )
        else:
            w = torch.from_numpy(weights / weights.mean()).float().to(device)
            _fit(
                model,
                lambda some: _weighted_loss(model(rows[some]), targets[some], w[some]),
                len(w),
                recipe,
            )
        body.eval()
    return body, head


def _fit(model: nn.Module, batch_loss: BatchLoss, n_rows: int, recipe: Recipe) -> None:
    """Train in place with the recipe's batch norm; with patience, until held-out rows say so."""
    with batch_norm_of(model, recipe):
        if recipe.patience is None:
            optimise(model, batch_loss, n_rows, recipe)
            return
        optimiser = make_optimiser(model, recipe)  # one for all epochs
        epoch = partial(optimise, optimiser=optimiser)
        until_no_better(model, batch_loss, n_rows, recipe, epoch)


def _without_front(
    body: nn.Sequential, inputs: torch.Tensor, *, channels_last: bool
) -> tuple[nn.Module, torch.Tensor]:
    """What there is to train, and its rows: standardised once and not in every batch, if a copy of
    them is small.
    """
    front, network = body
    if not isinstance(front, Standardise) or inputs.nbytes > _COPIED:
        return body, inputs
    with torch.no_grad():
        rows = front(inputs)
    if channels_last and rows.ndim == 4:
        rows = rows.to(memory_format=torch.channels_last)
    return network, rows


def _weighted_loss(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    return (weights * cross_entropy(logits, targets, reduction="none")).mean()


def front(inputs: torch.Tensor, recipe: Recipe) -> nn.Module:
    """What every network begins with: standardised rows; while training, augmented ones if the
    recipe says so.
    """
    if not recipe.augment or inputs.ndim != 4:
        return Standardise(inputs)
    return nn.Sequential(Augment(inputs), Standardise(inputs))


def train(
    model: nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor, recipe: Recipe
) -> None:
    """Train ``model`` in place; the caller has arranged torch's randomness and threads."""
    optimise(model, lambda rows: loss(model(inputs[rows]), targets[rows]), len(inputs), recipe)


def optimise(
    model: nn.Module,
    batch_loss: BatchLoss,
    n_rows: int,
    recipe: Recipe,
    *,
    optimiser: torch.optim.Optimizer | None = None,
    before_step: Callable[[], None] | None = None,
    after_step: Callable[[], None] | None = None,
) -> None:
    """The loop itself: ``batch_loss`` of row numbers 0 … n_rows-1, a batch at a time, made small.

    ``before_step`` may change the gradients, ``after_step`` sees the weights that they led to. A
    parameter that the loss does not reach has no gradient and stays as it is. ``optimiser`` takes
    the place of the recipe's.
    """
    optimiser = optimiser or make_optimiser(model, recipe)
    precision = _precision(model, recipe)
    total = n_steps(n_rows, recipe)
    model.train()
    with progress(total, "training a network") as bar:
        for step, rows in enumerate(islice(_passes(n_rows, recipe.batch_size), total)):
            if recipe.schedule != "constant":
                for group in optimiser.param_groups:
                    group["lr"] = recipe.rate(step / total)
            optimiser.zero_grad(set_to_none=True)
            with precision:
                loss = batch_loss(rows)
            loss.backward()  # type: ignore[no-untyped-call]
            if before_step is not None:
                before_step()
            optimiser.step()
            if after_step is not None:
                after_step()
            bar.advance()
    model.eval()


def _precision(model: nn.Module, recipe: Recipe) -> torch.autocast:
    """What the forward pass runs in; torch's losses stay in full precision."""
    device = next((weight.device.type for weight in model.parameters()), "cpu")
    half = settled(recipe, model).precision == "bfloat16"
    return torch.autocast(device, dtype=torch.bfloat16, enabled=half)


def n_steps(n_rows: int, recipe: Recipe) -> int:
    """How many batches the recipe takes from so many rows."""
    return recipe.iterations or recipe.epochs * steps_per_pass(n_rows, recipe)


def steps_per_pass(n_rows: int, recipe: Recipe) -> int:
    """How many batches one pass over so many rows takes."""
    return len(_batch_starts(n_rows, recipe.batch_size))


def make_optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser, new for every training: none is ever shared between tasks."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(
            weights,
            lr=recipe.lr,
            momentum=recipe.momentum,
            nesterov=recipe.momentum > 0,
            weight_decay=recipe.weight_decay,
        )
    if recipe.optimiser == "rmsprop":
        return torch.optim.RMSprop(weights, lr=recipe.lr, weight_decay=recipe.weight_decay)
    return torch.optim.Adam(weights, lr=recipe.lr, weight_decay=recipe.weight_decay, fused=True)


def _passes(n: int, size: int) -> Iterator[torch.Tensor]:
    """Pass after pass over the rows, without end."""
    while True:
        yield from batches(n, size)


def batches(n: int, size: int) -> Iterator[torch.Tensor]:
    """Row numbers 0 … n-1 in random order, so many at a time.

    A last batch of a single row joins the one before it: batch norm cannot learn from one row.
    """
    order = torch.randperm(n)
    starts = _batch_starts(n, size)
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        yield order[start:end]


def _batch_starts(n: int, size: int) -> list[int]:
    starts = list(range(0, n, size))
    if len(starts) > 1 and n - starts[-1] == 1:
        return starts[:-1]
    return starts


@torch.inference_mode()
def n_outputs(body: nn.Module, inputs: torch.Tensor) -> int:
    """How many neurons ``body`` ends in."""
    was_training = body.training
    body.eval()
    width = body(inputs[:1]).shape[1]
    body.train(was_training)
    return int(width)


@torch.inference_mode()
def forward(output: Output, X: Rows, *, device: torch.device) -> Rows:
    """``output`` (of a model in eval mode) for all rows, a chunk at a time."""
    chunk = _ROWS_AT_ONCE
    if X.ndim == 4:
        # a multiple of 32: kernels like round numbers
        chunk = 32 * max(1, _PIXELS_AT_ONCE // (32 * math.prod(X.shape[2:])))
    with one_thread():
        starts = range(0, len(X), chunk)
        outputs = [
            output(torch.from_numpy(X[start : start + chunk]).to(device)) for start in starts
        ]
        return np.asarray(torch.cat(outputs).float().cpu().numpy())


def _existing(device: str) -> torch.device:
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ParameterError(
            f"device={device!r} cannot be used here: {reason} Choose 'auto' or 'cpu'."
        ) from None
    return found


def choose_device(device: str) -> torch.device:
    """``"auto"`` is the GPU where there is one; what is not there is an error."""
    if device != "auto":
        return _existing(device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")
