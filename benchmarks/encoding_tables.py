"""A table of numbers and text as rows of numbers: seconds against pandas, and peak memory."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.measure import Figures, Row, compare, in_turn, side
from lifelong.rows import Columns, table_of

N_NUMBERS = 14
N_TEXTS = 6
N_CATEGORIES = 20


def a_table(n: int) -> pd.DataFrame:
    """Numbers, and text of a few different values."""
    rng = np.random.default_rng(0)
    names = np.array([f"category {number}" for number in range(N_CATEGORIES)], dtype=object)
    columns = {f"number {place}": rng.normal(size=n) for place in range(N_NUMBERS)}
    for place in range(N_TEXTS):
        columns[f"text {place}"] = names[rng.integers(N_CATEGORIES, size=n)]
    return pd.DataFrame(columns)


def rows(quick: bool) -> Iterator[Row]:
    """Time against ``astype("category")``, of the texts alone and of all columns; then memory."""
    n = 1_000_000
    repeats = 5
    if quick:
        n = 50_000
        repeats = 3
    frame = a_table(n)
    texts = [f"text {place}" for place in range(N_TEXTS)]

    def ours() -> None:
        table = table_of(frame)
        Columns().learnt(table).rows(table)

    def of_texts() -> None:
        frame.astype(dict.fromkeys(texts, "category"))

    def of_all() -> None:
        frame.astype("category")

    size = f"{n:,} × {N_NUMBERS + N_TEXTS}"
    work = f"encode a table of {size}, six columns text"
    ours()
    of_texts()
    pairs = in_turn(side(ours), side(of_texts), repeats)
    yield compare(work, 'astype("category") of the text alone', pairs, "≤", 3.0)
    pairs = in_turn(side(ours), side(of_all), min(repeats, 3))
    yield compare(work, 'astype("category") of all columns', pairs, "≤", 3.0)
    peaks = [(_peak(ours), {"bytes at most": 4.0 * n * (N_NUMBERS + N_TEXTS)})]
    yield compare(f"{work}: memory", "the rows as float32", peaks, "≤", 2.0, figure="bytes at most")


def _peak(work: object) -> Figures:
    """Bytes that are new at the worst moment."""
    assert callable(work)
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"bytes at most": float(peak)}
