"""None, LwF, the replays, ER and A-GEM."""

import copy

import numpy as np
import torch
from scipy.stats import chisquare
from tiny_references import N_CLASSES, make_stream, taught, teach, tiny
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.modules.module import register_module_forward_pre_hook

from lifelong import Recipe, TaskStream
from lifelong.nets.architectures import Standardise
from lifelong.references.a_gem import dot, project
from lifelong.references.er import Reservoir
from lifelong.references.lwf import recorded_answers, soft_cross_entropy
from lifelong.references.replay import Memory, TaskRows, loss_by_row, losses_by_task


def test_none_leaves_old_heads_as_they_were_bit_for_bit_and_moves_the_trunk(
    flat: TaskStream,
) -> None:
    before_second = teach(tiny("none"), flat[:1]).model_
    after_second = teach(tiny("none"), flat[:2]).model_
    for before, after in zip(
        before_second.heads[0].parameters(), after_second.heads[0].parameters(), strict=True
    ):
        assert torch.equal(before, after)
    assert any(
        not torch.equal(a, b)
        for a, b in zip(
            before_second.trunk.parameters(), after_second.trunk.parameters(), strict=True
        )
    )


def test_a_wider_head_keeps_what_it_had(flat: TaskStream) -> None:
    model = copy.deepcopy(taught("none").model_)
    X = torch.from_numpy(flat[0].X_test)
    before = model(X, 0)
    model.grow(0, 6)
    torch.testing.assert_close(model(X, 0)[:, :3], before)
    model.grow(0, 4)
    assert model(X, 0).shape[1] == 6


def test_lwf_does_not_touch_its_teacher_and_keeps_its_answers(flat: TaskStream) -> None:
    learner = teach(tiny("lwf"), flat[:1])
    teacher = learner.model_
    rows = torch.from_numpy(flat[1].X_train)
    weights = copy.deepcopy(teacher.state_dict())
    answers = recorded_answers(teacher, rows)
    learner.partial_fit(flat[1].X_train, flat[1].y_train, task="second")
    assert learner.model_ is not teacher
    for name, tensor in teacher.state_dict().items():
        assert torch.equal(tensor, weights[name])
    forgetful = teach(tiny("none"), flat[:2])
    distance = [
        soft_cross_entropy(model(rows, 0), answers[0], 2.0).item()
        for model in (learner.model_, forgetful.model_)
    ]
    assert distance[0] < distance[1]


def test_lwfs_teacher_and_student_see_the_same_augmented_batch(images: TaskStream) -> None:
    recipe = Recipe(iterations=3, batch_size=16, augment=True)
    learner = teach(tiny("lwf", network="cnn", width=0.05, recipe=recipe), images[:1])
    teacher = learner.model_
    seen_by_teacher: list[torch.Tensor] = []
    seen_by_student: list[torch.Tensor] = []

    def note(standardise: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        if standardise is teacher.trunk[0][1]:
            seen_by_teacher.append(given[0])
        elif torch.is_grad_enabled():
            seen_by_student.append(given[0])

    with register_module_forward_pre_hook(
        lambda module, given: note(module, given) if isinstance(module, Standardise) else None
    ):
        learner.partial_fit(images[1].X_train, images[1].y_train, task="second")
    assert len(seen_by_teacher) == len(seen_by_student) == 3
    for theirs, ours in zip(seen_by_teacher, seen_by_student, strict=True):
        assert torch.equal(theirs, ours)
    rows = {row.tobytes() for row in images[1].X_train}
    assert any(row.numpy().tobytes() not in rows for row in seen_by_student[0])  # augmented


def test_soft_cross_entropy_is_smallest_where_student_and_teacher_agree() -> None:
    teacher = torch.tensor([[2.0, 0.0, -1.0]])
    student = teacher.clone().requires_grad_()
    loss = soft_cross_entropy(student, teacher, 2.0)
    (gradient,) = torch.autograd.grad(loss, student)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-6, rtol=0)
    q = (teacher / 2).softmax(dim=1)
    torch.testing.assert_close(loss, -4 * (q * q.log()).sum())


def test_each_batch_and_each_row_is_scored_on_its_own_head(flat: TaskStream) -> None:
    model = taught("none").model_
    X = torch.from_numpy(flat[0].X_test[:6])
    first = TaskRows(0, X[:2], torch.tensor([0, 2]))
    third = TaskRows(2, X[2:], torch.tensor([3, 0, 1, 2]))
    batches = [first, third]
    expected = [cross_entropy(model(x, task), y) for task, x, y in batches]
    torch.testing.assert_close(torch.stack(losses_by_task(model, batches)), torch.stack(expected))
    tasks = torch.tensor([0, 0, 2, 2, 2, 2])
    targets = torch.tensor([0, 2, 3, 0, 1, 2])
    order = torch.tensor([3, 0, 5, 1, 2, 4])
    by_row = loss_by_row(model.heads, model.features(X)[order], targets[order], tasks[order])
    torch.testing.assert_close(by_row, (2 * expected[0] + 4 * expected[1]) / 6)


