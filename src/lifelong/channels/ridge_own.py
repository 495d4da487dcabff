"""The task's own encoder. It has seen labels: only rows, or trees, that have not may judge it."""

import numpy as np

from lifelong.channels.ridge_reading import LeafVotes, Reading, both, sum_of
from lifelong.channels.ridge_solver import LinearMap, linear_map, products, solve
from lifelong.channels.ridge_views import Opinion, View
from lifelong.encoders.base import Mask, held_out
from lifelong.tasks.base import TaskName

# Nats. On twenty rows, chance alone would often favour an answer that is worse than the regression.
_COST_OF_ANSWER = 10.0


def in_task(name: TaskName, view: View, n_classes: int) -> Opinion:
    """What the own encoder says, and honest scores of the rows that may judge it."""
    assert view.in_bag is not None
    if view.in_bag.ndim == 1:
        judges = ~view.in_bag
        reading = _network(name, view, judges, n_classes)
    else:
        judges = np.asarray(~view.in_bag.all(axis=1))
        reading = _forest(name, view, view.in_bag, judges, n_classes)
    return Opinion(reading.maps, {name: 1.0}, view.rows[judges], view.y[judges], reading.honest, reading.skill)


def _network(name: TaskName, view: View, judges: Mask, n_classes: int) -> Reading:
    """By regression; and by its own answer, if it gives one, as much as honest scores say."""
    regression = _layers(name, view, judges, n_classes)
    if not view.n_answers:
        return regression
    answer = _answer(name, view, judges, n_classes)
    return both(regression, answer, view.y[judges], view.class_shares(n_classes), cost=_COST_OF_ANSWER)


def _layers(name: TaskName, view: View, judges: Mask, n_classes: int) -> Reading:
    """Regression on all columns but the answer: all rows teach, held-out rows judge."""
    A, landmarks = view.features(), view.landmarks()
    A = A[:, : A.shape[1] - view.n_answers]
    K, scale = products(A, landmarks)
    Y = view.targets(n_classes)
    solution = solve(K, Y, landmarks=landmarks, judges=judges)
    coefficients, intercept = linear_map(A, solution.alpha, scale)
    whole = LinearMap(np.pad(coefficients, ((0, view.n_answers), (0, 0))), intercept)
    return Reading.of({name: whole}, solution.honest[judges], Y[judges])


def _answer(name: TaskName, view: View, judges: Mask, n_classes: int) -> Reading:
    """The last columns are posteriors of the first classes (there may be later ones); held-out rows judge them."""
    A, Y = view.features(), view.targets(n_classes)
    coefficients = np.eye(A.shape[1], n_classes, k=view.n_answers - A.shape[1], dtype=np.float32)
    answer = LinearMap(coefficients, -view.class_shares(n_classes))
    return Reading.of({name: answer}, answer.scores(A)[judges], Y[judges])


def _forest(name: TaskName, view: View, in_bag: Mask, judges: Mask, n_classes: int) -> Reading:
    """By the vote of its trees and by regression, equally loud; and as in the paper, as much as honest scores say."""
    vote, regression, paper = (read(name, view, in_bag, judges, n_classes) for read in (_vote, _trees, _held_out))
    y, shares = view.y[judges], view.class_shares(n_classes)
    return both(both(vote, regression, y, shares, share=0.5), paper, y, shares)


def _vote(name: TaskName, view: View, in_bag: Mask, judges: Mask, n_classes: int) -> Reading:
    """What a random forest says: a leaf has the classes of the rows that it grew on; judged out of bag."""
    Y, unseen = view.targets(n_classes), ~in_bag
    votes = LeafVotes.of(np.where(unseen, np.int32(-1), view.Z), view.n_leaves, Y).linear_map(in_bag.shape[1])
    n_trees = np.maximum(unseen.sum(axis=1), 1)[:, None]
    honest = votes.scores(view.features(hidden=in_bag)) * np.sqrt(in_bag.shape[1] / n_trees)
    return Reading.of({name: votes}, honest[judges], Y[judges])


def _held_out(name: TaskName, view: View, in_bag: Mask, judges: Mask, n_classes: int) -> Reading:
    """The paper's channel: a leaf has the classes of rows that its tree has not seen."""
    Y, (Z, _) = view.targets(n_classes), held_out(view.Z, view.y, in_bag)
    votes = LeafVotes.of(Z, view.n_leaves, Y)
    honest = votes.without_the_row(Z, Y)
    return Reading.of({name: votes.linear_map(in_bag.shape[1])}, honest[judges], Y[judges])


def _trees(name: TaskName, view: View, in_bag: Mask, judges: Mask, n_classes: int) -> Reading:
    """Regression on leaves: in the honest half of it, each row is in the leaves of trees that have not seen it."""
    Y, A, unseen = view.targets(n_classes), view.features(), view.features(hidden=in_bag)
    landmarks = view.landmarks()
    (K, scale), (K_unseen, scale_unseen) = products(A, landmarks), products(unseen, landmarks)
    solution = solve(K_unseen, Y, landmarks=landmarks, judges=judges)
    seen = linear_map(A, solve(K, Y, landmarks=landmarks, penalty=solution.penalty).alpha, scale)
    maps = {name: sum_of(0.5, seen, 0.5, linear_map(unseen, solution.alpha, scale_unseen)) if judges.any() else seen}
    return Reading.of(maps, solution.honest[judges], Y[judges])
