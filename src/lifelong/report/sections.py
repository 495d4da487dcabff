"""What a report shows of a run: facts, table, figures, each as data with the picture beside it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from lifelong.experiments.spec import FigureSpec
from lifelong.experiments.tables import Results
from lifelong.report.curves import Curves, draw_curves, draw_panels
from lifelong.report.growth import FIGURE_SIZE, Growth, growth_curves, growth_table
from lifelong.report.headline import HeadlineRow, headline
from lifelong.report.learner_facts import growing_labels
from lifelong.report.matrices import Matrix, draw_matrices, matrix
from lifelong.report.race import Race, draw_race, race
from lifelong.report.reliability import panels, task_curves
from lifelong.report.strip import STATISTICS, VENIAT, Tables, draw_dots, draw_strips, strips
from lifelong.report.sweeps import first_task, learner_curve, stages, sweep


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    name: str
    title: str
    alt: str
    figure: Figure

    @property
    def file_name(self) -> str:
        """The name of its file, without ``.svg``."""
        return safe_name(self.name.lower())


def safe_name(name: str) -> str:
    """A name for a file or folder, made of letters, digits and hyphens alone.

    >>> safe_name("../silly-f: 10 trees")
    'silly-f-10-trees'
    """
    return re.sub(r"[^\w-]+", "-", name).strip("-")[:100] or "unnamed"


@dataclass(frozen=True)
class Comparison:
    """One number of ours beside the paper's."""

    label: str
    statistic: str
    ours: float
    paper: float


@dataclass(frozen=True)
class Section:
    """One experiment (or several runs of the same one)."""

    results: Results
    table: list[HeadlineRow]
    pictures: list[Picture]
    matrices: list[Picture]
    growth: list[Growth]
    beside_paper: list[Comparison]
    whole: list[Picture]  # figures for files only: all panels in one picture
    race: Race | None = None
    reliability: tuple[Picture, ...] = ()

    @property
    def in_files(self) -> list[Picture]:
        """The figures that have a file each."""
        return [*self.whole, *self.pictures]


def section(results: Results) -> Section:
    """Everything about a run."""
    kinds = {figure.kind for figure in results.spec.figures}
    rows = headline(results)
    measured: Tables = {row.label: results.headline(row.label) for row in rows}
    pictures = [
        picture
        for figure in results.spec.figures
        for picture in _pictures(figure, results, measured)
    ]
    whole: list[Picture] = []
    if measured and "strip" in kinds:
        whole += _whole_strips(results, measured)
    growth: list[Growth] = []
    if "growth" in kinds:
        growth = growth_table(results)
        whole.append(_whole_growth(results))
    heat: list[Picture] = []
    all_heat: list[Picture] = []
    if "matrices" in kinds:
        heat, all_heat = _matrices(measured)
    return Section(
        results,
        rows,
        pictures,
        heat,
        growth,
        _beside_paper(results, rows),
        [*whole, *all_heat],
        race_of(results),
        tuple(_reliability(results)),
    )


def race_of(results: Results) -> Race | None:
    """The race of an experiment that has one: a figure of this kind names the learner."""
    for figure in results.spec.figures:
        if figure.kind == "race":
            return race(results, **figure.options)
    return None


def _reliability(results: Results) -> Iterator[Picture]:
    """The reliability curve of each task, of the learner that a race is about."""
    for figure in results.spec.figures:
        if figure.kind == "race":
            curves = task_curves(results, figure.options["ours"])
            for place, (title, alt, drawn) in enumerate(panels(curves)):
                yield Picture(f"reliability-{place}", title, alt, drawn)


def _pictures(figure: FigureSpec, results: Results, measured: Tables) -> Iterator[Picture]:
    if not measured:
        return
    if figure.kind in ("strip", "strip-veniat"):
        statistics = tuple(STATISTICS if figure.kind == "strip" else VENIAT)
        for panel in strips(measured, statistics, growing_labels(results)):
            name = f"strip-{panel.statistic}".replace("_", "-")
            yield Picture(name, panel.title, panel.alt, draw_strips([panel]))
    elif figure.kind == "growth":
        yield from map(_drawn, growth_curves(results))
    elif figure.kind == "race":
        found = race_of(results)
        if found is not None:
            yield Picture("race", found.title, found.alt, draw_race(found))
    elif figure.kind != "matrices":
        curves = _CURVES[figure.kind](results, **figure.options)
        if curves is not None:
            yield _drawn(curves)


_CURVES: dict[str, Callable[..., Curves | None]] = {
    "sweep": sweep,
    "learner-curve": learner_curve,
    "stages": stages,
    "first-task": first_task,
}


def _drawn(curves: Curves) -> Picture:
    return Picture(curves.name, curves.title, curves.alt, draw_curves(curves))


def _whole_strips(results: Results, measured: Tables) -> list[Picture]:
    """All panels in one figure; where there are repetitions, also with quartiles of each dot."""
    panels = strips(measured, growing=growing_labels(results))
    others = ", ".join(panel.statistic.replace("_", " ") for panel in panels[1:])
    alt = f"{panels[0].alt} Beside it, in the same way: {others}."
    pictures = [Picture("strip", panels[0].title, alt, draw_strips(panels))]
    if all(len(table.errors) > 1 for tables in measured.values() for table in tables):
        spread = f"Median and quartiles over repetitions of each task. {alt}"
        pictures.append(Picture("strip-iqr", panels[0].title, spread, draw_dots(panels)))
    return pictures


def _whole_growth(results: Results) -> Picture:
    """Figure size: four panels."""
    panels = [curves for curves in growth_curves(results) if curves.name in FIGURE_SIZE]
    alt = " ".join(panel.alt for panel in panels)
    return Picture("growth", panels[0].title, alt, draw_panels(panels))


def _matrices(measured: Tables) -> tuple[list[Picture], list[Picture]]:
    """One heat map per learner for the page, and all in one for a file."""
    shown = [matrix(tables[0]) for tables in measured.values() if len(tables[0].tasks) > 1]
    if not shown:
        return [], []
    values = np.concatenate([heat_map.accuracy[~np.isnan(heat_map.accuracy)] for heat_map in shown])
    low = float(values.min())
    high = float(values.max())

    def drawn(name: str, matrices: list[Matrix]) -> Picture:
        alt = " ".join(heat_map.alt for heat_map in matrices)
        return Picture(name, matrices[0].title, alt, draw_matrices(matrices, low, high))

    each = [drawn(f"matrix-{heat_map.label}", [heat_map]) for heat_map in shown]
    return each, [drawn("matrices", shown)]


def _beside_paper(results: Results, rows: list[HeadlineRow]) -> list[Comparison]:
    found = []
    for row in rows:
        for statistic, paper in results.spec.published.get(row.label, {}).items():
            cell = row.cells.get(statistic)
            if cell is not None and cell.value is not None:
                found.append(Comparison(row.label, statistic, cell.value, paper))
    return found
