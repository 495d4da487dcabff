"""Two sides measured in turn in one run, and the row of the table that comes of it."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Figures = dict[str, float]  # of one run of one side: seconds, CPU seconds, bytes, by name
Side = Callable[[], Figures]


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, against what, and whether it is as good as it
    should be.
    """

    work: str
    against: str
    ratio: float | None  # median of the pairs' ratios; None where one side could not be measured
    sense: Literal["≤", "≥", ""] = ""  # on which side of the target the ratio should be
    target: float | None = None
    ours: float | None = None  # medians
    theirs: float | None = None
    unit: str = "CPU s"
    spread: tuple[float, float] | None = None  # smallest and largest ratio
    load: float = 0.0  # processes that wanted a core while this was measured, this one included
    note: str = ""
    part: str = ""  # the file that measured it
    measured: str = ""  # when

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, or nothing was measured."""
        if self.ratio is None or self.target is None:
            return None
        if self.sense == "≤":
            return self.ratio <= self.target
        return self.ratio >= self.target


def timed(work: Callable[[], object]) -> Figures:
    """Wall-clock and CPU seconds of one run of the work in this process."""
    wall = time.perf_counter()
    cpu = time.process_time()
    work()
    return {"s": time.perf_counter() - wall, "CPU s": time.process_time() - cpu}


def side(work: Callable[[], object]) -> Side:
    """Work in this process as one side of a comparison."""
    return lambda: timed(work)


def in_turn(ours: Side, theirs: Side, repeats: int) -> list[tuple[Figures, Figures]]:
    """Alternate the two sides, so that both meet the same machine."""
    return [(ours(), theirs()) for _ in range(repeats)]


def compare(
    work: str,
    against: str,
    pairs: Sequence[tuple[Figures, Figures]],
    sense: Literal["≤", "≥", ""],
    target: float | None,
    *,
    figure: str = "CPU s",
    note: str = "",
) -> Row:
    """The row: with "≤" the ratio is ours ÷ theirs, with "≥" it is theirs ÷ ours (how many times
    faster or smaller).
    """
    ours, theirs = ([measured[figure] for measured in side] for side in zip(*pairs, strict=True))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    if sense == "≥":
        ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    unit = figure
    if "bytes" in figure:
        unit = "B"
    elif figure != "s":
        unit = "CPU s"
    return Row(
        work,
        against,
        statistics.median(ratios),
        sense,
        target,
        statistics.median(ours),
        statistics.median(theirs),
        unit,
        (min(ratios), max(ratios)),
        os.getloadavg()[0],
        note,
    )
