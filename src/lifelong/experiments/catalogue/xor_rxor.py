"""Figure xor-xnor C: a rotated XOR as adversary; backward transfer against its angle and rows."""

from lifelong.experiments.catalogue.entry import CONTROLS, MATRICES, STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import SIMULATION, TINY
from lifelong.experiments.catalogue.xor_xnor import SIZES, errors_of, rows_arrive
from lifelong.experiments.spec import FigureSpec, Part

_LEARNERS = ("silly-n", "silly-f", *CONTROLS, "dn")


def _part(group: str, at: float, options: dict[str, object]) -> Part:
    return Part(
        f"{group} {at:g}", "xor", {"second": "r-xor", **options}, group, at, without=CONTROLS
    )


def _sweeps(
    angles: tuple[int, ...], sizes: tuple[int, ...], few: int, fixed: int, n_test: int
) -> list[Part]:
    turned = [_part("angle", a, {"n": few, "angle": a, "n_test": n_test}) for a in angles]
    sized = [
        _part("source rows", k, {"n": fixed, "n_second": k, "angle": 25, "n_test": n_test})
        for k in sizes
    ]
    return [*turned, *sized]


_BT = {"statistic": "backward_transfer", "task": "xor", "without": ["dn"]}

EXPERIMENT = Experiment(
    name="xor-rxor",
    of_paper="figure xor-xnor, C",
    question="What does a task that can only confuse do to an earlier one?",
    full=version(
        [
            *rows_arrive("r-xor", 750, SIZES, 1000),
            *_sweeps(tuple(range(0, 91, 10)), (*SIZES, 1000), 100, 500, 1000),
        ],
        _LEARNERS,
        100,
        SIMULATION,
    ),
    smoke=version(
        [*rows_arrive("r-xor", 40, (20, 40), 60), *_sweeps((0, 45), (20, 60), 30, 40, 60)],
        ("silly-n", "silly-f"),
        1,
        TINY,
    ),
    figures=(
        STRIP,
        *errors_of("xor", "r-xor", over="rows seen: first XOR, then R-XOR"),
        FigureSpec(
            "sweep",
            {**_BT, "groups": ["angle"], "over": "degrees by which the second XOR is turned"},
        ),
        FigureSpec(
            "sweep",
            {**_BT, "groups": ["source rows"], "over": "rows of the second task, turned by 25°"},
        ),
        MATRICES,
    ),
)
