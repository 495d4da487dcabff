"""Figure xor-xnor A and B: XOR helps XNOR and is helped by it, although their labels are opposite."""

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import SIMULATION, TINY
from lifelong.experiments.spec import FigureSpec, Part

_LEARNERS = ("silly-n", "silly-f", "single", "rf")


def _parts(n: int, sizes: tuple[int, ...], n_test: int) -> list[Part]:
    """First XOR rows arrive, then, with all of them there, XNOR rows."""
    fixed = {"second": "xnor", "n_test": n_test}
    xor = [Part(f"{k} XOR rows", "xor", {"n": k, "n_tasks": 1, **fixed}, "rows", at=k) for k in sizes]
    xnor = [Part(f"{n} + {k} rows", "xor", {"n": n, "n_second": k, **fixed}, "rows", at=n + k) for k in sizes[:-1]]
    return [Part("XOR → XNOR", "xor", {"n": n, **fixed}, at=2 * n), *xor, *xnor]


EXPERIMENT = Experiment(
    name="xor-xnor",
    of_paper="figure xor-xnor, A and B",
    question="Do two tasks with the same boundary and opposite labels help each other?",
    full=version(_parts(750, (50, 100, 200, 350, 500, 750), 1000), _LEARNERS, 100, SIMULATION),
    smoke=version(_parts(60, (20, 60), 100), ("silly-n", "silly-f", "single"), 2, TINY),
    figures=(
        STRIP,
        FigureSpec("sweep", {"statistic": "error", "task": "xor", "over": "rows seen: first XOR, then XNOR"}),
        FigureSpec("sweep", {"statistic": "error", "task": "xnor", "over": "rows seen: first XOR, then XNOR"}),
        FigureSpec("sweep", {"statistic": "backward_transfer", "task": "xor", "over": "rows seen", "min_tasks": 2}),
        FigureSpec("sweep", {"statistic": "forward_transfer", "task": "xnor", "over": "rows seen", "min_tasks": 2}),
        MATRICES,
    ),
)
