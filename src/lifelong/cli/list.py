"""``lifelong list``: what can be asked for by name."""

from typing import Annotated

import typer
from rich.table import Table

from lifelong._terminal import console
from lifelong._validation import check_choice

KINDS: tuple[str, ...] = ("experiments", "learners", "datasets")
NOT_MEASURED = "no committed results"


def list_names(
    kind: Annotated[str | None, typer.Argument(help=f"One of: {', '.join(KINDS)}.")] = None,
) -> None:
    """What there is: experiments, learners and datasets, by name."""
    kinds = KINDS
    if kind:
        kinds = (check_choice(kind, "kind", KINDS),)
    for shown in kinds:
        table = Table(
            title=shown,
            title_justify="left",
            title_style="bold",
            show_header=False,
            show_edge=False,
        )
        for name, *cells in _lines(shown):
            table.add_row(name, *cells)
        console(soft_wrap=False).print(table, "")


def _lines(kind: str) -> list[tuple[str, ...]]:
    if kind == "learners":
        return list(_learners().items())
    if kind == "datasets":
        from lifelong.tasks.datasets import DATASETS

        return [(name, dataset.what) for name, dataset in DATASETS.items()]
    return _experiments()


def _experiments() -> list[tuple[str, ...]]:
    """What each experiment asks, and whether its results are in ``docs/results``."""
    from lifelong.experiments.catalogue import EXPERIMENTS
    from lifelong.experiments.catalogue.measured import measured_experiments

    measured = measured_experiments()
    lines: list[tuple[str, ...]] = []
    for name, entry in EXPERIMENTS.items():
        question = f"{entry.question} ({entry.of_paper})"
        lines.append((name, question, str(measured.get(name, NOT_MEASURED))))
    demo = "run with `lifelong demo`: XOR → XNOR, XOR → R-XOR and rotated digits"
    return [*lines, ("demo", demo, "made on the spot")]


def _learners() -> dict[str, str]:
    """What each learner is; one of somebody else's with its paper."""
    from lifelong.experiments.registry import CONTROL, LEARNERS

    found = {}
    for name, entry in LEARNERS.items():
        what = entry.what
        if entry.kind == CONTROL:
            what = f"control: {what}"
        if entry.source:
            what = f"{what} ({entry.source})"
        found[name] = what
        if entry.takes_budget:
            found[f"{name}-M"] = f"the same on a budget of M encoders, such as {name}-4"
    return found
