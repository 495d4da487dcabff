"""RanPAC: sums over rows, and a closed form."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from tiny_references import taught, teach, tiny

from lifelong import TaskStream, load, save
from lifelong.encoders import ForestEncoder
from lifelong.references.ranpac import STRENGTHS, ridge


@dataclass(frozen=True)
class AsTheyAre:
    """A frozen encoder: rows are the features."""

    nbytes: int = 0
    n_parameters: int = 0

    def split(self, y, *, rng):
        return np.ones(len(y), dtype=bool)

    def fit(self, X, y, *, in_bag=None, rng):
        return self

    def encode(self, X):
        return X


def test_the_answer_is_the_closed_form_on_all_rows_of_all_tasks(flat: TaskStream) -> None:
    learner = taught("ranpac")
    known = learner.knowledge_
    phi = np.concatenate([learner._projected(known, task.X_train) for task in flat])
    labels = np.concatenate([task.y_train for task in flat])
    names = np.concatenate([learner.classes_of(task.name) for task in flat])
    Y = (labels[:, None] == names).astype(float)
    G = phi.T @ phi
    W = np.linalg.solve(G + known.strength * np.trace(G) / len(G) * np.eye(len(G)), phi.T @ Y)
    found = np.hstack([known.weights[task.name] for task in flat])
    np.testing.assert_allclose(found, W, rtol=1e-6, atol=1e-9)


def test_the_order_of_tasks_does_not_matter(flat: TaskStream) -> None:
    answers = []
    for order in permutations(range(3)):
        learner = tiny("ranpac", encoder=AsTheyAre())
        for number in order:
            task = flat[number]
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
        answers.append([learner.predict_proba(task.X_test, task.name) for task in flat])
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_without_an_encoder_the_order_of_later_tasks_does_not_matter(flat: TaskStream) -> None:
    first, second, third = flat
    learners = []
    for order in ((first, second, third), (first, third, second)):
        learner = tiny("ranpac")
        for task in order:
            learner.partial_fit(task.X_train, task.y_train, task=task.name)
        learners.append(learner)
    for task in flat:
        one, other = (learner.predict_proba(task.X_test, task.name) for learner in learners)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_the_strength_has_the_smallest_error_on_the_rows_that_judge(flat: TaskStream) -> None:
    known = taught("ranpac").knowledge_
    C = np.vstack([sums.fitted for sums in known.sums.values()]).T
    held = np.vstack([sums.judging for sums in known.sums.values()]).T
    errors = {}
    for strength in STRENGTHS:
        W = ridge(known.grams.fitted, C, strength)
        errors[strength] = np.trace(W.T @ known.grams.judging @ W) - 2 * np.trace(W.T @ held)
    assert known.strength == min(errors, key=errors.get)
    assert len(set(errors.values())) > 1


def test_without_a_task_all_classes_of_all_tasks_compete(flat: TaskStream) -> None:
    learner = taught("ranpac")
    right = []
    for task in flat:
        found = learner.predict_task(task.X_test)
        right.append(np.mean([name == task.name for name in found]))
    assert np.mean(right) > 0.6


def test_with_a_frozen_encoder_it_is_saved_and_loaded(flat: TaskStream, tmp_path) -> None:
    learner = teach(tiny("ranpac", encoder=ForestEncoder(n_trees=5)), flat[:2])
    save(learner, tmp_path)
    again = load(tmp_path)
    for task in flat[:2]:
        np.testing.assert_array_equal(
            again.predict_proba(task.X_test, task.name),
            learner.predict_proba(task.X_test, task.name),
        )


@pytest.mark.parametrize("n_rows", [1, 2])
def test_so_few_rows_that_none_judges_still_give_an_answer(n_rows: int, flat: TaskStream) -> None:
    task = flat[0]
    learner = tiny("ranpac").partial_fit(task.X_train[:n_rows], task.y_train[:n_rows], task="first")
    assert np.isfinite(learner.predict_proba(task.X_test)).all()
