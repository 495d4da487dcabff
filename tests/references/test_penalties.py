"""EWC, online EWC and SI: what holds the weights, and how hard."""

import copy

import numpy as np
import pytest
import torch
from rounds import a_round
from tiny_references import make_stream, taught, teach, tiny
from torch import nn

from lifelong import Recipe, TaskStream
from lifelong.learners.base import Learner
from lifelong.nets.architectures import Standardise, build
from lifelong.references import ewc, si
from lifelong.references.base import SharedTrunk
from lifelong.references.fisher import _by_layers, _row_by_row, batched_fisher, diagonal_fisher
from lifelong.references.quadratic import Quadratic
from lifelong.references.si import PathIntegral, importance


def some_tensors(*, seed: int, positive: bool = False) -> tuple[torch.Tensor, ...]:
    make = torch.Generator().manual_seed(seed)
    tensors = [torch.randn(shape, generator=make) for shape in ((4, 3), (5,))]
    return tuple(tensor.abs() if positive else tensor for tensor in tensors)


def test_the_penalty_gradient_is_what_autograd_says() -> None:
    penalty = Quadratic(some_tensors(seed=0, positive=True), some_tensors(seed=1))
    by_hand, by_autograd = (
        [nn.Parameter(t.clone()) for t in some_tensors(seed=2)] for _ in range(2)
    )
    for weights in (by_hand, by_autograd):  # both already have the gradient of a loss
        sum((w**3).sum() for w in weights).backward()
    penalty.add_gradient(by_hand, strength=7.0)
    (7.0 * penalty.value(by_autograd)).backward()
    for ours, torchs in zip(by_hand, by_autograd, strict=True):
        torch.testing.assert_close(ours.grad, torchs.grad)


def test_a_penalty_reaches_weights_that_have_no_other_gradient() -> None:
    penalty = Quadratic(some_tensors(seed=0, positive=True), some_tensors(seed=1))
    weights = [nn.Parameter(t.clone()) for t in some_tensors(seed=2)]
    penalty.add_gradient(weights, strength=2.0)
    expected = 2.0 * penalty.curvature[0] * (weights[0].detach() - penalty.centre[0])
    torch.testing.assert_close(weights[0].grad, expected)


def test_one_quadratic_equals_the_sum_of_ewc_penalties_over_tasks() -> None:
    fishers = [some_tensors(seed=seed, positive=True) for seed in range(3)]
    optima = [some_tensors(seed=seed) for seed in range(3, 6)]
    fishers[0][0][0] = fishers[1][0][0] = 0.0  # weights that did not matter at first
    total = Quadratic(fishers[0], optima[0])
    for F, optimum in zip(fishers[1:], optima[1:], strict=True):
        total = total.plus(Quadratic(F, optimum))
    theta = some_tensors(seed=9)
    by_hand = sum(
        float((f * (w - o) ** 2).sum()) / 2
        for F, optimum in zip(fishers, optima, strict=True)
        for f, w, o in zip(F, theta, optimum, strict=True)
    )
    assert float(total.value(theta)) == pytest.approx(by_hand, rel=1e-5)


def test_the_fisher_of_logistic_regression_is_the_one_computed_by_hand() -> None:
    # trunk: z = w·x (no hidden layer); head: logits (0, z). Then ∂ −log p(1)/∂w = −(1 − p) x and ∂
    # −log p(0)/∂w = p x, so F = E_x [p (1 − p)² + (1 − p) p²] x² = E_x p (1 − p) x².
    inputs = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    trunk = nn.Sequential(nn.Linear(3, 1))
    model = SharedTrunk(trunk, 1)
    model.grow(0, 2)
    with torch.no_grad():
        model.heads[0].weight.copy_(torch.tensor([[0.0], [1.0]]))
        model.heads[0].bias.zero_()
    weight, bias = diagonal_fisher(model, a_round(inputs, torch.arange(40) % 2), max_rows=1000)
    p = trunk(inputs).detach().sigmoid()
    torch.testing.assert_close(weight, (p * (1 - p) * inputs**2).mean(dim=0, keepdim=True))
    torch.testing.assert_close(bias, (p * (1 - p)).mean(dim=0))


@pytest.mark.parametrize("shape", [(6,), (2, 8, 8)])
def test_the_fast_fisher_equals_the_one_from_a_gradient_per_row(shape: tuple[int, ...]) -> None:
    inputs = torch.randn(5, *shape, generator=torch.Generator().manual_seed(0))
    network = build("auto", shape, 0.03)
    model = SharedTrunk(nn.Sequential(Standardise(inputs), network), n_features=60)
    model.grow(0, 3)
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.uniform_(layer.running_mean)
            nn.init.uniform_(layer.running_var, 0.5, 2.0)
    model.eval()
    for fast, slow in zip(_by_layers(model, inputs, 0), _row_by_row(model, inputs, 0), strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-7)


def test_computing_the_fisher_moves_no_batch_norm_statistic_and_no_weight(
    images: TaskStream,
) -> None:
    learner = tiny(
        "ewc", network="cnn", width=0.05, recipe=Recipe(iterations=2, batch_size=8), fisher_rows=5
    )
    task = images[0]
    learner.partial_fit(task.X_train, task.y_train, task="first")
    before = copy.deepcopy(learner.model_.state_dict())
    for fisher in (
        lambda now: diagonal_fisher(learner.model_, now, 30),
        lambda now: batched_fisher(
            learner.model_, list(learner.model_.trunk.parameters()), now, 10
        ),
    ):
        fisher(a_round(torch.from_numpy(task.X_train), torch.arange(len(task.y_train)) % 3))
        for name, tensor in learner.model_.state_dict().items():
            torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)


