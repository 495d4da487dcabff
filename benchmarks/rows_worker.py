"""One large task, learnt once; the peak of memory is read from the kernel (Linux; elsewhere it is
0).
"""

from collections.abc import Callable
from pathlib import Path

from sklearn.ensemble import RandomForestClassifier

from benchmarks.growth_rows import FEATURES
from benchmarks.measure import Figures, timed
from benchmarks.streams import Rows, flat_tasks
from benchmarks.worker import serve
from lifelong import SillyForest


def silly_forest(n: int) -> Figures:
    """SiLLy-F with its defaults: rows are stored for encoders to come, and densities learnt."""
    return _measured(n, lambda X, y: SillyForest(random_state=0).partial_fit(X, y, task=0))


def random_forest(n: int) -> Figures:
    """As many trees, as deep."""
    return _measured(
        n, lambda X, y: RandomForestClassifier(10, max_depth=30, random_state=0).fit(X, y)
    )


def _measured(n: int, learn: Callable[..., object]) -> Figures:
    small: Rows = flat_tasks(1, 100, FEATURES)[0]
    learn(*small)  # imports and caches
    X, y = flat_tasks(1, n, FEATURES)[0]
    before = _resident("VmRSS")
    _forget_peak()
    figures = timed(lambda: learn(X, y))
    return {**figures, "bytes at most": _resident("VmHWM") - before}


def _forget_peak() -> None:
    peak = Path("/proc/self/clear_refs")
    if peak.exists():
        peak.write_text("5")


def _resident(field: str) -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return 1024.0 * int(line.split()[1])


if __name__ == "__main__":
    serve({"silly_forest": silly_forest, "random_forest": random_forest})
