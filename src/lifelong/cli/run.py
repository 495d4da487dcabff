"""``lifelong run``: measure an experiment; the same command goes on where it stopped."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lifelong._terminal import console
from lifelong._validation import MOST_JOBS
from lifelong.cli.display import watched
from lifelong.engines import check_engine
from lifelong.engines import engine as use_engine
from lifelong.exceptions import ParameterError
from lifelong.experiments.rows import Row
from lifelong.experiments.session import Session, prepare
from lifelong.experiments.spec import ALL_STAGES
from lifelong.experiments.tables import results_of

SOME_FAILED = 3
STOPPED = 130

EXAMPLES = """
Examples:

  lifelong run xor-xnor --repetitions 10

  lifelong run cifar-10x10 --learners silly-n,silly-f,lwf --out runs/cifar --n-jobs 2

  lifelong run ablation-budget --reuse runs/cifar-10x10

  lifelong run ablation-trees --share runs/trained --n-jobs 2

  lifelong run food1k-50x20 --smoke

  lifelong run food1k-50x20 --stages final

  lifelong run cifar-10x10 --engine ray --engine-address 10.0.0.1:6379

Rows are stored as they are measured. Stop a run whenever you like (Ctrl-C, power cut): the same
command goes on. More learners or repetitions may be asked for later, in the same directory. Exit
codes: 0 all measured, 1 an error, 3 some learners failed (their rows say why; the same command
tries them again), 130 stopped.
"""


def _complete(incomplete: str) -> list[str]:
    from lifelong.experiments.catalogue import EXPERIMENTS

    return [name for name in EXPERIMENTS if name.startswith(incomplete)]


def run(
    experiment: Annotated[
        str,
        typer.Argument(help="A name from `lifelong list experiments`.", autocompletion=_complete),
    ],
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Seconds instead of hours: shows that it works.")
    ] = False,
    learners: Annotated[str, typer.Option(help="Only these, by name: a,b,c.")] = "",
    repetitions: Annotated[
        int | None, typer.Option(help="Instead of the experiment's own number.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Repetition r uses seed + r.", min=0)] = 0,
    stages: Annotated[
        str,
        typer.Option(
            help="all, or final: measure each task when it arrives and at the end, not between."
        ),
    ] = ALL_STAGES,
    out: Annotated[
        Path | None, typer.Option(help="Run directory. Default: runs/EXPERIMENT.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Raw files. Default: $LIFELONG_DATA, else the cache.")
    ] = None,
    n_jobs: Annotated[
        int, typer.Option(help="Processes, one thread each.", min=1, max=MOST_JOBS)
    ] = 1,
    reuse: Annotated[
        list[Path] | None,
        typer.Option(help="Another run's directory: what it has measured alike is taken over."),
    ] = None,
    share: Annotated[
        Path | None,
        typer.Option(
            help=(
                "A folder for networks that learners, or runs, would train alike: each is trained"
                " once."
            ),
            file_okay=False,
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="Where work runs: local, ray or dask.")] = "local",
    engine_address: Annotated[
        str | None,
        typer.Option(
            help="host:port of a Ray head or Dask scheduler. Default: a cluster of --n-jobs here."
        ),
    ] = None,
) -> None:
    """Measure an experiment of the paper; go on where an earlier start stopped."""
    from lifelong.experiments.catalogue import experiment as find

    if share is not None and engine != "local":
        raise ParameterError(
            f"--share is for processes on this machine; leave it out with --engine {engine}."
        )
    check_engine(engine, engine_address)
    found = find(experiment)
    chosen = found.smoke if smoke else found.full
    labels = _labels(learners, [learner.label for learner in chosen.learners])
    spec = found.spec(
        smoke=smoke, learners=labels, repetitions=repetitions, seed=seed, stages=stages
    )
    if out is not None:
        folder = out
    elif smoke:
        folder = Path("runs") / f"{experiment}-smoke"
    else:
        folder = Path("runs") / experiment
    session = prepare(spec, folder, data_dir, reuse or ())
    shown = console()
    _announce(shown, session)
    started_here = engine != "local" and engine_address is None
    with use_engine(engine, engine_address, n_workers=n_jobs if started_here else None):
        _measure(shown, session, n_jobs, share)
    _conclude(shown, session)


def _labels(text: str, known: Iterable[str]) -> list[str]:
    """The names between commas; names of the experiment may have commas of their own.

    >>> _labels("rf, ridge, 10 trees,silly-f", ["ridge", "ridge, 10 trees"])
    ['rf', 'ridge, 10 trees', 'silly-f']
    """
    whole = "|".join(re.escape(label) for label in sorted(known, key=len, reverse=True))
    names = re.findall(rf"\s*(?:{whole})(?=\s*(?:,|$))|[^,]+", text)
    return [name.strip() for name in names if name.strip()]


def _announce(shown: Console, session: Session) -> None:
    spec = session.spec
    if len(spec.parts) == 1:
        streams = ""
    else:
        streams = f" × {len(spec.parts)} streams"
    size = (
        f"{_count(len(spec.learners), 'learner')}{streams} ×"
        f" {_count(spec.repetitions, 'repetition')}"
    )
    shown.print(
        f"{spec.experiment} ({spec.version}): {size}, {session.total} rows → {session.store.folder}"
    )
    left = "nothing left to do"
    if session.left:
        left = f"{session.left} left"
    if session.taken:
        shown.print(f"Taken over from other runs: {_count(len(session.taken), 'row')}, {left}.")
    elif session.done:
        shown.print(f"Going on where an earlier run stopped: {session.done} rows are done, {left}.")
    if session.failed:
        shown.print(f"{session.failed} failed before and are tried again.")


def _measure(shown: Console, session: Session, n_jobs: int, share: Path | None) -> None:
    failures: list[Row] = []
    try:
        with watched(session.total, session.done) as display:
            for event in session.events(n_jobs, share):
                display.show(event)
                if isinstance(event, Row) and not event.done:
                    failures.append(event)
    except KeyboardInterrupt:
        shown.print("Stopped. What was measured is stored; the same command goes on from here.")
        raise typer.Exit(STOPPED) from None
    if failures:
        _conclude(shown, session)
        for row in failures:
            shown.print(
                f"failed: {row.learner} on {row.part}, repetition {row.repetition + 1}:"
                f" {row.reason}"
            )
        raise typer.Exit(SOME_FAILED)


def _conclude(shown: Console, session: Session) -> None:
    from lifelong.report.tables import LEGEND, summary_table

    results = results_of(session.spec, session.store.rows())
    wide = console(soft_wrap=False, in_a_pipe=120)
    for part in session.spec.headline:
        tables = results.of_part(part.name)
        if tables:
            title = f"{part.name} ({_count(len(tables[0].single), 'repetition')})"
            wide.print(summary_table(title, tables), "")
    shown.print(LEGEND, style="dim")
    shown.print(f"Next: lifelong report {session.store.folder}")


def _count(n: int, noun: str) -> str:
    if n == 1:
        return f"{n} {noun}"
    return f"{n} {noun}s"
