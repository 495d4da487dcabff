"""Not in the paper: our most accurate learners against those to beat, same rows, same training."""

from collections.abc import Mapping, Sequence
from typing import Any

from lifelong.experiments.catalogue.adversarial_labels import SHUFFLED
from lifelong.experiments.catalogue.entry import (
    MATRICES,
    STAGES,
    STRIP,
    Experiment,
    Version,
    learner,
    learners,
    version,
)
from lifelong.experiments.catalogue.settings import PLAIN, SIMULATION, STRONG, TABULAR, TINY, strong
from lifelong.experiments.spec import HEADLINE, FigureSpec, Part

_SMALL = {"n_tasks": 2, "rows_per_class": 4, "test_rows_per_class": 3}
_OWN = {"rf": {"n_estimators": 1000}}  # as many as silly-f-best has in ten tasks
_TINY = {"rf": {"n_estimators": 20}, "silly-f-best": {"n_estimators": 10}}


def _race(
    name: str,
    question: str,
    parts: Sequence[Part],
    rivals: Sequence[str],
    settings: Mapping[str, Any],
    ours: str = "silly-n-best",
) -> Experiment:
    small = [Part(part.name, part.stream, {**part.options, **_SMALL}) for part in parts]
    return Experiment(
        name=name,
        of_paper="none: our own learner",
        question=question,
        full=version(parts, (ours, *rivals), 5, settings, own=_OWN),
        smoke=version(small, (ours, rivals[0]), 1, TINY, own=_TINY),
    )


def _turned(n: int, n_test: int, group: str = HEADLINE) -> list[Part]:
    """XOR, then an XOR turned by an angle: 25° and 45° can only confuse; 90° (XNOR) can help."""
    seconds: dict[int, dict[str, Any]] = {
        25: {"second": "r-xor", "angle": 25},
        45: {"second": "r-xor", "angle": 45},
    }
    return [
        Part(f"{n} rows, {angle}°", "xor", {**second, "n": n, "n_test": n_test}, group, at=angle)
        for angle, second in {**seconds, 90: {"second": "xnor"}}.items()
    ]


_FEW = "few rows"
_OVER = {
    "statistic": "backward_transfer",
    "task": "xor",
    "over": "degrees by which the second XOR is turned (90: XNOR)",
}

_XOR = Experiment(
    name="best-xor",
    of_paper="none: our own learner",
    question=(
        "Does our learner profit from a task that helps, and is it safe from one that can only"
        " confuse?"
    ),
    full=Version(
        (*_turned(750, 1000), *_turned(100, 1000, _FEW)),
        (
            *learners(("silly-f-best", "silly-f", "silly-n-best", "silly-n"), SIMULATION),
            learner(
                "silly-f", SIMULATION, "silly-f, 100 trees", n_estimators=100
            ),  # as silly-f-best
        ),
        100,
        SIMULATION,
    ),
    smoke=version(
        [*_turned(40, 60), *_turned(30, 60, _FEW)],
        ("silly-f-best", "silly-f", "silly-n-best"),
        1,
        TINY,
        own=_TINY,
    ),
    figures=(
        FigureSpec("sweep", {**_OVER, "groups": [HEADLINE]}),
        FigureSpec("sweep", {**_OVER, "groups": [_FEW]}),
        STRIP,
    ),
)

_SHUFFLED = Experiment(
    name="best-adversarial-labels",
    of_paper="none: our own learner",
    question="Is any task of our learner harmed by a long stream of tasks with meaningless labels?",
    full=version([SHUFFLED], ("silly-n-best", "silly-f-best", "silly-n", "silly-f"), 5, PLAIN),
    smoke=version(
        [
            Part(
                "labels of tasks 2–3 shuffled",
                "cifar-10x10",
                {**_SMALL, "n_tasks": 3, "shuffle_labels": [2, 3]},
            )
        ],
        ("silly-n-best", "silly-f-best"),
        1,
        TINY,
        own=_TINY,
    ),
    figures=(FigureSpec("first-task"), STRIP, STAGES, MATRICES),
)

EXPERIMENTS = (
    _XOR,
    _SHUFFLED,
    _race(
        "best-cifar-plain",
        "Is our learner the most accurate one on CIFAR 10×10, all trained alike and plainly?",
        [Part("CIFAR 10×10", "cifar-10x10")],
        ("single", "model-zoo", "lwf", "coscl", "silly-n"),
        PLAIN,
    ),
    _race(
        "best-cifar-strong",
        "Is it still the most accurate one when all are trained with augmentation and a"
        " learning-rate cycle?",
        [Part("CIFAR 10×10", "cifar-10x10")],
        ("single", "model-zoo", "lwf", "silly-n"),
        STRONG,
    ),
    _race(
        "best-spoken-digit",
        "Is it the most accurate one on speakers?",
        [Part("spoken digit", "spoken-digit")],
        ("single", "model-zoo", "silly-n"),
        STRONG,
    ),
    _race(
        "best-mini-imagenet",
        "Is it the most accurate one on twenty tasks of 150 images?",
        [Part("Mini-ImageNet 20×5", "mini-imagenet-20x5", {"size": 32})],
        ("single", "model-zoo"),
        STRONG,
    ),
    *(
        _race(
            f"best-five-datasets-{rows}",
            f"Does it gain, or at least lose nothing, on tasks of {rows} rows that have little in"
            " common?",
            [Part(f"5-dataset, {rows} rows", "five-datasets", {"rows_per_class": rows // 10})],
            ("single", "model-zoo"),
            strong(rows),
        )
        for rows in (1000, 5000)
    ),
    _race(
        "best-tabular-cifar",
        "Do our forests beat an ordinary random forest with as many trees?",
        [Part("tabular CIFAR", "tabular-cifar")],
        ("rf", "silly-f", "model-zoo"),
        TABULAR,
        ours="silly-f-best",
    ),
)
