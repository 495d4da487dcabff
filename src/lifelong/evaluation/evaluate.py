"""Teach a learner a stream, stage by stage, and measure everything the statistics need."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from sklearn.base import clone

from lifelong._parallel import parallel_stream
from lifelong._progress import progress
from lifelong._validation import check_count
from lifelong.engines import current
from lifelong.evaluation.collect import table_from
from lifelong.evaluation.errors import ErrorTable
from lifelong.evaluation.measure import (
    SINGLE,
    MakeLearner,
    Measurement,
    error_on,
    measurements,
    plain_error,
    plain_measurements,
)
from lifelong.evaluation.scoring import Scoring, find_scoring
from lifelong.tasks.base import TaskStream

__all__ = ["error_on", "evaluate", "plain_error"]

Stream = TaskStream | Callable[[int], TaskStream]


class Repetition(NamedTuple):
    """What one pass over the stream measured."""

    learner: list[Measurement]
    references: dict[str, list[Measurement]]


def evaluate(
    make_learner: MakeLearner,
    stream: Stream,
    repetitions: int = 5,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    name: str | None = None,
    scoring: str | Scoring | None = None,
) -> ErrorTable:
    """Teach a fresh learner the stream, ``repetitions`` times, and measure its errors.

    Parameters
    ----------
    make_learner : function seed → learner
        Called for each repetition with its seed.
    stream : TaskStream, or function seed → TaskStream
        A function can give each repetition rows of its own.
    repetitions : int, default 5
        How often the stream is taught, each time to a fresh learner.
    seed : int, default 0
        Repetition r uses ``seed + r``: two learners evaluated with the same seed meet the same
        rows.
    n_jobs : int, optional
        Repetitions in so many processes; with :func:`lifelong.engine`, on a cluster.
    name : str, optional
        What to call the learner in the table; its class name if left out.
    scoring : str, optional
        What an error is; by default the share of mistakes, and the squared error where the target
        is a number. Otherwise ``"absolute error"``, ``"log loss"``, or a name that scikit-learn's
        scorers have: of a loss (``"neg_brier_score"``) the loss itself, of any other score
        (``"roc_auc"``, ``"r2"``) 1 − score. Transfers are log ratios of these errors; ``kind`` of
        the table says what they are.

    Returns
    -------
    ErrorTable
        Errors on all tasks after each stage, with times and sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from lifelong import SillyForest, evaluate
    >>> from lifelong.tasks.simulations import xor_stream
    >>> def make_learner(seed):
    ...     return SillyForest(random_state=seed)
    >>> table = evaluate(make_learner, lambda seed: xor_stream(random_state=seed), 2)
    >>> np.allclose(table.transfer, table.forward_transfer + table.backward_transfer)
    True
    >>> stream = xor_stream(random_state=0)
    >>> evaluate(make_learner, stream, 1, scoring="neg_log_loss").kind.name
    'log loss'
    """
    check_count(repetitions, "repetitions")
    stream_of = stream if callable(stream) else partial(_always, stream)
    title = name or type(make_learner(seed)).__name__
    first = stream_of(seed)
    tasks = first.names
    chosen = find_scoring(scoring, first.named(tasks[0]).target)
    seeds = range(seed, seed + repetitions)
    with progress(repetitions * len(tasks), title) as bar:
        alone = (
            n_jobs in (None, 1) and current() is None
        )  # then the bar can follow the tasks, otherwise whole repetitions
        advance = bar.advance if alone else _nothing  # a bar cannot go to another process

        def repeat(seed: int) -> Repetition:
            return _repetition(make_learner, stream_of(seed), seed, chosen, advance)

        measured = []
        for repetition in parallel_stream(repeat, seeds, n_jobs=n_jobs, prefer="processes"):
            measured.append(repetition)
            if not alone:
                for _ in tasks:
                    bar.advance()
    references = {
        kind: [repetition.references[kind] for repetition in measured]
        for kind in measured[0].references
    }
    passes = [repetition.learner for repetition in measured]
    return table_from(title, tasks, passes, references, chosen.kind)


def _always(stream: TaskStream, _seed: int) -> TaskStream:
    return stream


def _nothing() -> None:
    """For whoever does not wait."""


def _repetition(
    make_learner: MakeLearner,
    stream: TaskStream,
    seed: int,
    scoring: Scoring,
    advance: Callable[[], None],
) -> Repetition:
    measured = []
    for measurement in measurements(make_learner, stream, seed, error=scoring.of_learner):
        if isinstance(measurement, Measurement):
            measured.append(measurement)
            if measurement.kind == SINGLE:  # the last thing measured of a stage
                advance()
    plain = make_learner(seed).plain_models(len(stream))
    references = {
        name: list(plain_measurements(partial(clone, model), stream, error_of=scoring.of_plain))
        for name, model in plain.items()
    }
    return Repetition(measured, references)
