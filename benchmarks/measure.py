"""Two things measured in turn in the same process, and their ratio."""

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes, once."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def side_by_side(
    what: str,
    ours: Callable[[], object],
    versus: str,
    theirs: Callable[[], object],
    *,
    repeats: int,
    target: str,
) -> float:
    """Alternate the two sides, print the median seconds of each and the median of the ratios, and return that."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"{what:28s} {a:9.4f} s   {versus:28s} {b:9.4f} s   ratio {ratio:5.2f}   (target {target})", flush=True)
    return ratio
