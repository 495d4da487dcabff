"""TAG: its step against one written by hand."""

import math

import pytest
import torch
from tiny_references import taught
from torch import nn

from lifelong.references.tag import Moments, TagRMSProp


def one_step(weight: nn.Parameter, optimiser: TagRMSProp, gradient: list[float]) -> None:
    weight.grad = torch.tensor(gradient)
    optimiser.step()


def test_the_first_task_takes_rmsprop_steps() -> None:
    weight = nn.Parameter(torch.tensor([1.0, 2.0]))
    reference = nn.Parameter(weight.detach().clone())
    ours = TagRMSProp([weight], [], [], lr=0.01, b=5.0)
    torchs = torch.optim.RMSprop([reference], lr=0.01, alpha=0.99)
    for gradient in ([0.3, -1.0], [0.1, 0.0], [-0.2, 0.5]):
        one_step(weight, ours, gradient)
        reference.grad = torch.tensor(gradient)
        torchs.step()
    torch.testing.assert_close(weight, reference)


def test_two_tasks_by_hand() -> None:
    b = 2.0
    lr = 0.1
    first = nn.Parameter(torch.tensor([0.0, 0.0]))
    optimiser = TagRMSProp([first], [], [], lr=lr, b=b)
    one_step(first, optimiser, [3.0, 4.0])
    past = optimiser.finish()
    torch.testing.assert_close(
        past.direction[0], torch.tensor([0.6, 0.8])
    )  # m = 0.1·(3, 4), normalised
    torch.testing.assert_close(past.second[0], torch.tensor([0.09, 0.16]))  # v = 0.01·(9, 16)

    weight = nn.Parameter(torch.tensor([1.0, 1.0]))
    optimiser = TagRMSProp([weight], [], [past], lr=lr, b=b)
    one_step(weight, optimiser, [1.0, 0.0])
    # m = (0.1, 0), v = (0.01, 0); cos(m, m₁) = 0.6; α₁ = e^(−2·0.6), α₂ = e^(−2)
    accumulated = math.exp(-1.2) * 0.09 + math.exp(-2.0) * 0.01
    expected = [1.0 - lr * 1.0 / (math.sqrt(accumulated) + 1e-8), 1.0]
    assert weight.tolist() == pytest.approx(expected)


def test_a_step_against_an_earlier_task_is_smaller_than_one_along_it() -> None:
    past = Moments((torch.tensor([1.0]),), (torch.tensor([0.5]),))
    steps = {}
    for sign in (1.0, -1.0):
        weight = nn.Parameter(torch.zeros(1))
        one_step(weight, TagRMSProp([weight], [], [past], lr=0.1, b=5.0), [sign])
        steps[sign] = abs(weight.item())
    assert steps[-1.0] < 0.1 * steps[1.0]


def test_a_head_takes_plain_steps_and_a_zero_gradient_does_no_harm() -> None:
    shared = nn.Parameter(torch.ones(2))
    head = nn.Parameter(torch.ones(2))
    past = Moments((torch.zeros(2),), (torch.zeros(2),))
    optimiser = TagRMSProp([shared], [head], [past], lr=0.01, b=5.0)
    shared.grad = torch.zeros(2)
    head.grad = torch.tensor([2.0, -2.0])
    optimiser.step()
    assert torch.equal(shared, torch.ones(2))
    torch.testing.assert_close(head, torch.tensor([0.9, 1.1]))  # lr · g / √(0.01 g²) = 10 lr
    assert torch.isfinite(optimiser.finish().direction[0]).all()


def test_every_task_leaves_two_numbers_per_shared_weight() -> None:
    learner = taught("tag")
    n_weights = sum(weight.numel() for weight in learner.model_.trunk.parameters())
    assert (
        sum(tensor.numel() for tensor in learner._remembered(learner.knowledge_))
        == 2 * 3 * n_weights
    )
    for moments in learner.past_:
        assert all(float(m.norm()) == pytest.approx(1, abs=1e-5) for m in moments.direction)
