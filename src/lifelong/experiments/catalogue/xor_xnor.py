"""Figure xor-xnor A and B: XOR helps XNOR and is helped by it, though their labels are opposite."""

from lifelong.experiments.catalogue.entry import MATRICES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import SIMULATION, TINY
from lifelong.experiments.spec import HEADLINE, FigureSpec, Part

SIZES = (50, 100, 200, 350, 500, 750)
_LEARNERS = ("silly-n", "silly-f", "single", "rf", "dn")


def rows_arrive(second: str, n: int, sizes: tuple[int, ...], n_test: int) -> list[Part]:
    """First XOR rows arrive; when all are there, rows of the second task. Headline: the end."""
    fixed = {"second": second, "n_test": n_test}
    first = [
        Part(f"{k} XOR rows", "xor", {"n": k, "n_tasks": 1, **fixed}, "rows", at=k) for k in sizes
    ]
    then = [
        Part(f"{n} + {k} rows", "xor", {"n": n, "n_second": k, **fixed}, "rows", at=n + k)
        for k in sizes[:-1]
    ]
    return [Part(f"XOR → {second.upper()}", "xor", {"n": n, **fixed}, at=2 * n), *first, *then]


def errors_of(*tasks: str, over: str) -> tuple[FigureSpec, ...]:
    """Error curves as rows arrive; the headline part, where all are there, is their last point."""
    options = {"statistic": "error", "over": over, "groups": [HEADLINE, "rows"]}
    return tuple(FigureSpec("sweep", {**options, "task": task}) for task in tasks)


EXPERIMENT = Experiment(
    name="xor-xnor",
    of_paper="figure xor-xnor, A and B",
    question="Do two tasks with the same boundary and opposite labels help each other?",
    full=version(rows_arrive("xnor", 750, SIZES, 1000), _LEARNERS, 100, SIMULATION),
    smoke=version(
        rows_arrive("xnor", 60, (20, 60), 100), ("silly-n", "silly-f", "single", "dn"), 2, TINY
    ),
    figures=(
        STRIP,
        *errors_of("xor", "xnor", over="rows seen: first XOR, then XNOR"),
        FigureSpec(
            "sweep",
            {
                "statistic": "backward_transfer",
                "task": "xor",
                "over": "rows seen",
                "min_tasks": 2,
                "without": ["dn"],
            },
        ),
        FigureSpec(
            "sweep",
            {"statistic": "forward_transfer", "task": "xnor", "over": "rows seen", "min_tasks": 2},
        ),
        MATRICES,
    ),
)
