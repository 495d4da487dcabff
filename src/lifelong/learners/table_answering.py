"""Answers to rows of one task of a table: the mix of its opinions."""

import numpy as np
from numpy.typing import NDArray

from lifelong._validation import Rows
from lifelong.channels import stacking
from lifelong.encoders.answers import Aim, Answers
from lifelong.learners.table_corrections import corrected_opinion, opinions_of_others
from lifelong.learners.table_knowledge import IMPOSSIBLE, TablesKnown, in_all_columns
from lifelong.learners.table_linears import own_opinions
from lifelong.learners.table_others import asked_by_unknown
from lifelong.tasks.base import TaskName


def answer(known: TablesKnown, X: Rows, task: TaskName | None, aim: Aim) -> Answers:
    """Probabilities (n, K) of all labels, or numbers (n, 1), for rows of one task.

    A task that is not known is answered by what all tasks share.
    """
    if task is not None and aim == "classes" and known.knows_one_of_many(task):
        return _as_unseen(known, X, task)
    if task not in known.tasks and known.asks_others:
        return _of_others(known, X, None, aim)
    if task not in known.tasks and (known.shared is None or known.shared.forest is None):
        # Tasks that share nothing, or one task, which is all that is known.
        return np.asarray(np.mean([answer(known, X, each, aim) for each in known.tasks], axis=0))
    opinions = []
    weights = np.array(known.unseen)
    centre = None
    if task in known.tasks:
        assert task is not None
        opinions += own_opinions(known, task, X)
        weights = known.channels[task].weights
        centre = known.channels[task].centre
        if known.asks_others:
            mix = known.channels[task]
            of_others = opinions_of_others(known, X, mix.others, mix)
            opinions += of_others
            if known.asks_linear:
                opinions.append(corrected_opinion(known, X, mix, of_others, aim))
    if known.shared is not None:
        opinions += known.shared.answers(X, task, centre)
    answers = np.stack([in_all_columns(found, known) for found in opinions])
    return mix_of(known, answers, weights, task, aim)


def mix_of(
    known: TablesKnown,
    answers: Answers,
    weights: NDArray[np.float64],
    task: TaskName | None,
    aim: Aim,
) -> Answers:
    """The mix of opinions (J, n, K): probabilities (n, K), or numbers (n, 1)."""
    if aim == "number":
        filled = np.where(np.isnan(answers), np.nanmean(answers, axis=0), answers)
        return _weighed(known, weights, filled)
    return _probabilities(known, answers, weights, task)


def _weighed(known: TablesKnown, weights: NDArray[np.float64], opinions: Answers) -> Answers:
    """Opinions (J, n, K) times their weights, summed (n, K).

    Where linear models are asked, term by term: an answer does not depend on how many rows are
    asked.
    """
    if not known.asks_linear:
        product: Answers = np.tensordot(weights, opinions, axes=1)
        return product
    total = np.zeros(opinions.shape[1:])
    for weight, found in zip(weights.tolist(), opinions, strict=True):
        total += weight * found
    return total


def _as_unseen(known: TablesKnown, X: Rows, task: TaskName) -> Answers:
    """What all tasks share answers for a task of one label; only its rows' mean is its own."""
    if known.shared is None:
        return _of_others(known, X, task, "classes")
    opinions = known.shared.answers(X, None, known.channels[task].centre)
    answers = np.stack([in_all_columns(found, known) for found in opinions])
    return _probabilities(known, answers, np.array(known.unseen), task)


def _of_others(known: TablesKnown, X: Rows, task: TaskName | None, aim: Aim) -> Answers:
    """What others answer to rows of a task that is not known, or has seen one label."""
    others = asked_by_unknown(known)
    if task is not None:
        others = known.channels[task].others
    answers = np.stack(opinions_of_others(known, X, others, None))
    weights = np.ones(1)
    if known.asks_linear:
        weights = np.array(known.unseen)
    return mix_of(known, answers, weights, task, aim)


def _probabilities(
    known: TablesKnown, answers: Answers, weights: NDArray[np.float64], task: TaskName | None
) -> Answers:
    """The mix of opinions (J, n, K), by how probable it is that the task has a label at all."""
    logs = stacking.log_opinion(np.nan_to_num(answers, nan=1 / known.n_answers))
    shares = known.label_shares(task)
    found = stacking.normalised(_weighed(known, weights, logs)) * shares
    impossible = shares <= IMPOSSIBLE
    if impossible.any():  # however sure the opinions of tasks unlike this one are
        best = found[:, ~impossible].max(axis=1, keepdims=True)
        found[:, impossible] = np.minimum(found[:, impossible], IMPOSSIBLE * best)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
