"""Figure cifar2, right: one task cut in two, the second half turned."""

from lifelong.experiments.catalogue.entry import STRIP, Experiment, version
from lifelong.experiments.catalogue.settings import TINY
from lifelong.experiments.spec import FigureSpec, Part

_LEARNERS = ("silly-n", "silly-f", "model-zoo", "lwf", "si", "ewc", "none")


def _parts(angles: tuple[int, ...], **options: int) -> list[Part]:
    return [
        Part(f"{a}°", "halves", {"of": "cifar-10x10", "angle": a, **options}, at=a) for a in angles
    ]


_OVER = {"over": "degrees by which the second half is turned"}

EXPERIMENT = Experiment(
    name="adversarial-rotation",
    of_paper="figure cifar2, right",
    question="Does a task still help when its pictures are turned?",
    full=version(_parts((0, 30, 60, 90, 120, 150, 180)), _LEARNERS, 3),
    smoke=version(
        _parts((0, 90), rows_per_class=8, test_rows_per_class=3), ("silly-n", "silly-f"), 1, TINY
    ),
    figures=(
        FigureSpec("sweep", {"statistic": "backward_transfer", "task": 0, **_OVER}),
        FigureSpec("sweep", {"statistic": "transfer", "task": "all tasks", **_OVER}),
        STRIP,
    ),
    published={
        "silly-n": {"transfer": 0.059},
        "silly-f": {"transfer": 0.058},
        "model-zoo": {"transfer": 0.032},
        "si": {"transfer": 0.017},
        "lwf": {"transfer": 0.013},
        "ewc": {"transfer": -0.014},
        "none": {"transfer": -0.107},
    },
)