def test_both_replays_store_every_row_and_forget_less_than_none() -> None:
    stream = make_stream((8,), shift=1.0, seed=5)
    task = stream[0]
    none = teach(tiny("none"), stream).score(task.X_test, task.y_test, task="first")
    for name in ("total-replay", "partial-replay"):
        learner = teach(tiny(name), stream)
        assert [len(rows.y) for rows in learner.memory_.values()] == [
            len(task.y_train) for task in stream
        ]
        assert learner.score(task.X_test, task.y_test, task="first") > none


def test_stored_rows_are_copies() -> None:
    stream = make_stream((8,), seed=1)
    X = stream[0].X_train.copy()
    learner = tiny("total-replay").partial_fit(X, stream[0].y_train, task="first")
    X[:] = 0
    assert learner.memory_["first"].X.any()


def test_the_reservoir_holds_every_row_equally_often() -> None:
    n = 40
    capacity = 8
    repeats = 2000
    X = np.arange(n, dtype=np.float32)[:, None]
    y = np.zeros(n, np.intp)
    counts = np.zeros(n)
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        reservoir = Reservoir.empty((1,)).with_rows(X[:15], y[:15], 0, capacity, rng=rng)
        reservoir = reservoir.with_rows(X[15:], y[15:], 1, capacity, rng=rng)
        assert len(reservoir.y) == capacity
        assert reservoir.seen == n
        counts[reservoir.X[:, 0].astype(int)] += 1
    assert chisquare(counts).pvalue > 0.01


def test_er_fills_its_memory_to_capacity_with_rows_of_all_tasks_under_their_own_labels(
    flat: TaskStream,
) -> None:
    memory = taught("er").memory_
    assert len(memory.y) == 9
    assert memory.seen == sum(len(task.y_train) for task in flat)
    assert len(set(memory.tasks.tolist())) > 1
    for x, y, number in zip(memory.X, memory.y, memory.tasks, strict=True):
        task = flat[int(number)]
        (row,) = np.flatnonzero((task.X_train == x).all(axis=1))
        assert task.y_train[row] == f"{task.name}-{y}"


def test_a_projected_gradient_never_conflicts() -> None:
    make = torch.Generator().manual_seed(0)
    for _ in range(200):
        weights = [nn.Parameter(torch.zeros(shape)) for shape in ((3, 2), (4,), (2,))]
        reference = [torch.randn(w.shape, generator=make) for w in weights]
        for weight in weights[:2]:
            weight.grad = torch.randn(weight.shape, generator=make)
        before = [None if w.grad is None else w.grad.clone() for w in weights]
        conflict = dot(before, reference)
        assert project(weights, reference) == (conflict < 0)
        assert dot([w.grad for w in weights], reference) >= -1e-5
        if conflict >= 0:
            assert all(
                w.grad is b or torch.equal(w.grad, b) for w, b in zip(weights, before, strict=True)
            )


def test_weights_without_gradient_count_as_zero_in_the_projection() -> None:
    weights = [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))]
    weights[0].grad = torch.tensor([-1.0])
    assert project(weights, [torch.tensor([1.0]), torch.tensor([1.0])])
    # g = (−1, 0), g_ref = (1, 1): g − (−1/2) g_ref = (−½, ½)
    torch.testing.assert_close(torch.cat([w.grad for w in weights]), torch.tensor([-0.5, 0.5]))
    assert not project(weights, [None, torch.tensor([1.0])])


def test_a_gem_projects_when_tasks_conflict_and_keeps_its_rows_per_class(flat: TaskStream) -> None:
    learner = taught("a-gem")
    assert learner.projections_[0] == 0
    assert sum(learner.projections_[1:]) > 0
    counts = [
        np.bincount(learner.memory_.y[learner.memory_.tasks == number]) for number in range(3)
    ]
    assert [count.tolist() for count in counts] == [[3] * n for n in N_CLASSES.values()]
    more = teach(
        tiny("a-gem", rows_per_class=30), flat[:1]
    )  # 25 rows of each class: five places are left
    more.partial_fit(flat[0].X_test, flat[0].y_test, task="first")
    assert np.bincount(more.memory_.y).tolist() == [30, 30, 30]


def test_a_memory_gives_different_rows_at_most_as_many_as_it_has() -> None:
    memory = Memory(np.arange(5, dtype=np.float32)[:, None], np.arange(5), np.zeros(5, np.intp))
    inputs, targets, _ = memory.draw(20, torch.device("cpu"))
    assert sorted(targets.tolist()) == [0, 1, 2, 3, 4]
    torch.testing.assert_close(inputs[:, 0], targets.float())