@pytest.mark.parametrize("name", ["ewc", "o-ewc", "si"])
def test_the_penalty_is_there_after_the_first_task_and_grows_when_weights_move(
    name: str, flat: TaskStream
) -> None:
    learner = teach(tiny(name), flat[:1])
    penalty = learner.penalty_
    weights = [weight.detach() for weight in learner.model_.trunk.parameters()]
    assert float(penalty.value(weights)) == 0
    assert all((curvature >= 0).all() for curvature in penalty.curvature)
    assert float(penalty.value([weight + 0.1 for weight in weights])) > 0
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    assert float(penalty.value(weight.detach() for weight in learner.model_.trunk.parameters())) > 0


@pytest.mark.parametrize("name", ["ewc", "o-ewc", "si"])
def test_a_stronger_penalty_keeps_the_weights_nearer(name: str, flat: TaskStream) -> None:
    def moved(strength: float) -> float:
        learner = teach(tiny(name, strength=strength), flat[:1])
        before = [weight.detach().clone() for weight in learner.model_.trunk.parameters()]
        learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
        after = [weight.detach() for weight in learner.model_.trunk.parameters()]
        return sum(float(((a - b) ** 2).sum()) for a, b in zip(after, before, strict=True))

    assert moved(1e5) < 0.3 * moved(0.0)


def test_without_strength_ewc_and_si_are_none(flat: TaskStream) -> None:
    X = flat[0].X_test
    none = taught("none").predict_proba(X, "first")
    for name in ("ewc", "o-ewc", "si"):
        np.testing.assert_array_equal(
            teach(tiny(name, strength=0.0), flat).predict_proba(X, "first"), none
        )


@pytest.mark.parametrize("name", ["ewc", "o-ewc", "si", "lwf"])
def test_less_is_forgotten_than_by_none(name: str) -> None:
    stream = make_stream((8,), shift=1.0, seed=5)
    task = stream[0]
    kept, none = (
        teach(tiny(learner), stream).score(task.X_test, task.y_test, task="first")
        for learner in (name, "none")
    )
    assert kept > none


def test_online_ewc_applies_its_decay_once(flat: TaskStream) -> None:
    with_decay, without = (
        teach(tiny("o-ewc", decay=decay, strength=0.0), flat[:2]).penalty_ for decay in (0.25, 0.0)
    )
    first = teach(tiny("o-ewc", strength=0.0), flat[:1]).penalty_
    for F, new, old in zip(with_decay.curvature, without.curvature, first.curvature, strict=True):
        torch.testing.assert_close(F, new + 0.25 * old)


def test_the_path_integral_adds_up_gradient_times_step() -> None:
    weight = nn.Parameter(torch.tensor([1.0, -2.0]))
    path = PathIntegral([weight])
    expected = torch.zeros(2)
    for _ in range(3):
        weight.grad = None
        (weight**2).sum().backward()
        step = -0.1 * weight.grad
        expected -= weight.grad * step
        with torch.no_grad():
            weight += step
        path.after_step()
    torch.testing.assert_close(path.total[0], expected)
    # For SGD every step lowers the loss, and the path integral is about its fall.
    assert float(path.total[0].sum()) == pytest.approx(5.0 - (weight**2).sum().item(), rel=0.15)


def test_a_weight_that_made_the_loss_worse_has_no_importance() -> None:
    W = torch.tensor([-1.0, 2.0])
    moved = torch.tensor([0.5, 0.3])
    torch.testing.assert_close(importance(W, moved, 0.1), torch.tensor([0.0, 2.0 / (0.09 + 0.1)]))


def test_default_strengths_follow_the_rows_per_class() -> None:
    assert [ewc.default_strength(n) for n in (50, 500)] == pytest.approx([10_000, 1000])
    assert [si.default_strength(n) for n in (50, 500)] == pytest.approx([10_000, 100])


@pytest.mark.parametrize("name", ["ewc", "o-ewc", "si"])
def test_a_shorter_training_has_a_weaker_default_penalty(name: str, flat: TaskStream) -> None:
    # λ and c of 500 × 256 rows held a training of 60 × 32 rows so fast that it learnt little.
    task = flat[0]
    short = tiny(name).partial_fit(task.X_train, task.y_train, task="first")
    usual = {"ewc": 20_000.0, "o-ewc": 20_000.0, "si": 40_000.0}[name]  # at 25 rows per class
    held = tiny(name, strength=usual).partial_fit(task.X_train, task.y_train, task="first")

    def moved(learner: Learner) -> float:
        before = [weight.detach().clone() for weight in learner.model_.trunk.parameters()]
        learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
        after = [weight.detach() for weight in learner.model_.trunk.parameters()]
        return sum(float(((a - b) ** 2).sum()) for a, b in zip(after, before, strict=True))

    assert moved(short) > 2 * moved(held)


def test_default_strengths_fall_with_the_rows_that_training_sees() -> None:
    shown = [128_000, 32_000, 7680]
    assert [ewc.default_strength(50, n) for n in shown] == pytest.approx([1e4, 625, 36])
    assert [si.default_strength(50, n) for n in shown] == pytest.approx([1e4, 625, 36])
    assert ewc.default_strength(50, 10**7) == 10_000  # longer than usual: not tuned, so not more
    recipe = Recipe(iterations=10, batch_size=8)
    now = a_round(torch.zeros(20, 3), torch.arange(20) % 2)
    assert now.rows_shown(recipe) == 80
    assert now.rows_shown(Recipe(epochs=3, batch_size=64)) == 60
