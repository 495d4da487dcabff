"""One table of measured errors; every statistic is a function of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong.evaluation import transfer as statistics
from lifelong.evaluation.transfer import Errors, half_a_mistake
from lifelong.tasks.base import TaskName


@dataclass(frozen=True)
class ErrorKind:
    """What the numbers of a table are.

    Parameters
    ----------
    name : str
        Such as "error rate", "squared error" or "1 − roc_auc".
    is_share : bool, default True
        Whether 1 − error is a score that is 1 at best. Then 0 counts as half a mistake in ratios.
    """

    name: str
    is_share: bool = True


ERROR_RATE = ErrorKind("error rate")
"""The share of test rows whose label is not predicted: the paper's error."""

_SMALLEST = float(np.finfo(np.float64).tiny)  # so that ratios with an error of 0 exist


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Errors of one learner on one stream: R repetitions, T tasks.

    Statistics are arrays with one value per task: errors are averaged over repetitions first, then
    the ratio is taken, then the logarithm. :meth:`spread` gives median and quartiles over
    repetitions of any of them.

    Attributes
    ----------
    errors : (R, T, T)
        ``errors[r, t, s]`` is the error on task t after tasks 0…s; NaN where s < t.
    single : (R, T)
        Error of the same learner trained on the task alone.
    references : name → (R, T)
        Errors of plain single-task models on all rows; the last one, of the same total size, counts
        for ``gain``.
    test_rows : (T,)
    train_seconds, predict_seconds : (R, T)
        Seconds to add each task; seconds per 1000 test rows after the last one.
    sizes : dict
        After the last task, mean over repetitions: number of parameters, bytes of encoders,
        channels and stored rows.
    kind : ErrorKind
        What an error is: the share of mistakes, unless :func:`evaluate` was asked otherwise.
    """

    learner: str
    tasks: list[TaskName]
    test_rows: NDArray[np.int64]
    errors: Errors
    single: Errors
    references: Mapping[str, Errors] = field(default_factory=dict)
    train_seconds: Errors = field(default_factory=lambda: np.zeros((0, 0)))
    predict_seconds: Errors = field(default_factory=lambda: np.zeros((0, 0)))
    sizes: Mapping[str, float] = field(default_factory=dict)
    kind: ErrorKind = ERROR_RATE

    @cached_property
    def _measured(self) -> dict[str, Errors]:
        """Every kind of error (R, T), with the zero-error rule applied."""
        kinds = {
            "single": self.single,
            "at_arrival": np.diagonal(self.errors, axis1=1, axis2=2),
            "final": self.errors[:, :, -1],
            "reference": list(self.references.values())[-1]
            if self.references
            else np.full_like(self.single, np.nan),
        }
        if not self.kind.is_share:
            return {kind: np.maximum(errors, _SMALLEST) for kind, errors in kinds.items()}
        return {kind: half_a_mistake(errors, self.test_rows) for kind, errors in kinds.items()}

    def _mean(self, kind: str) -> Errors:
        return np.asarray(self._measured[kind].mean(axis=0))

    @property
    def transfer(self) -> Errors:
        """log(e_single / e_final) per task."""
        return statistics.transfer(self._mean("single"), self._mean("final"))

    @property
    def forward_transfer(self) -> Errors:
        """log(e_single / e_at_arrival) per task."""
        return statistics.forward_transfer(self._mean("single"), self._mean("at_arrival"))

    @property
    def backward_transfer(self) -> Errors:
        """log(e_at_arrival / e_final) per task."""
        return statistics.backward_transfer(self._mean("at_arrival"), self._mean("final"))

    @property
    def gain(self) -> Errors:
        """log(e_reference / e_final) per task: > 0 is better than a plain model of its size."""
        return statistics.gain(self._mean("reference"), self._mean("final"))

    @property
    def veniat_transfer(self) -> Errors:
        """Veniat's transfer: e_single − e_final per task."""
        return statistics.difference(self._mean("single"), self._mean("final"))

    @property
    def veniat_forward_transfer(self) -> Errors:
        """Veniat's forward transfer: e_single − e_at_arrival per task."""
        return statistics.difference(self._mean("single"), self._mean("at_arrival"))

    @property
    def veniat_backward_transfer(self) -> Errors:
        """Veniat's backward transfer: e_at_arrival − e_final per task."""
        return statistics.difference(self._mean("at_arrival"), self._mean("final"))

    @property
    def error(self) -> Errors:
        """The error after all tasks, per task (no zero-error rule)."""
        return np.asarray(self.errors[:, :, -1].mean(axis=0))

    @property
    def single_error(self) -> Errors:
        """The error of the learner trained on the task alone, per task."""
        return np.asarray(self.single.mean(axis=0))

    @property
    def reference_error(self) -> Errors:
        """The error of the plain single-task model, per task; NaN where there is none."""
        if not self.references:
            return np.full(len(self.tasks), np.nan)
        return np.asarray(list(self.references.values())[-1].mean(axis=0))

    @property
    def accuracy(self) -> Errors:
        """1 − error after all tasks, per task; NaN if errors are no shares (squared error)."""
        return self._score(self.error)

    @property
    def single_accuracy(self) -> Errors:
        """1 − error of the learner trained on the task alone."""
        return self._score(self.single_error)

    @property
    def reference_accuracy(self) -> Errors:
        """1 − error of the plain single-task model."""
        return self._score(self.reference_error)

    def _score(self, errors: Errors) -> Errors:
        if not self.kind.is_share:
            return np.full_like(errors, np.nan)
        return np.asarray(1 - errors)

    def spread(self, statistic: str) -> dict[str, Errors]:
        """Median and quartiles over repetitions of a statistic computed within each repetition.

        Parameters
        ----------
        statistic : str
            A property of this table, such as ``"accuracy"`` or ``"transfer"``.

        Returns
        -------
        dict
            ``median``, ``lower`` and ``upper``, each (T,).
        """
        each = np.stack([getattr(table, statistic) for table in self.each_repetition])  # (R, T)
        lower, median, upper = np.percentile(each, [25, 50, 75], axis=0)
        return {"median": median, "lower": lower, "upper": upper}

    @cached_property
    def each_repetition(self) -> "tuple[ErrorTable, ...]":
        """The tables of the repetitions, one each."""
        return tuple(self.repetition(r) for r in range(len(self.errors)))

    def repetition(self, r: int) -> "ErrorTable":
        """The table of one repetition alone.

        Parameters
        ----------
        r : int
            From 0.

        Returns
        -------
        ErrorTable
        """
        repetition = slice(r, r + 1)
        references = {name: errors[repetition] for name, errors in self.references.items()}
        return ErrorTable(
            self.learner,
            self.tasks,
            self.test_rows,
            self.errors[repetition],
            self.single[repetition],
            references,
            kind=self.kind,
        )

    def summary(self) -> dict[str, Any]:
        """Means over tasks, as in a run's ``summary.json``.

        Returns
        -------
        dict
            Accuracies, transfers, gain, seconds and bytes; NaN where something was not measured.
            Errors that are no shares have no accuracies; then ``error``, ``single_error`` and
            ``reference_error`` are there as well.
        """
        names = ["accuracy", "single_accuracy", "reference_accuracy"]
        names += ["transfer", "forward_transfer", "backward_transfer", "gain"]
        if not self.kind.is_share:
            names += ["error", "single_error", "reference_error"]
        means = {name: float(np.mean(getattr(self, name))) for name in names}
        seconds = {"train_seconds": self.train_seconds, "predict_seconds": self.predict_seconds}
        means |= {
            name: float(values.mean()) if values.size else float("nan")
            for name, values in seconds.items()
        }
        return {
            **means,
            "bytes": float(
                sum(size for content, size in self.sizes.items() if content != "parameters")
            ),
        }

    def __repr__(self) -> str:
        n_repetitions, n_tasks = self.single.shape
        means = {
            name: np.mean(getattr(self, name))
            for name in ("accuracy", "forward_transfer", "backward_transfer")
        }
        if self.kind != ERROR_RATE:
            del means["accuracy"]
            means = {self.kind.name: np.mean(self.error), **means}
        text = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
        return f"ErrorTable({self.learner}: {n_tasks} tasks, {n_repetitions} repetitions; {text})"
