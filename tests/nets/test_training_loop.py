"""The one training loop, its recipe, and the sizes of the networks it trains."""

import math
import time

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lifelong import Recipe
from lifelong.exceptions import ParameterError
from lifelong.nets.architectures import build, layer_sizes
from lifelong.nets.randomness import one_thread, private_randomness
from lifelong.nets.training import batches, make_optimiser, n_steps, optimise, train


def some_rows(n: int = 21) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.randn(n, 4, generator=torch.Generator().manual_seed(0))
    return inputs, (inputs[:, 0] > 0).long()


def a_model() -> nn.Linear:
    with private_randomness(np.random.default_rng(0)):
        return nn.Linear(4, 2)


def test_iterations_count_steps_and_epochs_count_passes() -> None:
    assert (
        n_steps(21, Recipe(epochs=3, batch_size=10)) == 6
    )  # the last batch of one row joins the one before
    assert n_steps(25, Recipe(epochs=3, batch_size=10)) == 9
    assert n_steps(21, Recipe(iterations=7, batch_size=10)) == 7
    seen: list[int] = []
    model = a_model()
    inputs, targets = some_rows()

    def loss(rows: torch.Tensor) -> torch.Tensor:
        seen.extend(rows.tolist())
        return cross_entropy(model(inputs[rows]), targets[rows])

    optimise(model, loss, 21, Recipe(iterations=4, batch_size=10))
    assert (
        sorted(seen[:21]) == sorted(seen[21:]) == list(range(21))
    )  # two whole passes, in two orders
    assert seen[:21] != seen[21:]


def test_no_batch_has_a_single_row_unless_there_is_only_one() -> None:
    assert [len(rows) for rows in batches(21, 10)] == [10, 11]
    assert [len(rows) for rows in batches(1, 10)] == [1]


def test_the_loop_is_the_plain_pytorch_loop_bit_for_bit() -> None:
    inputs, targets = some_rows()
    recipe = Recipe(epochs=3, batch_size=10, lr=0.01)
    ours = a_model()
    plain = a_model()
    with private_randomness(np.random.default_rng(1)):
        train(ours, cross_entropy, inputs, targets, recipe)
    with private_randomness(np.random.default_rng(1)):
        optimiser = torch.optim.Adam(plain.parameters(), lr=0.01, fused=True)
        for _ in range(3):
            for rows in batches(21, 10):
                optimiser.zero_grad()
                cross_entropy(plain(inputs[rows]), targets[rows]).backward()
                optimiser.step()
    assert torch.equal(ours.weight, plain.weight)
    assert not ours.training


def test_half_precision_trains_full_precision_weights_to_nearly_the_same_answers() -> None:
    inputs, targets = some_rows(200)
    losses = []
    weights = []
    for precision in ("float32", "bfloat16"):
        model = a_model()
        with private_randomness(np.random.default_rng(1)):
            train(
                model,
                cross_entropy,
                inputs,
                targets,
                Recipe(epochs=20, lr=0.01, precision=precision),
            )  # type: ignore[arg-type]
        assert model.weight.dtype == torch.float32
        losses.append(float(cross_entropy(model(inputs), targets).detach()))
        weights.append(model.weight)
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert not torch.equal(*weights)


def test_hooks_run_before_and_after_each_step() -> None:
    model = a_model()
    inputs, targets = some_rows()
    log: list[tuple[str, float]] = []
    optimise(
        model,
        lambda rows: cross_entropy(model(inputs[rows]), targets[rows]),
        21,
        Recipe(iterations=2, batch_size=30, optimiser="sgd", lr=0.1),
        before_step=lambda: log.append(("before", float(model.bias[0].detach()))),
        after_step=lambda: log.append(("after", float(model.bias[0].detach()))),
    )
    assert [when for when, _ in log] == ["before", "after"] * 2
    assert log[0][1] != log[1][1] == log[2][1] != log[3][1]


def test_before_step_may_change_the_gradients() -> None:
    model = a_model()
    inputs, targets = some_rows()
    weight = model.weight.detach().clone()
    optimise(
        model,
        lambda rows: cross_entropy(model(inputs[rows]), targets[rows]),
        21,
        Recipe(iterations=3, optimiser="sgd", lr=0.1),
        before_step=lambda: model.weight.grad.zero_(),
    )
    assert torch.equal(model.weight, weight)


def test_the_cosine_falls_from_the_learning_rate_to_almost_nothing() -> None:
    model = a_model()
    inputs, targets = some_rows()
    recipe = Recipe(iterations=8, optimiser="sgd", lr=0.2, schedule="cosine")
    optimiser = make_optimiser(model, recipe)
    rates: list[float] = []
    optimise(
        model,
        lambda rows: cross_entropy(model(inputs[rows]), targets[rows]),
        21,
        recipe,
        optimiser=optimiser,
        after_step=lambda: rates.append(optimiser.param_groups[0]["lr"]),
    )
    assert rates == pytest.approx([0.1 * (1 + math.cos(math.pi * step / 8)) for step in range(8)])


@pytest.mark.parametrize(
    ("optimiser", "kind"),
    [("adam", torch.optim.Adam), ("sgd", torch.optim.SGD), ("rmsprop", torch.optim.RMSprop)],
)
def test_each_optimiser_trains_only_what_requires_a_gradient(optimiser: str, kind: type) -> None:
    model = nn.Sequential(nn.Linear(4, 3).requires_grad_(False), nn.Linear(3, 2))
    made = make_optimiser(model, Recipe(optimiser=optimiser))
    assert isinstance(made, kind)
    assert sum(weight.numel() for group in made.param_groups for weight in group["params"]) == 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"optimiser": "adagrad"},
        {"schedule": "linear"},
        {"iterations": 0},
        {"epochs": 0},
        {"lr": 0.0},
        {"precision": "half"},
    ],
)
def test_a_recipe_refuses_what_it_cannot_do(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Recipe(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("network", "shape"),
    [("auto", (3, 32, 32)), ("auto", (2, 9, 7)), ("mlp", (5,)), ((7, 3), (2, 4, 4))],
)
def test_layer_sizes_describe_the_network_that_is_built(
    network: object, shape: tuple[int, ...]
) -> None:
    sizes = layer_sizes(network, shape, 0.1)
    module = build(network, shape, 0.1)
    convolutions = [layer for layer in module.modules() if isinstance(layer, nn.Conv2d)]
    dense = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
    assert [
        (c.in_channels, c.out_channels, c.stride[0]) for c in convolutions
    ] == sizes.convolutions
    assert [layer.out_features for layer in dense] == sizes.dense
    assert dense[0].in_features == sizes.flat
    assert module(torch.zeros(2, *shape)).shape == (2, sizes.dense[-1])


def test_the_loop_costs_next_to_nothing() -> None:
    # A step of the loop around a free model: optimiser and bookkeeping only, compared with the
    # optimiser alone.
    model = a_model()
    inputs, targets = some_rows(64)
    recipe = Recipe(iterations=300, batch_size=32, optimiser="sgd", lr=0.01)

    def bare() -> None:
        optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(150):
            for rows in batches(64, 32):
                optimiser.zero_grad()
                cross_entropy(model(inputs[rows]), targets[rows]).backward()
                optimiser.step()

    def seconds(work: object) -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    with one_thread():
        ratios = [
            seconds(lambda: train(model, cross_entropy, inputs, targets, recipe)) / seconds(bare)
            for _ in range(7)
        ]
    assert min(ratios) < 1.25  # of a step of 0.1 ms; real networks take tens of milliseconds
