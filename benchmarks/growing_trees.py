"""Growing a forest encoder against scikit-learn's forest: as many trees, as deep, on as many
distinct rows.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import flat_tasks
from lifelong.encoders import ForestEncoder
from lifelong.encoders.growing_compiled import compiled_loops

# The share of distinct rows in a bootstrap sample, which is what scikit-learn's trees grow on.
BOOTSTRAP = 0.632


def rows(quick: bool) -> Iterator[Row]:
    """A wide task, a small one and a long one; then as many trees as tasks share."""
    for n, p in [(500, 3072), (100, 50), (5000, 50)]:
        X, y = flat_tasks(1, n, p)[0]
        encoder = ForestEncoder(10, max_samples=BOOTSTRAP)
        pairs = in_turn(
            side(lambda e=encoder, X=X, y=y: e.fit(X, y, rng=np.random.default_rng(0))),
            side(
                lambda X=X, y=y: RandomForestClassifier(10, max_depth=30, random_state=0).fit(X, y)
            ),
            5 if quick else 15,
        )
        yield compare(f"growing 10 trees, {n} × {p}", "RandomForestClassifier", pairs, "≤", 1.1)
    note = "without numba"
    if compiled_loops() is not None:
        note = "with numba"
    for n, p in [(100, 20), (10_000, 20)]:
        X, y = flat_tasks(1, n, p)[0]
        encoder = ForestEncoder(100, max_samples=BOOTSTRAP)
        encoder.fit(X, y, rng=np.random.default_rng(0))  # the loops are compiled on the way
        pairs = in_turn(
            side(lambda e=encoder, X=X, y=y: e.fit(X, y, rng=np.random.default_rng(0))),
            side(
                lambda X=X, y=y: RandomForestClassifier(100, max_depth=30, random_state=0).fit(X, y)
            ),
            5,
        )
        yield compare(
            f"growing 100 trees, {n} × {p}", "RandomForestClassifier", pairs, "≤", 1.1, note=note
        )
