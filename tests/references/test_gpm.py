"""GPM: steps of later tasks are orthogonal to the inputs of earlier ones."""

import numpy as np
import pytest
import torch
from tiny_references import taught, teach, tiny

from lifelong import Recipe, TaskStream
from lifelong.exceptions import ParameterError
from lifelong.learners.base import Learner
from lifelong.references.gpm import StepProjection, directions, extended, layer_inputs


def test_the_bases_are_orthonormal_and_never_wider_than_a_layer_is() -> None:
    learner = taught("gpm")
    for basis, weight in zip(learner.bases_, learner.model_.weights(), strict=True):
        d, r = basis.vectors.shape
        assert d == weight[0].numel()
        assert 0 < r <= d
        np.testing.assert_allclose(basis.vectors.T @ basis.vectors, np.eye(r), atol=1e-5)


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("shape", ["flat", "images"])
def test_what_a_later_task_changes_is_orthogonal_to_the_stored_bases(
    optimiser: str, shape: str, flat: TaskStream, images: TaskStream
) -> None:
    recipe = Recipe(iterations=10, batch_size=20, optimiser=optimiser, lr=1e-2, weight_decay=1e-2)
    stream = flat if shape == "flat" else images
    settings = {"network": (16, 16)} if shape == "flat" else {"network": "cnn", "width": 0.1}
    learner = teach(tiny("gpm", recipe=recipe, **settings), stream[:1])
    bases = [torch.from_numpy(basis.vectors) for basis in learner.bases_]
    before = [weight.detach().clone() for weight in learner.model_.weights()]
    learner.partial_fit(stream[1].X_train, stream[1].y_train, task="second")
    moved = []
    for weight, old, M in zip(learner.model_.weights(), before, bases, strict=True):
        step = (weight.detach() - old).flatten(1)
        moved.append(float(step.norm()))
        assert float((step @ M).norm()) <= 1e-4 * max(float(step.norm()), 1e-3)
    assert max(moved) > 1e-3


def test_the_energy_that_bases_hold_grows_with_every_task(flat: TaskStream) -> None:
    still = Recipe(iterations=1, batch_size=20, optimiser="sgd", lr=1e-9)  # one network for both
    constant, growing = (
        teach(tiny("gpm", recipe=still, energy=0.5, energy_step=step), flat) for step in (0.0, 0.15)
    )
    assert widths(constant) < widths(growing)


def widths(learner: Learner) -> int:
    return sum(basis.vectors.shape[1] for basis in learner.bases_)


def test_old_tasks_answer_as_before_where_bases_hold_all_energy(images: TaskStream) -> None:
    settings = {"network": "cnn", "width": 0.1, "energy": 1.0, "basis_rows": 1000}
    recipe = Recipe(iterations=10, batch_size=20, optimiser="sgd", lr=0.05)
    learner = teach(tiny("gpm", recipe=recipe, **settings), images[:1])
    task = images[0]
    before = learner.predict_proba(task.X_train, "first")
    learner.partial_fit(images[1].X_train, images[1].y_train, task="second")
    np.testing.assert_allclose(learner.predict_proba(task.X_train, "first"), before, atol=1e-3)


def test_the_bases_are_of_rows_of_all_classes_even_if_rows_come_sorted() -> None:
    n = 60  # of each class; each class lives in a column of its own
    y = np.repeat([0, 1, 2], n)
    X = np.zeros((3 * n, 3), np.float32)
    X[np.arange(3 * n), y] = np.random.default_rng(0).normal(1, 0.1, 3 * n)
    learner = tiny("gpm", basis_rows=40, energy=0.999).partial_fit(X, y, task="sorted")
    assert learner.bases_[0].vectors.shape == (3, 3)


def test_biases_and_batch_norms_stay_as_the_first_task_left_them(images: TaskStream) -> None:
    learner = teach(tiny("gpm", network="cnn", width=0.1), images[:1])
    own = {id(weight) for weight in learner.model_.weights()}
    learning = {
        name for name, weight in learner.model_.trunk.named_parameters() if id(weight) in own
    }
    before = {name: value.clone() for name, value in learner.model_.trunk.state_dict().items()}
    learner.partial_fit(images[1].X_train, images[1].y_train, task="second")
    for name, value in learner.model_.trunk.state_dict().items():
        if name not in learning:
            assert torch.equal(value, before[name]), name


def test_a_basis_grows_until_the_energy_is_reached_and_no_further() -> None:
    rng = torch.Generator().manual_seed(0)
    R = torch.diag(torch.tensor([4.0, 2.0, 1.0, 0.5])) @ torch.eye(4)
    none = torch.zeros(4, 0)
    total = float((R**2).sum())
    assert extended(none, R, 0.75).shape == (4, 1)  # 16 of 21.25
    assert extended(none, R, 0.94).shape == (4, 2)  # 20 of 21.25
    assert extended(none, R, 1.0).shape == (4, 4)
    M = extended(none, R, 0.94)
    assert float(((M.T @ R) ** 2).sum()) / total == pytest.approx(20 / 21.25)
    assert torch.equal(M.abs().round(), extended(M, R, 0.9).abs().round())  # nothing to add
    assert extended(M, torch.randn(4, 50, generator=rng), 1.0).shape == (4, 4)


@pytest.mark.parametrize("n", [3, 40])
def test_directions_are_those_of_a_singular_value_decomposition(n: int) -> None:
    R = torch.randn(6, n, generator=torch.Generator().manual_seed(1)).double()
    vectors, energies = directions(R)
    U, S, _ = torch.linalg.svd(R, full_matrices=False)
    torch.testing.assert_close(energies[: len(S)], S**2)
    torch.testing.assert_close((vectors[:, :3].T @ U[:, :3]).abs(), torch.eye(3).double())


def test_a_convolution_is_a_linear_layer_on_its_columns(images: TaskStream) -> None:
    model = teach(tiny("gpm", network="cnn", width=0.1), images[:1]).model_
    rows = torch.from_numpy(images[0].X_test[:3])
    first = model.layers()[0]
    with torch.no_grad():
        expected = first(model.trunk[0](rows))  # (n, out, h, w)
        made = first.weight.flatten(1) @ layer_inputs(model, rows)[0] + first.bias[:, None]
    torch.testing.assert_close(made, expected.transpose(0, 1).flatten(1), rtol=1e-4, atol=1e-5)


def test_a_step_along_a_basis_is_taken_back_as_a_whole() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, 3))
    projection = StepProjection([weight], [torch.eye(3)[:, :2]])
    with torch.no_grad():
        weight.add_(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    projection.after_step()
    assert weight.tolist() == [[0, 0, 3], [0, 0, 6]]


@pytest.mark.parametrize("wrong", [{"energy": 0.0}, {"energy": 1.2}, {"energy_step": -1.0}])
def test_shares_of_energy_that_make_no_sense_are_refused(
    wrong: dict[str, float], flat: TaskStream
) -> None:
    with pytest.raises(ParameterError, match="energy"):
        tiny("gpm", **wrong).partial_fit(flat[0].X_train, flat[0].y_train)
