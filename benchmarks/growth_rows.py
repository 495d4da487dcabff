"""One task of 500 to 1 000 000 rows against scikit-learn's forest: time, and memory beyond the rows
themselves.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row, compare
from benchmarks.worker import Worker

FEATURES = 20


def rows(quick: bool) -> Iterator[Row]:
    """Each side learns in a process of its own, so that peaks of memory are its own, too."""
    sizes = [500, 5000, 50_000, 1_000_000]
    if quick:
        sizes = [500, 50_000]
    for n in sizes:
        repeats = 3
        if n > 50_000 or (quick and n > 500):
            repeats = 1
        pairs = [(_fresh("silly_forest", n), _fresh("random_forest", n)) for _ in range(repeats)]
        what = f"SiLLy-F, one task of {n} × {FEATURES}"
        yield compare(what, "RandomForestClassifier", pairs, "≤", 1.3)
        ours, theirs = (measured["bytes at most"] / (4 * n * FEATURES) for measured in pairs[0])
        note = f"as a multiple of X in float32: ours {ours:.1f}, theirs {theirs:.1f}"
        what = "… memory beyond X at the peak"
        figure = "bytes at most"
        yield compare(what, "RandomForestClassifier", pairs, "≤", None, figure=figure, note=note)


def _fresh(function: str, n: int) -> dict[str, float]:
    worker = Worker(Path(sys.executable), "benchmarks.rows_worker")
    try:
        return worker.ask(function, n=n)
    finally:
        worker.close()
