"""Which experiments have committed results: repetitions, and the day they were measured.

``measured.json`` is written by ``python -m benchmarks.measured`` from ``docs/results``, so that an
installed package knows it too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Measured:
    """Committed results of one experiment.

    Attributes
    ----------
    repetitions : int
        Complete ones of the learner that has fewest.
    date : str
        The day the results were committed, as in 2026-11-18.
    digest : str
        Of the table of results: other results have another one.
    """

    repetitions: int
    date: str
    digest: str

    def __str__(self) -> str:
        """As ``lifelong list experiments`` shows it."""
        noun = "repetition" if self.repetitions == 1 else "repetitions"
        return f"measured: {self.repetitions} {noun}, {self.date}"


def measured_experiments() -> Mapping[str, Measured]:
    """The experiments with committed results, by name.

    >>> measured_experiments()["cifar-10x10"].repetitions >= 3
    True
    """
    text = files(__package__).joinpath("measured.json").read_text(encoding="utf-8")
    return {name: Measured(**found) for name, found in json.loads(text).items()}
