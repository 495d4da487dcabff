"""``lifelong list``: what can be asked for by name."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lifelong._validation import check_choice

KINDS = ("experiments", "learners", "datasets")


def list_names(kind: Annotated[str | None, typer.Argument(help=f"One of: {', '.join(KINDS)}.")] = None) -> None:
    """What there is: experiments, learners and datasets, by name."""
    for one in [check_choice(kind, "kind", KINDS)] if kind else KINDS:
        table = Table(title=one, title_justify="left", title_style="bold", show_header=False, show_edge=False)
        for name, what in _names(one).items():
            table.add_row(name, what)
        Console().print(table, "")


def _names(kind: str) -> dict[str, str]:
    if kind == "learners":
        from lifelong.experiments.registry import LEARNERS

        budget = {"silly-n-M, silly-f-M": "the same on a budget of M encoders, such as silly-n-4"}
        return {**LEARNERS, **budget}
    if kind == "datasets":
        from lifelong.tasks.datasets import DATASETS

        return {
            name: (getattr(entry, "what", "") or entry.__doc__ or "").splitlines()[0]
            for name, entry in DATASETS.items()
        }
    from lifelong.experiments.catalogue import EXPERIMENTS

    demo = {"demo": "run with `lifelong demo`: XOR → XNOR, XOR → R-XOR and rotated digits"}
    return {**{name: f"{entry.question} ({entry.of_paper})" for name, entry in EXPERIMENTS.items()}, **demo}
